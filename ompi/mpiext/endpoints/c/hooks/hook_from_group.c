/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Comm_create_from_group and MPI_Intercomm_create_from_groups, with endpoints in a group.
 *
 * libmpi lets the launcher agree, which knows processes.  Here the members of a process meet in a
 * table, by tag and group.  The one that completes them has pml/epml make the communicator, together
 * with the other processes (pml_epml_from_group.c).  The others wait, progress the process
 * meanwhile, and find their handles in the meeting.
 *
 * An intercommunicator is made as libmpi does it: of a communicator of the own group, and one of the
 * two leaders.  Only the leaders know both groups: that of a group of processes tells the others
 * whether there are endpoints on the other side.
 *
 * Tests: from_group
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "../interpose/interpose.h"
#include "hooks.h"

#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/errhandler/errhandler.h"
#include "ompi/group/group.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/mca/common/ep/common_ep_group.h"
#include "ompi/mca/common/ep/common_ep_link.h"
#include "ompi/proc/proc.h"
#include "opal/mca/common/ep/common_ep_hash.h"
#include "opal/mca/threads/mutex.h"
#include "opal/util/info_subscriber.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** The members of a group in this process, on their way to a communicator. */
typedef struct meeting_t {
    struct meeting_t *next;
    char *tag;
    ompi_group_t *group;              /**< a reference: that of the first caller */
    mpix_endpoints_member_t *members; /**< of this process, in the order of the group */
    int count;
    int missing; /**< have not come; under the lock */
    int staying; /**< have not left; under the lock */
    int rc;
    _Atomic bool is_over; /**< rc and all handles are there */
} meeting_t;

static struct {
    opal_mutex_t lock;
    meeting_t *first; /**< those that somebody misses */
} meetings = {.lock = OPAL_MUTEX_STATIC_INIT};

/* ---- groups ---------------------------------------------------------------------------------- */

static bool same_name(const opal_process_name_t *name1, const opal_process_name_t *name2)
{
    return name1->jobid == name2->jobid && name1->vpid == name2->vpid;
}

static bool same_members(ompi_group_t *group1, ompi_group_t *group2)
{
    const int size = ompi_group_size(group1);

    if (size != ompi_group_size(group2)) {
        return false;
    }
    for (int i = 0; i < size; ++i) {
        const opal_process_name_t name1 = ompi_group_get_proc_name(group1, i);
        const opal_process_name_t name2 = ompi_group_get_proc_name(group2, i);

        if (!same_name(&name1, &name2)) {
            return false;
        }
    }
    return true;
}

static bool share_members(ompi_group_t *group1, ompi_group_t *group2)
{
    for (int i = 0; i < ompi_group_size(group1); ++i) {
        const opal_process_name_t name1 = ompi_group_get_proc_name(group1, i);

        for (int j = 0; j < ompi_group_size(group2); ++j) {
            const opal_process_name_t name2 = ompi_group_get_proc_name(group2, j);

            if (same_name(&name1, &name2)) {
                return true;
            }
        }
    }
    return false;
}

static bool has_endpoints(const mpix_endpoints_pml_t *table, ompi_group_t *group)
{
    for (int i = 0; i < ompi_group_size(group); ++i) {
        const opal_process_name_t name = ompi_group_get_proc_name(group, i);

        if (table->is_endpoint_name(&name)) {
            return true;
        }
    }
    return false;
}

static bool is_here(const mpix_endpoints_pml_t *table, ompi_group_t *group, int rank)
{
    const opal_process_name_t name = ompi_group_get_proc_name(group, rank);

    return table->same_process(&name, OMPI_PROC_MY_NAME);
}

/** A group of procs, of which one is this process's or endpoint's.
 *
 * @param[in] like   for the instance
 * @param[in] procs  count of them
 * @return NULL: no memory */
static ompi_group_t *group_of(const ompi_group_t *like, ompi_proc_t *const *procs, int count,
                              const ompi_proc_t *me)
{
    ompi_group_t *group = ompi_group_allocate(NULL, count);

    if (NULL == group) {
        return NULL;
    }
    for (int i = 0; i < count; ++i) {
        group->grp_proc_pointers[i] = procs[i];
        OBJ_RETAIN(procs[i]);
    }
    group->grp_instance = like->grp_instance;
    group->grp_my_rank = mpix_endpoints_group_rank_of(group, me);
    return group;
}

/* ---- meetings -------------------------------------------------------------------------------- */

static void meeting_free(meeting_t *meeting)
{
    OBJ_RELEASE(meeting->group);
    free(meeting->members);
    free(meeting->tag);
    free(meeting);
}

