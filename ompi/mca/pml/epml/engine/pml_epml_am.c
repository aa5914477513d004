/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Active messages of the engine's clients: a match header, with the client's number in place of the
 * tag, and the client's data.  They are sent as control messages are, at once or in the backlog's
 * order, and passed to the client when they arrive.
 *
 * A message is found by the endpoint's table of handles, under the lock.  A handle leaves the table
 * when it is destroyed, which is after its last reference has been given up, by a thread without the
 * lock.  In between it is found, but must not be retained any more.  So a reference is taken first,
 * if there is one left, and the client's callback may begin work for the handle.
 *
 * Called by pml_epml_recvfrag.c (kinds) and the engine's interface.
 *
 * Tests: unit/test_epml_am, client, fuzz/epml
 */

#include "ompi_config.h"

#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_am.h"
#include "pml_epml_work.h"

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

/* ---- the handle's references ------------------------------------------------------------------ */

static inline opal_atomic_int32_t *references_of(const mca_pml_epml_comm_t *comm)
{
    return &((opal_object_t *) comm->comm)->obj_reference_count;
}

/** @return false: the last one has been given up, and the handle is about to leave the table */
static inline bool handle_retain(const mca_pml_epml_comm_t *comm)
{
    int32_t references = 1; /* a guess, which the exchange corrects */

    /* No order is needed: the destroying thread takes the lock before it frees anything. */
    while (!opal_atomic_compare_exchange_strong_32(references_of(comm), &references,
                                                   references + 1)) {
        if (0 == references) {
            return false;
        }
    }
    return true;
}

/** Under the lock, under which nothing is destroyed: a last reference is given up later. */
static inline void handle_release(mca_pml_epml_comm_t *comm)
{
    int32_t references = 2;

    /* No order is needed, as above. */
    while (!opal_atomic_compare_exchange_strong_32(references_of(comm), &references,
                                                   references - 1)) {
        if (1 == references) {
            mca_pml_epml_work_release(comm);
            return;
        }
    }
}

/* ---- arrival --------------------------------------------------------------------------------- */

static bool am_arrived(mca_pml_epml_ep_t *ep, const mca_pml_epml_message_t *message)
{
    const mca_pml_epml_hdr_match_t *hdr = message->hdr;
    const mpix_endpoints_client_t *client = mca_pml_epml_clients(hdr->tag);
    mca_pml_epml_comm_t *comm = mca_pml_epml_comm_find(ep, hdr->context);
    _Alignas(uint64_t) unsigned char data[MPIX_ENDPOINTS_AM_MAX];
    void *object;
    bool is_sound;

    if (NULL == client || NULL == client->am_handler || sizeof(data) < message->rest_size) {
        return false;
    }
    object = NULL != comm ? mca_pml_epml_clients_object(comm, hdr->tag) : NULL;
    if (NULL == object || !handle_retain(comm)) {
        mca_pml_epml_ep_drop(ep); /* it has been freed here, most likely, or is being freed */
        return true;
    }
    comm->may_owe = true;
    /* Its sender may still write to it: what the client checks must be what it uses. */
    memcpy(data, message->rest, message->rest_size);
    __asm__ volatile("" : : "r"(data) : "memory");
    is_sound = client->am_handler(object, hdr->source, data, message->rest_size);
    handle_release(comm);
    return is_sound;
}

const mca_pml_epml_kind_t mca_pml_epml_am_kind = {.size = sizeof(mca_pml_epml_hdr_match_t),
                                                  .rest = EPML_REST_DATA,
                                                  .from = EPML_FROM_RANK,
                                                  .arrived = am_arrived};
