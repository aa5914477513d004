/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * membarrier(2), for models of locks that use it.  A model includes this between model.h and the
 * header under test.  It is modelled in two ways.
 *
 * As interrupts, which is what the kernel does, and what is checked by default: the caller passes a
 * full fence, asks every other thread for one, waits until each has passed it, and passes one
 * itself.  A thread answers at any of the points between its accesses to the lock, or when it ends:
 * a checker tries them all, and has to find one, or the execution is none.  (A thread that is not
 * running passes its fence in the scheduler, which is one of those points, too.)  MODEL_FINE: in
 * front of each store to the lock as well, so also between an owner's first look and its flag.
 *
 * As a pair of fences (MODEL_PAIRED): a sequentially consistent one in the caller and one in place
 * of the owner's compiler barrier, of which the membarrier is said to be the other half.  That is
 * stronger than the truth between two owners, and so only a second look.
 *
 * MODEL_UNFENCED: no membarrier at all.  Models must find two threads inside.
 */

#ifndef TEST_INTERRUPTS_H
#define TEST_INTERRUPTS_H

#if defined(MODEL_CHECKER)

static __thread unsigned int model_self; /**< the thread's number */
static _Atomic int asked[MODEL_THREADS], answered[MODEL_THREADS];

/** A point at which a thread may be interrupted. */
static void between(void)
{
#    if defined(MODEL_PAIRED)
    atomic_thread_fence(memory_order_seq_cst);
#    elif !defined(MODEL_UNFENCED)
    const int now = atomic_load_explicit(&asked[model_self], memory_order_relaxed);

    if (now != atomic_load_explicit(&answered[model_self], memory_order_relaxed)) {
        atomic_thread_fence(memory_order_seq_cst);
        __atomic_store_n((int *) &answered[model_self], now, __ATOMIC_RELAXED);
    }
#    endif
}

static long barrier(void)
{
#    if !defined(MODEL_UNFENCED)
    atomic_thread_fence(memory_order_seq_cst);
#    endif
#    if !defined(MODEL_UNFENCED) && !defined(MODEL_PAIRED)
    for (unsigned int i = 0; i < MODEL_THREADS; ++i) {
        if (i != model_self) {
            const int now = 1 + atomic_fetch_add_explicit(&asked[i], 1, memory_order_relaxed);

            /* A thread that has ended is not asked.  Two callers at once wait for the later
             * answer. */
            __VERIFIER_assume(now <= atomic_load_explicit(&answered[i], memory_order_relaxed));
        }
    }
    atomic_thread_fence(memory_order_seq_cst);
#    endif
    return 0;
}

/** A thread begins. */
static void interrupts_begin(unsigned int number)
{
    model_self = number;
}

/** It ends: whatever is asked from now on is answered. */
static void interrupts_end(void)
{
#    if !defined(MODEL_UNFENCED) && !defined(MODEL_PAIRED)
    between();
    atomic_thread_fence(memory_order_seq_cst);
    __atomic_store_n((int *) &answered[model_self], 1000, __ATOMIC_RELAXED);
#    endif
}

#    undef atomic_signal_fence
#    define atomic_signal_fence(order) between()
#    define syscall(...) barrier()
#    if defined(MODEL_FINE)
#        undef atomic_store_explicit
#        define atomic_store_explicit(to, value, order) \
            (between(), __c11_atomic_store((to), (value), (order)))
#    endif

#else /* real threads, and the kernel's */

#    define between() ((void) 0)
#    define interrupts_begin(number) ((void) (number))
#    define interrupts_end() ((void) 0)

#endif

#endif /* TEST_INTERRUPTS_H */
