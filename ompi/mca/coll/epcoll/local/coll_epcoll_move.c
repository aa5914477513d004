/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Kinds that move data: each block is copied once, from its sender's buffer to its receiver's, by
 * the thread that has claimed it.
 *
 * A partition is what a member receives, or, of those that gather, what a member sends.  Its chunks
 * are the blocks, those of other members in turn so that not all read the same one first: long
 * blocks in parts of a chunk's size, short ones several to a chunk.
 *
 * Tests: coll_move, coll_late
 */

#include "ompi_config.h"

#include "../data/data.h"
#include "coll_epcoll_move.h"
#include "coll_epcoll_chunks.h"

#include "mpi.h"

/** The overhead of copying a block, in bytes: a chunk has no more blocks than that. */
#define BLOCK_LEAST 32

/** How a partition is cut into chunks; for how long a block is, and of how many there are in a
 * partition. */
typedef struct parts_t {
    uint64_t size;   /**< of a part of a block, in bytes */
    uint32_t count;  /**< of the parts of a block */
    uint32_t blocks; /**< in a chunk; 1 if a block has several parts */
} parts_t;

static parts_t parts_of(const mca_coll_epcoll_running_t *running, uint64_t longest, uint32_t blocks)
{
    const uint64_t most = EPCOLL_CHUNKS_MAX / 2 / blocks; /* there must be one: 2^19 members */
    parts_t parts = {.size = running->chunk_min};

    while (longest > most * parts.size) {
        parts.size *= 2;
    }
    parts.count = longest <= parts.size ? 1 : (uint32_t) ((longest + parts.size - 1) / parts.size);
    parts.blocks = 1 < parts.count
                       ? 1
                       : (uint32_t) (parts.size / (longest < BLOCK_LEAST ? BLOCK_LEAST : longest));
    return parts;
}

static bool is_gather(mca_coll_epcoll_kind_t kind)
{
    return EPCOLL_GATHER == kind || EPCOLL_GATHERV == kind;
}

/** The longest of blocks that may differ. */
static uint64_t longest_of_counts(const mca_coll_epcoll_call_t *call, uint32_t members)
{
    uint64_t longest = 0;

    for (uint32_t i = 0; i < members; ++i) {
        const uint32_t rank = mca_coll_epcoll_rank_of(call, i);
        const ompi_datatype_t *type = NULL != call->recv_types ? call->recv_types[rank]
                                                               : call->recv_type;
        const uint64_t bytes = (uint64_t) EPCOLL_COUNT(call->recv_counts, rank) * type->super.size;

        longest = bytes > longest ? bytes : longest;
    }
    return longest;
}

