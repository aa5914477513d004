/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Lines for operations in which some members do not wait for others: rings.  Each member has
 * EPCOLL_AHEAD lines, taken in turns by number, as slots of a place are; so members that wait for
 * none may be that many operations ahead of the others before they have to.  Where threads share
 * cores they take turns once in a ring, and not once in EPCOLL_WINDOW operations.
 *
 * It stands beside a block (coll_epcoll_block.h) without nodes, and has its numbers: an operation
 * is in slots or in rings, as all members know, and a member that is through with it says so in the
 * block.
 *
 * Reuse: a line is written for an operation only when all are through with the one that is
 * EPCOLL_AHEAD before it.  Who does not know that yet waits until they are through with all but the
 * last few: so nobody looks at the others' words more often than once in nearly a ring, nor wakes
 * for a single line.
 *
 * Memory order: as in coll_epcoll_block.h and coll_epcoll_reuse.h; the functions that load and
 * store are the same but for epcoll_wait_line.
 *
 * Standalone: C11 atomics, no Open MPI.
 *
 * Tests: unit/test_epcoll_ahead, coll_late, coll_different
 */

#ifndef COLL_EPCOLL_AHEAD_H
#define COLL_EPCOLL_AHEAD_H

#include "coll_epcoll_tree.h"

/** Operations that a member may be ahead of the others: lines of its ring. */
#define EPCOLL_AHEAD 64

/** Who has had to wait goes on when the others are through with all but so many. */
#define EPCOLL_AHEAD_LEFT 8

/** Bytes of the rings of that many members. */
static inline size_t epcoll_ahead_size(uint32_t count)
{
    return (size_t) count * EPCOLL_AHEAD * sizeof(epcoll_slot_t);
}

/** The line of a member in the operation that we are in. */
static inline epcoll_slot_t *epcoll_line(const epcoll_member_t *member, uint32_t index)
{
    return &member->beside->ring[(size_t) index * EPCOLL_AHEAD + member->number % EPCOLL_AHEAD];
}

/** Our line is another operation's, as far as we know: waits until most of our ring is free. */
static inline int epcoll_find_ahead(epcoll_member_t *member)
{
    uint64_t least = member->number - 1;
    const int rc = epcoll_read_through(member, -1, 0, member->count,
                                       member->number - 1 - EPCOLL_AHEAD_LEFT, &least);

    if (0 == rc) {
        member->safe = least;
    }
    return rc;
}

/** The next operation, in rings: we may write our line.  @return 0 or an error */
static inline int epcoll_begin_ahead(epcoll_member_t *member)
{
    /* Relaxed: as in epcoll_break. */
    const int broken = atomic_load_explicit(member->broken, memory_order_relaxed);

    ++member->number;
    if (__builtin_expect(0 != broken, 0)) {
        return broken;
    }
    return __builtin_expect(member->number <= member->safe + EPCOLL_AHEAD, 1)
               ? 0
               : epcoll_find_ahead(member);
}

/** Say in our line what we have called, if we have not: for members that have called something
 * else. */
static inline void epcoll_say_call_ahead(epcoll_member_t *member, uint64_t call)
{
    epcoll_slot_t *own = epcoll_line(member, member->index);

    /* Relaxed: nobody else writes it. */
    if (atomic_load_explicit(&own->number, memory_order_relaxed) < member->number) {
        epcoll_say(own, member->number, call, "", 0);
    }
}

/** Has a member left our operation without a word in its line, or come to another one, in slots? */
static inline bool epcoll_is_gone_ahead(const epcoll_member_t *member, uint32_t index)
{
    /* Acquire pairs with the release in epcoll_end_at: what the member has said before is seen, so
     * the line's number may be read relaxed.  So may the slot's: nothing else is read of it
     * here. */
    return (member->number
                <= atomic_load_explicit(&epcoll_place(member, index)->through, memory_order_acquire)
            && atomic_load_explicit(&epcoll_line(member, index)->number, memory_order_relaxed)
                   < member->number)
           || member->number
                  == atomic_load_explicit(&epcoll_slot(member, index)->number,
                                          memory_order_relaxed);
}

/** Wait until a member has said its part of this operation.  @return 0 or an error */
static inline int epcoll_wait_line(epcoll_member_t *member, uint32_t index, uint64_t call)
{
    epcoll_slot_t *line = epcoll_line(member, index);
    uint32_t looks = 0;

    /* Acquire pairs with the release in epcoll_say. */
    while (atomic_load_explicit(&line->number, memory_order_acquire) < member->number) {
        const int rc = epcoll_look(member, &looks);

        if (0 != rc) {
            return rc;
        }
        if (epcoll_looks_long(member, looks)) {
            epcoll_say_call_ahead(member, call);
            if (epcoll_is_gone_ahead(member, index)) {
                return EPCOLL_DIFFERENT;
            }
        }
    }
    return call == line->call ? 0 : EPCOLL_DIFFERENT;
}

/** What a member says in the operation that we are in: in its slot, or in its line.
 * @return NULL: nothing, as yet */
static inline const epcoll_slot_t *epcoll_said(const epcoll_member_t *member, uint32_t index)
{
    const epcoll_slot_t *slot = epcoll_slot(member, index);

    /* Acquire, both times, pairs with the release in epcoll_say. */
    if (member->number == atomic_load_explicit(&slot->number, memory_order_acquire)) {
        return slot;
    }
    slot = NULL == member->beside || NULL == member->beside->ring ? NULL
                                                                  : epcoll_line(member, index);
    return NULL != slot
                   && member->number == atomic_load_explicit(&slot->number, memory_order_acquire)
               ? slot
               : NULL;
}

#endif /* COLL_EPCOLL_AHEAD_H */
