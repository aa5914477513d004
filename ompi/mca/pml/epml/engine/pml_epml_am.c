/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Active messages of the engine's clients: a match header, with the client's number in place of the
 * tag, and the client's data.  They are sent as control messages are, at once or in the pending
 * queue's order, and passed to the client when they arrive.
 *
 * A message is found by the endpoint's table of handles, under the lock.  A handle leaves the table
 * when it is destroyed, which is after its last reference has been given up, by a thread without the
 * lock.  In between it is found, but must not be retained any more.  So a reference is taken first,
 * if there is one left, and the client's callback may begin work for the handle.
 *
 * What the transport has no buffer for comes in pieces (pml_epml_transmit.c), which are put together
 * here.
 *
 * Called by pml_epml_recvfrag.c (kinds) and the engine's interface.
 *
 * Tests: unit/test_epml_am, unit/test_epml_pieces, client, fuzz/epml
 */

#include "ompi_config.h"

#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_am.h"
#include "pml_epml_work.h"

#include "ompi/constants.h"

/* ---- sending --------------------------------------------------------------------------------- */

size_t mca_pml_epml_am_max(const mca_pml_epml_comm_t *comm, int rank)
{
    const mca_pml_epml_peer_t *peer = comm->peers->member[rank];
    const mca_btl_ep_module_t *module = NULL != peer->shm
                                            ? comm->ep->transports.shm
                                            : comm->ep->transports.module[peer->transport];
    const size_t limit = NULL == module ? 0 : module->super.btl_eager_limit;

    if (sizeof(mca_pml_epml_hdr_match_t) + MPIX_ENDPOINTS_AM_LIMIT <= limit) {
        return MPIX_ENDPOINTS_AM_LIMIT;
    }
    return sizeof(mca_pml_epml_hdr_match_t) + MPIX_ENDPOINTS_AM_MAX < limit
               ? limit - sizeof(mca_pml_epml_hdr_match_t)
               : MPIX_ENDPOINTS_AM_MAX;
}

