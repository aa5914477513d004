/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Small operations on a block (coll_epcoll_block.h): barrier, all to all.  One to all:
 * coll_epcoll_tell.h.
 *
 * Up to EPCOLL_FAN members read each other's lines: one transfer of a line on the way, which is the
 * least there is.  More are in groups of that many, and groups in groups, up to a level with no
 * more nodes than a group has members.  A group's first member, its leader, puts together what its
 * members say and says it in the node's line; the leaders of the topmost nodes read each other;
 * each passes the result down.  So a member's line is read by one, and nobody reads more than
 * EPCOLL_FAN lines on a level, all at once (epcoll_ask).  bench/lines counts them.
 *
 * Who waits for a leader that has come, but has lost its core, does not wait for long: the members'
 * own lines stay until all are through, so anyone can see whether all have come, and put together
 * by itself what they say, in the same order, for all others that wait (coll_epcoll_alone.h).  The
 * result is the same, bit by bit.
 *
 * Tests: unit/test_epcoll_block, coll_late
 */

#ifndef COLL_EPCOLL_TREE_H
#define COLL_EPCOLL_TREE_H

#include "coll_epcoll_alone.h"

/** Asks for what some members say in this operation. */
static inline void epcoll_ask_members(const epcoll_member_t *member, uint32_t from, uint32_t to)
{
    epcoll_ask(epcoll_slot(member, from), sizeof(epcoll_place_t), to - from);
}

/** Has a member said its part of this operation already?  Then it may be ahead of us. */
static inline bool epcoll_is_ahead(const epcoll_member_t *member, uint32_t index)
{
    /* Relaxed: nothing is read by it. */
    return member->number
           <= atomic_load_explicit(&epcoll_slot(member, index)->number, memory_order_relaxed);
}

/** Asks for what some members say in the next operation: of those that have been ahead of us.  Of
 * another one the line would be taken from it before it has written there. */
static inline void epcoll_ask_ahead(const epcoll_member_t *member, uint32_t from, uint32_t to)
{
    epcoll_ask(&epcoll_place(member, from)->slot[(member->number + 1) % EPCOLL_WINDOW],
               sizeof(epcoll_place_t), to - from);
}

/** The long way of epcoll_wait_member: not within each place that waits. */
static __attribute__((noinline, unused)) int epcoll_wait_longer(epcoll_member_t *member,
                                                                uint32_t from, uint32_t index,
                                                                uint64_t call)
{
    epcoll_slot_t *slot = epcoll_slot(member, index);
    uint32_t looks = 0;

    /* Acquire pairs with the release in epcoll_say. */
    while (atomic_load_explicit(&slot->number, memory_order_acquire) < member->number) {
        const int rc = epcoll_look(member, &looks);

        if (0 != rc) {
            return rc;
        }
        epcoll_ask_members(member, index < from + EPCOLL_FAN ? from : index - EPCOLL_FAN, index);
        if (epcoll_looks_long(member, looks) && epcoll_is_gone(member, index)) {
            return EPCOLL_DIFFERENT;
        }
    }
    return call == slot->call ? 0 : EPCOLL_DIFFERENT;
}

/**
 * Wait until a member has said its part of this operation.
 *
 * @param from  the first of those before it that are looked at next; EPCOLL_FAN of them are asked
 *              for
 *
 * @return 0 or an error
 */
static inline int epcoll_wait_member(epcoll_member_t *member, uint32_t from, uint32_t index,
                                     uint64_t call)
{
    epcoll_slot_t *slot = epcoll_slot(member, index);

    /* Acquire pairs with the release in epcoll_say. */
    if (atomic_load_explicit(&slot->number, memory_order_acquire) >= member->number
        && call == slot->call) {
        return 0;
    }
    return epcoll_wait_longer(member, from, index, call);
}

/**
 * Which of some neighbours have said their part of this operation?  Waits for nobody.
 *
 * @param call         what we have called
 * @param different_p  set to whether it is not what the first one has called that is not counted
 *
 * @return how many of them have called it, in a row from the first on
 */
static inline uint32_t epcoll_came(const epcoll_member_t *member, uint32_t first, uint32_t count,
                                   uint64_t call, bool *different_p)
{
    enum { STRIDE = sizeof(epcoll_place_t) / sizeof(epcoll_slot_t) };
    const epcoll_slot_t *slot = epcoll_slot(member, first);
    const uint64_t number = member->number;
    uint32_t left = count;

    *different_p = false;
#pragma GCC unroll 4
    for (; 0 < left; --left, slot += STRIDE) {
        /* Acquire pairs with the release in epcoll_say. */
        if (atomic_load_explicit(&slot->number, memory_order_acquire) < number) {
            break;
        }
        if (call != slot->call) {
            *different_p = true;
            break;
        }
    }
    return count - left;
}

