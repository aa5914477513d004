/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * To which endpoint each thread is attached: a pointer of the thread's own, and a count at the
 * endpoint, which only says whether another thread may come where the level is for one.
 *
 * A thread is not known before it calls.  One that has never done so is on the first endpoint, as
 * the text wants, and is counted nowhere, be it the one that has begun MPI: so the first endpoint is
 * free for who is attached by a call, as in the text's own listings.
 *
 * A thread may be bound to a handle of other endpoints as well, which it then is attached to in place
 * of the static one (bound.c).
 *
 * A thread that ends is detached, by the destructor of a key that it has set when it was attached.
 *
 * Tests: static_attach, static_orphan, world_c, world_attach
 */

#include "ompi_config.h"

#include "mpiext_endpoints_attached.h"
#include "mpiext_endpoints_bound.h"

#include <pthread.h>

#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/runtime/mpiruntime.h"

_Thread_local mpix_endpoint_t *mpix_endpoints_own __attribute__((tls_model("initial-exec")));

/** Will the thread's end be seen?  1 if so; -1: there is no way to. */
static _Thread_local int watched __attribute__((tls_model("initial-exec")));

static pthread_key_t key;
static bool has_key;

/** Is an endpoint for one thread at a time? */
static bool is_for_one(void)
{
    const int level = mpix_endpoints_process_level();

    return MPI_THREAD_FUNNELED >= (0 <= level ? level : ompi_mpi_thread_provided);
}

/** May a thread come?  @return false: the level is for one, and it is there */
static bool enter(mpix_endpoint_t *endpoint)
{
    int nobody = 0;

    /* Acquire: orders what a thread that has left has done at this endpoint before what this one
     * does; partner: leave. */
    if (is_for_one()) {
        return atomic_compare_exchange_strong_explicit(&endpoint->attached, &nobody, 1,
                                                       memory_order_acquire, memory_order_relaxed);
    }
    (void) atomic_fetch_add_explicit(&endpoint->attached, 1, memory_order_acquire);
    return true;
}

static void leave(mpix_endpoint_t *endpoint)
{
    if (NULL != endpoint && &mpix_endpoints_none != endpoint) {
        /* Release: partner: enter. */
        (void) atomic_fetch_sub_explicit(&endpoint->attached, 1, memory_order_release);
    }
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
    leave(mpix_endpoints_own);
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

static void watch(void)
{
    watched = has_key && 0 == pthread_setspecific(key, &key) ? 1 : -1;
}

static inline void put(mpix_endpoint_t *endpoint)
{
    mpix_endpoints_own = endpoint;
    if (OPAL_UNLIKELY(0 == watched)) {
        watch();
    }
}

int mpix_endpoints_attach(mpix_endpoint_t *endpoint, bool moves)
{
    mpix_endpoint_t *before = mpix_endpoints_own;

    if (moves
        && endpoint == before) { /* not who is there without having said so: nobody counts it */
        set_bound(NULL);
        return OMPI_SUCCESS;
    }
    if (!moves && &mpix_endpoints_none != before) {
        return MPIX_ENDPOINTS_CAUSE_ATTACHED;
    }
    if (!enter(endpoint)) {
        return MPIX_ENDPOINTS_CAUSE_TAKEN;
    }
    set_bound(NULL);
    leave(before);
    put(endpoint);
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
        watch();
    }
    return OMPI_SUCCESS;
}

int mpix_endpoints_detach(void)
{
    mpix_endpoint_t *before = mpix_endpoints_own;

    if (NULL != mpix_endpoints_bound_comm()) {
        set_bound(NULL);
        return OMPI_SUCCESS;
    }
    if (&mpix_endpoints_none == mpix_endpoints_attached()) {
        return MPIX_ENDPOINTS_CAUSE_DETACHED;
    }
    leave(before);
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
