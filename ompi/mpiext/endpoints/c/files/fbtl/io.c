/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Reads and writes of files, and their requests: nonblocking ones are carried out by threads of the
 * C library, and must be progressed to be completed.
 *
 * ompio has one list of requests in a process, without a lock; a request is in it before it is
 * begun, and until it is freed.  Here a request is removed from that list when it is allocated,
 * under a lock that all users of the list take, and enters our list when it has been begun.  A
 * thread that progresses a request removes it from the list meanwhile.  So no lock is held while
 * ompio's function runs, which may have to wait for a part of the file that another request of this
 * process has locked (locks.c).
 *
 * This is for processes as well as for endpoints: there is one list, and any thread that waits in
 * libmpi progresses all of it.
 *
 * The state of a file of endpoints is kept with the file's own copy of the table of functions
 * (module_copy.c), so it is found without a search.
 *
 * Tests: file_nonblocking, file_late (also tsan), file_random (all with Open MPI 6, too), sessions
 */

#include "ompi_config.h"

#include "../../interpose/interpose.h"
#include "mpiext_endpoints_extents.h"
#include "mpiext_endpoints_io.h"
#include "mpiext_endpoints_io_error.h"
#include "mpiext_endpoints_locks.h"
#include "mpiext_endpoints_module_copy.h"
#include "mpiext_endpoints_posix_request.h"

#if MPIX_ENDPOINTS_FILES

#    include <errno.h>
#    include <pthread.h>
#    include <sched.h>
#    include <stdatomic.h>

#    include "opal/class/opal_list.h"
#    include "opal/runtime/opal_progress.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Under the lock. */
static opal_list_t begun; /**< requests that no thread progresses at the moment */
static opal_list_t
    *ompio_requests; /**< ompio's list: a request is in it while it is allocated or freed */
static int (*ompio_request_free)(ompi_request_t **request);

static _Atomic int under_way; /**< requests that have begun and not ended */

/* Of the present session: by the thread that begins it, before there are endpoints. */
static _Atomic bool is_entered;   /**< libmpi's progress has our function */
static _Atomic bool has_pool;     /**< ompio has made its pool, in this session or in another */
static _Atomic bool pool_is_gone; /**< ompio has freed it with an earlier session */

/** Also makes ompio's pool of buffers for conversion, which ompio would make at first use: of two
 * threads that come first at the same time, one takes a pool that is not ready. */
static void io_prepare(void)
{
    int (*make_pool)(void)
        = (int (*)(void)) mpix_endpoints_libmpi_symbol("mca_common_ompio_buffer_alloc_init");

    OBJ_CONSTRUCT(&begun, opal_list_t);
    ompio_requests = mpix_endpoints_libmpi_symbol("mca_common_ompio_pending_requests");
    if (NULL != make_pool) {
        (void) make_pool();
    }
    /* Relaxed: read when the next session begins, by a thread that has seen this one end. */
    atomic_store_explicit(&has_pool, true, memory_order_relaxed);
}

/** Is a request under way, which its owner may have given up by then? */
static bool request_is_begun(const mca_ompio_request_t *req)
{
#    if OMPI_MAJOR_VERSION >= 6
    return NULL != req->req_progress_fn || 0 < req->req_num_subreqs;
#    else
    return NULL != req->req_progress_fn;
#    endif
}

static bool request_is_ended(const mca_ompio_request_t *req)
{
    /* Acquire: what ompio's function has left before what is done with it; partner:
     * ompi_request_complete, which writes the word last. */
    return REQUEST_COMPLETED == __atomic_load_n(&req->req_ompi.req_complete, __ATOMIC_ACQUIRE);
}

/** libmpi frees a request that has ended, or one that has not, in MPI_Request_free.  The buffers
 * that the C library uses must stay until it has. */
static int request_free(ompi_request_t **request)
{
    mca_ompio_request_t *req = (mca_ompio_request_t *) *request;
    int rc;

    while (request_is_begun(req) && !request_is_ended(req)) {
        if (0 == mpix_endpoints_io_progress()) {
            sched_yield();
        }
    }
    pthread_mutex_lock(&lock);
    opal_list_append(ompio_requests, &req->req_item); /* where ompio's function expects it */
    rc = ompio_request_free(request);
    pthread_mutex_unlock(&lock);
    return rc;
}

