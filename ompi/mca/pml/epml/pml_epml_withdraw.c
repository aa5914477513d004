/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * Rendezvous that are taken back.
 *
 * When a member of a communicator is lost, a collective ends with an error on those who notice, and
 * its sends to members that live must end, too: their receives may never be posted.  But what has
 * been offered for fetching may be being fetched, by the network card or by a neighbour's thread,
 * from memory that the user may free as soon as the call has returned.  (With libfabric's tcp a
 * registration that ends too early also costs the connection between two that live.)
 *
 * So the sender asks (WITHDRAW), and waits for the answer.  There are three cases at the receiver:
 *
 *  - the message waits unmatched: it is thrown away, and FIN says that nobody fetches it;
 *  - its communicator is gone, and with it all receives and messages: likewise;
 *  - it has been matched: CTS or FIN comes anyway, or is on its way.
 *
 * WITHDRAW follows the message on the same way, so that it cannot come before it.  The receiver
 * answers from its progress, as it answers a rendezvous.  Tests: test/mpi/death.c.
 */

#include "ompi_config.h"

#include "pml_epml_flow.h"
#include "pml_epml_request.h"

#include "ompi/constants.h"

/* ---- the sender's side ----------------------------------------------------------------------- */

void mca_pml_epml_withdraw(mca_pml_epml_request_t *request)
{
    const mca_pml_epml_hdr_withdraw_t hdr = {
        .common = {.kind = EPML_HDR_WITHDRAW, .request = request->number},
        .context = request->comm->context,
        .uid = request->ep->uid};
    int rc = mca_pml_epml_send_control(request->ep, request->comm->peers->peer[request->peer],
                                       &hdr, sizeof(hdr));

    if (OMPI_SUCCESS == rc) {
        request->state = EPML_SEND_WITHDRAWN;
    } else if (OMPI_ERR_OUT_OF_RESOURCE == rc) {
        request->ep->lost_seen = EPML_LOST_LOOK; /* no memory to ask: again at the next turn */
    } else {
        mca_pml_epml_send_fail(request, MPI_ERR_PROC_FAILED); /* the peer has gone, too */
    }
}

/* ---- the receiver's side --------------------------------------------------------------------- */

/** The rendezvous of a peer that waits unmatched under the sender's number, or NULL. */
static mca_pml_epml_unexpected_t *find(mca_pml_epml_ep_t *ep, const mca_pml_epml_comm_t *comm,
                                       const mca_pml_epml_peer_t *sender, uint32_t number)
{
    for (epml_match_unexpected_t *message = ep->match.arrival_first; NULL != message;
         message = message->newer) {
        mca_pml_epml_unexpected_t *kept = (mca_pml_epml_unexpected_t *) message;
        const epml_match_queue_t *queue = epml_match_queue_of(message);

        if (EPML_HDR_RNDV == kept->common.kind && number == kept->common.request
            && comm->context == queue->context
            && sender == comm->peers->peer[queue->source]) {
            return kept;
        }
    }
    return NULL;
}

/** Throw away what waits unmatched.  @return true: nobody fetches it, now or later */
static bool throw_away(mca_pml_epml_ep_t *ep, const mca_pml_epml_peer_t *sender,
                       const mca_pml_epml_hdr_withdraw_t *hdr)
{
    const mca_pml_epml_comm_t *comm = mca_pml_epml_comm_find(ep, hdr->context);
    mca_pml_epml_unexpected_t *message;

    if (NULL == comm) {
        return true; /* receives under way would keep it */
    }
    message = find(ep, comm, sender, hdr->common.request);
    if (NULL == message) {
        return false;
    }
    epml_match_remove(&ep->match, &message->match);
    mca_pml_epml_unexpected_free(ep, message);
    return true;
}

void mca_pml_epml_withdraw_answer(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *sender,
                                  uint32_t number)
{
    const mca_pml_epml_hdr_done_t fin = {.common = {.kind = EPML_HDR_FIN, .request = number},
                                         .status = OMPI_ERR_UNREACH};

    (void) mca_pml_epml_send_control(ep, sender, &fin, sizeof(fin));
}

void mca_pml_epml_withdraw_arrived(mca_pml_epml_ep_t *ep, const mca_pml_epml_hdr_withdraw_t *hdr,
                                   bool is_neighbour)
{
    mca_pml_epml_peer_t *sender = mca_pml_epml_peer_find(hdr->uid);

    /* Off the network it must not pass for a neighbour's. */
    if (NULL == sender || is_neighbour != (NULL != sender->shm)) {
        ++ep->dropped;
    } else if (throw_away(ep, sender, hdr)) {
        mca_pml_epml_withdraw_answer(ep, sender, hdr->common.request);
    }
    if (NULL != sender) {
        mca_pml_epml_peer_release(sender);
    }
}
