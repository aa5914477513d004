/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Do libmpi's calls come to our definitions?  One is asked for all: ompi_group_incl_plist.
 */

#ifndef MPIEXT_ENDPOINTS_PROBE_H
#define MPIEXT_ENDPOINTS_PROBE_H

#include "ompi_config.h"

#include <stdbool.h>

#include "ompi/group/group.h"

BEGIN_C_DECLS

/** Known by its address only; nothing else sees it. */
extern ompi_group_t mpix_endpoints_probe_group;

/**
 * Does libmpi call our ompi_group_incl_plist?  The question is asked by calling a function of
 * libmpi that calls it, with a group that is known by its address.
 *
 * @return true if the call came there
 */
bool mpix_endpoints_probe(void);

/** For that definition: is it called with the probe's group? */
static inline bool mpix_endpoints_probe_is(const ompi_group_t *group)
{
    return &mpix_endpoints_probe_group == group;
}

/** Then it does no more than say so.  @return what it returns */
int mpix_endpoints_probe_came(void);

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_PROBE_H */
