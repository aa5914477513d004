/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Requests of libmpi's that hold their communicator: pml_epml_hold.c.
 */

#ifndef MCA_PML_EPML_HOLD_H
#define MCA_PML_EPML_HOLD_H

#include "ompi_config.h"

#include "../base/base.h"

#include "ompi/communicator/communicator.h"
#include "ompi/request/request.h"

BEGIN_C_DECLS

/**
 * Let a request of libmpi's hold its communicator until the request is freed.  Only its schedule
 * knows when it needs the communicator again, and Open MPI 5 and 6 keep no reference in it.
 *
 * To be called before the user has the request.  Any thread; no lock held.
 *
 * @param[in] request  of coll/libnbc or MPI_Comm_idup, its req_mpi_object set to the communicator;
 *                     others are left alone
 * @param[in] comm     that communicator, of endpoints
 */
void mca_pml_epml_hold(ompi_request_t *request, ompi_communicator_t *comm);

/** An intercommunicator's c_local_comm stays as long as the intercommunicator does: MPI_Comm_free
 * frees it at once, though schedules may still use it.  Any thread; no lock held. */
void mca_pml_epml_hold_local(ompi_communicator_t *comm);

/** The intercommunicator goes: free its c_local_comm if that was kept.  No lock held. */
void mca_pml_epml_hold_local_end(ompi_communicator_t *comm);

END_C_DECLS

#endif /* MCA_PML_EPML_HOLD_H */
