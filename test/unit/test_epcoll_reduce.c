/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Reductions and scans of parts (coll_epcoll_reduce.c) against ones that take element by element:
 * intrinsic ops, and users' that do not commute; types with gaps, bounds below zero and elements
 * that are larger than a block; in place or not, some members left out.  Results are equal bit by
 * bit, and nothing but them is written.
 *
 * Guards: ompi/mca/coll/epcoll/data
 */

#include "test_epcoll_kinds.h"

/** Memory as the tested code gets it: none, if a case says so. */
static _Atomic int no_memory;

static void *malloc_or_not(size_t size)
{
    return atomic_load(&no_memory) ? NULL : malloc(size);
}
#define malloc(size) malloc_or_not(size)
#include "ompi/mca/coll/epcoll/data/coll_epcoll_reduce.c"
#undef malloc

enum {
    MEMBERS = 7,
    ROUNDS = TAP_SANITIZED ? 100 : 600,
    MARGIN = 64 /**< bytes before and behind a vector, which stay as they are */
};

/* ---- vectors --------------------------------------------------------------------------------- */

/** Memory of a vector; element 0 is in the middle if the others are below it. */
typedef struct vector_t {
    unsigned char *bytes;
    size_t size;
    char *address;
} vector_t;

static void vector_new(vector_t *vector, const kind_t *kind, size_t elements, uint64_t *random)
{
    const size_t step = (size_t) llabs(kind->extent);

    vector->size = 2 * MARGIN + (elements + 1) * step + kind->size;
    vector->bytes = malloc(vector->size);
    for (size_t i = 0; i < vector->size; ++i) {
        vector->bytes[i] = (unsigned char) tap_random(random);
    }
    vector->address = (char *) vector->bytes + MARGIN + (kind->extent < 0 ? elements * step : 0);
    for (size_t i = 0; i < elements; ++i) {
        kind->fill(vector->address + (ptrdiff_t) i * kind->extent, random);
    }
}

/** The parameters of one call, and what must come of it. */
typedef struct trial_t {
    const kind_t *kind;
    mca_coll_epcoll_reduction_t reduction;
    const void *send[MEMBERS];
    void *recv[MEMBERS];
    size_t first, elements, all;
    vector_t in[MEMBERS], out[MEMBERS];
    unsigned char *expected_in[MEMBERS], *expected_out[MEMBERS];
    bool in_place[MEMBERS], wanted[MEMBERS];
} trial_t;

static unsigned char *duplicate(const vector_t *vector)
{
    return memcpy(malloc(vector->size), vector->bytes, vector->size);
}

static void trial_new(trial_t *trial, const kind_t *kind, uint64_t *random)
{
    const uint64_t places = tap_below(random, 3); /* none in place, all, or some */

    op_kind = trial->kind = kind;
    trial->all = 1 + tap_below(random, 1 + tap_below(random, kind->most));
    trial->first = tap_below(random, trial->all);
    trial->elements = tap_below(random, trial->all - trial->first + 1);
    trial->reduction = (mca_coll_epcoll_reduction_t){kind->op, kind->type,
                                                     1 + (uint32_t) tap_below(random, MEMBERS),
                                                     trial->send};
    for (uint32_t i = 0; i < trial->reduction.count; ++i) {
        vector_new(&trial->in[i], kind, trial->all, random);
        vector_new(&trial->out[i], kind, trial->all, random);
        trial->expected_in[i] = duplicate(&trial->in[i]);
        trial->expected_out[i] = duplicate(&trial->out[i]);
        trial->wanted[i] = 0 != tap_below(random, 4);
        trial->in_place[i] = 2 == places ? 0 == tap_below(random, 2) : 1 == places;
        trial->send[i] = trial->in[i].address;
        trial->recv[i] = trial->in_place[i] ? trial->in[i].address : trial->out[i].address;
    }
}

