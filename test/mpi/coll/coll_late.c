/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Random sequences of collectives of all kinds, on several communicators by turns, by members that
 * come when they like: late by nothing, a spin, a yield, a sleep; for a while one of them always by
 * a millisecond, while calls are of kinds in which others need not wait for it.  Blocking ones,
 * nonblocking and persistent ones; while one of those is under way others are made, of all three
 * forms. Kinds, roots, lengths, types, operations, in place or not: all by chance, the same at all
 * members, but for types, which may be each one's own where data are moved.  Each result is
 * compared with a serial one; sums of floating-point numbers are the same bit by bit at all
 * members, and when the call is made again.  Members are those of all processes; of one
 * communicator the ranks of a process do not follow each other, of another one processes have
 * different numbers.
 *
 *   --steps N  calls of a case, but for those within others (default 200)
 *   --mixed 0  blocking ones only
 *   --stock N  do components of Open MPI's serve them? (default 1 between processes, else 0)
 *   --share N  bytes around which lengths are tried: coll_epcoll_chunk_size (default 32768)
 *   --most N   bytes of the longest buffers (default 1 MiB)
 *
 * EPT-PARTS: coll_late_move.c coll_late_fold.c
 *
 * Guards: epcoll/hier, epcoll/segment, epcoll/calls, epcoll/data, epcoll/local, epcoll/pending
 */

#include "coll_late.h"

#include <sched.h>
#include <time.h>

static _Atomic uint64_t entered[LATE_MEMBERS_MOST]; /**< the last barrier that a rank has come to */

static void sleep_us(long us)
{
    const struct timespec nap = {us / 1000000, us % 1000000 * 1000};

    nanosleep(&nap, NULL);
}

void late_pause(struct late *l)
{
    if (3 == late_time(l) / 16 % 4 && l->t->rank == late_one(l)) {
        sleep_us(1000); /* this one's turn to be late */
        return;
    }
    switch (ept_random_below(&l->own, 12)) {
    case 0:
        sched_yield();
        break;
    case 1: {
        const double until = ept_time() + 1e-6 * (double) ept_random_below(&l->own, 60);

        while (ept_time() < until) {
        }
        break;
    }
    case 2:
        sleep_us((long) ept_random_below(&l->own, 300));
        break;
    default:
        break;
    }
}

size_t late_bytes(struct late *l)
{
    const size_t share = (size_t) ept_option_long("share", 32768);
    const size_t bytes[] = {0,  1,    8,     8,         16,    40,        47,      48,
                            49, 4096, 12000, share - 1, share, share + 1, l->most, l->most};
    const size_t chosen = bytes[late_below(l, (int) (sizeof(bytes) / sizeof(bytes[0])))];

    return chosen < l->most ? chosen : l->most;
}

/** Nobody leaves a barrier of all before all have come. */
static void barrier(struct late *l)
{
    struct ept *t = l->t;
    const uint64_t number = ++*l->barriers;
    const bool looks = 1 == t->nprocs && t->size == l->size && LATE_MEMBERS_MOST >= t->size;
    int rc;

    l->what = "barrier";
    l->repeats = true;
    if (looks) {
        atomic_store_explicit(&entered[t->rank], number, memory_order_relaxed);
    }
    rc = COLL_BLOCKING == l->mode      ? MPI_Barrier(l->comm)
         : COLL_NONBLOCKING == l->mode ? MPI_Ibarrier(l->comm, &l->request)
                                       : MPI_Barrier_init(l->comm, MPI_INFO_NULL, &l->request);
    EPT_OK(t, late_called(l, rc));
    for (int i = 0; looks && i < t->size; ++i) {
        const uint64_t seen = atomic_load_explicit(&entered[i], memory_order_relaxed);

        EPT_CHECK(t, number <= seen, "barrier %llu left before rank %d came",
                  (unsigned long long) number, i);
    }
}

/** What a step of any group is: the same at all members of the test, whatever their groups'
 * streams. */
static uint64_t dice(const struct late *l, uint64_t which)
{
    return ept_mix(ept_mix(l->t->seed, l->salt, 3, 0), l->step, which, 8);
}

/** A step of its own number: all but the step before is by chance. */
static void one_step(struct late *l)
{
    const uint64_t form = dice(l, 1) % 8;
    int kind;

    l->common = dice(l, 0);
    l->mode = !ept_option_long("mixed", 1) || form < 4 ? COLL_BLOCKING
              : form < 6                               ? COLL_NONBLOCKING
                                                       : COLL_PERSISTENT;
    l->comm = l->comms[LATE_ANY == l->way ? dice(l, 2) % LATE_COMMS : 0];
    MPI_Comm_rank(l->comm, &l->rank);
    MPI_Comm_size(l->comm, &l->size);
    l->what = "next call";
    kind = late_below(l, 20);
    if (kind < 2 && LATE_ANY == l->way) {
        late_pause(l);
        barrier(l);
    } else if (kind < 11 || LATE_FROM_ONE == l->way) {
        late_move(l);
    } else {
        late_fold(l);
    }
}

