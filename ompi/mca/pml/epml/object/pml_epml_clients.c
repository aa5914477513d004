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

#include <string.h>

/** Clients of this project, which have the same number in each process, also where another one of
 * them is not loaded (MCA parameters "coll", "osc"): messages and names of memory carry it. */
static const char *const reserved[] = {"coll/epcoll", "osc/epwin"};

#define RESERVED (int) (sizeof(reserved) / sizeof(reserved[0]))

static struct {
    opal_mutex_t lock;
    const mpix_endpoints_client_t *_Atomic client[EPML_ENROLLED_MOST]; /**< by number; or NULL */
} clients = {.lock = OPAL_MUTEX_STATIC_INIT};

/** The number of a client that is registered, or that it gets; EPML_ENROLLED_MOST: none.  Under the
 * lock. */
static int number_find(const mpix_endpoints_client_t *client)
{
    int number = RESERVED;

    for (int i = 0; i < RESERVED && NULL != client->name; ++i) {
        if (0 == strcmp(reserved[i], client->name)) {
            return i;
        }
    }
    while (EPML_ENROLLED_MOST > number) {
        /* Relaxed: the lock orders. */
        const mpix_endpoints_client_t *other = atomic_load_explicit(&clients.client[number],
                                                                    memory_order_relaxed);

        if (NULL == other || client == other) {
            break;
        }
        ++number;
    }
    return number;
}

int mca_pml_epml_client_register(const mpix_endpoints_client_t *client, int *number_p)
{
    int number;

    opal_mutex_lock(&clients.lock);
    number = number_find(client);
    if (EPML_ENROLLED_MOST > number) {
        /* Release: orders the client before its address; partner: mca_pml_epml_clients. */
        atomic_store_explicit(&clients.client[number], client, memory_order_release);
        *number_p = number;
    }
    opal_mutex_unlock(&clients.lock);
    return EPML_ENROLLED_MOST > number ? OMPI_SUCCESS : OMPI_ERR_OUT_OF_RESOURCE;
}

const mpix_endpoints_client_t *mca_pml_epml_clients(int number)
{
    /* Acquire: see mca_pml_epml_client_register. */
    return 0 <= number && number < EPML_ENROLLED_MOST
               ? atomic_load_explicit(&clients.client[number], memory_order_acquire)
               : NULL;
}

/** Calls the clients' free for what they have made. */
static void let_go(ompi_communicator_t *comm, void *const *objects)
{
    const mpix_endpoints_client_t *client;

    for (int i = 0; i < EPML_ENROLLED_MOST; ++i) {
        client = mca_pml_epml_clients(i);
        if (NULL != client && NULL != objects[i] && NULL != client->free) {
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

    for (int i = 0; OMPI_SUCCESS == rc && i < EPML_ENROLLED_MOST; ++i) {
        client = mca_pml_epml_clients(i);
        if (NULL != client && NULL != client->make) {
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
    for (int i = 0; i < EPML_ENROLLED_MOST; ++i) {
        /* Relaxed: no other thread is in MPI any more. */
        atomic_store_explicit(&clients.client[i], NULL, memory_order_relaxed);
    }
}
