/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * Long operations on a block (coll_epcoll_block.h): work in shares, which whoever is there takes.
 *
 * All have come, and have shown each other their buffers.  The work is cut in pieces of shares; each
 * member has a piece, and takes its shares from the first to the last; who has none left takes those
 * of others.  So a member mostly works on what it worked on last time (its caches), and one that has
 * lost its core holds up the others by one share.
 *
 * claimed and done hold the operation's number and a count: of another operation they count as 0, so
 * nothing is set back, and a share is claimed once.  All changes of done are atomic read-modify-writes
 * with release, so who loads it (acquire) has what all did that are counted in it, whoever they were.
 *
 * Tests: unit/test_epcoll_block, coll_late
 */

#ifndef COLL_EPCOLL_WORK_H
#define COLL_EPCOLL_WORK_H

#include <sched.h>

#include "coll_epcoll_block.h"

/** Bits of a count: a piece has fewer shares than that. */
#define EPCOLL_SHARE_BITS 20
#define EPCOLL_SHARES_MOST ((UINT32_C(1) << EPCOLL_SHARE_BITS) - 1)

static inline uint64_t epcoll_count_in(uint64_t word, uint64_t number)
{
    return word >> EPCOLL_SHARE_BITS == (number & (UINT64_MAX >> EPCOLL_SHARE_BITS))
               ? word & EPCOLL_SHARES_MOST
               : 0;
}

static inline uint64_t epcoll_counted(uint64_t number, uint64_t count)
{
    return number << EPCOLL_SHARE_BITS | count;
}

/**
 * Take a share of a member's piece in the operation that we are in.
 *
 * @param shares  how many the piece has: the same for all members
 * @param share   set to its number, from 0
 *
 * @return false if all are taken
 */
static inline bool epcoll_claim(epcoll_member_t *member, uint32_t owner, uint32_t shares,
                                uint32_t *share)
{
    const uint64_t number = member->number;
    _Atomic uint64_t *word = &member->place[owner].work[number % EPCOLL_WINDOW].claimed;
    /* Relaxed: what is worked on was seen when all came; what was done is said by done. */
    uint64_t old = atomic_load_explicit(word, memory_order_relaxed);
    uint64_t count;

    do {
        count = epcoll_count_in(old, number);
        if (shares <= count) {
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(word, &old, epcoll_counted(number, count + 1),
                                                    memory_order_relaxed, memory_order_relaxed));
    *share = (uint32_t) count;
    return true;
}

/** Count shares of a piece as done. */
static inline void epcoll_count_done(epcoll_member_t *member, uint32_t owner, uint32_t shares)
{
    const uint64_t number = member->number;
    _Atomic uint64_t *word = &member->place[owner].work[number % EPCOLL_WINDOW].done;
    uint64_t old = atomic_load_explicit(word, memory_order_relaxed);

    /* Release pairs with the acquire in epcoll_done. */
    while (!atomic_compare_exchange_weak_explicit(word, &old,
                                                  epcoll_counted(number,
                                                                 epcoll_count_in(old, number)
                                                                     + shares),
                                                  memory_order_release, memory_order_relaxed)) {
    }
}

/** A share that we took is done. */
static inline void epcoll_share_done(epcoll_member_t *member, uint32_t owner)
{
    epcoll_count_done(member, owner, 1);
}

/** How many shares of a member's piece are done?  What was done for them is seen. */
static inline uint64_t epcoll_done(epcoll_member_t *member, uint32_t owner)
{
    const uint64_t number = member->number;

    /* Acquire pairs with the releases in epcoll_count_done. */
    return epcoll_count_in(atomic_load_explicit(
                               &member->place[owner].work[number % EPCOLL_WINDOW].done,
                               memory_order_acquire),
                           number);
}

/** Are all shares of a member's piece done? */
static inline bool epcoll_is_work_over(epcoll_member_t *member, uint32_t owner, uint32_t shares)
{
    return 0 == shares || epcoll_done(member, owner) >= shares;
}

/**
 * The operation has failed, and the block is broken: nobody takes a share of a piece any more, and
 * those that were taken are done when this returns.  Any number of members may do so.
 *
 * Who closes first takes all that are left, and counts them as done without doing them; so the piece
 * is over, for all who close it, when as many are done as there can be.
 */
static inline void epcoll_close(epcoll_member_t *member, uint32_t owner)
{
    const uint64_t number = member->number;
    _Atomic uint64_t *word = &member->place[owner].work[number % EPCOLL_WINDOW].claimed;
    /* Relaxed: as in epcoll_claim. */
    const uint64_t old = atomic_exchange_explicit(word,
                                                  epcoll_counted(number, EPCOLL_SHARES_MOST),
                                                  memory_order_relaxed);
    const uint32_t taken = (uint32_t) epcoll_count_in(old, number);

    if (EPCOLL_SHARES_MOST != taken) {
        epcoll_count_done(member, owner, EPCOLL_SHARES_MOST - taken);
    }
    for (uint32_t looks = 1; EPCOLL_SHARES_MOST != epcoll_done(member, owner); ++looks) {
        if (0 == looks % EPCOLL_LOOKS_FIRST) {
            (void) sched_yield(); /* who has one may have lost its core */
        }
        epcoll_relax();
    }
}

#endif /* COLL_EPCOLL_WORK_H */
