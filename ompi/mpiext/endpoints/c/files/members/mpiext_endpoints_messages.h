/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Messages between members of a file.
 */

#ifndef MPIEXT_ENDPOINTS_MESSAGES_H
#define MPIEXT_ENDPOINTS_MESSAGES_H

#include "ompi_config.h"

#include "../../base/base.h"

#if MPIX_ENDPOINTS_FILES

#    include "ompi/request/request.h"

BEGIN_C_DECLS

/**
 * Begin to send.  Any loss in the communicator ends the request.  Without memory it is tried again,
 * as the receiver waits for it.
 *
 * @param[in]  bytes      valid until the request has ended
 * @param[out] request_p  NULL: not begun
 * @return an MPI class, or MPI_SUCCESS
 */
int mpix_endpoints_message_send(ompi_communicator_t *comm, int rank, int tag, const void *bytes,
                                size_t size, ompi_request_t **request_p);

/** Begin to receive, likewise. */
int mpix_endpoints_message_receive(ompi_communicator_t *comm, int rank, int tag, void *bytes,
                                   size_t size, ompi_request_t **request_p);

/** Has a request ended?  An acquire. */
bool mpix_endpoints_message_is_complete(ompi_request_t *request);

/** Wait for a request, and free it.  @param[in,out] request_p  then NULL
 * @return an MPI class, or MPI_SUCCESS */
int mpix_endpoints_message_end(ompi_request_t **request_p);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_MESSAGES_H */
