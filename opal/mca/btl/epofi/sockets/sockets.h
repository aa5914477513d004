/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The sockets that libfabric opens: its calls are led here, connections are authenticated, looked after,
 * and bounded until they have proved that they are of the job.
 *
 * Called by libfabric, where its provider is tcp, and by the layers that open its objects and look
 * after them.  Knows no module, and nothing of messages.
 *
 * Below it: base.
 */

#ifndef MCA_BTL_EPOFI_SOCKETS_LAYER_H
#define MCA_BTL_EPOFI_SOCKETS_LAYER_H

#include "btl_epofi_calls.h"
#include "btl_epofi_handshake.h"
#include "btl_epofi_listener.h"
#include "btl_epofi_sockets.h"

#endif /* MCA_BTL_EPOFI_SOCKETS_LAYER_H */
