/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What each worker runs: one point after another, timed in blocks; and the buffers for all of them.
 */

#include <stdlib.h>
#include <string.h>

#include "epbench.h"
#include "epbench_ring.h"

/** Times one block of n iterations.  The clock is read outside of the iterations only, but by
 * measurements that say what of a block does not count. */
static epbench_elapsed_t time_block(epbench_worker_t *worker, const epbench_point_t *point, long n)
{
    epbench_elapsed_t elapsed;
    double start;
    double mine;

    worker->uncounted = 0.0;
    epbench_team_sync(worker);
    start = epbench_now();
    point->measure->block(worker, point, n);
    mine = (point->measure->origin_only && 0 != worker->rank) ? 0.0 : epbench_now() - start;
    elapsed.wall = epbench_team_max(worker, mine);
    mine -= worker->uncounted;
    elapsed.longest = epbench_team_max(worker, mine);
    elapsed.mean = epbench_team_sum(worker, worker->first ? mine : 0.0) / (worker->size / 2);
    return elapsed;
}

/**
 * Times blocks of about equal length until there are enough of them, and returns their number.
 *
 * The count of iterations grows from 1, which warms caches, connections and allocators on the way.
 * A block that turns out short shows that the ones before were disturbed: they are dropped.  All
 * workers see the same times, so all come to the same count.
 */
static int time_blocks(epbench_worker_t *worker, const epbench_point_t *point, double *values,
                       long *n_p)
{
    const epbench_options_t *options = worker->team->options;
    const double wanted = options->budget / options->blocks;
    double spent = 0.0;
    int blocks = 0;
    long n = 1;

    time_block(worker, point, n);
    /* Where single iterations pass the budget, do not insist on all the blocks. */
    while (blocks < options->blocks && spent < 4.0 * options->budget) {
        epbench_elapsed_t elapsed = time_block(worker, point, n);

        if (elapsed.wall < wanted / 2.0) {
            double factor = (0.0 < elapsed.wall) ? wanted / elapsed.wall : 8.0;

            n = (long) ((double) n * ((8.0 < factor) ? 8.0 : factor)) + 1;
            blocks = 0;
            spent = 0.0;
            continue;
        }
        spent += elapsed.wall;
        values[blocks++] = point->measure->value(worker, point, n, elapsed);
    }
    *n_p = n;
    return blocks;
}

static void run_point(epbench_worker_t *worker, const epbench_point_t *point)
{
    const epbench_options_t *options = worker->team->options;
    const epbench_measure_t *measure = point->measure;
    double values[EPBENCH_MAX_BLOCKS];
    size_t wrong;
    int blocks = 1;
    long n = 1;

    worker->calls = 0;
    if (NULL != measure->moves) {
        epbench_ring_prepare(worker, point);
    }
    if (NULL != measure->prepare) {
        measure->prepare(worker, point);
    }
    epbench_team_sync(worker);
    if (measure->once) {
        measure->block(worker, point, 1);
        values[0] = measure->value(worker, point, 1, (epbench_elapsed_t){.longest = 0.0});
    } else {
        blocks = time_blocks(worker, point, values, &n);
    }
    wrong = NULL != measure->moves ? epbench_ring_check(worker, point) : 0;
    wrong += NULL != measure->check ? measure->check(worker, point) : 0;
    if (0 < wrong) {
        epbench_fail("%s, %s %zu: worker %d received %zu wrong bytes", options->way, measure->name,
                     point->size, worker->rank, wrong);
    }
    epbench_team_sync(worker); /* no row before all have checked */
    if (0 == worker->rank) {
        epbench_report(options, point, n, blocks, values);
    }
}

static void *allocate(size_t bytes)
{
    /* Whole huge pages where it matters, so that all ways get the same kind of memory. */
    size_t alignment = (bytes < ((size_t) 2 << 20)) ? 4096 : (size_t) 2 << 20;
    void *memory = NULL;

    if (0 != posix_memalign(&memory, alignment, (0 < bytes) ? bytes : 1)) {
        epbench_fail("no memory for a buffer of %zu bytes", bytes);
    }
    memset(memory, 0, bytes); /* the worker itself touches its pages first */
    return memory;
}

/** What all points together want of buffers. */
static void allocate_buffers(epbench_worker_t *worker)
{
    const epbench_options_t *options = worker->team->options;
    size_t queued = 0;
    int window = 1;

    worker->send_bytes = 0;
    worker->recv_bytes = 0;
    for (int i = 0; i < options->points; ++i) {
        const epbench_point_t *point = &options->point[i];
        const epbench_moves_t *moves = point->measure->moves;
        size_t bytes = (0 != point->measure->fixed) ? point->measure->fixed : point->size;
        size_t out = epbench_stride(bytes);
        const int messages = point->window > point->measure->messages ? point->window
                                                                      : point->measure->messages;
        size_t in = epbench_stride(bytes) * (size_t) messages;

        if (NULL != moves) {
            out = epbench_ring_out(moves, bytes, worker->size) * (size_t) point->window;
            in = epbench_ring_in(moves, bytes, worker->size) * (size_t) point->window;
        }
        worker->send_bytes = (out > worker->send_bytes) ? out : worker->send_bytes;
        worker->recv_bytes = (in > worker->recv_bytes) ? in : worker->recv_bytes;
        window = (messages > window) ? messages : window;
        if (0 != point->measure->fixed && point->size > queued) {
            queued = point->size;
        }
    }
    worker->send_buffer = allocate(worker->send_bytes);
    worker->recv_buffer = allocate(worker->recv_bytes);
    worker->request = allocate(2 * (size_t) window * sizeof(MPI_Request));
    worker->queued = allocate(queued * sizeof(MPI_Request));
    worker->queued_buffer = allocate(queued * EPBENCH_LINE);
}

void epbench_worker_run(epbench_worker_t *worker)
{
    const epbench_options_t *options = worker->team->options;

    allocate_buffers(worker);
    for (int i = 0; i < options->points; ++i) {
        const unsigned needs = options->point[i].measure->needs;

        if (needs == (needs & worker->can)) {
            run_point(worker, &options->point[i]);
        }
    }
    epbench_team_sync(worker);
    free(worker->queued_buffer);
    free(worker->queued);
    free(worker->request);
    free(worker->recv_buffer);
    free(worker->send_buffer);
}
