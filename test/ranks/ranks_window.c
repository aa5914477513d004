/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Windows of a program that knows nothing of endpoints: over its globals, allocated, in shared memory,
 * dynamic, in every kind of epoch.
 *
 * Guards: ranks/image, ranks/mpi
 */

#include "check.h"

#include <stdlib.h>

static long table[64];
static const MPI_Op sum = MPI_SUM; /* in initialized data */

static void check_fence(void)
{
    const int rank = ranks_rank(), size = ranks_size(), next = (rank + 1) % size;
    long value = 10 + rank, got = -1;
    MPI_Win win;

    MPI_Win_create(table, sizeof(table), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&value, 1, MPI_LONG, next, 0, 1, MPI_LONG, win);
    MPI_Accumulate(&value, 1, MPI_LONG, 0, 1, 1, MPI_LONG, sum, win);
    MPI_Win_fence(0, win);
    MPI_Get(&got, 1, MPI_LONG, next, 0, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    CHECK(value == got && 10 + (rank + size - 1) % size == table[0]);
    CHECK(0 != rank || 10 * size + size * (size - 1) / 2 == table[1]);
    MPI_Win_free(&win);
    CHECK(MPI_WIN_NULL == win);
    ranks_case("a window over a global");
}

static void check_lock(void)
{
    const int rank = ranks_rank(), size = ranks_size();
    long one = 1, got, *memory;
    MPI_Win win;

    MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    *memory = 0;
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 50; ++i) {
        MPI_Fetch_and_op(&one, &got, MPI_LONG, i % size, 0, MPI_SUM, win);
        MPI_Win_flush(i % size, win);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    CHECK(size * (50 / size + (rank < 50 % size)) == *memory);
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
    ranks_case("locks and atomic operations");
}

static void check_shared(void)
{
    const int rank = ranks_rank(), size = ranks_size();
    MPI_Comm node;
    MPI_Win win;
    MPI_Aint bytes;
    int unit, local;
    long *mine, *first;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &local);
    MPI_Win_allocate_shared(sizeof(long), sizeof(long), MPI_INFO_NULL, node, &mine, &win);
    MPI_Win_fence(0, win);
    *mine = 100 + rank;
    MPI_Win_fence(0, win);
    MPI_Win_shared_query(win, 0, &bytes, &unit, &first);
    CHECK(sizeof(long) == (size_t) bytes && 100 + rank - local == *first);
    CHECK(size == ranks_size());
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
    ranks_case("shared memory");
}

static void check_groups(void)
{
    const int rank = ranks_rank(), size = ranks_size();
    const int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Group all, target, origin;
    MPI_Win win;
    long value = 77 + rank, local = 0, *heap = NULL;
    MPI_Aint at;

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &to, &target);
    MPI_Group_incl(all, 1, &from, &origin);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    heap = calloc(1, sizeof(*heap));
    MPI_Win_attach(win, heap, sizeof(*heap));
    MPI_Get_address(heap, &at);
    MPI_Sendrecv_replace(&at, 1, MPI_AINT, from, 0, to, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_post(origin, 0, win);
    MPI_Win_start(target, 0, win);
    MPI_Put(&value, 1, MPI_LONG, to, at, 1, MPI_LONG, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    local = *heap;
    CHECK(77 + from == local);
    MPI_Win_detach(win, heap);
    MPI_Win_free(&win);
    MPI_Group_free(&all);
    MPI_Group_free(&target);
    MPI_Group_free(&origin);
    free(heap);
    ranks_case("groups of origins and targets, a dynamic window");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_fence();
    check_lock();
    check_shared();
    check_groups();
    return ranks_end();
}
