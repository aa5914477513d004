/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Message rate while other messages pile up: the rate of 8-byte messages with a number of posted
 * receives, or of unexpected messages, that do not match.  The size of a point is that number.
 */

#include <string.h>

#include "epbench.h"

#define MESSAGE_BYTES 8

/** Tags of the messages that wait: all different, none the tag of the timed messages. */
#define TAG_QUEUED 1000

static void prepare_buffers(epbench_worker_t *worker, const epbench_point_t *point)
{
    epbench_fill(worker->send_buffer, MESSAGE_BYTES, worker->pair);
    memset(worker->recv_buffer, 0, epbench_stride(MESSAGE_BYTES) * (size_t) point->window);
    memset(worker->queued_buffer, 0, point->size * EPBENCH_LINE);
    for (size_t i = 0; worker->first && i < point->size; ++i) {
        epbench_fill(worker->queued_buffer + i * EPBENCH_LINE, MESSAGE_BYTES, (int) i);
    }
}

static void send_queued(epbench_worker_t *worker, const epbench_point_t *point)
{
    for (size_t i = 0; i < point->size; ++i) {
        MPI_Isend(worker->queued_buffer + i * EPBENCH_LINE, MESSAGE_BYTES, MPI_BYTE, worker->peer,
                  TAG_QUEUED + (int) i, worker->comm, &worker->queued[i]);
    }
}

static void recv_queued(epbench_worker_t *worker, const epbench_point_t *point)
{
    for (size_t i = 0; i < point->size; ++i) {
        MPI_Irecv(worker->queued_buffer + i * EPBENCH_LINE, MESSAGE_BYTES, MPI_BYTE, worker->peer,
                  TAG_QUEUED + (int) i, worker->comm, &worker->queued[i]);
    }
}

static void prepare_posted(epbench_worker_t *worker, const epbench_point_t *point)
{
    prepare_buffers(worker, point);
    if (!worker->first) {
        recv_queued(worker, point);
    }
}

static void prepare_unexpected(epbench_worker_t *worker, const epbench_point_t *point)
{
    prepare_buffers(worker, point);
    if (worker->first) {
        send_queued(worker, point);
        epbench_window_send(worker, MESSAGE_BYTES, 1);
    } else {
        /* Messages keep their order: once this one is here, the others are. */
        epbench_window_recv(worker, MESSAGE_BYTES, 1);
    }
}

static void block_rate(epbench_worker_t *worker, const epbench_point_t *point, long n)
{
    if (worker->first) {
        for (long i = 0; i < n; ++i) {
            epbench_window_send(worker, MESSAGE_BYTES, point->window);
        }
    } else {
        for (long i = 0; i < n; ++i) {
            epbench_window_recv(worker, MESSAGE_BYTES, point->window);
        }
    }
}

static size_t verify(epbench_worker_t *worker, const epbench_point_t *point)
{
    size_t wrong = 0;

    if (worker->first) {
        return 0;
    }
    for (int i = 0; i < point->window; ++i) {
        wrong += epbench_compare(worker->recv_buffer + (size_t) i * epbench_stride(MESSAGE_BYTES),
                                 MESSAGE_BYTES, worker->pair);
    }
    for (size_t i = 0; i < point->size; ++i) {
        wrong += epbench_compare(worker->queued_buffer + i * EPBENCH_LINE, MESSAGE_BYTES, (int) i);
    }
    return wrong;
}

static size_t check_posted(epbench_worker_t *worker, const epbench_point_t *point)
{
    if (worker->first) {
        send_queued(worker, point);
    }
    MPI_Waitall((int) point->size, worker->queued, MPI_STATUSES_IGNORE);
    return verify(worker, point);
}

static size_t check_unexpected(epbench_worker_t *worker, const epbench_point_t *point)
{
    if (!worker->first) {
        recv_queued(worker, point);
    }
    MPI_Waitall((int) point->size, worker->queued, MPI_STATUSES_IGNORE);
    return verify(worker, point);
}

static double value_rate(const epbench_worker_t *worker, const epbench_point_t *point, long n,
                         epbench_elapsed_t elapsed)
{
    return (double) (worker->size / 2) * (double) n * point->window / elapsed.longest / 1e6;
}

const epbench_measure_t epbench_queue_measures[] = {
    {.name = "posted",
     .unit = "M/s",
     .higher_is_better = true,
     .windowed = true,
     .fixed = MESSAGE_BYTES,
     .prepare = prepare_posted,
     .block = block_rate,
     .check = check_posted,
     .value = value_rate},
    {.name = "unexpected",
     .unit = "M/s",
     .higher_is_better = true,
     .windowed = true,
     .fixed = MESSAGE_BYTES,
     .prepare = prepare_unexpected,
     .block = block_rate,
     .check = check_unexpected,
     .value = value_rate},
    {.name = NULL},
};
