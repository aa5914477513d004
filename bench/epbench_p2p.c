/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Latency, message rate and bandwidth between the two workers of each pair.
 *
 * Only MPI_Send, MPI_Recv, MPI_Isend, MPI_Irecv and MPI_Waitall with explicit source and tag are
 * used: what every peer of the comparison can do.
 */

#include <string.h>

#include "epbench.h"

size_t epbench_stride(size_t size)
{
    return (0 == size) ? EPBENCH_LINE : (size + EPBENCH_LINE - 1) / EPBENCH_LINE * EPBENCH_LINE;
}

void epbench_fill(unsigned char *buffer, size_t bytes, int rank)
{
    for (size_t i = 0; i < bytes; ++i) {
        buffer[i] = (unsigned char) (1 + (i ^ (i >> 8)) * 7 + (size_t) rank * 31);
    }
}

size_t epbench_compare(const unsigned char *buffer, size_t bytes, int rank)
{
    size_t wrong = 0;

    for (size_t i = 0; i < bytes; ++i) {
        unsigned char expected = (unsigned char) (1 + (i ^ (i >> 8)) * 7 + (size_t) rank * 31);

        wrong += (buffer[i] != expected);
    }
    return wrong;
}

/** Worker number of the other one of the pair. */
static int partner(const epbench_worker_t *worker)
{
    int pairs = worker->size / 2;

    return worker->first ? worker->rank + pairs : worker->rank - pairs;
}

/** Clears all receive slots: what is right in them afterwards was received by the timed part. */
static void prepare_pair(epbench_worker_t *worker, const epbench_point_t *point)
{
    epbench_fill(worker->send_buffer, point->size, worker->rank);
    memset(worker->recv_buffer, 0, epbench_stride(point->size) * (size_t) point->window);
}

static size_t check_slots(const epbench_worker_t *worker, const epbench_point_t *point)
{
    size_t wrong = 0;

    for (int i = 0; i < point->window; ++i) {
        wrong += epbench_compare(worker->recv_buffer + (size_t) i * epbench_stride(point->size),
                                 point->size, partner(worker));
    }
    return wrong;
}

static size_t check_receiver(epbench_worker_t *worker, const epbench_point_t *point)
{
    return worker->first ? 0 : check_slots(worker, point);
}

static size_t check_both(epbench_worker_t *worker, const epbench_point_t *point)
{
    return check_slots(worker, point);
}

/* Latency: one message there, one back. */

static void block_latency(epbench_worker_t *worker, const epbench_point_t *point, long n)
{
    const int size = (int) point->size;

    if (worker->first) {
        for (long i = 0; i < n; ++i) {
            MPI_Send(worker->send_buffer, size, MPI_BYTE, worker->peer, worker->tag_out,
                     worker->comm);
            MPI_Recv(worker->recv_buffer, size, MPI_BYTE, worker->peer, worker->tag_in,
                     worker->comm, MPI_STATUS_IGNORE);
        }
    } else {
        for (long i = 0; i < n; ++i) {
            MPI_Recv(worker->recv_buffer, size, MPI_BYTE, worker->peer, worker->tag_in,
                     worker->comm, MPI_STATUS_IGNORE);
            MPI_Send(worker->send_buffer, size, MPI_BYTE, worker->peer, worker->tag_out,
                     worker->comm);
        }
    }
}

/** Half a round trip, the mean over the pairs. */
static double value_latency(const epbench_worker_t *worker, const epbench_point_t *point, long n,
                            epbench_elapsed_t elapsed)
{
    (void) worker;
    (void) point;
    return elapsed.mean / (2.0 * (double) n) * 1e6;
}

/* Rate and bandwidth: windows of messages one way, each answered by an empty message. */

void epbench_window_send(epbench_worker_t *worker, size_t size, int window)
{
    for (int i = 0; i < window; ++i) {
        MPI_Isend(worker->send_buffer, (int) size, MPI_BYTE, worker->peer, worker->tag_out,
                  worker->comm, &worker->request[i]);
    }
    MPI_Waitall(window, worker->request, MPI_STATUSES_IGNORE);
    MPI_Recv(NULL, 0, MPI_BYTE, worker->peer, worker->tag_in, worker->comm, MPI_STATUS_IGNORE);
}