/** One that nobody has come to.  @return NULL: no memory */
static meeting_t *meeting_new(const mpix_endpoints_pml_t *table, ompi_group_t *group,
                              const char *tag)
{
    const int size = ompi_group_size(group);
    meeting_t *meeting = calloc(1, sizeof(*meeting));

    if (NULL == meeting) {
        return NULL;
    }
    meeting->group = group;
    OBJ_RETAIN(group);
    meeting->tag = strdup(tag);
    meeting->members = calloc((size_t) size, sizeof(*meeting->members));
    if (NULL == meeting->tag || NULL == meeting->members) {
        meeting_free(meeting);
        return NULL;
    }
    for (int rank = 0; rank < size; ++rank) {
        if (is_here(table, group, rank)) {
            meeting->members[meeting->count++].rank = rank;
        }
    }
    meeting->missing = meeting->count;
    meeting->staying = meeting->count;
    return meeting;
}

static mpix_endpoints_member_t *meeting_member(const meeting_t *meeting, int rank)
{
    mpix_endpoints_member_t *member = meeting->members;

    while (member->rank != rank) {
        ++member;
    }
    return member;
}

/** The meeting of this tag and group that misses a member, made if need be; the member has come
 * then.  @return NULL: no memory */
static meeting_t *meeting_enter(const mpix_endpoints_pml_t *table, ompi_group_t *group,
                                const char *tag, opal_info_t *info, ompi_errhandler_t *errhandler,
                                bool *is_last)
{
    const int rank = group->grp_my_rank;
    meeting_t **at = &meetings.first, *meeting;
    mpix_endpoints_member_t *member;

    opal_mutex_lock(&meetings.lock);
    while (NULL != *at
           && (0 != strcmp((*at)->tag, tag) || !same_members((*at)->group, group)
               || NULL != meeting_member(*at, rank)->errhandler)) {
        at = &(*at)->next;
    }
    if (NULL == *at) {
        *at = meeting_new(table, group, tag);
    }
    meeting = *at;
    if (NULL != meeting) {
        member = meeting_member(meeting, rank);
        member->info = info;
        member->errhandler = errhandler;
        *is_last = 0 == --meeting->missing;
        if (*is_last) {
            *at = meeting->next;
        }
    }
    opal_mutex_unlock(&meetings.lock);
    return meeting;
}

static bool meeting_is_over(const void *context)
{
    /* Acquire pairs with the release in create: the result. */
    return atomic_load_explicit(&((const meeting_t *) context)->is_over, memory_order_acquire);
}

/** @return what has come of it */
static int meeting_leave(meeting_t *meeting, int rank, ompi_communicator_t **newcomm)
{
    const int rc = meeting->rc;
    bool is_last;

    if (OMPI_SUCCESS == rc) {
        *newcomm = meeting_member(meeting, rank)->comm;
    }
    opal_mutex_lock(&meetings.lock);
    is_last = 0 == --meeting->staying;
    opal_mutex_unlock(&meetings.lock);
    if (is_last) {
        meeting_free(meeting);
    }
    return rc;
}

/* ---- a communicator of a group --------------------------------------------------------------- */

/** The same at all members; groups that have processes in common may have one tag at a time. */
static uint64_t key_of(ompi_group_t *group, const char *tag)
{
    uint64_t key = ep_hash64(EP_HASH64_BEGIN, tag, strlen(tag));

    for (int i = 0; i < ompi_group_size(group); ++i) {
        const opal_process_name_t name = ompi_group_get_proc_name(group, i);

        key = ep_hash64(key, &name.jobid, sizeof(name.jobid));
        key = ep_hash64(key, &name.vpid, sizeof(name.vpid));
    }
    return key;
}

/** For all members of this process. */
static int from_group_create(const mpix_endpoints_pml_t *table, meeting_t *meeting)
{
    mpix_endpoints_error_t error = MPIX_ENDPOINTS_OK;
    const int rc = table->create_from_group(meeting->group, key_of(meeting->group, meeting->tag),
                                            meeting->members, meeting->count, &error);

    return OMPI_SUCCESS == rc ? rc : mpix_endpoints_error_code_of(error, rc);
}

/** A group of which the caller is a member. */
static int create_from_group(const mpix_endpoints_pml_t *table, ompi_group_t *group,
                             const char *tag, opal_info_t *info, ompi_errhandler_t *errhandler,
                             ompi_communicator_t **newcomm)
{
    bool is_last = false;
    meeting_t *meeting = meeting_enter(table, group, tag, info, errhandler, &is_last);

    if (NULL == meeting) {
        return MPI_ERR_NO_MEM;
    }
    if (is_last) {
        meeting->rc = from_group_create(table, meeting);
        /* Release pairs with the acquire in meeting_is_over. */
        atomic_store_explicit(&meeting->is_over, true, memory_order_release);
    } else {
        table->wait_until(meeting_is_over, meeting);
    }
    return meeting_leave(meeting, group->grp_my_rank, newcomm);
}