int mca_pml_epml_am_send(mca_pml_epml_comm_t *comm, int number, int rank, const void *data,
                         size_t size)
{
    const mca_pml_epml_hdr_match_t hdr = {.common = {.kind = EPML_HDR_AM},
                                          .context = comm->context,
                                          .source = comm->rank,
                                          .tag = number};

    comm->may_owe = true;
    return mca_pml_epml_send_control_data(comm->ep, comm->peers->member[rank], &hdr, sizeof(hdr),
                                          data, size);
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

/* ---- to the client --------------------------------------------------------------------------- */

/** Pass a copy: what the client checks must be what it uses. */
static inline bool pass_copy(const mpix_endpoints_client_t *client, void *object,
                             const mca_pml_epml_message_t *message, unsigned char *copy)
{
    memcpy(copy, message->rest, message->rest_size);
    __asm__ volatile("" : : "r"(copy) : "memory");
    return client->am_handler(object, ((const mca_pml_epml_hdr_match_t *) message->hdr)->source,
                              copy, message->rest_size);
}

/** Out of line: the copy of a large one must not make the frame of the others large. */
static __attribute__((noinline)) bool pass_large(const mpix_endpoints_client_t *client,
                                                 void *object,
                                                 const mca_pml_epml_message_t *message)
{
    _Alignas(uint64_t) unsigned char copy[MPIX_ENDPOINTS_AM_LIMIT];

    return pass_copy(client, object, message, copy);
}

static inline bool am_pass(mca_pml_epml_ep_t *ep, const mpix_endpoints_client_t *client,
                           void *object, const mca_pml_epml_message_t *message)
{
    _Alignas(uint64_t) unsigned char copy[MPIX_ENDPOINTS_AM_MAX];

    if (sizeof(copy) >= message->rest_size) {
        return pass_copy(client, object, message, copy);
    }
    /* On the node side the sender may still write to it.  Elsewhere it is this process's. */
    if (message->module == ep->transports.module[EPML_TRANSPORT_NODE]
        || 0 != (uintptr_t) message->rest % sizeof(uint64_t)) {
        return pass_large(client, object, message);
    }
    return client->am_handler(object, ((const mca_pml_epml_hdr_match_t *) message->hdr)->source,
                              message->rest, message->rest_size);
}

/* ---- messages in pieces ---------------------------------------------------------------------- */

/** A message of which some pieces have come.  One of a sender, whose pieces follow each other. */
typedef struct mca_pml_epml_am_partial_t {
    struct mca_pml_epml_am_partial_t *next;
    int32_t source, number;
    size_t size;
    _Alignas(uint64_t) unsigned char data[MPIX_ENDPOINTS_AM_LIMIT];
} partial_t;

/** @return where the one of a sender is linked, or would be */
static partial_t **partial_find(mca_pml_epml_comm_t *comm, int32_t source)
{
    partial_t **link = &comm->partials;

    while (NULL != *link && source != (*link)->source) {
        link = &(*link)->next;
    }
    return link;
}

/** @return NULL without memory */
static partial_t *partial_new(partial_t **link, const mca_pml_epml_hdr_match_t *hdr)
{
    partial_t *partial = malloc(sizeof(*partial));

    if (NULL != partial) {
        partial->next = NULL;
        partial->source = hdr->source;
        partial->number = hdr->tag;
        partial->size = 0;
        *link = partial;
    }
    return partial;
}

void mca_pml_epml_am_del_comm(mca_pml_epml_comm_t *comm)
{
    while (OPAL_UNLIKELY(NULL != comm->partials)) {
        partial_t *partial = comm->partials;

        comm->partials = partial->next;
        free(partial);
    }
}

/** A piece, or a message of a sender that may owe some.
 * @return false: it does not fit, or there is no memory.  A message that would never be complete
 *         must not be awaited, so its sender is treated as lost */
static __attribute__((noinline)) bool piece_arrived(mca_pml_epml_comm_t *comm,
                                                    const mpix_endpoints_client_t *client,
                                                    void *object,
                                                    const mca_pml_epml_message_t *message)
{
    const mca_pml_epml_hdr_match_t *hdr = message->hdr;
    partial_t **link = partial_find(comm, hdr->source), *partial = *link;
    bool is_sound;

    if (NULL == partial && 0 == (hdr->common.flags & EPML_HDR_FLAG_MORE)) {
        return am_pass(comm->ep, client, object, message); /* another sender owes some */
    }
    if (NULL == partial) {
        partial = partial_new(link, hdr);
    }
    if (NULL == partial || hdr->tag != partial->number
        || sizeof(partial->data) - partial->size < message->rest_size) {
        return false;
    }
    memcpy(partial->data + partial->size, message->rest, message->rest_size);
    partial->size += message->rest_size;
    if (0 != (hdr->common.flags & EPML_HDR_FLAG_MORE)) {
        return true;
    }
    *link = partial->next;
    is_sound = client->am_handler(object, hdr->source, partial->data, partial->size);
    free(partial);
    return is_sound;
}

/* ---- arrival --------------------------------------------------------------------------------- */

static bool am_arrived(mca_pml_epml_ep_t *ep, const mca_pml_epml_message_t *message)
{
    const mca_pml_epml_hdr_match_t *hdr = message->hdr;
    const mpix_endpoints_client_t *client = mca_pml_epml_clients(hdr->tag);
    mca_pml_epml_comm_t *comm = mca_pml_epml_comm_find(ep, hdr->context);
    void *object;
    bool is_sound;

    if (NULL == client || NULL == client->am_handler
        || MPIX_ENDPOINTS_AM_LIMIT < message->rest_size) {
        return false;
    }
    object = NULL != comm ? mca_pml_epml_clients_object(comm, hdr->tag) : NULL;
    if (NULL == object || !handle_retain(comm)) {
        mca_pml_epml_ep_drop(ep); /* it has been freed here, most likely, or is being freed */
        return true;
    }
    comm->may_owe = true;
    is_sound = OPAL_UNLIKELY(NULL != comm->partials
                             || 0 != (hdr->common.flags & EPML_HDR_FLAG_MORE))
                   ? piece_arrived(comm, client, object, message)
                   : am_pass(ep, client, object, message);
    handle_release(comm);
    return is_sound;
}

const mca_pml_epml_kind_t mca_pml_epml_am_kind = {.size = sizeof(mca_pml_epml_hdr_match_t),
                                                  .rest = EPML_REST_DATA,
                                                  .from = EPML_FROM_RANK,
                                                  .arrived = am_arrived};
