/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Kinds that reduce: a chunk is a range of elements, which one thread combines from all members'
 * buffers, always in the same order, and writes to all that need it.  So each element is computed
 * once, by whichever thread, and is the same at all members, bit by bit.
 *
 * A partition is a part of the vector: an equal one of each member, or, of those that scatter, a
 * member's block.
 *
 * Tests: coll_reduce, coll_late
 */

#include "ompi_config.h"

#include "../data/data.h"
#include "coll_epcoll_chunks.h"

#include "mpi.h"

#include <stdlib.h>

/** Members whose buffers are listed on the stack. */
#define MEMBERS_FEW 64

/** Bytes of a chunk, at least: a line or more for each writer. */
#define CHUNK_MIN 512

typedef mca_coll_epcoll_range_t range_t;

/** Is a partition the block of a member?  With a plan it is its slice. */
static bool is_scattered(const mca_coll_epcoll_call_t *call)
{
    return NULL != call->plan || EPCOLL_REDUCE_SCATTER == call->kind
           || EPCOLL_REDUCE_SCATTER_BLOCK == call->kind;
}

/** Elements of a chunk: the same for all of a vector. */
static size_t chunk_elements(const mca_coll_epcoll_running_t *running, size_t elements)
{
    const size_t size = running->call->recv_type->super.size;
    const size_t each = (elements * size + running->member->count - 1) / running->member->count;
    size_t bytes = each < running->chunk_min ? each : running->chunk_min;

    bytes = bytes < CHUNK_MIN ? CHUNK_MIN : bytes;
    while (elements / (EPCOLL_CHUNKS_MAX / 2) >= bytes / size + 1) {
        bytes *= 2;
    }
    return bytes < size ? 1 : bytes / size;
}

static range_t slice_of(const mca_coll_epcoll_plan_t *plan, uint32_t partition, uint32_t members)
{
    const uint32_t slice = mca_coll_epcoll_plan_slice(plan, partition, members);
    const size_t first = mca_coll_epcoll_plan_begin(plan, slice);

    if (slice >= plan->blocks) {
        return (range_t){0, 0};
    }
    return (range_t){first, mca_coll_epcoll_plan_begin(plan, slice + 1) - first};
}

/** A member's block of a vector that is scattered. */
static range_t block_of(const mca_coll_epcoll_running_t *running, uint32_t partition)
{
    const mca_coll_epcoll_call_t *call = running->call;
    range_t block = {0, call->send_count};

    if (NULL != call->plan) {
        return NULL != call->plan->range ? call->plan->range(running, partition)
                                         : slice_of(call->plan, partition, running->member->count);
    }
    if (EPCOLL_REDUCE_SCATTER_BLOCK == call->kind) {
        block.first = partition * block.count;
        return block;
    }
    for (uint32_t i = 0; i < partition; ++i) {
        block.first += EPCOLL_COUNT(call->recv_counts, i);
    }
    block.count = EPCOLL_COUNT(call->recv_counts, partition);
    return block;
}

/** The chunks of a partition, of all members' together: numbers of the first, and of the one
 * behind. */
static void chunks_of(const mca_coll_epcoll_running_t *running, uint32_t partition, size_t each,
                      size_t *first, size_t *end)
{
    const size_t all = (running->call->recv_count + each - 1) / each;
    const size_t members = running->member->count;

    *first = all * partition / members;
    *end = all * (partition + 1) / members;
}

static uint32_t reduce_chunks(const mca_coll_epcoll_running_t *running, uint32_t partition)
{
    const mca_coll_epcoll_call_t *call = running->call;
    const size_t each = chunk_elements(running, call->recv_count);
    size_t first, end;

    if (is_scattered(call)) {
        return (uint32_t) ((block_of(running, partition).count + each - 1) / each);
    }
    chunks_of(running, partition, each, &first, &end);
    return (uint32_t) (end - first);
}

static range_t range_of(const mca_coll_epcoll_running_t *running, uint32_t partition,
                        uint32_t chunk)
{
    const size_t each = chunk_elements(running, running->call->recv_count);
    size_t first, end;
    range_t range = {.first = 0, .count = running->call->recv_count};

    if (is_scattered(running->call)) {
        range = block_of(running, partition);
        first = 0;
    } else {
        chunks_of(running, partition, each, &first, &end);
    }
    end = range.first + range.count;
    range.first += (first + chunk) * each;
    range.count = end - range.first < each ? end - range.first : each;
    return range;
}

/** A member's vector, for our datatype.  Members have the same type, but for displacements that are
 * absolute: with MPI_BOTTOM each has its own. */
static void *with_own_type(const mca_coll_epcoll_running_t *running,
                           const mca_coll_epcoll_call_t *call, const void *vector)
{
    return mca_coll_epcoll_away(vector, call->recv_type->super.true_lb
                                            - running->call->recv_type->super.true_lb);
}

