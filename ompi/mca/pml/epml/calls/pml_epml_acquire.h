/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What is complete, and seen to be.
 *
 * The thread that completes a request writes its status first and then the flag, with release.
 * Open MPI's functions that test look at the flag by a plain load and read the status at once,
 * without a barrier between the two: a machine that may load out of order (every one but x86 and
 * SPARC) may then have read the status before it was written.  So of a request that may be
 * completed by another thread at this moment they are returned only when this thread has acquired
 * its flag.
 */

#ifndef MCA_PML_EPML_ACQUIRE_H
#define MCA_PML_EPML_ACQUIRE_H

#include "ompi_config.h"

#include "ompi/request/request.h"

BEGIN_C_DECLS

/** Open MPI's flag is no atomic type, but is written as one, here and there. */
static inline bool mca_pml_epml_is_complete(const ompi_request_t *request)
{
    /* Acquire: orders the flag before the data and the status; partners: the store in
     * mca_pml_epml_request_complete (pml_epml_request_inline.h), and Open MPI's swap. */
    return REQUEST_COMPLETED
           == __atomic_load_n((void *const *) &request->req_complete, __ATOMIC_ACQUIRE);
}

/** Complete or inactive: nothing to wait for. */
static inline bool mca_pml_epml_is_through(const ompi_request_t *request)
{
    return mca_pml_epml_is_complete(request) || OMPI_REQUEST_INACTIVE == request->req_state;
}

#define EPML_SEEN_NONE SIZE_MAX

/** Does a list have a request that is not through, and that only libmpi's progress completes?  Those
 * of endpoints and of clients need progress of their endpoint, no more. */
bool mca_pml_epml_acquire_needs_libmpi(size_t count, ompi_request_t **requests);

/** The first request of a list, not complete so far, that fails here and now: with its fault
 * tolerance on Open MPI ends requests of its own that wait for a failed process when it is asked
 * for them.  It is complete then, or, where it is one from MPI_ANY_SOURCE, be it of an endpoint,
 * active, and has MPI_ERR_PROC_FAILED_PENDING; Open MPI's functions of one request know what to do
 * with either.
 * @return EPML_SEEN_NONE: there is none */
size_t mca_pml_epml_acquire_failed(size_t count, ompi_request_t **requests);

/** As the functions of a table of Open MPI's (libmpi) with the same parameters, but each status is
 * read behind an acquire of its request's flag. */
int mca_pml_epml_acquire_test(const ompi_request_fns_t *libmpi, ompi_request_t **request,
                              int *completed, ompi_status_public_t *status);
int mca_pml_epml_acquire_test_any(const ompi_request_fns_t *libmpi, size_t count,
                                  ompi_request_t **requests, int *index, int *completed,
                                  ompi_status_public_t *status);
int mca_pml_epml_acquire_test_all(const ompi_request_fns_t *libmpi, size_t count,
                                  ompi_request_t **requests, int *completed,
                                  ompi_status_public_t *statuses);
int mca_pml_epml_acquire_test_some(const ompi_request_fns_t *libmpi, size_t count,
                                   ompi_request_t **requests, int *outcount, int *indices,
                                   ompi_status_public_t *statuses);

END_C_DECLS

#endif /* MCA_PML_EPML_ACQUIRE_H */
