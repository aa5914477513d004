/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A lock that costs its usual owner nothing: biased towards the thread that takes it again and
 * again.
 *
 * The thread that the lock is biased to enters by two plain stores and loads, without an atomic
 * read-modify-write.  Any other thread takes the lock proper, and with it first ends the bias:
 *
 *   owner                              other thread (holds the lock proper)
 *   inside = true                      owner = 0
 *   (compiler barrier)                 membarrier: every thread passes a full barrier
 *   owner still me?  entered           wait until not inside
 *
 * The two sides are Dekker's: each writes its own flag and then looks at the other's.  The owner's
 * store may still be in its core's store buffer when it looks; the membarrier system call makes up
 * for that on the rare side, so that at least one of the two sees the other.  A thread that takes
 * the lock proper many times in a row without competition gets the bias.
 *
 * The system call interrupts every core that runs a thread of the process, so it must stay rare,
 * whatever threads do.  A bias that ends within EPML_LOCK_BIAS_WORTH was not worth it: the streak
 * that wins the next one is twice as long, up to EPML_LOCK_BIAS_MOST, which takes as long again;
 * after one that has lasted it is halved, down to where it began.  So a lock ends a bias a hundred
 * times a second at most, but for the first few.  Beyond that all locks of a process together have
 * EPML_LOCK_ENDINGS a second: while that budget is used up, no thread wins a bias.  A visitor that
 * finds that the owner was quicker leaves it the bias, but has ended it for a moment all the same:
 * visits count as well, and are left off when there are too many.
 *
 * Where the kernel has no membarrier, or the program may not call it, there is never a bias and the
 * lock is an ordinary test-and-set lock.
 *
 * Standalone: no Open MPI.
 *
 * Tests: unit/test_epml_lock, unit/test_epml_lock_walks, unit/test_epml_lock_bias, model/lock
 */

#ifndef MCA_PML_EPML_BIASED_LOCK_H
#define MCA_PML_EPML_BIASED_LOCK_H

#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/** Acquisitions in a row by one thread that win it the bias.  Losing the bias costs a system call
 * (microseconds), so it must be worth at least some hundred atomic operations. */
#define EPML_LOCK_BIAS_AFTER 256

/** The longest streak that can be asked for: some 10 ms of nothing but taking the lock. */
#define EPML_LOCK_BIAS_MOST (1u << 20)

/** Nanoseconds that a bias must last to be worth its end.  (Tests of how it ends want many.) */
#ifndef EPML_LOCK_BIAS_WORTH
#    define EPML_LOCK_BIAS_WORTH 10000000
#endif

/** Endings of biases that a process may have: a second, and at a time.  As many again at a time are
 * for visits alone: threads that win biases and lose them must not keep helpers out for good. */
#ifndef EPML_LOCK_ENDINGS
#    define EPML_LOCK_ENDINGS 1000
#endif
#define EPML_LOCK_ENDINGS_BURST 100

/** Threads that may have been owners and not been heard of since; a power of two. */
#define EPML_LOCK_SLOTS 4

/**
 * A thread that has looked at owner, and found itself, may be preempted before it writes inside,
 * and do so when the lock has long been biased to another.  So each owner has a flag of its own,
 * in a slot that no other thread gets until the first has been seen to be past that point: it has
 * taken the lock proper.  While no slot is free, no other thread wins the bias.
 */
typedef struct epml_lock_t {
    _Atomic uintptr_t owner; /**< thread the lock is biased to, plus its slot; 0: none */
    _Atomic bool inside[EPML_LOCK_SLOTS]; /**< written by the user of the slot only: it is in */
    _Atomic bool locked;                  /**< the lock proper */
    bool by_bias;                         /**< how the present holder came in; the holder's own */
    uint8_t slot;                         /**< by_bias: the holder's slot */
    uint32_t streak;     /**< acquisitions of the lock proper in a row by candidate; under it */
    uint32_t bias_after; /**< acquisitions in a row by one thread that win it the bias; written by a
                              thread that is in, in either way, read by the holder of the lock
                              proper */
    _Atomic uintptr_t candidate;      /**< the last thread that took the lock proper; written under
                                           it, read by all */
    uintptr_t users[EPML_LOCK_SLOTS]; /**< threads that may write inside; 0: free; under the lock */
    uint64_t biased_ns;               /**< when the last bias began; under the lock proper */
    uint32_t bias_least;              /**< what bias_after was at first; likewise */
    uint32_t biases;                  /**< counts biases won; under the lock proper */
} epml_lock_t;

