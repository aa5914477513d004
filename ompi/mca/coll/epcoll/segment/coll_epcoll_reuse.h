/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * When a slot of a segment (coll_epcoll_segment.h) may be written again: which operations members
 * have completed, and how an operation begins and ends.
 *
 * One rule of reuse: a slot is written for an operation only when all its readers have completed
 * the one EPCOLL_WINDOW before it.  The readers of a member's slot are all members (epcoll_begin),
 * those of a group's slots are the group's members (epcoll_begin_leader); a member that writes
 * nothing checks nothing.  Where all members wait for all, a member knows this at no cost
 * (epcoll_all_arrived).  Elsewhere leaders collect it for their groups, once in a window at most,
 * and store in a flag of the group what all its members have completed.  A member that has to know
 * it of all reads the flags of the topmost groups.  Only where such a flag is too old does it read
 * the flags below, and waits for those of members.  So a member reads only a few lines for it, and
 * waits for no leader.
 *
 * Memory order.  Reads of a slot come before their reader's store to `completed` (release), which
 * the writer loads (acquire) before it writes the slot again, itself or by way of leaders, which
 * load it and then store the group's flag.  Or they come before the reader's next slot or flag,
 * which the writer has seen in an operation of all.
 *
 * Tests: unit/test_epcoll_segment, coll_late
 */

#ifndef COLL_EPCOLL_REUSE_H
#define COLL_EPCOLL_REUSE_H

#include "coll_epcoll_segment.h"

/** The index of a group of a level among all groups. */
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

/** The operation that all members of a group have completed, as stored by its leader.  Flags of
 * adjacent groups share a line: each is written once in a window, and all are read at a time. */
static inline _Atomic uint64_t *epcoll_group_completed(const epcoll_member_t *member,
                                                       uint32_t level, uint32_t index)
{
    return (_Atomic uint64_t *) epcoll_group(member, member->levels, 0)
           + epcoll_group_index(member, level, index);
}

/** All members of the groups that we lead have completed the operations up to this one. */
static inline uint64_t *epcoll_group_safe(const epcoll_member_t *member)
{
    return &epcoll_ctrl(member, member->index)->group_safe;
}

/** All members have. */
static inline void epcoll_group_raise_safe(const epcoll_member_t *member, uint64_t seq)
{
    if (seq > *epcoll_group_safe(member)) {
        *epcoll_group_safe(member) = seq;
    }
}

/** Does it lead groups? */
static inline bool epcoll_leads(const epcoll_member_t *member)
{
    return 0 < member->levels && 0 == member->index % member->fanout;
}

/**
 * Read which operations members have completed: those of some groups of a level, or, at level -1,
 * some members.
 *
 * @param wanted  waits until all have completed this one
 * @param least   becomes the last one that all have completed, if that is less than it was
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

/** The last operation that all members have completed. */
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

/** Of concurrent operations, which read no slot of a group: may the slot of that one be written?
 * Does not wait.  Mostly one member in a window reads the flags of all others. */
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

/** Wait until all have completed the operation that had our slot before. */
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

/** Which operations have the members of the groups that we lead completed?  Stores it in the
 * groups' flags. @param wanted  waits until all have completed this one */
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

/** Begin the next operation, in which we write our slot, and our groups'.  @return 0 or an error */
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

/** Begin the next operation, in which we write only the down slots of the groups that we lead. */
static inline int epcoll_begin_leader(epcoll_member_t *member)
{
    ++member->seq;
    if (!epcoll_leads(member) || member->seq <= *epcoll_group_safe(member) + EPCOLL_WINDOW) {
        return 0;
    }
    return epcoll_collect_completed(member, member->seq - EPCOLL_WINDOW);
}

/** After an operation without a wait for all: leaders collect for the next ones, where no member
 * waits for them. */
static inline int epcoll_end_leader(epcoll_member_t *member)
{
    return epcoll_leads(member) && *epcoll_group_safe(member) + EPCOLL_WINDOW <= member->seq
               ? epcoll_collect_completed(member, 0)
               : 0;
}

/** All have arrived at this operation, so all have completed those before. */
static inline void epcoll_all_arrived(epcoll_member_t *member)
{
    member->safe = member->seq - 1;
    *epcoll_group_safe(member) = member->seq - 1;
}

/** Likewise of the operation before: the member that publishes this one has seen all arrive
 * there. */
static inline void epcoll_all_arrived_before(epcoll_member_t *member)
{
    if (member->safe + 2 < member->seq) {
        member->safe = member->seq - 2;
        epcoll_group_raise_safe(member, member->safe);
    }
}

/** We have completed all operations up to this one: we read nothing of them any more. */
static inline void epcoll_end_at(epcoll_member_t *member, uint64_t seq)
{
    /* Release pairs with the acquires in epcoll_read_completed and epcoll_may_begin. */
    atomic_store_explicit(&epcoll_ctrl(member, member->index)->completed, seq,
                          memory_order_release);
}

/** We have completed the operation. */
static inline void epcoll_end(epcoll_member_t *member)
{
    epcoll_end_at(member, member->seq);
}

#endif /* COLL_EPCOLL_REUSE_H */
