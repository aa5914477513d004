/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Are there more threads that want to run than cores?
 *
 * Spinning is right as long as every thread that waits has a core.  The node is oversubscribed when it
 * has more endpoints than cores (known when endpoints are created), or when more threads of this
 * process than there are cores have been waiting for a while (several threads may share an
 * endpoint, or a core).
 *
 * Tests: oversubscribe, zcopy (oversubscribed), static_number, bound
 */

#include "ompi_config.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "pml_epml.h"
#include "pml_epml_biased_lock.h"
#include "pml_epml_cores.h"
#include "pml_epml_oversubscription.h"

/* Relaxed, all of them and everywhere: nothing hangs on the order of these hints. */

/** More endpoints than cores. */
static _Atomic bool many_endpoints = false;

/** Threads of this process that have been waiting for a while. */
static _Atomic int waiting = 0;

/** Cores for this process's threads; and for all processes of the node, which may be bound to
 * others than this one. */
static _Atomic int process_cores = INT_MAX, node_cores = 0;

/** Endpoints, as passed to mca_pml_epml_oversubscription_update. */
static _Atomic int endpoints_here = 0, endpoints_on_node = 0;

/** Threads of this process that have been waiting for a while at some time. */
static _Atomic int waiters = 0;

/** When to look at the cores again, ns. */
static _Atomic uint64_t next_look = 0;

static void oversubscription_decide(void)
{
    atomic_store_explicit(&many_endpoints,
                          atomic_load_explicit(&endpoints_here, memory_order_relaxed)
                                  > atomic_load_explicit(&process_cores, memory_order_relaxed)
                              || atomic_load_explicit(&endpoints_on_node, memory_order_relaxed)
                                     > atomic_load_explicit(&node_cores, memory_order_relaxed),
                          memory_order_relaxed);
}

/** @param[out] node  cores of the node  @return those of this process */
static int find_cores(int *node)
{
    MCA_BTL_EP_HOLD_CANCEL(); /* it reads files, also in a wait */
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    const int granted = epml_cores_granted(""), allowed = epml_cores_allowed();

    *node = 0 < online && online < INT_MAX ? (int) online : 1;
    *node = granted < *node ? granted : *node;
    return 0 < allowed && allowed < *node ? allowed : *node;
}

static void look_at_cores(void)
{
    int node;
    const int process = find_cores(&node);

    atomic_store_explicit(&process_cores, process, memory_order_relaxed);
    atomic_store_explicit(&node_cores, node, memory_order_relaxed);
}

/** A process that may use few cores of the node may be allowed more later: threads bind themselves
 * when they come to it.  Once a second. */
void mca_pml_epml_oversubscription_look(void)
{
    uint64_t then = atomic_load_explicit(&next_look, memory_order_relaxed);
    const uint64_t now = epml_lock_clock();

    if (atomic_load_explicit(&process_cores, memory_order_relaxed)
            < atomic_load_explicit(&node_cores, memory_order_relaxed)
        && then <= now
        && atomic_compare_exchange_strong_explicit(&next_look, &then, now + 1000000000,
                                                   memory_order_relaxed, memory_order_relaxed)) {
        look_at_cores();
        oversubscription_decide();
    }
}

void mca_pml_epml_oversubscription_update(int in_process, int on_node)
{
    if (0 == atomic_load_explicit(&node_cores, memory_order_relaxed)) {
        look_at_cores(); /* the first endpoint of the process */
    }
    atomic_store_explicit(&endpoints_here, in_process, memory_order_relaxed);
    atomic_store_explicit(&endpoints_on_node, on_node, memory_order_relaxed);
    oversubscription_decide();
}

bool mca_pml_epml_is_oversubscribed(void)
{
    switch (mca_pml_epml_component.yield) {
    case EPML_YIELD_ALWAYS:
        return true;
    case EPML_YIELD_NEVER:
        return false;
    default:
        return atomic_load_explicit(&many_endpoints, memory_order_relaxed)
               || atomic_load_explicit(&waiting, memory_order_relaxed)
                      > atomic_load_explicit(&process_cores, memory_order_relaxed);
    }
}

/** Is this process bound to fewer cores than it has endpoints, though the node has a core for
 * each? */
static bool is_bound(int process, int node)
{
    const int here = atomic_load_explicit(&endpoints_here, memory_order_relaxed);

    /* Those of the node are counted when a creation is over, those here at once. */
    return here > process && here <= node
           && atomic_load_explicit(&endpoints_on_node, memory_order_relaxed) <= node;
}

void mca_pml_epml_oversubscription_describe(char *text, size_t size)
{
    const int process = atomic_load_explicit(&process_cores, memory_order_relaxed);
    const int node = atomic_load_explicit(&node_cores, memory_order_relaxed);
    const int endpoints = atomic_load_explicit(&endpoints_here, memory_order_relaxed);
    char advice[128] = "";
    static const char *const how[] = {
        [EPML_YIELD_AUTO] = "auto", [EPML_YIELD_ALWAYS] = "always", [EPML_YIELD_NEVER] = "never"};

    if (is_bound(process, node)) {
        (void)
            snprintf(advice, sizeof(advice),
                     "; bound to too few: --map-by numa:PE=%d or --bind-to none gives threads more",
                     endpoints);
    }
    snprintf(text, size,
             "%d for this process, %d of the node; %d endpoint%s here, %d on the node: waiting "
             "threads %s (pml_epml_yield %s)%s",
             process, node, endpoints, 1 == endpoints ? "" : "s",
             atomic_load_explicit(&endpoints_on_node, memory_order_relaxed),
             mca_pml_epml_is_oversubscribed() ? "give up their core soon" : "keep their core",
             how[mca_pml_epml_component.yield], advice);
}

/** A thread waits for the first time.  Where more have done so than there are cores, and it is the
 * binding that keeps them from having one each, the user may not know. */
static void warn_if_bound(int threads)
{
    static _Atomic bool said = false;
    int node, process;

    if (threads <= atomic_load_explicit(&process_cores, memory_order_relaxed)
        || !mca_pml_epml_component.warn_bound) {
        return;
    }
    process = find_cores(&node); /* they may have been bound since */
    if (threads > process && is_bound(process, node)
        && !atomic_exchange_explicit(&said, true, memory_order_relaxed)) {
        const int endpoints = atomic_load_explicit(&endpoints_here, memory_order_relaxed);

        EPML_SHOW_HELP("bound", false, endpoints, process, node, endpoints);
    }
}

int mca_pml_epml_oversubscription_cores(void)
{
    int node;

    return find_cores(&node);
}

int mca_pml_epml_oversubscription_waits(int change)
{
    static _Thread_local bool waits = false;
    const int now = atomic_fetch_add_explicit(&waiting, change, memory_order_relaxed) + change;

    if (!waits) {
        waits = true;
        warn_if_bound(1 + atomic_fetch_add_explicit(&waiters, 1, memory_order_relaxed));
    }
    return now;
}
