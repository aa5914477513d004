/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Those who are lost, and what becomes of what waits for them.
 *
 * Called by the engine at the turn after a loss, and by whoever makes a communicator.  Ends
 * requests by their own functions (lost, cut); waits for nobody but, for a moment, the launcher.
 *
 * Below it: proto, wire, object, base.
 */

#ifndef MCA_PML_EPML_LOSS_LAYER_H
#define MCA_PML_EPML_LOSS_LAYER_H

#include "pml_epml_acked.h"
#include "pml_epml_leave.h"
#include "pml_epml_lost.h"

#endif /* MCA_PML_EPML_LOSS_LAYER_H */
