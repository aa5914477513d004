/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Rendezvous that are cancelled.
 *
 * When a member of a communicator is lost, a collective ends with an error at the members that
 * notice, and its sends to members that live must end, too: their receives may never be posted.  So
 * it is with a collective of a client's that has failed for another reason and cancels its sends. 
 * But what has been offered for fetching may be being fetched, by the network interface or by a
 * local peer's thread, from memory that the user may free as soon as the call has returned.  (With
 * libfabric's tcp a registration that ends too early also costs the connection between two live
 * processes.)
 *
 * So the sender asks (CANCEL), and waits for the answer.  There are three cases at the receiver:
 *
 *  - the message waits unmatched: it is thrown away, and FIN says that it is not fetched;
 *  - its communicator is gone, and with it all receives and messages: likewise.  By then the
 *    receiver may have nothing in common with the sender any more, but keeps the members of the
 *    communicator a while (mca_pml_epml_former_peers_add);
 *  - it has been matched: CTS or FIN comes anyway, or is on its way.
 *
 * The endpoint may be gone as well.  Of the network its module stays, and its process answers in
 * its place; on the node the sender detects by itself that its pipe is not read any more.
 *
 * CANCEL follows the message by the same transport, so that it cannot come before it.  The receiver
 * answers from its progress, as it answers a rendezvous.
 *
 * Tests: death, cut, ulfm_revoke
 */

#include "ompi_config.h"

#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_send.h"

#include "ompi/constants.h"

/* ---- the sender's side ----------------------------------------------------------------------- */

/** Is the receiver's endpoint gone, so that no answer can come? */
static bool is_left(const mca_pml_epml_ep_t *ep, const mca_pml_epml_peer_t *peer)
{
    const mca_pml_epml_connection_t *connection = NULL == peer->shm
                                                      ? mca_pml_epml_connection_find(ep, peer)
                                                      : NULL;

    return NULL != connection && NULL != connection->module->ep_is_left
           && connection->module->ep_is_left(connection->module, connection->endpoint);
}

/** Ask the receiver.  @return as mca_pml_epml_send_control */
static int cancel_request(const mca_pml_epml_request_t *request, mca_pml_epml_peer_t *receiver)
{
    const mca_btl_ep_module_t *module = request->ep->transports.module[EPML_TRANSPORT_NET];
    const bool by_net = NULL == receiver->shm && EPML_TRANSPORT_NET == receiver->transport;
    struct {
        mca_pml_epml_hdr_cancel_t hdr;
        unsigned char address[MCA_BTL_EP_ADDRESS_MAX];
    } message;
    const size_t length = by_net && NULL != module ? module->ep_address_length : 0;

    message.hdr = (mca_pml_epml_hdr_cancel_t){.common = {.kind = EPML_HDR_CANCEL,
                                                         .handle_size = (uint16_t) length,
                                                         .request = request->number},
                                              .context = request->comm->context,
                                              .uid = request->ep->life.uid};
    if (0 < length) {
        memcpy(message.address, module->ep_address, length);
    }
    return mca_pml_epml_send_control(request->ep, receiver, &message, sizeof(message.hdr) + length);
}

void mca_pml_epml_rndv_cancel(mca_pml_epml_request_t *request)
{
    mca_pml_epml_peer_t *receiver = request->comm->peers->member[request->rank];
    const int rc = is_left(request->ep, receiver) ? MPI_ERR_PROC_FAILED
                                                  : cancel_request(request, receiver);

    if (OMPI_SUCCESS == rc) {
        request->state = EPML_SEND_CANCELLED;
    } else if (OMPI_ERR_OUT_OF_RESOURCE == rc) {
        mca_pml_epml_lost_look_soon(
            request->ep); /* no memory to ask: again at the next progress call */
    } else {
        mca_pml_epml_send_fail(request, MPI_ERR_PROC_FAILED); /* the peer has gone, too */
    }
}

/* ---- the receiver's side --------------------------------------------------------------------- */

/** The rendezvous of a peer that waits unmatched under the sender's number, or NULL. */
static mca_pml_epml_unexpected_t *find_kept(mca_pml_epml_ep_t *ep, const mca_pml_epml_comm_t *comm,
                                            const mca_pml_epml_peer_t *sender, uint32_t number)
{
    for (epml_match_unexpected_t *message = ep->match.arrival_first; NULL != message;
         message = message->newer) {
        mca_pml_epml_unexpected_t *kept = (mca_pml_epml_unexpected_t *) message;
        const epml_match_queue_t *queue = epml_match_queue_of(message);

        if (EPML_HDR_RNDV == kept->common.kind && number == kept->common.request
            && comm->context == queue->context && sender == comm->peers->member[queue->source]) {
            return kept;
        }
    }
    return NULL;
}