/** An element must be this at a member. */
static void expect(trial_t *trial, uint32_t member, size_t element, const char *value)
{
    vector_t *vector = trial->in_place[member] ? &trial->in[member] : &trial->out[member];
    unsigned char *expected = trial->in_place[member] ? trial->expected_in[member]
                                                      : trial->expected_out[member];
    char *at = (char *) expected + (vector->address - (char *) vector->bytes)
               + (ptrdiff_t) element * trial->kind->extent;

    if (RECORDS == trial->kind - kinds || RECORDS + 1 == trial->kind - kinds) {
        ((record_t *) at)->a = ((const record_t *) value)->a; /* the gaps stay */
        ((record_t *) at)->b = ((const record_t *) value)->b;
        ((record_t *) at)->c = ((const record_t *) value)->c;
    } else {
        memcpy(at, value, trial->kind->size);
    }
}

/** What a member had. */
static const char *had(const trial_t *trial, uint32_t member, size_t element)
{
    return trial->in[member].address + (ptrdiff_t) element * trial->kind->extent;
}

static void trial_end(trial_t *trial)
{
    for (uint32_t i = 0; i < trial->reduction.count; ++i) {
        TAP_CHECK(0 == memcmp(trial->expected_in[i], trial->in[i].bytes, trial->in[i].size),
                  "%s: member %u of %u, elements %zu + %zu: the input is wrong", trial->kind->name,
                  i, trial->reduction.count, trial->first, trial->elements);
        TAP_CHECK(0 == memcmp(trial->expected_out[i], trial->out[i].bytes, trial->out[i].size),
                  "%s: member %u of %u, elements %zu + %zu: the output is wrong", trial->kind->name,
                  i, trial->reduction.count, trial->first, trial->elements);
        free(trial->in[i].bytes);
        free(trial->out[i].bytes);
        free(trial->expected_in[i]);
        free(trial->expected_out[i]);
    }
}

static char element_room[LONG_NUMBERS * 8 + MARGIN] __attribute__((aligned(64)));

/* ---- cases ----------------------------------------------------------------------------------- */

static void expect_reduced(trial_t *trial)
{
    const uint32_t last = trial->reduction.count - 1;

    for (size_t e = trial->first; e < trial->first + trial->elements; ++e) {
        memcpy(element_room, had(trial, last, e), trial->kind->size);
        for (uint32_t i = last; i-- > 0;) {
            trial->kind->serial(had(trial, i, e), element_room);
        }
        for (uint32_t i = 0; i <= last; ++i) {
            if (trial->wanted[i]) {
                expect(trial, i, e, element_room);
            }
        }
    }
}

static void case_reduce(const kind_t *kind)
{
    uint64_t random = tap_stream((uint64_t) (kind - kinds));

    tap_case("reduce: %s", kind->name);
    for (int round = 0; round < ROUNDS && !tap_case_failed(); ++round) {
        trial_t trial;
        void *recv[MEMBERS];
        uint32_t receivers = 0;

        trial_new(&trial, kind, &random);
        expect_reduced(&trial);
        for (uint32_t i = 0; i < trial.reduction.count; ++i) {
            if (trial.wanted[i]) {
                recv[receivers++] = trial.recv[i];
            }
        }
        TAP_EQ(OMPI_SUCCESS, mca_coll_epcoll_reduce_part(&trial.reduction, trial.first,
                                                         trial.elements, recv, receivers));
        trial_end(&trial);
    }
    tap_case_done();
}

static void expect_scanned(trial_t *trial, bool exclusive)
{
    char *mine = malloc(trial->kind->size);

    for (size_t e = trial->first; e < trial->first + trial->elements; ++e) {
        memcpy(element_room, had(trial, 0, e), trial->kind->size);
        for (uint32_t i = 0; i < trial->reduction.count; ++i) {
            if (0 < i && exclusive && trial->wanted[i]) {
                expect(trial, i, e, element_room);
            }
            if (0 < i) {
                memcpy(mine, had(trial, i, e), trial->kind->size);
                trial->kind->serial(element_room, mine);
                memcpy(element_room, mine, trial->kind->size);
            }
            if (!exclusive && trial->wanted[i]) {
                expect(trial, i, e, element_room);
            }
        }
    }
    free(mine);
}

