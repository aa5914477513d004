/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Parts of buffers of any two types (coll_epcoll_buffer.c) against a list of where each byte is:
 * copied, swapped, packed; by several threads at a time, with bounds in the middle of numbers;
 * ranges that end too late.
 *
 * Guards: ompi/mca/coll/epcoll/data
 */

#include "test_epcoll_data.h"

#include "ompi/mca/coll/epcoll/data/coll_epcoll_buffer.c"

#include <pthread.h>

enum {
    PAIRS = TAP_SANITIZED ? 300 : 1500,
    RANGES = 6,
    PACKED_MOST = 20000,
    THREADS = 3,
    CUTS = 64 /**< parts of a buffer that threads take turns to copy */
};

/** Two buffers of types of their own, no byte of which is there twice. */
typedef struct pair_t {
    typed_t type[2];
    memory_t memory[2];
    size_t size; /**< packed bytes that both have */
} pair_t;

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void pair_new(pair_t *pair, uint64_t *random)
{
    for (int i = 0; i < 2;) {
        typed_new(&pair->type[i], random, (int) tap_below(random, DEPTH_MOST));
        const size_t size = pair->type[i].size;

        if (0 != size) {
            memory_new(&pair->memory[i], &pair->type[i],
                       1 + tap_below(random, 1 + tap_below(random, PACKED_MOST / size)), random);
            if (memory_is_simple(&pair->memory[i])) {
                ++i;
                continue;
            }
            memory_free(&pair->memory[i]);
        }
        typed_free(&pair->type[i]);
    }
    pair->size = smaller(mca_coll_epcoll_bytes(&pair->memory[0].buffer),
                         mca_coll_epcoll_bytes(&pair->memory[1].buffer));
}

static void pair_free(pair_t *pair)
{
    for (int i = 0; i < 2; ++i) {
        memory_free(&pair->memory[i]);
        typed_free(&pair->type[i]);
    }
}

static unsigned char *copy_of(const memory_t *memory)
{
    unsigned char *bytes = malloc(memory->size);

    memcpy(bytes, memory->bytes, memory->size);
    return bytes;
}

/** Is memory what is expected of it?  Takes expected. */
static void compare(const memory_t *memory, unsigned char *expected, const char *what)
{
    size_t wrong = 0, first = 0;

    for (size_t i = 0; i < memory->size; ++i) {
        if (expected[i] != memory->bytes[i]) {
            first = 0 == wrong ? i : first;
            ++wrong;
        }
    }
    TAP_CHECK(0 == wrong, "%s: %zu of %zu bytes are wrong, the first is %zu", what, wrong,
              memory->size, first);
    free(expected);
}

/** What to must be after a copy of a range. */
static void expect_copy(unsigned char *expected, const memory_t *to, const unsigned char *source,
                        const memory_t *from, size_t offset, size_t size)
{
    for (size_t i = offset; i < offset + size; ++i) {
        expected[memory_at(to, i)] = source[memory_at(from, i)];
    }
}

static void case_copy(pair_t *pair)
{
    uint64_t random = tap_stream(1);

    tap_case("%d pairs of types: parts of one copied to the other", PAIRS);
    for (int i = 0; i < PAIRS && !tap_case_failed(); ++i) {
        pair_new(pair, &random);
        for (int j = 0; j < RANGES; ++j) {
            const memory_t *to = &pair->memory[j % 2], *from = &pair->memory[1 - j % 2];
            const size_t offset = tap_below(&random, pair->size + 1);
            const size_t size = tap_below(&random, pair->size - offset + 1);
            unsigned char *expected = copy_of(to), *source = copy_of(from);

            expect_copy(expected, to, source, from, offset, size);
            TAP_EQ(OMPI_SUCCESS,
                   mca_coll_epcoll_copy_part(&to->buffer, &from->buffer, offset, size));
            compare(to, expected, "the target");
            compare(from, source, "the source");
        }
        pair_free(pair);
    }
    tap_case_done();
}

