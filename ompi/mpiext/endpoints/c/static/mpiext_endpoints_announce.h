/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What processes say of how they begin: announce.c.
 */

#ifndef MPIEXT_ENDPOINTS_ANNOUNCE_H
#define MPIEXT_ENDPOINTS_ANNOUNCE_H

#include "ompi_config.h"

#include <stdbool.h>

#include "../base/base.h"

BEGIN_C_DECLS

/** How a process begins, or why it cannot have endpoints; the largest of a job counts. */
enum {
    MPIX_ENDPOINTS_BEGINS_WITHOUT = 0, /**< takes no part: not by a function of ours */
    MPIX_ENDPOINTS_BEGINS_PLAIN,       /**< MPI_Init, MPI_Init_thread */
    MPIX_ENDPOINTS_BEGINS_STATIC,      /**< with endpoints, whose number it knows */
    MPIX_ENDPOINTS_BEGINS_PHASES,      /**< and tells later: MPIX_Init_endpoint_begin */
    MPIX_ENDPOINTS_BEGINS_WRONG        /**< and a cause of an error from here on */
};

/** This process is about to begin like this.  Before libmpi does. */
void mpix_endpoints_announce(int how);

/** Say so to all.  When pml/epml has been selected, before processes exchange what they say. */
void mpix_endpoints_announce_publish(void);

/** MPI has ended: nothing is announced any more. */
void mpix_endpoints_announce_forget(void);

/**
 * How do the processes of MPI_COMM_WORLD begin?  After libmpi has; local, but for an Open MPI that
 * was told to exchange nothing at the start.
 *
 * @param[out] all  everybody takes part
 *
 * @return the largest of what they have said; MPIX_ENDPOINTS_BEGINS_WITHOUT if this process has
 *         said nothing, whatever the others have
 */
int mpix_endpoints_announced(bool *all);

/** Will all processes of MPI_COMM_WORLD make endpoints together?  As mpix_endpoints_announced; the
 * same in all of them. */
bool mpix_endpoints_announces_endpoints(void);

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_ANNOUNCE_H */
