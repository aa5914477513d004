/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Calls of libfabric's that are led here.
 */

#ifndef MCA_BTL_EPOFI_CALLS_H
#define MCA_BTL_EPOFI_CALLS_H

#include "opal_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

/** See what sockets libfabric opens from now on, as far as that can be had.  Under the component's
 * lock; may be called for every fabric. */
void mca_btl_epofi_calls_lead(const struct fid_fabric *fabric);

/** Can hellos be had: are all calls led here that they need?  After mca_btl_epofi_calls_lead,
 * under the component's lock. */
bool mca_btl_epofi_calls_can_authenticate(void);

END_C_DECLS

#endif /* MCA_BTL_EPOFI_CALLS_H */
