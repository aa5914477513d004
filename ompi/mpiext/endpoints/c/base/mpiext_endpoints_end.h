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

#include <stdarg.h>
#include <stdbool.h>

BEGIN_C_DECLS

/** The first thread that calls this goes on, as often as it calls, and is the one to end the job;
 * any other stays in here for good.  To be called with no lock that the first one might need. */
void mpix_endpoints_end_alone(void);

/** Is this message, of libmpi's, the one that explains the end of the job, which its thread brings
 * about next? */
bool mpix_endpoints_is_last_word(const char *file, const char *topic);

/** Which rank is the calling thread, of how many?
 * @return false: it has none of its own */
typedef bool mpix_endpoints_end_rank_t(int *rank, int *size);

/** By layer calls, before MPI_Init returns. */
void mpix_endpoints_end_init(mpix_endpoints_end_rank_t *rank);

/**
 * The text of that message with the calling thread's rank in front of the process's name.
 *
 * @param[in] arguments  of the message; the caller can use them afterwards
 *
 * @return the text, the caller's to free; NULL: the process's name says it, or there is no memory
 */
char *mpix_endpoints_last_word(const char *file, const char *topic, va_list arguments);

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_END_H */
