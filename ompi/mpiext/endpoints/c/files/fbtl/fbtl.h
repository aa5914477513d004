/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Reads, writes and locks of one member, as ompio's framework fbtl has them: by calls of the
 * system, with the state of a file and its nonblocking requests.
 *
 * Called by ompio, through the table that it is given, by the hooks, and by what is above it.
 * Knows no other member of a file.
 *
 * Below it, beside the folder: what files/ may include (interpose, base).
 */

#ifndef MPIEXT_ENDPOINTS_FILES_FBTL_LAYER_H
#define MPIEXT_ENDPOINTS_FILES_FBTL_LAYER_H

#include "mpiext_endpoints_extents.h"
#include "mpiext_endpoints_io.h"
#include "mpiext_endpoints_io_error.h"
#include "mpiext_endpoints_locks.h"
#include "mpiext_endpoints_module_copy.h"
#include "mpiext_endpoints_posix_request.h"
#include "mpiext_endpoints_split_request.h"

#endif /* MPIEXT_ENDPOINTS_FILES_FBTL_LAYER_H */
