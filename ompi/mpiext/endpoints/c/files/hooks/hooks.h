/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * What stands before ompio's own functions: those of a handle, and opening and closing.
 *
 * Called by libmpi, through the table of a handle, by ompio, and by the seams.  Moves no data.
 *
 * Below it: fcoll, sharedfp, members, fbtl.
 */

#ifndef MPIEXT_ENDPOINTS_FILES_HOOKS_LAYER_H
#define MPIEXT_ENDPOINTS_FILES_HOOKS_LAYER_H

#include "mpiext_endpoints_blocking.h"
#include "mpiext_endpoints_collective_calls.h"
#include "mpiext_endpoints_collective_open.h"
#include "mpiext_endpoints_handle.h"
#include "mpiext_endpoints_missed.h"
#include "mpiext_endpoints_ompio_module.h"
#include "mpiext_endpoints_split.h"
#include "mpiext_endpoints_zero_size.h"

#endif /* MPIEXT_ENDPOINTS_FILES_HOOKS_LAYER_H */
