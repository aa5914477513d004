/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Host memory in place of buffers in device memory (GPUs): coll_epcoll_staging.c.
 */

#ifndef MCA_COLL_EPCOLL_STAGING_H
#define MCA_COLL_EPCOLL_STAGING_H

#include "ompi_config.h"

#include "coll_epcoll_area.h"

#include "mpi.h"
#include "ompi/op/op.h"
#include "ompi/request/request.h"

BEGIN_C_DECLS

typedef struct mca_coll_epcoll_staging_t mca_coll_epcoll_staging_t;

/** Is a block that the call uses in device memory? */
bool mca_coll_epcoll_areas_on_device(const ompi_communicator_t *comm,
                                     const mca_coll_epcoll_areas_t *areas);

/**
 * Get host memory for the areas that have device memory, and let the call's arguments lead there.
 * Copies nothing yet.
 *
 * @return NULL: no memory; the arguments are as they were
 */
mca_coll_epcoll_staging_t *mca_coll_epcoll_staging_new(const ompi_communicator_t *comm,
                                                       const mca_coll_epcoll_areas_t *areas);
void mca_coll_epcoll_staging_free(mca_coll_epcoll_staging_t *staging);

/** Copy what the call reads, before it, and what it has written, after it. */
void mca_coll_epcoll_staging_in(const mca_coll_epcoll_staging_t *staging);
void mca_coll_epcoll_staging_out(const mca_coll_epcoll_staging_t *staging);

/** Of a persistent operation: keep its types, and its op, if any, until the staging is freed. */
void mca_coll_epcoll_staging_hold(mca_coll_epcoll_staging_t *staging, ompi_op_t *op);

/**
 * Make the user's request of a nonblocking or persistent operation, whose own is to be stored at
 * *inner_p.  Afterwards the staging is the request's.
 *
 * @return MPI_SUCCESS, MPI_ERR_NO_MEM
 */
int mca_coll_epcoll_staging_request(mca_coll_epcoll_staging_t *staging, ompi_communicator_t *comm,
                                    bool is_persistent, ompi_request_t ***inner_p);

/** The operation has been begun, or made if it is persistent, which returned rc.
 * @param[out] request_p  the user's request, after MPI_SUCCESS
 * @return rc */
int mca_coll_epcoll_staging_begun(mca_coll_epcoll_staging_t *staging, int rc,
                                  ompi_request_t **request_p);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_STAGING_H */
