/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What has arrived: pml_epml_recvfrag.c.
 */

#ifndef MCA_PML_EPML_RECVFRAG_H
#define MCA_PML_EPML_RECVFRAG_H

#include "ompi_config.h"

#include "../object/object.h"
#include "../base/base.h"

BEGIN_C_DECLS

/** What to do with messages of each kind, by mca_pml_epml_hdr_kind_t.  Before there are threads. */
void mca_pml_epml_kinds(const mca_pml_epml_kind_t *const table[EPML_HDR_KINDS]);

extern const mca_pml_epml_kind_t mca_pml_epml_rndv_kind;

/** Keep a message until its receive is posted.  Under the lock.
 *
 * @param[in] context  it is matched under */
void mca_pml_epml_keep(mca_pml_epml_ep_t *ep, uint64_t context, const mca_pml_epml_hdr_rndv_t *hdr,
                       const void *data, size_t size);

/** The active message handler of MCA_BTL_EP_TAG. */
void mca_pml_epml_arrived(mca_btl_base_module_t *btl,
                          const mca_btl_base_receive_descriptor_t *descriptor);

/** A plain eager message from a thread next door, see mca_btl_ep_receive_bare_fn_t. */
void mca_pml_epml_arrived_bare(void *context, const void *rest, size_t size);

/** Likewise one whose data are elsewhere, see mca_btl_ep_receive_zcopy_fn_t. */
void mca_pml_epml_arrived_zcopy(void *context, const void *rest, const void *data, size_t size);

/** Likewise from another process of the node: nothing of it is believed. */
void mca_pml_epml_arrived_on_node(void *context, const void *rest, const void *data, size_t size);

END_C_DECLS

#endif /* MCA_PML_EPML_RECVFRAG_H */
