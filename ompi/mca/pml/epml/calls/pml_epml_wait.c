/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Waiting and testing.
 *
 * Open MPI's own wait parks all threads but one behind a process-wide progress engine.  Ours turns
 * the endpoint that a request belongs to, in the thread that waits for it, and leaves the
 * bookkeeping (statuses, persistent requests, errors, freeing) to Open MPI's functions, which find
 * the requests complete.  Lists without a request of ours go straight to Open MPI's functions, but
 * for the schedules of MPI_Comm_idup and MPI_Isendrecv, which would make threads park as well.  The
 * schedules of coll/libnbc do not tell; for them Open MPI waits, and its progress function progresses our
 * endpoints.  Spinning for them here has been tried: 2.0 instead of 2.1 us for an 8 byte
 * MPI_Iallreduce of two threads, and slower with more threads than cores.
 *
 * Tests: calls, cancel, looks, p2p_mixed, p2p_requests, p2p_sendrecv, progress, ulfm, ulfm_ack
 */

#include "ompi_config.h"

#include "../engine/engine.h"
#include "../loss/loss.h"
#include "../object/object.h"
#include "pml_epml_pending.h"
#include "pml_epml_acquire.h"
#include "pml_epml_wait.h"

#include <sched.h>

#include "ompi/communicator/comm_request.h"
#include "ompi/constants.h"
#include "opal/runtime/opal_progress.h"

static ompi_request_fns_t original;

/** Open MPI's functions.  A thread may have come here by the replaced table, which it has read like
 * any other memory. */
static inline const ompi_request_fns_t *wait_by_libmpi(void)
{
    /* Acquire: that look before ours at the originals; partner: the releases in
     * mca_pml_epml_wait_install. */
    atomic_thread_fence(memory_order_acquire);
    return &original;
}

/**
 * Is this the schedule of an MPI_Comm_idup?  Then it says of which communicator.
 *
 * Others of its kind (MPI_Isendrecv) do not, and are taken from the same free list: what stands
 * there is of an earlier life, of a communicator that may be gone.  They differ in the class of
 * what their steps work on.
 */
static __attribute__((noinline)) bool is_creation(const ompi_request_t *request)
{
    const opal_object_t *context = ((const ompi_comm_request_t *) request)->context;

    return NULL != context && 0 == strncmp(context->obj_class->cls_name, "ompi_comm_", 10);
}

/** Of a collective's schedule, or a communicator's: an endpoint's, and not about to be freed? */
static inline bool is_of_endpoint(const ompi_request_t *request)
{
    const ompi_communicator_t *comm = request->req_mpi_object.comm;

    return NULL != comm && mca_pml_epml_is_endpoint_comm(comm) && NULL != comm->c_pml_comm;
}

/** The schedule of a nonblocking collective on an endpoint communicator, of a request that is not
 * ours. */
static inline bool is_collective(const ompi_request_t *request)
{
    return OMPI_REQUEST_COLL == request->req_type && is_of_endpoint(request);
}

/** The endpoint whose progress a request needs, or NULL if it does not tell. */
static inline mca_pml_epml_ep_t *request_ep(const ompi_request_t *request)
{
    if (OPAL_LIKELY(mca_pml_epml_is_request(request))) {
        return ((const mca_pml_epml_request_t *) request)->ep;
    }
    if (mca_pml_epml_is_client_request(request)) {
        return ((const mca_pml_epml_client_request_t *) request)->ep;
    }
    if (is_collective(request)
        || (OMPI_REQUEST_COMM == request->req_type && is_creation(request)
            && is_of_endpoint(request))) {
        return mca_pml_epml_comm(request->req_mpi_object.comm)->ep;
    }
    return NULL;
}

/** Is a request waited for here?  Open MPI knows better for all others. */
static inline bool is_served(const ompi_request_t *request)
{
    return mca_pml_epml_is_request(request) || OMPI_REQUEST_COMM == request->req_type
           || NULL != request_ep(request);
}

/** One progress call for a request that is not through. */
static inline void turn_for_request(const ompi_request_t *request, mca_pml_epml_waiter_t *waiter)
{
    mca_pml_epml_ep_t *ep = request_ep(request);
    int events = NULL == ep ? 0 : mca_pml_epml_ep_poll(ep);

    if (OPAL_UNLIKELY(!mca_pml_epml_is_request(request)
                      && !mca_pml_epml_is_client_request(request))) {
        /* A schedule above our messages: it moves on in libmpi's progress, which also progresses
         * the endpoint of one that does not tell. */
        mca_pml_epml_process_progress();
    }
    mca_pml_epml_progressed(waiter, ep, events);
    if (mca_pml_epml_is_client_request(request) && 0 == events
        && mca_pml_epml_is_oversubscribed()) {
        sched_yield();
    }
}

