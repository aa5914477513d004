/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Model of a window handle's lock (osc_epwin_handle_lock.h): a thread that is in is alone, and sees
 * what was done before, whichever thread is the first.  membarrier(2) is that of interrupts.h.
 *
 * Guards: osc_epwin_handle_lock.h
 */

#if !defined(MODEL_THREADS)
#    define MODEL_THREADS 2
#endif
#include "model.h"

#include "interrupts.h"

#include "ompi/mca/osc/epwin/base/osc_epwin_handle_lock.h"

mca_osc_epwin_handle_lock_t lock;
bool may_bias = true;
int inside, entries; /* what the lock guards; entries: of all threads */

static void model_setup(void)
{
#if !defined(MODEL_CHECKER) /* there once, so all is zero */
    may_bias = epwin_handle_lock_setup();
    memset(&lock, 0, sizeof(lock));
    inside = entries = 0;
#endif
}

static void critical(void)
{
    between();
    assert(0 == inside);
    inside = 1;
    between();
    ++entries;
    inside = 0;
    between();
}

/** As a fast path: a section, if this thread is the owner; else the lock proper. */
static void enter_and_leave(uintptr_t self)
{
    const bool is_in = epwin_handle_lock_try_section(&lock, self);

    if (!is_in) {
        between();
        epwin_handle_lock_take(&lock, self, may_bias);
    }
    critical();
    if (is_in) {
        epwin_handle_lock_end_section(&lock);
    } else {
        epwin_handle_lock_give(&lock);
    }
    between();
}

/** Thread 0 takes the lock and enters again, by a section if it still has the bias; thread 1 takes
 * it, and likewise (MODEL_TAKE); thread 2, if there is one, takes it. */
static void model_thread(unsigned int number)
{
    const uintptr_t self = number + 1;

    interrupts_begin(number);
    enter_and_leave(self);
#if defined(MODEL_TAKE)
    if (2 > number) {
        enter_and_leave(self);
    }
#else
    if (0 == number) {
        enter_and_leave(self);
    }
#endif
    interrupts_end();
}

static void model_verdict(void)
{
#if defined(MODEL_TAKE)
    assert(MODEL_THREADS + 2 == entries);
#else
    assert(MODEL_THREADS + 1 == entries);
#endif
    assert(0 == inside && !lock.inside);
    assert(lock.is_shared && 0 == lock.owner);
}