/** Asks for what all say, up to EPCOLL_FAN members.  Of one other the line comes by the look at
 * it. */
static inline void epcoll_ask_few(const epcoll_member_t *member)
{
    if (2 < member->count) {
        epcoll_ask_members(member, 0, member->count);
    }
}

/** How a wait in the tree ended. */
enum { EPCOLL_CAME = 1, EPCOLL_ALL_CAME = 2 };

/**
 * Wait for a leader's line, or until all members' lines are here.
 *
 * @param call    what we have called
 * @param others  of so many nodes before it the lines are looked at next
 * @param seen    so many members have been seen here; goes on from there
 *
 * @return EPCOLL_CAME, EPCOLL_ALL_CAME, or an error
 */
static inline int epcoll_wait_leader(epcoll_member_t *member, epcoll_slot_t *slot, uint64_t call,
                                     uint32_t others, uint32_t *seen)
{
    bool is_different;
    uint32_t looks = 0;

    while (atomic_load_explicit(&slot->number, memory_order_acquire) < member->number) {
        const int rc = epcoll_look(member, &looks);

        if (0 != rc) {
            return rc;
        }
        epcoll_ask((const char *) slot - others * sizeof(epcoll_node_t), sizeof(epcoll_node_t),
                   others);
        /* The look may have given up the core, and the leader have had one.  Relaxed: the loop looks
         * again. */
        if (!epcoll_looks_long(member, looks)
            || member->number <= atomic_load_explicit(&slot->number, memory_order_relaxed)) {
            continue;
        }
        if (epcoll_is_found(member)) {
            return EPCOLL_ALL_CAME;
        }
        *seen += epcoll_came(member, *seen, member->count - *seen, call, &is_different);
        if (*seen == member->count) {
            return EPCOLL_ALL_CAME;
        }
        if (is_different || epcoll_is_gone(member, *seen)) {
            return EPCOLL_DIFFERENT;
        }
    }
    return EPCOLL_CAME;
}

/** Up to EPCOLL_FAN members: each reads all, from the last one to the first. */
static inline int epcoll_all_few(epcoll_member_t *member, const epcoll_all_t *all, void *result)
{
    epcoll_ask_few(member);
    for (uint32_t i = member->count; i-- > 0;) {
        const int rc = i == member->index ? 0 : epcoll_wait_member(member, 0, i, all->call);

        if (0 != rc) {
            return rc;
        }
        epcoll_put_together(all, result, epcoll_slot(member, i)->data, member->count - 1 == i);
    }
    return 0;
}

/** Reads the lines of nodes of a level, from the last to the first.  @return as
 * epcoll_wait_leader */
static inline int epcoll_read_nodes(epcoll_member_t *member, const epcoll_all_t *all,
                                    uint32_t level, uint32_t from, uint32_t to, void *value,
                                    uint32_t *seen)
{
    epcoll_node_t *const first = epcoll_node(member, level, from);

    epcoll_ask(&first->up[member->up], sizeof(epcoll_node_t), to - from);
    for (uint32_t i = to; i-- > from;) {
        epcoll_slot_t *up = &first[i - from].up[member->up];
        const int rc = epcoll_wait_leader(member, up, all->call, i - from, seen);

        if (EPCOLL_CAME != rc) {
            return rc;
        }
        if (all->call != up->call) {
            return EPCOLL_DIFFERENT;
        }
        epcoll_put_together(all, value, up->data, to - 1 == i);
    }
    return EPCOLL_CAME;
}

/**
 * Leads its nodes upwards.
 *
 * @param led  set to the number of levels on which it leads a node
 *
 * @return as epcoll_wait_leader; EPCOLL_CAME: its part is done, and the result is there if it leads
 *         on all levels
 */
static inline int epcoll_lead(epcoll_member_t *member, const epcoll_all_t *all, void *result,
                              uint32_t *led, uint32_t *seen)
{
    uint32_t index = member->index;

    for (*led = 0; *led < member->levels && 0 == index % member->fan; ++*led) {
        const uint32_t level = *led;
        const uint32_t below = epcoll_width(member, (int) level - 1);
        const uint32_t to = index + member->fan < below ? index + member->fan : below;
        int rc = EPCOLL_CAME;

        if (0 < level) {
            rc = epcoll_read_nodes(member, all, level - 1, index, to, result, seen);
        }
        if (0 == level) {
            epcoll_ask_members(member, index, to);
        }
        for (uint32_t i = to; 0 == level && i-- > index;) {
            rc = epcoll_wait_member(member, index, i, all->call);
            if (0 != rc) {
                return rc;
            }
            epcoll_put_together(all, result, epcoll_slot(member, i)->data, to - 1 == i);
            rc = EPCOLL_CAME;
        }
        if (EPCOLL_CAME != rc) {
            return rc;
        }
        index /= member->fan;
        epcoll_say(&epcoll_node(member, level, index)->up[member->up], member->number, all->call,
                   result, all->size);
    }
    return *led < member->levels
               ? EPCOLL_CAME
               : epcoll_read_nodes(member, all, member->levels - 1U, 0, member->top, result, seen);
}

