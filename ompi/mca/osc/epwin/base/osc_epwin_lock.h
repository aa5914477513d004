/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The fair lock of two groups (mca_osc_epwin_lock_t).  Holders of one group exclude those of the
 * other; the second group may also exclude its own.  Uncontended: one atomic instruction to take it,
 * one to release it.
 *
 *     word     bits 0-30   holders of EPWIN_GROUP_FIRST
 *              bit  31     a waiter is at the head of the queue: newcomers queue
 *              bits 32-62  holders of EPWIN_GROUP_SECOND or EPWIN_GROUP_ALONE
 *
 * A newcomer of the first or second group counts itself, and takes it back if it is excluded.  So the
 * counts may include newcomers for a moment, and a release subtracts instead of storing.
 *
 * Contended, waiters queue by tickets, whatever their group.  The head sets bit 31 and takes the lock
 * when no holder excludes it, then serves the next ticket.  So a stream of holders of one group
 * cannot starve the other:
 *
 *  - tickets are served in their order;
 *  - once the head has polled, no newcomer takes the lock before it.  (Before, some may: the previous
 *    head clears bit 31 if it sees no other ticket.)
 *
 * An origin that holds the first group's lock of another domain joins (EPWIN_GROUP_JOIN).  It takes no
 * ticket: a waiter in the queue may depend on the lock that this origin holds, which would be a
 * deadlock.  The origin defers to the waiter for a number of polls, which doubles with each origin that
 * has passed the waiter.  Holders that wait for no other lock release theirs within that time, so a
 * stream of joining origins does not starve a waiter.  An origin that holds this lock by another member
 * of the domain passes at once (EPWIN_GROUP_AGAIN): the waiter waits for that origin.
 *
 * A waiter that gives up keeps its ticket, and the queue stands still from then on.  A waiter gives
 * up only when a member is lost, and then all others do the same (MPI_ERR_PROC_FAILED).
 *
 * Standalone: no Open MPI.  Used directly by members of a domain, and by the target's steps for
 * origins of other domains, which poll instead of waiting.
 *
 * Tests: unit/test_epwin_lock, win_lock
 */

#ifndef MCA_OSC_EPWIN_LOCK_H
#define MCA_OSC_EPWIN_LOCK_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/** One cache line; starts as zeros. */
typedef struct mca_osc_epwin_lock_t {
    alignas(64) _Atomic uint64_t word;
    _Atomic uint32_t next;    /**< ticket of the next waiter */
    _Atomic uint32_t serving; /**< ticket of the head of the queue */
    _Atomic uint32_t joining; /**< waiters of EPWIN_GROUP_JOIN that go first; without tickets */
    _Atomic uint32_t passed;  /**< of EPWIN_GROUP_JOIN that have passed the head of the queue */
} mca_osc_epwin_lock_t;

_Static_assert(64 == sizeof(mca_osc_epwin_lock_t), "one line");

/** A lock is used with the first group and one of the others, always the same. */
typedef enum epwin_group_t {
    EPWIN_GROUP_FIRST,  /**< a member's lock: shared; a domain's lock: MPI_Win_lock_all */
    EPWIN_GROUP_SECOND, /**< a domain's lock: exclusive locks of its members */
    EPWIN_GROUP_ALONE, /**< in the second group, which excludes its own: a member's exclusive lock */
    EPWIN_GROUP_JOIN,  /**< epwin_lock_poll only: the first group, past waiters.  For an epoch of
                        * MPI_Win_lock_all that has begun already.  Released as the first group */
    EPWIN_GROUP_AGAIN  /**< likewise, at once, for an epoch that has this lock already */
} epwin_group_t;

/** A waiter's state; all 0 at first, and again when the lock is held. */
typedef struct epwin_lock_wait_t {
    bool has_ticket; /**< EPWIN_GROUP_JOIN: is counted in joining */
    uint32_t ticket; /**< EPWIN_GROUP_JOIN: polls that have let a waiter go first */
} epwin_lock_wait_t;

