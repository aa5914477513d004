/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Room for modules: the process's fabric is asked; it is chosen first, if it has not been yet.
 *
 * Tests: static_number
 */

#include "opal_config.h"

#include "../base/base.h"
#include "btl_epofi_fabric.h"
#include "btl_epofi_context_limit.h"

_Static_assert(EPOFI_NUMBER_MOST == EPOFI_CONTEXT_LIMIT_SHARE, "one number");

#include <string.h>

#include "opal/mca/common/ep/common_ep_cancel.h"

void mca_btl_epofi_context_limit(int *optimal, int *maximum)
{
    MCA_BTL_EP_HOLD_CANCEL();
    const mca_btl_epofi_fabric_t *fabric;

    *optimal = *maximum = 0;
    opal_mutex_lock(&mca_btl_epofi_lock);
    if (OPAL_SUCCESS == mca_btl_epofi_fabric_acquire(&fabric)) {
        const bool takes = 0 == strcmp(fabric->info->fabric_attr->prov_name, "tcp");

        epofi_context_limit_of(fabric->info, mca_btl_epofi_component.max_contexts,
                               mca_btl_epofi_component.shared_contexts,
                               takes ? epofi_context_limit_descriptors() : -1, optimal, maximum);
        mca_btl_epofi_fabric_release();
    }
    opal_mutex_unlock(&mca_btl_epofi_lock);
}
