/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A small operation on a block (coll_epcoll_segment.h) whose members are processes: what they say
 * goes up to one of them, and what that one makes of it comes down to all.
 *
 * A process has several threads, of which one leads it in an operation, another one perhaps in the
 * next.  Each has a view of the process's place, and counts all operations: epcoll_leaders_reduce
 * and epcoll_leaders_bcast if it leads, epcoll_leaders_skip if not.  The thread that leads comes to
 * epcoll_leaders_reduce only when it has seen, within its process, that all its threads have come
 * to the call.  So the leader of the operation before is through with it, and what that one has
 * written of the place, and has read of others, comes before whatever is done here: a place is
 * written as if by one thread.
 *
 * Standalone: C11 atomics, no Open MPI.
 *
 * Tests: unit/test_epcoll_leaders
 */

#ifndef COLL_EPCOLL_LEADERS_REDUCE_H
#define COLL_EPCOLL_LEADERS_REDUCE_H

#include "coll_epcoll_bcast.h"

/** All have come, up to EPCOLL_FANOUT: what they say, from `top` on round; neighbours, then
 * neighbours of these, and so on: as messages in a binomial tree to it put them together. */
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

/** What all say, at the top. */
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
 * Say our part; nobody but the top waits for the others.  Of more than EPCOLL_FANOUT, all do.
 *
 * @param top   the member that gets the data of all
 * @param data  all->size bytes of room, at least one; may be all->data.  At the top it becomes what
 *              all say together, elsewhere nobody knows what
 *
 * @return 0 or an error; the block is to be broken then
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

/** Behind an epcoll_leaders_reduce to the same top: it says something to all. */
static inline int epcoll_leaders_bcast(epcoll_member_t *member, uint32_t top, uint64_t signature,
                                       void *data, size_t size)
{
    const int rc = epcoll_bcast(member, top, signature, data, size);

    if (0 == rc) {
        epcoll_all_arrived_before(member);
    }
    return rc;
}

/** Of a thread that has not led: its process has gone up, and down.
 * @param down  it has, and the thread has heard of it */
static inline void epcoll_leaders_skip(epcoll_member_t *member, bool down)
{
    ++member->seq;
    if (0 < member->levels) {
        epcoll_next_up(member);
    }
    if (down) { /* all had come to the one before */
        ++member->seq;
        member->safe = member->seq - 2;
    }
}

#endif /* COLL_EPCOLL_LEADERS_REDUCE_H */