/** See left_error.  Out of line: of requests that have failed. */
static __attribute__((noinline)) int left_error_of(ompi_request_t *request)
{
    if (mca_pml_epml_is_request(request)
        || (OMPI_REQUEST_WIN == request->req_type && mca_pml_epml_is_client_request(request))) {
        return request->req_status.MPI_ERROR;
    }
    if (!is_collective(request)) {
        return MPI_SUCCESS;
    }
    if (OMPI_ERROR == request->req_status.MPI_ERROR
        && mca_pml_epml_lost_member(mca_pml_epml_comm(request->req_mpi_object.comm))) {
        mca_pml_epml_comm_t *comm = mca_pml_epml_comm(request->req_mpi_object.comm);

        mca_pml_epml_lock(comm->ep);
        request->req_status.MPI_ERROR = mca_pml_epml_loss_error(comm);
        mca_pml_epml_unlock(comm->ep);
    }
    return request->req_status.MPI_ERROR;
}

/**
 * The error of a request that Open MPI's function has left in its list: persistent, or failed.
 *
 * A collective's may have to be put right.  Where rounds of a schedule follow each other at once,
 * coll/libnbc makes OMPI_ERROR of the error that a message of the last one had (NBC_Start_round),
 * which is MPI_ERR_OTHER to the user.  On a communicator with a lost member that is the reason.
 */
static inline int left_error(ompi_request_t *request)
{
    /* Complete, but this thread has not acquired it if only libmpi has looked. */
    return OPAL_LIKELY(!mca_pml_epml_is_complete(request)
                       || MPI_SUCCESS == request->req_status.MPI_ERROR)
               ? MPI_SUCCESS
               : left_error_of(request);
}

/**
 * What Open MPI's function returned, of a list.  On an error libmpi looks for the requests that
 * have one, frees them, and calls an error handler: the communicator's for the PML's and
 * collectives' requests, but that of MPI_COMM_WORLD for partitioned ones.  Ours pass for the former
 * in their last moment.
 */
static inline int wait_returned(int rc, size_t count, ompi_request_t **requests)
{
    for (size_t i = 0; OPAL_UNLIKELY(OMPI_SUCCESS != rc) && i < count; ++i) {
        if (MPI_SUCCESS != left_error(requests[i]) && mca_pml_epml_is_request(requests[i])
            && OMPI_REQUEST_PART == requests[i]->req_type) {
            requests[i]->req_type = EPML_REQUEST_TYPE;
        }
    }
    return rc;
}

/**
 * What Open MPI's function returned, of a list whose requests are all complete: MPI_Waitall with
 * statuses, and MPI_Testall, overlook the errors of persistent requests, which would pass for
 * success, whatever the error handler; from 6.0 on MPI_Waitall without statuses does, too.
 */
static inline int returned_all(int rc, size_t count, ompi_request_t **requests,
                               ompi_status_public_t *statuses)
{
    for (size_t i = 0; i < count; ++i) {
        const int error = left_error(requests[i]);

        if (OPAL_UNLIKELY(MPI_SUCCESS != error)) {
            if (MPI_STATUSES_IGNORE != statuses) {
                statuses[i].MPI_ERROR = error;
                rc = OMPI_SUCCESS == rc ? MPI_ERR_IN_STATUS : rc;
            } else if (OMPI_SUCCESS == rc || MPI_ERR_IN_STATUS == rc) {
                /* Open MPI's collectives return the code as it is: MPI_ERR_PROC_FAILED, for one. */
                rc = error;
            }
        }
    }
    return wait_returned(rc, count, requests);
}

/** What Open MPI's function returned, of a list of which it has seen some off. */
static inline int returned_some(int rc, size_t count, ompi_request_t **requests, int seen_off,
                                const int *indices, ompi_status_public_t *statuses)
{
    for (int i = 0; OPAL_UNLIKELY(OMPI_SUCCESS != rc) && i < seen_off; ++i) {
        const int error = left_error(requests[indices[i]]);

        if (MPI_SUCCESS != error && MPI_STATUSES_IGNORE != statuses) {
            statuses[i].MPI_ERROR = error;
        }
    }
    return wait_returned(rc, count, requests);
}

