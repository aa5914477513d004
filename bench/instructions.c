/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What count-instructions runs under callgrind: 8-byte messages between two endpoints of one
 * process, used by one thread in turns, so that nothing depends on time and the counts are the same
 * in each run.  Collection is on only around the calls of interest; each path ends with a dump
 * named "LEVEL PATH MESSAGES".
 *
 * Collectives take two threads.  Counted is the one that comes last, so that it waits for nobody.
 * As nobody can tell from outside when the other one has come, each call has a dump of its own
 * after the other one has had time for it, and count-instructions takes the least.
 *
 * Collectives of many members are nonblocking ones that one thread begins and ends for all, so that
 * their counts are the same in each run as well.  Blocking ones run the same steps.
 */

#include "instructions.h"

#include <mpi-ext.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

#define WINDOW 32
#define WARM_UP 20 /* windows: more than the calls after which a lock is biased */
#define WINDOWS 32
#define TAG 7
#define NO_TAG 8

#define WARM_UP_CALLS 40 /* of collectives: too few for a biased lock, which others may end */
#define CALLS 12
#define HEAD_START 2000 /* us that the other one has to come to the call */

#define MEMBERS 256 /* at most */
#define WARM_UP_MANY 8
#define CALLS_MANY 4 /* slots are taken in turns of as many */

static MPI_Comm sender, receiver;
static double sent[WINDOW], received[WINDOW];
static MPI_Request requests[WINDOW];

