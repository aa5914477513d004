/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The layer create: windows come and go.
 */

#ifndef MCA_OSC_EPWIN_CREATE_CREATE_H
#define MCA_OSC_EPWIN_CREATE_CREATE_H

#include "osc_epwin_create.h"

#endif /* MCA_OSC_EPWIN_CREATE_CREATE_H */
