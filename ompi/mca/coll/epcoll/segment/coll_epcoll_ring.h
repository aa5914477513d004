/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Lines for operations in which some members do not wait for others: rings.  Each member has
 * EPCOLL_RING lines, taken in turns by number, as slots of a place are; so members that wait for
 * none may be that many operations ahead of the others before they have to.  Where threads share
 * cores they take turns once in a ring, and not once in EPCOLL_WINDOW operations.
 *
 * It stands beside a block (coll_epcoll_segment.h) without nodes, and has its numbers: an operation
 * is in slots or in rings, as all members know, and a member that is through with it says so in the
 * block.
 *
 * Reuse: a line is written for an operation only when all are through with the one that is
 * EPCOLL_RING before it.  Who does not know that yet waits until they are through with all but the
 * last few: so nobody looks at the others' words more often than once in nearly a ring, nor wakes
 * for a single line.
 *
 * Memory order: as in coll_epcoll_segment.h and coll_epcoll_reuse.h; the functions that load and
 * store are the same but for epcoll_ring_wait.
 *
 * Standalone: C11 atomics, no Open MPI.
 *
 * Tests: unit/test_epcoll_ring, coll_late, coll_mismatch
 */

#ifndef COLL_EPCOLL_RING_H
#define COLL_EPCOLL_RING_H

#include "coll_epcoll_tree.h"

/** Operations that a member may be ahead of the others: lines of its ring. */
#define EPCOLL_RING 64

/** Who has had to wait goes on when the others are through with all but so many. */
#define EPCOLL_RING_LEFT 8

/** Bytes of the rings of that many members. */
static inline size_t epcoll_ring_size(uint32_t count)
{
    return (size_t) count * EPCOLL_RING * sizeof(epcoll_slot_t);
}

/** The line of a member in the operation that we are in. */
static inline epcoll_slot_t *epcoll_ring_slot(const epcoll_member_t *member, uint32_t index)
{
    return &member->aux->ring[(size_t) index * EPCOLL_RING + member->seq % EPCOLL_RING];
}

/** Our line is another operation's, as far as we know: waits until most of our ring is free. */
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

/** The next operation, in rings: we may write our line.  @return 0 or an error */
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

/** Say in our line what we have called, if we have not: for members that have called something
 * else. */
static inline void epcoll_ring_publish_signature(epcoll_member_t *member, uint64_t signature)
{
    epcoll_slot_t *own = epcoll_ring_slot(member, member->index);

    /* Relaxed: nobody else writes it. */
    if (atomic_load_explicit(&own->seq, memory_order_relaxed) < member->seq) {
        epcoll_publish(own, member->seq, signature, "", 0);
    }
}

/** Has a member left our operation without a word in its line, or come to another one, in slots? */
static inline bool epcoll_ring_has_left(const epcoll_member_t *member, uint32_t index)
{
    /* Acquire pairs with the release in epcoll_end_at: what the member has said before is seen, so
     * the line's number may be read relaxed.  So may the slot's: nothing else is read of it
     * here. */
    return (member->seq <= atomic_load_explicit(&epcoll_ctrl(member, index)->completed,
                                                memory_order_acquire)
            && atomic_load_explicit(&epcoll_ring_slot(member, index)->seq, memory_order_relaxed)
                   < member->seq)
           || member->seq
                  == atomic_load_explicit(&epcoll_slot(member, index)->seq, memory_order_relaxed);
}

/** Wait until a member has said its part of this operation.  @return 0 or an error */
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

/** What a member says in the operation that we are in: in its slot, or in its line.
 * @return NULL: nothing, as yet */
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
