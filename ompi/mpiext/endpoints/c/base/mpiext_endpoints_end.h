/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The end of the job, which one thread brings about and explains.
 */

#ifndef MPIEXT_ENDPOINTS_END_H
#define MPIEXT_ENDPOINTS_END_H

#include "ompi_config.h"

#include <stdbool.h>

BEGIN_C_DECLS

/** The first thread that calls this goes on, as often as it calls, and is the one to end the job;
 * any other stays in here for good.  To be called with no lock that the first one might need. */
void mpix_endpoints_end_alone(void);

/** Is this message, of libmpi's, the one that explains the end of the job, which its thread brings
 * about next? */
bool mpix_endpoints_is_last_word(const char *file, const char *topic);

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_END_H */