/** The index, on its level, of the node that a member belongs to. */
static inline uint32_t epcoll_node_of(const epcoll_member_t *member, uint32_t level)
{
    uint32_t index = member->index;

    for (uint32_t i = 0; i <= level; ++i) {
        index /= member->fan;
    }
    return index;
}

/** The next operation of all. */
static inline void epcoll_turn_up(epcoll_member_t *member)
{
    member->up = (uint8_t) ((member->up + 1) % EPCOLL_UPS);
}

/** More than EPCOLL_FAN members. */
static inline int epcoll_all_tree(epcoll_member_t *member, const epcoll_all_t *all, void *result)
{
    const uint32_t turn = (uint32_t) (member->number % EPCOLL_WINDOW);
    uint32_t led, seen = 0;
    int rc;

    epcoll_turn_up(member);
    rc = epcoll_lead(member, all, result, &led, &seen);

    if (EPCOLL_CAME == rc && led < member->levels) {
        epcoll_slot_t *down = &epcoll_node(member, led, epcoll_node_of(member, led))->down[turn];

        rc = epcoll_wait_leader(member, down, all->call, 0, &seen);
        if (EPCOLL_CAME == rc) {
            if (all->call != down->call) {
                return EPCOLL_DIFFERENT;
            }
            memcpy(result, down->data, all->size);
        }
    }
    if (EPCOLL_ALL_CAME == rc) {
        rc = epcoll_alone(member, all, result);
        rc = 0 == rc ? EPCOLL_CAME : rc;
    }
    if (EPCOLL_CAME != rc) {
        return rc;
    }
    /* Also on levels on which others lead the way up in our place: a member that waits there has
     * this line. */
    for (uint32_t level = 0, index = member->index;
         level < member->levels && 0 == index % member->fan; ++level) {
        index /= member->fan;
        epcoll_say(&epcoll_node(member, level, index)->down[turn], member->number, all->call,
                   result, all->size);
    }
    return 0;
}

/**
 * All say something, and all learn what it is together, in one order of members for ever:
 * associated from the last to the first in groups of EPCOLL_FAN.  Nobody returns before all have
 * come.
 *
 * @param result  all->size bytes of room, at least one; may be all->data
 *
 * @return 0 or an error; the block is to be broken then
 */
static inline int epcoll_all(epcoll_member_t *member, const epcoll_all_t *all, void *result)
{
    int rc = epcoll_begin(member);

    if (0 != rc) {
        return rc;
    }
    epcoll_say(epcoll_slot(member, member->index), member->number, all->call, all->data, all->size);
    rc = 0 == member->levels ? epcoll_all_few(member, all, result)
                             : epcoll_all_tree(member, all, result);
    if (0 == rc) {
        epcoll_all_came(member);
        epcoll_end(member);
    }
    return rc;
}

/** The call of a barrier, as no other one: the highest bit. */
#define EPCOLL_BARRIER_CALL (UINT64_C(1) << 63)

/** More than EPCOLL_FAN members. */
static inline int epcoll_barrier_tree(epcoll_member_t *member)
{
    const epcoll_all_t none = {.call = EPCOLL_BARRIER_CALL, .data = "", .size = 0};
    unsigned char nothing[sizeof(uint64_t)]; /* as compilers think that it could be written */

    return epcoll_all(member, &none, nothing);
}

/** @return 0 when all have come, or an error; the block is to be broken then */
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
    epcoll_say(epcoll_slot(member, member->index), member->number, EPCOLL_BARRIER_CALL, NULL, 0);
    epcoll_ask_few(member);
    for (uint32_t i = member->count; i-- > 0 && 0 == rc;) {
        rc = i == member->index ? 0 : epcoll_wait_member(member, 0, i, EPCOLL_BARRIER_CALL);
    }
    if (0 == rc) {
        epcoll_all_came(member);
        epcoll_end(member);
    }
    return rc;
}

#endif /* COLL_EPCOLL_TREE_H */
