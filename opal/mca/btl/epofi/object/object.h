/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What a module is made of, and its life: pairs, endpoints, buffers, regions, packets; their types,
 * their tables, the lock of packets.
 *
 * Called by all that follows.  Sends nothing; what endpoints call of the protocols is a table
 * (mca_btl_epofi_upcalls_t).
 *
 * Below it: fabric, sockets, base.
 */

#ifndef MCA_BTL_EPOFI_OBJECT_LAYER_H
#define MCA_BTL_EPOFI_OBJECT_LAYER_H

#include "btl_epofi_frag.h"
#include "btl_epofi_packet_lock.h"
#include "btl_epofi_pair.h"
#include "btl_epofi_deferred_close.h"
#include "btl_epofi_region.h"
#include "btl_epofi_types.h"

#endif /* MCA_BTL_EPOFI_OBJECT_LAYER_H */
