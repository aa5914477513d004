/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A halo exchange: workers form a periodic grid, and each exchanges a message with its neighbours
 * in four directions at the same time.  The size of a point is that of a message.
 *
 * Where all workers have a rank of one communicator the neighbours are ranks of it.  Threads of one
 * rank name a process and a tag of sender and receiver instead, as hybrid programs do today.
 */

#include <stdio.h>
#include <string.h>

#include "epbench.h"

enum { NORTH, SOUTH, WEST, EAST, DIRECTIONS };

/** Tag of the messages; of threads of one rank the least one. */
#define TAG_HALO 2000

/** The most columns that divide the workers and are no more than the rows. */
static int columns_of(int workers)
{
    int columns = 1;

    for (int i = 1; i * i <= workers; ++i) {
        if (0 == workers % i) {
            columns = i;
        }
    }
    return columns;
}

static int neighbour(const epbench_worker_t *worker, int direction)
{
    const int columns = columns_of(worker->size), rows = worker->size / columns;
    const int row = worker->rank / columns, column = worker->rank % columns;

    switch (direction) {
    case NORTH:
        return (row + rows - 1) % rows * columns + column;
    case SOUTH:
        return (row + 1) % rows * columns + column;
    case WEST:
        return row * columns + (column + columns - 1) % columns;
    default:
        return row * columns + (column + 1) % columns;
    }
}

static int opposite(int direction)
{
    return direction ^ 1;
}

/** The rank that has a worker, in the communicator that reaches all. */
static int rank_of(const epbench_worker_t *worker, int other)
{
    return (worker->can & EPBENCH_COLLECTIVE) ? other : other / worker->team->threads;
}

/** Of a message that a worker sends in a direction. */
static int tag_of(const epbench_worker_t *worker, int sender, int receiver, int direction)
{
    const int threads = worker->team->threads;
    const int pair = (worker->can & EPBENCH_COLLECTIVE)
                         ? 0
                         : sender % threads * threads + receiver % threads;

    return TAG_HALO + DIRECTIONS * pair + direction;
}

static unsigned char *slot(const epbench_worker_t *worker, const epbench_point_t *point,
                           int direction)
{
    return worker->recv_buffer + (size_t) direction * epbench_stride(point->size);
}

static void prepare(epbench_worker_t *worker, const epbench_point_t *point)
{
    epbench_fill(worker->send_buffer, point->size, worker->rank);
    memset(worker->recv_buffer, 0, epbench_stride(point->size) * DIRECTIONS);
}

static void block(epbench_worker_t *worker, const epbench_point_t *point, long n)
{
    const int size = (int) point->size;

    for (long i = 0; i < n; ++i) {
        for (int direction = 0; direction < DIRECTIONS; ++direction) {
            const int other = neighbour(worker, direction);

            MPI_Irecv(slot(worker, point, direction), size, MPI_BYTE, rank_of(worker, other),
                      tag_of(worker, other, worker->rank, opposite(direction)), worker->reach,
                      &worker->request[direction]);
        }
        for (int direction = 0; direction < DIRECTIONS; ++direction) {
            const int other = neighbour(worker, direction);

            MPI_Isend(worker->send_buffer, size, MPI_BYTE, rank_of(worker, other),
                      tag_of(worker, worker->rank, other, direction), worker->reach,
                      &worker->request[DIRECTIONS + direction]);
        }
        MPI_Waitall(2 * DIRECTIONS, worker->request, MPI_STATUSES_IGNORE);
    }
}

static size_t check(epbench_worker_t *worker, const epbench_point_t *point)
{
    size_t wrong = 0;

    for (int direction = 0; direction < DIRECTIONS; ++direction) {
        wrong += epbench_compare(slot(worker, point, direction), point->size,
                                 neighbour(worker, direction));
    }
    return wrong;
}

static double value(const epbench_worker_t *worker, const epbench_point_t *point, long n,
                    epbench_elapsed_t elapsed)
{
    (void) worker;
    (void) point;
    return elapsed.longest / (double) n * 1e6;
}

const epbench_measure_t epbench_halo_measures[] = {
    {.name = "halo",
     .unit = "us",
     .needs = EPBENCH_REACH,
     .messages = DIRECTIONS,
     .prepare = prepare,
     .block = block,
     .check = check,
     .value = value},
    {.name = NULL},
};
