/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The engine's clients.  Each has a number, and hangs an object of its own on each handle
 * while that is made, before the members agree that all of them have theirs: so what fails at one
 * fails at all.
 *
 * Called by pml_epml_comm.c.
 *
 * Tests: client
 */

#include "ompi_config.h"

#include "pml_epml_clients.h"
#include "pml_epml_lock.h"

#include "ompi/constants.h"
#include "opal/mca/threads/mutex.h"

static struct {
    opal_mutex_t lock;
    _Atomic int count;
    const mpix_endpoints_client_t *client[EPML_ENROLLED_MOST];
} clients = {.lock = OPAL_MUTEX_STATIC_INIT};

int mca_pml_epml_client_register(const mpix_endpoints_client_t *client, int *number_p)
{
    int rc = OMPI_SUCCESS, number = 0, count;

    opal_mutex_lock(&clients.lock);
    count = atomic_load_explicit(&clients.count, memory_order_relaxed);
    while (number < count && client != clients.client[number]) {
        ++number;
    }
    if (EPML_ENROLLED_MOST == number) {
        rc = OMPI_ERR_OUT_OF_RESOURCE;
    } else if (number == count) {
        clients.client[number] = client;
        /* Release: orders the client before the count; partner: mca_pml_epml_clients. */
        atomic_store_explicit(&clients.count, count + 1, memory_order_release);
    }
    opal_mutex_unlock(&clients.lock);
    if (OMPI_SUCCESS == rc) {
        *number_p = number;
    }
    return rc;
}

const mpix_endpoints_client_t *mca_pml_epml_clients(int number)
{
    /* Acquire: see mca_pml_epml_client_register. */
    return 0 <= number && number < atomic_load_explicit(&clients.count, memory_order_acquire)
               ? clients.client[number]
               : NULL;
}

/** Calls the clients' free for what they have made. */
static void let_go(ompi_communicator_t *comm, void *const *objects)
{
    const mpix_endpoints_client_t *client;

    for (int i = 0; NULL != (client = mca_pml_epml_clients(i)); ++i) {
        if (NULL != objects[i] && NULL != client->free) {
            client->free(comm, objects[i]);
        }
    }
}

int mca_pml_epml_clients_make(mca_pml_epml_comm_t *comm)
{
    const mpix_endpoints_client_t *client;
    void *made[EPML_ENROLLED_MOST] = {NULL}, **objects;
    bool some = false;
    int rc = OMPI_SUCCESS;

    for (int i = 0; OMPI_SUCCESS == rc && NULL != (client = mca_pml_epml_clients(i)); ++i) {
        if (NULL != client->make) {
            rc = client->make(comm->comm, &made[i]);
            some = some || NULL != made[i];
        }
    }
    if (!some) {
        return rc;
    }
    objects = malloc(sizeof(made));
    if (NULL == objects) {
        let_go(comm->comm, made);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    memcpy(objects, made, sizeof(made));
    /* Under the lock, under which messages for them come, in whatever thread: that of another
     * member may be here as soon as this one has said that it is ready. */
    mca_pml_epml_lock(comm->ep);
    comm->objects = objects;
    mca_pml_epml_unlock(comm->ep);
    return rc;
}

void mca_pml_epml_clients_free(mca_pml_epml_comm_t *comm)
{
    if (NULL != comm->objects) {
        let_go(comm->comm, comm->objects);
        free(comm->objects);
    }
}

void mca_pml_epml_clients_finalize(void)
{
    /* Relaxed: no other thread is in MPI any more. */
    atomic_store_explicit(&clients.count, 0, memory_order_relaxed);
}
