/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A client of the engine, for tests and as an example: a barrier that knows which members share
 * memory. See docs/engine.md.
 */

#ifndef EP_TEST_EPCLIENT_H
#define EP_TEST_EPCLIENT_H

#include <mpi.h>

#include "ompi/mca/common/ep/common_ep_engine.h"

/** The engine's interface, for tests that use it beside the client; NULL before epclient_open. */
extern const mpix_endpoints_engine_t *epclient_engine;

/** Become a client: once per process, before there are endpoints.
 * @param[in] fails  as make calls it, of a new handle: is it to fail there?  NULL: never
 * @return MPI_SUCCESS or an error code */
int epclient_open(int (*fails)(MPI_Comm comm));

/** The client's number. */
int epclient_number(void);

/** Handles of this process that have an object of ours. */
int epclient_handles(void);

/** As MPI_Barrier, MPI_Ibarrier and MPI_Barrier_init. */
int epclient_barrier(MPI_Comm comm);
int epclient_ibarrier(MPI_Comm comm, MPI_Request *request);
/** Likewise of an operation that has been given a datatype for each rank. */
int epclient_ibarrier_types(MPI_Comm comm, const MPI_Datatype *types, MPI_Request *request);
int epclient_barrier_init(MPI_Comm comm, MPI_Request *request);
/** Persistent ones of this handle that were over when they were started.  For the handle's
 * thread. */
int epclient_overs(MPI_Comm comm);

/** Add a number to what a member has been sent: 1, 2, 3, ... of each sender.  The sum of what has
 * come to a handle by now, and how many did not come in order. */
int epclient_send(MPI_Comm comm, int rank, uint64_t number);
uint64_t epclient_sum(MPI_Comm comm);
uint64_t epclient_out_of_order(MPI_Comm comm);

#endif /* EP_TEST_EPCLIENT_H */
