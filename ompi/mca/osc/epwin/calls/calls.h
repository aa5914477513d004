/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The layer calls: operations of windows.
 */

#ifndef MCA_OSC_EPWIN_CALLS_CALLS_H
#define MCA_OSC_EPWIN_CALLS_CALLS_H

#include "osc_epwin_calls.h"

#endif /* MCA_OSC_EPWIN_CALLS_CALLS_H */
