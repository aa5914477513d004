/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What makes progress: one endpoint, all of those that no thread drives, and a thread that waits; clients'
 * work and active messages; the life of an endpoint from its transports to its end; what is
 * counted.
 *
 * Called by MPI's calls and by Open MPI's progress.
 *
 * Below it: loss, proto, wire, object, base.
 */

#ifndef MCA_PML_EPML_ENGINE_LAYER_H
#define MCA_PML_EPML_ENGINE_LAYER_H

#include "pml_epml_am.h"
#include "pml_epml_ep.h"
#include "pml_epml_registry.h"
#include "pml_epml_progress.h"
#include "pml_epml_variables.h"
#include "pml_epml_work.h"

#endif /* MCA_PML_EPML_ENGINE_LAYER_H */
