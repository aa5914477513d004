/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Device memory (GPUs) in calls on endpoint communicators.  Messages leave it to the accelerator
 * (object/pml_epml_accelerator.c); what cannot use it refuses it.  What is checked is checked by
 * functions that take the place of others, in MPI_Init, where an accelerator component other than
 * "null" has been selected; elsewhere nothing is checked.
 */

#ifndef MCA_PML_EPML_DEVICE_H
#define MCA_PML_EPML_DEVICE_H

#include "ompi_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

/** Name of the accelerator component.  Constant from MPI_Init on.
 * @return NULL: "null" has been selected, so there is no device memory */
const char *mca_pml_epml_device_accelerator(void);

/**
 * Does a call use device memory?  Not of memory that the CPU can access as well (managed, unified),
 * nor where comm asserts that it uses none (Open MPI 6).  The first and the last byte are looked
 * at.  Any thread; only where there is an accelerator.
 *
 * @param[in] buffer    may be MPI_BOTTOM
 * @param[in] count     elements; of none nothing is looked at
 */
bool mca_pml_epml_device_is(const ompi_communicator_t *comm, const void *buffer, size_t count,
                            const ompi_datatype_t *datatype);

/** Tell the user, once for the process, that a call has been refused.  Any thread.
 * @param[in] what  the call, for people
 * @return MPI_ERR_BUFFER */
int mca_pml_epml_device_refuse(const ompi_communicator_t *comm, const char *what);

/** MPI_Irecv and MPI_Isend of a buffer in device memory. */
int mca_pml_epml_device_irecv(void *buf, size_t count, ompi_datatype_t *datatype, int src, int tag,
                              ompi_communicator_t *comm, ompi_request_t **request);
int mca_pml_epml_device_isend(const void *buf, size_t count, ompi_datatype_t *datatype, int dst,
                              int tag, mca_pml_base_send_mode_t mode, ompi_communicator_t *comm,
                              ompi_request_t **request);

/** In MPI_Init: have the module's calls check their buffers, if there is an accelerator. */
void mca_pml_epml_device_install(mca_pml_base_module_t *module);

END_C_DECLS

#endif /* MCA_PML_EPML_DEVICE_H */
