/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What stands on nothing of ours: the parameters, the lock, the clock, errors, secrets, and what
 * travels.
 *
 * Called by all.  Knows no module.
 *
 * Below it: nothing.
 */

#ifndef MCA_BTL_EPOFI_BASE_LAYER_H
#define MCA_BTL_EPOFI_BASE_LAYER_H

#include "btl_epofi.h"
#include "btl_epofi_base.h"
#include "btl_epofi_keyed.h"
#include "btl_epofi_parameters.h"
#include "btl_epofi_wire.h"

#endif /* MCA_BTL_EPOFI_BASE_LAYER_H */
