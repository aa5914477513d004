/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * How often a thread looks at the rest of Open MPI while it tests, or waits for, a list of requests
 * none of which completes: libmpi's progress takes longer than a turn of the endpoint, and threads
 * of a process share its locks.
 *
 * Looks are calls of opal_progress.  Waits are counted by the yields of a process that has fewer
 * cores than endpoints, one in 16 turns.
 *
 * Guards: pml_epml_wait.c, pml_epml_acquire.c, pml_epml_waiting.c
 */

#define _GNU_SOURCE

#include "ept.h"
#include "next_progress.h"

#include <dirent.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    ME = 0,
    PEER = 1,
    ENDPOINTS = 2,
    LIST = 3,
    TAG = 1,
    TESTS = 2560,
    BETWEEN_LOOKS = 16,   /* tests of a thread in vain, at least, */
    MOST_BETWEEN = 256,   /* and at most: if the clock does not move meanwhile, nor does a wait's */
    YIELDS = 8            /* of a wait, before what it waits for is sent: 128 turns */
};

static _Thread_local long progressed;

int opal_progress(void)
{
    ++progressed;
    return next_progress();
}

/* ---- tests ---------------------------------------------------------------------------------- */

typedef enum call_t { TEST, TESTANY, TESTALL, TESTSOME, CALLS } call_t;

static const char *const call_name[] = {"MPI_Test", "MPI_Testany", "MPI_Testall", "MPI_Testsome"};

static void test_once(struct ept *t, call_t call, MPI_Request *list)
{
    int flag = 0, index, count = 0, indices[LIST];

    switch (call) {
    case TEST:
        EPT_OK(t, MPI_Test(list, &flag, MPI_STATUS_IGNORE));
        break;
    case TESTANY:
        EPT_OK(t, MPI_Testany(LIST, list, &index, &flag, MPI_STATUS_IGNORE));
        break;
    case TESTALL:
        EPT_OK(t, MPI_Testall(LIST, list, &flag, MPI_STATUSES_IGNORE));
        break;
    default:
        EPT_OK(t, MPI_Testsome(LIST, list, &count, indices, MPI_STATUSES_IGNORE));
        break;
    }
    EPT_EQ(t, 0, flag);
    EPT_EQ(t, 0, count);
}

static void post(struct ept *t, const MPI_Comm *ep, int value[LIST], MPI_Request list[LIST])
{
    for (int i = 0; i < LIST; ++i) {
        EPT_OK(t, MPI_Irecv(&value[i], 1, MPI_INT, MPI_ANY_SOURCE, TAG, ep[ME], &list[i]));
    }
}

static void send_all(struct ept *t, const MPI_Comm *ep)
{
    for (int i = 0; i < LIST; ++i) {
        EPT_OK(t, MPI_Send(&i, 1, MPI_INT, ME, TAG, ep[PEER]));
    }
}

/* Of endpoints' requests alone: as often as after tests of one. */
static void case_test(MPI_Comm comm, struct ept *t)
{
    MPI_Comm ep[ENDPOINTS];
    MPI_Request list[LIST];
    int value[LIST];

    (void) comm;
    EPT_OK(t, MPIX_Comm_create_endpoints(MPI_COMM_SELF, ENDPOINTS, MPI_INFO_NULL, ep));
    post(t, ep, value, list);
    for (int call = 0; call < CALLS; ++call) {
        ept_phase(t, "%s", call_name[call]);
        progressed = 0;
        for (int i = 0; i < TESTS; ++i) {
            test_once(t, (call_t) call, list);
        }
        EPT_CHECK(t, TESTS / MOST_BETWEEN <= progressed && TESTS / BETWEEN_LOOKS >= progressed,
                  "%ld looks in %d calls, expected %d to %d", progressed, TESTS,
                  TESTS / MOST_BETWEEN, TESTS / BETWEEN_LOOKS);
    }
    send_all(t, ep);
    EPT_OK(t, MPI_Waitall(LIST, list, MPI_STATUSES_IGNORE));
    for (int i = 0; i < LIST; ++i) {
        EPT_EQ(t, i, value[i]);
    }
    EPT_OK(t, MPI_Comm_free(&ep[ME]));
    EPT_OK(t, MPI_Comm_free(&ep[PEER]));
}

