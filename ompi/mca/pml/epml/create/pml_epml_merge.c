/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The collective behind MPIX_Comm_merge: one communicator of all members of communicators that hang
 * together, by members that have passed two of them.
 *
 * First the members discover each other (pml_epml_discovery.c).  The rest is a creation
 * (pml_epml_creation.h) to which each member brings one endpoint: that of a handle it has passed,
 * or, if it has passed communicators of processes only, one that is made for it, as for
 * MPI_Intercomm_create; it is the same member for libmpi, by its name.  What they exchange goes
 * from communicator to communicator (pml_epml_traversal.c): there is none that all of them are in.
 *
 * Called through the link table.
 *
 * Tests: merge, merge_errors, comm_nomem, jobs_spawn
 */

#include "ompi_config.h"

#include "../engine/engine.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_address.h"
#include "pml_epml_creation.h"
#include "pml_epml_discovery.h"
#include "pml_epml_handle.h"
#include "pml_epml_merge.h"
#include "pml_epml_traversal.h"

#include "ompi/constants.h"

typedef struct merge_t {
    mca_pml_epml_creation_t creation; /**< first: what its operations get is a merge */
    mca_pml_epml_discovery_t discovery;
    mca_pml_epml_traversal_t traversal;
    ompi_communicator_t *handle; /**< of the endpoint that is brought, or NULL */
} merge_t;

static opal_process_name_t name_of(ompi_communicator_t *comm)
{
    return ompi_group_get_proc_name(comm->c_local_group, ompi_comm_rank(comm));
}

/** What this member alone sees.  @return an error, or OK */
static mpix_endpoints_error_t merge_check(ompi_communicator_t *const comms[], int count)
{
    const opal_process_name_t first = name_of(comms[0]), last = name_of(comms[count - 1]);

    /* Two endpoints are two participants. */
    return first.vpid == last.vpid ? MPIX_ENDPOINTS_OK : MPIX_ENDPOINTS_ERR_COMM;
}

/** By which transports all members are reached.  @return false: no memory */
static bool find_transports(const merge_t *merge, int members, unsigned int *transports)
{
    *transports = 0;
    for (int i = 0; i < members; ++i) {
        const opal_process_name_t process = mca_pml_epml_discovery_name(
            epml_graph_participant(&merge->discovery.graph, i)->process);
        const ompi_proc_t *proc = mca_pml_epml_proc_of_process(process);

        if (NULL == proc) {
            return false;
        }
        *transports |= mca_pml_epml_proc_transports(proc);
        if (OMPI_PROC_MY_NAME->jobid != process.jobid) {
            mca_pml_epml_context_widen();
        }
    }
    return true;
}

/* ---- what is its own ------------------------------------------------------------------------- */

/** Is each address that of the member discovered? */
static int merge_check_addresses(const mca_pml_epml_creation_t *creation)
{
    const merge_t *merge = (const merge_t *) creation;

    for (int i = 0; i < creation->local.total; ++i) {
        const mca_pml_epml_address_t *address = epml_side_address(&creation->local, i);

        if (epml_graph_participant(&merge->discovery.graph, i)->name
            != mca_pml_epml_discovery_word(&address->name)) {
            return OMPI_ERR_BAD_PARAM;
        }
    }
    return OMPI_SUCCESS;
}

static int merge_init_handle(const mca_pml_epml_creation_t *creation, ompi_communicator_t *handle)
{
    const ompi_communicator_t *own = ((const merge_t *) creation)->handle;

    snprintf(handle->c_name, MPI_MAX_OBJECT_NAME, "MPI COMM %s MERGED FROM %s",
             ompi_comm_print_cid(handle), ompi_comm_print_cid(creation->parent));
    return NULL != own ? mca_pml_epml_handle_descend(handle, own)
                       : mca_pml_epml_handle_attributes(handle);
}

static const mca_pml_epml_creation_ops_t merge_ops = {.fit = merge_check_addresses,
                                                      .dress = merge_init_handle};

/* ---- all of it ------------------------------------------------------------------------------- */

/** Which communicators this member traverses, in the order of all; none where discovery has
 * failed. */
static void plan_traversal(merge_t *merge, const epml_graph_view_t *view)
{
    mca_pml_epml_traversal_t *traversal = &merge->traversal;

    traversal->stops = view->stops;
    traversal->is_lost = MPIX_ENDPOINTS_ERR_LOST == merge->discovery.error;
    for (int i = 0; i < traversal->stops; ++i) {
        const mca_pml_epml_discovery_comm_t *comms = &merge->discovery.comms[view->stop[i]];

        traversal->stop[i] = (mca_pml_epml_stop_t){.comm = comms->comm,
                                                   .root = view->parent[i],
                                                   .is_over = EPML_TRAIL_BROKEN == comms->state};
    }
}

/** All members are known; those of a communicator that are not are not waited for. */
static int merge_create(merge_t *merge, ompi_communicator_t *const comms[],
                        ompi_communicator_t **newcomm)
{
    mca_pml_epml_creation_t *creation = &merge->creation;
    const mpix_endpoints_error_t failed = merge->discovery.error;
    mca_pml_epml_ep_t *ep = NULL;
    epml_graph_view_t view;

    epml_graph_lay_out(&merge->discovery.graph, &merge->discovery.self, &view);
    plan_traversal(merge, &view);
    *creation = (mca_pml_epml_creation_t){.ops = &merge_ops,
                                          .parent = comms[0],
                                          .rank = view.rank,
                                          .name = name_of(comms[0]),
                                          .bootstrap = {.comm = comms[0],
                                                        .traversal = &merge->traversal},
                                          .local = {.members = view.size},
                                          .num_ep = 1,
                                          .eps = &ep,
                                          .handles = newcomm,
                                          .has_eps = NULL != merge->handle,
                                          .promise = true,
                                          .level = EPML_LEVEL_MULTIPLE,
                                          .error = failed};
    if (MPIX_ENDPOINTS_OK == failed && !find_transports(merge, view.size, &creation->transports)) {
        creation->error = MPIX_ENDPOINTS_ERR_RESOURCE;
    }
    if (NULL != merge->handle) {
        ep = mca_pml_epml_comm(merge->handle)->ep;
        mca_pml_epml_ep_retain(ep);
    }
    return mca_pml_epml_creation_run(creation,
                                     MPIX_ENDPOINTS_OK == failed ? OMPI_SUCCESS : OMPI_ERROR);
}

int mca_pml_epml_comm_merge(ompi_communicator_t *const comms[], int count,
                            mpix_endpoints_error_t local_error, ompi_communicator_t **newcomm,
                            mpix_endpoints_error_t *error)
{
    merge_t merge = {.discovery = {.comm_count = count, .error = local_error}};
    ompi_communicator_t *handle = NULL;
    int rc = OMPI_ERROR;

    if (MPIX_ENDPOINTS_OK == local_error) {
        merge.discovery.error = merge_check(comms, count);
    }
    for (int i = count - 1; 0 <= i; --i) {
        merge.discovery.comms[i].comm = comms[i];
        merge.handle = mca_pml_epml_is_endpoint_comm(comms[i]) ? comms[i] : merge.handle;
    }
    mca_pml_epml_discovery(&merge.discovery);
    *error = merge.discovery.error;
    if (mca_pml_epml_discovery_knows(&merge.discovery)) {
        rc = merge_create(&merge, comms, &handle);
        *error = MPIX_ENDPOINTS_OK != *error ? *error : merge.creation.error;
    }
    mca_pml_epml_discovery_end(&merge.discovery);
    if (OMPI_SUCCESS == rc) {
        *newcomm = handle;
    }
    return rc;
}
