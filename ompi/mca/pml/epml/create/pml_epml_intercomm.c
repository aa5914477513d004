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
 * MPI_Intercomm_create where at least one of the two groups is of endpoints.
 *
 * Endpoints of different creations have never heard of each other, and processes have no endpoint
 * at all.  So the leaders first tell each other what they lead (the hello); if both lead processes,
 * Open MPI goes on as ever.  Otherwise everybody hands out a card with name and addresses, as in a
 * creation; a process makes itself an endpoint for it, which lives as long as the communicators
 * that come of it.  The local communicators inside the new handles are of endpoints on both sides,
 * so that nothing that comes after has to tell the two kinds apart.
 *
 * Tests: comm_bridge, comm_inter
 */

#include "ompi_config.h"

#include "../calls/calls.h"
#include "../engine/engine.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_agree.h"
#include "pml_epml_card.h"
#include "pml_epml_create.h"
#include "pml_epml_handle.h"
#include "pml_epml_meeting.h"

#include "ompi/constants.h"

/** "EPML", and a number that is raised whenever what follows changes. */
#define HELLO_MARK ((UINT64_C(0x45504d4c) << 32) | 2)

/** Members in more than one process. */
#define HELLO_SEVERAL_PROCESSES UINT32_MAX

/** Members on more than one node. */
#define HELLO_SEVERAL_NODES 0

/** Members of more than one job, which makes no sense of any job's number. */
#define HELLO_SEVERAL_JOBS UINT32_MAX

/** What leaders tell each other, and then their sides. */
typedef struct hello_t {
    uint64_t mark;
    uint64_t contexts;  /**< first of two ids: for the new communicator, for own side's local one */
    int32_t size;       /**< members */
    int32_t endpoints;  /**< 1: a communicator of endpoints */
    uint32_t process;   /**< the one in which all members are, or HELLO_SEVERAL_PROCESSES */
    int32_t error;      /**< between leader and own side only */
    uint32_t job;       /**< of all members, or HELLO_SEVERAL_JOBS */
    uint32_t node;      /**< a hash of the name of the one where all are, or HELLO_SEVERAL_NODES */
} hello_t;

/** At one member. */
typedef struct bridging_t {
    ompi_communicator_t *comm;
    mca_pml_epml_meeting_t meeting;
    hello_t mine, theirs;

    mca_pml_epml_ep_t *ep;      /**< a reference of ours */
    mpix_endpoints_error_t error;
    bool without_node;          /**< somebody cannot use the node side: nobody does */
    unsigned int ways;          /**< that our endpoint needs */
    size_t card_size;
    unsigned char *cards;       /**< of own side, then of theirs */
    mca_pml_epml_peers_t *local, *remote;
} bridging_t;

/* ---- hello ----------------------------------------------------------------------------------- */

/** The one process that all members of a group are in. */
static uint32_t common_process(ompi_group_t *group)
{
    opal_process_name_t first = ompi_group_get_proc_name(group, 0);

    for (int i = 1; i < group->grp_proc_count; ++i) {
        opal_process_name_t name = ompi_group_get_proc_name(group, i);

        if (!mca_pml_epml_same_process(&name, &first)) {
            return HELLO_SEVERAL_PROCESSES;
        }
    }
    return first.vpid % ompi_process_info.num_procs;
}

static uint32_t common_job(ompi_group_t *group)
{
    return mca_pml_epml_group_is_of_this_job(group) ? OMPI_PROC_MY_NAME->jobid
                                                    : HELLO_SEVERAL_JOBS;
}

/** The one node on which all members of a group are.  That two names have one hash does no harm:
 * memory cannot be shared then, which everybody will learn. */
static uint32_t common_node(ompi_group_t *group)
{
    uint32_t hash = UINT32_C(2166136261); /* Fowler, Noll, Vo */

    if (0 != (mca_pml_epml_group_ways(group) & EPML_WITH_NET)) {
        return HELLO_SEVERAL_NODES;
    }
    for (const char *name = ompi_process_info.nodename; '\0' != *name; ++name) {
        hash = (hash ^ (unsigned char) *name) * UINT32_C(16777619);
    }
    return HELLO_SEVERAL_NODES == hash ? 1 : hash;
}

/** The leader's arguments, which nobody else's need to be like. */
static int check_bridge(const mca_pml_epml_meeting_t *meeting)
{
    if (ompi_comm_invalid(meeting->bridge) || OMPI_COMM_IS_INTER(meeting->bridge)) {
        return MPI_ERR_COMM;
    }
    if (0 > meeting->remote_leader
        || ompi_comm_size(meeting->bridge) <= meeting->remote_leader) {
        /* To processes, what Open MPI says. */
        return mca_pml_epml_is_endpoint_comm(meeting->comm) ? MPI_ERR_RANK : OMPI_ERR_BAD_PARAM;
    }
    return OMPI_SUCCESS;
}