static void case_swap(pair_t *pair)
{
    uint64_t random = tap_stream(2);

    tap_case("%d pairs of types: parts swapped", PAIRS / 3);
    for (int i = 0; i < PAIRS / 3 && !tap_case_failed(); ++i) {
        pair_new(pair, &random);
        const memory_t *a = &pair->memory[0], *b = &pair->memory[1];
        const bool same = mca_coll_epcoll_bytes(&a->buffer) == mca_coll_epcoll_bytes(&b->buffer);
        const size_t offset = tap_below(&random, pair->size + 1);
        const size_t size = same ? pair->size : tap_below(&random, pair->size - offset + 1);
        unsigned char *was_a = copy_of(a), *was_b = copy_of(b);
        unsigned char *expected_a = copy_of(a), *expected_b = copy_of(b);

        expect_copy(expected_a, a, was_b, b, same ? 0 : offset, size);
        expect_copy(expected_b, b, was_a, a, same ? 0 : offset, size);
        if (same) {
            TAP_EQ(OMPI_SUCCESS, mca_coll_epcoll_swap_part(&a->buffer, &b->buffer, 0, size));
        } else {
            TAP_EQ(OMPI_SUCCESS, mca_coll_epcoll_swap_part(&a->buffer, &b->buffer, offset, size));
        }
        compare(a, expected_a, "one");
        compare(b, expected_b, "the other");
        free(was_a);
        free(was_b);
        pair_free(pair);
    }
    tap_case_done();
}

static void case_pack(pair_t *pair)
{
    uint64_t random = tap_stream(3);

    tap_case("%d types: packed, and unpacked elsewhere", PAIRS);
    for (int i = 0; i < PAIRS && !tap_case_failed(); ++i) {
        pair_new(pair, &random);
        const memory_t *from = &pair->memory[0];
        const size_t size = mca_coll_epcoll_bytes(&from->buffer);
        unsigned char *packed = malloc(size), *expected;
        memory_t to;

        memory_new(&to, from->typed, from->buffer.count, &random);
        expected = copy_of(&to);
        expect_copy(expected, &to, from->bytes, from, 0, size);
        TAP_EQ(OMPI_SUCCESS, mca_coll_epcoll_pack(packed, &from->buffer));
        for (size_t j = 0; j < size; ++j) {
            TAP_EQ(from->bytes[memory_at(from, j)], packed[j]);
        }
        TAP_EQ(OMPI_SUCCESS, mca_coll_epcoll_unpack(&to.buffer, packed));
        compare(&to, expected, "what was unpacked");
        memory_free(&to);
        free(packed);
        pair_free(pair);
    }
    tap_case_done();
}

/* ---- several threads ------------------------------------------------------------------------- */

static struct {
    pair_t pair;
    size_t cut[CUTS + 1]; /**< bounds of parts */
    pthread_barrier_t barrier;
} shared;

static void *copier(void *argument)
{
    const size_t index = (size_t) (uintptr_t) argument;

    pthread_barrier_wait(&shared.barrier);
    for (size_t i = index; i < CUTS; i += THREADS) {
        TAP_EQ(OMPI_SUCCESS, mca_coll_epcoll_copy_part(&shared.pair.memory[0].buffer,
                                                       &shared.pair.memory[1].buffer, shared.cut[i],
                                                       shared.cut[i + 1] - shared.cut[i]));
    }
    return NULL;
}

static int by_size(const void *a, const void *b)
{
    const size_t x = *(const size_t *) a, y = *(const size_t *) b;

    return (x > y) - (x < y);
}

static void case_threads(void)
{
    uint64_t random = tap_stream(4);
    const int rounds = PAIRS / 2;

    tap_case("%d pairs of types: %d threads copy parts that touch", rounds, THREADS);
    pthread_barrier_init(&shared.barrier, NULL, THREADS);
    for (int i = 0; i < rounds && !tap_case_failed(); ++i) {
        pthread_t thread[THREADS];
        pair_t *pair = &shared.pair;
        unsigned char *expected;

        pair_new(pair, &random);
        for (int j = 0; j <= CUTS; ++j) {
            shared.cut[j] = tap_below(&random, pair->size + 1);
        }
        shared.cut[0] = 0;
        shared.cut[1] = pair->size;
        qsort(shared.cut, CUTS + 1, sizeof(shared.cut[0]), by_size);
        expected = copy_of(&pair->memory[0]);
        expect_copy(expected, &pair->memory[0], pair->memory[1].bytes, &pair->memory[1], 0,
                    pair->size);
        for (size_t j = 0; j < THREADS; ++j) {
            pthread_create(&thread[j], NULL, copier, (void *) (uintptr_t) j);
        }
        for (size_t j = 0; j < THREADS; ++j) {
            pthread_join(thread[j], NULL);
        }
        compare(&pair->memory[0], expected, "what all have copied");
        pair_free(pair);
    }
    pthread_barrier_destroy(&shared.barrier);
    tap_case_done();
}

