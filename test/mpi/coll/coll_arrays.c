/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Nonblocking collectives whose arrays of counts and displacements the caller overwrites as soon as
 * the call has returned.  MPI has callers keep them; mpi4py does not, and Open MPI's own components
 * allow it.  Members come late, so operations are not complete when their calls return.
 *
 * Guards: coll_epcoll_arrays.c, coll_epcoll_nonblocking.c
 */

#include "ept.h"

#include <unistd.h>

#define MEMBERS_MAX 64

typedef struct arrays {
    int counts[2][MEMBERS_MAX], disps[2][MEMBERS_MAX];
} arrays_t;

/* Elements of a block. */
static int length(int from, int to, int most)
{
    return 1 + (3 * from + to) % most;
}

static int64_t datum(int from, int to, int i)
{
    return 1000003 * (int64_t) from + 1009 * to + i;
}

/* Blocks to all, or of all, one behind the other.  Returns how many elements. */
static int fill(const struct ept *t, arrays_t *arrays, int which, bool to_all, int most)
{
    int all = 0;

    for (int i = 0; i < t->size; ++i) {
        arrays->counts[which][i] = to_all ? length(t->rank, i, most) : length(i, t->rank, most);
        arrays->disps[which][i] = all;
        all += arrays->counts[which][i];
    }
    return all;
}

/* The operation is under way: its arrays are not the caller's any more. */
static void complete(struct ept *t, arrays_t *arrays, MPI_Request *request)
{
    memset(arrays, 0x55, sizeof(*arrays));
    EPT_OK(t, MPI_Wait(request, MPI_STATUS_IGNORE));
}

static void check(struct ept *t, const int64_t *got, int from, int to, int count)
{
    for (int i = 0; i < count; ++i) {
        EPT_EQ(t, datum(from, to, i), got[i]);
    }
}

static void alltoallv(MPI_Comm comm, struct ept *t, int most, int64_t *send, int64_t *recv)
{
    arrays_t arrays;
    MPI_Request request;

    fill(t, &arrays, 0, true, most);
    fill(t, &arrays, 1, false, most);
    for (int to = 0; to < t->size; ++to) {
        for (int i = 0; i < arrays.counts[0][to]; ++i) {
            send[arrays.disps[0][to] + i] = datum(t->rank, to, i);
        }
    }
    EPT_OK(t, MPI_Ialltoallv(send, arrays.counts[0], arrays.disps[0], MPI_INT64_T, recv, arrays.counts[1],
                              arrays.disps[1], MPI_INT64_T, comm, &request));
    complete(t, &arrays, &request);
    for (int from = 0; from < t->size; ++from) {
        check(t, recv, from, t->rank, length(from, t->rank, most));
        recv += length(from, t->rank, most);
    }
}

/* Each member's block, whose length only depends on its rank, at all or at the root. */
static void gatherv(MPI_Comm comm, struct ept *t, int most, bool to_all, int64_t *send, int64_t *recv)
{
    const int own = length(t->rank, 0, most);
    arrays_t arrays;
    MPI_Request request;
    int all = 0;

    for (int i = 0; i < t->size; ++i) {
        arrays.counts[0][i] = length(i, 0, most);
        arrays.disps[0][i] = all;
        all += arrays.counts[0][i];
    }
    for (int i = 0; i < own; ++i) {
        send[i] = datum(t->rank, 0, i);
    }
    if (to_all) {
        EPT_OK(t, MPI_Iallgatherv(send, own, MPI_INT64_T, recv, arrays.counts[0], arrays.disps[0],
                                   MPI_INT64_T, comm, &request));
    } else {
        EPT_OK(t, MPI_Igatherv(send, own, MPI_INT64_T, recv, arrays.counts[0], arrays.disps[0],
                                MPI_INT64_T, t->size - 1, comm, &request));
    }
    complete(t, &arrays, &request);
    for (int from = 0; from < t->size && (to_all || t->size - 1 == t->rank); ++from) {
        check(t, recv, from, 0, length(from, 0, most));
        recv += length(from, 0, most);
    }
}

static void scatterv(MPI_Comm comm, struct ept *t, int most, int64_t *send, int64_t *recv)
{
    arrays_t arrays;
    MPI_Request request;

    fill(t, &arrays, 0, true, most); /* of meaning at the root */
    for (int to = 0; to < t->size; ++to) {
        for (int i = 0; i < arrays.counts[0][to]; ++i) {
            send[arrays.disps[0][to] + i] = datum(t->rank, to, i);
        }
    }
    EPT_OK(t, MPI_Iscatterv(send, arrays.counts[0], arrays.disps[0], MPI_INT64_T, recv,
                             length(0, t->rank, most), MPI_INT64_T, 0, comm, &request));
    complete(t, &arrays, &request);
    check(t, recv, 0, t->rank, length(0, t->rank, most));
}

static void reduce_scatter(MPI_Comm comm, struct ept *t, int most, int64_t *send, int64_t *recv)
{
    const int64_t factor = (int64_t) t->size * (t->size + 1) / 2;
    arrays_t arrays;
    MPI_Request request;
    int all = 0, first = 0;

    for (int i = 0; i < t->size; ++i) {
        arrays.counts[0][i] = length(i, 0, most);
        first = i == t->rank ? all : first;
        all += arrays.counts[0][i];
    }
    for (int i = 0; i < all; ++i) {
        send[i] = (t->rank + 1) * (int64_t) i;
    }
    EPT_OK(t, MPI_Ireduce_scatter(send, recv, arrays.counts[0], MPI_INT64_T, MPI_SUM, comm, &request));
    complete(t, &arrays, &request);
    for (int i = 0; i < length(t->rank, 0, most); ++i) {
        EPT_EQ(t, factor * (first + i), recv[i]);
    }
}

/* Up to so many elements in a block: 2 fit into a slot, 3000 go in pieces. */
static void all_with(MPI_Comm comm, struct ept *t, int most)
{
    const size_t room = (size_t) most * (size_t) t->size * sizeof(int64_t);
    int64_t *send = malloc(room), *recv = malloc(room);

    for (int round = 0; round < 8; ++round) {
        if (round % t->size == t->rank) {
            usleep(1000);
        }
        reduce_scatter(comm, t, most, send, recv);
        alltoallv(comm, t, most, send, recv);
        gatherv(comm, t, most, true, send, recv);
        gatherv(comm, t, most, false, send, recv);
        scatterv(comm, t, most, send, recv);
    }
    free(send);
    free(recv);
}

static void case_small(MPI_Comm comm, struct ept *t)
{
    all_with(comm, t, 2);
}

static void case_long(MPI_Comm comm, struct ept *t)
{
    all_with(comm, t, 3000);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_small);
    EPT_CASE(t, case_long);
    return 0;
}
