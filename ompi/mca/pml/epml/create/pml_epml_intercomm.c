/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Intercomm_create, and connections by a port, where at least one of the two groups is of
 * endpoints.
 *
 * Endpoints of different creations have never heard of each other, and processes have no endpoint
 * at all.  So the leaders first tell each other what they lead (the hello); if both lead processes,
 * Open MPI goes on as ever.  Otherwise it is a creation (pml_epml_creation.h) to which each member
 * brings one endpoint: its own, or, if it is a process, one that it makes for it, and which lives
 * as long as the communicators that come of it.  Children of a spawn may bring more: all those that
 * their processes have.  The local communicators inside the new handles are
 * of endpoints on both sides, so that nothing that comes after has to tell the two kinds apart.
 *
 * Called through the link table.
 *
 * Tests: comm_bridge, comm_inter, jobs_spawn, jobs_endpoints, jobs_all, ulfm_spawn, ulfm_connect
 */

#include "ompi_config.h"

#include "../engine/engine.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_address.h"
#include "pml_epml_create.h"
#include "pml_epml_creation.h"

#include "ompi/constants.h"

/** "EPML", and a number that is raised whenever what follows changes. */
#define HELLO_MARK ((UINT64_C(0x45504d4c) << 32) | 4)

/** Members in more than one process, or of more than one job. */
#define HELLO_SEVERAL UINT32_MAX

/** Members on more than one node. */
#define HELLO_SEVERAL_NODES 0

/** In the place of members: this side was to bring endpoints, and has none. */
#define HELLO_NOBODY (-1)

/** What leaders tell each other, and then their sides. */
typedef struct hello_t {
    uint64_t mark;
    int32_t size;      /**< members, or HELLO_NOBODY */
    int32_t endpoints; /**< 1: a communicator of endpoints */
    uint32_t process;  /**< rank in its job of the one in which all members are, or HELLO_SEVERAL */
    int32_t error;     /**< between leader and own side only */
    uint32_t job;      /**< of all members, or HELLO_SEVERAL */
    uint32_t node;     /**< a hash of the name of the one where all are, or HELLO_SEVERAL_NODES */
} hello_t;

/** What a process brings whose side is of processes, each with all its endpoints. */
typedef struct own_t {
    ompi_communicator_t *const *handles; /**< of one communicator, which has all of the side's */
    int count;                           /**< may be 0 */
    int failed;                          /**< OMPI_SUCCESS, or why the side has none */
} own_t;

/* ---- hello ----------------------------------------------------------------------------------- */

/** The one process that all members of a group are in. */
static uint32_t common_process(ompi_group_t *group)
{
    opal_process_name_t first = ompi_group_get_proc_name(group, 0);

    for (int i = 1; i < group->grp_proc_count; ++i) {
        opal_process_name_t name = ompi_group_get_proc_name(group, i);

        if (!mca_pml_epml_same_process(&name, &first)) {
            return HELLO_SEVERAL;
        }
    }
    return mca_pml_epml_name_process(&first).vpid;
}

static uint32_t common_job(ompi_group_t *group)
{
    return mca_pml_epml_group_is_of_this_job(group) ? OMPI_PROC_MY_NAME->jobid : HELLO_SEVERAL;
}

/** The one node on which all members of a group are.  That two names have one hash does no harm:
 * memory cannot be shared then, which all members will learn. */
static uint32_t common_node(ompi_group_t *group)
{
    return 0 != (mca_pml_epml_group_transports(group) & EPML_WITH_NET)
               ? HELLO_SEVERAL_NODES
               : mca_pml_epml_host(OMPI_PROC_MY_NAME);
}

/** The leader's arguments, which are significant only there. */
static int check_bridge(const mca_pml_epml_bootstrap_t *bootstrap)
{
    if (ompi_comm_invalid(bootstrap->bridge) || OMPI_COMM_IS_INTER(bootstrap->bridge)) {
        return MPI_ERR_COMM;
    }
    if (0 > bootstrap->remote_leader
        || ompi_comm_size(bootstrap->bridge) <= bootstrap->remote_leader) {
        /* To processes, what Open MPI says. */
        return mca_pml_epml_is_endpoint_comm(bootstrap->comm) ? MPI_ERR_RANK : OMPI_ERR_BAD_PARAM;
    }
    return OMPI_SUCCESS;
}

