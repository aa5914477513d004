/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Testing by Open MPI's functions, of what has been seen to be complete: pml_epml_acquire.h.
 *
 * They are given requests that are through, and those alone; what is not yet when they would look
 * is the next call's.  Where none is, but some need it, libmpi's progress is called, as they would,
 * and then it is asked for those of its own that have failed.
 *
 * Tests: looks, model/completion, p2p_requests, ulfm
 */

#include "ompi_config.h"

#include "../object/object.h"
#include "pml_epml_acquire.h"

#include "ompi/constants.h"
#if OPAL_ENABLE_FT_MPI
#    include "ompi/runtime/params.h"
#endif
#include "opal/runtime/opal_progress.h"

bool mca_pml_epml_acquire_needs_libmpi(size_t count, ompi_request_t **requests)
{
    for (size_t i = 0; i < count; ++i) {
        if (!mca_pml_epml_is_request(requests[i]) && !mca_pml_epml_is_client_request(requests[i])
            && !mca_pml_epml_is_through(requests[i])) {
            return true;
        }
    }
    return false;
}

/** Before a list of which nothing is complete is looked at again. */
static inline void progress_libmpi(size_t count, ompi_request_t **requests)
{
    if (mca_pml_epml_acquire_needs_libmpi(count, requests)) {
        (void) opal_progress();
    }
}

size_t mca_pml_epml_acquire_failed(size_t count, ompi_request_t **requests)
{
#if OPAL_ENABLE_FT_MPI
    for (size_t i = 0; ompi_ftmpi_enabled && i < count; ++i) {
        if (!mca_pml_epml_is_through(requests[i]) && ompi_request_is_failed_fn(requests[i])) {
            return i;
        }
    }
#else
    (void) count;
    (void) requests;
#endif
    return EPML_SEEN_NONE;
}

int mca_pml_epml_acquire_test(const ompi_request_fns_t *libmpi, ompi_request_t **request,
                              int *completed, ompi_status_public_t *status)
{
    if (!mca_pml_epml_is_through(*request)) {
        (void) opal_progress();
        if (!mca_pml_epml_is_through(*request)
            && EPML_SEEN_NONE == mca_pml_epml_acquire_failed(1, request)) {
            *completed = 0;
            return OMPI_SUCCESS;
        }
    }
    return libmpi->req_test(request, completed, status);
}

int mca_pml_epml_acquire_test_any(const ompi_request_fns_t *libmpi, size_t count,
                                  ompi_request_t **requests, int *index, int *completed,
                                  ompi_status_public_t *status)
{
    bool active = false;
    size_t failed;

    for (size_t i = 0; i < count; ++i) {
        if (OMPI_REQUEST_INACTIVE == requests[i]->req_state) {
            continue;
        }
        if (mca_pml_epml_is_complete(requests[i])) {
            *index = (int) i;
            return libmpi->req_test(&requests[i], completed, status);
        }
        active = true;
    }
    if (!active) {
        return libmpi->req_test_any(count, requests, index, completed, status);
    }
    progress_libmpi(count, requests);
    failed = mca_pml_epml_acquire_failed(count, requests);
    if (OPAL_UNLIKELY(EPML_SEEN_NONE != failed)) {
        *index = (int) failed;
        return libmpi->req_test(&requests[failed], completed, status);
    }
    *index = MPI_UNDEFINED;
    *completed = 0;
    return OMPI_SUCCESS;
}

/** @return whether all requests of a list are through */
static bool all_through(size_t count, ompi_request_t **requests)
{
    for (size_t i = 0; i < count; ++i) {
        if (!mca_pml_epml_is_through(requests[i])) {
            return false;
        }
    }
    return true;
}

int mca_pml_epml_acquire_test_all(const ompi_request_fns_t *libmpi, size_t count,
                                  ompi_request_t **requests, int *completed,
                                  ompi_status_public_t *statuses)
{
    if (!all_through(count, requests)) {
        size_t failed;

        progress_libmpi(count, requests);
        failed = mca_pml_epml_acquire_failed(count, requests);
        if (OPAL_UNLIKELY(EPML_SEEN_NONE != failed && !mca_pml_epml_is_through(requests[failed]))) {
            return libmpi->req_test_all(1, &requests[failed], completed,
                                        MPI_STATUSES_IGNORE == statuses ? MPI_STATUSES_IGNORE
                                                                        : &statuses[failed]);
        }
        if (!all_through(count, requests)) {
            *completed = 0;
            return OMPI_SUCCESS;
        }
    }
    return libmpi->req_test_all(count, requests, completed, statuses);
}

/** How many requests of a list, from its beginning on, are through; the next one is not.
 * @param[out] active_p  is any of them not inactive? */
static size_t run_through(size_t count, ompi_request_t **requests, bool *active_p)
{
    size_t i;

    *active_p = false;
    for (i = 0; i < count && mca_pml_epml_is_through(requests[i]); ++i) {
        *active_p = *active_p || OMPI_REQUEST_INACTIVE != requests[i]->req_state;
    }
    return i;
}

int mca_pml_epml_acquire_test_some(const ompi_request_fns_t *libmpi, size_t count,
                                   ompi_request_t **requests, int *outcount, int *indices,
                                   ompi_status_public_t *statuses)
{
    int done = 0, result = OMPI_SUCCESS;
    bool any_active = false;
    size_t length;

    /* Run by run of those that are through; between two of them is one that is not. */
    for (size_t first = 0; first < count; first += length + 1) {
        bool active;

        length = run_through(count - first, &requests[first], &active);
        if (active) {
            int seen = 0;
            const int rc = libmpi->req_test_some(length, &requests[first], &seen, &indices[done],
                                                 MPI_STATUSES_IGNORE == statuses
                                                     ? MPI_STATUSES_IGNORE
                                                     : &statuses[done]);

            for (int i = 0; i < seen; ++i) {
                indices[done + i] += (int) first;
            }
            done += seen;
            result = OMPI_SUCCESS == rc ? result : rc;
        }
        any_active = any_active || active || first + length < count;
    }
    if (!any_active) {
        *outcount = MPI_UNDEFINED;
        return OMPI_SUCCESS;
    }
    if (0 == done) {
        size_t failed;

        progress_libmpi(count, requests);
        failed = mca_pml_epml_acquire_failed(count, requests);
        if (OPAL_UNLIKELY(EPML_SEEN_NONE != failed)) {
            result = libmpi->req_test_some(1, &requests[failed], &done, indices, statuses);
            indices[0] = (int) failed;
        }
    }
    *outcount = done;
    return result;
}
