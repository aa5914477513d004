/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Collective reads and writes, as ompio's framework fcoll has them.
 *
 * Called by ompio, through the table that it is given, and by hooks.  Knows no handle.
 *
 * Below it: members, fbtl.  Beside it: sharedfp.
 */

#ifndef MPIEXT_ENDPOINTS_FILES_FCOLL_LAYER_H
#define MPIEXT_ENDPOINTS_FILES_FCOLL_LAYER_H

#include "mpiext_endpoints_collective_io.h"
#include "mpiext_endpoints_fcoll_module.h"
#include "mpiext_endpoints_merge.h"
#include "mpiext_endpoints_shuffle.h"
#include "mpiext_endpoints_two_phase.h"

#endif /* MPIEXT_ENDPOINTS_FILES_FCOLL_LAYER_H */
