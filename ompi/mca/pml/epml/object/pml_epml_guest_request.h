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
 * Requests of guests behind the door: pml_epml_guest_request.c.
 */

#ifndef MCA_PML_EPML_GUEST_REQUEST_H
#define MCA_PML_EPML_GUEST_REQUEST_H

#include "ompi_config.h"

#include "pml_epml_types.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_door.h"

BEGIN_C_DECLS

/** What becomes of it: who comes second, who ends it or who frees it, gives it up. */
typedef enum mca_pml_epml_guest_state_t {
    EPML_GUEST_ACTIVE,
    EPML_GUEST_DONE, /**< or inactive */
    EPML_GUEST_FREED /**< by the user, before it was done */
} mca_pml_epml_guest_state_t;

typedef struct mca_pml_epml_guest_request_t {
    ompi_request_t req_ompi; /**< holds its communicator */
    mca_pml_epml_ep_t *ep;   /**< that is turned for it; the communicator's */
    const mpix_endpoints_request_ops_t *ops;
    void *context;
    _Atomic int state; /**< mca_pml_epml_guest_state_t */
} mca_pml_epml_guest_request_t;

OBJ_CLASS_DECLARATION(mca_pml_epml_guest_request_t);

/** What libmpi calls; and by which such a request is known. */
int mca_pml_epml_guest_request_free(ompi_request_t **request);

static inline bool mca_pml_epml_is_guest_request(const ompi_request_t *request)
{
    return mca_pml_epml_guest_request_free == request->req_free;
}

/** See request_new and request_done in mpix_endpoints_door_t.  Not under the lock. */
int mca_pml_epml_guest_request_new(mca_pml_epml_comm_t *comm,
                                   const mpix_endpoints_request_ops_t *ops, void *context,
                                   bool persistent, ompi_request_t **request_p);
void mca_pml_epml_guest_request_done(ompi_request_t *request, int error);

END_C_DECLS

#endif /* MCA_PML_EPML_GUEST_REQUEST_H */
