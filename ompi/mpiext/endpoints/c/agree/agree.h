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
 * What the members of a new communicator of endpoints agree on: its context id, and when it may be
 * used.  By messages of their own, as libmpi's way would have two endpoints of a process agree on
 * one slot of one table.
 *
 * Called by the seams, and by who makes communicators.  Does not know which function of libmpi's,
 * or of MPI's, has been called.
 *
 * Below it: interpose, base.
 */

#ifndef MPIEXT_ENDPOINTS_AGREE_LAYER_H
#define MPIEXT_ENDPOINTS_AGREE_LAYER_H

#include "mpiext_endpoints_activate.h"
#include "mpiext_endpoints_cid.h"
#include "mpiext_endpoints_notes.h"
#include "mpiext_endpoints_steps.h"

#endif /* MPIEXT_ENDPOINTS_AGREE_LAYER_H */
