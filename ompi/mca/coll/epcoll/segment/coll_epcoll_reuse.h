/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * When a slot of a block (coll_epcoll_segment.h) may be written again: which members are through
 * with which operation, and how an operation begins and ends.
 *
 * One rule of reuse: a slot is written for an operation only when all its readers are through with
 * the one that is EPCOLL_WINDOW before it.  Of a member's own slot these are all (epcoll_begin), of
 * a node's the node's members (epcoll_begin_leader); a member that writes nothing asks none.  Where
 * all wait for all a member knows this at no cost (epcoll_all_arrived).  Elsewhere leaders collect
 * it for their nodes, once in a window or less, and write in a word of the node how far all of it
 * are.
 *  A member that has to know it of all reads the topmost nodes' words, and goes down to the
 * members' own, and waits there, only where a node's is not new enough.  So a member reads only a
 * few lines for it, and none waits for a leader.
 *
 * Memory order.  Reads of a slot come before their reader's store to through (release), which the
 * writer loads (acquire) before it writes the slot again, itself or by way of leaders, which load
 * it and store the node's word behind it; or before the reader's next slot or word, which the
 * writer has seen in an operation of all.
 *
 * Tests: unit/test_epcoll_segment, coll_late
 */

#ifndef COLL_EPCOLL_REUSE_H
#define COLL_EPCOLL_REUSE_H

#include "coll_epcoll_segment.h"

/** Where a node of a level is among all. */
static inline uint32_t epcoll_group_index(const epcoll_member_t *member, uint32_t level,
                                          uint32_t index)
{
    return epcoll_groups_below(member->count, member->fanout, level) + index;
}

static inline epcoll_group_t *epcoll_group(const epcoll_member_t *member, uint32_t level,
                                           uint32_t index)
{
    return (epcoll_group_t *) epcoll_ctrl(member, member->count)
           + epcoll_group_index(member, level, index);
}

/** How many there are on a level; those of level -1 are the members. */
static inline uint32_t epcoll_level_width(const epcoll_member_t *member, int level)
{
    return level < 0 ? member->count
           : level + 1 == member->levels
               ? member->top
               : epcoll_groups(member->count, member->fanout, (uint32_t) level);
}

/** What the leader of a node says of how far the node's members are.  Neighbours are in one line:
 * each is written once in a window, and all are read at a time. */
static inline _Atomic uint64_t *epcoll_group_completed(const epcoll_member_t *member,
                                                       uint32_t level, uint32_t index)
{
    return (_Atomic uint64_t *) epcoll_group(member, member->levels, 0)
           + epcoll_group_index(member, level, index);
}

/** Nobody of the nodes that we lead is in an operation up to this one. */
static inline uint64_t *epcoll_group_safe(const epcoll_member_t *member)
{
    return &epcoll_ctrl(member, member->index)->group_safe;
}

/** Nobody at all is. */
static inline void epcoll_group_raise_safe(const epcoll_member_t *member, uint64_t seq)
{
    if (seq > *epcoll_group_safe(member)) {
        *epcoll_group_safe(member) = seq;
    }
}

/** Does it lead nodes? */
static inline bool epcoll_leads(const epcoll_member_t *member)
{
    return 0 < member->levels && 0 == member->index % member->fanout;
}

/**
 * Reads which operations members are through with: those of some nodes of a level, or, at level -1,
 * some members.
 *
 * @param wanted  waits until all are through with this one
 * @param least   becomes the last one that all are through with, if that is less than it was
 *
 * @return 0 or an error
 */
static inline int epcoll_read_completed(epcoll_member_t *member, int level, uint32_t from,
                                        uint32_t to, uint64_t wanted, uint64_t *least)
{
    const int why = atomic_load_explicit(member->broken, memory_order_relaxed);

    if (0 != why) {
        return why;
    }
    if (level < 0) {
        epcoll_prefetch(&epcoll_ctrl(member, from)->completed, sizeof(epcoll_ctrl_t), to - from);
    } else {
        epcoll_prefetch(epcoll_group_completed(member, (uint32_t) level, from), 64,
                        1 + (to - 1 - from) / 8);
    }
    for (uint32_t i = from; i < to; ++i) {
        uint64_t completed;
        uint32_t polls = 0;
        int rc = 0;

        if (0 <= level) {
            const uint32_t first = i * member->fanout,
                           below = epcoll_level_width(member, level - 1);

            /* Acquire pairs with the release in epcoll_collect_completed. */
            completed = atomic_load_explicit(epcoll_group_completed(member, (uint32_t) level, i),
                                             memory_order_acquire);
            if (completed < wanted) {
                completed = UINT64_MAX;
                rc = epcoll_read_completed(member, level - 1, first,
                                           first + member->fanout < below ? first + member->fanout
                                                                          : below,
                                           wanted, &completed);
            }
        } else if (i == member->index) {
            completed = member->seq - 1;
        } else {
            /* Acquire pairs with the release in epcoll_end_at: what it has read of our slots is
             * read. */
            while ((completed = atomic_load_explicit(&epcoll_ctrl(member, i)->completed,
                                                     memory_order_acquire))
                       < wanted
                   && 0 == rc) {
                rc = epcoll_backoff(member, &polls);
            }
        }
        if (0 != rc) {
            return rc;
        }
        *least = completed < *least ? completed : *least;
    }
    return 0;
}

