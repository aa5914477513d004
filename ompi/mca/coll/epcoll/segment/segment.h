/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The layer segment: what members of a process share, and the protocols on it.  Standalone.
 */

#ifndef COLL_EPCOLL_SEGMENT_SEGMENT_H
#define COLL_EPCOLL_SEGMENT_SEGMENT_H

#include "coll_epcoll_cutover.h"
#include "coll_epcoll_ring.h"
#include "coll_epcoll_leaderless.h"
#include "coll_epcoll_segment.h"
#include "coll_epcoll_leaders_reduce.h"
#include "coll_epcoll_reuse.h"
#include "coll_epcoll_bcast.h"
#include "coll_epcoll_tree.h"
#include "coll_epcoll_stealing.h"

#endif /* COLL_EPCOLL_SEGMENT_SEGMENT_H */
