/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * An endpoint's own modules of the transports: pml_epml_ep_transports.c.
 */

#ifndef MCA_PML_EPML_EP_TRANSPORTS_H
#define MCA_PML_EPML_EP_TRANSPORTS_H

#include "ompi_config.h"

#include "../object/object.h"

BEGIN_C_DECLS

/** A new endpoint, which no other thread knows yet, gets its receive queue, and transports as by
 * mca_pml_epml_ep_need.
 * @return OMPI_SUCCESS or an error; then it has none */
int mca_pml_epml_ep_transports_open(mca_pml_epml_ep_t *ep, unsigned int transports);

/** The endpoint goes. */
void mca_pml_epml_ep_transports_close(mca_pml_epml_ep_t *ep);

/**
 * Make sure that an endpoint reaches beyond its process.
 *
 * @param[in] transports  set of EPML_WITH_*.  Where EPML_WITH_NODE cannot be had, EPML_WITH_NET takes
 *                  its place, and ep->transports.module[EPML_TRANSPORT_NODE] stays NULL.
 * @return OMPI_SUCCESS or an error
 */
int mca_pml_epml_ep_need(mca_pml_epml_ep_t *ep, unsigned int transports);

/** A new endpoint that has received nothing does without the node side after all. */
void mca_pml_epml_ep_drop_node(mca_pml_epml_ep_t *ep);

/** What a module has counted; zeros for NULL. */
static inline mca_btl_ep_counts_t mca_pml_epml_transport_count(const mca_btl_ep_module_t *module)
{
    mca_btl_ep_counts_t counts = {0, 0, 0};

    if (NULL != module && NULL != module->ep_count) {
        module->ep_count(module, &counts);
    }
    return counts;
}

END_C_DECLS

#endif /* MCA_PML_EPML_EP_TRANSPORTS_H */