int MPIX_ENDPOINTS_HOOK(ompi_comm_create_from_group)(ompi_group_t *group, const char *tag,
                                                     opal_info_t *info,
                                                     ompi_errhandler_t *errhandler,
                                                     ompi_communicator_t **newcomm)
{
    const mpix_endpoints_pml_t *table = mpix_endpoints_table();

    if (NULL == table || !has_endpoints(table, group)) {
        return MPIX_ENDPOINTS_ORIGINAL(ompi_comm_create_from_group)(group, tag, info, errhandler,
                                                                    newcomm);
    }
    *newcomm = MPI_COMM_NULL;
    return MPI_UNDEFINED != group->grp_my_rank
               ? create_from_group(table, group, tag, info, errhandler, newcomm)
               : MPI_ERR_GROUP;
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_comm_create_from_group);

/* ---- an intercommunicator of two ------------------------------------------------------------- */

/** A call, at one member. */
typedef struct inter_t {
    ompi_group_t *local_group, *remote_group;
    int local_leader, remote_leader;
    const char *tag;
    opal_info_t *info;
    ompi_errhandler_t *errhandler;
} inter_t;

/* Our own definitions, whatever stands before them. */
extern __typeof__(ompi_intercomm_create) MPIX_ENDPOINTS_OWN(ompi_intercomm_create)
    __attribute__((visibility("hidden")));

/** A communicator of one of the groups that a call needs, be it of processes alone.
 *
 * @param[in] what  tells it from the others of the call */
static int inter_part(const mpix_endpoints_pml_t *table, const inter_t *inter, ompi_group_t *group,
                      const char *what, ompi_communicator_t **comm)
{
    char *tag = NULL;
    int rc = MPI_ERR_NO_MEM;

    if (0 <= asprintf(&tag, "%s-%s", inter->tag, what)) {
        rc = create_from_group(table, group, tag, inter->info, inter->errhandler, comm);
        free(tag);
    }
    return rc;
}

/** The two leaders, in an order that both see.
 * @return NULL: no memory */
static ompi_group_t *leaders_of(const inter_t *inter)
{
    ompi_proc_t *const mine = ompi_group_peer_lookup(inter->local_group, inter->local_leader);
    ompi_proc_t *const theirs = ompi_group_peer_lookup(inter->remote_group, inter->remote_leader);
    const opal_process_name_t *name = &mine->super.proc_name, *other = &theirs->super.proc_name;
    const bool is_first = name->jobid != other->jobid ? name->jobid < other->jobid
                                                      : name->vpid < other->vpid;
    ompi_proc_t *const procs[2] = {is_first ? mine : theirs, is_first ? theirs : mine};

    return group_of(inter->local_group, procs, 2, mine);
}

/** What the leader says to its side: go on, leave it to libmpi, or an error of MPI's. */
enum { INTER_SERVE = -1000, INTER_LIBMPI = -1001 };

/** Of the leader: is there an endpoint in either group, and has the user made a mistake that can be
 * seen? */
static int inter_judge(const mpix_endpoints_pml_t *table, const inter_t *inter)
{
    if (0 > inter->remote_leader || ompi_group_size(inter->remote_group) <= inter->remote_leader) {
        return has_endpoints(table, inter->local_group) ? MPI_ERR_ARG : INTER_LIBMPI;
    }
    if (!has_endpoints(table, inter->local_group) && !has_endpoints(table, inter->remote_group)) {
        return INTER_LIBMPI;
    }
    return share_members(inter->local_group, inter->remote_group) ? MPI_ERR_GROUP : INTER_SERVE;
}

/** Over the communicator of the own side.  @param[in] is_leader  of it: the caller */
static int inter_join(const mpix_endpoints_pml_t *table, const inter_t *inter,
                      ompi_communicator_t *local, bool is_leader, ompi_communicator_t **newcomm)
{
    ompi_communicator_t *bridge = MPI_COMM_NULL;
    int rc = OMPI_SUCCESS, remote = 0, joined;

    if (is_leader) {
        ompi_group_t *leaders = leaders_of(inter);

        rc = MPI_ERR_NO_MEM;
        if (NULL != leaders) {
            remote = !leaders->grp_my_rank;
            rc = inter_part(table, inter, leaders, "leaders", &bridge);
            OBJ_RELEASE(leaders);
        }
    }
    /* Without a bridge the side gets an error, and nobody waits on it. */
    joined = MPIX_ENDPOINTS_OWN(ompi_intercomm_create)(local, inter->local_leader, bridge, remote,
                                                       0, newcomm);
    if (MPI_COMM_NULL != bridge) {
        (void) ompi_comm_free(&bridge);
    }
    return OMPI_SUCCESS != rc ? rc : joined;
}

