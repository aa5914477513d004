/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * What a thread does while nothing happens: spin, look after the rest of the process, yield its
 * core.
 *
 * Spinning is right as long as every thread that waits has a core.  There is a crowd when the node
 * has more endpoints than cores (known when endpoints are created), or when more threads of this
 * process than there are cores have been waiting for a while (several threads may share an
 * endpoint, or a core).
 */

#include "ompi_config.h"

#include <sched.h>
#include <unistd.h>

#include "pml_epml_idle.h"
#include "pml_epml_request.h"

/** Tests or probes of a thread between looks at the rest of Open MPI. */
#define EPML_TESTED_LONG 16

/** More endpoints than cores. */
static _Atomic bool many_endpoints = false;

/** Threads of this process that have been waiting for a while. */
static _Atomic int waiting = 0;

/** Cores of the node: siblings may be bound elsewhere, so what this process is bound to says
 * little. */
static int cores(void)
{
    static _Atomic int count = 0;
    int known = atomic_load_explicit(&count, memory_order_relaxed);

    if (0 == known) {
        long online = sysconf(_SC_NPROCESSORS_ONLN);

        known = 0 < online ? (int) online : 1;
        atomic_store_explicit(&count, known, memory_order_relaxed);
    }
    return known;
}

void mca_pml_epml_crowd_update(int in_process, int on_node)
{
    /* Relaxed, here and below: nothing hangs on the order of these hints. */
    atomic_store_explicit(&many_endpoints, in_process > cores() || on_node > cores(),
                          memory_order_relaxed);
}

bool mca_pml_epml_is_crowded(void)
{
    switch (mca_pml_epml_component.yield) {
    case EPML_YIELD_ALWAYS:
        return true;
    case EPML_YIELD_NEVER:
        return false;
    default:
        return atomic_load_explicit(&many_endpoints, memory_order_relaxed)
               || atomic_load_explicit(&waiting, memory_order_relaxed) > cores();
    }
}

void mca_pml_epml_idle(mca_pml_epml_waiter_t *waiter, const mca_pml_epml_ep_t *ep)
{
    const unsigned int due = epml_idle_step(&waiter->idle);

    /* Every other turn: a pause keeps us from seeing the message, 20 ns of the 75 to 80 that 8 bytes
     * take; without any we are in the way of its sender, where cores share what they run on. */
    if (0 != (due & EPML_IDLE_RELAX)) {
        epml_lock_relax();
    }
    if (0 != (due & EPML_IDLE_COUNT)) {
        waiter->counted = true;
        atomic_fetch_add_explicit(&waiting, 1, memory_order_relaxed);
    }
    if (0 != (due & EPML_IDLE_HELP)) {
        mca_pml_epml_help(ep);
    }
    if (0 != (due & EPML_IDLE_YIELD_IF_CROWD)
        && (mca_pml_epml_is_crowded()
            || (0 != (due & EPML_IDLE_YIELD_ANYWAY)
                && EPML_YIELD_NEVER != mca_pml_epml_component.yield))) {
        sched_yield();
    }
}

void mca_pml_epml_wait_over(mca_pml_epml_waiter_t *waiter)
{
    if (waiter->counted) {
        atomic_fetch_sub_explicit(&waiting, 1, memory_order_relaxed);
    }
}

bool mca_pml_epml_tested(bool found)
{
    static _Thread_local uint32_t tests;

    /* Programs poll in loops: the rest of the process gets its chance now and then, and in a crowd
     * others get the core. */
    if (0 != ++tests % EPML_TESTED_LONG) {
        return false;
    }
    mca_pml_epml_help(NULL);
    if (!found && mca_pml_epml_is_crowded()) {
        sched_yield();
    }
    return true;
}
