/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What endpoints call of the protocols, put together.
 *
 * Tests: unit/test_epofi
 */

#include "opal_config.h"

#include "../object/object.h"
#include "btl_epofi_liveness.h"
#include "btl_epofi_get.h"
#include "btl_epofi_packet.h"
#include "btl_epofi_send.h"
#include "btl_epofi_upcalls.h"

static void upcalls_start(struct mca_btl_base_endpoint_t *endpoint)
{
    endpoint->inject_op.complete = mca_btl_epofi_inject_complete;
    mca_btl_epofi_packet_init(endpoint);
}

const mca_btl_epofi_upcalls_t mca_btl_epofi_upcalls = {
    .start = upcalls_start,
    .disconnect_notice = mca_btl_epofi_liveness_disconnect,
    .abandon = mca_btl_epofi_get_abandon,
};
