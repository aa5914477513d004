/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Life of a module.
 */

#ifndef MCA_BTL_EPOFI_MODULE_H
#define MCA_BTL_EPOFI_MODULE_H

#include "opal_config.h"

#include "opal/mca/common/ep/common_ep_btl.h"

BEGIN_C_DECLS

/** What ep_create does; the caller holds the lock. */
int mca_btl_epofi_module_create(void *context, uint32_t flags, mca_btl_ep_module_t **module_p);

END_C_DECLS

#endif /* MCA_BTL_EPOFI_MODULE_H */
