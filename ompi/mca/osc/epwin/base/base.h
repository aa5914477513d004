/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The layer base: types that all of osc/epwin uses.
 */

#ifndef MCA_OSC_EPWIN_BASE_BASE_H
#define MCA_OSC_EPWIN_BASE_BASE_H

#include "osc_epwin.h"
#include "osc_epwin_compat.h"
#include "osc_epwin_enter.h"
#include "osc_epwin_lock.h"
#include "osc_epwin_progress.h"
#include "osc_epwin_regions.h"
#include "osc_epwin_wait.h"

#endif /* MCA_OSC_EPWIN_BASE_BASE_H */
