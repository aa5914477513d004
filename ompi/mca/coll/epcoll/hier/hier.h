/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The layer hier: collectives whose members live in several processes.
 */

#ifndef MCA_COLL_EPCOLL_HIER_BETWEEN_H
#define MCA_COLL_EPCOLL_HIER_BETWEEN_H

#include "coll_epcoll_hier.h"
#include "coll_epcoll_node_segment.h"
#include "coll_epcoll_schedule.h"
#include "coll_epcoll_bounce.h"

#endif /* MCA_COLL_EPCOLL_HIER_BETWEEN_H */
