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
 * Handles that Open MPI did not make: communicators of endpoints put together from lists of peers,
 * without a message.
 */

#include "ompi_config.h"

#include "pml_epml_request.h"

#include "ompi/constants.h"
#include "ompi/mca/coll/base/base.h"

/** A group whose array of procs belongs to others as well.  Open MPI makes groups out of it, and
 * frees it, like any other: only its end is different. */
typedef struct epml_group_t {
    ompi_group_t super;
    mca_pml_epml_procs_t *procs; /**< a reference of ours */
} epml_group_t;

void mca_pml_epml_procs_release(mca_pml_epml_procs_t *procs)
{
    /* Release and acquire: all uses are ordered before the end. */
    if (1 != atomic_fetch_sub_explicit(&procs->references, 1, memory_order_acq_rel)) {
        return;
    }
    for (int i = 0; i < procs->count; ++i) {
        OBJ_RELEASE(procs->proc[i]);
    }
    free(procs);
}

static void group_construct(epml_group_t *group)
{
    group->procs = NULL;
    group->super.grp_proc_count = 0;
    group->super.grp_proc_pointers = NULL;
}

/** Runs before Open MPI's destructor, which gives up each proc and frees the array: it finds a
 * group of nobody.  A group may end after the PML has, but not after its code is gone. */
static void group_destruct(epml_group_t *group)
{
    group->super.grp_proc_count = 0;
    group->super.grp_proc_pointers = NULL;
    if (NULL != group->procs) {
        mca_pml_epml_procs_release(group->procs);
    }
}

static OBJ_CLASS_INSTANCE(epml_group_t, ompi_group_t, group_construct, group_destruct);

void mca_pml_epml_handle_init(void)
{
    opal_class_initialize(OBJ_CLASS(epml_group_t));
}

static mca_pml_epml_procs_t *procs_create(const mca_pml_epml_peers_t *peers)
{
    mca_pml_epml_procs_t *procs
        = malloc(sizeof(*procs) + (size_t) peers->count * sizeof(procs->proc[0]));

    if (NULL == procs) {
        return NULL;
    }
    atomic_init(&procs->references, 1);
    procs->count = peers->count;
    for (int i = 0; i < peers->count; ++i) {
        procs->proc[i] = peers->peer[i]->proc;
        OBJ_RETAIN(procs->proc[i]);
    }
    return procs;
}

/** The array that goes with a list of peers, made at first use.  Several threads may ask at once:
 * handles of one list are each made by their own.  @return one reference, or NULL (no memory) */
static mca_pml_epml_procs_t *procs_of(mca_pml_epml_peers_t *peers)
{
    /* Acquire pairs with the release below, of another thread: the array before its address. */
    mca_pml_epml_procs_t *known = atomic_load_explicit(&peers->procs, memory_order_acquire);

    if (NULL == known) {
        mca_pml_epml_procs_t *made = procs_create(peers);

        if (NULL == made) {
            return NULL;
        }
        if (atomic_compare_exchange_strong_explicit(&peers->procs, &known, made,
                                                    memory_order_acq_rel, memory_order_acquire)) {
            known = made;
        } else {
            mca_pml_epml_procs_release(made);
        }
    }
    /* Relaxed: the list's own reference keeps it alive. */
    atomic_fetch_add_explicit(&known->references, 1, memory_order_relaxed);
    return known;
}

/** The group of all peers of a list.
 *
 * @param[in] rank  whose group it is, or MPI_UNDEFINED: nobody's (the remote group) */
