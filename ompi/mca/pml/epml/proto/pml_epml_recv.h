/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The protocol of receiving: pml_epml_recv.c.
 */

#ifndef MCA_PML_EPML_RECV_H
#define MCA_PML_EPML_RECV_H

#include "ompi_config.h"

#include "../object/object.h"
#include "../base/base.h"

BEGIN_C_DECLS

/** A message waits that this receive takes. */
void mca_pml_epml_recv_take(mca_pml_epml_request_t *request, epml_match_unexpected_t *found);

/** No message waits, and perhaps none can come any more: see mca_pml_epml_recv_start. */
int mca_pml_epml_recv_start_in_doubt(mca_pml_epml_request_t *request, int src, int tag);

/** Post a receive, or serve it from the messages that wait.  What is in the request is given again
 * because the fast path has it in registers.  Under the lock.
 * @return OMPI_SUCCESS or an error: then it has not been started */
static inline int mca_pml_epml_recv_start(mca_pml_epml_request_t *request, mca_pml_epml_ep_t *ep,
                                          const mca_pml_epml_comm_t *comm, int src, int tag)
{
    epml_match_queue_t *queue;
    epml_match_unexpected_t *found = epml_match_first(&ep->match, comm->context, src, tag, &queue);

    if (OPAL_UNLIKELY(NULL == queue)) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    if (OPAL_LIKELY(NULL == found)) {
        if (OPAL_UNLIKELY(comm->message_lost || comm->loss.member)) {
            return mca_pml_epml_recv_start_in_doubt(request, src, tag);
        }
        epml_match_post(&ep->match, queue, &request->posted);
    } else {
        mca_pml_epml_recv_take(request, found);
    }
    return OMPI_SUCCESS;
}

/** A receive that could not be started: tell the user, of a message without bytes.  Under the lock.
 *
 * @param[in] rc  the error, as Open MPI or MPI has it */
void mca_pml_epml_recv_refuse(mca_pml_epml_request_t *request, int rc);

/** A message has found its receive.  Under the lock.
 *
 * @param[in] hdr   the message's header; of an eager message only the match part
 * @param[in] data  eager: the payload; rendezvous: the registration handle
 * @param[in] size  bytes at data
 */
void mca_pml_epml_recv_matched(mca_pml_epml_request_t *request, const mca_pml_epml_hdr_rndv_t *hdr,
                               const void *data, size_t size);

/** FRAG: a fragment for a receive in progress. */
extern const mca_pml_epml_kind_t mca_pml_epml_frag_kind;

/** The receive is complete.  @param[in] error  as MPI has it; what is too long is found here */
void mca_pml_epml_recv_done(mca_pml_epml_request_t *request, int error);

/** Unpack with the convertor.  @param[in,out] size_p  bytes at data; bytes that it has taken
 * @return OMPI_SUCCESS or an error */
int mca_pml_epml_recv_convert(mca_pml_epml_request_t *request, const void *data, size_t *size_p);

END_C_DECLS

#endif /* MCA_PML_EPML_RECV_H */
