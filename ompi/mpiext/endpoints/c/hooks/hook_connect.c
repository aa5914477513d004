/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Connections: MPI_Comm_connect, MPI_Comm_accept, and what a spawn, and a spawned process's
 * MPI_Init, do when the processes are there.
 *
 * libmpi lets the launcher connect all members, and the launcher knows no endpoints.  So where one
 * side is of endpoints the two roots alone meet by the port; over the communicator of processes
 * that comes of it, the bridge, pml/epml makes an intercommunicator, as in MPI_Intercomm_create.
 *
 * libmpi's roots exchange lists of members, which are strings, under the name of the port.  Ours add
 * a mark behind the last number, where libmpi reads none any more: their identities.  So both know
 * before anything else is done, and a side without this library sees no difference.
 *
 * | mine      | theirs                     | bridge                                             |
 * |-----------|----------------------------|----------------------------------------------------|
 * | processes | processes, or no mark      | none: libmpi's own                                 |
 * | any       | either one is of endpoints | if both roots are of one job: bridge_in_job;       |
 * |           |                            | else libmpi connects the members of a side of      |
 * |           |                            | processes, and of one of endpoints the root alone  |
 * | endpoints | no mark                    | none: an error                                     |
 *
 * Parents that want all endpoints of their children (the info key mpix_remote_group) meet like
 * endpoints, be they processes, and say so in their mark.  Children that will make endpoints then
 * keep the bridge, and meet their parents when they have them (static/parent.c).
 *
 * Tests: jobs_endpoints, jobs_all, ulfm_connect, install/ranks (ompi_dpm_disconnect)
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "../static/static.h"
#include "hooks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ompi/constants.h"
#include "ompi/dpm/dpm.h"
#include "ompi/runtime/mpiruntime.h"
#include "opal/mca/common/ep/common_ep_hash.h"
#include "opal/mca/pmix/pmix-internal.h"
#include "opal/util/proc.h"

/** Begins what is behind a list of members.  libmpi splits lists at colons, and names at their last
 * dot. */
#define MARK "+ep"

/** The roots are of one job.  libmpi's own codes are far above. */
#define MEET_IN_JOB (-0x51000)

/** The root has met the other one alone, for a side of processes: likewise. */
#define MEET_BY_ROOT (-0x51001)

/** The other side has failed before: likewise. */
#define OTHER_HAS_FAILED (-0x51002)

/** Behind a mark: this side wants all endpoints of the other one. */
#define MARK_ALL ",all"

/** The first tag in MPI_COMM_WORLD, downwards: two for each port, by a hash of its name.  Far below
 * those of libmpi's collectives, and within what pml/ucx has room for. */
#define FIRST_TAG (-0x200000)
#define NUM_PORTS 0x100000u

/** What a root says of its side. */
typedef struct side_t {
    bool is_marked;
    bool are_endpoints; /**< or meet like endpoints */
    bool wants_all;     /**< endpoints of the other side, which are children */
    uint32_t job, vpid; /**< the root's process */
    int rank;           /**< in the communicator that libmpi connects */
} side_t;

/** A connection, at the root while libmpi's function runs. */
typedef struct exchange_t {
    ompi_communicator_t *comm; /**< that libmpi connects */
    int root;
    bool is_spawn; /**< the other side are children of the calling thread */
    side_t mine, theirs;
} exchange_t;

/** The calling thread's, until it has exchanged lists. */
static _Thread_local exchange_t *thread_exchange;

/* ---- marks ----------------------------------------------------------------------------------- */

/** @param[in,out] list  libmpi's, a string of its own */
static int mark_add(char **list, const side_t *mine)
{
    char mark[64];
    char *marked;

    (void) snprintf(mark, sizeof(mark), MARK "%c%" PRIx32 ",%" PRIx32 ",%x%s",
                    mine->are_endpoints ? 'e' : 'p', mine->job, mine->vpid,
                    (unsigned int) mine->rank, mine->wants_all ? MARK_ALL : "");
    marked = realloc(*list, strlen(*list) + strlen(mark) + 1);
    if (NULL == marked) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    strcat(marked, mark);
    *list = marked;
    return OMPI_SUCCESS;
}

/** Take the mark, if there is one, off a list. */
static side_t mark_take(char *list)
{
    side_t theirs = {.is_marked = false};
    char *mark = strstr(list, MARK);
    unsigned int rank;
    char kind;

    if (NULL != mark
        && 4
               == sscanf(mark, MARK "%c%" SCNx32 ",%" SCNx32 ",%x", &kind, &theirs.job,
                         &theirs.vpid, &rank)
        && INT_MAX >= rank) {
        theirs.is_marked = true;
        theirs.wants_all = NULL != strstr(mark, MARK_ALL);
        theirs.are_endpoints = 'e' == kind;
        theirs.rank = (int) rank;
        *mark = '\0';
    }
    return theirs;
}

