/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A communicator of a group alone: a creation (pml_epml_creation.h) by the processes that have
 * members, which exchange messages of MPI_COMM_WORLD (pml_epml_proc_tree.c).  One thread of each
 * process makes the endpoints and handles of all members there.
 *
 * The endpoints are new: those that the group comes from may be gone.  They have the members' names,
 * so the new communicator's group is that group; and its order, which need not be the processes'.
 *
 * Called through the link table (hook_from_group.c).
 *
 * Tests: from_group
 */

#include "ompi_config.h"

#include "../calls/calls.h"
#include "../engine/engine.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_address.h"
#include "pml_epml_creation.h"
#include "pml_epml_from_group.h"
#include "pml_epml_proc_tree.h"

#include "ompi/attribute/attribute.h"
#include "ompi/constants.h"
#include "ompi/errhandler/errhandler.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/runtime/mpiruntime.h"
#include "opal/util/info_subscriber.h"

typedef struct from_group_t {
    mca_pml_epml_creation_t creation; /**< first: what its operations get is a from_group */
    mca_pml_epml_proc_tree_t tree;
    ompi_group_t *group;
    mpix_endpoints_member_t *members; /**< of this process */
    opal_process_name_t *names;       /**< theirs */
    int *ranks;                       /**< of the processes in MPI_COMM_WORLD */
    int *counts;                      /**< their members */
    int *order;                       /**< the members' ranks in the group, process by process */
} from_group_t;

/** The process of a member, by its rank in MPI_COMM_WORLD. */
static int process_of(const from_group_t *work, int rank)
{
    const opal_process_name_t name = ompi_group_get_proc_name(work->group, rank);

    return (int) mca_pml_epml_name_process(&name).vpid;
}

/** Processes are numbered in the order in which they first appear in the group. */
static void find_processes(from_group_t *work)
{
    const int size = ompi_group_size(work->group);
    mca_pml_epml_proc_tree_t *tree = &work->tree;

    for (int rank = 0; rank < size; ++rank) {
        const int process = process_of(work, rank);
        int at = 0;

        while (at < tree->size && work->ranks[at] != process) {
            ++at;
        }
        work->ranks[at] = process;
        tree->size += at == tree->size;
        ++work->counts[at];
    }
    for (int at = 0, found = 0; at < tree->size; ++at) {
        if ((int) OMPI_PROC_MY_NAME->vpid == work->ranks[at]) {
            tree->rank = at;
        }
        for (int rank = 0; rank < size; ++rank) {
            if (process_of(work, rank) == work->ranks[at]) {
                work->order[found++] = rank;
            }
        }
    }
}

/* ---- what is its own ------------------------------------------------------------------------- */

/** Do all have the same group? */
static int from_group_check_addresses(const mca_pml_epml_creation_t *creation)
{
    const from_group_t *work = (const from_group_t *) creation;

    for (int i = 0; i < creation->local.total; ++i) {
        const mca_pml_epml_address_t *address = epml_side_address(&creation->local, i);
        const opal_process_name_t name = ompi_group_get_proc_name(work->group, work->order[i]);

        if (0 != memcmp(&address->name, &name, sizeof(name))) {
            return OMPI_ERR_BAD_PARAM;
        }
    }
    return OMPI_SUCCESS;
}

static const mpix_endpoints_member_t *member_of(const from_group_t *work,
                                                const ompi_communicator_t *handle)
{
    const mpix_endpoints_member_t *member = work->members;

    while (member->rank != handle->c_local_group->grp_my_rank) {
        ++member;
    }
    return member;
}

static int from_group_init_handle(const mca_pml_epml_creation_t *creation,
                                  ompi_communicator_t *handle)
{
    const from_group_t *work = (const from_group_t *) creation;
    const mpix_endpoints_member_t *member = member_of(work, handle);
    int rc = NULL != member->info ? opal_infosubscribe_change_info(&handle->super, member->info)
                                  : OMPI_SUCCESS;

    OBJ_RETAIN(member->errhandler);
    OBJ_RELEASE(handle->error_handler);
    handle->error_handler = member->errhandler;
    handle->instance = work->group->grp_instance;
    handle->c_local_group->grp_instance = work->group->grp_instance;
    snprintf(handle->c_name, MPI_MAX_OBJECT_NAME, "MPI COMM %s FROM GROUP",
             ompi_comm_print_cid(handle));
    if (OMPI_SUCCESS == rc) { /* the one attribute that libmpi gives to such communicators */
        rc = ompi_attr_set_int(COMM_ATTR, handle, &handle->c_keyhash, MPI_TAG_UB,
                               (int) mca_pml.pml_max_tag, true);
    }
    return rc;
}

