/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Messages to peers, now or in order later: pml_epml_transmit.c.
 */

#ifndef MCA_PML_EPML_TRANSMIT_H
#define MCA_PML_EPML_TRANSMIT_H

#include "ompi_config.h"

#include "../object/object.h"
#include "pml_epml_connection.h"

BEGIN_C_DECLS

/** Is there something that must go to peer first? */
bool mca_pml_epml_pending_has(const mca_pml_epml_ep_t *ep, const mca_pml_epml_peer_t *peer);

/** Put a request, which is in no pending queue, behind what waits for peer; its resume will be
 * called.  Takes no memory. */
void mca_pml_epml_pending_request(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer,
                                  mca_pml_epml_request_t *request);

/** Send a control message, now or later, in order.  One that can never go makes the peer a lost
 * one, for both endpoints, as far as the peer can be notified.
 *
 * @return OMPI_SUCCESS; OMPI_ERR_OUT_OF_RESOURCE: not now, and there is no memory to keep it: put a
 *         request into the pending queue, and try again when it continues; MPI_ERR_PROC_FAILED:
 *         never */
int mca_pml_epml_send_control(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer, const void *message,
                              size_t size);

/** The same with data behind the header.  If the transport never has a buffer for as much, an active
 * message goes in pieces. */
int mca_pml_epml_send_control_data(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer,
                                   const void *header, size_t header_size, const void *data,
                                   size_t size);

/** Bytes of data that each transport always has a buffer for, sooner or later: what an active
 * message is cut into. */
#define EPML_PIECE MPIX_ENDPOINTS_AM_MAX

/** What becomes of a control message, or of another one that a peer waits for.
 *
 * @param[in]     rc     of the transport
 * @param[in,out] since  when there was no transport for the first time, ns; 0: there has been one
 * @return OMPI_SUCCESS: sent; OMPI_ERR_OUT_OF_RESOURCE: to be tried again; MPI_ERR_PROC_FAILED:
 *         never, and the peer is a lost one */
int mca_pml_epml_pending_judge(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer, int rc,
                               uint64_t *since);

/** There is no transport to a peer that waits for an answer: it is lost to this endpoint, and this
 * endpoint to it, when it asks.  Local peers cannot be lost. */
void mca_pml_epml_pending_give_up(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer);

/** Send what can be sent, to some of the peers; the next ones are the next call's.
 * @return number of things sent */
int mca_pml_epml_pending_progress(mca_pml_epml_ep_t *ep);

/** The peer is lost: end what waits for it. */
void mca_pml_epml_pending_lost(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer);

/** Ends the sends of collectives in all pending queues that cannot succeed, because a member is
 * lost, and of which the peer has received nothing. */
void mca_pml_epml_pending_end_in_vain(mca_pml_epml_ep_t *ep);

/** Forget it all. */
void mca_pml_epml_pending_clear(mca_pml_epml_ep_t *ep);

/** Hand one message to the right transport, at once or not at all. */
static inline int mca_pml_epml_transmit(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer,
                                        const void *header, size_t header_size, const void *payload,
                                        size_t payload_size)
{
    mca_pml_epml_connection_t *connection;
    int rc;

    if (NULL != peer->shm) {
        return ep->transports.shm->ep_send(ep->transports.shm, peer->shm, header, header_size,
                                           payload, payload_size, MCA_BTL_EP_TAG);
    }
    rc = mca_pml_epml_peer_connect(ep, peer, &connection);
    if (OPAL_UNLIKELY(OMPI_SUCCESS != rc)) {
        return rc;
    }
    return connection->module->ep_send(connection->module, connection->endpoint, header,
                                       header_size, payload, payload_size, MCA_BTL_EP_TAG);
}

/** The transport and its connection that reach a peer. */
static inline int mca_pml_epml_route(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer,
                                     mca_btl_ep_module_t **module_p,
                                     struct mca_btl_base_endpoint_t **connection_p)
{
    mca_pml_epml_connection_t *connection;
    int rc;

    if (NULL != peer->shm) {
        *module_p = ep->transports.shm;
        *connection_p = peer->shm;
        return OMPI_SUCCESS;
    }
    rc = mca_pml_epml_peer_connect(ep, peer, &connection);
    if (OMPI_SUCCESS == rc) {
        *module_p = connection->module;
        *connection_p = connection->endpoint;
    }
    return rc;
}

END_C_DECLS

#endif /* MCA_PML_EPML_TRANSMIT_H */
