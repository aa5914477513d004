/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Agreement of the members of a new communicator of endpoints: on its context id, and on the moment
 * from which it may be used.  By messages of the endpoints, as libmpi's way would have two endpoints
 * of a process agree on one slot of one table.
 *
 * Called through the link table of libmpix_endpoints, in place of libmpi's functions, and by create.
 *
 * Below it: service, calls, engine, loss, proto, wire, object, base.
 */

#ifndef MCA_PML_EPML_CID_LAYER_H
#define MCA_PML_EPML_CID_LAYER_H

#include "pml_epml_cid.h"
#include "pml_epml_cid_activate.h"
#include "pml_epml_cid_message.h"
#include "pml_epml_cid_steps.h"
#include "pml_epml_cid_tree.h"

#endif /* MCA_PML_EPML_CID_LAYER_H */
