/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What was chosen, in words.
 */

#ifndef MCA_BTL_EPSHM_REPORT_H
#define MCA_BTL_EPSHM_REPORT_H

#include "opal_config.h"

#include "opal/mca/common/ep/common_ep_btl.h"

BEGIN_C_DECLS

/** See mca_btl_ep_report_fn_t. */
void mca_btl_epshm_report(uint32_t flags, mca_btl_ep_tell_fn_t tell, void *context);

END_C_DECLS

#endif /* MCA_BTL_EPSHM_REPORT_H */
