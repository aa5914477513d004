/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The layer sync: epochs.
 */

#ifndef MCA_OSC_EPWIN_SYNC_SYNC_H
#define MCA_OSC_EPWIN_SYNC_SYNC_H

#include "osc_epwin_sync.h"

#endif /* MCA_OSC_EPWIN_SYNC_SYNC_H */
