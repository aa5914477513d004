/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Buffer_attach and MPI_Buffer_detach: a static endpoint is a process to MPI, and has a buffer
 * of its own.
 *
 * That of the first endpoint is the process's, which libmpi keeps; so is that of threads that are
 * attached to no endpoint.  An endpoint without a buffer uses that one, too.
 *
 * No hooks: as comm_disconnect.c.  In a program that loaded libmpi first, and for the MPI ABI, Open
 * MPI's own are in force: all endpoints use the process's buffer.
 *
 * Tests: p2p_bsend (static)
 */

#include "ompi_config.h"

#include "../static/static.h"
#include "../base/base.h"
#include "calls.h"
#include "mpiext_endpoints_function.h"

#include "ompi/constants.h"
#include "ompi/errhandler/errcode-internal.h"
#include "ompi/errhandler/errhandler.h"

/** The endpoint whose buffer is not libmpi's; or NULL. */
static const mpix_endpoint_t *own_endpoint(void)
{
    const mpix_endpoint_t *endpoint = mpix_endpoints_attached();

    return mpix_endpoints_process_is_static() && 0 < endpoint->index ? endpoint : NULL;
}

/** Is it memory?  From Open MPI 6.0 on a buffer may also be one that libmpi makes larger itself. */
static bool is_memory(const void *buffer)
{
#if defined(MPI_BUFFER_AUTOMATIC)
    return NULL != buffer && MPI_BUFFER_AUTOMATIC != buffer;
#else
    return NULL != buffer;
#endif
}

MPIX_ENDPOINTS_EXPORT int MPIX_ENDPOINTS_FUNCTION(Buffer_attach)(void *buffer, int size)
{
    int (*const original)(void *, int) = MPIX_ENDPOINTS_NEXT(Buffer_attach);
    const mpix_endpoint_t *endpoint = own_endpoint();
    int rc;

    if (NULL == endpoint || !is_memory(buffer) || 0 > size) {
        return NULL != original ? original(buffer, size) : MPI_ERR_INTERN;
    }
    rc = mpix_endpoints_table()->attach_buffer(endpoint->self, buffer, (size_t) size);
    return OMPI_SUCCESS == rc ? MPI_SUCCESS
                              : OMPI_ERRHANDLER_NOHANDLE_INVOKE(ompi_errcode_get_mpi_code(rc),
                                                                "MPI_Buffer_attach");
}

MPIX_ENDPOINTS_FUNCTION_DEFINED(Buffer_attach, (void *buffer, int size), (buffer, size));

MPIX_ENDPOINTS_EXPORT int MPIX_ENDPOINTS_FUNCTION(Buffer_detach)(void *buffer, int *size)
{
    int (*const original)(void *, int *) = MPIX_ENDPOINTS_NEXT(Buffer_detach);
    const mpix_endpoint_t *endpoint = own_endpoint();
    void *address = NULL;
    size_t bytes = 0;

    if (NULL != endpoint && NULL != buffer && NULL != size) {
        mpix_endpoints_table()->detach_buffer(endpoint->self, &address, &bytes);
    }
    if (NULL == address) {
        return NULL != original ? original(buffer, size) : MPI_ERR_INTERN;
    }
    *(void **) buffer = address;
    *size = (int) bytes;
    return MPI_SUCCESS;
}

MPIX_ENDPOINTS_FUNCTION_DEFINED(Buffer_detach, (void *buffer, int *size), (buffer, size));
