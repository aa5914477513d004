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
 * Requests of files: nonblocking reads and writes, which the C library carries out in threads of its
 * own, and of which somebody has to see that they have ended.
 *
 * ompio has one list of them in a process, without a lock; a request is in it before it is begun,
 * and until it is freed.  Here a request is taken out of that list as soon as it has been made,
 * under a lock that all of that list's users take then, and enters ours when it has been begun, whole
 * and with its functions.  Who looks after it takes it out of the list meanwhile: so no lock is held
 * while ompio's function runs, which may have to wait for a part of the file that another request of
 * this process has locked (locks.c).
 *
 * This is for processes as well as for endpoints: the list is one, and whoever waits in libmpi looks
 * after all of it.
 *
 * Tests: file_nonblocking, file_late (also tsan), file_random
 */

#include "ompi_config.h"

#include "../interpose/interpose.h"
#include "mpiext_endpoints_copies.h"
#include "mpiext_endpoints_io.h"
#include "mpiext_endpoints_members.h"

#if MPIX_ENDPOINTS_FILES

#    include <errno.h>
#    include <pthread.h>
#    include <sched.h>
#    include <stdatomic.h>

#    include "opal/class/opal_list.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Under the lock. */
static opal_list_t begun;   /**< requests that nobody looks after at the moment */
static opal_list_t *ompios; /**< ompio's list, empty but for moments */
static int (*ompios_free)(ompi_request_t **request);

static _Atomic int under_way; /**< begun and not ended, looked after or not */

/**
 * And what ompio makes at first use: its pool of buffers for data that is converted.  Of two threads
 * that are first at the same time one finds it begun, and takes it for ready.
 */
static void prepare(void)
{
    int (*make_pool)(void)
        = (int (*)(void)) mpix_endpoints_libmpi_symbol("mca_common_ompio_buffer_alloc_init");

    OBJ_CONSTRUCT(&begun, opal_list_t);
    ompios = mpix_endpoints_libmpi_symbol("mca_common_ompio_pending_requests");
    if (NULL != make_pool) {
        (void) make_pool();
    }
}

static bool is_ended(const mca_ompio_request_t *req)
{
    /* Acquire: what ompio's function has left before what is done with it; partner:
     * ompi_request_complete, which writes the word last. */
    return REQUEST_COMPLETED == __atomic_load_n(&req->req_ompi.req_complete, __ATOMIC_ACQUIRE);
}

/** libmpi frees a request that has ended, or that MPI_Request_free has given up: then the buffers
 * that the C library works on must stay until it is through. */
static int free_request(ompi_request_t **request)
{
    mca_ompio_request_t *req = (mca_ompio_request_t *) *request;
    int rc;

    while (NULL != req->req_progress_fn && !is_ended(req)) {
        if (0 == mpix_endpoints_io_progress()) {
            sched_yield();
        }
    }
    pthread_mutex_lock(&lock);
    opal_list_append(ompios, &req->req_item); /* where ompio's function expects it */
    rc = ompios_free(request);
    pthread_mutex_unlock(&lock);
    return rc;
}

void mpix_endpoints_io_new(void (*alloc)(mca_ompio_request_t **req_p,
                                         mca_ompio_request_type_t type),
                           mca_ompio_request_t **req_p, mca_ompio_request_type_t type)
{
    pthread_mutex_lock(&lock);
    alloc(req_p, type);
    opal_list_remove_item(ompios, &(*req_p)->req_item);
    ompios_free = (*req_p)->req_ompi.req_free;
    (*req_p)->req_ompi.req_free = free_request;
    (*req_p)->req_ompi.req_mpi_object.file = NULL;
    pthread_mutex_unlock(&lock);
}

static void put(mca_ompio_request_t *req)
{
    pthread_mutex_lock(&lock);
    opal_list_append(&begun, &req->req_item);
    pthread_mutex_unlock(&lock);
}

static mca_ompio_request_t *take(void)
{
    opal_list_item_t *item;

    pthread_mutex_lock(&lock);
    item = opal_list_remove_first(&begun);
    pthread_mutex_unlock(&lock);
    return NULL == item ? NULL : GET_OMPIO_REQ_FROM_ITEM(item);
}

