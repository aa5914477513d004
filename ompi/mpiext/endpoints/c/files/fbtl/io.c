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
 * Requests of files: nonblocking reads and writes, which the C library carries out in threads of
 * its own, and of which somebody has to see that they have ended.
 *
 * ompio has one list of them in a process, without a lock; a request is in it before it is begun,
 * and until it is freed.  Here a request is taken out of that list as soon as it has been made,
 * under a lock that all of that list's users take then, and enters ours when it has been begun,
 * whole and with its functions.  Who looks after it takes it out of the list meanwhile: so no lock
 * is held while ompio's function runs, which may have to wait for a part of the file that another
 * request of this process has locked (locks.c).
 *
 * This is for processes as well as for endpoints: the list is one, and whoever waits in libmpi
 * looks after all of it.
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
static opal_list_t begun;   /**< requests that nobody looks after at the moment */
static opal_list_t *ompios; /**< ompio's list, empty but for moments */
static int (*ompios_free)(ompi_request_t **request);

static _Atomic int under_way; /**< begun and not ended, looked after or not */

/* Of the present session: by the thread that begins it, before there are endpoints. */
static _Atomic bool is_entered;   /**< libmpi's progress has our function */
static _Atomic bool has_pool;     /**< ompio has made its pool, in this session or in another */
static _Atomic bool pool_is_gone; /**< ompio has freed it with an earlier session */

/**
 * And what ompio makes at first use: its pool of buffers for data that is converted.  Of two
 * threads that are first at the same time one finds it begun, and takes it for ready.
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
    /* Relaxed: read when the next session begins, by a thread that has seen this one end. */
    atomic_store_explicit(&has_pool, true, memory_order_relaxed);
}

/** Is a request under way, which its owner may have given up by then? */
static bool is_begun(const mca_ompio_request_t *req)
{
#    if OMPI_MAJOR_VERSION >= 6
    return NULL != req->req_progress_fn || 0 < req->req_num_subreqs;
#    else
    return NULL != req->req_progress_fn;
#    endif
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

    while (is_begun(req) && !is_ended(req)) {
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
    (*req_p)->req_ompi.req_status._ucount = 0; /* 6.0 adds the parts' to whatever it is */
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

/** The file of a request of endpoints, or NULL. */
static ompio_file_t *file_of(const mca_ompio_request_t *req)
{
    const ompi_file_t *handle = req->req_ompi.req_mpi_object.file;

    return NULL == handle ? NULL : mpix_endpoints_ompio_file(handle);
}

/** A read or a write of a file has failed.  Any thread.  @param[in] class  an MPI class */
static void record_failure(const ompio_file_t *file, int class)
{
    mpix_endpoints_io_state_t *state = mpix_endpoints_io_state(file);

    if (NULL != state) {
        /* Sequentially consistent: before the request is completed, which a thread that waits for
         * it reads before the failure; partner: mpix_endpoints_io_failure. */
        atomic_store_explicit(&state->failure, class, memory_order_seq_cst);
    }
}

/** A request has failed.  @param[in] class  what it says */
static void fail(mca_ompio_request_t *req, int class)
{
    req->req_ompi.req_status.MPI_ERROR = class;
    if (NULL != file_of(req)) {
        record_failure(file_of(req), class);
    }
}

#    if OMPI_MAJOR_VERSION >= 6

/* 6.0 has requests below a request whose data are converted: one for each buffer full of them,
 * which begins the next one when it has ended.  The user's own is in no list then, and has no
 * functions. */

static bool is_through(mca_ompio_request_t *req)
{
    if (!req->req_post_followup) {
        mpix_endpoints_posix_look(req);
        req->req_post_followup = req->req_progress_fn(req);
    }
    return req->req_post_followup;
}

/** A part could not be begun: the whole is told of it when somebody looks after it. */
static void give_up(mca_ompio_request_t *req)
{
    req->req_post_followup = true;
}

/** A part has ended.  The next one is begun with the file's own fields, so by whoever has the file.
 * @return 1: the whole has ended; 0: it goes on; -1: somebody else has the file */
static int end_part(mca_ompio_request_t *req)
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
    OPAL_THREAD_UNLOCK(of_file); /* whoever ends the next part may end the whole */
    ompi_request_complete(part, false);
    (void) part->req_free(&part);
    if (goes_on) {
        return 0;
    }
    whole->req_ompi.req_status.MPI_ERROR = error;
    ompi_request_complete(&whole->req_ompi, true);
    return 1;
}

static bool is_part(const mca_ompio_request_t *req)
{
    return NULL != req->req_parent;
}

#    else

static bool is_through(mca_ompio_request_t *req)
{
    mpix_endpoints_posix_look(req);
    return req->req_progress_fn(req);
}

static void give_up(mca_ompio_request_t *req)
{
    (void) req;
}

static int end_part(mca_ompio_request_t *req)
{
    (void) req;
    return 1;
}

static bool is_part(const mca_ompio_request_t *req)
{
    (void) req;
    return false;
}

#    endif

/** A request is through.  @return 1: it has ended, and may be gone; else as end_part */
static int end(mca_ompio_request_t *req)
{
    /* ompio says no more than that it has failed; where it could not be begun its reason is
     * known. */
    if (OMPI_ERROR == req->req_ompi.req_status.MPI_ERROR) {
        mpix_endpoints_posix_stop(req);
        fail(req,
             NULL == file_of(req) ? MPI_ERR_IO : mpix_endpoints_reasons_request(file_of(req), req));
    }
    if (is_part(req)) {
        return end_part(req);
    }
    ompi_request_complete(&req->req_ompi, true);
    return 1;
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
        int has_ended;

        if (NULL == req) {
            break;
        }
        has_ended = is_through(req) ? end(req) : -1;
        if (0 > has_ended) {
            put(req);
            continue;
        }
        /* Relaxed, as above. */
        atomic_fetch_sub_explicit(&under_way, 1, memory_order_relaxed);
        ended += has_ended;
    }
    return ended;
}

