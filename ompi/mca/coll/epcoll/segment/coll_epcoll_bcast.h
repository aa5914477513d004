/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Broadcast of up to EPCOLL_INLINE bytes in a segment (coll_epcoll_segment.h), along the tree of
 * coll_epcoll_tree.h.
 *
 * A receiver waits for the slot of the nearest leader on its way, and after a while also for the
 * root's own slot.  So a descheduled leader delays the others only briefly.
 *
 * Tests: unit/test_epcoll_segment, coll_late
 */

#ifndef COLL_EPCOLL_BCAST_H
#define COLL_EPCOLL_BCAST_H

#include "coll_epcoll_tree.h"

/** Publish our signature, if we have not yet: members that have called something else may wait for
 * our slot. */
static inline void epcoll_publish_signature(epcoll_member_t *member, uint64_t signature)
{
    epcoll_slot_t *slot = epcoll_slot(member, member->index);

    /* Relaxed: only this member writes it.  Of many members, one that only receives has not asked
     * yet whether all are through with what it has held. */
    if (atomic_load_explicit(&slot->seq, memory_order_relaxed) < member->seq
        && epcoll_may_begin(member, member->seq)) {
        epcoll_publish(slot, member->seq, signature, "", 0);
    }
}

/** Wait for the root's data: of many members, in the slot of a leader, or after a while in the
 * root's. */
static inline int epcoll_bcast_wait(epcoll_member_t *member, uint32_t root, uint64_t signature,
                                    epcoll_slot_t **heard)
{
    const uint32_t turn = (uint32_t) (member->seq % EPCOLL_WINDOW);
    epcoll_slot_t *const source = epcoll_slot(member, root);
    epcoll_slot_t *nearer = source;
    uint32_t level = 0, index = member->index, polls = 0;

    while (level < member->levels && 0 == index % member->fanout) {
        index /= member->fanout;
        ++level;
    }
    if (level < member->levels) {
        nearer = &epcoll_group(member, level, index / member->fanout)->down[turn];
    }
    *heard = nearer;
    while (atomic_load_explicit(&nearer->seq, memory_order_acquire) < member->seq) {
        const int rc = epcoll_backoff(member, &polls);

        if (0 != rc) {
            return rc;
        }
        if (polls < epcoll_polls_first(member)) {
            continue;
        }
        if (member->seq <= atomic_load_explicit(&source->seq, memory_order_acquire)) {
            *heard = source;
            return 0;
        }
        if (epcoll_polls_long(member, polls)) {
            epcoll_publish_signature(member, signature);
            if (epcoll_has_left(member, root)) {
                return EPCOLL_MISMATCH;
            }
        }
    }
    return 0;
}

/** Likewise, and compare the root's signature with ours.  Out of line: it is called only after a
 * wait, or to report a mismatch. */
static __attribute__((noinline, unused)) int epcoll_bcast_wait_slow(epcoll_member_t *member,
                                                                    uint32_t root,
                                                                    uint64_t signature,
                                                                    epcoll_slot_t **heard)
{
    const int rc = epcoll_bcast_wait(member, root, signature, heard);

    if (0 == rc && signature == (*heard)->signature) {
        return 0;
    }
    epcoll_publish_signature(member, signature);
    return 0 != rc ? rc : EPCOLL_MISMATCH;
}

/** Up to EPCOLL_FANOUT members: all read the root's slot. */
static inline int epcoll_bcast_flat(epcoll_member_t *member, uint32_t root, uint64_t signature,
                                    void *data, size_t size)
{
    epcoll_slot_t *slot;
    /* Each member checks the flags of the others here, also those that are never root. */
    int rc = epcoll_begin(member);

    if (0 != rc) {
        return rc;
    }
    slot = epcoll_slot(member, root);
    if (root == member->index) {
        epcoll_publish(slot, member->seq, signature, data, size);
    } else {
        const bool is_ahead = epcoll_is_ahead(member, root);

        /* Acquire pairs with the release in epcoll_publish. */
        if (atomic_load_explicit(&slot->seq, memory_order_acquire) < member->seq
            || signature != slot->signature) {
            rc = epcoll_bcast_wait_slow(member, root, signature, &slot);
            if (0 != rc) {
                return rc;
            }
        }
        epcoll_copy(data, slot->data, size);
        if (is_ahead) {
            epcoll_prefetch_next(member, root, root + 1);
        }
        if (2 == member->count) {
            epcoll_all_arrived(member);
        }
    }
    epcoll_end(member);
    return 0;
}

/** More than EPCOLL_FANOUT members. */
static __attribute__((noinline, unused)) int epcoll_bcast_tree(epcoll_member_t *member,
                                                               uint32_t root, uint64_t signature,
                                                               void *data, size_t size)
{
    const uint32_t turn = (uint32_t) ((member->seq + 1) % EPCOLL_WINDOW);
    int rc = root == member->index ? epcoll_begin(member) : epcoll_begin_leader(member);

    if (0 != rc) {
        return rc;
    }
    if (root == member->index) {
        epcoll_publish(epcoll_slot(member, root), member->seq, signature, data, size);
    } else {
        epcoll_slot_t *heard;

        rc = epcoll_bcast_wait_slow(member, root, signature, &heard);
        if (0 != rc) {
            return rc;
        }
        epcoll_copy(data, heard->data, size);
    }
    for (uint32_t level = 0, index = member->index;
         level < member->levels && 0 == index % member->fanout; ++level) {
        index /= member->fanout;
        epcoll_publish(&epcoll_group(member, level, index)->down[turn], member->seq, signature,
                       data, size);
    }
    epcoll_end(member);
    return epcoll_end_leader(member);
}

/**
 * Broadcast data of one member.  The root's call returns at once, unless it is EPCOLL_WINDOW
 * operations ahead.
 *
 * @param data  the root's data, or where they go
 * @param size  at most EPCOLL_INLINE, the same at all members
 *
 * @return 0 or an error; the caller then breaks the segment
 */
static inline int epcoll_bcast(epcoll_member_t *member, uint32_t root, uint64_t signature,
                               void *data, size_t size)
{
    return 0 == member->levels ? epcoll_bcast_flat(member, root, signature, data, size)
                               : epcoll_bcast_tree(member, root, signature, data, size);
}

#endif /* COLL_EPCOLL_BCAST_H */
