/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Rings of slots, for operations in which some members do not wait for others.  Each member has
 * EPCOLL_RING slots, used in turn by sequence number.  So members that wait for no other one can
 * run that many operations ahead.  Threads that share cores take turns once in a ring, not once in
 * EPCOLL_WINDOW operations.
 *
 * The rings accompany a segment without groups (coll_epcoll_segment.h) and use its sequence
 * numbers: all members know whether an operation is in slots of the segment or in rings, and
 * completion is stored in the segment.
 *
 * Reuse: a slot is written for an operation only when all have completed the one EPCOLL_RING before
 * it.  A member that does not know that yet waits until they have completed all but the last few.
 * So a member reads the others' flags once in nearly a ring, and does not wake for a single slot.
 *
 * Memory order: as in coll_epcoll_segment.h and coll_epcoll_reuse.h; the functions that load and
 * store are the same except for epcoll_ring_wait.
 *
 * Standalone:  C11 atomics, no Open MPI.
 *
 * Tests: unit/test_epcoll_ring, coll_late, coll_mismatch
 */

#ifndef COLL_EPCOLL_RING_H
#define COLL_EPCOLL_RING_H

#include "coll_epcoll_tree.h"

/** Operations that a member may run ahead of the others: slots of its ring. */
#define EPCOLL_RING 64

/** A member that had to wait continues when the others have completed all but so many. */
#define EPCOLL_RING_LEFT 8

/** Bytes of the rings of that many members. */
static inline size_t epcoll_ring_size(uint32_t count)
{
    return (size_t) count * EPCOLL_RING * sizeof(epcoll_slot_t);
}

/** A member's slot of the current operation. */
static inline epcoll_slot_t *epcoll_ring_slot(const epcoll_member_t *member, uint32_t index)
{
    return &member->aux->ring[(size_t) index * EPCOLL_RING + member->seq % EPCOLL_RING];
}

/** Our slot may still be read for another operation: wait until most of our ring is free. */
static inline int epcoll_ring_find_safe(epcoll_member_t *member)
{
    uint64_t least = member->seq - 1;
    const int rc = epcoll_read_completed(member, -1, 0, member->count,
                                         member->seq - 1 - EPCOLL_RING_LEFT, &least);

    if (0 == rc) {
        member->safe = least;
    }
    return rc;
}

/** Begin the next operation, in rings: we may write our slot.  @return 0 or an error */
static inline int epcoll_ring_begin(epcoll_member_t *member)
{
    /* Relaxed: as in epcoll_break. */
    const int broken = atomic_load_explicit(member->broken, memory_order_relaxed);

    ++member->seq;
    if (__builtin_expect(0 != broken, 0)) {
        return broken;
    }
    return __builtin_expect(member->seq <= member->safe + EPCOLL_RING, 1)
               ? 0
               : epcoll_ring_find_safe(member);
}

/** Publish our signature in our slot, if we have not yet: for members that have called something
 * else. */
static inline void epcoll_ring_publish_signature(epcoll_member_t *member, uint64_t signature)
{
    epcoll_slot_t *own = epcoll_ring_slot(member, member->index);

    /* Relaxed: no other member writes it. */
    if (atomic_load_explicit(&own->seq, memory_order_relaxed) < member->seq) {
        epcoll_publish(own, member->seq, signature, "", 0);
    }
}

/** Has a member completed our operation without publishing its slot, or begun another one, in slots
 * of the segment? */
static inline bool epcoll_ring_has_left(const epcoll_member_t *member, uint32_t index)
{
    /* Acquire pairs with the release in epcoll_end_at: what the member has published before is
     * seen, so the slot's number may be read relaxed.  So may that of the segment's slot: nothing
     * else of it is read here. */
    return (member->seq <= atomic_load_explicit(&epcoll_ctrl(member, index)->completed,
                                                memory_order_acquire)
            && atomic_load_explicit(&epcoll_ring_slot(member, index)->seq, memory_order_relaxed)
                   < member->seq)
           || member->seq
                  == atomic_load_explicit(&epcoll_slot(member, index)->seq, memory_order_relaxed);
}

/** Wait until a member has published its part of this operation.  @return 0 or an error */
static inline int epcoll_ring_wait(epcoll_member_t *member, uint32_t index, uint64_t signature)
{
    epcoll_slot_t *line = epcoll_ring_slot(member, index);
    uint32_t polls = 0;

    /* Acquire pairs with the release in epcoll_publish. */
    while (atomic_load_explicit(&line->seq, memory_order_acquire) < member->seq) {
        const int rc = epcoll_backoff(member, &polls);

        if (0 != rc) {
            return rc;
        }
        if (epcoll_polls_long(member, polls)) {
            epcoll_ring_publish_signature(member, signature);
            if (epcoll_ring_has_left(member, index)) {
                return EPCOLL_MISMATCH;
            }
        }
    }
    return signature == line->signature ? 0 : EPCOLL_MISMATCH;
}

/** What a member has published in the current operation: in its slot, or in its ring.
 * @return NULL: nothing yet */
static inline const epcoll_slot_t *epcoll_published(const epcoll_member_t *member, uint32_t index)
{
    const epcoll_slot_t *slot = epcoll_slot(member, index);

    /* Acquire, both times, pairs with the release in epcoll_publish. */
    if (member->seq == atomic_load_explicit(&slot->seq, memory_order_acquire)) {
        return slot;
    }
    slot = NULL == member->aux || NULL == member->aux->ring ? NULL
                                                            : epcoll_ring_slot(member, index);
    return NULL != slot && member->seq == atomic_load_explicit(&slot->seq, memory_order_acquire)
               ? slot
               : NULL;
}

#endif /* COLL_EPCOLL_RING_H */
