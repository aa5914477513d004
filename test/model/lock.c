/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Model of the endpoint's lock (pml_epml_biased_lock.h): a thread that is in is alone, and sees
 * what was done before.  membarrier(2) is that of interrupts.h.
 *
 * Guards: pml_epml_biased_lock.h
 */

#if !defined(MODEL_THREADS)
#    define MODEL_THREADS 2
#endif
#include "model.h"

#include "interrupts.h"

#if defined(MODEL_CHECKER)
#    define pthread_self() ((uintptr_t) (model_self + 1) * EPML_LOCK_SLOTS)
#    define EPML_LOCK_CLOCK() 0
#    define EPML_LOCK_BIAS_WORTH 0 /* a bias that ends at once may come back */
#endif

#include "ompi/mca/pml/epml/base/pml_epml_biased_lock.h"

_Atomic uint64_t epml_lock_endings_until;
epml_lock_t lock;
bool may_bias = true;
int inside, entries; /* what the lock guards; entries: of all threads */

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
    between();
    ++entries;
    inside = 0;
}

static bool enter_and_leave(bool (*enter)(epml_lock_t *))
{
    if (!enter(&lock)) {
        return false;
    }
    between();
    critical();
    between();
    epml_lock_leave(&lock, may_bias);
    between();
    return true;
}

int entered[MODEL_THREADS];

static bool try_lock(epml_lock_t *l)
{
    between();
    return epml_lock_try(l);
}

static bool visit(epml_lock_t *l)
{
    between();
    return epml_lock_try_visit(l);
}

/** Thread 0 enters twice, the second time by its bias if it still has it; thread 1 visits, or does
 * the same (MODEL_TAKE), so that the bias goes to and fro; thread 2, if there is one, enters
 * once. */
static void model_thread(unsigned int number)
{
    interrupts_begin(number);
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
    interrupts_end();
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