static ompi_group_t *make_group(ompi_group_t *like, mca_pml_epml_peers_t *peers, int rank)
{
    epml_group_t *group = OBJ_NEW(epml_group_t);

    if (NULL == group) {
        return NULL;
    }
    OMPI_GROUP_SET_DENSE(&group->super);
    group->procs = procs_of(peers);
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

void mca_pml_epml_handle_share_group(ompi_communicator_t *comm, mca_pml_epml_peers_t *peers)
{
    ompi_group_t *group = comm->c_local_group, *made;

    if (OBJ_CLASS(ompi_group_t) != group->super.obj_class || group != comm->c_remote_group) {
        return;
    }
    made = make_group(group, peers, group->grp_my_rank);
    if (NULL == made) {
        return;
    }
    OBJ_RETAIN(made);
    comm->c_local_group = made;
    comm->c_remote_group = made;
    OBJ_RELEASE(group);
    OBJ_RELEASE(group);
}

/** Let Open MPI choose the communicator's collectives. */
static int select_coll(ompi_communicator_t *comm)
{
    int rc = mca_coll_base_comm_select(comm);

    if (OMPI_SUCCESS == rc) {
        return rc;
    }
    EPML_SHOW_HELP("no collectives", true,
                   NULL != mca_pml_epml_component.coll_components
                       ? mca_pml_epml_component.coll_components
                       : "");
    /* Where no component will do, Open MPI makes no list of modules, and then looks into it. */
    if (NULL != comm->c_coll && NULL == comm->c_coll->module_list) {
        comm->c_coll->module_list = OBJ_NEW(opal_list_t);
    }
    return OMPI_ERR_NOT_AVAILABLE;
}

/** Give a communicator with groups its place, our state and its collectives; releases it if that
 * fails. */
static int finish(ompi_communicator_t *comm, mca_pml_epml_ep_t *ep, uint64_t context,
                  mca_pml_epml_peers_t *peers, mca_pml_epml_peers_t *local)
{
    int rc = mca_pml_epml_comm_place(comm, context);

    if (OMPI_SUCCESS == rc) {
        rc = mca_pml_epml_comm_attach(comm, ep, context, peers, local);
    }
    if (OMPI_SUCCESS == rc) {
        OMPI_COMM_SET_PML_ADDED(comm);
        rc = mca_pml_epml_coll_restrict(comm);
    }
    if (OMPI_SUCCESS == rc) {
        rc = mca_pml_epml_hints_subscribe(comm);
    }
    if (OMPI_SUCCESS == rc) {
        rc = select_coll(comm);
    }
    if (OMPI_SUCCESS != rc) {
        OBJ_RELEASE(comm);
    }
    return rc;
}

int mca_pml_epml_handle_intra(ompi_communicator_t *parent, mca_pml_epml_ep_t *ep, uint64_t context,
                              mca_pml_epml_peers_t *members, int rank,
                              ompi_communicator_t **comm_p)
{
    ompi_group_t *group = make_group(parent->c_local_group, members, rank);
    ompi_communicator_t *comm = NULL;
    int rc;

    if (NULL == group) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    rc = ompi_comm_set(&comm, parent, 0, NULL, 0, NULL, NULL, parent->error_handler, group, NULL,
                       0);
    OBJ_RELEASE(group);
    if (OMPI_SUCCESS == rc) {
        rc = finish(comm, ep, context, members, members);
    }
    if (OMPI_SUCCESS == rc) {
        *comm_p = comm;
    }
    return rc;
}

int mca_pml_epml_handle_inter(ompi_communicator_t *local, uint64_t context,
                              mca_pml_epml_peers_t *remote, ompi_communicator_t **comm_p)
{
    const mca_pml_epml_comm_t *state = mca_pml_epml_comm(local);
    ompi_group_t *group = make_group(local->c_local_group, remote, MPI_UNDEFINED);
    ompi_communicator_t *comm = NULL;
    int rc;

    if (NULL == group) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    rc = ompi_comm_set(&comm, local, 0, NULL, 0, NULL, NULL, local->error_handler,
                       local->c_local_group, group, OMPI_COMM_SET_FLAG_LOCAL_COMM_NODUP);
    OBJ_RELEASE(group);
    if (OMPI_SUCCESS == rc) {
        rc = finish(comm, state->ep, context, remote, state->local);
    }
    if (OMPI_SUCCESS == rc) {
        *comm_p = comm;
    }
    return rc;
}
