/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Copies blocks among the members of a process by a plan: a partition is what a member gets, a
 * chunk is a range of packed bytes of it, perhaps of several blocks.
 *
 * Tests: coll_layout
 */

#include "ompi_config.h"

#include "../data/data.h"
#include "coll_epcoll_hier.h"

#include "mpi.h"

static const mca_coll_epcoll_plan_t *plan_of(const mca_coll_epcoll_running_t *running,
                                             uint32_t index)
{
    return mca_coll_epcoll_call_of(running, index)->plan;
}

static uint64_t bytes_of(const mca_coll_epcoll_plan_t *plan)
{
    return (uint64_t) plan->unit * plan->units;
}

/** Bytes of a chunk. */
static uint64_t chunk_size(const mca_coll_epcoll_running_t *running)
{
    uint64_t size = running->chunk_min;

    while (bytes_of(running->call->plan) > EPCOLL_CHUNKS_MAX / 2 * size) {
        size *= 2;
    }
    return size;
}

static uint32_t plan_copy_chunks(const mca_coll_epcoll_running_t *running, uint32_t partition)
{
    const uint64_t size = chunk_size(running);

    return 0 != mca_coll_epcoll_longest_of(running, partition)
               ? (uint32_t) ((bytes_of(running->call->plan) + size - 1) / size)
               : 0;
}

/** The block that a unit is in. */
static uint32_t block_at(const mca_coll_epcoll_plan_t *plan, size_t unit)
{
    uint32_t low = 0, high = plan->blocks;

    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;

        if (mca_coll_epcoll_plan_begin(plan, middle) <= unit) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static int plan_copy_work(const mca_coll_epcoll_running_t *running, uint32_t partition,
                          uint32_t chunk)
{
    const mca_coll_epcoll_plan_t *plan = running->call->plan,
                                 *receiver = plan_of(running, partition);
    const uint64_t size = chunk_size(running), all = bytes_of(plan);
    const uint64_t end = (chunk + 1) * size < all ? (chunk + 1) * size : all;
    const mca_coll_epcoll_buffer_t into = {.address = receiver->into,
                                           .count = receiver->into_count,
                                           .type = receiver->into_type};
    uint64_t at = chunk * size;

    for (uint32_t block = block_at(plan, at / plan->unit); at < end; ++block) {
        const uint64_t behind = (uint64_t) mca_coll_epcoll_plan_begin(plan, block + 1) * plan->unit;
        const uint64_t until = behind < end ? behind : end;
        const int source = until <= at ? -1 : plan->source(running, block, partition);

        if (0 <= source) {
            const mca_coll_epcoll_plan_t *sender = plan_of(running, (uint32_t) source);
            const mca_coll_epcoll_buffer_t from = {.address = sender->from,
                                                   .count = sender->from_count,
                                                   .type = sender->from_type};
            const int rc = mca_coll_epcoll_copy_part(&into, &from, at, until - at);

            if (MPI_SUCCESS != rc) {
                return rc;
            }
        }
        at = until;
    }
    return MPI_SUCCESS;
}

const mca_coll_epcoll_chunk_ops_t mca_coll_epcoll_plan_copy_ops = {.chunks = plan_copy_chunks,
                                                                   .work = plan_copy_work};
