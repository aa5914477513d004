/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Collectives on several nodes: how many messages, and bytes, go between them, and within nodes, as
 * the performance variables of MPI_T have it.  All members count; there are as many as the level of
 * nodes takes, whichever node the processes of which ranks are on; within nodes there are none
 * where leaders meet in memory.
 *
 * Guards: coll_epcoll_layout.c, coll_epcoll_immediate.c, coll_epcoll_phase.c,
 * coll_epcoll_build_gatherv.c, coll_epcoll_node_leaders.c, coll_epcoll_node_segment.c
 */

#include "ept.h"

#include <unistd.h>

enum { CALLS = 50, NAME = 64, SMALL = 2, ROUND = 20000 };

void test_process_begin(void)
{
    int level;

    (void) MPI_T_init_thread(MPI_THREAD_MULTIPLE, &level);
}

/* ---- what is counted ------------------------------------------------------------------------- */

/* Open MPI 6.0.0rc2 takes the address of a handle for that of the communicator: there are zeros. */
struct counter {
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_Comm comm;
    unsigned char zeros[2048];
};

static void counter_open(struct ept *t, struct counter *counter, MPI_Comm comm, const char *name)
{
    int index = -1, count = 0;

    *counter = (struct counter){.comm = comm};
    EPT_EQ(t, MPI_SUCCESS, MPI_T_pvar_session_create(&counter->session));
    EPT_EQ(t, MPI_SUCCESS, MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index));
    EPT_EQ(t, MPI_SUCCESS,
           MPI_T_pvar_handle_alloc(counter->session, index, &counter->comm, &counter->handle,
                                   &count));
}

static unsigned long long counter_read(struct ept *t, struct counter *counter)
{
    unsigned long long value = 0;

    EPT_EQ(t, MPI_SUCCESS, MPI_T_pvar_read(counter->session, counter->handle, &value));
    return value;
}

static void counter_close(struct ept *t, struct counter *counter)
{
    EPT_EQ(t, MPI_SUCCESS, MPI_T_pvar_handle_free(counter->session, &counter->handle));
    EPT_EQ(t, MPI_SUCCESS, MPI_T_pvar_session_free(&counter->session));
}

/* ---- where members are ----------------------------------------------------------------------- */

struct where {
    int nodes, processes;
};

static struct where where(MPI_Comm comm, struct ept *t)
{
    char *names = calloc((size_t) t->size, NAME), name[NAME] = "";
    struct where where = {.processes = t->nprocs};

    EPT_CHECK(t, 0 == gethostname(name, NAME - 1), "no host name");
    EPT_OK(t, MPI_Allgather(name, NAME, MPI_CHAR, names, NAME, MPI_CHAR, comm));
    for (int i = 0; i < t->size; ++i) {
        int j = 0;

        while (j < i && 0 != strcmp(names + j * NAME, names + i * NAME)) {
            ++j;
        }
        where.nodes += i == j;
    }
    free(names);
    return where;
}

/** Steps in which 1, 2, 4 ... reach all. */
static int steps(int count)
{
    int steps = 0;

    while (1 << steps < count) {
        ++steps;
    }
    return steps;
}

