/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Sending one fragment: a piece of the data, packed by the transport behind a header.
 *
 * Called by sends, ordinary and partitioned.
 *
 * Tests: p2p_sizes, part
 */

#include "ompi_config.h"

#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_frag.h"

#include "ompi/constants.h"

int mca_pml_epml_frag_send(mca_pml_epml_request_t *request, mca_btl_ep_module_t *module,
                           struct mca_btl_base_endpoint_t *connection,
                           const mca_pml_epml_hdr_frag_t *hdr, size_t *size_p)
{
    const size_t room = module->super.btl_max_send_size - sizeof(*hdr);
    mca_btl_base_descriptor_t *descriptor;
    size_t size = *size_p < room ? *size_p : room, position = hdr->offset;
    int rc;

    if (0 == mca_pml_epml_slice(request->ep, size)) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    descriptor = module->super.btl_prepare_src(&module->super, connection, &request->convertor,
                                               MCA_BTL_NO_ORDER, sizeof(*hdr), &size,
                                               MCA_BTL_DES_FLAGS_BTL_OWNERSHIP);
    if (NULL == descriptor) {
        return 0 < size ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_ERROR; /* it cannot be packed */
    }
    if (0 == size) {
        (void) module->super.btl_free(&module->super, descriptor);
        return OMPI_ERROR; /* no element fits a message */
    }
    memcpy(descriptor->des_segments->seg_addr.pval, hdr, sizeof(*hdr));
    descriptor->des_cbfunc = NULL;
    rc = module->super.btl_send(&module->super, connection, descriptor, MCA_BTL_EP_TAG);
    if (0 > rc) {
        (void) module->super.btl_free(&module->super, descriptor);
        (void) opal_convertor_set_position(&request->convertor, &position);
        return rc;
    }
    *size_p = size;
    return OMPI_SUCCESS;
}
