/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Members that leave a communicator: pml_epml_leave.c.
 */

#ifndef MCA_PML_EPML_LEAVE_H
#define MCA_PML_EPML_LEAVE_H

#include "ompi_config.h"

#include "../object/object.h"

BEGIN_C_DECLS

/** Tell some members of a communicator, which tell others, that its collectives cannot succeed, or
 * that it is revoked.  Under the lock.  Until loss.passing[notice].over is set some have not been
 * notified, for want of memory: try again. */
void mca_pml_epml_leave_tell(mca_pml_epml_comm_t *comm, mca_pml_epml_notice_t notice);

/** This member takes part in the communicator's collectives no more: they fail, here and, once they
 * have heard of it, at all members, with MPI_ERR_PROC_FAILED.  Not under the lock. */
void mca_pml_epml_leave(mca_pml_epml_comm_t *comm);

/** comm_revoke of mpix_endpoints_pml_t.  Not under the lock. */
int mca_pml_epml_revoke(ompi_communicator_t *comm);

/** LEFT: a member says so. */
extern const mca_pml_epml_kind_t mca_pml_epml_left_kind;

/** It may have said so before this new communicator was here.  Under the lock. */
void mca_pml_epml_leave_attach(mca_pml_epml_comm_t *comm);

END_C_DECLS

#endif /* MCA_PML_EPML_LEAVE_H */
