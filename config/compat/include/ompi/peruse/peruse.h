/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Stands in for the header of the same name, which Open MPI installs only if it was built with
 * PERUSE (request tracing).  Without it, peruse-internal.h still wants the type of an event
 * handle, and nothing else.
 */

#ifndef EP_COMPAT_PERUSE_H
#define EP_COMPAT_PERUSE_H

#include "ompi_config.h"

#if OMPI_WANT_PERUSE
#    error "This Open MPI was built with PERUSE, but its peruse.h is not installed: \
configure with --with-ompi-src"
#endif

typedef void *peruse_event_h;

#endif /* EP_COMPAT_PERUSE_H */
