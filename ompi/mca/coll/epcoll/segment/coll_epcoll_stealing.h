/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Work stealing in a segment (coll_epcoll_segment.h): long operations are divided into chunks,
 * which the members that are there claim.
 *
 * All have arrived, and have published their buffers.  The work is divided into partitions of
 * chunks, one for each member.  A member claims the chunks of its own partition from the first to
 * the last, and then those of others.  So a member mostly works on what it worked on last time (its
 * caches), and a descheduled one delays the others by one chunk.
 *
 * A partition has a word: a part of the operation's sequence number, chunks that have been claimed,
 * and chunks that are done.  In a later operation both counts read as 0, so nothing is reset, and a
 * chunk is claimed once.  All changes that count chunks as done are atomic read-modify-writes with
 * release, and only read-modify-writes follow them: a member that loads the word (acquire) sees all
 * work that is counted in it, of whichever member.
 *
 * Tests: unit/test_epcoll_segment, coll_late
 */

#ifndef COLL_EPCOLL_STEALING_H
#define COLL_EPCOLL_STEALING_H

#include <sched.h>

#include "coll_epcoll_segment.h"

/** Bits of a count: a partition has fewer chunks than that. */
#define EPCOLL_CHUNK_BITS 20
#define EPCOLL_CHUNKS_MAX ((UINT32_C(1) << EPCOLL_CHUNK_BITS) - 1)

/** Bits of the number above both counts: operations from one to the next of the same bits. */
#define EPCOLL_WORK_BITS (64 - 2 * EPCOLL_CHUNK_BITS)

/** The word of a member's partition in the operation that we are in. */
static inline _Atomic uint64_t *epcoll_work_word(const epcoll_member_t *member, uint32_t owner)
{
    return &epcoll_ctrl(member, owner)->work[member->seq % EPCOLL_WINDOW];
}

/** That word in this operation, as long as there is nothing in it. */
static inline uint64_t epcoll_work_none(const epcoll_member_t *member)
{
    return member->seq << 2 * EPCOLL_CHUNK_BITS;
}

/** A word's value in this operation. */
static inline uint64_t epcoll_work_in(const epcoll_member_t *member, uint64_t word)
{
    const uint64_t none = epcoll_work_none(member);

    return (word ^ none) >> 2 * EPCOLL_CHUNK_BITS == 0 ? word : none;
}

static inline uint32_t epcoll_claimed_in(uint64_t word)
{
    return (uint32_t) (word >> EPCOLL_CHUNK_BITS) & EPCOLL_CHUNKS_MAX;
}

static inline uint32_t epcoll_done_in(uint64_t word)
{
    return (uint32_t) word & EPCOLL_CHUNKS_MAX;
}

/**
 * Before we publish our arrival: our word may be of an operation 2^EPCOLL_WORK_BITS before this
 * one, or a multiple of that, and look like one of this one.  Others touch it only after our
 * arrival, or to close it after a break.
 */
static inline void epcoll_work_begin(epcoll_member_t *member)
{
    _Atomic uint64_t *word = epcoll_work_word(member, member->index);
    /* Acquire pairs with the release in epcoll_work_close: if it is that word, we see the break. */
    uint64_t old = atomic_load_explicit(word, memory_order_acquire);

    if (__builtin_expect(old == epcoll_work_in(member, old), 0)
        && 0 == atomic_load_explicit(member->broken, memory_order_relaxed)) {
        /* Relaxed: our arrival is published after it, with release.  If another member closes it
         * now, its value stays: of the old one all that was claimed was done. */
        (void) atomic_compare_exchange_strong_explicit(word, &old, epcoll_work_none(member),
                                                       memory_order_relaxed, memory_order_relaxed);
    }
}

/**
 * Take a chunk of a member's partition in the operation that we are in.
 *
 * @param chunks  how many the partition has: the same for all members
 * @param chunk   set to its number, from 0
 *
 * @return false if all are taken
 */
