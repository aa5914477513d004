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
 * Shared file pointers, as ompio's framework sharedfp has them.
 *
 * Called by ompio, through its table, and by hooks.
 *
 * Below it: members, fbtl.  Beside it: fcoll.
 */

#ifndef MPIEXT_ENDPOINTS_FILES_SHAREDFP_LAYER_H
#define MPIEXT_ENDPOINTS_FILES_SHAREDFP_LAYER_H

#include "mpiext_endpoints_sharedfp_module.h"

#endif /* MPIEXT_ENDPOINTS_FILES_SHAREDFP_LAYER_H */
