/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A fragment: pml_epml_frag.c.
 */

#ifndef MCA_PML_EPML_FRAG_H
#define MCA_PML_EPML_FRAG_H

#include "ompi_config.h"

#include "../object/object.h"
#include "../base/base.h"

BEGIN_C_DECLS

/** Pack the next of a request's data, from where its convertor is, and send them behind a header.
 * The message may end earlier than it could, because only whole elements are packed.
 *
 * @param[in]     hdr     its offset is where the convertor is, and is again if this fails
 * @param[in,out] size_p  bytes that are left; bytes that are in the message
 * @return OMPI_SUCCESS; OMPI_ERR_OUT_OF_RESOURCE: not now; or an error: never */
int mca_pml_epml_frag_send(mca_pml_epml_request_t *request, mca_btl_ep_module_t *module,
                           struct mca_btl_base_endpoint_t *connection,
                           const mca_pml_epml_hdr_frag_t *hdr, size_t *size_p);

END_C_DECLS

#endif /* MCA_PML_EPML_FRAG_H */