/** A request has been begun, or could not be: then it has ended, or its owner would wait for ever.
 * Where ompio does not tell its file, and it never does, libmpi looks for the error handler of
 * none, and crashes. */
static ssize_t began(ompio_file_t *file, ompi_request_t *request, ssize_t rc)
{
    mca_ompio_request_t *req = (mca_ompio_request_t *) request;

    if (mpix_endpoints_is_endpoint_comm(file->f_comm)) {
        request->req_mpi_object.file = file->f_fh;
    }
    if (NULL == req->req_progress_fn) {
        request->req_status._ucount = 0;
        fail(req, mpix_endpoints_reasons_class(errno));
        if (!is_part(req)) {
            ompi_request_complete(request, true);
            return rc;
        }
        give_up(req);
    }
    atomic_fetch_add_explicit(&under_way, 1, memory_order_relaxed); /* as above */
    put(req);
    return rc;
}

static ssize_t begin_read(ompio_file_t *file, ompi_request_t *request)
{
    const mca_fbtl_base_module_t *original = mpix_endpoints_copied(file->f_fbtl);

    errno = 0;
    return began(file, request, original->fbtl_ipreadv(file, request));
}

static ssize_t begin_write(ompio_file_t *file, ompi_request_t *request)
{
    const mca_fbtl_base_module_t *original = mpix_endpoints_copied(file->f_fbtl);

    errno = 0;
    return began(file, request, original->fbtl_ipwritev(file, request));
}

/** What the system says of a read or a write that has failed. */
static ssize_t done(const ompio_file_t *file, ssize_t rc)
{
    if (0 > rc) {
        record_failure(file, mpix_endpoints_reasons_failed(errno));
    }
    return rc;
}

/**
 * By the system's calls alone, in one go: without the locks that ompio takes of parts of the file,
 * or looks whether to take, at each; and whole, where the system moves less than it was asked to.
 *
 * @param[out] rc_p  bytes, or OMPI_ERROR
 * @return false: it is ompio's to do
 */
