/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * When a slot of a block (coll_epcoll_block.h) may be written again: which members are through with
 * which operation, and how an operation begins and ends.
 *
 * One rule of reuse: a slot is written for an operation only when all its readers are through with
 * the one that is EPCOLL_WINDOW before it.  Of a member's own slot these are all (epcoll_begin), of
 * a node's the node's members (epcoll_begin_leader); a member that writes nothing asks none.  Where
 * all wait for all a member knows this at no cost (epcoll_all_came).  Elsewhere leaders collect it
 * for their nodes, once in a window or less, and write in a word of the node how far all of it are.
 *  A member that has to know it of all reads the topmost nodes' words, and goes down to the
 * members' own, and waits there, only where a node's is not new enough.  So a member reads only a
 * few lines for it, and none waits for a leader.
 *
 * Memory order.  Reads of a slot come before their reader's store to through (release), which the
 * writer loads (acquire) before it writes the slot again, itself or by way of leaders, which load
 * it and store the node's word behind it; or before the reader's next slot or word, which the
 * writer has seen in an operation of all.
 *
 * Tests: unit/test_epcoll_block, coll_late
 */

#ifndef COLL_EPCOLL_REUSE_H
#define COLL_EPCOLL_REUSE_H

#include "coll_epcoll_block.h"

/** Where a node of a level is among all. */
static inline uint32_t epcoll_node_index(const epcoll_member_t *member, uint32_t level,
                                         uint32_t index)
{
    return epcoll_nodes_below(member->count, member->fan, level) + index;
}

static inline epcoll_node_t *epcoll_node(const epcoll_member_t *member, uint32_t level,
                                         uint32_t index)
{
    return (epcoll_node_t *) epcoll_place(member, member->count)
           + epcoll_node_index(member, level, index);
}

/** How many there are on a level; those of level -1 are the members. */
static inline uint32_t epcoll_width(const epcoll_member_t *member, int level)
{
    return level < 0 ? member->count
           : level + 1 == member->levels
               ? member->top
               : epcoll_nodes(member->count, member->fan, (uint32_t) level);
}

/** What the leader of a node says of how far the node's members are.  Neighbours are in one line:
 * each is written once in a window, and all are read at a time. */
static inline _Atomic uint64_t *epcoll_below(const epcoll_member_t *member, uint32_t level,
                                             uint32_t index)
{
    return (_Atomic uint64_t *) epcoll_node(member, member->levels, 0)
           + epcoll_node_index(member, level, index);
}

/** Nobody of the nodes that we lead is in an operation up to this one. */
static inline uint64_t *epcoll_safe_below(const epcoll_member_t *member)
{
    return &epcoll_place(member, member->index)->safe_below;
}

/** Nobody at all is. */
static inline void epcoll_is_safe_below(const epcoll_member_t *member, uint64_t number)
{
    if (number > *epcoll_safe_below(member)) {
        *epcoll_safe_below(member) = number;
    }
}