/** Learn who the others are.  @return the same on all members of a side */
static int say_hello(bridging_t *bridging)
{
    const mca_pml_epml_meeting_t *meeting = &bridging->meeting;
    ompi_communicator_t *comm = bridging->comm;
    hello_t hellos[2];
    int rc;

    if (ompi_comm_rank(comm) == meeting->leader) {
        bridging->mine = (hello_t){.mark = HELLO_MARK,
                                   .contexts = mca_pml_epml_context_ids(2),
                                   .size = ompi_comm_size(comm),
                                   .endpoints = mca_pml_epml_is_endpoint_comm(comm),
                                   .process = common_process(comm->c_local_group),
                                   .job = common_job(comm->c_local_group),
                                   .node = common_node(comm->c_local_group)};
        rc = check_bridge(meeting);
        if (OMPI_SUCCESS == rc) {
            rc = mca_pml_epml_meeting_exchange(meeting, &bridging->mine, sizeof(bridging->mine),
                                               &bridging->theirs, sizeof(bridging->theirs));
        }
        if (OMPI_SUCCESS == rc
            && (HELLO_MARK != bridging->theirs.mark || 0 >= bridging->theirs.size)) {
            rc = MPI_ERR_UNSUPPORTED_OPERATION;
        }
        hellos[0] = bridging->mine;
        hellos[0].error = rc;
        hellos[1] = bridging->theirs;
    }
    rc = mca_pml_epml_meeting_pass_on(meeting, hellos, sizeof(hellos));
    if (OMPI_SUCCESS == rc) {
        bridging->mine = hellos[0];
        bridging->theirs = hellos[1];
        rc = hellos[0].error;
    }
    return rc;
}

/* ---- own endpoint ---------------------------------------------------------------------------- */

/** By which ways everybody is reached. */
static unsigned int ways_needed(const bridging_t *bridging)
{
    const hello_t *mine = &bridging->mine, *theirs = &bridging->theirs;

    if (HELLO_SEVERAL_PROCESSES != mine->process && mine->process == theirs->process) {
        return 0;
    }
    if (bridging->without_node) {
        return EPML_WITH_NET;
    }
    return HELLO_SEVERAL_NODES != mine->node && mine->node == theirs->node
               ? EPML_WITH_NODE
               : EPML_WITH_NODE | EPML_WITH_NET;
}

/** Have an endpoint that reaches everybody. */
static mpix_endpoints_error_t prepare_endpoint(bridging_t *bridging)
{
    const bool is_new = NULL == bridging->ep && !bridging->mine.endpoints;
    mpix_endpoints_error_t error = mca_pml_epml_ep_reserve(is_new ? 1 : 0);
    int rc;

    if (MPIX_ENDPOINTS_OK != error) {
        return error;
    }
    bridging->ways = ways_needed(bridging);
    rc = mca_pml_epml_serve();
    if (OMPI_SUCCESS == rc && is_new) {
        rc = mca_pml_epml_ep_create(EPML_LEVEL_MULTIPLE, bridging->ways, &bridging->ep);
    } else if (OMPI_SUCCESS == rc) {
        if (NULL == bridging->ep) {
            bridging->ep = mca_pml_epml_comm(bridging->comm)->ep;
            mca_pml_epml_ep_retain(bridging->ep);
        }
        rc = mca_pml_epml_ep_need(bridging->ep, bridging->ways);
    }
    if (is_new && NULL == bridging->ep) {
        mca_pml_epml_ep_unreserve(1);
    }
    return OMPI_SUCCESS == rc ? MPIX_ENDPOINTS_OK : MPIX_ENDPOINTS_ERR_RESOURCE;
}

/* ---- cards ----------------------------------------------------------------------------------- */

/** @param[in] rank  own side's, then theirs */
static mca_pml_epml_card_t *card_of(const bridging_t *bridging, int rank)
{
    return (mca_pml_epml_card_t *) (bridging->cards + (size_t) rank * bridging->card_size);
}