static bool move_now(ompio_file_t *file, bool writes, ssize_t *rc_p)
{
    const mpix_endpoints_io_state_t *state = mpix_endpoints_io_state(file);
    mpix_endpoints_run_t run;
    int error;

    if (0 != file->f_atomicity || NULL == file->f_io_array || !mpix_endpoints_run_can_be(file)
        || NULL == state || mpix_endpoints_run_locks(file, state->is_on_node)) {
        return false;
    }
    mpix_endpoints_run_begin(&run, file, writes, false);
    for (int i = 0; i < file->f_num_of_io_entries; ++i) {
        const mca_common_ompio_io_array_t *piece = &file->f_io_array[i];

        mpix_endpoints_run_add(&run, (int64_t) (intptr_t) piece->offset, piece->memory_address,
                               piece->length);
    }
    error = mpix_endpoints_run_end(&run);
    if (MPI_SUCCESS != error) {
        mpix_endpoints_reasons_keep(error);
        record_failure(file, error);
        *rc_p = OMPI_ERROR;
    } else {
        *rc_p = (ssize_t) mpix_endpoints_run_count(file->f_io_array, file->f_num_of_io_entries,
                                                   run.file_end);
    }
    return true;
}

static ssize_t read_now(ompio_file_t *file)
{
    const mca_fbtl_base_module_t *original = mpix_endpoints_copied(file->f_fbtl);
    ssize_t rc;

    if (move_now(file, false, &rc)) {
        return rc;
    }
    errno = 0;
    return done(file, original->fbtl_preadv(file));
}

static ssize_t write_now(ompio_file_t *file)
{
    const mca_fbtl_base_module_t *original = mpix_endpoints_copied(file->f_fbtl);
    ssize_t written;

    if (move_now(file, true, &written)) {
        return written;
    }
    errno = 0;
    written = original->fbtl_pwritev(file);
    return done(file, mpix_endpoints_is_endpoint_comm(file->f_comm)
                          ? mpix_endpoints_reasons_written(file, written)
                          : written);
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

void mpix_endpoints_io_session(void)
{
    mpix_endpoints_files_lock_progress(mpix_endpoints_io_is_busy, mpix_endpoints_io_progress);
    /* Relaxed: nobody else is in MPI. */
    atomic_store_explicit(&is_entered, false, memory_order_relaxed);
    atomic_store_explicit(&pool_is_gone, atomic_load_explicit(&has_pool, memory_order_relaxed),
                          memory_order_relaxed);
}

bool mpix_endpoints_io_can_convert(void)
{
    return !atomic_load_explicit(&pool_is_gone, memory_order_relaxed); /* as in io_session */
}

void mpix_endpoints_io_enter_progress(void)
{
    /* Relaxed: who finds it true may be before the one who enters it, but not for long. */
    if (!atomic_exchange_explicit(&is_entered, true, memory_order_relaxed)) {
        opal_progress_register(mpix_endpoints_io_progress);
    }
}

/* ---- the state of a file --------------------------------------------------------------------- */

static bool is_taken(const ompio_file_t *file)
{
    return NULL != file->f_fbtl && read_now == file->f_fbtl->fbtl_preadv;
}

mpix_endpoints_io_state_t *mpix_endpoints_io_state(const ompio_file_t *file)
{
    return is_taken(file) ? mpix_endpoints_copy_kept(file->f_fbtl) : NULL;
}

bool mpix_endpoints_io_state_attach(ompio_file_t *file, mpix_endpoints_io_state_t *state)
{
    mca_fbtl_base_module_t *own = NULL;

    if (is_taken(file)) {
        own = mpix_endpoints_copy_own(file->f_fbtl, sizeof(*own), state);
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
    file->f_fbtl = (mca_fbtl_base_module_t *) mpix_endpoints_copy_free(file->f_fbtl);
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
     * record_failure. */
    return atomic_load_explicit(&mpix_endpoints_io_state(file)->failure, memory_order_seq_cst);
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
