/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Barrier and allreduce in a segment (coll_epcoll_segment.h).  Broadcast: coll_epcoll_bcast.h.
 *
 * Up to EPCOLL_FANOUT members read each other's slots: the latency is one transfer of a cache line,
 * the least there is.  More members are in groups of that many, and groups in groups, up to a level
 * with no more groups than a group has members.  A group's first member, its leader, combines its
 * members' data and publishes them in the group's slot; the leaders of the topmost groups read each
 * other; each passes the result down.  So a member's slot is read by one, and no member reads more
 * than EPCOLL_FANOUT lines on a level, all at once (epcoll_prefetch). bench/lines counts them.
 *
 * A member does not wait long for a leader that has arrived and has been descheduled.  The members'
 * own slots stay until all have completed the operation.  So any member can see whether all have
 * arrived, and compute the result by itself, in the same order, for all others that wait
 * (coll_epcoll_leaderless.h).  The result is bitwise identical.
 *
 * Tests: unit/test_epcoll_segment, coll_late
 */

#ifndef COLL_EPCOLL_TREE_H
#define COLL_EPCOLL_TREE_H

#include "coll_epcoll_leaderless.h"

/** Prefetch the slots of some members in this operation. */
static inline void epcoll_prefetch_slots(const epcoll_member_t *member, uint32_t from, uint32_t to)
{
    epcoll_prefetch(epcoll_slot(member, from), sizeof(epcoll_ctrl_t), to - from);
}

/** Has a member published its part of this operation already?  Then it may be ahead of us. */
static inline bool epcoll_is_ahead(const epcoll_member_t *member, uint32_t index)
{
    /* Relaxed: nothing is read by it. */
    return member->seq
           <= atomic_load_explicit(&epcoll_slot(member, index)->seq, memory_order_relaxed);
}

/** Prefetch the slots of some members in the next operation: of those that have been ahead of us.
 * Another one would lose its line before it has written it. */
static inline void epcoll_prefetch_next(const epcoll_member_t *member, uint32_t from, uint32_t to)
{
    epcoll_prefetch(&epcoll_ctrl(member, from)->slot[(member->seq + 1) % EPCOLL_WINDOW],
                    sizeof(epcoll_ctrl_t), to - from);
}

/** The slow path of epcoll_wait_member, out of line. */
static __attribute__((noinline, unused)) int epcoll_wait_member_slow(epcoll_member_t *member,
                                                                     uint32_t from, uint32_t index,
                                                                     uint64_t signature)
{
    epcoll_slot_t *slot = epcoll_slot(member, index);
    uint32_t polls = 0;

    /* Acquire pairs with the release in epcoll_publish. */
    while (atomic_load_explicit(&slot->seq, memory_order_acquire) < member->seq) {
        const int rc = epcoll_backoff(member, &polls);

        if (0 != rc) {
            return rc;
        }
        epcoll_prefetch_slots(member, index < from + EPCOLL_FANOUT ? from : index - EPCOLL_FANOUT,
                              index);
        if (epcoll_polls_long(member, polls) && epcoll_has_left(member, index)) {
            return EPCOLL_MISMATCH;
        }
    }
    return signature == slot->signature ? 0 : EPCOLL_MISMATCH;
}

/**
 * Wait until a member has published its part of this operation.
 *
 * @param from  the first of those before it that are read next; EPCOLL_FANOUT of them are
 *              prefetched
 *
 * @return 0 or an error
 */
static inline int epcoll_wait_member(epcoll_member_t *member, uint32_t from, uint32_t index,
                                     uint64_t signature)
{
    epcoll_slot_t *slot = epcoll_slot(member, index);

    /* Acquire pairs with the release in epcoll_publish. */
    if (atomic_load_explicit(&slot->seq, memory_order_acquire) >= member->seq
        && signature == slot->signature) {
        return 0;
    }
    return epcoll_wait_member_slow(member, from, index, signature);
}

/**
 * How many of some members, from the first on, have published their part of this operation?  Does
 * not wait.
 *
 * @param signature   ours
 * @param mismatch_p  set to whether the first one that is not counted has published another
 *                    signature
 *
 * @return how many of them have published ours, in a row from the first on
 */
static inline uint32_t epcoll_count_arrived(const epcoll_member_t *member, uint32_t first,
                                            uint32_t count, uint64_t signature, bool *mismatch_p)
{
    enum { STRIDE = sizeof(epcoll_ctrl_t) / sizeof(epcoll_slot_t) };
    const epcoll_slot_t *slot = epcoll_slot(member, first);
    const uint64_t seq = member->seq;
    uint32_t left = count;

    *mismatch_p = false;
#pragma GCC unroll 4
    for (; 0 < left; --left, slot += STRIDE) {
        /* Acquire pairs with the release in epcoll_publish. */
        if (atomic_load_explicit(&slot->seq, memory_order_acquire) < seq) {
            break;
        }
        if (signature != slot->signature) {
            *mismatch_p = true;
            break;
        }
    }
    return count - left;
}

