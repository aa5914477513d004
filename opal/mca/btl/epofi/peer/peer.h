/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Peers: addresses, connecting and disconnecting, how long one is waited for, and what it means
 * that one is gone.
 *
 * Called by the protocols and, through the module's table, by its owner.  Knows no kind of message.
 *
 * Below it: object, fabric, sockets, base.
 */

#ifndef MCA_BTL_EPOFI_PEER_LAYER_H
#define MCA_BTL_EPOFI_PEER_LAYER_H

#include "btl_epofi_address.h"
#include "btl_epofi_endpoint.h"
#include "btl_epofi_lost.h"

#endif /* MCA_BTL_EPOFI_PEER_LAYER_H */
