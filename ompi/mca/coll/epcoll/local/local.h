/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The layer local: collectives whose members are all in this process.
 */

#ifndef MCA_COLL_EPCOLL_LOCAL_LOCAL_H
#define MCA_COLL_EPCOLL_LOCAL_LOCAL_H

#include "coll_epcoll_sequence.h"
#include "coll_epcoll_move.h"
#include "coll_epcoll_order.h"
#include "coll_epcoll_chunks.h"
#include "coll_epcoll_small.h"

#endif /* MCA_COLL_EPCOLL_LOCAL_LOCAL_H */