/** What libmpi does not do where the exchange fails: its other members wait for the length of the
 * list. */
static int fail_all(const exchange_t *exchange, int rc)
{
    ompi_communicator_t *comm = exchange->comm;

    if (1 < ompi_comm_size(comm)) {
        (void) comm->c_coll->coll_bcast(&rc, 1, MPI_INT, exchange->root, comm,
                                        comm->c_coll->coll_bcast_module);
    }
    return rc;
}

int MPIX_ENDPOINTS_HOOK(opal_pmix_base_exchange)(pmix_info_t *info, pmix_pdata_t *pdat, int timeout)
{
    exchange_t *exchange = thread_exchange;
    int rc;

    if (OPAL_LIKELY(NULL == exchange)) {
        return MPIX_ENDPOINTS_ORIGINAL(opal_pmix_base_exchange)(info, pdat, timeout);
    }
    thread_exchange = NULL; /* libmpi exchanges other things after it */
    rc = mark_add(&info->value.data.string, &exchange->mine);
    if (OMPI_SUCCESS == rc) {
        rc = exchange->is_spawn
                 ? mpix_endpoints_children_exchange(info, pdat, timeout)
                 : MPIX_ENDPOINTS_ORIGINAL(opal_pmix_base_exchange)(info, pdat, timeout);
    }
    if (OMPI_SUCCESS == rc && 0 == strcmp(MPIX_ENDPOINTS_SIDE_FAILED, pdat->value.data.string)) {
        rc = OTHER_HAS_FAILED;
    }
    if (OMPI_SUCCESS == rc) {
        exchange->theirs = mark_take(pdat->value.data.string);
        if (exchange->theirs.is_marked && exchange->theirs.job == exchange->mine.job
            && (exchange->mine.are_endpoints || exchange->theirs.are_endpoints)) {
            rc = MEET_IN_JOB;
        }
    }
    return OMPI_SUCCESS == rc ? rc : fail_all(exchange, rc);
}
MPIX_ENDPOINTS_HOOK_DEFINED(opal_pmix_base_exchange);

/** libmpi's own, with marks.  @param[out] theirs  at the root */
static int connect_processes(ompi_communicator_t *comm, int root, const char *port, bool send_first,
                             bool are_endpoints, side_t *theirs, ompi_communicator_t **newcomm)
{
    exchange_t exchange = {.comm = comm,
                           .root = root,
                           .is_spawn = NULL != port && mpix_endpoints_spawn_is_port(port),
                           .mine = {.are_endpoints = are_endpoints,
                                    .wants_all = NULL != port
                                                 && mpix_endpoints_spawn_wants_all(port),
                                    .job = OMPI_PROC_MY_NAME->jobid,
                                    .vpid = OMPI_PROC_MY_NAME->vpid,
                                    .rank = root}};
    int rc;

    thread_exchange = ompi_comm_rank(comm) == root ? &exchange : NULL;
    rc = MPIX_ENDPOINTS_ORIGINAL(ompi_dpm_connect_accept)(comm, root, port, send_first, newcomm);
    thread_exchange = NULL;
    *theirs = exchange.theirs;
    return OTHER_HAS_FAILED == rc ? MPI_ERR_PROC_FAILED : rc;
}

/* ---- bridges --------------------------------------------------------------------------------- */

static int port_tag(const char *port)
{
    return FIRST_TAG - 2 * (int) (ep_hash32(port) % NUM_PORTS);
}

/** The roots are of one job.  With fault tolerance libmpi makes a bridge of their processes: in
 * MPI_COMM_WORLD nothing passes under a negative tag any more once one of its processes has died.
 *
 * @param[out] own  a bridge to be freed, or as it is */