static inline bool epcoll_work_claim(epcoll_member_t *member, uint32_t owner, uint32_t chunks,
                                     uint32_t *chunk)
{
    _Atomic uint64_t *word = epcoll_work_word(member, owner);
    /* Relaxed: the buffers were seen when all arrived; what was done is read by
     * epcoll_work_done. */
    uint64_t old = atomic_load_explicit(word, memory_order_relaxed), now;

    do {
        now = epcoll_work_in(member, old);
        if (chunks <= epcoll_claimed_in(now)) {
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(word, &old,
                                                    now + (UINT64_C(1) << EPCOLL_CHUNK_BITS),
                                                    memory_order_relaxed, memory_order_relaxed));
    *chunk = epcoll_claimed_in(now);
    return true;
}

/** A chunk that we took is done. */
static inline void epcoll_chunk_done(epcoll_member_t *member, uint32_t owner)
{
    /* Release pairs with the acquire in epcoll_work_done.  The word is this operation's: we have
     * claimed. */
    atomic_fetch_add_explicit(epcoll_work_word(member, owner), 1, memory_order_release);
}

/** Has epcoll_work_close ended the partition? */
static inline bool epcoll_is_closed_in(uint64_t word)
{
    return EPCOLL_CHUNKS_MAX == epcoll_done_in(word);
}

/** How many chunks of a member's partition are done?  What was done for them is seen. */
static inline uint32_t epcoll_work_done(epcoll_member_t *member, uint32_t owner)
{
    /* Acquire pairs with the releases in epcoll_chunk_done and epcoll_work_close. */
    return epcoll_done_in(epcoll_work_in(member,
                                         atomic_load_explicit(epcoll_work_word(member, owner),
                                                              memory_order_acquire)));
}

/** Of adjacent partitions of that many chunks each: how many of the first are over, in a row?
 * @param chunks  1 or more */
static inline uint32_t epcoll_work_over(epcoll_member_t *member, uint32_t owner, uint32_t count,
                                        uint32_t chunks)
{
    enum { STRIDE = sizeof(epcoll_ctrl_t) / sizeof(_Atomic uint64_t) };
    /* All chunks are claimed, and done. */
    const uint64_t over = epcoll_work_none(member)
                          + chunks * ((UINT64_C(1) << EPCOLL_CHUNK_BITS) + 1);
    _Atomic uint64_t *word = epcoll_work_word(member, owner);
    uint32_t left = count;

#pragma GCC unroll 4
    for (; 0 < left; --left, word += STRIDE) {
        /* Acquire: as in epcoll_work_done. */
        const uint64_t now = atomic_load_explicit(word, memory_order_acquire);

        if (over != now && !epcoll_is_closed_in(epcoll_work_in(member, now))) {
            break;
        }
    }
    return count - left;
}

/**
 * The operation has failed, and the segment is broken: no chunk of a partition is claimed any more,
 * and those that were claimed are done when this returns.  Any number of members may do so.
 *
 * The first member that closes claims all that are left, and counts them as done without doing
 * them.  So the partition is completed, for all that close it, when as many are done as there can
 * be.
 */
static inline void epcoll_work_close(epcoll_member_t *member, uint32_t owner)
{
    _Atomic uint64_t *word = epcoll_work_word(member, owner);
    uint64_t old = atomic_load_explicit(word, memory_order_relaxed), now;

    do {
        now = epcoll_work_in(member, old);
        /* Those that are claimed by it count as done; each of the others is counted by the member
         * that has it. */
        now += (uint64_t) (EPCOLL_CHUNKS_MAX - epcoll_claimed_in(now))
               * ((UINT64_C(1) << EPCOLL_CHUNK_BITS) + 1);
        /* Release pairs with the acquires in epcoll_work_done and epcoll_work_begin. */
    } while (!atomic_compare_exchange_weak_explicit(word, &old, now, memory_order_release,
                                                    memory_order_relaxed));
    for (uint32_t polls = 1; EPCOLL_CHUNKS_MAX != epcoll_work_done(member, owner); ++polls) {
        if (0 == polls % EPCOLL_POLLS_FIRST) {
            (void) sched_yield(); /* the member that has one may have lost its core */
        }
        epcoll_relax();
    }
}

#endif /* COLL_EPCOLL_STEALING_H */
