/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * How calls of libmpi's own come to our definitions (hooks/): by the dynamic linker, by call slots
 * that are rewritten, by functions that are entered, or, in Open MPI's own build, by libmpi's link;
 * and what our definitions stand before.
 *
 * Called by the hooks, which ask for the originals, and by the calls that want the hooks in force.
 * Knows our definitions by the list of their names alone (mpiext_endpoints_compat.h), and does not
 * know what they do.
 *
 * Below it: entry, base.
 */

#ifndef MPIEXT_ENDPOINTS_INTERPOSE_LAYER_H
#define MPIEXT_ENDPOINTS_INTERPOSE_LAYER_H

#include "mpiext_endpoints_in_force.h"
#include "mpiext_endpoints_originals.h"
#include "mpiext_endpoints_probe.h"

#endif /* MPIEXT_ENDPOINTS_INTERPOSE_LAYER_H */
