/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The layer between: collectives whose members live in several processes.
 */

#ifndef MCA_COLL_EPCOLL_BETWEEN_BETWEEN_H
#define MCA_COLL_EPCOLL_BETWEEN_BETWEEN_H

#include "coll_epcoll_between.h"
#include "coll_epcoll_near.h"
#include "coll_epcoll_program.h"
#include "coll_epcoll_shelf.h"

#endif /* MCA_COLL_EPCOLL_BETWEEN_BETWEEN_H */
