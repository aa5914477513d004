/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Messages between the processes of a node: a doorbell for each module, by which it learns of the pipes
 * that others have made for it; connections, and those that are given up.  And memory of the node
 * for the owner of modules.
 *
 * Called by the component, and through its modules' tables.  Does not know of receive queues and SPSC rings.
 *
 * Below it: segment, base.
 */

#ifndef MCA_BTL_EPSHM_NODE_LAYER_H
#define MCA_BTL_EPSHM_NODE_LAYER_H

#include "btl_epshm_node.h"

#endif /* MCA_BTL_EPSHM_NODE_LAYER_H */
