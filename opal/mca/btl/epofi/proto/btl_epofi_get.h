/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Bulk data: btl_get.
 */

#ifndef MCA_BTL_EPOFI_GET_H
#define MCA_BTL_EPOFI_GET_H

#include "opal_config.h"

#include "../object/object.h"

BEGIN_C_DECLS

int mca_btl_epofi_get(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                      void *local_address, uint64_t remote_address,
                      struct mca_btl_base_registration_handle_t *local_handle,
                      struct mca_btl_base_registration_handle_t *remote_handle, size_t size,
                      int flags, int order, mca_btl_base_rdma_completion_fn_t cbfunc,
                      void *cbcontext, void *cbdata);

/** Go on with gets whose next read had to wait. */
void mca_btl_epofi_get_resume(mca_btl_epofi_module_t *module);

/** Tell the callers of what is under way to this peer that it has failed. */
void mca_btl_epofi_get_abandon(mca_btl_epofi_module_t *module,
                               const struct mca_btl_base_endpoint_t *endpoint);

/** Free all gets. */
void mca_btl_epofi_get_stop(mca_btl_epofi_module_t *module);

END_C_DECLS

#endif /* MCA_BTL_EPOFI_GET_H */