static void case_scan(const kind_t *kind, bool exclusive)
{
    uint64_t random = tap_stream((uint64_t) (kind - kinds) + 100 + (exclusive ? 100 : 0));

    tap_case("%s: %s", exclusive ? "exscan" : "scan", kind->name);
    for (int round = 0; round < ROUNDS && !tap_case_failed(); ++round) {
        trial_t trial;

        trial_new(&trial, kind, &random);
        expect_scanned(&trial, exclusive);
        for (uint32_t i = 0; i < trial.reduction.count; ++i) {
            trial.recv[i] = trial.wanted[i] ? trial.recv[i] : EPCOLL_UNWANTED;
        }
        TAP_EQ(OMPI_SUCCESS, mca_coll_epcoll_scan_part(&trial.reduction, trial.first,
                                                       trial.elements, trial.recv, exclusive));
        trial_end(&trial);
    }
    tap_case_done();
}

/** A reduce-scatter in place: what comes out goes where other elements are, by less than a
 * block. */
static void case_shifted(void)
{
    enum { ALL = 6000, FROM = 100 };
    static double memory[FROM + 3 * ALL], expected[ALL];
    double *in[] = {memory + FROM, memory + FROM + ALL, memory + FROM + 2 * ALL};
    const void *send[] = {in[0], in[1], in[2]};
    const mca_coll_epcoll_reduction_t reduction = {MPI_SUM, MPI_DOUBLE, 3, send};
    uint64_t random = tap_stream(500);
    void *recv = memory;

    tap_case("the result goes to lower addresses of an input");
    for (int i = 0; i < ALL; ++i) {
        for (int j = 0; j < 3; ++j) {
            fill_double(&in[j][i], &random);
        }
        expected[i] = in[0][i] + (in[1][i] + in[2][i]);
    }
    TAP_EQ(OMPI_SUCCESS, mca_coll_epcoll_reduce_part(&reduction, FROM, ALL - FROM, &recv, 1));
    TAP_CHECK(0 == memcmp(in[0], expected + FROM, (ALL - FROM) * sizeof(double)), "sums are wrong");
    tap_case_done();
}

static void case_no_memory(void)
{
    uint64_t random = tap_stream(600);
    trial_t trial;
    uint32_t last;

    tap_case("no memory for large elements: an error, and nothing is written");
    do {
        trial_new(&trial, &kinds[LONGS], &random);
        last = trial.reduction.count - 1;
        if (1 < last && trial.in_place[0] && trial.in_place[last] && 0 < trial.elements) {
            break;
        }
        trial_end(&trial);
    } while (true);
    atomic_store(&no_memory, 1);
    TAP_EQ(MPI_ERR_NO_MEM, mca_coll_epcoll_reduce_part(&trial.reduction, trial.first,
                                                       trial.elements, trial.recv, 1));
    TAP_EQ(MPI_ERR_NO_MEM, mca_coll_epcoll_scan_part(&trial.reduction, trial.first, trial.elements,
                                                     trial.recv, true));
    /* None is needed where a receiver is the last input, or none. */
    for (uint32_t i = 0; i < MEMBERS; ++i) {
        trial.wanted[i] = last == i;
    }
    expect_reduced(&trial);
    TAP_EQ(OMPI_SUCCESS, mca_coll_epcoll_reduce_part(&trial.reduction, trial.first, trial.elements,
                                                     trial.recv + last, 1));
    atomic_store(&no_memory, 0);
    trial_end(&trial);
    tap_case_done();
}

int main(int argc, char **argv)
{
    int level;

    tap_begin(argc, argv, "test_epcoll_reduce", 120);
    setenv("OMPI_MCA_btl", "self", 1); /* a process by itself leaves others' files in /dev/shm */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    kinds_init();
    for (int i = 0; i < KINDS; ++i) {
        case_reduce(&kinds[i]);
        case_scan(&kinds[i], false);
        case_scan(&kinds[i], true);
    }
    case_shifted();
    case_no_memory();
    kinds_free();
    MPI_Finalize();
    return tap_end();
}