/** Throw away what waits unmatched.  @return true: it is not fetched, now or later */
static bool throw_away_kept(mca_pml_epml_ep_t *ep, const mca_pml_epml_peer_t *sender,
                            const mca_pml_epml_hdr_cancel_t *hdr)
{
    const mca_pml_epml_comm_t *comm = mca_pml_epml_comm_find(ep, hdr->context);
    mca_pml_epml_unexpected_t *message;

    if (NULL == comm) {
        return true; /* receives under way would keep it */
    }
    message = find_kept(ep, comm, sender, hdr->common.request);
    if (NULL == message) {
        return false;
    }
    epml_match_remove(&ep->match, &message->match);
    mca_pml_epml_unexpected_free(ep, message);
    return true;
}

void mca_pml_epml_rndv_cancel_answer(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *sender,
                                     uint32_t number, int status)
{
    const mca_pml_epml_hdr_done_t fin = {.common = {.kind = EPML_HDR_FIN, .request = number},
                                         .status = status};

    (void) mca_pml_epml_send_control(ep, sender, &fin, sizeof(fin));
}

void mca_pml_epml_rndv_cancel_unexpected(mca_pml_epml_comm_t *comm,
                                         epml_match_unexpected_t *message)
{
    mca_pml_epml_unexpected_t *kept = (mca_pml_epml_unexpected_t *) message;

    if (comm->loss.member && EPML_HDR_RNDV == kept->common.kind) {
        mca_pml_epml_rndv_cancel_answer(comm->ep,
                                        comm->peers->member[epml_match_queue_of(message)->source],
                                        kept->common.request,
                                        comm->loss.revoked ? MPI_ERR_REVOKED : OMPI_ERR_UNREACH);
    }
    comm->may_owe |= EPML_HDR_RNDV == kept->common.kind
                     && MPI_ANY_TAG > epml_match_queue_of(message)->tag;
    epml_match_remove(&comm->ep->match, message);
    mca_pml_epml_unexpected_free(comm->ep, kept);
}

/** Answer a peer that is not known here any more.  If there is no room for it at present the peer
 * asks again.  @return false: it cannot be */
static bool answer_by_address(mca_btl_ep_module_t *module, const mca_pml_epml_hdr_cancel_t *hdr,
                              const void *address)
{
    const mca_pml_epml_hdr_done_t fin = {.common = {.kind = EPML_HDR_FIN,
                                                    .request = hdr->common.request},
                                         .status = OMPI_ERR_UNREACH};
    const size_t length = hdr->common.handle_size;

    /* It must be the sender's own. */
    return sizeof(module->ep_source) <= length
           && 0 == memcmp(&module->ep_source, address, sizeof(module->ep_source))
           && NULL != module->ep_answer
           && OPAL_SUCCESS
                  == module->ep_answer(module, address, length, &fin, sizeof(fin), MCA_BTL_EP_TAG);
}

void mca_pml_epml_rndv_cancel_left(mca_btl_ep_module_t *module, const void *message, size_t size)
{
    const mca_pml_epml_hdr_cancel_t *hdr = message;

    if (sizeof(hdr->common) <= size && EPML_HDR_CANCEL == hdr->common.kind
        && sizeof(*hdr) + hdr->common.handle_size == size) {
        (void) answer_by_address(module, hdr, hdr + 1);
    }
}

static bool cancel_arrived(mca_pml_epml_ep_t *ep, const mca_pml_epml_message_t *message)
{
    const mca_pml_epml_hdr_cancel_t *hdr = message->hdr;
    mca_btl_ep_module_t *module = message->module;
    mca_pml_epml_peer_t *sender = mca_pml_epml_peer_find(hdr->uid);
    const bool is_same_process = module == ep->transports.shm;

    if (NULL == sender && module == ep->transports.module[EPML_TRANSPORT_NET]) {
        /* For an earlier owner of this module. */
        if (!answer_by_address(module, hdr, message->rest)) {
            mca_pml_epml_ep_drop(ep);
        }
    } else if (NULL == sender || is_same_process != (NULL != sender->shm)) {
        mca_pml_epml_ep_drop(ep); /* off the network it must not pass for a local peer's */
    } else if (throw_away_kept(ep, sender, hdr)) {
        mca_pml_epml_rndv_cancel_answer(ep, sender, hdr->common.request, OMPI_ERR_UNREACH);
    }
    if (NULL != sender) {
        mca_pml_epml_peer_release(sender);
    }
    return true;
}

const mca_pml_epml_kind_t mca_pml_epml_rndv_cancel_kind = {
    .size = sizeof(mca_pml_epml_hdr_cancel_t),
    .rest = EPML_REST_HANDLE,
    .from = EPML_FROM_UID,
    .uid = offsetof(mca_pml_epml_hdr_cancel_t, uid),
    .context = offsetof(mca_pml_epml_hdr_cancel_t, context),
    .arrived = cancel_arrived};
