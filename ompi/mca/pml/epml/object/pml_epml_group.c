/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Groups whose array of procs all handles of this process have in common.
 *
 * Tests: comm_groups
 */

#include "ompi_config.h"

#include "pml_epml_group.h"
#include "pml_epml_peer.h"
#include "pml_epml_types.h"

/** A group whose array of procs belongs to others as well.  Open MPI makes groups out of it, and
 * frees it, like any other: only its end is different. */
typedef struct epml_group_t {
    ompi_group_t super;
    mca_pml_epml_procs_t *procs; /**< a reference of ours */
} epml_group_t;

static void group_construct(epml_group_t *group)
{
    group->procs = NULL;
    group->super.grp_proc_count = 0;
    group->super.grp_proc_pointers = NULL;
}

/** Runs before Open MPI's destructor, which gives up each proc and frees the array: it finds a
 * group of no members.  A group may end after the PML has, but not after its code is gone. */
static void group_destruct(epml_group_t *group)
{
    group->super.grp_proc_count = 0;
    group->super.grp_proc_pointers = NULL;
    if (NULL != group->procs) {
        mca_pml_epml_procs_release(group->procs);
    }
}

static OBJ_CLASS_INSTANCE(epml_group_t, ompi_group_t, group_construct, group_destruct);

void mca_pml_epml_group_init(void)
{
    opal_class_initialize(OBJ_CLASS(epml_group_t));
}

ompi_group_t *mca_pml_epml_group_new(ompi_group_t *like, mca_pml_epml_peers_t *peers, int rank)
{
    epml_group_t *group = OBJ_NEW(epml_group_t);

    if (NULL == group) {
        return NULL;
    }
    OMPI_GROUP_SET_DENSE(&group->super);
    group->procs = mca_pml_epml_procs_of(peers);
    if (NULL == group->procs || 0 > group->super.grp_f_to_c_index) {
        OBJ_RELEASE(group);
        return NULL;
    }
    group->super.grp_proc_count = group->procs->count;
    group->super.grp_proc_pointers = group->procs->proc;
    group->super.grp_my_rank = rank;
    group->super.grp_instance = like->grp_instance;
    return &group->super;
}

void mca_pml_epml_group_use_procs(ompi_communicator_t *comm, mca_pml_epml_peers_t *peers)
{
    ompi_group_t *group = comm->c_local_group, *made;

    if (OBJ_CLASS(ompi_group_t) != group->super.obj_class || group != comm->c_remote_group) {
        return;
    }
    made = mca_pml_epml_group_new(group, peers, group->grp_my_rank);
    if (NULL == made) {
        return;
    }
    OBJ_RETAIN(made);
    comm->c_local_group = made;
    comm->c_remote_group = made;
    OBJ_RELEASE(group);
    OBJ_RELEASE(group);
}
