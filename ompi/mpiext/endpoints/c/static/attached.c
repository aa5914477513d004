/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * To which endpoint each thread is attached: a pointer of the thread's own, and a count at the
 * endpoint with the level that its threads have, which says whether another thread may come.
 *
 * A thread is not known before it calls.  One that has never done so is on the first endpoint, as
 * the text demands, and is counted nowhere, be it the one that has begun MPI: so the first endpoint
 * is free for a thread that is attached by a call, as in the text's own listings.
 *
 * A thread may be bound to a handle of other endpoints as well, which it then is attached to in place
 * of the static one (bound.c).
 *
 * Where MPI has begun by chapter 12's draft for MPI 3 a thread belongs to none before it attaches, or
 * is given one at the first of its calls that comes here: any that asks which endpoint is its own.
 *
 * A thread that ends is detached, by the destructor of a key that it has set when it was attached.
 *
 * Tests: static_attach, static_orphan, attach_level, levels, world_c, world_attach
 */

#include "ompi_config.h"

#include "mpiext_endpoints_attached.h"
#include "mpiext_endpoints_bound.h"

#include <limits.h>
#include <pthread.h>

#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/runtime/mpiruntime.h"

_Thread_local mpix_endpoint_t *mpix_endpoints_own __attribute__((tls_model("initial-exec")));

/** Will the thread's end be seen?  1 if so; -1: there is no way to. */
static _Thread_local int watched __attribute__((tls_model("initial-exec")));

static pthread_key_t key;
static bool has_key;

/** Stands for the calling thread, as long as it lives. */
static inline const void *attached_token(void)
{
    return &watched;
}

/** The level of a thread that attaches without one. */
static int level_of(const mpix_endpoint_t *endpoint)
{
    return 0 <= mpix_endpoints_process_level() ? endpoint->level : ompi_mpi_thread_provided;
}

/** Count a thread, if it may come.  @return OMPI_SUCCESS, or MPIX_ENDPOINTS_CAUSE_DIFFERS,
 * _TAKEN */
static int attached_enter(mpix_endpoint_t *endpoint, int level, bool given)
{
    int now = atomic_load_explicit(&endpoint->attached, memory_order_relaxed), next;

    /* Acquire: orders what a thread that has left has done at this endpoint before what this one
     * does; partner: leave. */
    do {
        if (MPIX_ENDPOINTS_ONE_THREAD > now) {
            next = MPIX_ENDPOINTS_ONE_THREAD + level;
        } else if ((now & MPIX_ENDPOINTS_LEVEL_MASK) != level) {
            return MPIX_ENDPOINTS_CAUSE_DIFFERS;
        } else if (MPI_THREAD_FUNNELED >= level && !given) {
            return MPIX_ENDPOINTS_CAUSE_TAKEN;
        } else {
            next = now + MPIX_ENDPOINTS_ONE_THREAD;
        }
    } while (!atomic_compare_exchange_weak_explicit(&endpoint->attached, &now, next,
                                                    memory_order_acquire, memory_order_relaxed));
    return OMPI_SUCCESS;
}

/** Where threads belong to endpoints: the first one of an endpoint that has none is its main
 * thread.  Relaxed: only a thread itself asks whether it is, and it has written that itself;
 * mpix_endpoints_ thread_finalizes reads under a lock whether there is one, which says what has
 * been. */
static void become_main(mpix_endpoint_t *endpoint)
{
    const void *nobody = NULL;

    (void) atomic_compare_exchange_strong_explicit(&endpoint->main, &nobody, attached_token(),
                                                   memory_order_relaxed, memory_order_relaxed);
}

static bool is_main_of(const mpix_endpoint_t *endpoint)
{
    return attached_token() == atomic_load_explicit(&endpoint->main, memory_order_relaxed);
}

static void attached_leave(mpix_endpoint_t *endpoint)
{
    if (NULL == endpoint || &mpix_endpoints_none == endpoint) {
        return;
    }
    if (OPAL_UNLIKELY(is_main_of(endpoint))) {
        atomic_store_explicit(&endpoint->main, NULL, memory_order_relaxed);
    }
    /* Release: partner: enter. */
    (void) atomic_fetch_sub_explicit(&endpoint->attached, MPIX_ENDPOINTS_ONE_THREAD,
                                     memory_order_release);
}

/** Bind the thread to a handle, or to nothing. */
static void set_bound(mpix_endpoints_bound_t *bound)
{
    mpix_endpoints_bound_t *const before = mpix_endpoints_bound;

    mpix_endpoints_bound = bound;
    if (OPAL_UNLIKELY(NULL != before)) {
        mpix_endpoints_bound_put(before);
    }
}

/** The thread ends.  Another destructor of the program's may attach it once more. */
static void thread_ends(void *value)
{
    (void) value;
    set_bound(NULL);
    attached_leave(mpix_endpoints_own);
    mpix_endpoints_own = &mpix_endpoints_none;
    watched = 0;
}

/** Runs when the library is loaded; without a key threads that end stay counted. */
__attribute__((constructor)) static void key_init(void)
{
    has_key = 0 == pthread_key_create(&key, thread_ends);
}

__attribute__((destructor)) static void key_fini(void)
{
    if (has_key) {
        (void) pthread_key_delete(key);
    }
}