/** Prefetch the slots of all, up to EPCOLL_FANOUT members.  With one other member the poll itself
 * fetches it. */
static inline void epcoll_prefetch_all(const epcoll_member_t *member)
{
    if (2 < member->count) {
        epcoll_prefetch_slots(member, 0, member->count);
    }
}

/** How a wait in the tree ended. */
enum { EPCOLL_ARRIVED = 1, EPCOLL_ALL_ARRIVED = 2 };

/**
 * Wait for a leader's slot, or until all members' slots are published.
 *
 * @param signature  ours
 * @param others     slots of so many groups before it are read next
 * @param seen       so many members have been seen here; continues from there
 *
 * @return EPCOLL_ARRIVED, EPCOLL_ALL_ARRIVED, or an error
 */
static inline int epcoll_wait_leader(epcoll_member_t *member, epcoll_slot_t *slot,
                                     uint64_t signature, uint32_t others, uint32_t *seen)
{
    bool is_mismatch;
    uint32_t polls = 0;

    while (atomic_load_explicit(&slot->seq, memory_order_acquire) < member->seq) {
        const int rc = epcoll_backoff(member, &polls);

        if (0 != rc) {
            return rc;
        }
        epcoll_prefetch((const char *) slot - others * sizeof(epcoll_group_t),
                        sizeof(epcoll_group_t), others);
        /* The backoff may have yielded the core to the leader.  Relaxed: the loop reads it
         * again. */
        if (!epcoll_polls_long(member, polls)
            || member->seq <= atomic_load_explicit(&slot->seq, memory_order_relaxed)) {
            continue;
        }
        if (epcoll_has_result(member)) {
            return EPCOLL_ALL_ARRIVED;
        }
        *seen += epcoll_count_arrived(member, *seen, member->count - *seen, signature,
                                      &is_mismatch);
        if (*seen == member->count) {
            return EPCOLL_ALL_ARRIVED;
        }
        if (is_mismatch || epcoll_has_left(member, *seen)) {
            return EPCOLL_MISMATCH;
        }
    }
    return EPCOLL_ARRIVED;
}

/** Up to EPCOLL_FANOUT members: each reads all, from the last one to the first. */
static inline int epcoll_allreduce_flat(epcoll_member_t *member,
                                        const epcoll_contribution_t *contrib, void *result)
{
    epcoll_prefetch_all(member);
    for (uint32_t i = member->count; i-- > 0;) {
        const int rc = i == member->index ? 0
                                          : epcoll_wait_member(member, 0, i, contrib->signature);

        if (0 != rc) {
            return rc;
        }
        epcoll_combine(contrib, result, epcoll_slot(member, i)->data, member->count - 1 == i);
    }
    return 0;
}

/** Read the slots of groups of a level, from the last to the first.  @return as
 * epcoll_wait_leader */
static inline int epcoll_read_groups(epcoll_member_t *member, const epcoll_contribution_t *contrib,
                                     uint32_t level, uint32_t from, uint32_t to, void *value,
                                     uint32_t *seen)
{
    epcoll_group_t *const first = epcoll_group(member, level, from);

    epcoll_prefetch(&first->up[member->up], sizeof(epcoll_group_t), to - from);
    for (uint32_t i = to; i-- > from;) {
        epcoll_slot_t *up = &first[i - from].up[member->up];
        const int rc = epcoll_wait_leader(member, up, contrib->signature, i - from, seen);

        if (EPCOLL_ARRIVED != rc) {
            return rc;
        }
        if (contrib->signature != up->signature) {
            return EPCOLL_MISMATCH;
        }
        epcoll_combine(contrib, value, up->data, to - 1 == i);
    }
    return EPCOLL_ARRIVED;
}

/**
 * Combine the groups that the member leads, upwards.
 *
 * @param led  set to the number of levels on which it leads a group
 *
 * @return as epcoll_wait_leader; EPCOLL_ARRIVED: its part is done, and the result is there if it
 *          leads on all levels
 */
static inline int epcoll_reduce_up(epcoll_member_t *member, const epcoll_contribution_t *contrib,
                                   void *result, uint32_t *led, uint32_t *seen)
{
    uint32_t index = member->index;

    for (*led = 0; *led < member->levels && 0 == index % member->fanout; ++*led) {
        const uint32_t level = *led;
        const uint32_t below = epcoll_level_width(member, (int) level - 1);
        const uint32_t to = index + member->fanout < below ? index + member->fanout : below;
        int rc = EPCOLL_ARRIVED;

        if (0 < level) {
            rc = epcoll_read_groups(member, contrib, level - 1, index, to, result, seen);
        }
        if (0 == level) {
            epcoll_prefetch_slots(member, index, to);
        }
        for (uint32_t i = to; 0 == level && i-- > index;) {
            rc = epcoll_wait_member(member, index, i, contrib->signature);
            if (0 != rc) {
                return rc;
            }
            epcoll_combine(contrib, result, epcoll_slot(member, i)->data, to - 1 == i);
            rc = EPCOLL_ARRIVED;
        }
        if (EPCOLL_ARRIVED != rc) {
            return rc;
        }
        index /= member->fanout;
        epcoll_publish(&epcoll_group(member, level, index)->up[member->up], member->seq,
                       contrib->signature, result, contrib->size);
    }
    return *led < member->levels ? EPCOLL_ARRIVED
                                 : epcoll_read_groups(member, contrib, member->levels - 1U, 0,
                                                      member->top, result, seen);
}