uint64_t mca_coll_epcoll_move_longest(const mca_coll_epcoll_call_t *call, uint32_t members)
{
    switch (call->kind) {
    case EPCOLL_ALLGATHERV:
    case EPCOLL_ALLTOALLV:
    case EPCOLL_ALLTOALLW:
        return longest_of_counts(call, members);
    case EPCOLL_GATHERV:
        return NULL == call->send_type ? 0
                                       : (uint64_t) call->send_count * call->send_type->super.size;
    case EPCOLL_SCATTERV:
        return NULL == call->recv_type ? 0
                                       : (uint64_t) call->recv_count * call->recv_type->super.size;
    default:
        return call->bytes;
    }
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static mca_coll_epcoll_buffer_t move_buffer(const void *base, ptrdiff_t bytes, size_t count,
                                            ompi_datatype_t *type)
{
    return (mca_coll_epcoll_buffer_t){.address = mca_coll_epcoll_away(base, bytes),
                                      .count = count,
                                      .type = type};
}

mca_coll_epcoll_buffer_t mca_coll_epcoll_received(const mca_coll_epcoll_call_t *call, uint32_t from)
{
    ompi_datatype_t *type = call->recv_type;

    switch (call->kind) {
    case EPCOLL_ALLGATHERV:
    case EPCOLL_ALLTOALLV:
    case EPCOLL_GATHERV:
        return move_buffer(call->recv,
                           EPCOLL_DISP(call->recv_disps, from) * mca_coll_epcoll_extent(type),
                           EPCOLL_COUNT(call->recv_counts, from), type);
    case EPCOLL_ALLTOALLW:
        return move_buffer(call->recv, EPCOLL_DISP(call->recv_disps, from),
                           EPCOLL_COUNT(call->recv_counts, from), call->recv_types[from]);
    case EPCOLL_BCAST:
    case EPCOLL_SCATTER:
    case EPCOLL_SCATTERV:
        return move_buffer(call->recv, 0, call->recv_count, type);
    default:
        return move_buffer(call->recv,
                           (ptrdiff_t) (from * call->recv_count) * mca_coll_epcoll_extent(type),
                           call->recv_count, type);
    }
}

mca_coll_epcoll_buffer_t mca_coll_epcoll_sent(const mca_coll_epcoll_call_t *call, uint32_t own,
                                              uint32_t to)
{
    ompi_datatype_t *type = call->send_type;

    switch (call->kind) {
    case EPCOLL_ALLTOALL:
    case EPCOLL_SCATTER:
        return move_buffer(call->send,
                           (ptrdiff_t) (to * call->send_count) * mca_coll_epcoll_extent(type),
                           call->send_count, type);
    case EPCOLL_ALLTOALLV:
    case EPCOLL_SCATTERV:
        return move_buffer(call->send,
                           EPCOLL_DISP(call->send_disps, to) * mca_coll_epcoll_extent(type),
                           EPCOLL_COUNT(call->send_counts, to), type);
    case EPCOLL_ALLTOALLW:
        return move_buffer(call->send, EPCOLL_DISP(call->send_disps, to),
                           EPCOLL_COUNT(call->send_counts, to), call->send_types[to]);
    default:
        return call->in_place ? mca_coll_epcoll_received(call, own)
                              : move_buffer(call->send, 0, call->send_count, type);
    }
}

/** Likewise by index: the buffer of a member of the process for what comes from, or goes to,
 * another one. */
static mca_coll_epcoll_buffer_t move_received(const mca_coll_epcoll_call_t *call, uint32_t from)
{
    return mca_coll_epcoll_received(call, mca_coll_epcoll_rank_of(call, from));
}

static mca_coll_epcoll_buffer_t move_sent(const mca_coll_epcoll_call_t *call, uint32_t own,
                                          uint32_t to)
{
    return mca_coll_epcoll_sent(call, mca_coll_epcoll_rank_of(call, own),
                                mca_coll_epcoll_rank_of(call, to));
}

/* ---- partitions ------------------------------------------------------------------------------ */

/** In place, two members exchange blocks; which of the two partitions that is in. */
static bool is_exchanged_by(uint32_t partition, uint32_t other)
{
    return partition != other && (0 != (partition + other) % 2) == (partition < other);
}

static bool is_exchange(const mca_coll_epcoll_call_t *call)
{
    return call->in_place && EPCOLL_ALLTOALL <= call->kind && EPCOLL_ALLTOALLW >= call->kind;
}

/** The part of a block from an offset on. */
static size_t part_size(const parts_t *parts, uint64_t offset, size_t bytes)
{
    return bytes - offset < parts->size ? bytes - offset : parts->size;
}

/** The member whose block is the n-th of a partition. */
static inline uint32_t block_at(const mca_coll_epcoll_running_t *running, uint32_t partition,
                                uint32_t turn)
{
    const uint32_t count = running->member->count;

    return turn < count - partition ? partition + turn : partition + turn - count;
}

/** A part of what two members exchange. */
static int move_exchange(const mca_coll_epcoll_running_t *running, uint32_t partition,
                         uint32_t other, const parts_t *parts, uint32_t part)
{
    const mca_coll_epcoll_buffer_t one = move_received(mca_coll_epcoll_call_of(running, partition),
                                                       other);
    const mca_coll_epcoll_buffer_t two = move_received(mca_coll_epcoll_call_of(running, other),
                                                       partition);
    const size_t bytes = mca_coll_epcoll_bytes(&one);
    const uint64_t offset = part * parts->size;

    if (bytes != mca_coll_epcoll_bytes(&two)) {
        return MPI_ERR_TRUNCATE;
    }
    return offset >= bytes ? MPI_SUCCESS
                           : mca_coll_epcoll_swap_part(&one, &two, offset,
                                                       part_size(parts, offset, bytes));
}

/** A part of what a member sends to another one. */
static int move_copy_part(const mca_coll_epcoll_running_t *running, uint32_t from, uint32_t to,
                          const parts_t *parts, uint32_t part)
{
    const mca_coll_epcoll_call_t *sender = mca_coll_epcoll_call_of(running, from);
    const mca_coll_epcoll_call_t *receiver = mca_coll_epcoll_call_of(running, to);
    const uint64_t offset = part * parts->size;
    mca_coll_epcoll_buffer_t source, target;
    size_t bytes;

    if (from == to && sender->in_place) {
        return MPI_SUCCESS; /* it is there */
    }
    source = move_sent(sender, from, to);
    target = move_received(receiver, from);
    bytes = mca_coll_epcoll_bytes(&source);
    if (bytes > mca_coll_epcoll_bytes(&target)) {
        return MPI_ERR_TRUNCATE;
    }
    if (offset >= bytes) {
        return MPI_SUCCESS; /* its receiver could take more */
    }
    return mca_coll_epcoll_copy_part(&target, &source, offset, part_size(parts, offset, bytes));
}

/** Is a member's block for each other one of the same length as all blocks of all members? */
static bool is_equal(const mca_coll_epcoll_call_t *call)
{
    return NULL == call->plan
           && (EPCOLL_ALLGATHER == call->kind
               || (EPCOLL_ALLTOALL == call->kind && !call->in_place));
}

const char *mca_coll_epcoll_move_run(const mca_coll_epcoll_call_t *call, uint32_t index)
{
    const bool is_scattered = EPCOLL_SCATTER == call->kind && NULL == call->plan
                              && index == (uint32_t) call->root;
    mca_coll_epcoll_buffer_t first;

    if (!is_equal(call) && !is_scattered) {
        return NULL;
    }
    first = move_sent(call, index, 0);
    first.address = EPCOLL_ALLGATHER == call->kind ? first.address
                                                   : (void *) (uintptr_t) call->send;
    return call->bytes == mca_coll_epcoll_bytes(&first)
                   && (EPCOLL_ALLGATHER == call->kind || mca_coll_epcoll_is_dense(first.type))
               ? mca_coll_epcoll_flat(&first)
               : NULL;
}

/** From the slot of a member to that of the next one. */
#define SLOTS (sizeof(epcoll_ctrl_t) / sizeof(epcoll_slot_t))

/** Copies a block of 8 bytes each of adjacent members, from an offset in their runs, one behind the
 * other.
 * @return how many, up to the first whose blocks are no run */
static uint32_t copy_numbers(const epcoll_slot_t *slot, uint32_t count, size_t offset, char *target)
{
    uint32_t left = count;

#pragma GCC unroll 4
    for (; 0 < left; --left, slot += SLOTS, target += sizeof(uint64_t)) {
        const char *run = mca_coll_epcoll_run_in(slot);

        if (NULL == run) {
            break;
        }
        memcpy(target, run + offset, sizeof(uint64_t));
    }
    return count - left;
}

/** Likewise blocks of any length.  @param ranks  where they go to; NULL: one behind the other */
static uint32_t copy_blocks(const epcoll_slot_t *slot, uint32_t count, size_t offset, char *target,
                            size_t bytes, const uint32_t *ranks)
{
    for (uint32_t i = 0; i < count; ++i, slot += SLOTS) {
        const char *run = mca_coll_epcoll_run_in(slot);
        char *block = target + (NULL == ranks ? i : ranks[i]) * bytes;

        if (NULL == run) {
            return i;
        }
        if (block != run + offset) { /* else it is there */
            memcpy(block, run + offset, bytes);
        }
    }
    return count;
}

/**
 * Copies blocks of one length to a member, from the members that have published where they begin
 * (mca_coll_epcoll_run_in): nothing else of their calls is looked at.
 *
 * @return the first turn whose block is not copied, as it, or the receiver's buffer, is no run of
 *         memory; or end
 */
static uint32_t copy_runs(const mca_coll_epcoll_running_t *running, uint32_t to, uint32_t turn,
                          uint32_t end)
{
    const mca_coll_epcoll_call_t *own = running->call,
                                 *receiver = mca_coll_epcoll_call_of(running, to);
    const size_t bytes = own->bytes;
    const size_t offset = EPCOLL_ALLTOALL == own->kind ? mca_coll_epcoll_rank_of(own, to) * bytes
                                                       : 0;
    char *const target = mca_coll_epcoll_away(receiver->recv, receiver->recv_type->super.true_lb);

    if (!mca_coll_epcoll_is_dense(receiver->recv_type)) {
        return turn;
    }
    while (turn < end) {
        const uint32_t first = block_at(running, to, turn);
        const uint32_t left = end - turn, behind = running->member->count - first;
        const uint32_t count = left < behind ? left : behind;
        const epcoll_slot_t *slot = epcoll_slot(running->member, first);
        uint32_t copied;

        if (NULL != own->ranks) {
            copied = copy_blocks(slot, count, offset, target, bytes, own->ranks + first);
        } else if (sizeof(uint64_t) == bytes) {
            copied = copy_numbers(slot, count, offset, target + first * bytes);
        } else {
            copied = copy_blocks(slot, count, offset, target + first * bytes, bytes, NULL);
        }
        turn += copied;
        if (copied < count) {
            break;
        }
    }
    return turn;
}

/** Copies the block of a member that the root scatters, if it and the member's buffer are a run of
 * memory; not the root's own, which may have another length there.  @return false: they are not */
static bool copy_scattered(const mca_coll_epcoll_running_t *running, uint32_t to)
{
    const mca_coll_epcoll_call_t *own = running->call, *receiver;
    const size_t bytes = own->bytes;
    const char *run;

    if (EPCOLL_SCATTER != own->kind || NULL != own->plan || to == (uint32_t) own->root) {
        return false;
    }
    run = mca_coll_epcoll_run_in(epcoll_slot(running->member, (uint32_t) own->root));
    receiver = mca_coll_epcoll_call_of(running, to);
    if (NULL == run || !mca_coll_epcoll_is_dense(receiver->recv_type)) {
        return false;
    }
    epcoll_copy(mca_coll_epcoll_away(receiver->recv, receiver->recv_type->super.true_lb),
                run + mca_coll_epcoll_rank_of(own, to) * bytes, bytes);
    return true;
}

static uint32_t move_chunks(const mca_coll_epcoll_running_t *running, uint32_t partition)
{
    const uint32_t count = running->member->count;
    const parts_t parts = parts_of(running, mca_coll_epcoll_longest_of(running, partition), count);

    return (count + parts.blocks - 1) / parts.blocks * parts.count;
}

static int move_run(const mca_coll_epcoll_running_t *running, uint32_t partition, uint32_t chunk)
{
    const uint32_t count = running->member->count;
    const parts_t parts = parts_of(running, mca_coll_epcoll_longest_of(running, partition), count);
    const uint32_t part = chunk % parts.count;
    uint32_t turn = chunk / parts.count * parts.blocks;
    const uint32_t end = turn + parts.blocks < count ? turn + parts.blocks : count;
    int rc = MPI_SUCCESS;

    if (1 == parts.count && is_equal(running->call)) {
        turn = copy_runs(running, partition, turn, end);
    }
    for (; turn < end && MPI_SUCCESS == rc; ++turn) {
        const uint32_t block = block_at(running, partition, turn);

        if (!is_exchange(running->call)) {
            rc = move_copy_part(running, block, partition, &parts, part);
        } else if (is_exchanged_by(partition, block)) {
            rc = move_exchange(running, partition, block, &parts, part);
        }
    }
    return rc;
}

const mca_coll_epcoll_chunk_ops_t mca_coll_epcoll_move_ops = {.chunks = move_chunks,
                                                              .work = move_run};

static uint32_t rooted_chunks(const mca_coll_epcoll_running_t *running, uint32_t partition)
{
    if (EPCOLL_BCAST == running->call->kind && partition == (uint32_t) running->call->root) {
        return 0;
    }
    return parts_of(running, mca_coll_epcoll_longest_of(running, partition), 1).count;
}

static int move_rooted(const mca_coll_epcoll_running_t *running, uint32_t partition, uint32_t chunk)
{
    const parts_t parts = parts_of(running, mca_coll_epcoll_longest_of(running, partition), 1);
    const uint32_t root = (uint32_t) running->call->root;

    if (1 == parts.count && copy_scattered(running, partition)) {
        return MPI_SUCCESS;
    }
    return is_gather(running->call->kind) ? move_copy_part(running, partition, root, &parts, chunk)
                                          : move_copy_part(running, root, partition, &parts, chunk);
}

const mca_coll_epcoll_chunk_ops_t mca_coll_epcoll_move_rooted_ops = {.is_rooted = true,
                                                                     .chunks = rooted_chunks,
                                                                     .work = move_rooted};