/** What a handle says of itself that MPI_Intercomm_create does not know. */
static void inter_dress(const inter_t *inter, ompi_communicator_t *comm)
{
    snprintf(comm->c_name, MPI_MAX_OBJECT_NAME, "MPI INTERCOMM %s FROM GROUP",
             ompi_comm_print_cid(comm));
    if (NULL != inter->info && NULL != comm->super.s_info) {
        (void) opal_infosubscribe_change_info(&comm->super, inter->info);
    }
}

/** Processes alone on this side: have they to do with endpoints?  What the leader knows, all hear,
 * without a communicator, so that libmpi's is as it would be.
 *
 * @param[in,out] verdict  the leader's, then that of all */
static int inter_ask(const mpix_endpoints_pml_t *table, const inter_t *inter, int *verdict)
{
    int64_t value = *verdict;
    int rc = table->group_max(inter->local_group, key_of(inter->local_group, inter->tag), &value);

    if (MPI_ERR_UNSUPPORTED_OPERATION == rc) { /* all see so: libmpi's alone knows how */
        value = INTER_LIBMPI;
        rc = OMPI_SUCCESS;
    }
    *verdict = (int) value;
    return rc;
}

/** @return INTER_LIBMPI; OMPI_SUCCESS, or an error, at all members of a side */
static int inter_create(const mpix_endpoints_pml_t *table, const inter_t *inter,
                        ompi_communicator_t **newcomm)
{
    const bool is_leader = inter->local_leader == inter->local_group->grp_my_rank;
    const bool are_processes = !has_endpoints(table, inter->local_group);
    ompi_communicator_t *local = MPI_COMM_NULL;
    int verdict = is_leader ? inter_judge(table, inter) : INT_MIN;
    int rc = are_processes ? inter_ask(table, inter, &verdict) : OMPI_SUCCESS;

    if (OMPI_SUCCESS != rc || (are_processes && INTER_SERVE != verdict)) {
        return OMPI_SUCCESS != rc ? rc : verdict;
    }
    rc = inter_part(table, inter, inter->local_group, "local", &local);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    rc = local->c_coll->coll_bcast(&verdict, 1, MPI_INT, inter->local_leader, local,
                                   local->c_coll->coll_bcast_module);
    if (OMPI_SUCCESS == rc) {
        rc = INTER_SERVE == verdict ? inter_join(table, inter, local, is_leader, newcomm) : verdict;
    }
    (void) ompi_comm_free(&local);
    if (OMPI_SUCCESS == rc) {
        inter_dress(inter, *newcomm);
    }
    return rc;
}

int MPIX_ENDPOINTS_HOOK(ompi_intercomm_create_from_groups)(
    ompi_group_t *local_group, int local_leader, ompi_group_t *remote_group, int remote_leader,
    const char *tag, opal_info_t *info, ompi_errhandler_t *errhandler,
    ompi_communicator_t **newintercomm)
{
    const mpix_endpoints_pml_t *table = mpix_endpoints_table();
    const inter_t inter = {.local_group = local_group,
                           .remote_group = remote_group,
                           .local_leader = local_leader,
                           .remote_leader = remote_leader,
                           .tag = tag,
                           .info = info,
                           .errhandler = errhandler};
    const bool is_sound = 0 <= local_leader && ompi_group_size(local_group) > local_leader
                          && MPI_UNDEFINED != local_group->grp_my_rank;
    int rc = INTER_LIBMPI;

    if (NULL != table && is_sound) {
        *newintercomm = MPI_COMM_NULL;
        rc = inter_create(table, &inter, newintercomm);
    } else if (NULL != table && has_endpoints(table, local_group)) {
        *newintercomm = MPI_COMM_NULL;
        return MPI_ERR_ARG; /* on every member: all have to give the same */
    }
    return INTER_LIBMPI != rc ? rc
                              : MPIX_ENDPOINTS_ORIGINAL(ompi_intercomm_create_from_groups)(
                                  local_group, local_leader, remote_group, remote_leader, tag, info,
                                  errhandler, newintercomm);
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_intercomm_create_from_groups);
