/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Calls that do not fit in slots: members publish their calls, and execute partitions of the work
 * in chunks (work stealing), straight from user's buffer to user's buffer.  Blocking, nonblocking
 * and persistent calls run the same steps.
 *
 * A call of another member, and the buffers in it, may be read by a thread that has claimed a chunk
 * of it, until the chunk is done: no member returns before.
 */

#ifndef MCA_COLL_EPCOLL_CHUNKS_H
#define MCA_COLL_EPCOLL_CHUNKS_H

#include "ompi_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

/** An active operation, as a member sees it. */
typedef struct mca_coll_epcoll_running_t mca_coll_epcoll_running_t;

/** How some kinds of collectives are executed in chunks. */
typedef struct mca_coll_epcoll_chunk_ops_t {
    /** Piece i is about the root and member i alone: it can be worked on once both are there, and a
     * member that is not the root is through when its own one is over. */
    bool is_rooted;
    /** How many chunks has a partition? */
    uint32_t (*chunks)(const mca_coll_epcoll_running_t *running, uint32_t partition);
    /** Do one.  @return MPI_SUCCESS or an error code */
    int (*work)(const mca_coll_epcoll_running_t *running, uint32_t partition, uint32_t chunk);
    /** All is over: what is left for oneself.  NULL: nothing */
    int (*finish)(const mca_coll_epcoll_running_t *running);
} mca_coll_epcoll_chunk_ops_t;

/** A part of a vector, in elements. */
typedef struct mca_coll_epcoll_range_t {
    size_t first, count;
} mca_coll_epcoll_range_t;

/**
 * A part of what spans processes, of those in this one: data in blocks, each of which is at a
 * member, or is combined there.  The same at all members, but for the caller's own rank.
 */
typedef struct mca_coll_epcoll_plan_t {
    const mca_coll_epcoll_chunk_ops_t *ops;
    size_t unit;     /**< bytes that stay together: of an element, or of a member's block */
    size_t units;    /**< how many there are */
    uint32_t blocks; /**< that they are divided into */
    uint32_t first;  /**< slices: the member that has the first one; others have those behind it */
    /** Which member has a block that a member wants?  @return its index, or -1: it does not want
     * it */
    int (*source)(const mca_coll_epcoll_running_t *running, uint32_t block, uint32_t receiver);
    const mca_coll_epcoll_layout_t *layout;
    uint32_t slices;
    uint64_t wants; /**< the member that asks, any block: 0 or 1; of blocks that differ the bytes of
                     * the longest */
    void *from, *into; /**< its buffers, of all blocks */
    size_t from_count, into_count;
    ompi_datatype_t *from_type, *into_type;

    /* of reductions */
    /** What a partition is of the vector.  NULL: its slice */
    mca_coll_epcoll_range_t (*range)(const mca_coll_epcoll_running_t *running, uint32_t partition);
    mca_coll_epcoll_range_t part; /**< of each block that range is about */
    uint32_t process,
        turn; /**< whose blocks, and the position of a block among those that a member combines */
    /** A scan behind others: prefixes of a slice are put together with what its member has at from,
     * as if all of the vector were there. */
    bool is_scan;
} mca_coll_epcoll_plan_t;

/** The first unit of a block. */
static inline size_t mca_coll_epcoll_plan_begin(const mca_coll_epcoll_plan_t *plan, uint32_t block)
{
    return plan->units / plan->blocks * block + plan->units % plan->blocks * block / plan->blocks;
}

/** The slice of a member; plan->blocks or more: it has none. */
static inline uint32_t mca_coll_epcoll_plan_slice(const mca_coll_epcoll_plan_t *plan,
                                                  uint32_t index, uint32_t members)
{
    return index >= plan->first ? index - plan->first : index + members - plan->first;
}

struct mca_coll_epcoll_running_t {
    epcoll_member_t *member;                /**< its number is that of the operation */
    const mca_coll_epcoll_call_t *call;     /**< our own one */
    const mca_coll_epcoll_chunk_ops_t *ops; /**< NULL: none, it is small (coll_epcoll_small.h) */
    int error;                              /**< of a small one that could not publish its part */
    uint64_t signature;                     /**< of the call */
    uint32_t seen; /**< members that have arrived: that many, from the first on that matters */
    uint32_t
        taken;     /**< partitions whose chunks are all claimed: that many, from our first one on */
    uint32_t over; /**< likewise partitions that are over, of those */
    uint32_t chunks;    /**< of each partition; 0: they may differ, ask the operations table */
    uint32_t waits;     /**< steps before all had arrived */
    uint32_t chunk_min; /**< bytes, a parameter's */
};

/** Steps that found nothing, between two checks whether a member has left. */
#define EPCOLL_WAITS 256

/** What a step has brought; errors are MPI error codes, which are greater. */
enum { EPCOLL_NOTHING = -3, EPCOLL_SOME = -2 };

/** Shows our call.  The slot must be ours: after epcoll_begin.  @param call  there until it is
 * over */
void mca_coll_epcoll_chunks_publish(mca_coll_epcoll_running_t *running, epcoll_member_t *member,
                                    const mca_coll_epcoll_call_t *call);

/**
 * Continue.
 *
 * @param most  chunks to do at most
 *
 * @return EPCOLL_NOTHING: others must arrive, or finish; EPCOLL_SOME: call it again; MPI_SUCCESS:
 *          we are done: epcoll_end; an error: mca_coll_epcoll_chunks_close
 */
int mca_coll_epcoll_chunks_step(mca_coll_epcoll_running_t *running, uint32_t most);

/** The operation fails: break the segment, and wait until no member works for us any more. */
void mca_coll_epcoll_chunks_close(mca_coll_epcoll_running_t *running, int why);

/** The call of a member that has arrived. */
static inline const mca_coll_epcoll_call_t *mca_coll_epcoll_call_of(
    const mca_coll_epcoll_running_t *running, uint32_t index)
{
    const mca_coll_epcoll_call_t *call;

    memcpy(&call, epcoll_slot(running->member, index)->data, sizeof(call));
    return call;
}

/** The bytes of the longest block of a member that has arrived; with a plan, whether it gets any
 * data.  Valid also when the member has left, and its call is gone. */
static inline uint64_t mca_coll_epcoll_longest_of(const mca_coll_epcoll_running_t *running,
                                                  uint32_t index)
{
    uint64_t longest;

    memcpy(&longest, epcoll_slot(running->member, index)->data + sizeof(void *), sizeof(longest));
    return longest;
}

/** Where the blocks begin that a member of one length of blocks sends to each: one run of memory,
 * in
 * the order of ranks, or, of an allgather, one block for all.  NULL: they are no run, or differ. */
static inline const char *mca_coll_epcoll_run_in(const epcoll_slot_t *slot)
{
    const char *run;

    memcpy(&run, slot->data + sizeof(void *) + sizeof(uint64_t), sizeof(run));
    return run;
}

/** Families, in coll_epcoll_move.c and coll_epcoll_chunks_reduce.c; by kind.  NULL: none
 * (barrier) */
extern const mca_coll_epcoll_chunk_ops_t mca_coll_epcoll_move_ops, mca_coll_epcoll_move_rooted_ops,
    mca_coll_epcoll_reduce_ops;

/** The longest block of a call, as far as it determines the number of chunks in its partition. */
uint64_t mca_coll_epcoll_move_longest(const mca_coll_epcoll_call_t *call, uint32_t members);

/** What mca_coll_epcoll_run_in returns for a call.  @param index  the member's */
const char *mca_coll_epcoll_move_run(const mca_coll_epcoll_call_t *call, uint32_t index);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_CHUNKS_H */
