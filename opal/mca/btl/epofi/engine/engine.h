/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A module as a whole: its function table, its beginning and its end, and progress.
 *
 * Called by the component, and through the module's table by its owner.
 *
 * Below it: proto, peer, object, fabric, sockets, base.
 */

#ifndef MCA_BTL_EPOFI_ENGINE_LAYER_H
#define MCA_BTL_EPOFI_ENGINE_LAYER_H

#include "btl_epofi_module.h"
#include "btl_epofi_progress.h"

#endif /* MCA_BTL_EPOFI_ENGINE_LAYER_H */