/** Other steps while one is under way. */
static void meanwhile(struct late *l, uint64_t which)
{
    struct late inner = *l;

    for (uint64_t left = l->depth < 3 ? dice(l, which) % 3 : 0; 0 < left; --left) {
        inner.depth = l->depth + 1;
        inner.step = ++*l->inner << 32 | late_time(l);
        one_step(&inner);
    }
    l->own = inner.own;
    ept_phase(l->t, "step %llu: wait for %s", (unsigned long long) l->step, l->what);
}

/** Each as it likes. */
static int end(struct late *l, MPI_Request *request)
{
    int flag = 0, rc = MPI_SUCCESS;

    late_pause(l);
    if (0 == ept_random_below(&l->own, 2)) {
        return MPI_Wait(request, MPI_STATUS_IGNORE);
    }
    while (MPI_SUCCESS == rc && !flag) {
        rc = MPI_Test(request, &flag, MPI_STATUS_IGNORE);
        if (0 == ept_random_below(&l->own, 16)) {
            sched_yield();
        }
    }
    return rc;
}

int late_called(struct late *l, int rc)
{
    MPI_Request request = l->request;

    if (COLL_BLOCKING == l->mode || MPI_SUCCESS != rc) {
        return rc;
    }
    if (COLL_NONBLOCKING == l->mode) {
        meanwhile(l, 3);
        return end(l, &request);
    }
    for (uint64_t left = 1 + (l->repeats ? dice(l, 4) % 2 : 0); 0 < left; --left) {
        EPT_OK(l->t, MPI_Start(&request));
        meanwhile(l, 5);
        EPT_OK(l->t, end(l, &request));
    }
    return MPI_Request_free(&request);
}

/** All members; likewise the other way round, and one of each process in turn; and two groups of
 * different sizes, each with other numbers of members in each process. */
static void make_comms(MPI_Comm comm, struct ept *t, MPI_Comm *comms)
{
    const bool first = 1 == t->nprocs ? 0 != t->rank % 3
                                      : t->local < t->nlocal - t->proc % t->nlocal;

    EPT_OK(t, MPI_Comm_dup(comm, &comms[0]));
    EPT_OK(t, MPI_Comm_split(comm, 0, -t->rank, &comms[1]));
    EPT_OK(t, MPI_Comm_split(comm, 0, t->local * t->nprocs + t->proc, &comms[2]));
    EPT_OK(t, MPI_Comm_split(comm, first, t->rank * 7 % 5, &comms[3]));
}

static void run(MPI_Comm comm, struct ept *t, uint64_t salt, size_t most)
{
    const uint64_t steps = (uint64_t) ept_option_long("steps", 200);
    uint64_t inner = 0, barriers = 0;
    struct late l = {.t = t,
                     .own = ept_mix(t->seed, salt, 2, (uint64_t) t->rank),
                     .salt = salt,
                     .most = most,
                     .inner = &inner,
                     .barriers = &barriers};

    make_comms(comm, t, l.comms);
    if (1 == t->nprocs && LATE_MEMBERS_MOST >= t->size) {
        atomic_store_explicit(&entered[t->rank], 0, memory_order_relaxed);
        EPT_OK(t, MPI_Barrier(comm)); /* none looks at it before */
    }
    late_move_begin(&l);
    late_fold_begin(&l);
    for (l.step = 1; l.step <= steps; ++l.step) {
        l.way = LATE_ANY;
        if (1 == l.step / 32 % 2) {
            l.way = 0 == ept_mix(t->seed, l.step / 64, 7, 0) % 2 ? LATE_FROM_ONE : LATE_TO_ONE;
        }
        ept_phase(t, "step %llu of %llu", (unsigned long long) l.step, (unsigned long long) steps);
        one_step(&l);
    }
    late_fold_end(&l);
    late_move_end(&l);
    for (int i = 0; i < LATE_COMMS; ++i) {
        EPT_OK(t, MPI_Comm_free(&l.comms[i]));
    }
}

/** What fits into a line, and a little more: many calls that overtake each other. */
static void case_small(MPI_Comm comm, struct ept *t)
{
    run(comm, t, 1, 60);
}

static void case_any(MPI_Comm comm, struct ept *t)
{
    run(comm, t, 2, (size_t) ept_option_long("most", 1 << 20));
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_small);
    EPT_CASE(t, case_any);
    return 0;
}
