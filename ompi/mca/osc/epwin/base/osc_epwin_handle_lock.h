/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The lock of a window handle (mca_osc_epwin_handle_lock_t), biased to the first thread that takes it.
 *
 * That thread, the owner, may enter for a short section by plain stores and loads, without an atomic
 * read-modify-write.  The second thread that takes the lock ends the bias for good, so a handle costs
 * one membarrier at most:
 *
 *     owner                           second thread, which holds the lock proper
 *     inside = true                   owner = 0
 *     (compiler barrier)              membarrier: every thread passes a full barrier
 *     owner still me?  entered        wait until not inside
 *
 * Of these two at least one sees what the other has written: if the owner looks before it passes the
 * barrier, its store is visible after the barrier; if it looks later, it finds 0.  The owner's flag is
 * never another thread's: no thread gets the bias after the first one.
 *
 * A section of the owner waits for nothing, calls nothing, and does not nest.  Everything else takes
 * the lock proper, the owner as well.  So the lock proper excludes all but the owner's sections, and
 * those are excluded by the end of the bias.
 *
 * The lock proper is recursive.
 *
 * Without membarrier in the kernel there is no bias.
 *
 * Standalone: no Open MPI.
 *
 * Tests: unit/test_epwin_handle_lock, model/handle
 */

#ifndef MCA_OSC_EPWIN_HANDLE_LOCK_H
#define MCA_OSC_EPWIN_HANDLE_LOCK_H

#include <linux/membarrier.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/** Polls before a thread that waits yields its core: the holder may need it. */
#define EPWIN_HANDLE_LOCK_SPINS 64

/** Starts as zeros. */
typedef struct mca_osc_epwin_handle_lock_t {
    _Atomic uintptr_t owner; /**< the thread that it is biased to; 0: none yet, or no more.  Written
                               * under the lock proper */
    _Atomic bool inside;     /**< the owner is in a section; written by that thread only */
    bool is_shared;          /**< two threads have taken the lock proper; under it */
    uint32_t depth;          /**< how often the holder has taken it once more; under it */
    _Atomic uintptr_t holder; /**< the thread that has the lock proper; 0: none */
    uintptr_t first;          /**< the first thread that has taken the lock proper; under it */
} mca_osc_epwin_handle_lock_t;

/** Ask the kernel for the right to use its barrier.  Milliseconds, where the process has several
 * threads and has not asked before; the engine has.  @return whether a lock may be biased */
static inline bool epwin_handle_lock_setup(void)
{
    return 0 == syscall(__NR_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
}

/**
 * Begin a section of the owner.
 *
 * @param[in] self  a number that the thread shares with no other running thread
 * @return false: this thread is not the owner
 */
static inline bool epwin_handle_lock_try_section(mca_osc_epwin_handle_lock_t *lock, uintptr_t self)
{
    /* Relaxed: only this thread can have been made the owner under this number. */
    if (__builtin_expect(self != atomic_load_explicit(&lock->owner, memory_order_relaxed), 0)) {
        return false;
    }
    /* Relaxed, with only the compiler held back: the membarrier of epwin_handle_lock_end_bias
     * stands for the fence between this store and the load. */
    atomic_store_explicit(&lock->inside, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    /* Relaxed: nobody else has been inside yet, if this thread is the owner still. */
    if (__builtin_expect(self == atomic_load_explicit(&lock->owner, memory_order_relaxed), 1)) {
        return true;
    }
    /* Relaxed: nothing has been accessed. */
    atomic_store_explicit(&lock->inside, false, memory_order_relaxed);
    return false;
}

/** End it. */
static inline void epwin_handle_lock_end_section(mca_osc_epwin_handle_lock_t *lock)
{
    /* Release: what has been written in the section; partner: epwin_handle_lock_end_bias. */
    atomic_store_explicit(&lock->inside, false, memory_order_release);
}

/** A pause in a spin: the core's other thread gets its share. */
static inline void epwin_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}

/** One poll of a thread that waits. */
static inline void epwin_handle_lock_spin(unsigned int spins)
{
    epwin_pause();
    if (0 == spins % EPWIN_HANDLE_LOCK_SPINS) {
        (void) sched_yield();
    }
}

/** The lock proper is held: afterwards the owner is out, and enters no more. */
static inline void epwin_handle_lock_end_bias(mca_osc_epwin_handle_lock_t *lock)
{
    /* Relaxed: the barrier orders it. */
    atomic_store_explicit(&lock->owner, 0, memory_order_relaxed);
    if (0 != syscall(__NR_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0)) {
        abort(); /* allowed when asked, and forbidden since: nobody is excluded any more */
    }
    /* Acquire: what the owner has written; partner: epwin_handle_lock_end_section. */
    for (unsigned int spins = 1; atomic_load_explicit(&lock->inside, memory_order_acquire);
         ++spins) {
        epwin_handle_lock_spin(spins);
    }
}

/**
 * Take the lock proper.
 *
 * @param[in] self      as of epwin_handle_lock_try_section
 * @param[in] may_bias  the first thread becomes the owner (epwin_handle_lock_setup)
 */
static __attribute__((noinline, unused)) void epwin_handle_lock_take(
    mca_osc_epwin_handle_lock_t *lock, uintptr_t self, bool may_bias)
{
    /* Relaxed: only this thread writes its own number. */
    if (self == atomic_load_explicit(&lock->holder, memory_order_relaxed)) {
        ++lock->depth;
        return;
    }
    for (unsigned int spins = 1;; ++spins) {
        uintptr_t nobody = 0;

        /* The plain load keeps waiting threads from writing the line.  Acquire: what the last
         * holder has written; partner: epwin_handle_lock_give. */
        if (0 == atomic_load_explicit(&lock->holder, memory_order_relaxed)
            && atomic_compare_exchange_weak_explicit(&lock->holder, &nobody, self,
                                                     memory_order_acquire, memory_order_relaxed)) {
            break;
        }
        epwin_handle_lock_spin(spins);
    }
    if (lock->is_shared || self == lock->first) {
        return;
    }
    if (0 == lock->first) {
        lock->first = self;
        /* Relaxed: this thread is the only one that looks for its number. */
        atomic_store_explicit(&lock->owner, may_bias ? self : 0, memory_order_relaxed);
        return;
    }
    lock->is_shared = true;
    /* Relaxed: written under the lock proper. */
    if (0 != atomic_load_explicit(&lock->owner, memory_order_relaxed)) {
        epwin_handle_lock_end_bias(lock);
    }
}

/** Instead, where the threads of a handle take turns: this thread is the owner now. */
static inline void epwin_handle_lock_pass(mca_osc_epwin_handle_lock_t *lock, uintptr_t self)
{
    /* Relaxed: the program orders the threads. */
    atomic_store_explicit(&lock->owner, self, memory_order_relaxed);
}

/** Give it back, once. */
static inline void epwin_handle_lock_give(mca_osc_epwin_handle_lock_t *lock)
{
    if (__builtin_expect(0 < lock->depth, 0)) {
        --lock->depth;
        return;
    }
    /* Release: partner: epwin_handle_lock_take. */
    atomic_store_explicit(&lock->holder, 0, memory_order_release);
}

#endif /* MCA_OSC_EPWIN_HANDLE_LOCK_H */