void mpix_endpoints_io_request_alloc(void (*alloc)(mca_ompio_request_t **req_p,
                                                   mca_ompio_request_type_t type),
                                     mca_ompio_request_t **req_p, mca_ompio_request_type_t type)
{
    pthread_mutex_lock(&lock);
    alloc(req_p, type);
    opal_list_remove_item(ompio_requests, &(*req_p)->req_item);
    ompio_request_free = (*req_p)->req_ompi.req_free;
    (*req_p)->req_ompi.req_free = request_free;
    (*req_p)->req_ompi.req_mpi_object.file = NULL;
    (*req_p)->req_ompi.req_status._ucount = 0; /* 6.0 adds the parts' to whatever it is */
    pthread_mutex_unlock(&lock);
}

static void request_enqueue(mca_ompio_request_t *req)
{
    pthread_mutex_lock(&lock);
    opal_list_append(&begun, &req->req_item);
    pthread_mutex_unlock(&lock);
}

static mca_ompio_request_t *request_dequeue(void)
{
    opal_list_item_t *item;

    pthread_mutex_lock(&lock);
    item = opal_list_remove_first(&begun);
    pthread_mutex_unlock(&lock);
    return NULL == item ? NULL : GET_OMPIO_REQ_FROM_ITEM(item);
}

/** The file of a request of endpoints, or NULL. */
static ompio_file_t *request_file(const mca_ompio_request_t *req)
{
    const ompi_file_t *handle = req->req_ompi.req_mpi_object.file;

    return NULL == handle ? NULL : mpix_endpoints_ompio_file(handle);
}

/** A read or a write of a file has failed.  Any thread.  @param[in] class  an MPI class */
static void io_record_failure(const ompio_file_t *file, int class)
{
    mpix_endpoints_io_state_t *state = mpix_endpoints_io_state(file);

    if (NULL != state) {
        /* Sequentially consistent: before the request is completed, which a thread that waits for
         * it reads before the failure; partner: mpix_endpoints_io_failure. */
        atomic_store_explicit(&state->failure, class, memory_order_seq_cst);
    }
}

/** A request has failed.  @param[in] class  its error, an MPI class */
static void request_fail(mca_ompio_request_t *req, int class)
{
    req->req_ompi.req_status.MPI_ERROR = class;
    if (NULL != request_file(req)) {
        io_record_failure(request_file(req), class);
    }
}

#    if OMPI_MAJOR_VERSION >= 6

/* 6.0 has requests below a request whose data are converted: one for each buffer full of them,
 * which begins the next one when it has ended.  The user's own is in no list then, and has no
 * functions. */

static bool request_is_done(mca_ompio_request_t *req)
{
    if (!req->req_post_followup) {
        mpix_endpoints_posix_request_check(req);
        req->req_post_followup = req->req_progress_fn(req);
    }
    return req->req_post_followup;
}

/** A part could not be begun: its next progress ends the whole. */
static void request_give_up(mca_ompio_request_t *req)
{
    req->req_post_followup = true;
}

/** A part has ended.  The next one is begun under the file's lock, as it uses the file's fields.
 * @return 1: the whole has ended; 0: it goes on; -1: another thread has the lock */
static int request_end_part(mca_ompio_request_t *req)
{
    mca_ompio_request_t *whole = req->req_parent;
    opal_mutex_t *of_file = &whole->req_fh->f_fh->f_lock;
    const int error = req->req_ompi.req_status.MPI_ERROR;
    ompi_request_t *part = &req->req_ompi;
    bool goes_on;

    if (0 != OPAL_THREAD_TRYLOCK(of_file)) {
        return -1;
    }
    whole->req_ompi.req_mpi_object = req->req_ompi.req_mpi_object;
    if (OMPI_SUCCESS == error) {
        whole->req_ompi.req_status._ucount += req->req_ompi.req_status._ucount;
        whole->req_post_next_subreq(whole, ++whole->req_subreqs_completed);
    }
    goes_on = OMPI_SUCCESS == error && whole->req_subreqs_completed < whole->req_num_subreqs;
    OPAL_THREAD_UNLOCK(of_file); /* the thread that ends the next part may end the whole */
    ompi_request_complete(part, false);
    (void) part->req_free(&part);
    if (goes_on) {
        return 0;
    }
    whole->req_ompi.req_status.MPI_ERROR = error;
    ompi_request_complete(&whole->req_ompi, true);
    return 1;
}

static bool request_is_part(const mca_ompio_request_t *req)
{
    return NULL != req->req_parent;
}

#    else

static bool request_is_done(mca_ompio_request_t *req)
{
    mpix_endpoints_posix_request_check(req);
    return req->req_progress_fn(req);
}

static void request_give_up(mca_ompio_request_t *req)
{
    (void) req;
}

static int request_end_part(mca_ompio_request_t *req)
{
    (void) req;
    return 1;
}

static bool request_is_part(const mca_ompio_request_t *req)
{
    (void) req;
    return false;
}

