/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Queues for people to read: pml_epml_dump.c.
 */

#ifndef MCA_PML_EPML_DUMP_H
#define MCA_PML_EPML_DUMP_H

#include "ompi_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

/**
 * Write the queues of an endpoint to stderr: sends on their way, receives, messages that wait.
 * Any thread that has not the endpoint's lock; waits for the lock a little while, then says that it
 * could not look.
 *
 * @param[in] verbose  0: those of comm only; else of all communicators of comm's endpoint
 * @return OMPI_SUCCESS, OMPI_ERR_RESOURCE_BUSY
 */
int mca_pml_epml_call_dump(ompi_communicator_t *comm, int verbose);

/** The same for all endpoints of the process; for debuggers (gdb: call mca_pml_epml_dump_all()).
 * No memory is allocated, and no lock is waited for without end. */
OMPI_DECLSPEC void mca_pml_epml_dump_all(void);

/** mca_pml.pml_dump of any communicator (an MPI_Comm), under a name that debuggers and programs
 * find.  Of an ordinary one the base PML shows what it has. */
OMPI_DECLSPEC void mca_pml_epml_dump_comm(ompi_communicator_t *comm, int verbose);

END_C_DECLS

#endif /* MCA_PML_EPML_DUMP_H */