/** Agree on the size of a card, and that everybody has come so far. */
static int agree(bridging_t *bridging)
{
    const size_t members = (size_t) bridging->mine.size + (size_t) bridging->theirs.size;
    struct {
        int64_t error, card_size;
        mca_pml_epml_node_state_t node;
    } values = {.error = prepare_endpoint(bridging), .card_size = sizeof(mca_pml_epml_card_t)};
    int64_t failed;
    int rc;

    if (MPIX_ENDPOINTS_OK == values.error) {
        values.card_size = (int64_t) mca_pml_epml_card_size(bridging->ep,
                                                            !bridging->without_node);
        mca_pml_epml_node_state_add(&values.node, bridging->ep, bridging->ways);
    }
    rc = mca_pml_epml_meeting_max(&bridging->meeting, (int64_t *) &values,
                                  sizeof(values) / sizeof(int64_t), NULL);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    bridging->error = (mpix_endpoints_error_t) values.error;
    if (MPIX_ENDPOINTS_OK != bridging->error) {
        return OMPI_ERROR;
    }
    if (mca_pml_epml_node_state_is_split(&values.node)) {
        bridging->without_node = true;
        return agree(bridging);
    }
    bridging->card_size = (size_t) values.card_size;
    bridging->cards = calloc(members, bridging->card_size);
    failed = NULL == bridging->cards || INT_MAX / bridging->card_size < members;
    rc = mca_pml_epml_meeting_max(&bridging->meeting, &failed, 1, NULL);
    if (OMPI_SUCCESS == rc && 0 != failed) {
        bridging->error = MPIX_ENDPOINTS_ERR_RESOURCE;
        rc = OMPI_ERR_OUT_OF_RESOURCE;
    }
    return rc;
}

static int gather_cards(bridging_t *bridging)
{
    ompi_communicator_t *comm = bridging->comm;
    const int rank = ompi_comm_rank(comm);
    opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, rank);
    int rc = OMPI_SUCCESS;

    mca_pml_epml_card_write(card_of(bridging, rank), bridging->ep,
                            !bridging->without_node, &name);
    if (1 < bridging->mine.size) {
        rc = comm->c_coll->coll_allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, bridging->cards,
                                          (int) bridging->card_size, MPI_BYTE, comm,
                                          comm->c_coll->coll_allgather_module);
    }
    if (OMPI_SUCCESS == rc) {
        rc = mca_pml_epml_meeting_swap(&bridging->meeting, bridging->cards,
                                       (size_t) bridging->mine.size * bridging->card_size,
                                       card_of(bridging, bridging->mine.size),
                                       (size_t) bridging->theirs.size * bridging->card_size);
    }
    return rc;
}

/** Is somebody on both sides?  Index 0 of every creation is its parent's member itself. */
static bool sides_overlap(const bridging_t *bridging)
{
    for (int i = 0; i < bridging->theirs.size; ++i) {
        const mca_pml_epml_card_t *theirs = card_of(bridging, bridging->mine.size + i);

        for (int j = 0; j < bridging->mine.size; ++j) {
            const mca_pml_epml_card_t *mine = card_of(bridging, j);

            if (theirs->name.vpid == mine->name.vpid && theirs->name.jobid == mine->name.jobid) {
                return true;
            }
        }
    }
    return false;
}

/* ---- peers ----------------------------------------------------------------------------------- */

/** The peers of count cards, from the first one on.  @return as mca_pml_epml_card_peer */
static int make_peers(const bridging_t *bridging, int first, int count,
                      mca_pml_epml_peers_t **peers_p)
{
    mca_pml_epml_peers_t *peers = mca_pml_epml_peers_create(count);
    int rc = NULL != peers ? OMPI_SUCCESS : OMPI_ERR_OUT_OF_RESOURCE;

    for (int i = 0; OMPI_SUCCESS == rc && i < count; ++i) {
        const mca_pml_epml_card_t *card = card_of(bridging, first + i);

        rc = mca_pml_epml_card_is_sound(card, bridging->card_size)
                 ? mca_pml_epml_card_peer(card, bridging->ep, &peers->member[i])
                 : OMPI_ERR_BAD_PARAM;
    }
    if (OMPI_SUCCESS == rc) {
        *peers_p = peers;
    } else if (NULL != peers) {
        mca_pml_epml_peers_release(peers);
    }
    return rc;
}

static int make_sides(bridging_t *bridging)
{
    int rc = OMPI_SUCCESS;

    if (bridging->mine.endpoints) {
        bridging->local = mca_pml_epml_comm(bridging->comm)->local;
        mca_pml_epml_peers_retain(bridging->local);
    } else {
        rc = make_peers(bridging, 0, bridging->mine.size, &bridging->local);
    }
    if (OMPI_SUCCESS == rc) {
        rc = make_peers(bridging, bridging->mine.size, bridging->theirs.size, &bridging->remote);
    }
    if (OMPI_SUCCESS == rc) {
        mca_pml_epml_peers_intern(bridging->mine.contexts < bridging->theirs.contexts
                                      ? bridging->mine.contexts : bridging->theirs.contexts,
                                  &bridging->local, &bridging->remote);
    }
    return rc;
}

