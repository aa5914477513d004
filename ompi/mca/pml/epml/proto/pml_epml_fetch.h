/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Fetching what a sender keeps until it is wanted: pml_epml_fetch.c.  All under the lock.
 */

#ifndef MCA_PML_EPML_FETCH_H
#define MCA_PML_EPML_FETCH_H

#include "ompi_config.h"

#include "../object/object.h"
#include "../base/base.h"

BEGIN_C_DECLS

/** A rendezvous has found its receive: get the data, one way or the other.
 *
 * @param[in] handle  the registration handle, of handle_size bytes; 0: none */
void mca_pml_epml_fetch_matched(mca_pml_epml_request_t *request, const mca_pml_epml_hdr_rndv_t *hdr,
                                const void *handle, size_t handle_size);

/** Go on with what waits to be fetched: wanted bytes of the source's memory, into one piece of
 * memory, registered if the transport wants it, or with the convertor. */
void mca_pml_epml_fetch_start(mca_pml_epml_request_t *request);

/** Go on with a receive that could not fetch its data at once, or owes an answer: see resume in
 * mca_pml_epml_request_ops_t. */
int mca_pml_epml_fetch_resume(mca_pml_epml_request_t *request);

/** Tell the sender that its data have been taken, or why not, and be done.
 *
 * @param[in] kind  EPML_HDR_FIN or EPML_HDR_ACK
 * @param[in] rc    what has become of the data, which concerns the sender only if it keeps them */
void mca_pml_epml_fetch_answer(mca_pml_epml_request_t *request, mca_pml_epml_hdr_kind_t kind,
                               int rc);

/** A fetch that is paced is complete.  Others were under way at the same time: what it took is the
 * time since the last of them was complete. */
void mca_pml_epml_fetch_note(mca_pml_epml_request_t *request);

END_C_DECLS

#endif /* MCA_PML_EPML_FETCH_H */