void epbench_window_recv(epbench_worker_t *worker, size_t size, int window)
{
    const size_t stride = epbench_stride(size);

    for (int i = 0; i < window; ++i) {
        MPI_Irecv(worker->recv_buffer + (size_t) i * stride, (int) size, MPI_BYTE, worker->peer,
                  worker->tag_in, worker->comm, &worker->request[i]);
    }
    MPI_Waitall(window, worker->request, MPI_STATUSES_IGNORE);
    MPI_Send(NULL, 0, MPI_BYTE, worker->peer, worker->tag_out, worker->comm);
}

static void block_one_way(epbench_worker_t *worker, const epbench_point_t *point, long n)
{
    if (worker->first) {
        for (long i = 0; i < n; ++i) {
            epbench_window_send(worker, point->size, point->window);
        }
    } else {
        for (long i = 0; i < n; ++i) {
            epbench_window_recv(worker, point->size, point->window);
        }
    }
}

/** Both send and receive a window at the same time. */
static void block_both_ways(epbench_worker_t *worker, const epbench_point_t *point, long n)
{
    const size_t stride = epbench_stride(point->size);
    const int size = (int) point->size;
    const int window = point->window;

    for (long k = 0; k < n; ++k) {
        for (int i = 0; i < window; ++i) {
            MPI_Irecv(worker->recv_buffer + (size_t) i * stride, size, MPI_BYTE, worker->peer,
                      worker->tag_in, worker->comm, &worker->request[i]);
        }
        for (int i = 0; i < window; ++i) {
            MPI_Isend(worker->send_buffer, size, MPI_BYTE, worker->peer, worker->tag_out,
                      worker->comm, &worker->request[window + i]);
        }
        MPI_Waitall(2 * window, worker->request, MPI_STATUSES_IGNORE);
    }
}

/** Messages per second of all pairs together, until the last one is done. */
static double value_rate(const epbench_worker_t *worker, const epbench_point_t *point, long n,
                         epbench_elapsed_t elapsed)
{
    return (double) (worker->size / 2) * (double) n * point->window / elapsed.longest / 1e6;
}

static double value_rate_both(const epbench_worker_t *worker, const epbench_point_t *point, long n,
                              epbench_elapsed_t elapsed)
{
    return 2.0 * value_rate(worker, point, n, elapsed);
}

static double value_bandwidth(const epbench_worker_t *worker, const epbench_point_t *point, long n,
                              epbench_elapsed_t elapsed)
{
    return value_rate(worker, point, n, elapsed) * (double) point->size / 1e3;
}

static double value_bandwidth_both(const epbench_worker_t *worker, const epbench_point_t *point,
                                   long n, epbench_elapsed_t elapsed)
{
    return 2.0 * value_bandwidth(worker, point, n, elapsed);
}

const epbench_measure_t epbench_p2p_measures[] = {
    {.name = "lat",
     .unit = "us",
     .prepare = prepare_pair,
     .block = block_latency,
     .check = check_both,
     .value = value_latency},
    {.name = "rate",
     .unit = "M/s",
     .higher_is_better = true,
     .windowed = true,
     .prepare = prepare_pair,
     .block = block_one_way,
     .check = check_receiver,
     .value = value_rate},
    {.name = "birate",
     .unit = "M/s",
     .higher_is_better = true,
     .windowed = true,
     .prepare = prepare_pair,
     .block = block_both_ways,
     .check = check_both,
     .value = value_rate_both},
    {.name = "bw",
     .unit = "GB/s",
     .higher_is_better = true,
     .windowed = true,
     .prepare = prepare_pair,
     .block = block_one_way,
     .check = check_receiver,
     .value = value_bandwidth},
    {.name = "bibw",
     .unit = "GB/s",
     .higher_is_better = true,
     .windowed = true,
     .prepare = prepare_pair,
     .block = block_both_ways,
     .check = check_both,
     .value = value_bandwidth_both},
    {.name = NULL},
};
