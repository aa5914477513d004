/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The steps of what is done in partitions.  Which partitions there are, and what a chunk of one is,
 * the operations table of the kind knows.
 *
 * Tests: coll_move, coll_reduce, coll_late, coll_mismatch, coll_pending
 */

#include "ompi_config.h"

#include "coll_epcoll_chunks.h"

#include "mpi.h"

static const mca_coll_epcoll_chunk_ops_t *ops_of(const mca_coll_epcoll_call_t *call)
{
    if (NULL != call->plan) {
        return call->plan->ops;
    }
    switch (call->kind) {
    case EPCOLL_BCAST:
    case EPCOLL_GATHER:
    case EPCOLL_GATHERV:
    case EPCOLL_SCATTER:
    case EPCOLL_SCATTERV:
        return &mca_coll_epcoll_move_rooted_ops;
    case EPCOLL_ALLGATHER:
    case EPCOLL_ALLGATHERV:
    case EPCOLL_ALLTOALL:
    case EPCOLL_ALLTOALLV:
    case EPCOLL_ALLTOALLW:
        return &mca_coll_epcoll_move_ops;
    default:
        return &mca_coll_epcoll_reduce_ops;
    }
}

/** Have all partitions as many chunks? */
static bool is_even(const mca_coll_epcoll_call_t *call)
{
    return NULL == call->plan
           && (EPCOLL_ALLGATHER == call->kind || EPCOLL_ALLTOALL == call->kind
               || EPCOLL_GATHER == call->kind || EPCOLL_SCATTER == call->kind);
}

void mca_coll_epcoll_chunks_publish(mca_coll_epcoll_running_t *running, epcoll_member_t *member,
                                    const mca_coll_epcoll_call_t *call)
{
    unsigned char published[sizeof(call) + sizeof(uint64_t) + sizeof(char *)];
    const uint64_t longest = NULL != call->plan ? call->plan->wants
                                                : mca_coll_epcoll_move_longest(call, member->count);
    const char *run = mca_coll_epcoll_move_run(call, member->index);

    *running = (mca_coll_epcoll_running_t){
        .member = member,
        .call = call,
        .ops = ops_of(call),
        .signature = mca_coll_epcoll_signature_of(call),
        .chunk_min = (uint32_t) mca_coll_epcoll_component.chunk_size,
    };
    memcpy(published, &call, sizeof(call));
    memcpy(published + sizeof(call), &longest, sizeof(longest));
    memcpy(published + sizeof(call) + sizeof(longest), &run, sizeof(run));
    epcoll_work_begin(member);
    epcoll_publish(epcoll_slot(member, member->index), member->seq, running->signature, published,
                   sizeof(published));
    running->chunks = is_even(call) ? running->ops->chunks(running, member->index) : 0;
}

/** A member that is no root waits for the root, and works on its own partition only. */
static bool is_leaf(const mca_coll_epcoll_running_t *running)
{
    return running->ops->is_rooted && running->member->index != (uint32_t) running->call->root;
}

/** The first member that we wait for. */
static uint32_t first_seen(const mca_coll_epcoll_running_t *running)
{
    return is_leaf(running) ? (uint32_t) running->call->root : 0;
}

/**
 * Count the members that have arrived, up to the first that has not.
 *
 * @param count  members to wait for
 * @return EPCOLL_SOME: all have arrived; EPCOLL_NOTHING; EPCOLL_MISMATCH: one has called something
 *          else
 */
static int count_arrived(mca_coll_epcoll_running_t *running, uint32_t count)
{
    bool is_mismatch;

    running->seen += epcoll_count_arrived(running->member, first_seen(running) + running->seen,
                                          count - running->seen, running->signature, &is_mismatch);
    if (OPAL_UNLIKELY(is_mismatch)) {
        return EPCOLL_MISMATCH;
    }
    return running->seen == count ? EPCOLL_SOME : EPCOLL_NOTHING;
}

/** Work on a partition until all its chunks are taken, or we have done enough.
 * @return EPCOLL_SOME: a chunk is done, or more; EPCOLL_NOTHING; or an error */