/** Does it lead nodes? */
static inline bool epcoll_leads(const epcoll_member_t *member)
{
    return 0 < member->levels && 0 == member->index % member->fan;
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
static inline int epcoll_read_through(epcoll_member_t *member, int level, uint32_t from,
                                      uint32_t to, uint64_t wanted, uint64_t *least)
{
    const int why = atomic_load_explicit(member->broken, memory_order_relaxed);

    if (0 != why) {
        return why;
    }
    if (level < 0) {
        epcoll_ask(&epcoll_place(member, from)->through, sizeof(epcoll_place_t), to - from);
    } else {
        epcoll_ask(epcoll_below(member, (uint32_t) level, from), 64, 1 + (to - 1 - from) / 8);
    }
    for (uint32_t i = from; i < to; ++i) {
        uint64_t through;
        uint32_t looks = 0;
        int rc = 0;

        if (0 <= level) {
            const uint32_t first = i * member->fan, below = epcoll_width(member, level - 1);

            /* Acquire pairs with the release in epcoll_look_below. */
            through = atomic_load_explicit(epcoll_below(member, (uint32_t) level, i),
                                           memory_order_acquire);
            if (through < wanted) {
                through = UINT64_MAX;
                rc = epcoll_read_through(member, level - 1, first,
                                         first + member->fan < below ? first + member->fan : below,
                                         wanted, &through);
            }
        } else if (i == member->index) {
            through = member->number - 1;
        } else {
            /* Acquire pairs with the release in epcoll_end_at: what it has read of our slots is
             * read. */
            while ((through = atomic_load_explicit(&epcoll_place(member, i)->through,
                                                   memory_order_acquire))
                       < wanted
                   && 0 == rc) {
                rc = epcoll_look(member, &looks);
            }
        }
        if (0 != rc) {
            return rc;
        }
        *least = through < *least ? through : *least;
    }
    return 0;
}

/** The last operation that all members are through with. */
static inline uint64_t epcoll_find_through(const epcoll_member_t *member)
{
    uint64_t least = UINT64_MAX;

#pragma GCC unroll 4
    for (uint32_t i = 0; i < member->count; ++i) {
        /* Acquire pairs with the release in epcoll_end_at. */
        const uint64_t through = atomic_load_explicit(&epcoll_place(member, i)->through,
                                                      memory_order_acquire);

        least = through < least ? through : least;
    }
    return least;
}

/** Of operations that are under way beside each other, which read no line of a node: may the slot
 * of that one be written?  Waits for nobody.  Of all members mostly one looks at all others, once in
 * a window. */
static inline bool epcoll_may_begin(epcoll_member_t *member, uint64_t number)
{
    uint64_t safe;

    if (number <= member->safe + EPCOLL_WINDOW) {
        return true;
    }
    /* Acquire pairs with the release below, of another member: what it has acquired of all. */
    safe = atomic_load_explicit(&member->block->safe, memory_order_acquire);
    if (number > safe + EPCOLL_WINDOW) {
        safe = epcoll_find_through(member);
        /* Release pairs with the acquire above.  It may become less than another member has just
         * stored: that is true as well. */
        atomic_store_explicit(&member->block->safe, safe, memory_order_release);
    }
    if (safe > member->safe) {
        member->safe = safe;
    }
    return number <= safe + EPCOLL_WINDOW;
}

/** Waits until nobody is in the operation that had our slot before. */
static inline int epcoll_find_safe(epcoll_member_t *member)
{
    const int top = (int) member->levels - 1;
    uint64_t least = member->number - 1;
    const int rc = epcoll_read_through(member, top, 0, epcoll_width(member, top),
                                       member->number - EPCOLL_WINDOW, &least);

    if (0 == rc) {
        member->safe = least;
        epcoll_is_safe_below(member, least);
    }
    return rc;
}

/** How far are the members of the nodes that we lead?  Says so in the nodes' words.
 * @param wanted  waits until all are through with this one */
static inline int epcoll_look_below(epcoll_member_t *member, uint64_t wanted)
{
    uint64_t least = member->number - 1;
    uint32_t index = member->index;

    for (uint32_t level = 0; level < member->levels && 0 == index % member->fan; ++level) {
        const uint32_t below = epcoll_width(member, (int) level - 1);
        const int rc = epcoll_read_through(member, (int) level - 1, index,
                                           index + member->fan < below ? index + member->fan
                                                                       : below,
                                           wanted, &least);

        if (0 != rc) {
            return rc;
        }
        index /= member->fan;
        /* Release pairs with the acquire in epcoll_read_through: what they have read is read. */
        atomic_store_explicit(epcoll_below(member, level, index), least, memory_order_release);
    }
    *epcoll_safe_below(member) = least;
    return 0;
}

/** The next operation, in which we write our slot, and our nodes'.  @return 0 or an error */
static inline int epcoll_begin(epcoll_member_t *member)
{
    /* Relaxed: as in epcoll_break. */
    const int broken = atomic_load_explicit(member->broken, memory_order_relaxed);

    ++member->number;
    if (__builtin_expect(0 != broken, 0)) {
        return broken;
    }
    if (__builtin_expect(member->number <= member->safe + EPCOLL_WINDOW, 1)) {
        return 0;
    }
    return epcoll_find_safe(member);
}

/** The next operation, in which we write nothing but the down slots of the nodes that we lead. */
static inline int epcoll_begin_leader(epcoll_member_t *member)
{
    ++member->number;
    if (!epcoll_leads(member) || member->number <= *epcoll_safe_below(member) + EPCOLL_WINDOW) {
        return 0;
    }
    return epcoll_look_below(member, member->number - EPCOLL_WINDOW);
}

/** Behind an operation that not all have come to: leaders look ahead, where nobody waits for
 * them. */
static inline int epcoll_end_leader(epcoll_member_t *member)
{
    return epcoll_leads(member) && *epcoll_safe_below(member) + EPCOLL_WINDOW <= member->number
               ? epcoll_look_below(member, 0)
               : 0;
}

/** All have come to this operation, so all are through with those before. */
static inline void epcoll_all_came(epcoll_member_t *member)
{
    member->safe = member->number - 1;
    *epcoll_safe_below(member) = member->number - 1;
}

/** Likewise of the operation before: the member that announces this one has seen all of them
 * there. */
static inline void epcoll_all_came_before(epcoll_member_t *member)
{
    if (member->safe + 2 < member->number) {
        member->safe = member->number - 2;
        epcoll_is_safe_below(member, member->safe);
    }
}

/** We are through with all operations up to this one: read nothing of them any more. */
static inline void epcoll_end_at(epcoll_member_t *member, uint64_t number)
{
    /* Release pairs with the acquires in epcoll_read_through and epcoll_may_begin. */
    atomic_store_explicit(&epcoll_place(member, member->index)->through, number,
                          memory_order_release);
}

/** We are through with the operation. */
static inline void epcoll_end(epcoll_member_t *member)
{
    epcoll_end_at(member, member->number);
}

#endif /* COLL_EPCOLL_REUSE_H */
