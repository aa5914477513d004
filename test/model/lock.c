/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Model of the endpoint's lock (pml_epml_biased_lock.h): the thread inside is alone, and sees what
 * was done before.
 *
 * membarrier(2) is modelled in two ways.
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
 * MODEL_UNFENCED: no membarrier at all.  Both must find two threads inside.
 *
 * Guards: pml_epml_biased_lock.h
 */

#if !defined(MODEL_THREADS)
#    define MODEL_THREADS 2
#endif
#include "model.h"

#if defined(MODEL_CHECKER)
static void between(void);
static long barrier(void);
static uintptr_t self_number(void);

#    undef atomic_signal_fence
#    define atomic_signal_fence(order) between()
#    define syscall(...) barrier()
#    define pthread_self() self_number()
#    define EPML_LOCK_CLOCK() 0
#    define EPML_LOCK_BIAS_WORTH 0 /* a bias that ends at once may come back */
#    if defined(MODEL_FINE)
#        undef atomic_store_explicit
#        define atomic_store_explicit(to, value, order) \
            (between(), __c11_atomic_store((to), (value), (order)))
#    endif
#endif

#include "ompi/mca/pml/epml/base/pml_epml_biased_lock.h"

_Atomic uint64_t epml_lock_endings_until;
epml_lock_t lock;
bool may_bias = true;
int inside, entries; /* what the lock guards; entries: of all threads */

#if defined(MODEL_CHECKER)

static __thread unsigned int self;
static _Atomic int asked[MODEL_THREADS], answered[MODEL_THREADS];

static uintptr_t self_number(void)
{
    return (uintptr_t) (self + 1) * EPML_LOCK_SLOTS;
}

/** A point at which a thread may be interrupted. */
static void between(void)
{
#    if defined(MODEL_PAIRED)
    atomic_thread_fence(memory_order_seq_cst);
#    elif !defined(MODEL_UNFENCED)
    const int now = atomic_load_explicit(&asked[self], memory_order_relaxed);

    if (now != atomic_load_explicit(&answered[self], memory_order_relaxed)) {
        atomic_thread_fence(memory_order_seq_cst);
        __atomic_store_n((int *) &answered[self], now, __ATOMIC_RELAXED);
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
        if (i != self) {
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

#    define POINT() between()

#else

#    define POINT() ((void) 0)

#endif

static void model_setup(void)
{
#if !defined(MODEL_CHECKER)
    may_bias = epml_lock_setup();
#endif
    epml_lock_init(&lock, 1); /* the thread that leaves has the bias */
    inside = entries = 0;
}

static void critical(void)
{
    assert(0 == inside);
    inside = 1;
    POINT();
    ++entries;
    inside = 0;
}

static bool enter_and_leave(bool (*enter)(epml_lock_t *))
{
    if (!enter(&lock)) {
        return false;
    }
    POINT();
    critical();
    POINT();
    epml_lock_leave(&lock, may_bias);
    POINT();
    return true;
}

int entered[MODEL_THREADS];

static bool try_lock(epml_lock_t *l)
{
    POINT();
    return epml_lock_try(l);
}

static bool visit(epml_lock_t *l)
{
    POINT();
    return epml_lock_try_visit(l);
}

/** Thread 0 enters twice, the second time by its bias if it still has it; thread 1 visits, or does
 * the same (MODEL_TAKE), so that the bias goes to and fro; thread 2, if there is one, enters
 * once. */
static void model_thread(unsigned int number)
{
#if defined(MODEL_CHECKER)
    self = number;
#endif
    entered[number] = 0;
#if !defined(MODEL_TAKE)
    if (1 == number) {
        entered[number] += enter_and_leave(visit);
    } else
#endif
    {
        entered[number] += enter_and_leave(try_lock);
        if (2 > number) {
            entered[number] += enter_and_leave(try_lock);
        }
    }
#if defined(MODEL_CHECKER) && !defined(MODEL_UNFENCED) && !defined(MODEL_PAIRED)
    /* The end: whatever is asked from now on is answered. */
    between();
    atomic_thread_fence(memory_order_seq_cst);
    __atomic_store_n((int *) &answered[self], 1000, __ATOMIC_RELAXED);
#endif
}

static void model_verdict(void)
{
    int sum = 0;

    for (unsigned int i = 0; i < MODEL_THREADS; ++i) {
        sum += entered[i];
    }
    assert(sum == entries);
    assert(0 == inside);
}