/** Polls of one that joins that let a waiter go first, and the most doublings of them. */
#define EPWIN_LOCK_JOIN_POLLS 64
#define EPWIN_LOCK_JOIN_DOUBLINGS 14

#define EPWIN_LOCK_FIRST UINT64_C(0x7fffffff)
#define EPWIN_LOCK_WAITING (UINT64_C(1) << 31)
#define EPWIN_LOCK_SECOND (UINT64_C(0x7fffffff) << 32)

/** A holder of a group in the word. */
static inline uint64_t epwin_lock_unit(epwin_group_t group)
{
    return EPWIN_GROUP_FIRST == group ? 1 : UINT64_C(1) << 32;
}

/** Holders in the word that exclude a group. */
static inline uint64_t epwin_lock_excluding(epwin_group_t group)
{
    return EPWIN_GROUP_FIRST == group    ? EPWIN_LOCK_SECOND
           : EPWIN_GROUP_SECOND == group ? EPWIN_LOCK_FIRST
                                         : EPWIN_LOCK_FIRST | EPWIN_LOCK_SECOND;
}

/* All read-modify-writes that take or release a lock are sequentially consistent.  Acquire and
 * release order the accesses of successive holders.  The total order is for one that releases one
 * lock and takes another: of two threads that put under each other's lock, and then get under the
 * own one, one must see the other's put.  On x86-64 and aarch64 these are the same instructions. */

/**
 * The fast path: take the lock if nobody excludes the group and nobody waits.  Any thread.  A caller
 * that has got false goes on with epwin_lock_poll.
 */
static inline bool epwin_lock_try(mca_osc_epwin_lock_t *lock, epwin_group_t group)
{
    const uint64_t unit = epwin_lock_unit(group);
    uint64_t word = 0;

    if (EPWIN_GROUP_ALONE == group) {
        /* Partner: epwin_lock_release.  Relaxed on failure: nothing is accessed. */
        return atomic_compare_exchange_strong_explicit(&lock->word, &word, unit,
                                                       memory_order_seq_cst, memory_order_relaxed);
    }
    word = atomic_fetch_add_explicit(&lock->word, unit, memory_order_seq_cst); /* likewise */
    if (__builtin_expect(0 == (word & (epwin_lock_excluding(group) | EPWIN_LOCK_WAITING)), 1)) {
        return true;
    }
    /* Relaxed: nothing has been accessed.  It continues the release sequence of those before. */
    (void) atomic_fetch_sub_explicit(&lock->word, unit, memory_order_relaxed);
    return false;
}

/** Does one that joins let a waiter go first? */
static inline bool epwin_lock_defer(mca_osc_epwin_lock_t *lock, epwin_lock_wait_t *wait)
{
    /* Relaxed, all of these: what is not seen yet counts in the next poll. */
    const uint32_t passed = atomic_load_explicit(&lock->passed, memory_order_relaxed);

    if (wait->has_ticket
        || atomic_load_explicit(&lock->next, memory_order_relaxed)
               == atomic_load_explicit(&lock->serving, memory_order_relaxed)) {
        return false;
    }
    if (wait->ticket
        < (uint32_t) EPWIN_LOCK_JOIN_POLLS
              << (passed < EPWIN_LOCK_JOIN_DOUBLINGS ? passed : EPWIN_LOCK_JOIN_DOUBLINGS)) {
        ++wait->ticket;
        return true;
    }
    (void) atomic_fetch_add_explicit(&lock->passed, 1, memory_order_relaxed);
    return false;
}

/** Try to take the lock past waiters.  The bit that it leaves behind makes one newcomer queue, at
 * most. */