static void attached_watch(void)
{
    watched = has_key && 0 == pthread_setspecific(key, &key) ? 1 : -1;
}

static inline void attached_put(mpix_endpoint_t *endpoint)
{
    mpix_endpoints_own = endpoint;
    if (OPAL_UNLIKELY(0 == watched)) {
        attached_watch();
    }
}

/** Where chapter 12's rules hold: may a thread attach that is on this endpoint, if on any? */
static bool may_attach(mpix_endpoints_rule_t rule, const mpix_endpoint_t *before)
{
    return MPIX_ENDPOINTS_REATTACH == rule
           || (MPIX_ENDPOINTS_ATTACH == rule && (NULL == before || &mpix_endpoints_none == before));
}

int mpix_endpoints_attach(mpix_endpoint_t *endpoint, int level, bool moves)
{
    const mpix_endpoints_rule_t rule = mpix_endpoints_process_rule();
    mpix_endpoint_t *before = mpix_endpoints_own;
    int rc;

    if (OPAL_UNLIKELY(MPIX_ENDPOINTS_FREE != rule) && !may_attach(rule, before)) {
        return MPIX_ENDPOINTS_CAUSE_FOR_LIFE;
    }
    if (moves && endpoint == before) { /* not a thread that has never attached: it is not counted */
        set_bound(NULL);
        return OMPI_SUCCESS;
    }
    if (!moves && &mpix_endpoints_none != mpix_endpoints_attached()) {
        return MPIX_ENDPOINTS_CAUSE_ATTACHED;
    }
    rc = attached_enter(endpoint, 0 > level ? level_of(endpoint) : level, false);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    set_bound(NULL);
    attached_leave(before);
    attached_put(endpoint);
    if (OPAL_UNLIKELY(MPIX_ENDPOINTS_FREE != rule)) {
        become_main(endpoint);
    }
    return OMPI_SUCCESS;
}

int mpix_endpoints_bind(ompi_communicator_t *comm)
{
    mpix_endpoints_bound_t *const bound = NULL == comm ? NULL : mpix_endpoints_bound_get(comm);

    if (NULL != comm && NULL == bound) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    set_bound(bound);
    if (0 == watched) {
        attached_watch();
    }
    return OMPI_SUCCESS;
}

int mpix_endpoints_detach(void)
{
    const mpix_endpoints_rule_t rule = mpix_endpoints_process_rule();
    mpix_endpoint_t *before = mpix_endpoints_own;

    if (NULL != mpix_endpoints_bound_comm()) {
        set_bound(NULL);
        return OMPI_SUCCESS;
    }
    if (MPIX_ENDPOINTS_ASSIGNED == rule || MPIX_ENDPOINTS_ATTACH == rule) {
        return MPIX_ENDPOINTS_CAUSE_FOR_LIFE;
    }
    if (&mpix_endpoints_none == mpix_endpoints_attached()) {
        return MPIX_ENDPOINTS_CAUSE_DETACHED;
    }
    attached_leave(before);
    mpix_endpoints_own = &mpix_endpoints_none;
    return OMPI_SUCCESS;
}

bool mpix_endpoints_attached_rank(int *rank, int *size)
{
    ompi_communicator_t *endpoints;

    if (!mpix_endpoints_process_is_static() || 0 == mpix_endpoints_process_count()) {
        return false;
    }
    endpoints = mpix_endpoints_attached()->endpoints;
    *rank = ompi_comm_rank(endpoints);
    *size = ompi_comm_size(endpoints);
    return true;
}

/* ---- threads that belong to endpoints -------------------------------------------------------- */

/** Of threads that are given an endpoint, and of those that end MPI. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

mpix_endpoint_t *mpix_endpoints_assign(void)
{
    mpix_endpoint_t *best = NULL;
    int fewest = INT_MAX;

    pthread_mutex_lock(&lock);
    for (int i = 0; i < mpix_endpoints_process_count(); ++i) {
        mpix_endpoint_t *endpoint = mpix_endpoints_process_endpoint(i);
        /* Relaxed: threads that come are under the lock; one that ends meanwhile may be missed. */
        const int threads = atomic_load_explicit(&endpoint->attached, memory_order_relaxed)
                            / MPIX_ENDPOINTS_ONE_THREAD;

        if (fewest > threads) {
            fewest = threads;
            best = endpoint;
        }
    }
    (void) attached_enter(best, level_of(best), true);
    pthread_mutex_unlock(&lock);
    attached_put(best);
    become_main(best);
    return best;
}

bool mpix_endpoints_thread_is_main(void)
{
    return is_main_of(mpix_endpoints_attached());
}

bool mpix_endpoints_thread_finalizes(void)
{
    mpix_endpoint_t *own = mpix_endpoints_attached();
    bool is_last = true;

    pthread_mutex_lock(&lock);
    own->is_over |= is_main_of(own);
    for (int i = 0; i < mpix_endpoints_process_count(); ++i) {
        const mpix_endpoint_t *endpoint = mpix_endpoints_process_endpoint(i);

        is_last &= endpoint->is_over
                   || NULL == atomic_load_explicit(&endpoint->main, memory_order_relaxed);
    }
    pthread_mutex_unlock(&lock);
    return is_last;
}
