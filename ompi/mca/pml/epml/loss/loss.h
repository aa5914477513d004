/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Lost peers, and the operations that wait for them.
 *
 * Called by the engine at the progress after a loss, and by functions that make a communicator. 
 * Ends requests by their own functions (lost, cut); waits for nothing but, for a moment, the
 * launcher.
 *
 * Below it: proto, wire, object, base.
 */

#ifndef MCA_PML_EPML_LOSS_LAYER_H
#define MCA_PML_EPML_LOSS_LAYER_H

#include "pml_epml_acked.h"
#include "pml_epml_leave.h"
#include "pml_epml_lost.h"

#endif /* MCA_PML_EPML_LOSS_LAYER_H */
