/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Locks of parts of a file, for ranks that share a process.
 */

#ifndef MPIEXT_ENDPOINTS_LOCKS_H
#define MPIEXT_ENDPOINTS_LOCKS_H

#include "ompi_config.h"

#include <stdbool.h>

#include "../../base/base.h"

#if MPIX_ENDPOINTS_FILES

BEGIN_C_DECLS

/**
 * A nonblocking request holds its lock until some thread has completed it.  A thread that waits for
 * a lock progresses requests by these functions.  Called by one thread, before a file of endpoints
 * is locked.
 *
 * @param[in] is_busy   has a request been begun that has not ended?
 * @param[in] progress  of all requests of this process; returns how many have ended
 */
void mpix_endpoints_lock_progress(bool (*is_busy)(void), int (*progress)(void));

/** Replaces mca_fbtl_posix_lock for a file of endpoints, with its contract. */
int mpix_endpoints_lock(struct flock *lock, ompio_file_t *file, int op, OMPI_MPI_OFFSET_TYPE offset,
                        off_t length, int flags, int *depth);

/** Replaces mca_fbtl_posix_unlock likewise. */
void mpix_endpoints_unlock(struct flock *lock, ompio_file_t *file, int *depth);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_LOCKS_H */