/** The index, on its level, of the group that a member belongs to. */
static inline uint32_t epcoll_group_of(const epcoll_member_t *member, uint32_t level)
{
    uint32_t index = member->index;

    for (uint32_t i = 0; i <= level; ++i) {
        index /= member->fanout;
    }
    return index;
}

/** The next operation of all. */
static inline void epcoll_next_up(epcoll_member_t *member)
{
    member->up = (uint8_t) ((member->up + 1) % EPCOLL_UPS);
}

/** More than EPCOLL_FANOUT members. */
static inline int epcoll_allreduce_tree(epcoll_member_t *member,
                                        const epcoll_contribution_t *contrib, void *result)
{
    const uint32_t turn = (uint32_t) (member->seq % EPCOLL_WINDOW);
    uint32_t led, seen = 0;
    int rc;

    epcoll_next_up(member);
    rc = epcoll_reduce_up(member, contrib, result, &led, &seen);

    if (EPCOLL_ARRIVED == rc && led < member->levels) {
        epcoll_slot_t *down = &epcoll_group(member, led, epcoll_group_of(member, led))->down[turn];

        rc = epcoll_wait_leader(member, down, contrib->signature, 0, &seen);
        if (EPCOLL_ARRIVED == rc) {
            if (contrib->signature != down->signature) {
                return EPCOLL_MISMATCH;
            }
            memcpy(result, down->data, contrib->size);
        }
    }
    if (EPCOLL_ALL_ARRIVED == rc) {
        rc = epcoll_allreduce_leaderless(member, contrib, result);
        rc = 0 == rc ? EPCOLL_ARRIVED : rc;
    }
    if (EPCOLL_ARRIVED != rc) {
        return rc;
    }
    /* Also on levels on which others have computed the result in our place: a member that waits
     * there reads this slot. */
    for (uint32_t level = 0, index = member->index;
         level < member->levels && 0 == index % member->fanout; ++level) {
        index /= member->fanout;
        epcoll_publish(&epcoll_group(member, level, index)->down[turn], member->seq,
                       contrib->signature, result, contrib->size);
    }
    return 0;
}

/**
 * Allreduce of up to EPCOLL_INLINE bytes, always associated in the same order of members: from the
 * last to the first, in groups of EPCOLL_FANOUT.  No member returns before all have arrived.
 *
 * @param result  contrib->size bytes, at least one; may be contrib->data
 *
 * @return 0 or an error; the caller then breaks the segment
 */
static inline int epcoll_allreduce(epcoll_member_t *member, const epcoll_contribution_t *contrib,
                                   void *result)
{
    int rc = epcoll_begin(member);

    if (0 != rc) {
        return rc;
    }
    epcoll_publish(epcoll_slot(member, member->index), member->seq, contrib->signature,
                   contrib->data, contrib->size);
    rc = 0 == member->levels ? epcoll_allreduce_flat(member, contrib, result)
                             : epcoll_allreduce_tree(member, contrib, result);
    if (0 == rc) {
        epcoll_all_arrived(member);
        epcoll_end(member);
    }
    return rc;
}

/** The call of a barrier, as no other one: the highest bit. */
#define EPCOLL_BARRIER_SIGNATURE (UINT64_C(1) << 63)

/** More than EPCOLL_FANOUT members. */
static inline int epcoll_barrier_tree(epcoll_member_t *member)
{
    const epcoll_contribution_t none = {.signature = EPCOLL_BARRIER_SIGNATURE,
                                        .data = "",
                                        .size = 0};
    unsigned char nothing[sizeof(uint64_t)]; /* as compilers think that it could be written */

    return epcoll_allreduce(member, &none, nothing);
}

/** @return 0 when all have arrived, or an error; the caller then breaks the segment */
static inline int epcoll_barrier(epcoll_member_t *member)
{
    int rc;

    if (0 < member->levels) {
        return epcoll_barrier_tree(member);
    }
    rc = epcoll_begin(member);
    if (0 != rc) {
        return rc;
    }
    epcoll_publish(epcoll_slot(member, member->index), member->seq, EPCOLL_BARRIER_SIGNATURE, NULL,
                   0);
    epcoll_prefetch_all(member);
    for (uint32_t i = member->count; i-- > 0 && 0 == rc;) {
        rc = i == member->index ? 0 : epcoll_wait_member(member, 0, i, EPCOLL_BARRIER_SIGNATURE);
    }
    if (0 == rc) {
        epcoll_all_arrived(member);
        epcoll_end(member);
    }
    return rc;
}

#endif /* COLL_EPCOLL_TREE_H */
