/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Handles that threads are bound to.
 *
 * A thread holds a record, not the handle: another thread may free the handle, and then the record
 * says so.  Records are in a list, which is searched where a thread is bound and where a handle is
 * freed, never for a message.
 *
 * Tests: world_c, world_attach
 */

#include "ompi_config.h"

#include "mpiext_endpoints_bound.h"
#include "mpiext_endpoints_process.h"

#include <pthread.h>
#include <stdlib.h>

#include "ompi/constants.h"

_Thread_local mpix_endpoints_bound_t *mpix_endpoints_bound
    __attribute__((tls_model("initial-exec")));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/** Written under the lock. */
static _Atomic(mpix_endpoints_bound_t *) records;

static inline ompi_communicator_t *comm_of(mpix_endpoints_bound_t *record)
{
    return atomic_load_explicit(&record->handle, memory_order_relaxed); /* see the header */
}

static mpix_endpoints_bound_t *bound_find(ompi_communicator_t *comm)
{
    mpix_endpoints_bound_t *record = atomic_load_explicit(&records, memory_order_relaxed);

    while (NULL != record && comm_of(record) != comm) {
        record = record->next;
    }
    return record;
}

static mpix_endpoints_bound_t *bound_add(ompi_communicator_t *comm)
{
    mpix_endpoints_bound_t *record = calloc(1, sizeof(*record));

    if (NULL != record) {
        atomic_init(&record->handle, comm);
        record->next = atomic_load_explicit(&records, memory_order_relaxed);
        /* Relaxed: mpix_endpoints_bound_end reads it outside of the lock, to see whether there is
         * any record, and looks at none before it has the lock. */
        atomic_store_explicit(&records, record, memory_order_relaxed);
    }
    return record;
}

mpix_endpoints_bound_t *mpix_endpoints_bound_get(ompi_communicator_t *comm)
{
    mpix_endpoints_bound_t *record;

    pthread_mutex_lock(&lock);
    record = bound_find(comm);
    if (NULL == record) {
        record = bound_add(comm);
    }
    if (NULL != record) {
        ++record->threads;
    }
    pthread_mutex_unlock(&lock);
    return record;
}

void mpix_endpoints_bound_put(mpix_endpoints_bound_t *bound)
{
    bool is_left;

    pthread_mutex_lock(&lock);
    is_left = 0 == --bound->threads && NULL == comm_of(bound);
    pthread_mutex_unlock(&lock);
    if (is_left) {
        free(bound);
    }
}

/* ---- MPI_COMM_SELF --------------------------------------------------------------------------- */

/** @return NULL: no memory */
static ompi_communicator_t *make_self(ompi_communicator_t *comm)
{
    ompi_communicator_t *self;

    if (OMPI_SUCCESS != mpix_endpoints_table()->comm_among(&comm, 1, &self)) {
        return NULL;
    }
    (void) ompi_comm_set_name(self, "MPI_COMM_SELF");
    self->c_flags |= MPIX_ENDPOINTS_COMM_STATIC;
    return self;
}

static void free_self(ompi_communicator_t *self)
{
    self->c_flags &= ~MPIX_ENDPOINTS_COMM_STATIC;
    (void) ompi_comm_free(&self);
}

ompi_communicator_t *mpix_endpoints_bound_self(mpix_endpoints_bound_t *bound)
{
    /* Acquire: orders the pointer before the communicator's contents; partner: below. */
    ompi_communicator_t *self = atomic_load_explicit(&bound->self, memory_order_acquire);
    ompi_communicator_t *comm = comm_of(bound), *made = NULL;
    const mpix_endpoint_t *endpoint;

    if (NULL != self || NULL == comm) {
        return self;
    }
    endpoint = mpix_endpoints_process_member(comm->c_local_group, ompi_comm_rank(comm));
    if (NULL != endpoint) {
        return endpoint->self;
    }
    made = make_self(comm); /* without the lock, which its end takes */
    pthread_mutex_lock(&lock);
    self = atomic_load_explicit(&bound->self, memory_order_relaxed);
    if (NULL == self && NULL != made) {
        /* Release: partner: the first line. */
        atomic_store_explicit(&bound->self, made, memory_order_release);
        self = made;
    }
    pthread_mutex_unlock(&lock);
    if (NULL != made && made != self) { /* another thread was first */
        free_self(made);
    }
    return self;
}

/* ---- the end --------------------------------------------------------------------------------- */

/** Takes comm out of all records; under the lock.
 *
 * @param[out] self  to be freed afterwards, or NULL */
static void bound_forget(ompi_communicator_t *comm, ompi_communicator_t **self)
{
    mpix_endpoints_bound_t *before = NULL;
    mpix_endpoints_bound_t *record = atomic_load_explicit(&records, memory_order_relaxed);

    while (NULL != record) {
        mpix_endpoints_bound_t *const next = record->next;

        if (comm == atomic_load_explicit(&record->self, memory_order_relaxed)) {
            atomic_store_explicit(&record->self, NULL, memory_order_relaxed); /* libmpi's end */
        }
        if (comm != comm_of(record)) {
            before = record;
            record = next;
            continue;
        }
        if (NULL == before) {
            atomic_store_explicit(&records, next, memory_order_relaxed);
        } else {
            before->next = next;
        }
        *self = atomic_exchange_explicit(&record->self, NULL, memory_order_relaxed);
        atomic_store_explicit(&record->handle, NULL, memory_order_relaxed);
        if (0 == record->threads) {
            free(record);
        }
        record = next;
    }
}

void mpix_endpoints_bound_end(ompi_communicator_t *comm)
{
    ompi_communicator_t *self = NULL;

    /* Relaxed: the binding of a thread to comm is ordered before its end by the program. */
    if (OPAL_LIKELY(NULL == atomic_load_explicit(&records, memory_order_relaxed))) {
        return;
    }
    pthread_mutex_lock(&lock);
    bound_forget(comm, &self);
    pthread_mutex_unlock(&lock);
    if (NULL != self) {
        free_self(self);
    }
}
