/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the other root of a connection waits for, where this side cannot go on: port.c.
 */

#ifndef MPIEXT_ENDPOINTS_PORT_H
#define MPIEXT_ENDPOINTS_PORT_H

#include "ompi_config.h"

#include <stdbool.h>

BEGIN_C_DECLS

/** In place of a list of members: their side has failed.  To libmpi it is a list that ends too early, an
 * error at all members (OMPI_ERR_BAD_PARAM). */
#define MPIX_ENDPOINTS_SIDE_FAILED ".*+ep!"

/** Publish a text for the first that reads it.  Does not block; any thread, PMIx's as well.
 *
 * @param[in] key, text  the caller's, copied */
void mpix_endpoints_publish(const char *key, const char *text);

/** Tell the other root that no list of members will come.  Once at most by each side of a port, which is
 * used up then, by a root that has not published one.
 *
 * @param[in] connects  this side has called MPI_Comm_connect, not MPI_Comm_accept */
void mpix_endpoints_publish_failed(const char *port, bool connects);

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_PORT_H */
