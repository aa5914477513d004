/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Memory for clients.  That of a process is in a list of its own (pml_epml_memory.h).  Of a node
 * there is one mapping in a process, in the same list, of a file that epshm makes; where only this
 * process is within reach, it is memory of the process.
 *
 * Called by pml_epml_service.c.
 *
 * Tests: client
 */

#include "ompi_config.h"

#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_service_memory.h"

#include "ompi/constants.h"

/** In the key: of a node, and not of the client's process. */
#define ON_NODE 0x80000000u

/** What the source needs. */
typedef struct asked_t {
    const mca_pml_epml_comm_t *comm;
    int host; /**< the rank whose process's segment names the file */
    unsigned int processes;
    bool reserve;
} asked_t;

static int node_get(void *context, const mca_pml_epml_memory_key_t *key, size_t size, void **base_p,
                    void **token_p)
{
    const asked_t *asked = context;
    const mca_pml_epml_comm_t *comm = asked->comm;
    const mca_pml_epml_peer_t *host = comm->local->member[asked->host];
    const mca_btl_ep_module_t *own = comm->ep->transports.module[EPML_TRANSPORT_NODE];
    mca_btl_ep_memory_name_t name = {.context = key->context,
                                     .key = (uint64_t) key->number << 32 | key->key};
    mca_btl_ep_memory_t *memory;
    int rc;

    if (NULL == own) {
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    if (NULL != host->shm) {
        name.address = own->ep_address; /* any module's of this process will do */
        name.address_length = own->ep_address_length;
    } else if (EPML_TRANSPORT_NODE == host->transport) {
        name.address = host->address;
        name.address_length = host->address_length;
    } else {
        return MPI_ERR_UNSUPPORTED_OPERATION; /* its memory cannot be seen from here */
    }
    rc = mca_pml_epml_node_memory_get(&name, size, asked->processes, asked->reserve, &memory);
    if (OMPI_SUCCESS == rc) {
        *base_p = memory->base;
        *token_p = memory;
    }
    return OMPI_ERR_NOT_AVAILABLE == rc ? MPI_ERR_UNSUPPORTED_OPERATION : rc;
}

static bool node_is_whole(void *token)
{
    mca_btl_ep_memory_t *memory = token;

    return memory->is_whole(memory);
}

static int node_fill(void *token, size_t offset, size_t size)
{
    mca_btl_ep_memory_t *memory = token;

    return memory->fill(memory, offset, size);
}

static void node_put(void *token)
{
    mca_btl_ep_memory_t *memory = token;

    memory->put(memory);
}

static const mca_pml_epml_memory_source_t node_source = {
    .get = node_get, .is_whole = node_is_whole, .fill = node_fill, .put = node_put};

int mca_pml_epml_service_memory_get(const mca_pml_epml_comm_t *comm, mpix_endpoints_scope_t reach,
                                    int number, uint32_t key, size_t size, bool reserve,
                                    mpix_endpoints_memory_t **memory_p)
{
    mca_pml_epml_memory_key_t name = {.context = comm->context,
                                      .number = (uint32_t) number,
                                      .key = key};
    asked_t asked = {.comm = comm, .reserve = reserve};

    /* Both sides have its context, and may be in one process. */
    if (comm->is_inter) {
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    if (MPIX_ENDPOINTS_SCOPE_NODE == reach) {
        mpix_endpoints_members_t members;
        const int rc = mca_pml_epml_locality_members(comm, reach, &members);

        if (OMPI_SUCCESS != rc) {
            return rc;
        }
        name.number |= ON_NODE;
        if (1 < members.processes) {
            asked.host = members.first;
            asked.processes = (unsigned int) members.processes;
            return mca_pml_epml_memory_get(&name, size, &node_source, &asked, memory_p);
        }
    }
    return mca_pml_epml_memory_get(&name, size, NULL, NULL, memory_p);
}

int mca_pml_epml_service_memory_copy(const mca_pml_epml_comm_t *comm, int rank, void *local,
                                     uint64_t remote, size_t size, bool to_member)
{
    const mca_pml_epml_peer_t *peer = comm->peers->member[rank];

    if (NULL != peer->shm || EPML_TRANSPORT_NODE != peer->transport
        || OMPI_SUCCESS
               != mca_pml_epml_node_copy(peer->address, peer->address_length, local, remote, size,
                                         to_member)) {
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    return OMPI_SUCCESS;
}
