/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * btl_sendi, of either layer above.
 */

#ifndef MCA_BTL_EPSHM_SENDI_H
#define MCA_BTL_EPSHM_SENDI_H

#include "opal_config.h"

#include "opal/mca/common/ep/common_ep_btl.h"

BEGIN_C_DECLS

/** What differs is in the module's table: ep_send, btl_alloc, btl_prepare_src, btl_send. */
int mca_btl_epshm_sendi(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                        struct opal_convertor_t *convertor, void *header, size_t header_size,
                        size_t payload_size, uint8_t order, uint32_t flags, mca_btl_base_tag_t tag,
                        mca_btl_base_descriptor_t **descriptor);

END_C_DECLS

#endif /* MCA_BTL_EPSHM_SENDI_H */
