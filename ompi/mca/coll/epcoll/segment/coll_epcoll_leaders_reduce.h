/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Reduction and broadcast in a segment (coll_epcoll_segment.h) whose members are processes, each
 * represented by one of its threads.
 *
 * Another thread may lead its process in the next operation.  Each thread has a view of the
 * process's control lines, and counts all operations: by epcoll_leaders_reduce and
 * epcoll_leaders_bcast if it leads, by epcoll_leaders_skip if not.  A leader calls
 * epcoll_leaders_reduce only after all threads of its process have arrived at the call.  So the
 * leader of the preceding operation has completed it, and its accesses to the control lines happen
 * before those of this one: the lines are written as if by one thread.
 *
 * Standalone:  C11 atomics, no Open MPI.
 *
 * Tests: unit/test_epcoll_leaders
 */

#ifndef COLL_EPCOLL_LEADERS_REDUCE_H
#define COLL_EPCOLL_LEADERS_REDUCE_H

#include "coll_epcoll_bcast.h"

/** All have arrived, up to EPCOLL_FANOUT processes: combine their data from `top` on, in the order
 * of messages in a binomial tree to it. */
static inline void epcoll_leaders_combine(const epcoll_member_t *member,
                                          const epcoll_contribution_t *contrib, uint32_t top,
                                          void *data)
{
    alignas(16) unsigned char value[EPCOLL_FANOUT][EPCOLL_INLINE];

    for (uint32_t i = 0; i < member->count; ++i) {
        epcoll_copy(value[i], epcoll_slot(member, (top + i) % member->count)->data, contrib->size);
    }
    for (uint32_t step = 1; step < member->count; step *= 2) {
        for (uint32_t i = 0; i + step < member->count; i += 2 * step) {
            contrib->combine(value[i + step], value[i], contrib->context);
            epcoll_copy(value[i], value[i + step], contrib->size);
        }
    }
    epcoll_copy(data, value[0], contrib->size);
}

/** The data of all, at the top. */
static inline int epcoll_leaders_gather(epcoll_member_t *member,
                                        const epcoll_contribution_t *contrib, void *data)
{
    int rc = 0;

    epcoll_prefetch_slots(member, 0, member->count);
    for (uint32_t i = member->count; i-- > 0 && 0 == rc;) {
        rc = i == member->index ? 0 : epcoll_wait_member(member, 0, i, contrib->signature);
    }
    if (0 == rc) {
        if (NULL != contrib->combine) {
            epcoll_leaders_combine(member, contrib, member->index, data);
        }
        epcoll_all_arrived(member);
    }
    return rc;
}

/**
 * Publish our part.  Only the top waits for the others; of more than EPCOLL_FANOUT processes, all
 * do.
 *
 * @param top   the member that gets the data of all
 * @param data  contrib->size bytes, at least one; may be contrib->data.  At the top it becomes the
 *              result, elsewhere its contents are undefined
 *
 * @return 0 or an error; the caller then breaks the segment
 */
static inline int epcoll_leaders_reduce(epcoll_member_t *member,
                                        const epcoll_contribution_t *contrib, uint32_t top,
                                        void *data)
{
    int rc;

    if (0 < member->levels) {
        return epcoll_allreduce(member, contrib, data);
    }
    rc = epcoll_begin(member);
    if (0 != rc) {
        return rc;
    }
    epcoll_publish(epcoll_slot(member, member->index), member->seq, contrib->signature,
                   contrib->data, contrib->size);
    if (top == member->index) {
        rc = epcoll_leaders_gather(member, contrib, data);
    }
    if (0 == rc) {
        epcoll_end(member);
    }
    return rc;
}

/** After an epcoll_leaders_reduce to the same top: broadcast its data. */
static inline int epcoll_leaders_bcast(epcoll_member_t *member, uint32_t top, uint64_t signature,
                                       void *data, size_t size)
{
    const int rc = epcoll_bcast(member, top, signature, data, size);

    if (0 == rc) {
        epcoll_all_arrived_before(member);
    }
    return rc;
}

/** Of a thread that does not lead: count what its leader has done.
 * @param down  epcoll_leaders_bcast is included, and the thread has seen its result */
static inline void epcoll_leaders_skip(epcoll_member_t *member, bool down)
{
    ++member->seq;
    if (0 < member->levels) {
        epcoll_next_up(member);
    }
    if (down) { /* all had arrived at the one before */
        ++member->seq;
        member->safe = member->seq - 2;
    }
}

#endif /* COLL_EPCOLL_LEADERS_REDUCE_H */
