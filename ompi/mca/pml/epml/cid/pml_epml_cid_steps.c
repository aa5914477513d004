/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the nonblocking agreement (pml_epml_cid_nb.c) and activation (pml_epml_cid_activate_nb.c) are made of: requests of
 * libmpi's whose steps its progress runs, and the steps that both take on an intercommunicator.
 *
 * Tests: comm_ops
 */

#include "ompi_config.h"

#include "pml_epml_cid.h"
#include "pml_epml_cid_steps.h"

#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/common/ep/common_ep_group.h"
#include "ompi/mca/pml/pml.h"

#define CID_ID EPML_CID_ID
#define CID_STATUS EPML_CID_STATUS
#define CID_WORDS EPML_CID_WORDS

static OBJ_CLASS_INSTANCE(mca_pml_epml_cid_steps_t, opal_object_t, NULL, NULL);

void mca_pml_epml_cid_steps_init(void)
{
    opal_class_initialize(OBJ_CLASS(mca_pml_epml_cid_steps_t));
}

void mca_pml_epml_cid_steps_note_errors(ompi_comm_request_t *request)
{
    if (OMPI_SUCCESS != request->super.req_status.MPI_ERROR) {
        mca_pml_epml_cid_steps_of(request)->words[CID_STATUS] = 1;
    }
}

ompi_comm_request_t *mca_pml_epml_cid_steps_request(ompi_communicator_t *newcomm,
                                                    ompi_communicator_t *comm, int mode)
{
    mca_pml_epml_cid_steps_t *steps = OBJ_NEW(mca_pml_epml_cid_steps_t);
    ompi_comm_request_t *request;

    if (NULL == steps) {
        return NULL;
    }
    steps->newcomm = newcomm;
    steps->comm = comm;
    steps->mode = mode;
    steps->number = 0;
    steps->tag = 0;
    steps->root = steps->remote = 0;
    steps->words[CID_ID] = steps->words[CID_STATUS] = 0;
    steps->received[CID_ID] = steps->received[CID_STATUS] = 0;
    steps->last = NULL;

    request = ompi_comm_request_get();
    if (NULL == request) {
        OBJ_RELEASE(steps);
        return NULL;
    }
    request->context = &steps->super;
    request->super.req_mpi_object.comm = comm;
    request->super.req_status.MPI_ERROR = OMPI_SUCCESS; /* steps look at it before the start */
    return request;
}

int mca_pml_epml_cid_steps_start(ompi_comm_request_t *request, int rc, ompi_request_t **request_p)
{
    if (OMPI_SUCCESS != rc) {
        ompi_comm_request_return(request);
        return rc;
    }
    ompi_comm_request_start(request);
    *request_p = &request->super;
    return OMPI_SUCCESS;
}

int mca_pml_epml_cid_steps_then(ompi_comm_request_t *request, ompi_comm_request_callback_fn_t step,
                                ompi_request_t *requests[], int count, int rc)
{
    if (OMPI_SUCCESS == rc) {
        rc = ompi_comm_request_schedule_append(request, step, requests, count);
    }
    if (OMPI_SUCCESS != rc && 0 < count) {
        /* The request ends here, but messages under way still use what it owns. */
        OBJ_RETAIN(mca_pml_epml_cid_steps_of(request));
    }
    return rc;
}

int mca_pml_epml_cid_steps_isend(mca_pml_epml_cid_steps_t *steps, int rank,
                                 ompi_request_t **request)
{
    return MCA_PML_CALL(isend(steps->words, CID_WORDS, MPI_UINT64_T, rank, steps->tag,
                              MCA_PML_BASE_SEND_STANDARD, steps->comm, request));
}

/* ---- steps on an intercommunicator: exchange between the roots, broadcast on each side ------- */

static int broadcast_words(ompi_comm_request_t *request)
{
    mca_pml_epml_cid_steps_t *steps = mca_pml_epml_cid_steps_of(request);
    ompi_communicator_t *comm = steps->newcomm->c_local_comm; /* new: its order is ours alone */
    ompi_request_t *broadcast;
    int rc = comm->c_coll->coll_ibcast(steps->words, CID_WORDS, MPI_UINT64_T, steps->root, comm,
                                       &broadcast, comm->c_coll->coll_ibcast_module);

    return mca_pml_epml_cid_steps_then(request, steps->last, &broadcast, OMPI_SUCCESS == rc ? 1 : 0,
                                       rc);
}

static int steps_exchanged(ompi_comm_request_t *request)
{
    mca_pml_epml_cid_steps_t *steps = mca_pml_epml_cid_steps_of(request);

    mca_pml_epml_cid_steps_note_errors(request);
    steps->words[CID_STATUS] |= steps->received[CID_STATUS];
    if (!mpix_endpoints_group_local_draws(steps->comm)) {
        steps->words[CID_ID] = steps->received[CID_ID];
    }
    return broadcast_words(request);
}

int mca_pml_epml_cid_steps_exchange(ompi_comm_request_t *request)
{
    mca_pml_epml_cid_steps_t *steps = mca_pml_epml_cid_steps_of(request);
    ompi_request_t *requests[2];
    int rc, count = 0;

    if (steps->root != ompi_comm_rank(steps->newcomm->c_local_comm)) {
        return broadcast_words(request);
    }
    rc = MCA_PML_CALL(irecv(steps->received, CID_WORDS, MPI_UINT64_T, steps->remote, steps->tag,
                            steps->comm, &requests[0]));
    if (OMPI_SUCCESS == rc) {
        rc = mca_pml_epml_cid_steps_isend(steps, steps->remote, &requests[1]);
        count = OMPI_SUCCESS == rc ? 2 : 1;
    }
    return mca_pml_epml_cid_steps_then(request, steps_exchanged, requests, count, rc);
}
