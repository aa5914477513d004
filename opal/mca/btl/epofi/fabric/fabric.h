/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What is chosen for the process, and opened: provider, interface and network, and a module's
 * libfabric objects.
 *
 * Called when modules are made and closed, and for epinfo.  Sends nothing.
 *
 * Below it: sockets, base.
 */

#ifndef MCA_BTL_EPOFI_FABRIC_LAYER_H
#define MCA_BTL_EPOFI_FABRIC_LAYER_H

#include "btl_epofi_av.h"
#include "btl_epofi_choose.h"
#include "btl_epofi_context.h"
#include "btl_epofi_fabric.h"
#include "btl_epofi_net.h"
#include "btl_epofi_context_limit.h"

#endif /* MCA_BTL_EPOFI_FABRIC_LAYER_H */