/** Before a list is seen off, in which all will be inactive: an inactive persistent collective may
 * still have the error of its memory's earlier user, which must not be taken for one of its own. */
static inline void forget_old_errors(size_t count, ompi_request_t **requests)
{
    for (size_t i = 0; i < count; ++i) {
        if (OMPI_REQUEST_INACTIVE == requests[i]->req_state
            && OMPI_REQUEST_COLL == requests[i]->req_type) {
            requests[i]->req_status.MPI_ERROR = MPI_SUCCESS;
        }
    }
}

/** Turns in which nothing has come between looks at what a loss blocks. */
#define PENDING_LONG 64

/** Does a request of a list wait for the acknowledgement of a loss, not for a message? */
static __attribute__((noinline)) bool find_pending(size_t count, ompi_request_t **requests)
{
    for (size_t i = 0; i < count; ++i) {
        if (!mca_pml_epml_is_through(requests[i]) && mca_pml_epml_pending(requests[i])) {
            return true;
        }
    }
    return false;
}

/** Likewise, looked at now and then. */
static inline bool is_pending(size_t count, ompi_request_t **requests,
                              const mca_pml_epml_waiter_t *waiter)
{
    return OPAL_UNLIKELY(0 == waiter->idle % PENDING_LONG) && 0 != waiter->idle
           && find_pending(count, requests);
}

static int epml_wait(ompi_request_t **request, ompi_status_public_t *status)
{
    if (!mca_pml_epml_is_through(*request) && is_served(*request)) {
        mca_pml_epml_waiter_t waiter = {0};

        do {
            turn_for_request(*request, &waiter);
        } while (!mca_pml_epml_is_through(*request) && !is_pending(1, request, &waiter));
        mca_pml_epml_wait_over(&waiter);
    }
    return wait_returned(wait_by_libmpi()->req_wait(request, status), 1, request);
}

/** Wait for all requests of a list that need progress of an endpoint, then let Open MPI finish. */
static __attribute__((noinline)) int wait_all_any(size_t count, ompi_request_t **requests,
                                                  ompi_status_public_t *statuses)
{
    mca_pml_epml_waiter_t waiter = {0};
    bool pending = false; /* then Open MPI looks at the list as it is */

    /* In order: while one is waited for, the others of its endpoint make progress too. */
    for (size_t i = 0; i < count && !pending; ++i) {
        if (!mca_pml_epml_is_through(requests[i]) && is_served(requests[i])) {
            do {
                turn_for_request(requests[i], &waiter);
                pending = is_pending(count - i, &requests[i], &waiter);
            } while (!mca_pml_epml_is_through(requests[i]) && !pending);
        }
    }
    mca_pml_epml_wait_over(&waiter);
    forget_old_errors(count, requests);
    return returned_all(wait_by_libmpi()->req_wait_all(count, requests, statuses), count, requests,
                        statuses);
}

/** See a complete request off: ours, used once, without error.  Under its endpoint's lock, but for
 * its communicator, which may have to be released without it.
 * @return whether the lock is still held */
static inline bool finish_locked(mca_pml_epml_request_t *request, mca_pml_epml_ep_t *ep)
{
    ompi_communicator_t *comm = mca_pml_epml_request_finish(request);

    if (OPAL_LIKELY(NULL == comm)) {
        return true;
    }
    mca_pml_epml_unlock(ep);
    mca_pml_epml_check_outside();
    OBJ_RELEASE(comm);
    return false;
}

/**
 * Requests of ours that are complete and have nothing special are finished here, one after the
 * other, with the lock taken once for adjacent requests.  From the first other one on the list
 * is wait_all_any's; those before it are MPI_REQUEST_NULL by then, with their statuses set.
 */