static inline bool epwin_lock_join(mca_osc_epwin_lock_t *lock, epwin_lock_wait_t *wait)
{
    const uint64_t word = atomic_fetch_add_explicit(&lock->word, 1, memory_order_seq_cst);

    if (0 == (word & EPWIN_LOCK_SECOND)) {
        wait->ticket = 0;
        if (wait->has_ticket) {
            wait->has_ticket = false;
            (void) atomic_fetch_sub_explicit(&lock->joining, 1, memory_order_relaxed);
        }
        return true;
    }
    /* Relaxed, all of these: nothing has been accessed, and a head that does not see joining yet is
     * one more holder, not an endless stream of them. */
    (void) atomic_fetch_sub_explicit(&lock->word, 1, memory_order_relaxed);
    if (!wait->has_ticket) {
        wait->has_ticket = true;
        (void) atomic_fetch_add_explicit(&lock->joining, 1, memory_order_relaxed);
    }
    if (0 == (word & EPWIN_LOCK_WAITING)) {
        (void) atomic_fetch_or_explicit(&lock->word, EPWIN_LOCK_WAITING, memory_order_relaxed);
    }
    return false;
}

/**
 * Try once more, in the order of the queue; the first call draws a ticket.  Never waits.  A ticket is
 * of no thread: steps of a target may poll for one origin in different threads, one at a time.
 *
 * @return true: the lock is held, and the waiter has no ticket any more; false: call it again
 */
static inline bool epwin_lock_poll(mca_osc_epwin_lock_t *lock, epwin_group_t group,
                                   epwin_lock_wait_t *wait)
{
    uint64_t word, held;

    if (EPWIN_GROUP_AGAIN == group || EPWIN_GROUP_JOIN == group) {
        return (EPWIN_GROUP_AGAIN == group || !epwin_lock_defer(lock, wait))
               && epwin_lock_join(lock, wait);
    }
    if (!wait->has_ticket) {
        /* Relaxed: a ticket orders nothing. */
        wait->ticket = atomic_fetch_add_explicit(&lock->next, 1, memory_order_relaxed);
        wait->has_ticket = true;
    }
    /* Acquire: what follows comes after the previous head's change of word; partner: the release
     * below. */
    if (wait->ticket != atomic_load_explicit(&lock->serving, memory_order_acquire)) {
        return false;
    }
    /* Relaxed: the compare-and-swap below orders. */
    word = atomic_load_explicit(&lock->word, memory_order_relaxed);
    if (0 == (word & EPWIN_LOCK_WAITING)) {
        word = atomic_fetch_or_explicit(&lock->word, EPWIN_LOCK_WAITING, memory_order_relaxed)
               | EPWIN_LOCK_WAITING;
    }
    /* Relaxed: a hint. */
    if (0 != (word & epwin_lock_excluding(group))
        || (EPWIN_GROUP_FIRST != group
            && 0 != atomic_load_explicit(&lock->joining, memory_order_relaxed))) {
        return false;
    }
    held = word + epwin_lock_unit(group);
    /* Relaxed: one that draws a ticket after this sets the bit again, as soon as it is the head. */
    if (wait->ticket + 1 == atomic_load_explicit(&lock->next, memory_order_relaxed)) {
        held &= ~EPWIN_LOCK_WAITING;
    }
    /* It fails where holders leave and newcomers come and go: next time.  Partner and orders: as in
     * epwin_lock_try. */
    if (!atomic_compare_exchange_strong_explicit(&lock->word, &word, held, memory_order_seq_cst,
                                                 memory_order_relaxed)) {
        return false;
    }
    wait->has_ticket = false;
    /* Relaxed: a hint for those that join. */
    atomic_store_explicit(&lock->passed, 0, memory_order_relaxed);
    /* Release: the next head finds this holder in word; partner: the load above. */
    atomic_store_explicit(&lock->serving, wait->ticket + 1, memory_order_release);
    return true;
}

/** Release it.  Any thread, not only the one that took it. */
static inline void epwin_lock_release(mca_osc_epwin_lock_t *lock, epwin_group_t group)
{
    /* Release: the holder's accesses come before the next holder's; partners: epwin_lock_try,
     * epwin_lock_poll. */
    (void) atomic_fetch_sub_explicit(&lock->word, epwin_lock_unit(group), memory_order_seq_cst);
}

#endif /* MCA_OSC_EPWIN_LOCK_H */
