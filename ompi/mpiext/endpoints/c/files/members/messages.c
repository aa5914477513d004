/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Messages between members of a file, in the engine's client space: no receive of the user matches
 * them.
 *
 * Tests: file_blocks, file_death
 */

#include "ompi_config.h"

#include "mpiext_endpoints_client.h"
#include "mpiext_endpoints_messages.h"

#if MPIX_ENDPOINTS_FILES

#    include "ompi/errhandler/errcode-internal.h"

/** Is a call of the engine to be repeated?  @param[in,out] rc_p  of the last try */
static bool message_is_retried(ompi_communicator_t *comm, int *rc_p)
{
    if (MPI_ERR_NO_MEM != *rc_p) {
        return false;
    }
    if (mpix_endpoints_client_engine()->is_lost(comm, MPIX_ENDPOINTS_ANY_RANK)) {
        *rc_p = MPI_ERR_PROC_FAILED;
        return false;
    }
    (void) mpix_endpoints_client_engine()->progress(comm);
    return true;
}

int mpix_endpoints_message_send(ompi_communicator_t *comm, int rank, int tag, const void *bytes,
                                size_t size, ompi_request_t **request_p)
{
    const int number = mpix_endpoints_client();
    int rc;

    do {
        rc = mpix_endpoints_client_engine()->isend(comm, number, bytes, size, &ompi_mpi_byte.dt,
                                                   rank, tag, request_p);
    } while (message_is_retried(comm, &rc));
    if (MPI_SUCCESS != rc) {
        *request_p = NULL;
    }
    return rc;
}

/** A receive may also fail in its request.  @return MPI_ERR_NO_MEM: it has, for want of memory, and
 * there is no request then; or MPI_SUCCESS */
static int message_refused(ompi_request_t **request_p)
{
    return mpix_endpoints_message_is_complete(*request_p)
                   && MPI_ERR_NO_MEM == (*request_p)->req_status.MPI_ERROR
               ? mpix_endpoints_message_end(request_p)
               : MPI_SUCCESS;
}

int mpix_endpoints_message_receive(ompi_communicator_t *comm, int rank, int tag, void *bytes,
                                   size_t size, ompi_request_t **request_p)
{
    const int number = mpix_endpoints_client();
    int rc;

    do {
        rc = mpix_endpoints_client_engine()->irecv(comm, number, bytes, size, &ompi_mpi_byte.dt,
                                                   rank, tag, request_p);
        rc = MPI_SUCCESS == rc ? message_refused(request_p) : rc;
    } while (message_is_retried(comm, &rc));
    if (MPI_SUCCESS != rc) {
        *request_p = NULL;
    }
    return rc;
}

bool mpix_endpoints_message_is_complete(ompi_request_t *request)
{
    /* Acquire: the data; partner: the completion, in the engine. */
    return REQUEST_COMPLETED == __atomic_load_n(&request->req_complete, __ATOMIC_ACQUIRE);
}

int mpix_endpoints_message_end(ompi_request_t **request_p)
{
    const int rc = ompi_request_wait(request_p, MPI_STATUS_IGNORE);

    if (MPI_REQUEST_NULL != *request_p) {
        (void) ompi_request_free(request_p); /* which libmpi does not, if it has failed */
    }
    *request_p = NULL;
    return 0 > rc ? ompi_errcode_get_mpi_code(rc) : rc;
}

#endif
