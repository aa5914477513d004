/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPIX_Comm_shrink and MPIX_Comm_ishrink of endpoints: two agreements (coll/epcoll), which survive
 * deaths.  The first one is on the failed members and on a context id, which is one that a member has
 * drawn.  Each survivor then sets up the new communicator by itself, without a message.  The second
 * one is on whether all have it: so no member sends on it before, and either all or none keep it.  A
 * member that dies after the first one is a lost member of the new communicator.
 *
 * Both agreements are begun by the call, so that others on this communicator, begun meanwhile, come
 * behind them at all members.
 *
 * Called through the link table.
 *
 * Tests: ulfm_shrink, ulfm_inter, ulfm_stress
 */

#include "ompi_config.h"

#include "../cid/cid.h"
#include "../calls/calls.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_handle.h"
#include "pml_epml_shrink.h"

#include "ompi/communicator/comm_request.h"
#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/mca/common/ep/common_ep_group.h"
#include "ompi/op/op.h"
#include "ompi/request/request.h"
#include "ompi/runtime/params.h"

#if OPAL_ENABLE_FT_MPI

/** In the flag of the second agreement. */
enum {
    MADE = 1, /**< all have it */
    ALONE = 2 /**< no two members share a node */
};

typedef struct shrink_t {
    opal_object_t super;
    ompi_communicator_t *comm, **newcomm_p, *made;
    mpix_endpoints_agreed_t first, second; /**< of the two agreements */
    ompi_group_t *failed, *none;
    ompi_request_t *requests[2];
    int rc; /**< of making it here */
} shrink_t;

static OBJ_CLASS_INSTANCE(shrink_t, opal_object_t, NULL, NULL);

void mca_pml_epml_shrink_init(void)
{
    opal_class_initialize(OBJ_CLASS(shrink_t));
}

/* ---- the new communicator -------------------------------------------------------------------- */

/** Those that have not failed.
 * @param[in,out] rank_p  of one of them in the old list, then in the new one; or NULL
 * @return one reference, or NULL */
static mca_pml_epml_peers_t *survivors(const mca_pml_epml_peers_t *all, const ompi_group_t *failed,
                                       int *rank_p)
{
    mca_pml_epml_peers_t *peers = mca_pml_epml_peers_create(all->count);
    const int own = NULL == rank_p ? MPI_UNDEFINED : *rank_p;
    int count = 0;

    for (int i = 0; NULL != peers && i < all->count; ++i) {
        mca_pml_epml_peer_t *peer = all->member[i];

        if (MPI_UNDEFINED == mpix_endpoints_group_rank_of(failed, peer->proc)) {
            if (own == i) {
                *rank_p = count;
            }
            mca_pml_epml_peer_retain(peer);
            peers->member[count++] = peer;
        }
    }
    if (NULL != peers) {
        peers->count = count;
    }
    return peers;
}

/** @param[in] remote  NULL: no intercommunicator */
static int make_of(shrink_t *shrink, mca_pml_epml_peers_t *local, mca_pml_epml_peers_t *remote,
                   int rank)
{
    ompi_communicator_t *comm = shrink->comm, *made = NULL;
    const uint64_t context = shrink->first.id;
    uint64_t own = context;
    int rc;

    if (NULL != remote) { /* each side's own communicator has a context, too */
        own += mpix_endpoints_group_local_draws(comm) ? 1 : 2;
    }
    rc = mca_pml_epml_handle_intra(comm, mca_pml_epml_comm(comm)->ep, own, local, rank, &made);
    if (OMPI_SUCCESS == rc && NULL != remote) {
        ompi_communicator_t *side = made;

        rc = mca_pml_epml_handle_inter(side, context, remote, &made);
        if (OMPI_SUCCESS != rc) {
            (void) ompi_comm_free(&side);
        }
    }
    shrink->made = OMPI_SUCCESS == rc ? made : MPI_COMM_NULL;
    return rc;
}

