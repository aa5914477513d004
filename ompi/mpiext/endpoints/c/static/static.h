/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The static interface: endpoints that are there from MPI_Init on, and threads that are attached to
 * them.  What the processes of a job tell each other of it before the first message (announce.c),
 * what this process has (process.c, duplicate.c), to which endpoint each of its threads is attached
 * (attached.c) or to which handle of others (bound.c), what its world is then (thread_world.c), what is
 * kept with an endpoint (attributes.c), and the processes that have spawned this one (parent.c).
 *
 * Called by calls and hooks.  Makes no endpoint, and raises no error.
 *
 * Below it: base.
 */

#ifndef MPIEXT_ENDPOINTS_STATIC_H
#define MPIEXT_ENDPOINTS_STATIC_H

#include "mpiext_endpoints_announce.h"
#include "mpiext_endpoints_attached.h"
#include "mpiext_endpoints_attributes.h"
#include "mpiext_endpoints_bound.h"
#include "mpiext_endpoints_parent.h"
#include "mpiext_endpoints_process.h"
#include "mpiext_endpoints_world.h"

#endif /* MPIEXT_ENDPOINTS_STATIC_H */
