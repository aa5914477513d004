/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Putting a new communicator to use, the nonblocking form.
 *
 * It is libmpi's, except for the choice of messages by which the members wait for each other: no
 * member may send on a communicator that another has not set up.
 *
 * Tests: comm_ops, comm_nomem
 */

#include "ompi_config.h"

#include "../calls/calls.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_cid_activate.h"
#include "pml_epml_cid.h"
#include "pml_epml_cid_steps.h"

#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/request/request.h"

#define CID_STATUS EPML_CID_STATUS
#define CID_WORDS EPML_CID_WORDS

/**
 * Where the slot of an intercommunicator is below that of its local communicator, libmpi gives it a
 * second reference, and frees it twice: the second time it looks the communicator up by its slot,
 * and then once more, after its end.  By then the slot may be another thread's.  Nothing depends on
 * the reference for ours.
 */
static void drop_extra_reference(ompi_communicator_t *comm)
{
#if defined(OMPI_COMM_EXTRA_RETAIN) /* 6.0 has done away with it */
    if (OMPI_COMM_IS_EXTRA_RETAIN(comm)) {
        comm->c_flags &= ~(uint32_t) OMPI_COMM_EXTRA_RETAIN;
        OBJ_RELEASE(comm);
    }
#else
    (void) comm;
#endif
}

static int activation_end(ompi_comm_request_t *request)
{
    if (OMPI_SUCCESS != request->super.req_status.MPI_ERROR) {
        return request->super.req_status.MPI_ERROR;
    }
    drop_extra_reference(mca_pml_epml_cid_steps_of(request)->newcomm);
    return 0 == mca_pml_epml_cid_steps_of(request)->words[CID_STATUS] ? OMPI_SUCCESS : OMPI_ERROR;
}

/** This side is ready. */
static int activated_side(ompi_comm_request_t *request)
{
    mca_pml_epml_cid_steps_note_errors(request);
    return mca_pml_epml_cid_steps_exchange(request);
}

/** This member is ready.  Where libmpi has not done so, its root asks all of this side whether they
 * are: a member for which the call is complete may send to any other. */
static int activated_local(ompi_comm_request_t *request)
{
#if EPML_COMPAT_SIDES_MEET
    return activated_side(request);
#else
    mca_pml_epml_cid_steps_t *steps = mca_pml_epml_cid_steps_of(request);
    ompi_communicator_t *comm = steps->newcomm->c_local_comm;
    const bool is_root = steps->root == ompi_comm_rank(comm);
    ompi_request_t *reduction;
    int rc;

    mca_pml_epml_cid_steps_note_errors(request);
    rc = comm->c_coll->coll_ireduce(is_root ? MPI_IN_PLACE : steps->words,
                                    is_root ? steps->words : NULL, CID_WORDS, MPI_UINT64_T, MPI_MAX,
                                    steps->root, comm, &reduction,
                                    comm->c_coll->coll_ireduce_module);
    return mca_pml_epml_cid_steps_then(request, activated_side, &reduction,
                                       OMPI_SUCCESS == rc ? 1 : 0, rc);
#endif
}

/** Activate an intercommunicator: each side for itself, then the roots exchange. */
static int activate_inter(ompi_communicator_t **newcomm_p, ompi_communicator_t *comm,
                          ompi_request_t **request_p)
{
    ompi_communicator_t *newcomm = *newcomm_p;
    ompi_comm_request_t *request = mca_pml_epml_cid_steps_request(newcomm, comm,
                                                                  OMPI_COMM_CID_INTER);
    uint64_t context = mca_pml_epml_notes_context(newcomm);
    int tag = mca_pml_epml_cid_tag(EPML_CID_ACTIVATE, context), rc;
    mca_pml_epml_cid_steps_t *steps;
    ompi_request_t *local;

    if (NULL == request) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    steps = mca_pml_epml_cid_steps_of(request);
    steps->tag = mca_pml_epml_cid_tag(EPML_CID_ACTIVATE_INTER, context);
    steps->last = activation_end;
    /* The roots: found by rank in comm, for the order of the remote group see cid_offset. */
    (void) mca_pml_epml_cid_lowest_rank(newcomm->c_local_group,
                                        newcomm->c_local_group->grp_proc_count, comm->c_local_group,
                                        &steps->root);
    steps->remote = mca_pml_epml_cid_lowest_rank(newcomm->c_remote_group,
                                                 newcomm->c_remote_group->grp_proc_count,
                                                 comm->c_remote_group, NULL);
    rc = mpix_endpoints_libmpi_comm_activate_nb(newcomm_p, newcomm->c_local_comm, NULL, &tag, NULL,
                                                false, OMPI_COMM_CID_GROUP, &local);
    rc = mca_pml_epml_cid_steps_then(request, activated_local, &local, OMPI_SUCCESS == rc ? 1 : 0,
                                     rc);
    return mca_pml_epml_cid_steps_start(request, rc, request_p);
}

/** What tells this activation from others under way.  Ids of groups are drawn by different
 * processes, whose counts may be equal. */
static uint64_t activation_key(const ompi_communicator_t *newcomm)
{
    const uint64_t context = mca_pml_epml_notes_context(newcomm);

    return context + (context >> 39) * UINT32_C(2654435761);
}

/** Activate for an endpoint.  A process that is no member has nothing to activate and waits for no
 * member. */
static int activation_begin(ompi_communicator_t **newcomm, ompi_communicator_t *comm,
                            ompi_communicator_t *bridgecomm, const void *arg0, const void *arg1,
                            bool send_first, int mode, ompi_request_t **request)
{
    int tag;

    if ((OMPI_COMM_CID_INTRA == mode || OMPI_COMM_CID_INTER == mode)
        && !mca_pml_epml_cid_participates(*newcomm)) {
        *request = &ompi_request_empty;
        return OMPI_SUCCESS;
    }
    switch (mode) {
    case OMPI_COMM_CID_INTRA:
    case OMPI_COMM_CID_GROUP: /* blocking; not with the user's tag, which the user's messages may
                                 have */
        /* As if by a group, which is along a tree of messages with this tag. */
        tag = mca_pml_epml_cid_tag(EPML_CID_ACTIVATE, activation_key(*newcomm));
        arg0 = &tag;
        mode = OMPI_COMM_CID_GROUP;
        break;
    case OMPI_COMM_CID_INTER:
        if (OMPI_COMM_IS_INTER(*newcomm)) {
            return activate_inter(newcomm, comm, request);
        }
        break; /* a merge, which is blocking */
    default:
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    return mpix_endpoints_libmpi_comm_activate_nb(newcomm, comm, bridgecomm, arg0, arg1, send_first,
                                                  mode, request);
}

int mca_pml_epml_cid_activate_nb(ompi_communicator_t **newcomm, ompi_communicator_t *comm,
                                 ompi_communicator_t *bridgecomm, const void *arg0,
                                 const void *arg1, bool send_first, int mode,
                                 ompi_request_t **request)
{
    int rc = activation_begin(newcomm, comm, bridgecomm, arg0, arg1, send_first, mode, request);

    if (OMPI_SUCCESS != rc && MPI_COMM_NULL == *newcomm) {
        *newcomm = mca_pml_epml_cid_null(); /* libmpi's has released it */
    }
    if (OMPI_SUCCESS == rc && &ompi_request_empty != *request) {
        /* libmpi leaves this unset; waiting goes by it (which endpoint is to be progressed). */
        (*request)->req_mpi_object.comm = comm;
    }
    return rc;
}