/* ---- edges ----------------------------------------------------------------------------------- */

/** Ints, and behind them a type of nothing, which is only a bound: libmpi says that there is no
 * gap. */
static void check_far_bound(void)
{
    const int count[] = {4, 1};
    const MPI_Aint at[] = {16, 3600};
    MPI_Datatype part[] = {MPI_INT, MPI_DATATYPE_NULL}, type;

    MPI_Type_contiguous(0, MPI_INT, &part[1]);
    MPI_Type_create_struct(2, count, at, part, &type);
    MPI_Type_commit(&type);
    TAP_CHECK(!mca_coll_epcoll_is_flat(type, 2), "two with a bound far away are flat");
    TAP_CHECK(mca_coll_epcoll_is_flat(type, 1), "one of them is not flat");
    MPI_Type_free(&part[1]);
    MPI_Type_free(&type);
}

static void case_edges(void)
{
    double a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
    const mca_coll_epcoll_buffer_t all_a = {a, 4, MPI_DOUBLE}, all_b = {b, 4, MPI_DOUBLE};
    const mca_coll_epcoll_buffer_t less = {b, 3, MPI_DOUBLE}, none = {NULL, 0, MPI_DOUBLE};
    mca_coll_epcoll_buffer_t even = {a, 2, MPI_DOUBLE};

    tap_case("ranges that end too late, or nowhere");
    MPI_Type_create_resized(MPI_DOUBLE, 0, 16, &even.type);
    MPI_Type_commit(&even.type);
    TAP_EQ(16, mca_coll_epcoll_bytes(&even));
    TAP_CHECK(NULL == mca_coll_epcoll_flat(&even), "two with a gap between them are flat");
    TAP_CHECK(mca_coll_epcoll_is_flat(even.type, 1), "one of them is not flat");
    TAP_CHECK(mca_coll_epcoll_is_flat(even.type, 0), "none of them is not flat");
    TAP_CHECK(mca_coll_epcoll_is_flat(MPI_DOUBLE, (size_t) 1 << 40), "many doubles are not flat");
    TAP_CHECK((char *) a == mca_coll_epcoll_flat(&all_a), "doubles begin elsewhere");
    check_far_bound();
    TAP_EQ(MPI_ERR_TRUNCATE, mca_coll_epcoll_copy_part(&less, &all_a, 0, 32));
    TAP_EQ(MPI_ERR_TRUNCATE, mca_coll_epcoll_copy_part(&all_a, &less, 31, 1));
    TAP_EQ(MPI_ERR_TRUNCATE, mca_coll_epcoll_copy_part(&even, &all_b, 16, 1));
    TAP_EQ(MPI_ERR_TRUNCATE, mca_coll_epcoll_swap_part(&less, &all_a, 0, 32));
    TAP_EQ(OMPI_SUCCESS, mca_coll_epcoll_copy_part(&none, &none, 0, 0));
    TAP_EQ(OMPI_SUCCESS, mca_coll_epcoll_copy_part(&even, &all_b, 16, 0));
    TAP_EQ(OMPI_SUCCESS, mca_coll_epcoll_copy_part(&all_a, &all_a, 0, 32));
    TAP_EQ(OMPI_SUCCESS, mca_coll_epcoll_pack(a, &none));
    TAP_EQ(OMPI_SUCCESS, mca_coll_epcoll_unpack(&none, a));
    TAP_EQ(OMPI_SUCCESS, mca_coll_epcoll_swap_part(&none, &none, 0, 0));
    for (int i = 0; i < 4; ++i) {
        TAP_CHECK(i + 1 == a[i] && i + 5 == b[i], "element %d has changed", i);
    }
    TAP_EQ(OMPI_SUCCESS, mca_coll_epcoll_copy_part(&even, &all_b, 0, 16));
    TAP_CHECK(5 == a[0] && 2 == a[1] && 6 == a[2] && 4 == a[3], "a gap was written");
    MPI_Type_free(&even.type);
    tap_case_done();
}

int main(int argc, char **argv)
{
    int level;

    tap_begin(argc, argv, "test_epcoll_buffer", 120);
    setenv("OMPI_MCA_btl", "self", 1); /* a process by itself leaves others' files in /dev/shm */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    TAP_EQ(MPI_THREAD_MULTIPLE, level);
    case_edges();
    case_copy(&shared.pair);
    case_swap(&shared.pair);
    case_pack(&shared.pair);
    case_threads();
    MPI_Finalize();
    return tap_end();
}
