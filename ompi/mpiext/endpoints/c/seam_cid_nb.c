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
 * Nonblocking creation of communicators (MPI_Comm_idup), and how a new communicator is put to use.
 *
 * Several of these may be under way on one communicator, next to the user's own nonblocking
 * collectives, and their steps run in whatever thread happens to progress libmpi, in an order that
 * differs from member to member.  A nonblocking collective on the shared communicator must be
 * started in the same order everywhere, so none is used there: messages find each other by a tag
 * that no other operation under way has.  It is made from what all members know: the number of the
 * agreement (libmpi begins agreements in the order of the user's calls), or the new context id once
 * that is known.  Collectives are used on communicators that are new themselves.
 *
 * Putting to use (activation) is libmpi's, but for the choice of messages by which the members wait
 * for each other: nobody may send on a communicator that somebody has not set up.
 *
 * Tests: comm_tree, coll_life, comm_nomem
 */

#include "ompi_config.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_cid.h"
#include "ompi/mpiext/endpoints/c/mpiext_endpoints_seams.h"
#include "ompi/mpiext/endpoints/c/mpiext_endpoints_table.h"

#include "ompi/communicator/comm_request.h"
#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"

#define CID_ID MPIX_ENDPOINTS_CID_ID
#define CID_STATUS MPIX_ENDPOINTS_CID_STATUS
#define CID_WORDS MPIX_ENDPOINTS_CID_WORDS

/** An agreement or an activation; its request owns it. */
typedef struct mpix_endpoints_cid_t {
    opal_object_t super;
    ompi_communicator_t *newcomm;
    ompi_communicator_t *comm;
    int mode;
    uint64_t number; /**< of an agreement */
    int tag;
    int root;                              /**< rank in newcomm->c_local_comm that broadcasts */
    int remote;                            /**< rank that the root exchanges with */
    uint64_t words[CID_WORDS];             /**< own, then agreed */
    uint64_t received[CID_WORDS];          /**< from the remote root */
    ompi_comm_request_callback_fn_t last; /**< what follows the broadcast */
} mpix_endpoints_cid_t;

static OBJ_CLASS_INSTANCE(mpix_endpoints_cid_t, opal_object_t, NULL, NULL);

void mpix_endpoints_cid_init(void)
{
    opal_class_initialize(OBJ_CLASS(mpix_endpoints_cid_t));
}

static mpix_endpoints_cid_t *cid_of(ompi_comm_request_t *request)
{
    return (mpix_endpoints_cid_t *) request->context;
}

/** Note the failure of a step; the other members are told in the next message. */
static void cid_note_errors(ompi_comm_request_t *request)
{
    if (OMPI_SUCCESS != request->super.req_status.MPI_ERROR) {
        cid_of(request)->words[CID_STATUS] = 1;
    }
}

/** Make a request that runs its first step in libmpi's progress, or at once. */
static ompi_comm_request_t *cid_request(ompi_communicator_t *newcomm, ompi_communicator_t *comm,
                                        int mode)
{
    mpix_endpoints_cid_t *cid = OBJ_NEW(mpix_endpoints_cid_t);
    ompi_comm_request_t *request;

    if (NULL == cid) {
        return NULL;
    }
    cid->newcomm = newcomm;
    cid->comm = comm;
    cid->mode = mode;
    cid->number = 0;
    cid->tag = 0;
    cid->root = cid->remote = 0;
    cid->words[CID_ID] = cid->words[CID_STATUS] = 0;
    cid->received[CID_ID] = cid->received[CID_STATUS] = 0;
    cid->last = NULL;

    request = ompi_comm_request_get();
    if (NULL == request) {
        OBJ_RELEASE(cid);
        return NULL;
    }
    request->context = &cid->super;
    request->super.req_mpi_object.comm = comm;
    request->super.req_status.MPI_ERROR = OMPI_SUCCESS; /* steps look at it before the start */
    return request;
}

/** Start a request whose first step has been scheduled, or give it up. */
static int cid_start(ompi_comm_request_t *request, int rc, ompi_request_t **request_p)
{
    if (OMPI_SUCCESS != rc) {
        ompi_comm_request_return(request);
        return rc;
    }
    ompi_comm_request_start(request);
    *request_p = &request->super;
    return OMPI_SUCCESS;
}

/**
 * Schedule the next step for when some messages are through.
 *
 * @param[in] rc  what starting them has come to; if it was an error, count is how many were started
 */
static int cid_then(ompi_comm_request_t *request, ompi_comm_request_callback_fn_t step,
                    ompi_request_t *requests[], int count, int rc)
{
    if (OMPI_SUCCESS == rc) {
        rc = ompi_comm_request_schedule_append(request, step, requests, count);
    }
    if (OMPI_SUCCESS != rc && 0 < count) {
        /* The request ends here, but messages under way still use what it owns. */
        OBJ_RETAIN(cid_of(request));
    }
    return rc;
}

static int cid_isend(mpix_endpoints_cid_t *cid, int rank, ompi_request_t **request)
{
    return MCA_PML_CALL(isend(cid->words, CID_WORDS, MPI_UINT64_T, rank, cid->tag,
                              MCA_PML_BASE_SEND_STANDARD, cid->comm, request));
}

/* ---- steps on an intercommunicator: exchange between the roots, broadcast on each side ------- */

static int cid_broadcast(ompi_comm_request_t *request)
{
    mpix_endpoints_cid_t *cid = cid_of(request);
    ompi_communicator_t *comm = cid->newcomm->c_local_comm; /* new: its order is ours alone */
    ompi_request_t *broadcast;
    int rc = comm->c_coll->coll_ibcast(cid->words, CID_WORDS, MPI_UINT64_T, cid->root, comm,
                                       &broadcast, comm->c_coll->coll_ibcast_module);

    return cid_then(request, cid->last, &broadcast, OMPI_SUCCESS == rc ? 1 : 0, rc);
}

static int cid_exchanged(ompi_comm_request_t *request)
{
    mpix_endpoints_cid_t *cid = cid_of(request);

    cid_note_errors(request);
    cid->words[CID_STATUS] |= cid->received[CID_STATUS];
    if (!mpix_endpoints_cid_local_draws(cid->comm)) {
        cid->words[CID_ID] = cid->received[CID_ID];
    }
    return cid_broadcast(request);
}

/** The root exchanges first; the others wait for its broadcast. */
static int cid_exchange(ompi_comm_request_t *request)
{
    mpix_endpoints_cid_t *cid = cid_of(request);
    ompi_request_t *requests[2];
    int rc, count = 0;

    if (cid->root != ompi_comm_rank(cid->newcomm->c_local_comm)) {
        return cid_broadcast(request);
    }
    rc = MCA_PML_CALL(irecv(cid->received, CID_WORDS, MPI_UINT64_T, cid->remote, cid->tag,
                            cid->comm, &requests[0]));
    if (OMPI_SUCCESS == rc) {
        rc = cid_isend(cid, cid->remote, &requests[1]);
        count = OMPI_SUCCESS == rc ? 2 : 1;
    }
    return cid_then(request, cid_exchanged, requests, count, rc);
}

/* ---- agreement ------------------------------------------------------------------------------- */

static int cid_agreed(ompi_comm_request_t *request)
{
    mpix_endpoints_cid_t *cid = cid_of(request);

    if (OMPI_SUCCESS != request->super.req_status.MPI_ERROR) {
        return request->super.req_status.MPI_ERROR;
    }
    if (0 != cid->words[CID_STATUS]) {
        return OMPI_ERROR;
    }
    return mpix_endpoints_cid_assign(cid->newcomm, cid->comm, cid->mode, cid->words[CID_ID],
                                     cid->number);
}

/** Pass the id on to the two members below this one in the tree. */
static int cid_pass_on(ompi_comm_request_t *request)
{
    mpix_endpoints_cid_t *cid = cid_of(request);
    int size = ompi_comm_size(cid->comm), first = 2 * ompi_comm_rank(cid->comm) + 1, count = 0;
    ompi_request_t *requests[2];
    int rc = OMPI_SUCCESS;

    cid_note_errors(request);
    for (int rank = first; OMPI_SUCCESS == rc && rank < size && rank < first + 2; ++rank) {
        rc = cid_isend(cid, rank, &requests[count]);
        count += OMPI_SUCCESS == rc;
    }
    return cid_then(request, cid_agreed, requests, count, rc);
}

static int cid_agree_intra(ompi_comm_request_t *request)
{
    mpix_endpoints_cid_t *cid = cid_of(request);
    int rank = ompi_comm_rank(cid->comm), rc;
    ompi_request_t *receive;

    cid->number = mpix_endpoints_notes_count(cid->comm);
    cid->tag = mpix_endpoints_cid_tag(MPIX_ENDPOINTS_CID_AGREE, cid->number);
    if (0 == rank) {
        cid->words[CID_ID] = mpix_endpoints_table()->context_ids(
            mpix_endpoints_cid_block(cid->newcomm, cid->comm));
        return cid_pass_on(request);
    }
    rc = MCA_PML_CALL(irecv(cid->words, CID_WORDS, MPI_UINT64_T, (rank - 1) / 2, cid->tag,
                            cid->comm, &receive));
    return cid_then(request, cid_pass_on, &receive, OMPI_SUCCESS == rc ? 1 : 0, rc);
}

/**
 * On an intercommunicator libmpi has made the new local communicator before; it is known by the
 * number of its own agreement, which is the same on both sides: they make theirs in step.
 */
static int cid_agree_inter(ompi_comm_request_t *request)
{
    mpix_endpoints_cid_t *cid = cid_of(request);
    ompi_communicator_t *local = cid->newcomm->c_local_comm;

    if (OMPI_COMM_IS_INTRA(cid->newcomm)
        || cid->comm->c_local_group->grp_proc_count != local->c_local_group->grp_proc_count) {
        return MPI_ERR_UNSUPPORTED_OPERATION; /* not idup; libmpi has nothing else nonblocking */
    }
    cid->tag = mpix_endpoints_cid_tag(MPIX_ENDPOINTS_CID_AGREE_INTER,
                                      mpix_endpoints_notes_number(local));
    cid->last = cid_agreed;
    if (0 == ompi_comm_rank(cid->comm)) {
        cid->words[CID_ID] = mpix_endpoints_table()->context_ids(1);
    }
    return cid_exchange(request);
}

/* ---- activation ------------------------------------------------------------------------------ */

/**
 * Where the slot of an intercommunicator is below that of its local communicator, libmpi gives it a
 * second reference, and frees it twice: the second time it looks the communicator up by its slot,
 * and then once more, after its end.  By then the slot may be another thread's.  Nothing depends on
 * the reference for ours.
 */
static void cid_drop_extra_reference(ompi_communicator_t *comm)
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

static int cid_activated(ompi_comm_request_t *request)
{
    if (OMPI_SUCCESS != request->super.req_status.MPI_ERROR) {
        return request->super.req_status.MPI_ERROR;
    }
    cid_drop_extra_reference(cid_of(request)->newcomm);
    return 0 == cid_of(request)->words[CID_STATUS] ? OMPI_SUCCESS : OMPI_ERROR;
}

/** This side is ready. */
static int cid_activated_side(ompi_comm_request_t *request)
{
    cid_note_errors(request);
    return cid_exchange(request);
}

/** This member is ready.  Where libmpi has not seen to it, its root asks all of this side whether
 * they are: who hears that the call is through may send to any of them. */
static int cid_activated_local(ompi_comm_request_t *request)
{
#if MPIX_ENDPOINTS_SIDES_MEET
    return cid_activated_side(request);
#else
    mpix_endpoints_cid_t *cid = cid_of(request);
    ompi_communicator_t *comm = cid->newcomm->c_local_comm;
    const bool is_root = cid->root == ompi_comm_rank(comm);
    ompi_request_t *reduction;
    int rc;

    cid_note_errors(request);
    rc = comm->c_coll->coll_ireduce(is_root ? MPI_IN_PLACE : cid->words,
                                    is_root ? cid->words : NULL, CID_WORDS, MPI_UINT64_T,
                                    MPI_MAX, cid->root, comm, &reduction,
                                    comm->c_coll->coll_ireduce_module);
    return cid_then(request, cid_activated_side, &reduction, OMPI_SUCCESS == rc ? 1 : 0, rc);
#endif
}

/** Activate an intercommunicator: each side for itself, then the roots exchange. */
static int cid_activate_inter(ompi_communicator_t **newcomm_p, ompi_communicator_t *comm,
                              ompi_request_t **request_p)
{
    ompi_communicator_t *newcomm = *newcomm_p;
    ompi_comm_request_t *request = cid_request(newcomm, comm, OMPI_COMM_CID_INTER);
    uint64_t context = mpix_endpoints_notes_context(newcomm);
    int tag = mpix_endpoints_cid_tag(MPIX_ENDPOINTS_CID_ACTIVATE, context), rc;
    mpix_endpoints_cid_t *cid;
    ompi_request_t *local;

    if (NULL == request) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    cid = cid_of(request);
    cid->tag = mpix_endpoints_cid_tag(MPIX_ENDPOINTS_CID_ACTIVATE_INTER, context);
    cid->last = cid_activated;
    /* The roots: found by rank in comm, for the order of the remote group see cid_offset. */
    (void) mpix_endpoints_cid_lowest_rank(newcomm->c_local_group,
                                          newcomm->c_local_group->grp_proc_count,
                                          comm->c_local_group, &cid->root);
    cid->remote = mpix_endpoints_cid_lowest_rank(newcomm->c_remote_group,
                                                 newcomm->c_remote_group->grp_proc_count,
                                                 comm->c_remote_group, NULL);
    rc = MPIX_ENDPOINTS_ORIGINAL(ompi_comm_activate_nb)(newcomm_p, newcomm->c_local_comm, NULL,
                                                        &tag, NULL, false, OMPI_COMM_CID_GROUP,
                                                        &local);
    return cid_start(request,
                     cid_then(request, cid_activated_local, &local, OMPI_SUCCESS == rc ? 1 : 0, rc),
                     request_p);
}

/** What tells this activation from others under way.  Ids of groups are drawn by different
 * processes, whose counts may be equal. */
static uint64_t cid_key(const ompi_communicator_t *newcomm)
{
    const uint64_t context = mpix_endpoints_notes_context(newcomm);

    return context + (context >> 39) * UINT32_C(2654435761);
}

/** Activate for an endpoint.  Who is no member has nothing to activate and nobody to wait for. */
static int cid_activate(ompi_communicator_t **newcomm, ompi_communicator_t *comm,
                        ompi_communicator_t *bridgecomm, const void *arg0, const void *arg1,
                        bool send_first, int mode, ompi_request_t **request)
{
    int tag;

    if ((OMPI_COMM_CID_INTRA == mode || OMPI_COMM_CID_INTER == mode)
        && !mpix_endpoints_cid_participates(*newcomm)) {
        *request = &ompi_request_empty;
        return OMPI_SUCCESS;
    }
    switch (mode) {
    case OMPI_COMM_CID_INTRA:
    case OMPI_COMM_CID_GROUP: /* blocking; not with the user's tag, which his messages may have */
        /* As if by a group, which is along a tree of messages with this tag. */
        tag = mpix_endpoints_cid_tag(MPIX_ENDPOINTS_CID_ACTIVATE, cid_key(*newcomm));
        arg0 = &tag;
        mode = OMPI_COMM_CID_GROUP;
        break;
    case OMPI_COMM_CID_INTER:
        if (OMPI_COMM_IS_INTER(*newcomm)) {
            return cid_activate_inter(newcomm, comm, request);
        }
        break; /* a merge, which is blocking */
    default:
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    return MPIX_ENDPOINTS_ORIGINAL(ompi_comm_activate_nb)(newcomm, comm, bridgecomm, arg0, arg1,
                                                          send_first, mode, request);
}

/* ---- the seams ------------------------------------------------------------------------------- */

int MPIX_ENDPOINTS_SEAM(ompi_comm_nextcid_nb)(ompi_communicator_t *newcomm,
                                              ompi_communicator_t *comm,
                                              ompi_communicator_t *bridgecomm, const void *arg0,
                                              const void *arg1, bool send_first, int mode,
                                              ompi_request_t **request_p)
{
    ompi_comm_request_t *request;

    if (OPAL_UNLIKELY(mpix_endpoints_cid_refused(newcomm, comm))) {
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    if (OPAL_LIKELY(!mpix_endpoints_is_endpoint_comm(comm))) {
        return MPIX_ENDPOINTS_ORIGINAL(ompi_comm_nextcid_nb)(newcomm, comm, bridgecomm, arg0,
                                                             arg1, send_first, mode, request_p);
    }
    if (OMPI_COMM_CID_INTRA != mode && OMPI_COMM_CID_INTER != mode) {
        return MPI_ERR_UNSUPPORTED_OPERATION; /* libmpi has nothing nonblocking in other modes */
    }
    request = cid_request(newcomm, comm, mode);
    if (NULL == request) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    return cid_start(request,
                     OMPI_COMM_CID_INTRA == mode ? cid_agree_intra(request)
                                                 : cid_agree_inter(request),
                     request_p);
}
MPIX_ENDPOINTS_SEAM_DEFINED(ompi_comm_nextcid_nb);

int MPIX_ENDPOINTS_SEAM(ompi_comm_activate_nb)(ompi_communicator_t **newcomm,
                                               ompi_communicator_t *comm,
                                               ompi_communicator_t *bridgecomm, const void *arg0,
                                               const void *arg1, bool send_first, int mode,
                                               ompi_request_t **request)
{
    int rc;

    if (OPAL_LIKELY(!mpix_endpoints_is_endpoint_comm(comm))) {
        return MPIX_ENDPOINTS_ORIGINAL(ompi_comm_activate_nb)(newcomm, comm, bridgecomm, arg0,
                                                              arg1, send_first, mode, request);
    }
    rc = cid_activate(newcomm, comm, bridgecomm, arg0, arg1, send_first, mode, request);
    if (OMPI_SUCCESS != rc && MPI_COMM_NULL == *newcomm) {
        *newcomm = mpix_endpoints_cid_null(); /* libmpi's has released it */
    }
    if (OMPI_SUCCESS == rc && &ompi_request_empty != *request) {
        /* libmpi leaves this unset; waiting goes by it (which endpoint is to be progressed). */
        (*request)->req_mpi_object.comm = comm;
    }
    return rc;
}
MPIX_ENDPOINTS_SEAM_DEFINED(ompi_comm_activate_nb);
