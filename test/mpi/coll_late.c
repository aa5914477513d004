/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * Random sequences of blocking collectives of all kinds, on two communicators by turns, by members
 * that come when they like: late by nothing, a spin, a yield, a sleep; for a while one of them always
 * by a millisecond, while calls are of kinds in which others need not wait for it.  Kinds, roots, lengths, types, operations, in place or not: all by chance, the same
 * at all members, but for types, which may be each one's own where data are moved.  Each result is
 * compared with a serial one; sums of floating-point numbers are the same bit by bit at all members,
 * and when the call is made again.
 *
 *   --steps N  calls of a case (default 200)
 *   --share N  bytes around which lengths are tried: coll_epcoll_share_size (default 32768)
 *   --most N   bytes of the longest buffers (default 1 MiB)
 *
 * EPT-PARTS: coll_late_move.c coll_late_fold.c
 *
 * Guards: epcoll/block, epcoll/calls, epcoll/data, epcoll/local
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
    if (3 == l->step / 16 % 4 && l->t->rank == late_one(l)) {
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

/** Nobody leaves a barrier before all have come. */
static void barrier(struct late *l)
{
    struct ept *t = l->t;

    l->what = "barrier";
    if (1 == t->nprocs && LATE_MEMBERS_MOST >= t->size) {
        atomic_store_explicit(&entered[t->rank], l->step, memory_order_relaxed);
    }
    EPT_OK(t, MPI_Barrier(l->comm));
    if (1 == t->nprocs && LATE_MEMBERS_MOST >= t->size) {
        for (int i = 0; i < t->size; ++i) {
            const uint64_t seen = atomic_load_explicit(&entered[i], memory_order_relaxed);

            EPT_CHECK(t, l->step <= seen, "barrier %llu left before rank %d came",
                      (unsigned long long) l->step, i);
        }
    }
}

static void one_step(struct late *l)
{
    const int kind = late_below(l, 20);

    if (kind < 2 && LATE_ANY == l->way) {
        late_pause(l);
        barrier(l);
    } else if (kind < 11 || LATE_FROM_ONE == l->way) {
        late_move(l);
    } else {
        late_fold(l);
    }
}

/** All members' communicators: as the test's, and the other way round. */
static void run(MPI_Comm comm, struct ept *t, uint64_t salt, size_t most)
{
    const uint64_t steps = (uint64_t) ept_option_long("steps", 200);
    struct late l = {.t = t,
                     .common = ept_mix(t->seed, salt, 1, 0),
                     .own = ept_mix(t->seed, salt, 2, (uint64_t) t->rank),
                     .most = most};
    MPI_Comm comms[2];

    EPT_OK(t, MPI_Comm_dup(comm, &comms[0]));
    EPT_OK(t, MPI_Comm_split(comm, 0, -t->rank, &comms[1]));
    late_move_begin(&l);
    late_fold_begin(&l);
    for (l.step = 1; l.step <= steps; ++l.step) {
        l.way = LATE_ANY;
        if (1 == l.step / 32 % 2) {
            l.way = 0 == ept_mix(t->seed, l.step / 64, 7, 0) % 2 ? LATE_FROM_ONE : LATE_TO_ONE;
        }
        l.comm = comms[LATE_ANY == l.way ? late_below(&l, 2) : 0];
        MPI_Comm_rank(l.comm, &l.rank);
        MPI_Comm_size(l.comm, &l.size);
        l.what = "next call";
        ept_phase(t, "step %llu of %llu", (unsigned long long) l.step, (unsigned long long) steps);
        one_step(&l);
    }
    late_fold_end(&l);
    late_move_end(&l);
    EPT_OK(t, MPI_Comm_free(&comms[0]));
    EPT_OK(t, MPI_Comm_free(&comms[1]));
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
