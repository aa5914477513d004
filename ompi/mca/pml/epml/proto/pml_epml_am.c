/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Messages of the engine's clients that no receive waits for: a match header, with the client's
 * number in place of the tag, and what the client put behind it.  They go as control messages do, at
 * once or in the backlog's order, and are handed to the client when they come.
 *
 * Called by pml_epml_recvfrag.c (kinds) and the engine's interface.
 *
 * Tests: client, fuzz/epml
 */

#include "ompi_config.h"

#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_am.h"

#include "ompi/constants.h"

int mca_pml_epml_am_send(mca_pml_epml_comm_t *comm, int number, int rank, const void *data,
                         size_t size)
{
    struct {
        mca_pml_epml_hdr_match_t match;
        unsigned char data[MPIX_ENDPOINTS_AM_MAX];
    } message = {.match = {.common = {.kind = EPML_HDR_AM},
                           .context = comm->context,
                           .source = comm->rank,
                           .tag = number}};

    comm->may_owe = true;
    if (0 < size) {
        memcpy(message.data, data, size);
    }
    return mca_pml_epml_send_control(comm->ep, comm->peers->member[rank], &message,
                                     sizeof(message.match) + size);
}

static bool am_arrived(mca_pml_epml_ep_t *ep, const mca_pml_epml_message_t *message)
{
    const mca_pml_epml_hdr_match_t *hdr = message->hdr;
    const mpix_endpoints_client_t *client = mca_pml_epml_clients(hdr->tag);
    mca_pml_epml_comm_t *comm = mca_pml_epml_comm_find(ep, hdr->context);
    _Alignas(uint64_t) unsigned char data[MPIX_ENDPOINTS_AM_MAX];
    void *object;

    if (NULL == client || NULL == client->am_handler || sizeof(data) < message->rest_size) {
        return false;
    }
    object = NULL != comm ? mca_pml_epml_clients_object(comm, hdr->tag) : NULL;
    if (NULL == object) {
        mca_pml_epml_ep_drop(ep); /* it has been freed here, most likely */
        return true;
    }
    comm->may_owe = true;
    /* Its sender may still write to it: what the client checks must be what it uses. */
    memcpy(data, message->rest, message->rest_size);
    __asm__ volatile("" : : "r"(data) : "memory");
    return client->am_handler(object, hdr->source, data, message->rest_size);
}

const mca_pml_epml_kind_t mca_pml_epml_am_kind = {.size = sizeof(mca_pml_epml_hdr_match_t),
                                                  .rest = EPML_REST_DATA,
                                                  .from = EPML_FROM_RANK,
                                                  .arrived = am_arrived};
