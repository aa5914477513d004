/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
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
 * Begin to send.  Any loss in the communicator ends it.  Without memory for it now it is tried
 * again: the other one waits for it.
 *
 * @param[in]  bytes      there until it has ended
 * @param[out] request_p  NULL: not begun
 * @return an MPI class, or MPI_SUCCESS
 */
int mpix_endpoints_message_send(ompi_communicator_t *comm, int rank, int tag, const void *bytes,
                                size_t size, ompi_request_t **request_p);

/** Likewise, receive. */
int mpix_endpoints_message_receive(ompi_communicator_t *comm, int rank, int tag, void *bytes,
                                   size_t size, ompi_request_t **request_p);

/** Has it ended?  An acquire. */
bool mpix_endpoints_message_is_over(ompi_request_t *request);

/** It has.  @param[in,out] request_p  NULL, then  @return an MPI class, or MPI_SUCCESS */
int mpix_endpoints_message_end(ompi_request_t **request_p);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_MESSAGES_H */