/** Up to when the endings so far have used up what the process may have, in nanoseconds of
 * CLOCK_MONOTONIC: each takes its share of a second.  Defined once, by the including source. */
extern _Atomic uint64_t epml_lock_endings_until;

/** Tell the core that we spin. */
static inline void epml_lock_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield" ::: "memory");
#endif
}

/** A number that the running thread shares with no other running thread; never 0. */
static inline uintptr_t epml_lock_self(void)
{
    uintptr_t self;

    /* The thread pointer itself: pthread_self() is the same number, behind a call. */
#if defined(__x86_64__) && defined(__LP64__)
    __asm__("mov %%fs:0, %0" : "=r"(self));
#elif defined(__aarch64__)
    __asm__("mrs %0, tpidr_el0" : "=r"(self));
#else
    self = (uintptr_t) pthread_self();
#endif
    return self;
}

/** Ask the kernel once for the right to use its barrier.  @return whether biasing is possible */
static inline bool epml_lock_setup(void)
{
    return 0 == syscall(__NR_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
}

/** @param[in] bias_after  EPML_LOCK_BIAS_AFTER; less if one thread is known to be the only one */
static inline void epml_lock_init(epml_lock_t *lock, uint32_t bias_after)
{
    atomic_init(&lock->owner, 0);
    for (unsigned int i = 0; i < EPML_LOCK_SLOTS; ++i) {
        atomic_init(&lock->inside[i], false);
        lock->users[i] = 0;
    }
    atomic_init(&lock->locked, false);
    lock->by_bias = false;
    lock->slot = 0;
    lock->streak = 0;
    lock->bias_after = bias_after;
    lock->bias_least = bias_after;
    lock->biased_ns = 0;
    lock->biases = 0;
    atomic_init(&lock->candidate, 0);
}

/** Try to enter by the bias.  @return false: take the lock proper */
static inline bool epml_lock_enter_biased(epml_lock_t *lock, uintptr_t self)
{
    /* Relaxed: only this thread can have been made owner under this number. */
    const uintptr_t owner = atomic_load_explicit(&lock->owner, memory_order_relaxed);
    const uintptr_t slot = owner - self;

    if (EPML_LOCK_SLOTS <= slot) {
        return false;
    }
    /* Relaxed, with only the compiler held back: the other side's membarrier stands for the fence
     * between this store and the load below. */
    atomic_store_explicit(&lock->inside[slot], true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    /* Acquire: what we do inside stays behind this look. */
    if (__builtin_expect(owner == atomic_load_explicit(&lock->owner, memory_order_acquire), 1)) {
        lock->by_bias = true;
        lock->slot = (uint8_t) slot;
        return true;
    }
    atomic_store_explicit(&lock->inside[slot], false, memory_order_release);
    return false;
}

/** @return whether the owner, or the last owner, is in */
static inline bool epml_lock_owner_in(epml_lock_t *lock, uintptr_t owner)
{
    /* Acquire pairs with the release in epml_lock_leave: what the owner did inside is ordered
     * before what we do. */
    return 0 != owner
           && atomic_load_explicit(&lock->inside[owner % EPML_LOCK_SLOTS], memory_order_acquire);
}

/** Nanoseconds of CLOCK_MONOTONIC. */
#ifndef EPML_LOCK_CLOCK
#    define EPML_LOCK_CLOCK epml_lock_clock
#endif

static inline uint64_t epml_lock_clock(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t) now.tv_sec * 1000000000 + (uint64_t) now.tv_nsec;
}

/** Is there one of so many endings at a time left?  A guess: others may have the same thought. */
static inline bool epml_lock_may_end(uint64_t now, unsigned int burst)
{
    /* Relaxed, here and below: only the number matters. */
    return atomic_load_explicit(&epml_lock_endings_until, memory_order_relaxed)
           <= now + (uint64_t) burst * (1000000000 / EPML_LOCK_ENDINGS);
}

/** An ending is spent. */
static inline void epml_lock_spend(uint64_t now)
{
    uint64_t until = atomic_load_explicit(&epml_lock_endings_until, memory_order_relaxed);

    /* Two at the same time may count as one: the bound is a little wider then. */
    until = (until < now ? now : until) + 1000000000 / EPML_LOCK_ENDINGS;
    atomic_store_explicit(&epml_lock_endings_until, until, memory_order_relaxed);
}

/** A bias has ended: was it worth it?  The lock proper is held, and the owner is out. */
static inline void epml_lock_judge(epml_lock_t *lock, uint64_t now)
{
    if (now - lock->biased_ns < EPML_LOCK_BIAS_WORTH) {
        lock->bias_after = lock->bias_after < EPML_LOCK_BIAS_MOST / 2 ? 2 * lock->bias_after
                                                                      : EPML_LOCK_BIAS_MOST;
    } else if (lock->bias_after / 2 >= lock->bias_least) {
        lock->bias_after /= 2;
    }
}

/** The lock proper is held: end the bias.  Afterwards the owner is out, or inside is set. */
static inline void epml_lock_revoke(epml_lock_t *lock, uint64_t now)
{
    atomic_store_explicit(&lock->owner, 0, memory_order_relaxed);
    if (0 != syscall(__NR_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0)) {
        abort(); /* allowed when asked and forbidden since: no thread is excluded any more */
    }
    epml_lock_spend(now);
}

/** The lock proper is held, and biased to owner: end that, and let the owner get out. */
static __attribute__((noinline, unused)) void epml_lock_end_bias(epml_lock_t *lock, uintptr_t owner)
{
    const uint64_t now = EPML_LOCK_CLOCK();

    epml_lock_revoke(lock, now);
    for (uint32_t spins = 1; epml_lock_owner_in(lock, owner); ++spins) {
        epml_lock_relax();
        if (0 == spins % 64) {
            sched_yield();
        }
    }
    /* Not before the owner is out: it may have been in to set the streak (epml_lock_set_streak). */
    epml_lock_judge(lock, now);
}

/** Try to take the lock proper; its holder may have to end a bias yet. */
static inline bool epml_lock_try_proper(epml_lock_t *lock)
{
    /* The plain load first keeps waiting threads from writing the line.  Acquire pairs with the
     * release in epml_lock_leave. */
    return !atomic_load_explicit(&lock->locked, memory_order_relaxed)
           && !atomic_exchange_explicit(&lock->locked, true, memory_order_acquire);
}

/** This thread has the lock proper: it is not about to write inside. */
static inline void epml_lock_release_slot(epml_lock_t *lock, uintptr_t self)
{
    for (unsigned int i = 0; i < EPML_LOCK_SLOTS; ++i) {
        if (self == lock->users[i]) {
            lock->users[i] = 0;
        }
    }
}

/** This thread has the lock proper and will be the owner, if a slot is free. */
static __attribute__((noinline, unused)) void epml_lock_grant(epml_lock_t *lock)
{
    /* Relaxed: this thread has written it. */
    const uintptr_t self = atomic_load_explicit(&lock->candidate, memory_order_relaxed);
    const uint64_t now = EPML_LOCK_CLOCK();

    lock->streak = 0;
    if (!epml_lock_may_end(now, EPML_LOCK_ENDINGS_BURST)) {
        return;
    }
    lock->biased_ns = now;
    epml_lock_release_slot(lock, self);
    for (unsigned int i = 0; i < EPML_LOCK_SLOTS && 0 == self % EPML_LOCK_SLOTS; ++i) {
        if (0 == lock->users[i]) {
            lock->users[i] = self;
            ++lock->biases;
            /* Relaxed: the new owner is this thread. */
            atomic_store_explicit(&lock->owner, self + i, memory_order_relaxed);
            return;
        }
    }
}

/** The lock proper has been taken and no thread is inside by a bias. */
static inline void epml_lock_taken(epml_lock_t *lock, uintptr_t self)
{
    lock->by_bias = false;
    /* Relaxed, both: written under the lock proper only; for the others see epml_lock_is_last. */
    if (self == atomic_load_explicit(&lock->candidate, memory_order_relaxed)) {
        ++lock->streak;
    } else {
        atomic_store_explicit(&lock->candidate, self, memory_order_relaxed);
        lock->streak = 1;
        epml_lock_release_slot(lock, self);
    }
}

/** Take the lock if no thread holds the lock proper; waits for an owner to get out. */
static inline bool epml_lock_try(epml_lock_t *lock)
{
    const uintptr_t self = epml_lock_self();
    uintptr_t owner;

    if (epml_lock_enter_biased(lock, self)) {
        return true;
    }
    if (!epml_lock_try_proper(lock)) {
        return false;
    }
    /* Relaxed: the owner is set and cleared under the lock proper. */
    owner = atomic_load_explicit(&lock->owner, memory_order_relaxed);
    if (__builtin_expect(0 != owner, 0)) {
        epml_lock_end_bias(lock, owner);
    }
    epml_lock_taken(lock, self);
    return true;
}

/** The lock proper is held by a visitor, and biased to owner: end that, if the owner is not in and
 * there are not too many that do so.  @return false: the owner keeps its bias */
static __attribute__((noinline, unused)) bool epml_lock_visit_owner(epml_lock_t *lock,
                                                                    uintptr_t owner)
{
    const uint64_t now = EPML_LOCK_CLOCK();

    if (!epml_lock_may_end(now, 2 * EPML_LOCK_ENDINGS_BURST)) {
        return false;
    }
    epml_lock_revoke(lock, now);
    if (epml_lock_owner_in(lock, owner)) {
        /* It was quicker.  The bias is not judged: it goes on. */
        atomic_store_explicit(&lock->owner, owner, memory_order_relaxed);
        return false;
    }
    epml_lock_judge(lock, now);
    return true;
}

/** Take the lock only if no thread is in, for a thread that has other things to do. */
static inline bool epml_lock_try_visit(epml_lock_t *lock)
{
    uintptr_t owner;

    if (epml_lock_owner_in(lock, atomic_load_explicit(&lock->owner, memory_order_relaxed))
        || !epml_lock_try_proper(lock)) {
        return false;
    }
    owner = atomic_load_explicit(&lock->owner, memory_order_relaxed);
    if (0 != owner && !epml_lock_visit_owner(lock, owner)) {
        atomic_store_explicit(&lock->locked, false, memory_order_release);
        return false;
    }
    /* A visitor is no candidate, and does not end the streak of one. */
    lock->by_bias = false;
    return true;
}

/** Is this thread the one that took the lock last, visits left out?  A hint; any thread, without
 * the lock. */
static inline bool epml_lock_is_last(epml_lock_t *lock, uintptr_t self)
{
    /* Relaxed: what this thread has written itself it sees, and of others a guess is enough. */
    const uintptr_t owner = atomic_load_explicit(&lock->owner, memory_order_relaxed);

    return 0 != owner ? owner - self < EPML_LOCK_SLOTS
                      : self == atomic_load_explicit(&lock->candidate, memory_order_relaxed);
}

/** Another thread is in. */
static __attribute__((noinline, unused)) void epml_lock_wait(epml_lock_t *lock)
{
    for (uint32_t spins = 1; !epml_lock_try(lock); ++spins) {
        epml_lock_relax();
        if (0 == spins % 64) {
            sched_yield();
        }
    }
}

/** Not recursive. */
static inline void epml_lock_enter(epml_lock_t *lock)
{
    if (__builtin_expect(!epml_lock_try(lock), 0)) {
        epml_lock_wait(lock);
    }
}

/** From now on so many acquisitions in a row win the bias, as if the lock were new; its present
 * owner keeps it.  The caller is in.
 *
 * If it is in by its bias, others may hold the lock proper, but wait for it before they read or
 * write these fields: epml_lock_owner_in's acquire pairs with the release in epml_lock_leave. */
static inline void epml_lock_set_streak(epml_lock_t *lock, uint32_t bias_after)
{
    if (bias_after != lock->bias_least) {
        lock->bias_least = bias_after;
        lock->bias_after = bias_after;
    }
}

/** @param[in] may_bias  result of epml_lock_setup */
static inline void epml_lock_leave(epml_lock_t *lock, bool may_bias)
{
    if (__builtin_expect(lock->by_bias, 1)) {
        /* Release pairs with the acquires of inside. */
        atomic_store_explicit(&lock->inside[lock->slot], false, memory_order_release);
        return;
    }
    /* Not in a visit: a full streak ends with the leave that fills it, so no visitor sees one. */
    if (may_bias && lock->streak >= lock->bias_after) {
        epml_lock_grant(lock);
    }
    /* Release pairs with the acquire in epml_lock_try_proper. */
    atomic_store_explicit(&lock->locked, false, memory_order_release);
}

#endif /* MCA_PML_EPML_BIASED_LOCK_H */
