/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Parents of a spawned process: parent.c.
 */

#ifndef MPIEXT_ENDPOINTS_PARENT_H
#define MPIEXT_ENDPOINTS_PARENT_H

#include "ompi_config.h"

#include "mpiext_endpoints_process.h"

BEGIN_C_DECLS

/** All of the job's processes will meet their parents over this communicator when they have
 * endpoints; it stands for the parents until then.  Within libmpi's initialization.
 *
 * @param[in] bridge  with the parents' root, which has rank 0 there */
void mpix_endpoints_parent_keep(ompi_communicator_t *bridge);

/**
 * Meet them, if they wait.  Collective over MPI_COMM_WORLD; the process's endpoints are there
 * (mpix_endpoints_process_begin).  By the thread that begins MPI.
 *
 * @param[in]     own   MPIX_COMM_ENDPOINTS of each endpoint
 * @param[in,out] room  for as many handles, NULL before
 *
 * @return MPI_SUCCESS; or an MPI error code, in all processes: no endpoint has parents then
 */
int mpix_endpoints_parent_meet(ompi_communicator_t *const own[], ompi_communicator_t *room[],
                               int count);

/** There are no endpoints after all, in no process of the job: tell them, if they wait.  Likewise.
 *
 * @param[in] code  why, an MPI error code; MPI_SUCCESS: nothing is done */
void mpix_endpoints_parent_fail(int code);

/** The communicator of an endpoint, mpix_endpoints_none included, with the parents: MPI_COMM_NULL,
 * if it has been freed or there is no endpoint; NULL: libmpi's is the process's.  Any thread. */
ompi_communicator_t *mpix_endpoints_parent_of(const mpix_endpoint_t *endpoint);

/** A handle, any one, is freed: it leads to no parents any more.  Any thread. */
void mpix_endpoints_parent_end(ompi_communicator_t *comm);

/** MPI has ended. */
void mpix_endpoints_parent_forget(void);

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_PARENT_H */
