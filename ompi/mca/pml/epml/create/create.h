/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Making communicators of endpoints together with others: creations, intercommunicators,
 * and the bootstrap exchanges in which they take place.
 *
 * Called through the link table of libmpix_endpoints.
 *
 * Below it: cid, service, calls, engine, loss, proto, wire, object, base.
 */

#ifndef MCA_PML_EPML_CREATE_LAYER_H
#define MCA_PML_EPML_CREATE_LAYER_H

#include "pml_epml_among.h"
#include "pml_epml_address.h"
#include "pml_epml_create.h"
#include "pml_epml_creation.h"
#include "pml_epml_discovery.h"
#include "pml_epml_from_group.h"
#include "pml_epml_handle.h"
#include "pml_epml_bootstrap.h"
#include "pml_epml_merge.h"
#include "pml_epml_num_endpoints.h"
#include "pml_epml_proc_tree.h"
#include "pml_epml_phases.h"
#include "pml_epml_shrink.h"
#include "pml_epml_side.h"
#include "pml_epml_traversal.h"
#include "pml_epml_graph.h"

#endif /* MCA_PML_EPML_CREATE_LAYER_H */
