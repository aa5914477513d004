/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Requests of libmpi's, whose steps run in whatever thread progresses it: how the nonblocking forms
 * of agreement and activation go on.
 */

#ifndef MCA_PML_EPML_CID_STEPS_H
#define MCA_PML_EPML_CID_STEPS_H

#include "ompi_config.h"

#include "pml_epml_cid.h"

#include "ompi/communicator/comm_request.h"
#include "ompi/communicator/communicator.h"
#include "ompi/request/request.h"

BEGIN_C_DECLS

/** An agreement or an activation; its request owns it. */
typedef struct mca_pml_epml_cid_steps_t {
    opal_object_t super;
    ompi_communicator_t *newcomm;
    ompi_communicator_t *comm;
    int mode;
    uint64_t number; /**< of an agreement */
    int tag;
    int root;                             /**< rank in newcomm->c_local_comm that broadcasts */
    int remote;                           /**< rank that the root exchanges with */
    uint64_t words[EPML_CID_WORDS];       /**< own, then agreed */
    uint64_t received[EPML_CID_WORDS];    /**< from the remote root */
    ompi_comm_request_callback_fn_t last; /**< what follows the broadcast */
} mca_pml_epml_cid_steps_t;

/** Before there are threads. */
void mca_pml_epml_cid_steps_init(void);

static inline mca_pml_epml_cid_steps_t *mca_pml_epml_cid_steps_of(ompi_comm_request_t *request)
{
    return (mca_pml_epml_cid_steps_t *) request->context;
}

/** Make a request that runs its first step in libmpi's progress, or at once.
 *
 * @return NULL: out of memory */
ompi_comm_request_t *mca_pml_epml_cid_steps_request(ompi_communicator_t *newcomm,
                                                    ompi_communicator_t *comm, int mode);

/** Note the failure of a step; the next message has it for the other members. */
void mca_pml_epml_cid_steps_note_errors(ompi_comm_request_t *request);

/**
 * Schedule the next step for when some messages are through.
 *
 * @param[in] rc  what starting them has come to; if it was an error, count is how many were started
 *
 * @return rc, or an error
 */
int mca_pml_epml_cid_steps_then(ompi_comm_request_t *request, ompi_comm_request_callback_fn_t step,
                                ompi_request_t *requests[], int count, int rc);

/** Start a request whose first step has been scheduled, or give it up.
 *
 * @param[in] rc  what scheduling has come to
 *
 * @return rc */
int mca_pml_epml_cid_steps_start(ompi_comm_request_t *request, int rc, ompi_request_t **request_p);

/** Send the words to a rank of comm. */
int mca_pml_epml_cid_steps_isend(mca_pml_epml_cid_steps_t *steps, int rank,
                                 ompi_request_t **request);

/** A step on an intercommunicator: the roots exchange their words, and broadcast them on each side;
 * then comes the last step. */
int mca_pml_epml_cid_steps_exchange(ompi_comm_request_t *request);

END_C_DECLS

#endif /* MCA_PML_EPML_CID_STEPS_H */
