/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What a thread does between progress calls for its endpoint while it waits: spin, progress the rest of
 * the process, yield its core, dump if that is asked for.
 *
 * Tests: calls, coll_dump, drafted, level_low, looks, oversubscribe, progress
 */

#include "ompi_config.h"

#include <sched.h>
#include <signal.h>
#include <time.h>

#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_progress.h"

#include "ompi/runtime/mpiruntime.h"

/** Tests or probes of a thread between looks at the rest of Open MPI. */
#define EPML_TESTED_LONG 16

void mca_pml_epml_wait_done(mca_pml_epml_request_t *request)
{
    mca_pml_epml_waiter_t waiter = {0};

    /* Acquire pairs with the release in mca_pml_epml_request_complete. */
    while (!atomic_load_explicit(&request->done, memory_order_acquire)) {
        const int events = mca_pml_epml_ep_poll(request->ep);

        if (0 != events && atomic_load_explicit(&request->done, memory_order_acquire)) {
            break; /* the usual case, and the shortest */
        }
        mca_pml_epml_progressed(&waiter, request->ep, events);
    }
    mca_pml_epml_wait_over(&waiter);
}

/** Threads wait at the same time, though MPI was initialized for threads that do not: reported
 * once. */
static __attribute__((noinline)) void explain_level(void)
{
    static const char *const names[] = {
        [MPI_THREAD_SINGLE] = "MPI_THREAD_SINGLE",
        [MPI_THREAD_FUNNELED] = "MPI_THREAD_FUNNELED",
        [MPI_THREAD_SERIALIZED] = "MPI_THREAD_SERIALIZED",
    };
    static _Atomic bool said = false;

    if (!atomic_exchange_explicit(&said, true, memory_order_relaxed)
        && MPI_THREAD_MULTIPLE > ompi_mpi_thread_provided) {
        EPML_SHOW_HELP("thread level", true, names[ompi_mpi_thread_provided]);
    }
}

/* ---- dumps that are asked for ---------------------------------------------------------------- */

static struct {
    void (*dump)(void);
    _Atomic bool wanted; /**< by a signal */
    _Atomic bool waited; /**< pml_epml_dump_after has passed, once */
    struct sigaction replaced;
    bool catches; /**< pml_epml_dump_signal */
} watch;

static void on_signal(int number)
{
    (void) number;
    /* Relaxed: nothing but the word itself is read by it. */
    atomic_store_explicit(&watch.wanted, true, memory_order_relaxed);
}

void mca_pml_epml_progress_watch(void (*dump)(void))
{
    const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    const int number = (int) mca_pml_epml_component.dump_signal;

    watch.dump = dump;
    watch.catches = 0 < number && 0 == sigaction(number, &action, &watch.replaced);
}

void mca_pml_epml_progress_unwatch(void)
{
    if (watch.catches) {
        (void) sigaction((int) mca_pml_epml_component.dump_signal, &watch.replaced, NULL);
        watch.catches = false;
    }
}

static uint32_t waiting_seconds(void)
{
    return (uint32_t) (epml_lock_clock() / 1000000000);
}

static void waiting_dump(void)
{
    MCA_BTL_EP_HOLD_CANCEL(); /* it writes */
    watch.dump();
}

/** Now and then in a wait: is a dump due? */
static void dump_if_due(const mca_pml_epml_waiter_t *waiter)
{
    if (OPAL_UNLIKELY(atomic_load_explicit(&watch.wanted, memory_order_relaxed))
        && atomic_exchange_explicit(&watch.wanted, false, memory_order_relaxed)) {
        waiting_dump();
    }
    if (OPAL_UNLIKELY(0 < mca_pml_epml_component.dump_after)
        && waiting_seconds() - waiter->since >= mca_pml_epml_component.dump_after
        && !atomic_exchange_explicit(&watch.waited, true, memory_order_relaxed)) {
        waiting_dump();
    }
}

void mca_pml_epml_idle(mca_pml_epml_waiter_t *waiter, const mca_pml_epml_ep_t *ep)
{
    const unsigned int due = epml_idle_step(&waiter->idle);

    /* At every other call: a pause keeps us from seeing the message, 20 ns of the 75 to 80 that 8
     * bytes take; without any we are in the way of its sender, where cores share what they run
     * on. */
    if (0 != (due & EPML_IDLE_RELAX)) {
        epml_lock_relax();
    }
    if (0 != (due & EPML_IDLE_COUNT)) {
        waiter->counted = 1;
        waiter->since = waiting_seconds();
        if (1 < mca_pml_epml_oversubscription_waits(1) && !opal_using_threads()) {
            explain_level();
        }
    }
    if (0 != (due & EPML_IDLE_HELP)) {
        mca_pml_epml_oversubscription_look();
        dump_if_due(waiter);
        mca_pml_epml_help(ep);
    }
    if (0 != (due & EPML_IDLE_YIELD_IF_OVERSUBSCRIBED)
        && (mca_pml_epml_is_oversubscribed()
            || (0 != (due & EPML_IDLE_YIELD_ANYWAY)
                && EPML_YIELD_NEVER != mca_pml_epml_component.yield))) {
        sched_yield();
    }
}

void mca_pml_epml_wait_over(mca_pml_epml_waiter_t *waiter)
{
    if (0 != waiter->counted) {
        (void) mca_pml_epml_oversubscription_waits(-1);
    }
}

void mca_pml_epml_wait_until(bool (*until)(const void *context), const void *context)
{
    mca_pml_epml_waiter_t waiter = {0};

    while (!until(context)) {
        mca_pml_epml_idle(&waiter, NULL);
    }
    mca_pml_epml_wait_over(&waiter);
}

/** Has the clock moved on since a thread's last call?  It does every few milliseconds, and reading
 * it takes some nanoseconds. */
static bool is_later(void)
{
    static _Thread_local struct timespec last;
    struct timespec now;
    bool later;

    (void) clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    later = now.tv_nsec != last.tv_nsec || now.tv_sec != last.tv_sec;
    last = now;
    return later;
}

bool mca_pml_epml_tested(bool found)
{
    static _Thread_local uint32_t tests;

    /* Programs poll in loops: the rest of the process gets its chance now and then, and if
     * oversubscribed others get the core.  A loop that does nothing else looks as rarely as a wait
     * does: libmpi's progress has counters and locks that all threads write. */
    if (0 != ++tests % EPML_TESTED_LONG) {
        return false;
    }
    if (found || 0 == tests % EPML_IDLE_LONG || is_later()) {
        mca_pml_epml_help(NULL);
    }
    if (!found && mca_pml_epml_is_oversubscribed()) {
        sched_yield();
    }
    return true;
}