static int epml_wait_all(size_t count, ompi_request_t **requests, ompi_status_public_t *statuses)
{
    mca_pml_epml_waiter_t waiter = {0};
    mca_pml_epml_ep_t *locked = NULL;
    size_t i;

    for (i = 0; i < count; ++i) {
        mca_pml_epml_request_t *request = (mca_pml_epml_request_t *) requests[i];

        if (EPML_REQUEST_EMPTY_SEND == requests[i]) {
            if (MPI_STATUSES_IGNORE != statuses) {
                OMPI_COPY_STATUS(&statuses[i], requests[i]->req_status, true);
            }
            requests[i] = MPI_REQUEST_NULL;
            continue;
        }
        if (!mca_pml_epml_is_request(requests[i]) || requests[i]->req_persistent) {
            break;
        }
        if (!mca_pml_epml_is_complete(requests[i])) {
            if (NULL != locked) {
                mca_pml_epml_unlock(locked);
                locked = NULL;
            }
            do {
                turn_for_request(requests[i], &waiter);
            } while (!mca_pml_epml_is_complete(requests[i])
                     && !is_pending(count - i, &requests[i], &waiter));
            if (OPAL_UNLIKELY(!mca_pml_epml_is_complete(requests[i]))) {
                break;
            }
        }
        if (OPAL_UNLIKELY(MPI_SUCCESS != requests[i]->req_status.MPI_ERROR)) {
            break;
        }
        if (locked != request->ep) {
            if (NULL != locked) {
                mca_pml_epml_unlock(locked);
            }
            locked = request->ep;
            mca_pml_epml_lock(locked);
        }
        if (MPI_STATUSES_IGNORE != statuses) {
            OMPI_COPY_STATUS(&statuses[i], requests[i]->req_status, true);
        }
        requests[i] = MPI_REQUEST_NULL;
        if (!finish_locked(request, locked)) {
            locked = NULL;
        }
    }
    if (NULL != locked) {
        mca_pml_epml_unlock(locked);
    }
    mca_pml_epml_wait_over(&waiter);
    return i == count
               ? OMPI_SUCCESS
               : wait_all_any(count - i, &requests[i],
                              MPI_STATUSES_IGNORE == statuses ? MPI_STATUSES_IGNORE : &statuses[i]);
}

#define NONE EPML_SEEN_NONE

/** The first complete active request of a list, or NONE.
 * @param[out] ours_p  does the list up to there hold a request that an endpoint must be
 * turned for? */
static size_t first_complete(size_t count, ompi_request_t **requests, bool *ours_p)
{
    *ours_p = false;
    for (size_t i = 0; i < count; ++i) {
        if (OMPI_REQUEST_INACTIVE == requests[i]->req_state) {
            continue;
        }
        if (mca_pml_epml_is_complete(requests[i])) {
            return i;
        }
        *ours_p = *ours_p || is_served(requests[i]);
    }
    return NONE;
}

/** Turn the endpoints of a list, each once if adjacent requests share it.
 * @return number of events */
static inline int turn_list(size_t count, ompi_request_t **requests,
                            int (*poll)(mca_pml_epml_ep_t *ep))
{
    mca_pml_epml_ep_t *last = NULL;
    int events = 0;

    for (size_t i = 0; i < count; ++i) {
        mca_pml_epml_ep_t *ep;

        if (mca_pml_epml_is_through(requests[i]) || NULL == (ep = request_ep(requests[i]))
            || ep == last) {
            continue;
        }
        events += poll(ep);
        last = ep;
    }
    return events;
}

/** Wait until a request of the list is complete, or one of Open MPI's has failed.
 * @return its index; NONE: the list holds no request of ours, Open MPI's functions may wait */
static size_t wait_for_one(size_t count, ompi_request_t **requests)
{
    mca_pml_epml_waiter_t waiter = {0};
    bool ours;
    size_t found = first_complete(count, requests, &ours);

    if (NONE != found && mca_pml_epml_tested(true)) {
        /* One that is always complete when asked must not keep the others from it for ever. */
        (void) turn_list(count, requests, mca_pml_epml_ep_poll);
    }
    while (NONE == found && ours) {
        const int events = turn_list(count, requests, mca_pml_epml_ep_poll);

        if (0 == events && mca_pml_epml_acquire_needs_libmpi(count, requests)) {
            mca_pml_epml_process_progress();
        }
        mca_pml_epml_progressed(&waiter, NULL, events);
        found = first_complete(count, requests, &ours);
        if (NONE == found && 0 == events) {
            found = mca_pml_epml_acquire_failed(count, requests);
        }
    }
    mca_pml_epml_wait_over(&waiter);
    return found;
}

/* Of a list with a complete request Open MPI's functions are given that request alone, or asked to
 * test: so they never put a synchronization object into one of ours. */

static int epml_wait_any(size_t count, ompi_request_t **requests, int *index,
                         ompi_status_public_t *status)
{
    size_t found = wait_for_one(count, requests);

    if (NONE == found) {
        return wait_by_libmpi()->req_wait_any(count, requests, index, status);
    }
    *index = (int) found;
    return wait_returned(wait_by_libmpi()->req_wait(&requests[found], status), count, requests);
}