/** A request has failed; ompio says no more than that. */
static void fail(mca_ompio_request_t *req)
{
    ompi_file_t *handle = req->req_ompi.req_mpi_object.file;

    req->req_ompi.req_status.MPI_ERROR = MPI_ERR_IO;
    if (NULL != handle) {
        const mca_common_ompio_data_t *data = (void *) handle->f_io_selected_data;

        mpix_endpoints_members_failed(&data->ompio_fh, MPI_ERR_IO);
    }
}

bool mpix_endpoints_io_is_busy(void)
{
    /* Relaxed: says when to look, not what is found. */
    return 0 < atomic_load_explicit(&under_way, memory_order_relaxed);
}

int mpix_endpoints_io_progress(void)
{
    int ended = 0;

    /* Relaxed: who has begun one and waits for it has counted it itself. */
    for (int left = atomic_load_explicit(&under_way, memory_order_relaxed); 0 < left; --left) {
        mca_ompio_request_t *req = take();

        if (NULL == req) {
            break;
        }
        if (!req->req_progress_fn(req)) {
            put(req);
            continue;
        }
        if (OMPI_SUCCESS != req->req_ompi.req_status.MPI_ERROR) {
            fail(req);
        }
        /* Relaxed, as above.  Afterwards the request may be gone at any time. */
        atomic_fetch_sub_explicit(&under_way, 1, memory_order_relaxed);
        ompi_request_complete(&req->req_ompi, true);
        ++ended;
    }
    return ended;
}

/** A request has been begun, or could not be: then it has ended, or its owner would wait for ever.
 * Where ompio does not tell its file, and it never does, libmpi looks for the error handler of none,
 * and crashes. */
static ssize_t began(ompio_file_t *file, ompi_request_t *request, ssize_t rc)
{
    mca_ompio_request_t *req = (mca_ompio_request_t *) request;

    if (mpix_endpoints_is_endpoint_comm(file->f_comm)) {
        request->req_mpi_object.file = file->f_fh;
    }
    if (NULL == req->req_progress_fn) {
        request->req_status._ucount = 0;
        fail(req);
        ompi_request_complete(request, true);
        return rc;
    }
    atomic_fetch_add_explicit(&under_way, 1, memory_order_relaxed); /* as above */
    put(req);
    return rc;
}

static ssize_t begin_read(ompio_file_t *file, ompi_request_t *request)
{
    const mca_fbtl_base_module_t *original = mpix_endpoints_copied(file->f_fbtl);

    return began(file, request, original->fbtl_ipreadv(file, request));
}

static ssize_t begin_write(ompio_file_t *file, ompi_request_t *request)
{
    const mca_fbtl_base_module_t *original = mpix_endpoints_copied(file->f_fbtl);

    return began(file, request, original->fbtl_ipwritev(file, request));
}

/** What the system says of a read or a write that has failed. */
static ssize_t done(const ompio_file_t *file, ssize_t rc)
{
    if (0 > rc) {
        mpix_endpoints_members_failed(file,
                                      0 != errno ? mca_fs_base_get_mpi_err(errno) : MPI_ERR_IO);
    }
    return rc;
}

static ssize_t read_now(ompio_file_t *file)
{
    const mca_fbtl_base_module_t *original = mpix_endpoints_copied(file->f_fbtl);

    errno = 0;
    return done(file, original->fbtl_preadv(file));
}

static ssize_t write_now(ompio_file_t *file)
{
    const mca_fbtl_base_module_t *original = mpix_endpoints_copied(file->f_fbtl);

    errno = 0;
    return done(file, original->fbtl_pwritev(file));
}

static void change(void *copy)
{
    mca_fbtl_base_module_t *module = copy;

    module->fbtl_preadv = read_now;
    module->fbtl_pwritev = write_now;
    /* Who has none is not asked for one. */
    module->fbtl_ipreadv = NULL == module->fbtl_ipreadv ? NULL : begin_read;
    module->fbtl_ipwritev = NULL == module->fbtl_ipwritev ? NULL : begin_write;
}

int mpix_endpoints_io_take(ompio_file_t *file)
{
    mca_fbtl_base_module_t *copy = mpix_endpoints_copy(file->f_fbtl, sizeof(*file->f_fbtl), change);

    pthread_once(&once, prepare);
    if (NULL == copy) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    file->f_fbtl = copy;
    return OMPI_SUCCESS;
}

#endif
