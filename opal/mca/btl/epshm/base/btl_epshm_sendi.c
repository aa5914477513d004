/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * btl_sendi: see btl_epshm_sendi.h.
 *
 * Tests: p2p_basic, unit/test_epshm_node
 */

#include "opal_config.h"

#include <string.h>

#include "btl_epshm_sendi.h"

int mca_btl_epshm_sendi(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                        struct opal_convertor_t *convertor, void *header, size_t header_size,
                        size_t payload_size, uint8_t order, uint32_t flags, mca_btl_base_tag_t tag,
                        mca_btl_base_descriptor_t **descriptor)
{
    mca_btl_base_descriptor_t *frag;
    size_t packed = payload_size;
    int rc;

    if (0 == payload_size) {
        rc = ((mca_btl_ep_module_t *) btl)
                 ->ep_send((mca_btl_ep_module_t *) btl, endpoint, header, header_size, NULL, 0,
                           tag);
        if (OPAL_SUCCESS != rc && NULL != descriptor) {
            *descriptor = btl->btl_alloc(btl, endpoint, order, header_size, flags);
        }
        return rc;
    }
    frag = btl->btl_prepare_src(btl, endpoint, convertor, order, header_size, &packed, flags);
    if (NULL == frag) {
        if (NULL != descriptor) {
            *descriptor = NULL;
        }
        return 0 < packed ? OPAL_ERR_OUT_OF_RESOURCE : OPAL_ERR_NOT_AVAILABLE;
    }
    memcpy(frag->des_segments->seg_addr.pval, header, header_size);
    rc = btl->btl_send(btl, endpoint, frag, tag);
    if (0 > rc) {
        if (NULL != descriptor) {
            *descriptor = frag;
        } else {
            (void) btl->btl_free(btl, frag);
        }
        return rc;
    }
    return OPAL_SUCCESS;
}