#    endif

/** A request has been moved.  @return 1: it has ended, and may be gone; else as of
 * request_end_part */
static int request_end(mca_ompio_request_t *req)
{
    /* ompio sets OMPI_ERROR without a reason; request_began has set one already. */
    if (OMPI_ERROR == req->req_ompi.req_status.MPI_ERROR) {
        mpix_endpoints_posix_request_stop(req);
        request_fail(req, NULL == request_file(req)
                              ? MPI_ERR_IO
                              : mpix_endpoints_io_error_of_request(request_file(req), req));
    }
    if (request_is_part(req)) {
        return request_end_part(req);
    }
    ompi_request_complete(&req->req_ompi, true);
    return 1;
}

bool mpix_endpoints_io_is_busy(void)
{
    /* Relaxed: a hint. */
    return 0 < atomic_load_explicit(&under_way, memory_order_relaxed);
}

int mpix_endpoints_io_progress(void)
{
    int ended = 0;

    /* Relaxed: a thread that waits for a request of its own has counted it itself. */
    for (int left = atomic_load_explicit(&under_way, memory_order_relaxed); 0 < left; --left) {
        mca_ompio_request_t *req = request_dequeue();
        int has_ended;

        if (NULL == req) {
            break;
        }
        has_ended = request_is_done(req) ? request_end(req) : -1;
        if (0 > has_ended) {
            request_enqueue(req);
            continue;
        }
        /* Relaxed, as above. */
        atomic_fetch_sub_explicit(&under_way, 1, memory_order_relaxed);
        ended += has_ended;
    }
    return ended;
}

/** A request has been begun, or could not be: then it is completed, or its owner would never
 * return.  ompio does not set the file of a request: libmpi crashes when it looks for the error
 * handler. */
static ssize_t request_began(ompio_file_t *file, ompi_request_t *request, ssize_t rc)
{
    mca_ompio_request_t *req = (mca_ompio_request_t *) request;

    if (mpix_endpoints_is_endpoint_comm(file->f_comm)) {
        request->req_mpi_object.file = file->f_fh;
    }
    if (NULL == req->req_progress_fn) {
        request->req_status._ucount = 0;
        request_fail(req, mpix_endpoints_io_error_class(errno));
        if (!request_is_part(req)) {
            ompi_request_complete(request, true);
            return rc;
        }
        request_give_up(req);
    }
    atomic_fetch_add_explicit(&under_way, 1, memory_order_relaxed); /* as above */
    request_enqueue(req);
    return rc;
}

static ssize_t io_begin_read(ompio_file_t *file, ompi_request_t *request)
{
    const mca_fbtl_base_module_t *original = mpix_endpoints_module_original(file->f_fbtl);

    errno = 0;
    return request_began(file, request, original->fbtl_ipreadv(file, request));
}

static ssize_t io_begin_write(ompio_file_t *file, ompi_request_t *request)
{
    const mca_fbtl_base_module_t *original = mpix_endpoints_module_original(file->f_fbtl);

    errno = 0;
    return request_began(file, request, original->fbtl_ipwritev(file, request));
}

/** A blocking read or write has returned: record its error, if any. */
static ssize_t io_done(const ompio_file_t *file, ssize_t rc)
{
    if (0 > rc) {
        io_record_failure(file, mpix_endpoints_io_error_record(errno));
    }
    return rc;
}

/**
 * Move the file's list of pieces by calls of the system, without the locks of ompio, and wholly
 * where a call moves less than asked for.
 *
 * @param[out] rc_p  bytes, or OMPI_ERROR
 * @return false: ompio's component must do it
 */
static bool io_move(ompio_file_t *file, bool writes, ssize_t *rc_p)
{
    const mpix_endpoints_io_state_t *state = mpix_endpoints_io_state(file);
    mpix_endpoints_extent_t extent;
    int error;

    if (0 != file->f_atomicity || NULL == file->f_io_array
        || !mpix_endpoints_extent_is_supported(file) || NULL == state
        || mpix_endpoints_extent_needs_locks(file, state->is_on_node)) {
        return false;
    }
    mpix_endpoints_extent_begin(&extent, file, writes, false);
    for (int i = 0; i < file->f_num_of_io_entries; ++i) {
        const mca_common_ompio_io_array_t *piece = &file->f_io_array[i];

        mpix_endpoints_extent_add(&extent, (int64_t) (intptr_t) piece->offset,
                                  piece->memory_address, piece->length);
    }
    error = mpix_endpoints_extent_end(&extent);
    if (MPI_SUCCESS != error) {
        mpix_endpoints_io_error_set(error);
        io_record_failure(file, error);
        *rc_p = OMPI_ERROR;
    } else {
        *rc_p = (ssize_t) mpix_endpoints_extent_count(file->f_io_array, file->f_num_of_io_entries,
                                                      extent.file_end);
    }
    return true;
}

