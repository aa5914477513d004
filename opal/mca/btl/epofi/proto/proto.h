/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What two modules do for a message: sending it, by itself or in a packet, taking it in, reading
 * what is long, and asking each other whether all has arrived.
 *
 * Called by the engine and, through the module's table, by its owner; by completions.  Does not
 * read the completion queue.
 *
 * Below it: peer, object, fabric, sockets, base.
 */

#ifndef MCA_BTL_EPOFI_PROTO_LAYER_H
#define MCA_BTL_EPOFI_PROTO_LAYER_H

#include "btl_epofi_liveness.h"
#include "btl_epofi_get.h"
#include "btl_epofi_discard.h"
#include "btl_epofi_packet.h"
#include "btl_epofi_packet_thread.h"
#include "btl_epofi_recv.h"
#include "btl_epofi_send.h"
#include "btl_epofi_upcalls.h"

#endif /* MCA_BTL_EPOFI_PROTO_LAYER_H */
