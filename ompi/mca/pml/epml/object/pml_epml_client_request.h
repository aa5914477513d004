/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Requests of the engine's clients: pml_epml_client_request.c.
 */

#ifndef MCA_PML_EPML_CLIENT_REQUEST_H
#define MCA_PML_EPML_CLIENT_REQUEST_H

#include "ompi_config.h"

#include "pml_epml_types.h"

#include "ompi/mca/coll/base/coll_base_util.h"
#include "ompi/mca/common/ep/common_ep_engine.h"

BEGIN_C_DECLS

typedef struct mca_pml_epml_client_request_t {
    ompi_coll_base_nbc_request_t req_nbc; /**< libmpi's calls of collectives hang on it what the
                                           * operation must keep.  For a window req_mpi_object is
                                           * that, which is not touched here */
    ompi_communicator_t *comm;            /**< a reference */
    mca_pml_epml_ep_t *ep;                /**< that is progressed for it; the communicator's */
    const mpix_endpoints_request_ops_t *ops;
    void *context;
    struct mca_pml_epml_client_request_t *next; /**< of those that are kept for later */
    ompi_datatype_t *const *types[2]; /**< the client's copies of arrays that libmpi has noted where
                                       * they lie, the user's or Fortran's; or NULL */
} mca_pml_epml_client_request_t;

OBJ_CLASS_DECLARATION(mca_pml_epml_client_request_t);

/** MPI_Start and MPI_Startall, of persistent ones that are inactive; and by which any such request
 * is known. */
int mca_pml_epml_client_request_start(size_t count, ompi_request_t **requests);

static inline bool mca_pml_epml_is_client_request(const ompi_request_t *request)
{
    return mca_pml_epml_client_request_start == request->req_start;
}

/** See request_new, request_new_win, request_types and request_done in mpix_endpoints_engine_t.  Not
 * under the lock. */
int mca_pml_epml_client_request_new(mca_pml_epml_comm_t *comm,
                                    const mpix_endpoints_request_ops_t *ops, void *context,
                                    bool persistent, ompi_request_t **request_p);
int mca_pml_epml_client_request_new_win(mca_pml_epml_comm_t *comm, struct ompi_win_t *win,
                                        const mpix_endpoints_request_ops_t *ops, void *context,
                                        ompi_request_t **request_p);
void mca_pml_epml_client_request_types(ompi_request_t *request, ompi_datatype_t *const *send,
                                       ompi_datatype_t *const *receive);
void mca_pml_epml_client_request_done(ompi_request_t *request, int error);

/** Free those that are kept for later.  Under the lock. */
void mca_pml_epml_client_requests_trim(mca_pml_epml_ep_t *ep);

END_C_DECLS

#endif /* MCA_PML_EPML_CLIENT_REQUEST_H */
