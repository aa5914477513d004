/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Alltoallv and MPI_Alltoallw, blocking, nonblocking and persistent, in place and not, with
 * members that have nothing to give, types with gaps and displacements: each element against what
 * its sender gave, and each gap.  Types are freed as soon as MPI allows.  With one endpoint in each
 * process, and alone, other code serves them than with more.
 *
 * Guards: coll_epcoll_calls_direct.c, coll_epcoll_direct.c, coll_epcoll_peers.c,
 * coll_epcoll_module.c, coll_epcoll_component.c
 */

#include "coll.h"

/* Elements of a block at most, ints from an element with a gap to the next one, ints of a block;
 * what is where nothing is; starts of a persistent request. */
enum { MOST = 4, STEP = 4, BLOCK = MOST * STEP, FREE = -77, STARTS = 3 };

/* What all members know of a call. */
struct plan {
    bool w, in_place;
    int quiet; /* that rank has nothing for anybody; the number of ranks: there is no such */
    int start;
};

static int count_of(const struct plan *plan, int from, int to)
{
    return plan->quiet == from || plan->quiet == to ? 0 : (from * to + from + to + 3) % (MOST + 1);
}

/* In alltoallw by pair, else by call: one half of them. */
static bool has_gaps(const struct plan *plan, int from, int to)
{
    return 0 == (plan->w ? from + to : plan->quiet) % 2;
}

/* A block as it is in memory. */
static void draw(const struct plan *plan, int32_t *block, int from, int to)
{
    const bool gaps = has_gaps(plan, from, to);

    for (int i = 0; i < BLOCK; ++i) {
        block[i] = FREE;
    }
    for (int i = 0; 0 <= from && i < count_of(plan, from, to); ++i) {
        block[gaps ? i * STEP : i] = coll_value(from, to, 100 * plan->start + i);
        if (gaps) {
            block[i * STEP + 2] = -coll_value(from, to, 100 * plan->start + i);
        }
    }
}

/* Two ints with a gap between them, and one behind. */
static MPI_Datatype new_type(struct ept *t)
{
    MPI_Datatype vector, type;

    EPT_OK(t, MPI_Type_vector(2, 1, 2, MPI_INT32_T, &vector));
    EPT_OK(t, MPI_Type_create_resized(vector, 0, STEP * (MPI_Aint) sizeof(int32_t), &type));
    EPT_OK(t, MPI_Type_commit(&type));
    EPT_OK(t, MPI_Type_free(&vector));
    return type;
}

/* The arguments of a call, and its request. */
struct call {
    struct plan plan;
    int32_t *send, *recv;
    int *counts, *places;
    MPI_Datatype *types;
    MPI_Request request;
};

static struct call new_call(struct ept *t, struct plan plan, MPI_Datatype gapped)
{
    const size_t n = (size_t) t->size + 1; /* the first block is nobody's */
    struct call call = {.plan = plan,
                        .send = malloc(n * BLOCK * sizeof(int32_t)),
                        .recv = malloc(n * BLOCK * sizeof(int32_t)),
                        .counts = malloc(n * sizeof(int)),
                        .places = malloc(n * sizeof(int)),
                        .types = malloc(n * sizeof(MPI_Datatype)),
                        .request = MPI_REQUEST_NULL};

    for (int i = 0; i < t->size; ++i) {
        const bool gaps = has_gaps(&plan, t->rank, i);

        call.counts[i] = count_of(&plan, t->rank, i);
        call.types[i] = gaps ? gapped : MPI_INT32_T;
        call.places[i] = plan.w ? (i + 1) * BLOCK * (int) sizeof(int32_t)
                                : (i + 1) * BLOCK / (gaps ? STEP : 1);
    }
    return call;
}

static void free_call(struct call *call)
{
    free(call->send);
    free(call->recv);
    free(call->counts);
    free(call->places);
    free(call->types);
}

static void fill(struct ept *t, struct call *call)
{
    for (int i = 0; i < (t->size + 1) * BLOCK; ++i) {
        call->send[i] = call->recv[i] = FREE;
    }
    for (int i = 0; i < t->size; ++i) {
        draw(&call->plan, call->send + (i + 1) * BLOCK, t->rank, i);
        if (call->plan.in_place) {
            draw(&call->plan, call->recv + (i + 1) * BLOCK, t->rank, i);
        }
    }
}

static void check(struct ept *t, const struct call *call)
{
    int32_t wanted[BLOCK];

    for (int i = -1; i < t->size; ++i) {
        draw(&call->plan, wanted, i, t->rank);
        for (int k = 0; k < BLOCK; ++k) {
            if (wanted[k] != call->recv[(i + 1) * BLOCK + k]) {
                EPT_CHECK(t, false, "int %d of the block from %d is %d, expected %d", k, i,
                          call->recv[(i + 1) * BLOCK + k], wanted[k]);
                return;
            }
        }
    }
    EPT_CHECK(t, true, "right");
}