/** The leader's part.
 *
 * @param[in]  own     what its side brings, or NULL: as many endpoints as members
 * @param[in]  rc      what is wrong with the bridge
 * @param[out] hellos  own side's, theirs */
static int exchange_hellos(mca_pml_epml_bootstrap_t *bootstrap, const own_t *own, int rc,
                           hello_t hellos[2])
{
    ompi_communicator_t *comm = bootstrap->comm;

    hellos[0] = (hello_t){.mark = HELLO_MARK,
                          .size = NULL != own && OMPI_SUCCESS != own->failed ? HELLO_NOBODY
                                                                             : ompi_comm_size(comm),
                          .endpoints = NULL != own || mca_pml_epml_is_endpoint_comm(comm),
                          .process = common_process(comm->c_local_group),
                          .job = common_job(comm->c_local_group),
                          .node = common_node(comm->c_local_group)};
    if (OMPI_SUCCESS == rc) {
        rc = mca_pml_epml_bootstrap_exchange(bootstrap, OMPI_SUCCESS, &hellos[0], sizeof(hellos[0]),
                                             &hellos[1], sizeof(hellos[1]));
    }
    if (OMPI_SUCCESS == rc && (HELLO_MARK != hellos[1].mark || 0 >= hellos[1].size)) {
        rc = HELLO_NOBODY == hellos[1].size ? MPI_ERR_SPAWN : MPI_ERR_UNSUPPORTED_OPERATION;
    }
    return OMPI_SUCCESS == rc && NULL != own ? own->failed : rc;
}

/** Learn the members of the other side.
 *
 * @param[in]  own        see exchange_hellos
 * @param[in]  bridge_rc  the leader's: what is wrong with the bridge
 * @param[out] hellos     own side's, theirs; at a leader also after a failure, if bootstrap->owes
 * @return OMPI_SUCCESS, or an error, the same on all of a side that has not lost a member */
static int say_hello(mca_pml_epml_bootstrap_t *bootstrap, const own_t *own, int bridge_rc,
                     hello_t hellos[2])
{
    int rc;

    memset(hellos, 0, 2 * sizeof(hellos[0]));
    if (ompi_comm_rank(bootstrap->comm) == bootstrap->leader) {
        hellos[0].error = exchange_hellos(bootstrap, own, bridge_rc, hellos);
    }
    rc = mca_pml_epml_bootstrap_pass_on(bootstrap, hellos, 2 * sizeof(hellos[0]));
    return OMPI_SUCCESS == rc ? hellos[0].error : rc;
}

/* ---- the creation ---------------------------------------------------------------------------- */

/** The transports by which all members are reached. */
static unsigned int transports_needed(const hello_t *mine, const hello_t *theirs)
{
    if (HELLO_SEVERAL != mine->process && mine->process == theirs->process
        && mine->job == theirs->job) {
        return 0;
    }
    return HELLO_SEVERAL_NODES != mine->node && mine->node == theirs->node
               ? EPML_WITH_NODE
               : EPML_WITH_NODE | EPML_WITH_NET;
}

/** Are the two sides disjoint?  Index 0 of every creation is its parent's member itself. */
static int intercomm_fit(const mca_pml_epml_creation_t *creation)
{
    for (int i = 0; i < creation->remote.total; ++i) {
        const mca_pml_epml_address_t *theirs = epml_side_address(&creation->remote, i);

        for (int j = 0; j < creation->local.total; ++j) {
            const mca_pml_epml_address_t *mine = epml_side_address(&creation->local, j);

            if (0 == memcmp(&theirs->name, &mine->name, sizeof(mine->name))) {
                return MPI_ERR_COMM;
            }
        }
    }
    return OMPI_SUCCESS;
}