static mpix_endpoints_bridge_t bridge_in_job(const char *port, bool send_first,
                                             const side_t *theirs, ompi_communicator_t **own)
{
    const bool is_here = OMPI_PROC_MY_NAME->vpid == theirs->vpid;
    ompi_communicator_t *comm = is_here ? MPI_COMM_SELF : MPI_COMM_WORLD;
    const int tag = port_tag(port);

    if (!is_here && ompi_ftmpi_enabled) {
        char roots[MPI_MAX_PORT_NAME + sizeof(":roots")];
        int rc;

        (void) snprintf(roots, sizeof(roots), "%s:roots", port);
        rc = MPIX_ENDPOINTS_ORIGINAL(ompi_dpm_connect_accept)(MPI_COMM_SELF, 0, roots, send_first,
                                                              own);
        return (mpix_endpoints_bridge_t){.error = rc, .comm = *own};
    }
    if (ompi_comm_invalid(comm) || (!is_here && (uint32_t) ompi_comm_size(comm) <= theirs->vpid)) {
        return (mpix_endpoints_bridge_t){.error = MPI_ERR_UNSUPPORTED_OPERATION}; /* sessions */
    }
    return (mpix_endpoints_bridge_t){.comm = comm,
                                     .remote_leader = is_here ? 0 : (int) theirs->vpid,
                                     .tag = send_first ? tag : tag - 1,
                                     .out_tag = send_first ? tag - 1 : tag};
}

static int meet(ompi_communicator_t *comm, int root, const mpix_endpoints_bridge_t *bridge,
                ompi_communicator_t **newcomm)
{
    mpix_endpoints_error_t error = MPIX_ENDPOINTS_OK;
    const int rc = mpix_endpoints_table()->intercomm_connect(comm, root, bridge, newcomm, &error);

    return OMPI_SUCCESS == rc ? rc
                              : mpix_endpoints_error_code_of(error, mpix_endpoints_spawn_heard(rc));
}

/** The launcher ends the processes of the other side, which nobody else would: they are
 * children. */
static void end_children(ompi_communicator_t *bridge)
{
    const int count = ompi_comm_remote_size(bridge);
    pmix_proc_t *procs = calloc((size_t) count, sizeof(*procs));
    pmix_info_t kill_them;

    for (int i = 0; NULL != procs && i < count; ++i) {
        const opal_process_name_t name = ompi_group_get_proc_name(bridge->c_remote_group, i);

        OPAL_PMIX_CONVERT_NAME(&procs[i], &name);
    }
    if (NULL != procs) {
        PMIX_INFO_LOAD(&kill_them, PMIX_JOB_CTRL_KILL, NULL, PMIX_BOOL);
        (void) PMIx_Job_control(procs, (size_t) count, &kill_them, 1, NULL, NULL);
        PMIX_INFO_DESTRUCT(&kill_them);
    }
    free(procs);
}

/** The root of endpoints meets the other one.  @param[out] own  a bridge to be freed, or NULL */
static mpix_endpoints_bridge_t meet_alone(const char *port, bool send_first,
                                          ompi_communicator_t **own)
{
    static bool said;
    side_t theirs;
    const int rc = connect_processes(MPI_COMM_SELF, 0, port, send_first, true, &theirs, own);

    if (MEET_IN_JOB == rc) {
        return bridge_in_job(port, send_first, &theirs, own);
    }
    if (OMPI_SUCCESS != rc) {
        return (mpix_endpoints_bridge_t){.error = rc};
    }
    if (!theirs.is_marked) {
        mpix_endpoints_show_help_once("no connection", &said);
        if (mpix_endpoints_spawn_is_port(port)) {
            end_children(*own);
        }
        return (mpix_endpoints_bridge_t){.error = MPI_ERR_UNSUPPORTED_OPERATION};
    }
    return (mpix_endpoints_bridge_t){.comm = *own,
                                     .remote_leader = theirs.are_endpoints ? 0 : theirs.rank};
}

/* ---- children with all their endpoints ------------------------------------------------------- */

/** A side of processes whose root has met the other one alone: tell its members, which are in
 * libmpi's function, by libmpi's way for errors of the root. */
static void tell_members(ompi_communicator_t *comm, int root)
{
    ompi_communicator_t *none = MPI_COMM_NULL;
    char port[32];

    (void) snprintf(port, sizeof(port), ":error=%d", MEET_BY_ROOT);
    (void) MPIX_ENDPOINTS_ORIGINAL(ompi_dpm_connect_accept)(comm, root, port, false, &none);
}

/** Is this the MPI_Init of children, all of which will make endpoints?  The same at all of them. */
static bool makes_endpoints(ompi_communicator_t *comm)
{
    return &ompi_mpi_comm_world.comm == comm && OMPI_MPI_STATE_INIT_COMPLETED > ompi_mpi_state
           && mpix_endpoints_announces_endpoints();
}

/* ---- connections ----------------------------------------------------------------------------- */