/** Give up what the cards gave us. */
static void forget_cards(bridging_t *bridging)
{
    if (NULL != bridging->local) {
        mca_pml_epml_peers_release(bridging->local);
        bridging->local = NULL;
    }
    if (NULL != bridging->remote) {
        mca_pml_epml_peers_release(bridging->remote);
        bridging->remote = NULL;
    }
    free(bridging->cards);
    bridging->cards = NULL;
}

/* ---- the handle ------------------------------------------------------------------------------ */

static int make_handle(const bridging_t *bridging, ompi_communicator_t **newcomm)
{
    const int rank = ompi_comm_rank(bridging->comm);
    const uint64_t mine = bridging->mine.contexts, theirs = bridging->theirs.contexts;
    ompi_communicator_t *local = NULL;
    int rc;

    rc = mca_pml_epml_handle_intra(bridging->comm, bridging->ep, mine + 1, bridging->local, rank,
                                   &local);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    if (!bridging->mine.endpoints) {
        mca_pml_epml_ep_introduce(bridging->ep, bridging->local->member[rank]);
    }
    rc = mca_pml_epml_handle_inter(local, mine < theirs ? mine : theirs, bridging->remote,
                                   newcomm);
    if (OMPI_SUCCESS != rc) {
        (void) ompi_comm_free(&local);
        return rc;
    }
    snprintf((*newcomm)->c_name, MPI_MAX_OBJECT_NAME, "MPI COMM %s INTERCOMM FROM %s",
             ompi_comm_print_cid(*newcomm), ompi_comm_print_cid(bridging->comm));
    return OMPI_SUCCESS;
}

/** From the cards to the handle.
 *
 * @param[out] again_p  somebody cannot share memory with somebody on its node
 * @return OMPI_SUCCESS only if every member has its handle */
static int build(bridging_t *bridging, ompi_communicator_t **newcomm, bool *again_p)
{
    int64_t outcome[2];
    int rc = gather_cards(bridging);

    if (OMPI_SUCCESS == rc && sides_overlap(bridging)) {
        return MPI_ERR_COMM; /* everybody sees the same cards */
    }
    if (OMPI_SUCCESS == rc) {
        rc = make_sides(bridging);
    }
    if (OMPI_SUCCESS == rc) {
        rc = make_handle(bridging, newcomm);
    }
    outcome[0] = OMPI_SUCCESS != rc && OMPI_ERR_UNREACH != rc;
    outcome[1] = OMPI_ERR_UNREACH == rc;
    if (OMPI_SUCCESS != mca_pml_epml_meeting_max(&bridging->meeting, outcome, 2, NULL)) {
        if (NULL != *newcomm) {
            mca_pml_epml_comm_leave(*newcomm); /* others may have agreed that all is well */
        }
        outcome[0] = 1;
    }
    if (0 == outcome[0] && 0 == outcome[1]) {
        return OMPI_SUCCESS;
    }
    *again_p = 0 == outcome[0] && !bridging->without_node;
    if (!*again_p) {
        bridging->error = MPIX_ENDPOINTS_ERR_RESOURCE;
    }
    if (NULL != *newcomm) {
        (void) ompi_comm_free(newcomm);
        *newcomm = NULL;
    }
    return OMPI_SUCCESS != rc ? rc : OMPI_ERROR;
}

int mca_pml_epml_intercomm_create(ompi_communicator_t *local_comm, int local_leader,
                                  ompi_communicator_t *bridge, int remote_leader, int tag,
                                  ompi_communicator_t **newcomm, bool *served,
                                  mpix_endpoints_error_t *error)
{
    bridging_t bridging = {.comm = local_comm,
                           .meeting = {.comm = local_comm,
                                       .leader = local_leader,
                                       .two_sided = true,
                                       .bridge = bridge,
                                       .remote_leader = remote_leader,
                                       .tag = tag}};
    ompi_communicator_t *handle = NULL;
    bool again;
    int rc = say_hello(&bridging);

    *error = MPIX_ENDPOINTS_OK;
    *served = OMPI_SUCCESS != rc || bridging.mine.endpoints || bridging.theirs.endpoints;
    if (!*served || OMPI_SUCCESS != rc) {
        return rc;
    }
    if (bridging.mine.job != bridging.theirs.job || HELLO_SEVERAL_JOBS == bridging.mine.job) {
        return MPI_ERR_UNSUPPORTED_OPERATION; /* as everybody sees, on both sides */
    }
    do {
        again = false;
        rc = agree(&bridging);
        if (OMPI_SUCCESS == rc) {
            rc = build(&bridging, &handle, &again);
        }
        bridging.without_node = bridging.without_node || again;
        forget_cards(&bridging);
    } while (again);
    if (OMPI_SUCCESS == rc) {
        *newcomm = handle;
    }
    if (NULL != bridging.ep) {
        mca_pml_epml_ep_release(bridging.ep);
    }
    *error = bridging.error;
    return rc;
}