static ssize_t io_read(ompio_file_t *file)
{
    const mca_fbtl_base_module_t *original = mpix_endpoints_module_original(file->f_fbtl);
    ssize_t rc;

    if (io_move(file, false, &rc)) {
        return rc;
    }
    errno = 0;
    return io_done(file, original->fbtl_preadv(file));
}

static ssize_t io_write(ompio_file_t *file)
{
    const mca_fbtl_base_module_t *original = mpix_endpoints_module_original(file->f_fbtl);
    ssize_t written;

    if (io_move(file, true, &written)) {
        return written;
    }
    errno = 0;
    written = original->fbtl_pwritev(file);
    return io_done(file, mpix_endpoints_is_endpoint_comm(file->f_comm)
                             ? mpix_endpoints_io_error_written(file, written)
                             : written);
}

static void io_replace(void *copy)
{
    mca_fbtl_base_module_t *module = copy;

    module->fbtl_preadv = io_read;
    module->fbtl_pwritev = io_write;
    /* A component without nonblocking calls stays so. */
    module->fbtl_ipreadv = NULL == module->fbtl_ipreadv ? NULL : io_begin_read;
    module->fbtl_ipwritev = NULL == module->fbtl_ipwritev ? NULL : io_begin_write;
}

void mpix_endpoints_io_session_begin(void)
{
    mpix_endpoints_lock_progress(mpix_endpoints_io_is_busy, mpix_endpoints_io_progress);
    /* Relaxed: no other thread is in MPI. */
    atomic_store_explicit(&is_entered, false, memory_order_relaxed);
    atomic_store_explicit(&pool_is_gone, atomic_load_explicit(&has_pool, memory_order_relaxed),
                          memory_order_relaxed);
}

bool mpix_endpoints_io_can_convert(void)
{
    return !atomic_load_explicit(&pool_is_gone, memory_order_relaxed); /* as in io_session */
}

void mpix_endpoints_io_register_progress(void)
{
    /* Relaxed: a thread may find it true shortly before it is registered. */
    if (!atomic_exchange_explicit(&is_entered, true, memory_order_relaxed)) {
        opal_progress_register(mpix_endpoints_io_progress);
    }
}

/* ---- the state of a file --------------------------------------------------------------------- */

static bool io_is_selected(const ompio_file_t *file)
{
    return NULL != file->f_fbtl && io_read == file->f_fbtl->fbtl_preadv;
}

mpix_endpoints_io_state_t *mpix_endpoints_io_state(const ompio_file_t *file)
{
    return io_is_selected(file) ? mpix_endpoints_module_copy_state(file->f_fbtl) : NULL;
}

bool mpix_endpoints_io_state_attach(ompio_file_t *file, mpix_endpoints_io_state_t *state)
{
    mca_fbtl_base_module_t *own = NULL;

    if (io_is_selected(file)) {
        own = mpix_endpoints_module_copy_private(file->f_fbtl, sizeof(*own), state);
    }
    if (NULL == own) {
        return false;
    }
    /* Relaxed: only the opening thread knows the state. */
    atomic_store_explicit(&state->failure, MPI_SUCCESS, memory_order_relaxed);
    file->f_fbtl = own;
    return true;
}

void mpix_endpoints_io_state_detach(ompio_file_t *file)
{
    file->f_fbtl = (mca_fbtl_base_module_t *) mpix_endpoints_module_copy_free(file->f_fbtl);
}

void mpix_endpoints_io_failure_clear(const ompio_file_t *file)
{
    /* Relaxed: parts of the call that follows are begun later by this thread. */
    atomic_store_explicit(&mpix_endpoints_io_state(file)->failure, MPI_SUCCESS,
                          memory_order_relaxed);
}

int mpix_endpoints_io_failure(const ompio_file_t *file)
{
    /* Sequentially consistent: after the requests were seen to be complete; partner:
     * io_record_failure. */
    return atomic_load_explicit(&mpix_endpoints_io_state(file)->failure, memory_order_seq_cst);
}

int mpix_endpoints_io_select(ompio_file_t *file)
{
    mca_fbtl_base_module_t *copy = mpix_endpoints_module_copy(file->f_fbtl, sizeof(*file->f_fbtl),
                                                              io_replace);

    pthread_once(&once, io_prepare);
    if (NULL == copy) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    file->f_fbtl = copy;
    return OMPI_SUCCESS;
}

#endif
