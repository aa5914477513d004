/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Sequence numbers of concurrent operations in a segment.  They are reserved in the order in which
 * operations begin, the same at all members.  Operations may complete in any order; a member has
 * completed a number when all up to it are complete.
 *
 * One thread at a time uses a sequence: that of the member, or the holder of pending's lock.
 *
 * Tests: coll_pending
 */

#ifndef MCA_COLL_EPCOLL_SEQUENCE_H
#define MCA_COLL_EPCOLL_SEQUENCE_H

#include "ompi_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

typedef struct mca_coll_epcoll_sequence_t {
    epcoll_member_t member; /**< number: the last one that has been given out */
    uint64_t completed;     /**< all up to this one are over */
    uint32_t over;          /**< bit i: so is through + 1 + i */
    bool is_serial; /**< none begins before the one before is over: of a persistent operation */
} mca_coll_epcoll_sequence_t;

/** Numbers for what begins now.  @return the first one */
static inline uint64_t mca_coll_epcoll_sequence_reserve(mca_coll_epcoll_sequence_t *sequence,
                                                        uint64_t count)
{
    sequence->member.seq += count;
    return sequence->member.seq - count + 1;
}

/** May the slot of a number be written?  Then it is EPCOLL_WINDOW behind through at most. */
static inline bool mca_coll_epcoll_sequence_may_begin(mca_coll_epcoll_sequence_t *sequence,
                                                      uint64_t seq)
{
    return epcoll_may_begin(&sequence->member, seq);
}

/** It is complete, without error.  @param all_arrived  all members have arrived at it */
static inline void mca_coll_epcoll_sequence_complete(mca_coll_epcoll_sequence_t *sequence,
                                                     uint64_t seq, bool all_arrived)
{
    const uint64_t before = sequence->completed;

    sequence->over |= UINT32_C(1) << (seq - before - 1);
    for (; 0 != sequence->over % 2; sequence->over /= 2) {
        ++sequence->completed;
    }
    if (before != sequence->completed) {
        epcoll_end_at(&sequence->member, sequence->completed);
    }
    /* In turn: then all are through with those before. */
    if (sequence->is_serial && all_arrived && sequence->member.safe < seq - 1) {
        sequence->member.safe = seq - 1;
    }
}

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_SEQUENCE_H */