/** Of endpoints; or of processes that want all of their children's, at the root. */
static int connect_endpoints(ompi_communicator_t *comm, int root, const char *port, bool send_first,
                             ompi_communicator_t **newcomm)
{
    mpix_endpoints_bridge_t bridge = {.error = OMPI_SUCCESS};
    ompi_communicator_t *own = MPI_COMM_NULL;
    int rc;

    if (ompi_comm_rank(comm) == root) {
        bridge = meet_alone(port, send_first, &own);
        if (!mpix_endpoints_is_endpoint_comm(comm)) {
            tell_members(comm, root);
        }
    }
    rc = meet(comm, root, &bridge, newcomm);
    if (MPI_COMM_NULL != own) {
        (void) ompi_comm_free(&own);
    }
    return rc;
}

/** What processes have been connected with, as one process. */
enum { ONE_PROCESS, ONE_OF_ENDPOINTS, ONE_WANTS_ALL };

/** Processes have been connected with one process: is it the root of endpoints?  Known to ours.
 *
 * @param[in,out] newcomm  with that process, then with all of its side, or, if that is to come when
 *                         there are endpoints, as it is */
static int ask_root(ompi_communicator_t *comm, int root, const side_t *theirs,
                    ompi_communicator_t **newcomm)
{
    int kind = !theirs->are_endpoints ? ONE_PROCESS
               : theirs->wants_all    ? ONE_WANTS_ALL
                                      : ONE_OF_ENDPOINTS;
    ompi_communicator_t *own = *newcomm;
    int rc = comm->c_coll->coll_bcast(&kind, 1, MPI_INT, root, comm,
                                      comm->c_coll->coll_bcast_module);

    if (OMPI_SUCCESS == rc && ONE_PROCESS == kind) {
        return OMPI_SUCCESS;
    }
    if (OMPI_SUCCESS == rc && ONE_WANTS_ALL == kind && makes_endpoints(comm)) {
        mpix_endpoints_parent_keep(own);
        return OMPI_SUCCESS;
    }
    *newcomm = MPI_COMM_NULL;
    if (OMPI_SUCCESS == rc) {
        rc = meet(comm, root, &(mpix_endpoints_bridge_t){.comm = own}, newcomm);
    }
    (void) ompi_comm_free(&own);
    return rc;
}

int MPIX_ENDPOINTS_HOOK(ompi_dpm_connect_accept)(ompi_communicator_t *comm, int root,
                                                 const char *port, bool send_first,
                                                 ompi_communicator_t **newcomm)
{
    mpix_endpoints_bridge_t bridge = {.error = OMPI_SUCCESS};
    ompi_communicator_t *own = MPI_COMM_NULL;
    side_t theirs;
    int rc;

    *newcomm = MPI_COMM_NULL;
    if (NULL == mpix_endpoints_table()) {
        rc = MPIX_ENDPOINTS_ORIGINAL(ompi_dpm_connect_accept)(comm, root, port, send_first,
                                                              newcomm);
        return OPAL_LIKELY(OMPI_SUCCESS == rc) ? rc : mpix_endpoints_spawn_heard(rc);
    }
    if (mpix_endpoints_is_endpoint_comm(comm)) {
        return connect_endpoints(comm, root, port, send_first, newcomm);
    }
    if (ompi_comm_rank(comm) == root && NULL != port && mpix_endpoints_spawn_wants_all(port)) {
        return connect_endpoints(comm, root, port, send_first, newcomm);
    }
    rc = connect_processes(comm, root, port, send_first, false, &theirs, newcomm);
    if (OMPI_SUCCESS == rc) {
        return 1 == ompi_comm_remote_size(*newcomm) ? ask_root(comm, root, &theirs, newcomm) : rc;
    }
    if (MEET_IN_JOB != rc && MEET_BY_ROOT != rc) {
        return mpix_endpoints_spawn_heard(rc);
    }
    if (ompi_comm_rank(comm) == root) {
        bridge = bridge_in_job(port, send_first, &theirs, &own);
    }
    rc = meet(comm, root, &bridge, newcomm);
    if (MPI_COMM_NULL != own) {
        (void) ompi_comm_free(&own);
    }
    return rc;
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_dpm_connect_accept);

/** libmpi's MPI_Comm_disconnect of a communicator with members of several jobs: the launcher is the
 * barrier, which has not connected endpoints.  comm_disconnect.c has programs' own calls. */
int MPIX_ENDPOINTS_HOOK(ompi_dpm_disconnect)(ompi_communicator_t *comm)
{
    if (OPAL_LIKELY(!mpix_endpoints_is_endpoint_comm(comm))) {
        return MPIX_ENDPOINTS_ORIGINAL(ompi_dpm_disconnect)(comm);
    }
    mpix_endpoints_table()->comm_drain(comm);
    return OMPI_SUCCESS;
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_dpm_disconnect);