static int intercomm_init_handle(const mca_pml_epml_creation_t *creation,
                                 ompi_communicator_t *handle)
{
    snprintf(handle->c_name, MPI_MAX_OBJECT_NAME, "MPI COMM %s INTERCOMM FROM %s",
             ompi_comm_print_cid(handle), ompi_comm_print_cid(creation->parent));
    return OMPI_SUCCESS;
}

static const mca_pml_epml_creation_ops_t intercomm_ops = {.fit = intercomm_fit,
                                                          .dress = intercomm_init_handle};

/** Memory for what a creation makes of a process's endpoints. */
typedef struct brought_t {
    mca_pml_epml_ep_t **eps;
    opal_process_name_t *names;
} brought_t;

/** All endpoints of this process.  Without memory it brings none, and its error.
 *
 * @param[out] brought  the caller's, for brought_free */
static void intercomm_bring_own(mca_pml_epml_creation_t *creation, const own_t *own,
                                brought_t *brought)
{
    const size_t room = (size_t) own->count + 1;

    brought->eps = calloc(room, sizeof(*brought->eps));
    brought->names = calloc(room, sizeof(*brought->names));
    creation->num_ep = own->count;
    creation->promise = false;
    if (NULL == brought->eps || NULL == brought->names) {
        creation->num_ep = 0;
        creation->error = MPIX_ENDPOINTS_ERR_RESOURCE;
    }
    for (int i = 0; i < creation->num_ep; ++i) {
        ompi_communicator_t *handle = own->handles[i];

        brought->eps[i] = mca_pml_epml_comm(handle)->ep;
        mca_pml_epml_ep_retain(brought->eps[i]);
        brought->names[i] = ompi_group_get_proc_name(handle->c_local_group, ompi_comm_rank(handle));
        creation->known = mca_pml_epml_comm(handle)->local;
    }
    creation->eps = brought->eps;
    creation->names = brought->names;
}

static void brought_free(brought_t *brought)
{
    free(brought->eps);
    free(brought->names);
}

/** @param[in]  bootstrap  in which hellos were exchanged
 * @param[in]  own      what this process brings; NULL: the one endpoint of its member
 * @param[in]  failed   see epml_phases_run
 * @param[out] handles  as many, NULL before */
static int intercomm_make(const mca_pml_epml_bootstrap_t *bootstrap, const own_t *own,
                          const hello_t hellos[2], int failed, ompi_communicator_t **handles,
                          mpix_endpoints_error_t *error)
{
    ompi_communicator_t *comm = bootstrap->comm;
    mca_pml_epml_ep_t *ep = NULL;
    brought_t brought = {.eps = NULL};
    mca_pml_epml_creation_t creation = {
        .ops = &intercomm_ops,
        .parent = comm,
        .rank = ompi_comm_rank(comm),
        .name = ompi_group_get_proc_name(comm->c_local_group, ompi_comm_rank(comm)),
        .bootstrap = *bootstrap,
        .local = {.members = hellos[0].size, .group = comm->c_local_group},
        .remote = {.members = hellos[1].size},
        .num_ep = 1,
        .eps = &ep,
        .handles = handles,
        .has_eps = hellos[0].endpoints,
        .promise = true,
        .level = EPML_LEVEL_MULTIPLE,
        .transports = transports_needed(&hellos[0], &hellos[1])};
    int rc;

    if (NULL != own) {
        intercomm_bring_own(&creation, own, &brought);
    } else if (creation.has_eps) {
        ep = mca_pml_epml_comm(comm)->ep;
        mca_pml_epml_ep_retain(ep);
        creation.known = mca_pml_epml_comm(comm)->local;
    }
    rc = mca_pml_epml_creation_run(&creation, failed);
    *error = MPI_ERR_COMM == rc ? MPIX_ENDPOINTS_OK : creation.error;
    brought_free(&brought);
    return rc;
}