_Noreturn void instructions_fail(const char *what)
{
    fprintf(stderr, "instructions: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static void send_window(int count)
{
    for (int i = 0; i < count; ++i) {
        MPI_Send(&sent[i], 1, MPI_DOUBLE, 1, TAG, sender);
    }
}

static void recv_window(int count)
{
    for (int i = 0; i < count; ++i) {
        MPI_Recv(&received[i], 1, MPI_DOUBLE, 0, TAG, receiver, MPI_STATUS_IGNORE);
    }
}

static void irecv_window(void)
{
    for (int i = 0; i < WINDOW; ++i) {
        MPI_Irecv(&received[i], 1, MPI_DOUBLE, 0, TAG, receiver, &requests[i]);
    }
}

/* ---- paths: each sends and receives one window; what is between the toggles is counted ------- */

static void path_send(void)
{
    CALLGRIND_TOGGLE_COLLECT;
    send_window(WINDOW);
    CALLGRIND_TOGGLE_COLLECT;
    recv_window(WINDOW);
}

/** Each message is in the inbox when its receive is called. */
static void path_recv(void)
{
    for (int i = 0; i < WINDOW; ++i) {
        MPI_Send(&sent[i], 1, MPI_DOUBLE, 1, TAG, sender);
        CALLGRIND_TOGGLE_COLLECT;
        MPI_Recv(&received[i], 1, MPI_DOUBLE, 0, TAG, receiver, MPI_STATUS_IGNORE);
        CALLGRIND_TOGGLE_COLLECT;
    }
}

/** With its part of waiting for them. */
static void path_isend(void)
{
    CALLGRIND_TOGGLE_COLLECT;
    for (int i = 0; i < WINDOW; ++i) {
        MPI_Isend(&sent[i], 1, MPI_DOUBLE, 1, TAG, sender, &requests[i]);
    }
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    CALLGRIND_TOGGLE_COLLECT;
    recv_window(WINDOW);
}

/** Posted before the messages are sent, with the waiting. */
static void path_irecv_posted(void)
{
    CALLGRIND_TOGGLE_COLLECT;
    irecv_window();
    CALLGRIND_TOGGLE_COLLECT;
    send_window(WINDOW);
    CALLGRIND_TOGGLE_COLLECT;
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    CALLGRIND_TOGGLE_COLLECT;
}

/** Posted when the messages have been taken from the inbox, and wait; their keeping not counted. */
static void path_irecv_unexpected(void)
{
    int flag;

    send_window(WINDOW);
    MPI_Iprobe(0, NO_TAG, receiver, &flag, MPI_STATUS_IGNORE);
    CALLGRIND_TOGGLE_COLLECT;
    irecv_window();
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    CALLGRIND_TOGGLE_COLLECT;
}

static const struct {
    const char *name;
    void (*run)(void);
} paths[] = {
    {"send", path_send},
    {"recv", path_recv},
    {"isend", path_isend},
    {"irecv-posted", path_irecv_posted},
    {"irecv-unexpected", path_irecv_unexpected},
};

static void check_window(void)
{
    for (int i = 0; i < WINDOW; ++i) {
        if (sent[i] != received[i]) {
            instructions_fail("a message came out wrong");
        }
        received[i] = 0;
    }
}

/* ---- collectives: the main thread's call is counted ------------------------------------------ */

static void call_barrier(MPI_Comm comm)
{
    MPI_Barrier(comm);
}

static void call_allreduce(MPI_Comm comm)
{
    double mine = (comm == sender) ? 1.5 : 2.5;
    double sum = 0.0;

    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    if (4.0 != sum) {
        instructions_fail("a sum came out wrong");
    }
}

/** The other one is the root. */
static void call_bcast(MPI_Comm comm)
{
    double value = (comm == sender) ? 0.0 : 2.5;

    MPI_Bcast(&value, 1, MPI_DOUBLE, 1, comm);
    if (2.5 != value) {
        instructions_fail("a bcast came out wrong");
    }
}

/** Likewise. */
static void call_scatter(MPI_Comm comm)
{
    const double values[2] = {1.5, 2.5};
    double value = 0.0;

    MPI_Scatter(values, 1, MPI_DOUBLE, &value, 1, MPI_DOUBLE, 1, comm);
    if (((comm == sender) ? 1.5 : 2.5) != value) {
        instructions_fail("a scatter came out wrong");
    }
}

/** A persistent allreduce, of either. */
static struct {
    MPI_Request request;
    double mine, sum;
} persistent[2] = {{.request = MPI_REQUEST_NULL}, {.request = MPI_REQUEST_NULL}};

/** Start and wait. */
static void call_start(MPI_Comm comm)
{
    const int own = (comm == sender) ? 0 : 1;

    if (MPI_REQUEST_NULL == persistent[own].request) {
        persistent[own].mine = 1.5 + own;
        MPI_Allreduce_init(&persistent[own].mine, &persistent[own].sum, 1, MPI_DOUBLE, MPI_SUM,
                           comm, MPI_INFO_NULL, &persistent[own].request);
    }
    MPI_Start(&persistent[own].request);
    MPI_Wait(&persistent[own].request, MPI_STATUS_IGNORE);
    if (4.0 != persistent[own].sum) {
        instructions_fail("a persistent sum came out wrong");
    }
}

static const struct collective {
    const char *name;
    void (*call)(MPI_Comm comm);
} collectives[] = {
    {"barrier", call_barrier}, {"allreduce", call_allreduce}, {"bcast", call_bcast},
    {"scatter", call_scatter}, {"start", call_start},
};

static atomic_int coming; /* the call that the other thread is about to make, from 1 on */

static void *other_main(void *argument)
{
    const struct collective *collective = argument;

    for (int i = 1; i <= WARM_UP_CALLS + CALLS; ++i) {
        atomic_store(&coming, i); /* with run_collective's load; the rest is for time to do */
        collective->call(receiver);
    }
    return NULL;
}

static void run_collective(const char *level, const struct collective *collective)
{
    pthread_t other;
    char name[100];

    atomic_store(&coming, 0);
    if (0 != pthread_create(&other, NULL, other_main, (void *) collective)) {
        instructions_fail("no thread");
    }
    for (int i = 1; i <= WARM_UP_CALLS + CALLS; ++i) {
        if (WARM_UP_CALLS >= i) {
            collective->call(sender);
            continue;
        }
        while (atomic_load(&coming) < i) { /* with other_main's store */
            sched_yield();
        }
        usleep(HEAD_START);
        CALLGRIND_ZERO_STATS;
        CALLGRIND_TOGGLE_COLLECT;
        collective->call(sender);
        CALLGRIND_TOGGLE_COLLECT;
        snprintf(name, sizeof(name), "%s %s 1", level, collective->name);
        CALLGRIND_DUMP_STATS_AT(name);
    }
    pthread_join(other, NULL);
    for (int i = 0; i < 2; ++i) {
        if (MPI_REQUEST_NULL != persistent[i].request) {
            MPI_Request_free(&persistent[i].request);
        }
    }
}

/* ---- collectives of many members: all calls are counted -------------------------------------- */

static struct {
    MPI_Comm comm[MEMBERS];
    MPI_Request request[MEMBERS];
    double sent[MEMBERS][MEMBERS], received[MEMBERS][MEMBERS]; /* by member */
    int count;
} many;

static double value_of(int from, int to)
{
    return from * MEMBERS + to + 0.5;
}

static void begin_allgather(int own)
{
    MPI_Iallgather(many.sent[own], 1, MPI_DOUBLE, many.received[own], 1, MPI_DOUBLE, many.comm[own],
                   &many.request[own]);
}

static void begin_alltoall(int own)
{
    MPI_Ialltoall(many.sent[own], 1, MPI_DOUBLE, many.received[own], 1, MPI_DOUBLE, many.comm[own],
                  &many.request[own]);
}

static void begin_gather(int own)
{
    MPI_Igather(many.sent[own], 1, MPI_DOUBLE, many.received[own], 1, MPI_DOUBLE, 0, many.comm[own],
                &many.request[own]);
}

static void begin_scatter(int own)
{
    MPI_Iscatter(many.sent[own], 1, MPI_DOUBLE, many.received[own], 1, MPI_DOUBLE, 0,
                 many.comm[own], &many.request[own]);
}

static const struct many_kind {
    const char *name;
    void (*begin)(int own);
    bool has_root;            /* it is member 0 */
    bool is_one_for_all;      /* a member sends one block */
    bool is_received_by_root; /* and by nobody else */
} many_kinds[] = {
    {.name = "iallgather", .begin = begin_allgather, .is_one_for_all = true},
    {.name = "ialltoall", .begin = begin_alltoall},
    {.name = "igather",
     .begin = begin_gather,
     .has_root = true,
     .is_one_for_all = true,
     .is_received_by_root = true},
    {.name = "iscatter", .begin = begin_scatter, .has_root = true},
};

/** Blocks that have come, and are to have come, to a member; and they are gone. */
static void check_many(const struct many_kind *kind, int own)
{
    const bool is_scatter = kind->has_root && !kind->is_received_by_root;
    const int blocks = is_scatter ? 1 : kind->is_received_by_root && 0 != own ? 0 : many.count;

    for (int i = 0; i < blocks; ++i) {
        if (value_of(is_scatter ? 0 : i, kind->is_one_for_all ? 0 : own) != many.received[own][i]) {
            instructions_fail("a block came out wrong");
        }
        many.received[own][i] = 0.0;
    }
}

static void run_many(const char *level, const struct many_kind *kind)
{
    const int blocks = kind->has_root ? many.count : many.count * many.count;
    char name[100];

    CALLGRIND_ZERO_STATS;
    for (int call = 0; call < WARM_UP_MANY + CALLS_MANY; ++call) {
        if (WARM_UP_MANY <= call) {
            CALLGRIND_TOGGLE_COLLECT;
        }
        for (int i = 0; i < many.count; ++i) {
            kind->begin(i);
        }
        MPI_Waitall(many.count, many.request, MPI_STATUSES_IGNORE);
        if (WARM_UP_MANY <= call) {
            CALLGRIND_TOGGLE_COLLECT;
        }
        for (int i = 0; i < many.count; ++i) {
            check_many(kind, i);
        }
    }
    snprintf(name, sizeof(name), "%s %s-%d %d", level, kind->name, many.count, CALLS_MANY * blocks);
    CALLGRIND_DUMP_STATS_AT(name);
}

/** Of a kind with a root: its call alone, which is the last.  The others wait before it. */
static void run_root(const char *level, const struct many_kind *kind)
{
    char name[100];

    CALLGRIND_ZERO_STATS;
    for (int call = 0; call < WARM_UP_MANY + CALLS_MANY; ++call) {
        const bool counts = WARM_UP_MANY <= call;

        for (int i = 1; i < many.count; ++i) {
            kind->begin(i);
        }
        if (counts) {
            CALLGRIND_TOGGLE_COLLECT;
        }
        kind->begin(0);
        if (counts) {
            CALLGRIND_TOGGLE_COLLECT;
        }
        MPI_Waitall(many.count - 1, many.request + 1, MPI_STATUSES_IGNORE);
        if (counts) {
            CALLGRIND_TOGGLE_COLLECT;
        }
        MPI_Wait(many.request, MPI_STATUS_IGNORE);
        if (counts) {
            CALLGRIND_TOGGLE_COLLECT;
        }
        for (int i = 0; i < many.count; ++i) {
            check_many(kind, i);
        }
    }
    snprintf(name, sizeof(name), "%s %s-root-%d %d", level, kind->name, many.count,
             CALLS_MANY * many.count);
    CALLGRIND_DUMP_STATS_AT(name);
}

/* ---- all ------------------------------------------------------------------------------------- */

void instructions_create(const char *level, int count, MPI_Comm *endpoints)
{
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_thread_level", level);
    MPIX_Comm_create_endpoints(MPI_COMM_SELF, count, info, endpoints);
    MPI_Info_free(&info);
}

static void create(const char *level, MPI_Comm *endpoints)
{
    instructions_create(level, 2, endpoints);
    sender = endpoints[0];
    receiver = endpoints[1];
}

static void run_paths(const char *level)
{
    MPI_Comm endpoints[2];
    char name[100];

    create(level, endpoints);
    for (size_t path = 0; path < sizeof(paths) / sizeof(paths[0]); ++path) {
        for (int i = 0; i < WARM_UP; ++i) {
            paths[path].run();
        }
        CALLGRIND_ZERO_STATS;
        for (int i = 0; i < WINDOWS; ++i) {
            paths[path].run();
            check_window();
        }
        snprintf(name, sizeof(name), "%s %s %d", level, paths[path].name, WINDOWS * WINDOW);
        CALLGRIND_DUMP_STATS_AT(name);
    }
    MPI_Comm_free(&endpoints[0]);
    MPI_Comm_free(&endpoints[1]);
}

/** On endpoints that nobody but their own thread has used. */
static void run_collectives(const char *level)
{
    MPI_Comm endpoints[2];

    for (size_t i = 0; i < sizeof(collectives) / sizeof(collectives[0]); ++i) {
        create(level, endpoints);
        run_collective(level, &collectives[i]);
        MPI_Comm_free(&endpoints[0]);
        MPI_Comm_free(&endpoints[1]);
    }
}

static void run_all_many(const char *level, int count)
{
    many.count = count;
    instructions_create(level, count, many.comm);
    for (size_t i = 0; i < sizeof(many_kinds) / sizeof(many_kinds[0]); ++i) {
        run_many(level, &many_kinds[i]);
        if (many_kinds[i].has_root) {
            run_root(level, &many_kinds[i]);
        }
    }
    for (int i = 0; i < count; ++i) {
        MPI_Comm_free(&many.comm[i]);
    }
}

int main(int argc, char **argv)
{
    static const char *const levels[] = {"multiple", "funneled"};
    int level;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    for (int i = 0; i < WINDOW; ++i) {
        sent[i] = 1.5 + i;
    }
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); ++i) {
        run_paths(levels[i]);
    }
    run_collectives(
        "multiple"); /* with a promise locks are biased soon, and as soon end to be so */
    instructions_windows("multiple");
    for (int from = 0; from < MEMBERS; ++from) {
        for (int to = 0; to < MEMBERS; ++to) {
            many.sent[from][to] = value_of(from, to);
        }
    }
    for (int count = 16; count <= MEMBERS; count *= 4) {
        run_all_many("multiple", count);
    }
    MPI_Finalize();
    return 0;
}
