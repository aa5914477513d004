/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Progress.
 */

#ifndef MCA_BTL_EPOFI_PROGRESS_H
#define MCA_BTL_EPOFI_PROGRESS_H

#include "opal_config.h"

#include "opal/mca/common/ep/common_ep_btl.h"

BEGIN_C_DECLS

int mca_btl_epofi_progress(mca_btl_ep_module_t *module);
bool mca_btl_epofi_pending(const mca_btl_ep_module_t *module);

END_C_DECLS

#endif /* MCA_BTL_EPOFI_PROGRESS_H */
