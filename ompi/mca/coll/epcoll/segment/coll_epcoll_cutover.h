/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * From which call on do members use an object that each of them has to get first?  A shared word
 * decides it, and no member waits for another one.
 *
 * All members count the same calls in the same order.  Each gets the object in the same call of its
 * own, and joins.  Later calls take the old path until all members have joined: each member that
 * makes one records its number in the word.  Once all have joined, the word is constant, and calls
 * after the recorded one use the object: any call made before that by any member is in the word,
 * where all others find it.  Where a member could not get the object, the word stays open until one
 * member gives up for all.
 *
 * Memory order.  Relaxed: the word publishes nothing but itself; the shared object is all 0 at
 * first.
 *
 * Standalone:  C11 atomics, no Open MPI.
 *
 * Tests: unit/test_epcoll_ring, coll_nomem
 */

#ifndef COLL_EPCOLL_CUTOVER_H
#define COLL_EPCOLL_CUTOVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/** Later than any call: the object is never used. */
#define EPCOLL_NEVER UINT32_MAX

/** The word: members that have joined above, below the last call that takes another path.  0 at
 * first. */
typedef _Atomic uint64_t epcoll_cutover_t;

/** A member has it.  Once. */
static inline void epcoll_cutover_join(epcoll_cutover_t *word)
{
    atomic_fetch_add_explicit(word, UINT64_C(1) << 32, memory_order_relaxed);
}

/**
 * Does a call use it?  The same answer at all members; those that have not joined: no.
 *
 * @param members  members that have to join
 * @param call     its number, from 1; EPCOLL_NEVER: give up, unless all have joined
 */
static inline bool epcoll_cutover_uses(epcoll_cutover_t *word, uint32_t members, uint32_t call)
{
    uint64_t now = atomic_load_explicit(word, memory_order_relaxed);

    do {
        if (members == now >> 32) {
            return (uint32_t) now < call;
        }
        if (call <= (uint32_t) now) {
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(word, &now,
                                                    (now & ~(uint64_t) UINT32_MAX) | call,
                                                    memory_order_relaxed, memory_order_relaxed));
    return false;
}

#endif /* COLL_EPCOLL_CUTOVER_H */