/** @param[in]     own        see create
 * @param[in]     bridge_rc  see say_hello
 * @param[out]    handles    see create
 * @param[in,out] served     two groups of processes are served, too; see then
 *                           mca_pml_epml_intercomm_create
 * @param[out]    error      likewise */
static int intercomm_meet(mca_pml_epml_bootstrap_t *bootstrap, const own_t *own, int bridge_rc,
                          ompi_communicator_t **handles, bool *served,
                          mpix_endpoints_error_t *error)
{
    hello_t hellos[2];
    int rc = say_hello(bootstrap, own, bridge_rc, hellos);
    const bool goes_on = *served || hellos[0].endpoints || hellos[1].endpoints;

    *error = MPIX_ENDPOINTS_OK;
    *served = OMPI_SUCCESS != rc || goes_on;
    if (!goes_on || OMPI_SUCCESS != hellos[0].error || (OMPI_SUCCESS != rc && !bootstrap->owes)) {
        return rc;
    }
    if (hellos[0].job != hellos[1].job || HELLO_SEVERAL == hellos[0].job) {
        mca_pml_epml_context_widen();
    }
    return intercomm_make(bootstrap, own, hellos, rc, handles, error);
}

/** As meet, with the one handle of a member. */
static int meet_as_member(mca_pml_epml_bootstrap_t *bootstrap, int bridge_rc,
                          ompi_communicator_t **newcomm, bool *served,
                          mpix_endpoints_error_t *error)
{
    ompi_communicator_t *handle = NULL;
    const int rc = intercomm_meet(bootstrap, NULL, bridge_rc, &handle, served, error);

    if (OMPI_SUCCESS == rc && *served) {
        *newcomm = handle;
    }
    return rc;
}

int mca_pml_epml_intercomm_create(ompi_communicator_t *local_comm, int local_leader,
                                  ompi_communicator_t *bridge, int remote_leader, int tag,
                                  ompi_communicator_t **newcomm, bool *served,
                                  mpix_endpoints_error_t *error)
{
    mca_pml_epml_bootstrap_t bootstrap = {.comm = local_comm,
                                          .leader = local_leader,
                                          .two_sided = true,
                                          .bridge = bridge,
                                          .remote_leader = remote_leader,
                                          .tag = tag,
                                          .out_tag = tag};
    const int rc = ompi_comm_rank(local_comm) == local_leader ? check_bridge(&bootstrap)
                                                              : OMPI_SUCCESS;

    *served = false;
    return meet_as_member(&bootstrap, rc, newcomm, served, error);
}

static mca_pml_epml_bootstrap_t bootstrap_by(ompi_communicator_t *local_comm, int local_leader,
                                             const mpix_endpoints_bridge_t *bridge)
{
    return (mca_pml_epml_bootstrap_t){.comm = local_comm,
                                      .leader = local_leader,
                                      .two_sided = true,
                                      .bridge = bridge->comm,
                                      .remote_leader = bridge->remote_leader,
                                      .tag = bridge->tag,
                                      .out_tag = bridge->out_tag};
}

int mca_pml_epml_intercomm_connect(ompi_communicator_t *local_comm, int local_leader,
                                   const mpix_endpoints_bridge_t *bridge,
                                   ompi_communicator_t **newcomm, mpix_endpoints_error_t *error)
{
    mca_pml_epml_bootstrap_t bootstrap = bootstrap_by(local_comm, local_leader, bridge);
    bool served = true;

    return meet_as_member(&bootstrap, bridge->error, newcomm, &served, error);
}

int mca_pml_epml_intercomm_bring(ompi_communicator_t *processes, int local_leader,
                                 const mpix_endpoints_bridge_t *bridge, int failed,
                                 ompi_communicator_t *const own[], int count,
                                 ompi_communicator_t **newcomms, mpix_endpoints_error_t *error)
{
    mca_pml_epml_bootstrap_t bootstrap = bootstrap_by(processes, local_leader, bridge);
    const own_t all = {.handles = own, .count = count, .failed = failed};
    bool served = true;

    return intercomm_meet(&bootstrap, &all, bridge->error, newcomms, &served, error);
}
