/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What tests of several jobs share: children, which have no harness, and communicators with members
 * of several jobs.
 */

#ifndef TEST_JOBS_H
#define TEST_JOBS_H

#include "ept.h"

/** The end of such a test where there are no endpoints. */
#define JOBS_WITHOUT_ENDPOINTS                    \
    int test_rank(MPI_Comm comm, struct ept *t)   \
    {                                             \
        (void) comm;                              \
        ept_skip(t, "jobs", "no endpoints");      \
        return 0;                                 \
    }                                             \
    extern int test_rank(MPI_Comm, struct ept *)

#if defined(HAVE_EP)

#    include <stdio.h>
#    include <stdlib.h>
#    include <unistd.h>

#    define MEMBERS_MAX 64

/** Of this process: mistakes that its threads have found, and of which job it is. */
static struct {
    bool is_child;
    atomic_int bad;
} jobs;

static inline void jobs_same(long long expected, long long found, const char *what, int line)
{
    if (expected != found) {
        atomic_fetch_add(&jobs.bad, 1);
        fprintf(stderr, "# %s, line %d: %s: %lld, should be %lld\n",
                jobs.is_child ? "child" : "parent", line, what, found, expected);
    }
}

#    define SAME(expected, found) jobs_same((expected), (found), #    found, __LINE__)
#    define OK(call) SAME(MPI_SUCCESS, (call))

/** Each member has a message for each of the other side. */
static inline void jobs_exchange(MPI_Comm inter, int rank, int remote)
{
    int out[MEMBERS_MAX], in[MEMBERS_MAX];
    MPI_Request requests[2 * MEMBERS_MAX];
    MPI_Status statuses[2 * MEMBERS_MAX];

    for (int i = 0; i < remote; ++i) {
        out[i] = 1000 * (rank + 1) + i;
        in[i] = -1;
        OK(MPI_Irecv(&in[i], 1, MPI_INT, i, 4, inter, &requests[i]));
        OK(MPI_Isend(&out[i], 1, MPI_INT, i, 4, inter, &requests[remote + i]));
    }
    OK(MPI_Waitall(2 * remote, requests, statuses));
    for (int i = 0; i < remote; ++i) {
        SAME(1000 * (i + 1) + rank, in[i]);
        SAME(i, statuses[i].MPI_SOURCE);
    }
}

/** An intercommunicator of so many members, and what comes of it; gone after that. */
static inline void jobs_use(MPI_Comm *inter, int expected_rank, int expected_local, int expected_remote,
                bool is_high)
{
    int rank = -1, local = -1, remote = -1, sum = -1, size = -1, own = is_high ? 1 : 100, flag = 0;
    MPI_Comm all;

    OK(MPI_Comm_test_inter(*inter, &flag));
    OK(MPI_Comm_rank(*inter, &rank));
    OK(MPI_Comm_size(*inter, &local));
    OK(MPI_Comm_remote_size(*inter, &remote));
    SAME(1, flag);
    SAME(expected_rank, rank);
    SAME(expected_local, local);
    SAME(expected_remote, remote);
    if (MEMBERS_MAX < remote) {
        abort();
    }
    jobs_exchange(*inter, rank, remote);
    OK(MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, *inter));
    SAME(remote * (is_high ? 100 : 1), sum);
    OK(MPI_Intercomm_merge(*inter, is_high, &all));
    OK(MPI_Comm_size(all, &size));
    SAME(local + remote, size);
    OK(MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, all));
    SAME(is_high ? local + 100 * remote : 100 * local + remote, sum);
    OK(MPI_Comm_free(&all));
    OK(MPI_Comm_disconnect(inter));
    SAME(1, MPI_COMM_NULL == *inter);
}

/** The program itself, for a spawn; by all threads. */
static char jobs_path[4096];

static inline void jobs_own_path(struct ept *t)
{
    if (0 == t->local) {
        const ssize_t size = readlink("/proc/self/exe", jobs_path, sizeof(jobs_path) - 1);

        jobs_path[0 < size ? size : 0] = '\0';
    }
    ept_local_barrier(t);
}

#endif

#endif /* TEST_JOBS_H */
