/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The protocol of sending: pml_epml_send.c, pml_epml_rndv_cancel.c.
 */

#ifndef MCA_PML_EPML_SEND_H
#define MCA_PML_EPML_SEND_H

#include "ompi_config.h"

#include "../object/object.h"
#include "../base/base.h"

BEGIN_C_DECLS

/** Filled in place: a header returned by value is copied in larger pieces than it was written in,
 * and waits for its own stores to leave the store buffer (a fifth of a sender's time at
 * 8 bytes). */
static inline void mca_pml_epml_match_header(mca_pml_epml_hdr_match_t *hdr,
                                             const mca_pml_epml_comm_t *comm, int tag)
{
    hdr->common = (mca_pml_epml_hdr_common_t){.kind = EPML_HDR_EAGER};
    hdr->context = comm->context;
    hdr->source = comm->rank;
    hdr->tag = tag;
}

/** Start a send, but for a buffered one that is persistent.  Under the lock.
 * @return OMPI_SUCCESS or an error: then it has not been started */
int mca_pml_epml_send_start(mca_pml_epml_request_t *request);

/** The send cannot be finished: tell the user.  It is in no pending queue. */
void mca_pml_epml_send_fail(mca_pml_epml_request_t *request, int rc);

/** The data of a request, which the transport has had on zero-copy send, are the user's again: see
 * mca_btl_ep_returned_fn_t. */
void mca_pml_epml_send_returned(void *context, void *token);

/** The receiver's answers: CTS; FIN and ACK. */
extern const mca_pml_epml_kind_t mca_pml_epml_cts_kind, mca_pml_epml_done_kind;

/** Cancel a rendezvous (EPML_SEND_RNDV) to a peer that lives: ends with MPI_ERR_PROC_FAILED when
 * the peer says so, or as usual if it receives the message.  Under the lock. */
void mca_pml_epml_rndv_cancel(mca_pml_epml_request_t *request);

/** Throw away a message that will not be received.  If a member is lost, its sender waits for an
 * answer that would otherwise never be sent.  Of a collective that has failed for another reason
 * the sender is notified, and asks.  Under the lock. */
void mca_pml_epml_rndv_cancel_unexpected(mca_pml_epml_comm_t *comm,
                                         epml_match_unexpected_t *message);

/** Tell the sender of a rendezvous that its data are not fetched, now or later.  Under the lock.
 *
 * @param[in] status  MPI_ERR_REVOKED: of its communicator, or OMPI_ERR_UNREACH */
void mca_pml_epml_rndv_cancel_answer(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *sender,
                                     uint32_t number, int status);

/** CANCEL: a sender takes a message back. */
extern const mca_pml_epml_kind_t mca_pml_epml_rndv_cancel_kind;

/** A message has come to a network module whose endpoint is gone: answer, if it is such a one. */
void mca_pml_epml_rndv_cancel_left(mca_btl_ep_module_t *module, const void *message, size_t size);

END_C_DECLS

#endif /* MCA_PML_EPML_SEND_H */
