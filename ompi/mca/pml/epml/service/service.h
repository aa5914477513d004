/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The engine's interface: what components of ours may ask for, as
 * ompi/mca/common/ep/common_ep_engine.h has it.
 *
 * Called by clients, in any thread.  Does nothing itself: each function leads to the layer whose
 * matter it is, with what a client knows (handles, ranks, MPI's errors) in terms of that layer.
 *
 * Below it: calls, engine, loss, proto, wire, object, base.
 */

#ifndef MCA_PML_EPML_SERVICE_LAYER_H
#define MCA_PML_EPML_SERVICE_LAYER_H

#include "pml_epml_service.h"
#include "pml_epml_service_memory.h"

#endif /* MCA_PML_EPML_SERVICE_LAYER_H */
