/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What many endpoints cost to make, and what they take: bytes of heap and of resident memory, idle
 * and after traffic.  The figures in bytes are taken once and are no times.
 */

#define _GNU_SOURCE 1 /* mallinfo2 */

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "epbench.h"

static double value_amount(const epbench_worker_t *worker, const epbench_point_t *point, long n,
                           epbench_elapsed_t elapsed)
{
    (void) point;
    (void) n;
    (void) elapsed;
    return worker->amount;
}

/* What this process has, bytes. */

/** Handed out by malloc, in all arenas. */
static double heap_bytes(void)
{
    struct mallinfo2 info = mallinfo2();

    return (double) info.uordblks + (double) info.hblkhd;
}

/** Pages in memory.  What malloc only keeps for next time is given back first. */
static double resident_bytes(void)
{
    FILE *file;
    long pages = 0;
    long resident = 0;

    malloc_trim(0);
    file = fopen("/proc/self/statm", "r");
    if (NULL == file || 2 != fscanf(file, "%ld %ld", &pages, &resident)) {
        epbench_fail("cannot read /proc/self/statm");
    }
    fclose(file);
    return (double) resident * (double) sysconf(_SC_PAGESIZE);
}

/** Pages in memory, of those that processes share only the share of this one. */
static double own_bytes(void)
{
    FILE *file;
    char line[256];
    long kib = -1;

    malloc_trim(0);
    file = fopen("/proc/self/smaps_rollup", "r");
    while (NULL != file && NULL != fgets(line, sizeof(line), file)) {
        if (1 == sscanf(line, "Pss: %ld kB", &kib)) {
            break;
        }
    }
    if (NULL != file) {
        fclose(file);
    }
    if (0 > kib) {
        epbench_fail("cannot read /proc/self/smaps_rollup");
    }
    return (double) kib * 1024.0;
}

/* Sets of endpoints that do nothing. */

static void prepare_many(epbench_worker_t *worker, const epbench_point_t *point)
{
    if (EPBENCH_MAX_MANY < point->size || 1 > point->size) {
        epbench_fail("sets of 1 to %d can be made, not of %zu", EPBENCH_MAX_MANY, point->size);
    }
    if (0 == worker->thread) {
        /* What comes with the first ones only. */
        epbench_ways_many_begin(worker, 2);
        epbench_ways_many(worker, 2);
        epbench_ways_many_free(worker, 2);
        epbench_ways_many_end(worker);
        epbench_ways_many_begin(worker, (int) point->size);
    }
}

static size_t check_many(epbench_worker_t *worker, const epbench_point_t *point)
{
    (void) point;
    if (0 == worker->thread) {
        epbench_ways_many_end(worker);
    }
    return 0;
}

static void block_make(epbench_worker_t *worker, const epbench_point_t *point, long n)
{
    const double start = epbench_now();
    double counted = 0.0;

    for (long i = 0; 0 == worker->thread && i < n; ++i) {
        const double before = epbench_now();

        epbench_ways_many(worker, (int) point->size);
        counted += epbench_now() - before;
        epbench_ways_many_free(worker, (int) point->size);
    }
    worker->uncounted = epbench_now() - start - counted;
}

static double value_make(const epbench_worker_t *worker, const epbench_point_t *point, long n,
                         epbench_elapsed_t elapsed)
{
    (void) worker;
    (void) point;
    return elapsed.longest / (double) n * 1e6;
}

/** What each one of a set takes. */
static void take_many(epbench_worker_t *worker, const epbench_point_t *point, double (*bytes)(void))
{
    double before;

    if (0 != worker->thread) {
        return;
    }
    before = bytes();
    epbench_ways_many(worker, (int) point->size);
    worker->amount = (bytes() - before) / (double) point->size;
    epbench_ways_many_free(worker, (int) point->size);
}

static void block_heap(epbench_worker_t *worker, const epbench_point_t *point, long n)
{
    (void) n;
    take_many(worker, point, heap_bytes);
}

