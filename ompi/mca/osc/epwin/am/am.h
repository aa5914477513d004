/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The layer am: operations and synchronization by active messages.
 */

#ifndef MCA_OSC_EPWIN_AM_AM_H
#define MCA_OSC_EPWIN_AM_AM_H

#include "osc_epwin_am.h"

#endif /* MCA_OSC_EPWIN_AM_AM_H */
