/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A small operation on a block (coll_epcoll_block.h): one says something to all, along the tree of
 * coll_epcoll_tree.h.
 *
 * Who hears waits for the line of the nearest leader on its way, and after a while for the root's
 * own as well: a leader without a core holds up nobody for long.
 *
 * Tests: unit/test_epcoll_block, coll_late
 */

#ifndef COLL_EPCOLL_TELL_H
#define COLL_EPCOLL_TELL_H

#include "coll_epcoll_tree.h"

/** Publish what we have called, if we have not: for members that have called something else, and
 * may wait for a word of ours. */
static inline void epcoll_say_call(epcoll_member_t *member, uint64_t call)
{
    epcoll_slot_t *slot = epcoll_slot(member, member->index);

    /* Relaxed: only this member writes it.  Of many members, one that only receives has not asked
     * yet whether all are through with what it has held. */
    if (atomic_load_explicit(&slot->number, memory_order_relaxed) < member->number
        && epcoll_may_begin(member, member->number)) {
        epcoll_say(slot, member->number, call, "", 0);
    }
}

/** Wait for what the root says; of many, by way of their leaders, or after a while by the
 * root's. */
static inline int epcoll_hear(epcoll_member_t *member, uint32_t root, uint64_t call,
                              epcoll_slot_t **heard)
{
    const uint32_t turn = (uint32_t) (member->number % EPCOLL_WINDOW);
    epcoll_slot_t *const source = epcoll_slot(member, root);
    epcoll_slot_t *nearer = source;
    uint32_t level = 0, index = member->index, looks = 0;

    while (level < member->levels && 0 == index % member->fan) {
        index /= member->fan;
        ++level;
    }
    if (level < member->levels) {
        nearer = &epcoll_node(member, level, index / member->fan)->down[turn];
    }
    *heard = nearer;
    while (atomic_load_explicit(&nearer->number, memory_order_acquire) < member->number) {
        const int rc = epcoll_look(member, &looks);

        if (0 != rc) {
            return rc;
        }
        if (looks < epcoll_patience(member)) {
            continue;
        }
        if (member->number <= atomic_load_explicit(&source->number, memory_order_acquire)) {
            *heard = source;
            return 0;
        }
        if (epcoll_looks_long(member, looks)) {
            epcoll_say_call(member, call);
            if (epcoll_is_gone(member, root)) {
                return EPCOLL_DIFFERENT;
            }
        }
    }
    return 0;
}

/** Likewise, and the root is to have called what we have; not within each place that waits. */
static __attribute__((noinline, unused)) int epcoll_hear_longer(epcoll_member_t *member,
                                                                uint32_t root, uint64_t call,
                                                                epcoll_slot_t **heard)
{
    const int rc = epcoll_hear(member, root, call, heard);

    if (0 == rc && call == (*heard)->call) {
        return 0;
    }
    epcoll_say_call(member, call);
    return 0 != rc ? rc : EPCOLL_DIFFERENT;
}

/** Up to EPCOLL_FAN members: all read the root's line. */
static inline int epcoll_tell_few(epcoll_member_t *member, uint32_t root, uint64_t call, void *data,
                                  size_t size)
{
    epcoll_slot_t *slot;
    /* Few look at each other's words at the same time, and not before each is root. */
    int rc = epcoll_begin(member);

    if (0 != rc) {
        return rc;
    }
    slot = epcoll_slot(member, root);
    if (root == member->index) {
        epcoll_say(slot, member->number, call, data, size);
    } else {
        const bool is_ahead = epcoll_is_ahead(member, root);

        /* Acquire pairs with the release in epcoll_say. */
        if (atomic_load_explicit(&slot->number, memory_order_acquire) < member->number
            || call != slot->call) {
            rc = epcoll_hear_longer(member, root, call, &slot);
            if (0 != rc) {
                return rc;
            }
        }
        epcoll_copy(data, slot->data, size);
        if (is_ahead) {
            epcoll_ask_ahead(member, root, root + 1);
        }
        if (2 == member->count) {
            epcoll_all_came(member);
        }
    }
    epcoll_end(member);
    return 0;
}

/** More than EPCOLL_FAN members. */
static __attribute__((noinline, unused)) int epcoll_tell_tree(epcoll_member_t *member,
                                                              uint32_t root, uint64_t call,
                                                              void *data, size_t size)
{
    const uint32_t turn = (uint32_t) ((member->number + 1) % EPCOLL_WINDOW);
    int rc = root == member->index ? epcoll_begin(member) : epcoll_begin_leader(member);

    if (0 != rc) {
        return rc;
    }
    if (root == member->index) {
        epcoll_say(epcoll_slot(member, root), member->number, call, data, size);
    } else {
        epcoll_slot_t *heard;

        rc = epcoll_hear_longer(member, root, call, &heard);
        if (0 != rc) {
            return rc;
        }
        epcoll_copy(data, heard->data, size);
    }
    for (uint32_t level = 0, index = member->index;
         level < member->levels && 0 == index % member->fan; ++level) {
        index /= member->fan;
        epcoll_say(&epcoll_node(member, level, index)->down[turn], member->number, call, data,
                   size);
    }
    epcoll_end(member);
    return epcoll_end_leader(member);
}

/**
 * One says something to all.  Its own call returns at once, unless it is EPCOLL_WINDOW ahead.
 *
 * @param data  what it says, or room for it
 * @param size  at most EPCOLL_INLINE, the same at all
 *
 * @return 0 or an error; the block is to be broken then
 */
static inline int epcoll_tell(epcoll_member_t *member, uint32_t root, uint64_t call, void *data,
                              size_t size)
{
    return 0 == member->levels ? epcoll_tell_few(member, root, call, data, size)
                               : epcoll_tell_tree(member, root, call, data, size);
}

#endif /* COLL_EPCOLL_TELL_H */
