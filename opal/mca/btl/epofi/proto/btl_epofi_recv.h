/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Receiving.
 */

#ifndef MCA_BTL_EPOFI_RECV_H
#define MCA_BTL_EPOFI_RECV_H

#include "opal_config.h"

#include "../object/object.h"

BEGIN_C_DECLS

/** Make the receive buffers and post them. */
int mca_btl_epofi_recv_start(mca_btl_epofi_module_t *module);

/** Post what could not be posted before. */
void mca_btl_epofi_recv_repost(mca_btl_epofi_module_t *module);

/**
 * Are all receive buffers held by messages that have begun and do not go on?  Then nothing else can
 * be received: say so, and make more.  Slow path, for now and then.
 */
void mca_btl_epofi_recv_watch(mca_btl_epofi_module_t *module);

/** Free the buffers; the libfabric endpoint is closed, or never was. */
void mca_btl_epofi_recv_stop(mca_btl_epofi_module_t *module);

END_C_DECLS

#endif /* MCA_BTL_EPOFI_RECV_H */