/** The last operation that all members are through with. */
static inline uint64_t epcoll_find_completed(const epcoll_member_t *member)
{
    uint64_t least = UINT64_MAX;

#pragma GCC unroll 4
    for (uint32_t i = 0; i < member->count; ++i) {
        /* Acquire pairs with the release in epcoll_end_at. */
        const uint64_t completed = atomic_load_explicit(&epcoll_ctrl(member, i)->completed,
                                                        memory_order_acquire);

        least = completed < least ? completed : least;
    }
    return least;
}

/** Of operations that are under way beside each other, which read no line of a node: may the slot
 * of
 * that one be written?  Waits for nobody.  Of all members mostly one looks at all others, once in a
 * window. */
static inline bool epcoll_may_begin(epcoll_member_t *member, uint64_t seq)
{
    uint64_t safe;

    if (seq <= member->safe + EPCOLL_WINDOW) {
        return true;
    }
    /* Acquire pairs with the release below, of another member: what it has acquired of all. */
    safe = atomic_load_explicit(&member->segment->safe, memory_order_acquire);
    if (seq > safe + EPCOLL_WINDOW) {
        safe = epcoll_find_completed(member);
        /* Release pairs with the acquire above.  It may become less than another member has just
         * stored: that is true as well. */
        atomic_store_explicit(&member->segment->safe, safe, memory_order_release);
    }
    if (safe > member->safe) {
        member->safe = safe;
    }
    return seq <= safe + EPCOLL_WINDOW;
}

/** Waits until nobody is in the operation that had our slot before. */
static inline int epcoll_find_safe(epcoll_member_t *member)
{
    const int top = (int) member->levels - 1;
    uint64_t least = member->seq - 1;
    const int rc = epcoll_read_completed(member, top, 0, epcoll_level_width(member, top),
                                         member->seq - EPCOLL_WINDOW, &least);

    if (0 == rc) {
        member->safe = least;
        epcoll_group_raise_safe(member, least);
    }
    return rc;
}

/** How far are the members of the nodes that we lead?  Says so in the nodes' words.
 * @param wanted  waits until all are through with this one */
static inline int epcoll_collect_completed(epcoll_member_t *member, uint64_t wanted)
{
    uint64_t least = member->seq - 1;
    uint32_t index = member->index;

    for (uint32_t level = 0; level < member->levels && 0 == index % member->fanout; ++level) {
        const uint32_t below = epcoll_level_width(member, (int) level - 1);
        const int rc = epcoll_read_completed(member, (int) level - 1, index,
                                             index + member->fanout < below ? index + member->fanout
                                                                            : below,
                                             wanted, &least);

        if (0 != rc) {
            return rc;
        }
        index /= member->fanout;
        /* Release pairs with the acquire in epcoll_read_completed: what they have read is read. */
        atomic_store_explicit(epcoll_group_completed(member, level, index), least,
                              memory_order_release);
    }
    *epcoll_group_safe(member) = least;
    return 0;
}

/** The next operation, in which we write our slot, and our nodes'.  @return 0 or an error */
static inline int epcoll_begin(epcoll_member_t *member)
{
    /* Relaxed: as in epcoll_break. */
    const int broken = atomic_load_explicit(member->broken, memory_order_relaxed);

    ++member->seq;
    if (__builtin_expect(0 != broken, 0)) {
        return broken;
    }
    if (__builtin_expect(member->seq <= member->safe + EPCOLL_WINDOW, 1)) {
        return 0;
    }
    return epcoll_find_safe(member);
}

/** The next operation, in which we write nothing but the down slots of the nodes that we lead. */
static inline int epcoll_begin_leader(epcoll_member_t *member)
{
    ++member->seq;
    if (!epcoll_leads(member) || member->seq <= *epcoll_group_safe(member) + EPCOLL_WINDOW) {
        return 0;
    }
    return epcoll_collect_completed(member, member->seq - EPCOLL_WINDOW);
}

/** Behind an operation that not all have come to: leaders look ahead, where nobody waits for
 * them. */
static inline int epcoll_end_leader(epcoll_member_t *member)
{
    return epcoll_leads(member) && *epcoll_group_safe(member) + EPCOLL_WINDOW <= member->seq
               ? epcoll_collect_completed(member, 0)
               : 0;
}

/** All have come to this operation, so all are through with those before. */
static inline void epcoll_all_arrived(epcoll_member_t *member)
{
    member->safe = member->seq - 1;
    *epcoll_group_safe(member) = member->seq - 1;
}

/** Likewise of the operation before: the member that announces this one has seen all of them
 * there. */
static inline void epcoll_all_arrived_before(epcoll_member_t *member)
{
    if (member->safe + 2 < member->seq) {
        member->safe = member->seq - 2;
        epcoll_group_raise_safe(member, member->safe);
    }
}

/** We are through with all operations up to this one: read nothing of them any more. */
static inline void epcoll_end_at(epcoll_member_t *member, uint64_t seq)
{
    /* Release pairs with the acquires in epcoll_read_completed and epcoll_may_begin. */
    atomic_store_explicit(&epcoll_ctrl(member, member->index)->completed, seq,
                          memory_order_release);
}

/** We are through with the operation. */
static inline void epcoll_end(epcoll_member_t *member)
{
    epcoll_end_at(member, member->seq);
}

#endif /* COLL_EPCOLL_REUSE_H */
