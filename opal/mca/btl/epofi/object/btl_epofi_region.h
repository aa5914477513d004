/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Registration of memory.
 */

#ifndef MCA_BTL_EPOFI_REGION_H
#define MCA_BTL_EPOFI_REGION_H

#include "opal_config.h"

#include "btl_epofi_types.h"

BEGIN_C_DECLS

/**
 * Register memory with the module's domain.
 *
 * @param[in] access  libfabric's FI_SEND, FI_RECV, FI_READ, FI_REMOTE_READ
 */
int mca_btl_epofi_mr_open(mca_btl_epofi_module_t *module, void *base, size_t size, uint64_t access,
                          struct fid_mr **mr_p);

struct mca_btl_base_registration_handle_t *mca_btl_epofi_register_mem(
    mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint, void *base, size_t size,
    uint32_t flags);
int mca_btl_epofi_deregister_mem(mca_btl_base_module_t *btl,
                                 struct mca_btl_base_registration_handle_t *handle);

/** Deregister what is left. */
void mca_btl_epofi_regions_stop(mca_btl_epofi_module_t *module);

END_C_DECLS

#endif /* MCA_BTL_EPOFI_REGION_H */
