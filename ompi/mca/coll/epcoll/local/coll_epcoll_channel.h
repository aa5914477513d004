/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Numbers of operations that are under way beside each other in a block.  They are given out in the
 * order in which operations begin, the same at all members; operations may be over in any order,
 * and a member is through with a number when all up to it are over.
 *
 * One thread at a time has a channel: that of the member, or the holder of pending's gate.
 *
 * Tests: coll_pending
 */

#ifndef MCA_COLL_EPCOLL_CHANNEL_H
#define MCA_COLL_EPCOLL_CHANNEL_H

#include "ompi_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

typedef struct mca_coll_epcoll_channel_t {
    epcoll_member_t member; /**< number: the last one that has been given out */
    uint64_t completed;     /**< all up to this one are over */
    uint32_t over;          /**< bit i: so is through + 1 + i */
    bool in_turn; /**< none begins before the one before is over: of a persistent operation */
} mca_coll_epcoll_channel_t;

/** Numbers for what begins now.  @return the first one */
static inline uint64_t mca_coll_epcoll_channel_enter(mca_coll_epcoll_channel_t *channel,
                                                     uint64_t count)
{
    channel->member.seq += count;
    return channel->member.seq - count + 1;
}

/** May the slot of a number be written?  Then it is EPCOLL_WINDOW behind through at most. */
static inline bool mca_coll_epcoll_channel_may_begin(mca_coll_epcoll_channel_t *channel,
                                                     uint64_t seq)
{
    return epcoll_may_begin(&channel->member, seq);
}

/** It is over, without error.  @param all_came  all members have come to it */
static inline void mca_coll_epcoll_channel_over(mca_coll_epcoll_channel_t *channel, uint64_t seq,
                                                bool all_arrived)
{
    const uint64_t before = channel->completed;

    channel->over |= UINT32_C(1) << (seq - before - 1);
    for (; 0 != channel->over % 2; channel->over /= 2) {
        ++channel->completed;
    }
    if (before != channel->completed) {
        epcoll_end_at(&channel->member, channel->completed);
    }
    /* In turn: then all are through with those before. */
    if (channel->in_turn && all_arrived && channel->member.safe < seq - 1) {
        channel->member.safe = seq - 1;
    }
}

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_CHANNEL_H */