/** Messages of an allreduce by doubling: pairs come to a power of two, and go. */
static int doubling(int count)
{
    int places = 1;

    while (2 * places <= count) {
        places *= 2;
    }
    return 2 * (count - places) + places * steps(places);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/** Buffers of a member, and which form of a call it makes. */
struct work {
    MPI_Comm comm;
    struct ept *t;
    bool is_nonblocking;
    int *in, *out, *counts, *at;
    int length;
};

/** A call, in the form that is tested. */
#define CALL(work, name, iname, ...)                                  \
    do {                                                              \
        MPI_Request request = MPI_REQUEST_NULL;                       \
                                                                      \
        if ((work)->is_nonblocking) {                                 \
            EPT_OK((work)->t, MPI_##iname(__VA_ARGS__, &request));    \
            EPT_OK((work)->t, MPI_Wait(&request, MPI_STATUS_IGNORE)); \
        } else {                                                      \
            EPT_OK((work)->t, MPI_##name(__VA_ARGS__));               \
        }                                                             \
    } while (0)

static void barrier(struct work *work, int call)
{
    (void) call;
    CALL(work, Barrier, Ibarrier, work->comm);
}

static void bcast(struct work *work, int call)
{
    const int root = call % work->t->size;

    work->out[0] = root == work->t->rank ? call : -1;
    CALL(work, Bcast, Ibcast, work->out, work->length, MPI_INT, root, work->comm);
    EPT_EQ(work->t, call, work->out[0]);
}

static void reduce(struct work *work, int call)
{
    const int root = call % work->t->size, size = work->t->size;

    work->in[0] = work->t->rank + call;
    CALL(work, Reduce, Ireduce, work->in, work->out, work->length, MPI_INT, MPI_SUM, root,
         work->comm);
    if (root == work->t->rank) {
        EPT_EQ(work->t, size * (size - 1) / 2 + size * call, work->out[0]);
    }
}

static void allreduce(struct work *work, int call)
{
    const int size = work->t->size;

    work->in[0] = work->t->rank + call;
    CALL(work, Allreduce, Iallreduce, work->in, work->out, work->length, MPI_INT, MPI_SUM,
         work->comm);
    EPT_EQ(work->t, size * (size - 1) / 2 + size * call, work->out[0]);
}

static void allgather(struct work *work, int call)
{
    work->in[0] = work->t->rank + call;
    CALL(work, Allgather, Iallgather, work->in, work->length, MPI_INT, work->out, work->length,
         MPI_INT, work->comm);
    for (int i = 0; i < work->t->size; ++i) {
        EPT_EQ(work->t, i + call, work->out[i * work->length]);
    }
}

static void allgatherv(struct work *work, int call)
{
    work->in[0] = work->t->rank + call;
    CALL(work, Allgatherv, Iallgatherv, work->in, work->length, MPI_INT, work->out, work->counts,
         work->at, MPI_INT, work->comm);
    for (int i = 0; i < work->t->size; ++i) {
        EPT_EQ(work->t, i + call, work->out[i * work->length]);
    }
}

/** What a call sends, of all members together, on average, as a variable counts it.  The calls
 * before have made what is made when it is first needed. */
static double counted(struct work *work, void (*call)(struct work *work, int call),
                      const char *name)
{
    unsigned long long before, sent, all = 0;
    struct counter counter;

    for (int i = 0; i < 10; ++i) {
        call(work, i);
    }
    EPT_OK(work->t, MPI_Barrier(work->comm));
    counter_open(work->t, &counter, work->comm, name);
    before = counter_read(work->t, &counter);
    for (int i = 0; i < CALLS; ++i) {
        call(work, i);
    }
    sent = counter_read(work->t, &counter) - before;
    counter_close(work->t, &counter);
    EPT_OK(work->t, MPI_Allreduce(&sent, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, work->comm));
    return (double) all / CALLS;
}

/** As many as there should be; a few more, with which messages are acknowledged, do not count. */
static void messages(struct work *work, void (*call)(struct work *work, int call), const char *what,
                     int expected)
{
    const double got = counted(work, call, "pml_epml_ep_net_messages");

    ept_phase(work->t, "%s%s", work->is_nonblocking ? "nonblocking " : "", what);
    if (0 == work->t->rank) {
        printf("# %s%s: %.2f messages between nodes, expected %d\n",
               work->is_nonblocking ? "nonblocking " : "", what, got, expected);
    }
    EPT_CHECK(work->t, expected <= got && expected * 1.1 + 0.5 >= got,
              "%s: %.2f messages between nodes, expected %d", what, got, expected);
}

/** None within nodes. */
static void meets(struct work *work, void (*call)(struct work *work, int call), const char *what)
{
    const double got = counted(work, call, "pml_epml_ep_node_messages");

    EPT_CHECK(work->t, 0 == got, "%s: %.2f messages within nodes", what, got);
}

static void each(MPI_Comm comm, struct ept *t, bool is_nonblocking)
{
    const struct where at = where(comm, t);
    struct work work = {.comm = comm,
                        .t = t,
                        .is_nonblocking = is_nonblocking,
                        .length = SMALL,
                        .in = calloc(ROUND, sizeof(int)),
                        .out = calloc(ROUND, (size_t) t->size * sizeof(int)),
                        .counts = calloc((size_t) t->size, sizeof(int)),
                        .at = calloc((size_t) t->size, sizeof(int))};
    double bytes;

    EPT_CHECK(t, 1 < at.nodes && at.nodes < at.processes,
              "%d processes on %d nodes: nothing to be seen", at.processes, at.nodes);
    for (int i = 0; i < t->size; ++i) {
        work.counts[i] = work.length;
        work.at[i] = i * work.length;
    }
    messages(&work, barrier, "barrier", at.nodes * steps(at.nodes));
    messages(&work, bcast, "bcast", at.nodes - 1);
    messages(&work, reduce, "reduce", at.nodes - 1);
    messages(&work, allreduce, "allreduce", doubling(at.nodes));
    messages(&work, allgatherv, "allgatherv", t->size * (at.nodes - 1));
    messages(&work, allgather, "allgather", at.processes * (at.nodes - 1));
    if (!is_nonblocking) {
        meets(&work, barrier, "barrier");
        meets(&work, reduce, "reduce");
        meets(&work, allreduce, "allreduce");
    }
    /* In a ring what goes round leaves each node once, twice all but one part of it; with 10 % for
     * headers. */
    work.length = ROUND;
    bytes = counted(&work, allreduce, "pml_epml_ep_net_bytes");
    if (0 == t->rank) {
        printf("# %sallreduce of %zu bytes: %.0f between nodes\n",
               is_nonblocking ? "nonblocking " : "", ROUND * sizeof(int), bytes);
    }
    EPT_CHECK(t,
              at.nodes * 2.0 * ROUND * sizeof(int) * (at.processes - 1) / at.processes * 1.1
                  >= bytes,
              "allreduce in a ring: %.0f bytes between %d nodes", bytes, at.nodes);
    free(work.in);
    free(work.out);
    free(work.counts);
    free(work.at);
}

static void case_blocking(MPI_Comm comm, struct ept *t)
{
    each(comm, t, false);
}

static void case_nonblocking(MPI_Comm comm, struct ept *t)
{
    each(comm, t, true);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_blocking);
    EPT_CASE(t, case_nonblocking);
    return 0;
}
