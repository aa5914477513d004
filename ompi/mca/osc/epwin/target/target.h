/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The layer target: operations on memory of a target that this process maps.
 */

#ifndef MCA_OSC_EPWIN_TARGET_TARGET_H
#define MCA_OSC_EPWIN_TARGET_TARGET_H

#include "osc_epwin_apply.h"
#include "osc_epwin_device_memory.h"
#include "osc_epwin_range.h"
#include "osc_epwin_walk.h"

#endif /* MCA_OSC_EPWIN_TARGET_TARGET_H */
