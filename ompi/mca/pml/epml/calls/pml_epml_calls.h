/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The calls on endpoint communicators; contracts as in ompi/mca/pml/pml.h.
 */

#ifndef MCA_PML_EPML_CALLS_H
#define MCA_PML_EPML_CALLS_H

#include "ompi_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

int mca_pml_epml_call_add_comm(ompi_communicator_t *comm);
int mca_pml_epml_call_del_comm(ompi_communicator_t *comm);
int mca_pml_epml_call_send(const void *buf, size_t count, ompi_datatype_t *datatype, int dst,
                           int tag, mca_pml_base_send_mode_t mode, ompi_communicator_t *comm);
int mca_pml_epml_call_isend(const void *buf, size_t count, ompi_datatype_t *datatype, int dst,
                            int tag, mca_pml_base_send_mode_t mode, ompi_communicator_t *comm,
                            ompi_request_t **request);
int mca_pml_epml_call_isend_init(const void *buf, size_t count, ompi_datatype_t *datatype, int dst,
                                 int tag, mca_pml_base_send_mode_t mode, ompi_communicator_t *comm,
                                 ompi_request_t **request);
int mca_pml_epml_call_recv(void *buf, size_t count, ompi_datatype_t *datatype, int src, int tag,
                           ompi_communicator_t *comm, ompi_status_public_t *status);
int mca_pml_epml_call_irecv(void *buf, size_t count, ompi_datatype_t *datatype, int src, int tag,
                            ompi_communicator_t *comm, ompi_request_t **request);
int mca_pml_epml_call_irecv_init(void *buf, size_t count, ompi_datatype_t *datatype, int src,
                                 int tag, ompi_communicator_t *comm, ompi_request_t **request);
int mca_pml_epml_call_iprobe(int src, int tag, ompi_communicator_t *comm, int *matched,
                             ompi_status_public_t *status);
int mca_pml_epml_call_probe(int src, int tag, ompi_communicator_t *comm,
                            ompi_status_public_t *status);
int mca_pml_epml_call_improbe(int src, int tag, ompi_communicator_t *comm, int *matched,
                              ompi_message_t **message, ompi_status_public_t *status);
int mca_pml_epml_call_mprobe(int src, int tag, ompi_communicator_t *comm, ompi_message_t **message,
                             ompi_status_public_t *status);
int mca_pml_epml_call_imrecv(void *buf, size_t count, ompi_datatype_t *datatype,
                             ompi_message_t **message, ompi_request_t **request);
int mca_pml_epml_call_mrecv(void *buf, size_t count, ompi_datatype_t *datatype,
                            ompi_message_t **message, ompi_status_public_t *status);
/** As mca_pml_epml_call_imrecv.  @param[in] is_device  buf is in device memory */
int mca_pml_epml_call_imrecv_in(void *buf, size_t count, ompi_datatype_t *datatype, bool is_device,
                                ompi_message_t **message, ompi_request_t **request);
int mca_pml_epml_call_start(ompi_request_t *request);

END_C_DECLS

#endif /* MCA_PML_EPML_CALLS_H */