#define ARGUMENTS(type)                                                                           \
    call->plan.in_place ? MPI_IN_PLACE : (void *) call->send, call->counts, call->places, (type), \
        call->recv, call->counts, call->places, (type), comm

static void begin(MPI_Comm comm, struct ept *t, struct call *call, enum coll_mode mode)
{
    MPI_Request *request = &call->request;

    switch (mode) {
    case COLL_BLOCKING:
        EPT_OK(t, call->plan.w ? MPI_Alltoallw(ARGUMENTS(call->types))
                               : MPI_Alltoallv(ARGUMENTS(call->types[0])));
        break;
    case COLL_NONBLOCKING:
        EPT_OK(t, call->plan.w ? MPI_Ialltoallw(ARGUMENTS(call->types), request)
                               : MPI_Ialltoallv(ARGUMENTS(call->types[0]), request));
        break;
    default:
        EPT_OK(t, call->plan.w
                      ? MPI_Alltoallw_init(ARGUMENTS(call->types), MPI_INFO_NULL, request)
                      : MPI_Alltoallv_init(ARGUMENTS(call->types[0]), MPI_INFO_NULL, request));
        break;
    }
}

static void one(MPI_Comm comm, struct ept *t, struct plan plan, enum coll_mode mode)
{
    MPI_Datatype gapped = new_type(t);
    struct call call = new_call(t, plan, gapped);

    ept_phase(t, "%s %s, %s, rank %d has nothing", coll_mode_names[mode], plan.w ? "w" : "v",
              plan.in_place ? "in place" : "not in place", plan.quiet);
    fill(t, &call);
    begin(comm, t, &call, mode);
    EPT_OK(t, MPI_Type_free(&gapped));
    for (int i = 0; i < (COLL_PERSISTENT == mode ? STARTS : 1); ++i) {
        call.plan.start = i;
        if (COLL_PERSISTENT == mode) {
            fill(t, &call);
            EPT_OK(t, MPI_Start(&call.request));
        }
        if (COLL_BLOCKING != mode) {
            coll_wait(t, &call.request);
        }
        check(t, &call);
    }
    if (COLL_PERSISTENT == mode) {
        EPT_OK(t, MPI_Request_free(&call.request));
    }
    free_call(&call);
}

static void each(MPI_Comm comm, struct ept *t, bool w, bool in_place)
{
    for (int mode = 0; mode < COLL_NUM_MODES; ++mode) {
        for (int quiet = 0; quiet <= t->size; ++quiet) {
            one(comm, t, (struct plan){.w = w, .in_place = in_place, .quiet = quiet}, mode);
        }
    }
}

static void case_v(MPI_Comm comm, struct ept *t)
{
    each(comm, t, false, false);
}

static void case_w(MPI_Comm comm, struct ept *t)
{
    each(comm, t, true, false);
}

static void case_v_in_place(MPI_Comm comm, struct ept *t)
{
    each(comm, t, false, true);
}

static void case_w_in_place(MPI_Comm comm, struct ept *t)
{
    each(comm, t, true, true);
}

/* Persistent ones that each member starts in an order of its own. */
static void case_any_order(MPI_Comm comm, struct ept *t)
{
    enum { CALLS = 4 };
    struct call call[CALLS];
    MPI_Datatype gapped = new_type(t);

    for (int i = 0; i < CALLS; ++i) {
        call[i] = new_call(t, (struct plan){.w = 0 != i % 2, .quiet = t->size + i, .start = i},
                           gapped);
        begin(comm, t, &call[i], COLL_PERSISTENT);
    }
    EPT_OK(t, MPI_Type_free(&gapped));
    for (int round = 0; round < STARTS; ++round) {
        for (int i = 0; i < CALLS; ++i) {
            struct call *next = &call[(i + t->rank + round) % CALLS];

            fill(t, next);
            EPT_OK(t, MPI_Start(&next->request));
        }
        for (int i = 0; i < CALLS; ++i) {
            coll_wait(t, &call[i].request);
            check(t, &call[i]);
        }
    }
    for (int i = 0; i < CALLS; ++i) {
        EPT_OK(t, MPI_Request_free(&call[i].request));
        free_call(&call[i]);
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_v);
    EPT_CASE(t, case_w);
    EPT_CASE(t, case_v_in_place);
    EPT_CASE(t, case_w_in_place);
    EPT_CASE(t, case_any_order);
    return 0;
}