static int make(shrink_t *shrink)
{
    const mca_pml_epml_comm_t *comm = mca_pml_epml_comm(shrink->comm);
    int rank = comm->rank, rc = OMPI_ERR_OUT_OF_RESOURCE;
    mca_pml_epml_peers_t *local = survivors(comm->local, shrink->failed, &rank),
                         *remote = comm->is_inter ? survivors(comm->peers, shrink->failed, NULL)
                                                  : NULL;

    if (NULL != local && comm->is_inter == (NULL != remote)) {
        if (NULL != remote && 0 == remote->count) {
            rc = OMPI_SUCCESS; /* an empty remote group: no communicator */
        } else {
            mca_pml_epml_shared_peers_find(shrink->first.id, &local,
                                           NULL == remote ? NULL : &remote);
            rc = make_of(shrink, local, remote, rank);
        }
    }
    if (NULL != local) {
        mca_pml_epml_peers_release(local);
    }
    if (NULL != remote) {
        mca_pml_epml_peers_release(remote);
    }
    return rc;
}

/* ---- the parts of the call ------------------------------------------------------------------- */

static int begin_agreement(shrink_t *shrink, mpix_endpoints_agreed_t *agreed, ompi_group_t **group,
                           bool grow, ompi_request_t **request_p)
{
    ompi_communicator_t *comm = shrink->comm;

    return comm->c_coll->coll_iagree(agreed, MPIX_ENDPOINTS_AGREED_COUNT, MPI_UINT64_T, MPI_BAND,
                                     group, grow, comm, request_p,
                                     comm->c_coll->coll_iagree_module);
}

