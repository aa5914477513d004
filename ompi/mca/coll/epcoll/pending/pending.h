/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The layer pending: nonblocking and persistent collectives.
 */

#ifndef MCA_COLL_EPCOLL_PENDING_PENDING_H
#define MCA_COLL_EPCOLL_PENDING_PENDING_H

#include "coll_epcoll_arrays.h"
#include "coll_epcoll_pending.h"
#include "coll_epcoll_op_segment.h"

#endif /* MCA_COLL_EPCOLL_PENDING_PENDING_H */
