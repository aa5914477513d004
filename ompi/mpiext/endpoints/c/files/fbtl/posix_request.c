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
 * Requests of fbtl/posix, ompio's part that reads and writes by the C library's calls of aio.h:
 * what it leaves undone.
 *
 * A read that has moved less than it was asked to it begins again, for the rest: at the file's end
 * for ever.  Where a piece has failed, or could not be begun, it gives the request up, and its
 * memory with it, while threads of the C library may still be at other pieces, and at the user's
 * buffer.
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

static void find_progress(void)
{
    progress = (mca_fbtl_base_module_progress_fn_t)
        mpix_endpoints_libmpi_symbol("mca_fbtl_posix_progress");
}

mpix_endpoints_fbtl_posix_t *mpix_endpoints_posix(const mca_ompio_request_t *req)
{
    pthread_once(&once, find_progress);
    return NULL == req->req_progress_fn || req->req_progress_fn != progress ? NULL : req->req_data;
}

void mpix_endpoints_posix_look(mca_ompio_request_t *req)
{
    mpix_endpoints_fbtl_posix_t *data = mpix_endpoints_posix(req);

    if (NULL == data) {
        return;
    }
    /* What it says where a piece cannot be begun: nothing of its own. */
    req->req_ompi.req_status.MPI_ERROR = OMPI_ERROR;
    for (int i = data->first; READ == data->type && i < data->last; ++i) {
        /* The C library's aio_return may be asked again: by ompio, unless it is nothing. */
        if (EINPROGRESS == data->status[i] && 0 == aio_error(&data->pieces[i])
            && 0 == aio_return(&data->pieces[i])) {
            data->status[i] = 0;
            --data->open;
        }
    }
}

void mpix_endpoints_posix_stop(const mca_ompio_request_t *req)
{
    const mpix_endpoints_fbtl_posix_t *data = mpix_endpoints_posix(req);

    for (int i = NULL == data ? 0 : data->first; NULL != data && i < data->last; ++i) {
        struct aiocb *piece = &data->pieces[i];

        /* One that has never been begun is not known there. */
        if (AIO_NOTCANCELED == aio_cancel(piece->aio_fildes, piece)) {
            while (EINPROGRESS == aio_error(piece)) {
                (void) aio_suspend((const struct aiocb *const[]){piece}, 1, NULL);
            }
        }
    }
}

#endif