static void block_resident(epbench_worker_t *worker, const epbench_point_t *point, long n)
{
    (void) n;
    take_many(worker, point, resident_bytes);
}

/* What a peer takes once there has been traffic with it. */

static void prepare_peers(epbench_worker_t *worker, const epbench_point_t *point)
{
    memset(worker->send_buffer, 1, point->size);
    memset(worker->recv_buffer, 0, epbench_stride(point->size) * (size_t) point->window);
    memset(worker->request, 0, 2 * (size_t) point->window * sizeof(*worker->request));
}

/** A window to and from each worker of the other half: another process, if there are two. */
static void talk_to_all(epbench_worker_t *worker, const epbench_point_t *point)
{
    const int pairs = worker->size / 2;
    const int size = (int) point->size;

    for (int k = 0; k < pairs; ++k) {
        const int peer = worker->first ? pairs + (worker->pair + k) % pairs
                                       : (worker->pair + pairs - k) % pairs;

        for (int i = 0; i < point->window; ++i) {
            MPI_Irecv(worker->recv_buffer + (size_t) i * epbench_stride(point->size), size,
                      MPI_BYTE, peer, worker->tag_in, worker->comm, &worker->request[2 * i]);
            MPI_Isend(worker->send_buffer, size, MPI_BYTE, peer, worker->tag_out, worker->comm,
                      &worker->request[2 * i + 1]);
        }
        MPI_Waitall(2 * point->window, worker->request, MPI_STATUSES_IGNORE);
    }
}

/** Bytes of all processes together, before and after, by worker and peer. */
static void take_peers(epbench_worker_t *worker, const epbench_point_t *point,
                       double (*bytes)(void))
{
    const double peers = (double) worker->size * (double) (worker->size / 2);
    double before;

    epbench_team_sync(worker);
    before = epbench_team_sum(worker, (0 == worker->thread) ? bytes() : 0.0);
    talk_to_all(worker, point);
    epbench_team_sync(worker);
    worker->amount = epbench_team_sum(worker, (0 == worker->thread) ? bytes() : 0.0) - before;
    worker->amount /= peers;
}

static void block_peer_heap(epbench_worker_t *worker, const epbench_point_t *point, long n)
{
    (void) n;
    take_peers(worker, point, heap_bytes);
}

static void block_peer_resident(epbench_worker_t *worker, const epbench_point_t *point, long n)
{
    (void) n;
    take_peers(worker, point, resident_bytes);
}

/** All that the processes have, by worker. */
static void block_job(epbench_worker_t *worker, const epbench_point_t *point, long n)
{
    (void) point;
    (void) n;
    epbench_team_sync(worker);
    worker->amount = epbench_team_sum(worker, (0 == worker->thread) ? own_bytes() : 0.0)
                     / worker->size;
}

const epbench_measure_t epbench_memory_measures[] = {
    {.name = "make",
     .unit = "us",
     .needs = EPBENCH_MANY,
     .prepare = prepare_many,
     .block = block_make,
     .check = check_many,
     .value = value_make},
    {.name = "heap",
     .unit = "B",
     .needs = EPBENCH_MANY,
     .prepare = prepare_many,
     .block = block_heap,
     .check = check_many,
     .value = value_amount,
     .once = true},
    {.name = "resident",
     .unit = "B",
     .needs = EPBENCH_MANY,
     .prepare = prepare_many,
     .block = block_resident,
     .check = check_many,
     .value = value_amount,
     .once = true},
    {.name = "peerheap",
     .unit = "B",
     .needs = EPBENCH_COLLECTIVE,
     .windowed = true,
     .prepare = prepare_peers,
     .block = block_peer_heap,
     .value = value_amount,
     .once = true},
    {.name = "peerresident",
     .unit = "B",
     .needs = EPBENCH_COLLECTIVE,
     .windowed = true,
     .prepare = prepare_peers,
     .block = block_peer_resident,
     .value = value_amount,
     .once = true},
    {.name = "job", .unit = "B", .block = block_job, .value = value_amount, .once = true},
    {.name = NULL},
};
