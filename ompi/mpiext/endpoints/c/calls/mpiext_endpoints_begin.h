/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The endpoints that a process begins with are made: init_make.c.
 */

#ifndef MPIEXT_ENDPOINTS_BEGIN_H
#define MPIEXT_ENDPOINTS_BEGIN_H

#include "ompi_config.h"

#include <stdbool.h>

#include "../base/base.h"
#include "calls.h"

BEGIN_C_DECLS

/** What a process begins with. */
typedef struct mpix_endpoints_begin_t {
    int count; /**< endpoints, 0 or more */
    int level; /**< theirs: MPI_THREAD_SINGLE to MPI_THREAD_MULTIPLE */
    int wrong; /**< 0, or MPIX_ENDPOINTS_BEGINS_WRONG and the cause of a mistake that was made after
                  the processes had said how they begin */
} mpix_endpoints_begin_t;

/**
 * libmpi has begun: do the processes of the job make endpoints together?  By the thread that begins
 * MPI, once.  Local.  If nobody asks for endpoints, all processes have duplicates afterwards, or none
 * has.
 *
 * @param[in]  asks   is it this process that wants endpoints?
 * @param[out] makes  mpix_endpoints_begin_make has to follow
 *
 * @return MPI_SUCCESS; or an MPI error code, in all processes that take part
 */
int mpix_endpoints_begin_look(bool asks, bool *makes);

/** Make them.  Collective over MPI_COMM_WORLD.  @return MPI_SUCCESS, or an MPI error code, the same
 * in all processes but for its number: none has endpoints */
int mpix_endpoints_begin_make(const mpix_endpoints_begin_t *begin);

/** Both. */
int mpix_endpoints_begin(const mpix_endpoints_begin_t *begin, bool asks);

/** MPI has begun without endpoints in all processes; all call this, and have some now.  As
 * mpix_endpoints_begin_make. */
int mpix_endpoints_begin_later(const mpix_endpoints_begin_t *begin);

/**
 * Say to all how this process begins, and have libmpi begin.  By the thread that begins MPI.
 *
 * @param[in] how    MPIX_ENDPOINTS_BEGINS_...
 * @param[in] level  as for libmpi: MPI_THREAD_MULTIPLE where threads of several endpoints are in it
 *                   at once
 * @return what libmpi has returned
 */
int mpix_endpoints_begin_libmpi(int how, int level, mpix_endpoints_init_fn_t libmpi,
                                void *arguments);

/** Is that under way, so that a tool may come back to MPI_Init_thread? */
bool mpix_endpoints_begin_is_running(void);

/** The caller's array for so many endpoints: 0, or MPIX_ENDPOINTS_BEGINS_WRONG and what is
 * wrong. */
int mpix_endpoints_begin_check_array(int count, struct mpix_endpoint_t *const endpoints[]);

/** Fill it where code, which making them has returned, is MPI_SUCCESS.  @return code */
int mpix_endpoints_begin_fill(int code, int count, struct mpix_endpoint_t *endpoints[]);

/** MPI_Finalize is called: if the second of two phases has not been, it is now, for one endpoint.
 * Defined in init_phases.c. */
void mpix_endpoints_phases_end(void);

/** Has MPI begun, or ended? */
bool mpix_endpoints_begin_is_late(void);

/** The error code for a second begin. */
int mpix_endpoints_begin_late_code(void);

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_BEGIN_H */
