/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Nonblocking creation of communicators (MPI_Comm_idup).
 *
 * Several of these may be under way on one communicator, next to the user's own nonblocking
 * collectives, and their steps run in whatever thread happens to progress libmpi, in an order that
 * differs from member to member.  A nonblocking collective on the shared communicator must be
 * started in the same order everywhere, so none is used there: messages find each other by a tag
 * that no other operation under way has.  It is made from what all members know: the number of the
 * agreement (libmpi begins agreements in the order of the user's calls), or the new context id once
 * that is known.  Collectives are used on communicators that are new themselves.
 *
 * Here is the agreement; what follows it is in pml_epml_cid_activate_nb.c.
 *
 * Tests: comm_tree, coll_life, comm_nomem
 */

#include "ompi_config.h"

#include "../calls/calls.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_cid.h"
#include "pml_epml_cid_steps.h"

#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/pml/pml.h"

#define CID_ID EPML_CID_ID
#define CID_STATUS EPML_CID_STATUS
#define CID_WORDS EPML_CID_WORDS

static int cid_agreed(ompi_comm_request_t *request)
{
    mca_pml_epml_cid_steps_t *steps = mca_pml_epml_cid_steps_of(request);

    if (OMPI_SUCCESS != request->super.req_status.MPI_ERROR) {
        return request->super.req_status.MPI_ERROR;
    }
    if (0 != steps->words[CID_STATUS]) {
        return OMPI_ERROR;
    }
    return mca_pml_epml_cid_assign(steps->newcomm, steps->comm, steps->mode, steps->words[CID_ID],
                                   steps->number);
}

/** Pass the id on to the two members below this one in the tree. */
static int cid_pass_on(ompi_comm_request_t *request)
{
    mca_pml_epml_cid_steps_t *steps = mca_pml_epml_cid_steps_of(request);
    int size = ompi_comm_size(steps->comm), first = 2 * ompi_comm_rank(steps->comm) + 1, count = 0;
    ompi_request_t *requests[2];
    int rc = OMPI_SUCCESS;

    mca_pml_epml_cid_steps_note_errors(request);
    for (int rank = first; OMPI_SUCCESS == rc && rank < size && rank < first + 2; ++rank) {
        rc = mca_pml_epml_cid_steps_isend(steps, rank, &requests[count]);
        count += OMPI_SUCCESS == rc;
    }
    return mca_pml_epml_cid_steps_then(request, cid_agreed, requests, count, rc);
}

static int cid_agree_intra(ompi_comm_request_t *request)
{
    mca_pml_epml_cid_steps_t *steps = mca_pml_epml_cid_steps_of(request);
    int rank = ompi_comm_rank(steps->comm), rc;
    ompi_request_t *receive;

    steps->number = mca_pml_epml_notes_count(steps->comm);
    steps->tag = mca_pml_epml_cid_tag(EPML_CID_AGREE, steps->number);
    if (0 == rank) {
        steps->words[CID_ID] = mca_pml_epml_context_ids(mca_pml_epml_cid_block(steps->newcomm,
                                                                               steps->comm));
        return cid_pass_on(request);
    }
    rc = MCA_PML_CALL(irecv(steps->words, CID_WORDS, MPI_UINT64_T, (rank - 1) / 2, steps->tag,
                            steps->comm, &receive));
    return mca_pml_epml_cid_steps_then(request, cid_pass_on, &receive, OMPI_SUCCESS == rc ? 1 : 0,
                                       rc);
}

/**
 * On an intercommunicator libmpi has made the new local communicator before; it is known by the
 * number of its own agreement, which is the same on both sides: they make theirs in step.
 */
static int cid_agree_inter(ompi_comm_request_t *request)
{
    mca_pml_epml_cid_steps_t *steps = mca_pml_epml_cid_steps_of(request);
    ompi_communicator_t *local = steps->newcomm->c_local_comm;

    if (OMPI_COMM_IS_INTRA(steps->newcomm)
        || steps->comm->c_local_group->grp_proc_count != local->c_local_group->grp_proc_count) {
        return MPI_ERR_UNSUPPORTED_OPERATION; /* not idup; libmpi has nothing else nonblocking */
    }
    steps->tag = mca_pml_epml_cid_tag(EPML_CID_AGREE_INTER, mca_pml_epml_notes_number(local));
    steps->last = cid_agreed;
    if (0 == ompi_comm_rank(steps->comm)) {
        steps->words[CID_ID] = mca_pml_epml_context_ids(1);
    }
    return mca_pml_epml_cid_steps_exchange(request);
}

int mca_pml_epml_cid_agree_nb(ompi_communicator_t *newcomm, ompi_communicator_t *comm, int mode,
                              ompi_request_t **request_p)
{
    ompi_comm_request_t *request;

    if (OMPI_COMM_CID_INTRA != mode && OMPI_COMM_CID_INTER != mode) {
        return MPI_ERR_UNSUPPORTED_OPERATION; /* libmpi has nothing nonblocking in other modes */
    }
    request = mca_pml_epml_cid_steps_request(newcomm, comm, mode);
    if (NULL == request) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    return mca_pml_epml_cid_steps_start(request,
                                        OMPI_COMM_CID_INTRA == mode ? cid_agree_intra(request)
                                                                    : cid_agree_inter(request),
                                        request_p);
}