/* With one of an ordinary communicator, which libmpi completes: in each test. */
static void case_test_with_ordinary(MPI_Comm comm, struct ept *t)
{
    MPI_Comm ep[ENDPOINTS];
    MPI_Request list[LIST];
    int value[LIST], x = 7;

    (void) comm;
    EPT_OK(t, MPIX_Comm_create_endpoints(MPI_COMM_SELF, ENDPOINTS, MPI_INFO_NULL, ep));
    for (int i = 0; i < LIST; ++i) {
        EPT_OK(t, MPI_Irecv(&value[i], 1, MPI_INT, 0, TAG, 1 == i ? MPI_COMM_SELF : ep[ME],
                            &list[i]));
    }
    for (int call = TESTANY; call < CALLS; ++call) {
        ept_phase(t, "%s", call_name[call]);
        progressed = 0;
        for (int i = 0; i < TESTS; ++i) {
            test_once(t, (call_t) call, list);
        }
        EPT_CHECK(t, TESTS <= progressed, "%ld looks in %d calls", progressed, TESTS);
    }
    for (int i = 0; i < LIST; ++i) {
        EPT_OK(t, MPI_Send(&x, 1, MPI_INT, 0, TAG, 1 == i ? MPI_COMM_SELF : ep[ME]));
    }
    EPT_OK(t, MPI_Waitall(LIST, list, MPI_STATUSES_IGNORE));
    for (int i = 0; i < LIST; ++i) {
        EPT_EQ(t, 7, value[i]);
    }
    EPT_OK(t, MPI_Comm_free(&ep[ME]));
    EPT_OK(t, MPI_Comm_free(&ep[PEER]));
}

/* ---- waits ---------------------------------------------------------------------------------- */

/** The message this thread waits for, and its sender, which sends it when it has yielded often
 * enough. */
static _Thread_local struct {
    struct ept *t;
    const MPI_Comm *ep; /* NULL: nobody */
    int yields;
    long progressed; /* by then */
} waits;

int sched_yield(void)
{
    if (NULL != waits.ep && YIELDS == ++waits.yields) {
        waits.progressed = progressed;
        send_all(waits.t, waits.ep);
    }
    return (int) syscall(SYS_sched_yield);
}

/** Let all threads of the process run on one core only. */
static void bind_all(void)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *entry;
    cpu_set_t set;
    int cpu = sched_getcpu();

    CPU_ZERO(&set);
    CPU_SET(0 <= cpu ? cpu : 0, &set);
    while (NULL != (entry = readdir(tasks))) {
        if (0 < atoi(entry->d_name)) {
            (void) sched_setaffinity(atoi(entry->d_name), sizeof(set), &set);
        }
    }
    closedir(tasks);
}

static void case_wait(MPI_Comm comm, struct ept *t)
{
    MPI_Comm ep[ENDPOINTS];
    MPI_Request list[LIST];
    int value[LIST], index, count, indices[LIST];

    (void) comm;
    bind_all();
    EPT_OK(t, MPIX_Comm_create_endpoints(MPI_COMM_SELF, ENDPOINTS, MPI_INFO_NULL, ep));
    for (int some = 0; some < 2; ++some) {
        ept_phase(t, "%s", some ? "MPI_Waitsome" : "MPI_Waitany");
        post(t, ep, value, list);
        waits.t = t;
        waits.yields = 0;
        waits.ep = ep;
        progressed = 0;
        if (some) {
            EPT_OK(t, MPI_Waitsome(LIST, list, &count, indices, MPI_STATUSES_IGNORE));
        } else {
            EPT_OK(t, MPI_Waitany(LIST, list, &index, MPI_STATUS_IGNORE));
        }
        waits.ep = NULL;
        EPT_EQ(t, 0, waits.progressed);
        EPT_OK(t, MPI_Waitall(LIST, list, MPI_STATUSES_IGNORE));
        for (int i = 0; i < LIST; ++i) {
            EPT_EQ(t, i, value[i]);
        }
    }
    EPT_OK(t, MPI_Comm_free(&ep[ME]));
    EPT_OK(t, MPI_Comm_free(&ep[PEER]));
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_wait); /* the first one, or cores have been counted */
    EPT_CASE(t, case_test);
    EPT_CASE(t, case_test_with_ordinary);
    return 0;
}