/** @param[out] shrink_p  one reference, on success */
static int shrink_begin(ompi_communicator_t *comm, ompi_communicator_t **newcomm_p,
                        shrink_t **shrink_p)
{
    shrink_t *shrink;
    int rc;

    *newcomm_p = MPI_COMM_NULL;
    if (!ompi_ftmpi_enabled
        || (OMPI_COMM_IS_INTER(comm) && NULL != mca_pml_epml_device_accelerator())) {
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    shrink = OBJ_NEW(shrink_t);
    if (NULL == shrink) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    shrink->comm = comm;
    shrink->newcomm_p = newcomm_p;
    shrink->made = MPI_COMM_NULL;
    shrink->failed = NULL;
    shrink->none = MPI_GROUP_EMPTY;
    shrink->rc = OMPI_SUCCESS;
    shrink->first.flag = 0;
    shrink->first.id = mca_pml_epml_context_ids(OMPI_COMM_IS_INTER(comm) ? 3 : 1);
    shrink->second.flag = shrink->second.id = 0;
    atomic_init(&shrink->first.held, 0);
    atomic_init(&shrink->second.held, 1);
    rc = begin_agreement(shrink, &shrink->first, &shrink->failed, true, &shrink->requests[0]);
    if (OMPI_SUCCESS != rc) {
        OBJ_RELEASE(shrink);
        return rc;
    }
    rc = begin_agreement(shrink, &shrink->second, &shrink->none, false, &shrink->requests[1]);
    if (OMPI_SUCCESS != rc) {
        (void) ompi_request_free(&shrink->requests[0]); /* its operation goes on, and has a use for it */
        return rc;
    }
    *shrink_p = shrink;
    return OMPI_SUCCESS;
}

/** The first agreement is over.  @param[in] rc  its result */
static void shrink_go_on(shrink_t *shrink, int rc)
{
    shrink->rc = OMPI_SUCCESS == rc ? make(shrink) : rc;
    if (OMPI_SUCCESS == shrink->rc) {
        shrink->second.flag = ~(uint64_t) 0;
        if (MPI_COMM_NULL != shrink->made && mca_pml_epml_compat_shares_node(shrink->made)) {
            shrink->second.flag &= ~(uint64_t) ALONE;
        }
    }
    /* Release: partner in the agreement's step. */
    atomic_store_explicit(&shrink->second.held, 0, memory_order_release);
}

/** The second one is over.  Gives up the reference.  @param[in] rc  its result */
static int shrink_end(shrink_t *shrink, int rc)
{
    const bool all = (OMPI_SUCCESS == rc || MPI_ERR_PROC_FAILED == rc)
                     && 0 != (shrink->second.flag & MADE);

    if (all) {
        if (MPI_COMM_NULL != shrink->made && OMPI_COMM_IS_INTRA(shrink->made)) {
            mca_pml_epml_compat_activated(shrink->made, 0 == (shrink->second.flag & ALONE));
        }
        *shrink->newcomm_p = shrink->made;
        rc = OMPI_SUCCESS;
    } else {
        if (MPI_COMM_NULL != shrink->made) {
            (void) ompi_comm_free(&shrink->made);
        }
        rc = OMPI_SUCCESS != shrink->rc                         ? shrink->rc
             : OMPI_SUCCESS != rc && MPI_ERR_PROC_FAILED != rc ? rc
                                                                : MPI_ERR_OTHER;
    }
    if (NULL != shrink->failed) {
        (void) ompi_group_free(&shrink->failed);
    }
    OBJ_RELEASE(shrink);
    return rc;
}

/** Wait for an agreement, and free its request: an error leaves it to the caller. */
static int finish(ompi_request_t **request)
{
    const int rc = ompi_request_wait(request, MPI_STATUS_IGNORE);

    if (MPI_REQUEST_NULL != *request) {
        (void) ompi_request_free(request);
    }
    return rc;
}

int mca_pml_epml_shrink(ompi_communicator_t *comm, ompi_communicator_t **newcomm_p)
{
    shrink_t *shrink;
    const int rc = shrink_begin(comm, newcomm_p, &shrink);

    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    shrink_go_on(shrink, finish(&shrink->requests[0]));
    return shrink_end(shrink, finish(&shrink->requests[1]));
}

/* ---- by steps that libmpi's progress runs ---------------------------------------------------- */

static int step_end(ompi_comm_request_t *request)
{
    shrink_t *shrink = (shrink_t *) request->context;
    const int rc = request->super.req_status.MPI_ERROR;

    OBJ_RETAIN(shrink); /* the request gives up its own */
    return shrink_end(shrink, rc);
}

static int step_go_on(ompi_comm_request_t *request)
{
    shrink_t *shrink = (shrink_t *) request->context;
    int rc;

    shrink_go_on(shrink, request->super.req_status.MPI_ERROR);
    request->super.req_status.MPI_ERROR = OMPI_SUCCESS;
    rc = ompi_comm_request_schedule_append(request, step_end, &shrink->requests[1], 1);
    if (OMPI_SUCCESS != rc) {
        OBJ_RETAIN(shrink); /* the request ends here, and the agreement goes on */
    }
    return rc;
}

int mca_pml_epml_ishrink(ompi_communicator_t *comm, ompi_communicator_t **newcomm_p,
                         ompi_request_t **request_p)
{
    ompi_comm_request_t *request = ompi_comm_request_get();
    shrink_t *shrink;
    int rc = NULL == request ? OMPI_ERR_OUT_OF_RESOURCE : shrink_begin(comm, newcomm_p, &shrink);

    if (OMPI_SUCCESS == rc) {
        request->context = &shrink->super;
        request->super.req_mpi_object.comm = comm;
        request->super.req_status.MPI_ERROR = OMPI_SUCCESS;
        rc = ompi_comm_request_schedule_append(request, step_go_on, &shrink->requests[0], 1);
        if (OMPI_SUCCESS != rc) { /* the others are to hear of it; the agreements need it still */
            OBJ_RETAIN(shrink);
            shrink_go_on(shrink, rc);
        }
    }
    if (OMPI_SUCCESS != rc) {
        if (NULL != request) {
            ompi_comm_request_return(request);
        }
        return rc;
    }
    ompi_comm_request_start(request);
    *request_p = &request->super;
    return OMPI_SUCCESS;
}

#else

void mca_pml_epml_shrink_init(void)
{
}

int mca_pml_epml_shrink(ompi_communicator_t *comm, ompi_communicator_t **newcomm_p)
{
    (void) comm;
    *newcomm_p = MPI_COMM_NULL;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

int mca_pml_epml_ishrink(ompi_communicator_t *comm, ompi_communicator_t **newcomm_p,
                         ompi_request_t **request_p)
{
    *request_p = MPI_REQUEST_NULL;
    return mca_pml_epml_shrink(comm, newcomm_p);
}

#endif
