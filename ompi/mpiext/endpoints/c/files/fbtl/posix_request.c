/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Requests of fbtl/posix, the component of ompio that reads and writes by the C library's aio.h.
 *
 * fbtl/posix begins a short read again for the rest: at the end of the file without end.  If a
 * piece fails, or cannot be begun, fbtl/posix gives the request up and frees its memory, while
 * threads of the C library may still use other pieces, and the user's buffer.
 *
 * Tests: file_nonblocking, file_late (also tsan), file_errors
 */

#include "ompi_config.h"

#include "../../interpose/interpose.h"
#include "mpiext_endpoints_posix_request.h"

#if MPIX_ENDPOINTS_FILES

#    include <aio.h>
#    include <errno.h>
#    include <pthread.h>

enum { READ = 1 }; /**< the type of its request that fbtl/posix has for a read */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static mca_fbtl_base_module_progress_fn_t progress; /**< of fbtl/posix; written once */

static void posix_find_progress(void)
{
    progress = (mca_fbtl_base_module_progress_fn_t)
        mpix_endpoints_libmpi_symbol("mca_fbtl_posix_progress");
}

mpix_endpoints_fbtl_posix_t *mpix_endpoints_posix_request(const mca_ompio_request_t *req)
{
    pthread_once(&once, posix_find_progress);
    return NULL == req->req_progress_fn || req->req_progress_fn != progress ? NULL : req->req_data;
}

void mpix_endpoints_posix_request_check(mca_ompio_request_t *req)
{
    mpix_endpoints_fbtl_posix_t *data = mpix_endpoints_posix_request(req);

    if (NULL == data) {
        return;
    }
    /* fbtl/posix sets nothing if a piece cannot be begun. */
    req->req_ompi.req_status.MPI_ERROR = OMPI_ERROR;
    for (int i = data->first; READ == data->type && i < data->last; ++i) {
        /* aio_return may be called again, by ompio, unless it has returned 0. */
        if (EINPROGRESS == data->status[i] && 0 == aio_error(&data->pieces[i])
            && 0 == aio_return(&data->pieces[i])) {
            data->status[i] = 0;
            --data->open;
        }
    }
}

void mpix_endpoints_posix_request_stop(const mca_ompio_request_t *req)
{
    const mpix_endpoints_fbtl_posix_t *data = mpix_endpoints_posix_request(req);

    for (int i = NULL == data ? 0 : data->first; NULL != data && i < data->last; ++i) {
        struct aiocb *piece = &data->pieces[i];

        /* A piece that has never been begun is unknown to the C library. */
        if (AIO_NOTCANCELED == aio_cancel(piece->aio_fildes, piece)) {
            while (EINPROGRESS == aio_error(piece)) {
                (void) aio_suspend((const struct aiocb *const[]){piece}, 1, NULL);
            }
        }
    }
}

#endif