/** Where a member's result goes, as if the whole vector were there; or EPCOLL_UNWANTED. */
static void *result_of(const mca_coll_epcoll_running_t *running, uint32_t index, uint32_t partition,
                       const mca_coll_epcoll_call_t *call)
{
    const ptrdiff_t extent = mca_coll_epcoll_extent(call->recv_type);

    if (NULL != call->plan) {
        return index == partition ? call->recv : EPCOLL_UNWANTED;
    }
    switch (call->kind) {
    case EPCOLL_REDUCE:
        return index == (uint32_t) call->root ? call->recv : EPCOLL_UNWANTED;
    case EPCOLL_REDUCE_SCATTER:
    case EPCOLL_REDUCE_SCATTER_BLOCK:
        if (index != partition) {
            return EPCOLL_UNWANTED;
        }
        /* In place, what others still have to read begins where the block is to go: finish. */
        return call->in_place
                   ? call->recv
                   : mca_coll_epcoll_away(call->recv,
                                          -(ptrdiff_t) block_of(running, partition).first * extent);
    default:
        return call->recv;
    }
}

/** Prefixes, behind those of members in processes before, if there is a plan. */
static int scan_range(const mca_coll_epcoll_running_t *running, uint32_t partition, uint32_t chunk,
                      const void **sent, void **results)
{
    const mca_coll_epcoll_call_t *own = running->call;
    const range_t range = range_of(running, partition, chunk);
    const mca_coll_epcoll_reduction_t reduction = {.op = own->op,
                                                   .type = own->recv_type,
                                                   .count = running->member->count
                                                            + (NULL != own->plan),
                                                   .send = sent};
    uint32_t next = 0;

    if (NULL != own->plan) {
        const mca_coll_epcoll_call_t *slice = mca_coll_epcoll_call_of(running, partition);

        sent[next] = with_own_type(running, slice, slice->plan->from);
        results[next++] = EPCOLL_UNWANTED;
    }
    for (uint32_t i = 0; i < running->member->count; ++i, ++next) {
        const mca_coll_epcoll_call_t *call = mca_coll_epcoll_call_of(running, i);

        sent[next] = with_own_type(running, call, call->in_place ? call->recv : call->send);
        results[next] = with_own_type(running, call, call->recv);
    }
    return mca_coll_epcoll_scan_part(&reduction, range.first, range.count, results,
                                     EPCOLL_EXSCAN == own->kind);
}

static int reduce_range(const mca_coll_epcoll_running_t *running, uint32_t partition,
                        uint32_t chunk, const void **sent, void **results)
{
    const mca_coll_epcoll_call_t *own = running->call;
    const range_t range = range_of(running, partition, chunk);
    const mca_coll_epcoll_reduction_t reduction = {
        .op = own->op, .type = own->recv_type, .count = running->member->count, .send = sent};
    uint32_t receivers = 0;

    for (uint32_t i = 0; i < running->member->count; ++i) {
        const mca_coll_epcoll_call_t *call = mca_coll_epcoll_call_of(running, i);
        void *result = result_of(running, i, partition, call);

        sent[i] = with_own_type(running, call, call->in_place ? call->recv : call->send);
        if (EPCOLL_UNWANTED != result) {
            results[receivers++] = with_own_type(running, call, result);
        }
    }
    return mca_coll_epcoll_reduce_part(&reduction, range.first, range.count, results, receivers);
}

static int reduce_with(const mca_coll_epcoll_running_t *running, uint32_t partition, uint32_t chunk,
                       const void **sent, void **results)
{
    const mca_coll_epcoll_call_t *call = running->call;
    const bool is_scan = NULL != call->plan
                             ? call->plan->is_scan
                             : EPCOLL_SCAN == call->kind || EPCOLL_EXSCAN == call->kind;

    return is_scan ? scan_range(running, partition, chunk, sent, results)
                   : reduce_range(running, partition, chunk, sent, results);
}

static int reduce_work(const mca_coll_epcoll_running_t *running, uint32_t partition, uint32_t chunk)
{
    const uint32_t members = running->member->count;
    const void *few_sent[MEMBERS_FEW + 1], **sent; /* and what is before them */
    void *few_results[MEMBERS_FEW + 1];
    int rc;

    if (OPAL_LIKELY(members <= MEMBERS_FEW)) {
        return reduce_with(running, partition, chunk, few_sent, few_results);
    }
    sent = malloc(2 * (members + 1) * sizeof(*sent));
    if (NULL == sent) {
        return MPI_ERR_NO_MEM;
    }
    rc = reduce_with(running, partition, chunk, sent, (void **) (uintptr_t) (sent + members + 1));
    free(sent);
    return rc;
}

/** In place, and all are done: our block to where it belongs. */
static int reduce_finish(const mca_coll_epcoll_running_t *running)
{
    const mca_coll_epcoll_call_t *call = running->call;
    ompi_datatype_t *type = call->recv_type;
    range_t block;

    if (!call->in_place || NULL != call->plan || !is_scattered(call)) {
        return MPI_SUCCESS;
    }
    block = block_of(running, running->member->index);
    if (0 == block.first || 0 == block.count) {
        return MPI_SUCCESS;
    }
    /* Which takes care that the two may overlap. */
    return OMPI_SUCCESS
                   == ompi_datatype_copy_content_same_ddt(type, block.count, call->recv,
                                                          (char *) call->recv
                                                              + (ptrdiff_t) block.first
                                                                    * mca_coll_epcoll_extent(type))
               ? MPI_SUCCESS
               : MPI_ERR_INTERN;
}

const mca_coll_epcoll_chunk_ops_t mca_coll_epcoll_reduce_ops = {.chunks = reduce_chunks,
                                                                .work = reduce_work,
                                                                .finish = reduce_finish};