static int work_on(mca_coll_epcoll_running_t *running, uint32_t partition, uint32_t chunks,
                   uint32_t *most)
{
    uint32_t chunk;
    int rc = EPCOLL_NOTHING;

    while (0 < *most && epcoll_work_claim(running->member, partition, chunks, &chunk)) {
        const int error = running->ops->work(running, partition, chunk);

        if (OPAL_UNLIKELY(MPI_SUCCESS != error)) {
            /* Before the chunk counts as done: a member that sees that must not take it for a
             * success. */
            epcoll_break(running->member, error);
        }
        epcoll_chunk_done(running->member, partition);
        --*most;
        rc = EPCOLL_SOME;
        if (MPI_SUCCESS != error) {
            return error;
        }
    }
    return rc;
}

/** The n-th partition that we work on: from our own one on, or, at a root, from the first of all,
 * as members arrive. */
static inline uint32_t partition_at(const mca_coll_epcoll_running_t *running, uint32_t turn)
{
    const uint32_t count = running->member->count, own = running->member->index;

    if (running->ops->is_rooted && !is_leaf(running)) {
        return turn;
    }
    return turn < count - own ? own + turn : own + turn - count;
}

static inline uint32_t chunks_of(const mca_coll_epcoll_running_t *running, uint32_t partition)
{
    return 0 != running->chunks ? running->chunks : running->ops->chunks(running, partition);
}

/** Looks from a turn on for the first partition that is not over.  @return its turn, or end */
static uint32_t skip_completed(const mca_coll_epcoll_running_t *running, uint32_t turn,
                               uint32_t end)
{
    epcoll_member_t *member = running->member;

    while (turn < end) {
        const uint32_t partition = partition_at(running, turn);
        const uint32_t left = end - turn, behind = member->count - partition;
        const uint32_t count = 0 == running->chunks ? 1 : left < behind ? left : behind;
        const uint32_t chunks = chunks_of(running, partition);
        const uint32_t over = 0 == chunks ? 1 : epcoll_work_over(member, partition, count, chunks);

        turn += over;
        if (over < count) {
            break;
        }
    }
    return turn;
}

/**
 * Work on partitions, each until all its chunks are claimed; and see which are completed.  What
 * others have done is read once.
 *
 * @param ready  partitions that can be worked on: that many, from our first one on
 *
 * @return as work_on
 */
static int partitions_work(mca_coll_epcoll_running_t *running, uint32_t ready, uint32_t most)
{
    int result = EPCOLL_NOTHING;

    for (;;) {
        uint32_t partition;
        int rc;

        running->over = skip_completed(running, running->over, ready);
        if (running->taken < running->over) {
            running->taken = running->over;
        }
        if (running->taken == ready || 0 == most) {
            return result;
        }
        partition = partition_at(running, running->taken);
        rc = work_on(running, partition, chunks_of(running, partition), &most);
        if (EPCOLL_NOTHING != rc && EPCOLL_SOME != rc) {
            return rc;
        }
        result = EPCOLL_SOME == rc ? rc : result;
        running->taken += 0 < most; /* else it may have chunks left */
    }
}

int mca_coll_epcoll_chunks_step(mca_coll_epcoll_running_t *running, uint32_t most)
{
    epcoll_member_t *member = running->member;
    const uint32_t partitions = is_leaf(running) ? 1 : member->count;
    int rc = count_arrived(running, partitions);

    if (EPCOLL_NOTHING == rc && 0 == ++running->waits % EPCOLL_WAITS
        && epcoll_has_left(member, first_seen(running) + running->seen)) {
        return EPCOLL_MISMATCH;
    }
    if (EPCOLL_SOME == rc || (EPCOLL_NOTHING == rc && running->ops->is_rooted)) {
        rc = partitions_work(running, running->seen, most);
    }
    if ((EPCOLL_NOTHING != rc && EPCOLL_SOME != rc) || running->over < partitions) {
        return rc;
    }
    /* Relaxed: the member that broke the segment before it gave up a chunk of ours has released
     * that. */
    rc = atomic_load_explicit(member->broken, memory_order_relaxed);
    if (0 != rc || NULL == running->ops->finish) {
        return rc;
    }
    return running->ops->finish(running);
}

void mca_coll_epcoll_chunks_close(mca_coll_epcoll_running_t *running, int why)
{
    (void) epcoll_break(running->member, why);
    for (uint32_t i = 0; i < running->member->count; ++i) {
        epcoll_work_close(running->member, i);
    }
}
