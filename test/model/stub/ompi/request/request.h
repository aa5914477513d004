/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/** @file Of Open MPI's requests, what pml_epml_acquire.c needs. */

#ifndef MODEL_STUB_REQUEST_H
#define MODEL_STUB_REQUEST_H

#include "opal_config.h"

#define REQUEST_PENDING ((void *) 0)
#define REQUEST_COMPLETED ((void *) 1)
#define MPI_STATUSES_IGNORE ((ompi_status_public_t *) 0)
#define MPI_UNDEFINED (-32766)

enum { OMPI_REQUEST_INACTIVE, OMPI_REQUEST_ACTIVE };

typedef struct ompi_status_public_t {
    int64_t MPI_TAG;
} ompi_status_public_t;

typedef struct ompi_request_t {
    void *req_complete;
    int64_t req_state;
    ompi_status_public_t req_status;
} ompi_request_t;

typedef struct ompi_request_fns_t {
    int (*req_test)(ompi_request_t **request, int *completed, ompi_status_public_t *status);
    int (*req_test_any)(size_t count, ompi_request_t **requests, int *index, int *completed,
                        ompi_status_public_t *status);
    int (*req_test_all)(size_t count, ompi_request_t **requests, int *completed,
                        ompi_status_public_t *statuses);
    int (*req_test_some)(size_t count, ompi_request_t **requests, int *outcount, int *indices,
                         ompi_status_public_t *statuses);
} ompi_request_fns_t;

#endif