static int epml_wait_some(size_t count, ompi_request_t **requests, int *outcount, int *indices,
                          ompi_status_public_t *statuses)
{
    int rc;

    if (NONE == wait_for_one(count, requests)) {
        return wait_by_libmpi()->req_wait_some(count, requests, outcount, indices, statuses);
    }
    rc = mca_pml_epml_acquire_test_some(wait_by_libmpi(), count, requests, outcount, indices,
                                        statuses);
    return returned_some(rc, count, requests, *outcount, indices, statuses);
}

/** Turns for a test of one request. */
static void test_turn(const ompi_request_t *request)
{
    mca_pml_epml_ep_t *ep = request_ep(request);

    for (int calls = 0; NULL != ep && calls < EPML_TEST_CALLS; ++calls) {
        if (0 == mca_pml_epml_ep_poll_patiently(ep) || mca_pml_epml_is_through(request)) {
            return;
        }
    }
}

/** Turns for a test of a list.  Afterwards the process gets its chance, which libmpi's functions
 * give it only if they find nothing complete. */
static void test_turn_list(size_t count, ompi_request_t **requests)
{
    int events = 0, more = 1;

    for (int calls = 0; 0 < more && calls < EPML_TEST_CALLS; ++calls) {
        bool ours;

        if (0 < calls && NONE != first_complete(count, requests, &ours)) {
            break;
        }
        more = turn_list(count, requests, mca_pml_epml_ep_poll_patiently);
        events += more;
    }
    (void) mca_pml_epml_tested(0 < events);
}

static int epml_test(ompi_request_t **request, int *completed, ompi_status_public_t *status)
{
    int rc;

    if (!mca_pml_epml_is_through(*request)) {
        test_turn(*request);
        if ((mca_pml_epml_is_request(*request) || mca_pml_epml_is_client_request(*request))
            && !mca_pml_epml_is_through(*request) && !mca_pml_epml_pending(*request)) {
            *completed = 0;
            (void) mca_pml_epml_tested(false);
            return OMPI_SUCCESS;
        }
    }
    rc = wait_returned(mca_pml_epml_acquire_test(wait_by_libmpi(), request, completed, status), 1,
                       request);
    if (OMPI_SUCCESS == rc && !*completed) {
        (void) mca_pml_epml_tested(false);
    }
    return rc;
}

static int epml_test_any(size_t count, ompi_request_t **requests, int *index, int *completed,
                         ompi_status_public_t *status)
{
    int rc;

    test_turn_list(count, requests);
    rc = mca_pml_epml_acquire_test_any(wait_by_libmpi(), count, requests, index, completed, status);
    if (OMPI_SUCCESS == rc && *completed && MPI_UNDEFINED != *index) {
        rc = left_error(requests[*index]); /* overlooked, as in returned_all */
    }
    return wait_returned(rc, count, requests);
}

static int epml_test_all(size_t count, ompi_request_t **requests, int *completed,
                         ompi_status_public_t *statuses)
{
    int rc;

    test_turn_list(count, requests);
    forget_old_errors(count, requests);
    rc = mca_pml_epml_acquire_test_all(wait_by_libmpi(), count, requests, completed, statuses);
    return *completed ? returned_all(rc, count, requests, statuses) : rc;
}

static int epml_test_some(size_t count, ompi_request_t **requests, int *outcount, int *indices,
                          ompi_status_public_t *statuses)
{
    int rc;

    test_turn_list(count, requests);
    rc = mca_pml_epml_acquire_test_some(wait_by_libmpi(), count, requests, outcount, indices,
                                        statuses);
    return returned_some(rc, count, requests, *outcount, indices, statuses);
}

/** Put a function into libmpi's table, which other threads may be calling through: either function
 * serves all requests.  Release pairs with the acquire in wait_by_libmpi(): the originals before
 * it. */
#define INSTALL(name, function) \
    __atomic_store_n(&ompi_request_functions.name, function, __ATOMIC_RELEASE)

/* The first endpoint is being created, there is no request of ours yet. */
void mca_pml_epml_wait_install(void)
{
    original = ompi_request_functions;
    INSTALL(req_test, epml_test);
    INSTALL(req_test_any, epml_test_any);
    INSTALL(req_test_all, epml_test_all);
    INSTALL(req_test_some, epml_test_some);
    INSTALL(req_wait, epml_wait);
    INSTALL(req_wait_any, epml_wait_any);
    INSTALL(req_wait_all, epml_wait_all);
    INSTALL(req_wait_some, epml_wait_some);
}

void mca_pml_epml_wait_remove(void)
{
    ompi_request_functions = original;
}