static const mca_pml_epml_creation_ops_t from_group_ops = {.fit = from_group_check_addresses,
                                                           .dress = from_group_init_handle};

/* ---- all of it ------------------------------------------------------------------------------- */

/** @return false: no memory */
static bool make_lists(from_group_t *work, int count)
{
    const size_t size = (size_t) ompi_group_size(work->group);
    mca_pml_epml_creation_t *creation = &work->creation;

    creation->eps = calloc((size_t) count + 1, sizeof(*creation->eps));
    creation->handles = calloc((size_t) count + 1, sizeof(*creation->handles));
    work->names = calloc((size_t) count + 1, sizeof(*work->names));
    work->ranks = calloc(3 * size, sizeof(*work->ranks));
    if (NULL == creation->eps || NULL == creation->handles || NULL == work->names
        || NULL == work->ranks) {
        return false;
    }
    work->counts = work->ranks + size;
    work->order = work->counts + size;
    for (int i = 0; i < count; ++i) {
        work->names[i] = ompi_group_get_proc_name(work->group, work->members[i].rank);
    }
    return true;
}

static void free_lists(from_group_t *work)
{
    free(work->creation.eps);
    free(work->creation.handles);
    free(work->names);
    free(work->ranks);
}

/** Can the processes exchange messages? */
static bool is_served(ompi_group_t *group)
{
    const int32_t state = ompi_mpi_state;

    return OMPI_MPI_STATE_INIT_COMPLETED <= state
           && OMPI_MPI_STATE_FINALIZE_PAST_COMM_SELF_DESTRUCT > state
           && mca_pml_epml_group_is_of_this_job(group);
}

int mca_pml_epml_create_from_group(ompi_group_t *group, uint64_t key,
                                   mpix_endpoints_member_t *members, int count,
                                   mpix_endpoints_error_t *error)
{
    from_group_t work = {.creation = {.ops = &from_group_ops,
                                      .parent = &ompi_mpi_comm_world.comm,
                                      .bootstrap = {.comm = &ompi_mpi_comm_world.comm},
                                      .num_ep = count,
                                      .level = EPML_LEVEL_MULTIPLE,
                                      .transports = mca_pml_epml_group_transports(group)},
                         .tree = {.comm = &ompi_mpi_comm_world.comm,
                                  .tag = mca_pml_epml_proc_tree_tag(key)},
                         .group = group,
                         .members = members};
    mca_pml_epml_creation_t *creation = &work.creation;
    int rc;

    *error = MPIX_ENDPOINTS_OK;
    if (!is_served(group)) {
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    if (!make_lists(&work, count)) {
        free_lists(&work);
        return OMPI_ERR_OUT_OF_RESOURCE; /* no other member is known, none can be notified */
    }
    find_processes(&work);
    work.tree.ranks = work.ranks;
    creation->bootstrap.tree = &work.tree;
    creation->rank = work.tree.rank;
    creation->local.members = work.tree.size;
    creation->names = work.names;
    creation->counts = work.counts;
    creation->order = work.order;
    rc = mca_pml_epml_creation_run(creation, OMPI_SUCCESS);
    for (int i = 0; OMPI_SUCCESS == rc && i < count; ++i) {
        members[i].comm = creation->handles[i];
    }
    *error = creation->error;
    free_lists(&work);
    return rc;
}

int mca_pml_epml_group_max(ompi_group_t *group, uint64_t key, int64_t *value)
{
    from_group_t work = {.tree = {.comm = &ompi_mpi_comm_world.comm,
                                  .tag = mca_pml_epml_proc_tree_tag(key)},
                         .group = group};
    int rc = OMPI_ERR_OUT_OF_RESOURCE;

    if (!is_served(group)) {
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    if (make_lists(&work, 0)) {
        find_processes(&work);
        work.tree.ranks = work.ranks;
        rc = mca_pml_epml_proc_tree_max(&work.tree, value, 1);
    }
    free_lists(&work);
    return rc;
}
