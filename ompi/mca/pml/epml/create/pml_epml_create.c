/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Endpoints from a communicator: the collective behind MPIX_Comm_create_endpoints, one kind of
 * creation (pml_epml_creation.h).  Each member of the parent brings as many endpoints as it likes,
 * all of them new.
 *
 * If the parent is an intercommunicator, both sides do all together, and each handle is one of an
 * intercommunicator with a local communicator of its own.
 *
 * Called through the link table; test/mpi/create*.c.
 *
 * Tests: create, create_errors, create_fatal, create_info, create_many, create_omp
 */

#include "ompi_config.h"

#include "../cid/cid.h"
#include "../service/service.h"
#include "../calls/calls.h"
#include "../loss/loss.h"
#include "../engine/engine.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_among.h"
#include "pml_epml_create.h"
#include "pml_epml_creation.h"
#include "pml_epml_from_group.h"
#include "pml_epml_handle.h"
#include "pml_epml_merge.h"
#include "pml_epml_shrink.h"
#include "pml_epml_num_endpoints.h"

#include "ompi/constants.h"
#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/common/ep/common_ep_link.h"
#include "opal/util/info.h"

/** Read an info key.  @return its value, to be released, or NULL */
static opal_cstring_t *info_value(opal_info_t *info, const char *key)
{
    opal_cstring_t *value = NULL;
    int flag = 0;

    if (NULL == info || OPAL_SUCCESS != opal_info_get(info, key, &value, &flag) || 0 == flag) {
        return NULL;
    }
    return value;
}

static void read_info(mca_pml_epml_creation_t *creation, opal_info_t *info)
{
    opal_cstring_t *value = info_value(info, "same_num_ep");

    creation->info = info;
    creation->promise = NULL != value && 0 == strcasecmp(value->string, "true");
    if (NULL != value) {
        OBJ_RELEASE(value);
    }
    creation->level = EPML_LEVEL_MULTIPLE;
    value = info_value(info, "mpix_thread_level");
    if (NULL != value) {
        const mca_pml_epml_level_t level = mca_pml_epml_level_read(value->string);

        creation->level = EPML_LEVEL_NONE != level ? level : EPML_LEVEL_MULTIPLE;
        OBJ_RELEASE(value);
    }
}

/** The members of the creation, and their locality. */
static void read_parent(mca_pml_epml_creation_t *creation)
{
    ompi_communicator_t *parent = creation->parent;

    creation->rank = ompi_comm_rank(parent);
    creation->name = ompi_group_get_proc_name(parent->c_local_group, creation->rank);
    creation->bootstrap.comm = parent;
    creation->local.group = parent->c_local_group;
    creation->local.members = parent->c_local_group->grp_proc_count;
    creation->transports = mca_pml_epml_group_transports(parent->c_local_group);
    if (OMPI_COMM_IS_INTER(parent)) {
        creation->bootstrap.comm = parent->c_local_comm;
        creation->bootstrap.two_sided = true;
        creation->bootstrap.bridge = parent;
        /* Not OMPI_COMM_ALLREDUCE_TAG: by that the leaders of an MPI_Comm_idup talk, which may be
         * under way.  This one is of blocking calls on all of the communicator, of which creation
         * is one. */
        creation->bootstrap.tag = OMPI_COMM_BARRIER_TAG;
        creation->bootstrap.out_tag = OMPI_COMM_BARRIER_TAG;
        creation->remote.group = parent->c_remote_group;
        creation->remote.members = parent->c_remote_group->grp_proc_count;
        creation->transports |= mca_pml_epml_group_transports(parent->c_remote_group);
    }
}

/* What cannot be had at all, and why, the transport has said; else say how far it went. */
static void say_short_of(const mca_pml_epml_creation_t *creation, int made, int rc)
{
    if (0 < made || (OMPI_ERR_BAD_PARAM != rc && OMPI_ERR_NOT_AVAILABLE != rc)) {
        EPML_SHOW_HELP("no resources", true, made + 1, creation->num_ep,
                       0 != creation->transports ? "epshm, epofi" : "epshm", opal_strerror(rc));
    }
}

static int set_info(const mca_pml_epml_creation_t *creation, ompi_communicator_t *comm)
{
    int rc = mca_pml_epml_hints_set_level(comm, creation->level);

    if (OMPI_SUCCESS == rc) {
        rc = opal_info_set(comm->super.s_info, "same_num_ep", creation->promise ? "true" : "false");
    }
    return OMPI_SUCCESS == rc ? mca_pml_epml_hints_copy(comm, creation->info) : rc;
}

static int create_init_handle(const mca_pml_epml_creation_t *creation, ompi_communicator_t *handle)
{
    int rc = set_info(creation, handle);

    if (OMPI_SUCCESS == rc) {
        rc = mca_pml_epml_handle_attributes(handle);
    }
    if (OMPI_SUCCESS == rc) {
        snprintf(handle->c_name, MPI_MAX_OBJECT_NAME, "MPI COMM %s ENDPOINTS FROM %s",
                 ompi_comm_print_cid(handle), ompi_comm_print_cid(creation->parent));
    }
    return rc;
}

static const mca_pml_epml_creation_ops_t create_ops = {.short_of = say_short_of,
                                                       .dress = create_init_handle};

/** Every member has its endpoints. */
static void note_success(const mca_pml_epml_creation_t *creation, ompi_communicator_t **comms)
{
    if (0 < creation->on_node) {
        mca_pml_epml_ep_note_node(creation->on_node);
    }
    for (int i = 0; i < creation->num_ep; ++i) {
        comms[i] = creation->handles[i];
    }
    mca_pml_epml_name_misspelt();
    if (0 < creation->num_ep && OPAL_UNLIKELY(0 < mca_pml_epml_component.verbose)) {
        mca_pml_epml_report_once();
    }
}

static int create_endpoints(ompi_communicator_t *parent, int num_ep, opal_info_t *info,
                            mpix_endpoints_error_t local_error, ompi_communicator_t **comms,
                            mpix_endpoints_error_t *error)
{
    mca_pml_epml_creation_t creation = {
        .ops = &create_ops, .parent = parent, .num_ep = num_ep, .error = local_error};
    int rc;

    *error = MPIX_ENDPOINTS_OK;
    if (!mca_pml_epml_group_is_of_this_job(parent->c_local_group)
        || !mca_pml_epml_group_is_of_this_job(parent->c_remote_group)) {
        mca_pml_epml_context_widen();
    }
    read_info(&creation, info);
    read_parent(&creation);
    creation.eps = calloc((size_t) num_ep + 1, sizeof(*creation.eps));
    creation.handles = calloc((size_t) num_ep + 1, sizeof(*creation.handles));
    if (NULL == creation.eps || NULL == creation.handles) {
        creation.num_ep = 0;
        if (MPIX_ENDPOINTS_OK == creation.error) {
            creation.error = MPIX_ENDPOINTS_ERR_RESOURCE;
        }
    }
    rc = mca_pml_epml_creation_run(&creation, OMPI_SUCCESS);
    if (OMPI_SUCCESS == rc) {
        note_success(&creation, comms);
    }
    free(creation.eps);
    free(creation.handles);
    *error = creation.error;
    return rc;
}

const mpix_endpoints_pml_t mca_pml_epml_link = {
    .abi = MPIX_ENDPOINTS_LINK_ABI,
    .create_endpoints = create_endpoints,
    .is_endpoint_comm = mca_pml_epml_is_endpoint_comm,
    .is_endpoint_name = mca_pml_epml_is_endpoint_name,
    .same_process = mca_pml_epml_same_process,
    .comm_nextcid = mca_pml_epml_cid_agree,
    .comm_nextcid_nb = mca_pml_epml_cid_agree_nb,
    .comm_activate = mca_pml_epml_cid_activate,
    .comm_activate_nb = mca_pml_epml_cid_activate_nb,
    .comm_drain = mca_pml_epml_comm_drain,
    .attach_buffer = mca_pml_epml_attach_buffer,
    .detach_buffer = mca_pml_epml_detach_buffer,
    .request_hold = mca_pml_epml_hold,
    .comm_among = mca_pml_epml_comm_among,
    .intercomm_create = mca_pml_epml_intercomm_create,
    .intercomm_connect = mca_pml_epml_intercomm_connect,
    .intercomm_bring = mca_pml_epml_intercomm_bring,
    .create_from_group = mca_pml_epml_create_from_group,
    .group_max = mca_pml_epml_group_max,
    .wait_until = mca_pml_epml_wait_until,
    .comm_merge = mca_pml_epml_comm_merge,
    .number = mca_pml_epml_num_endpoints,
    .report = mca_pml_epml_report,
    .network = mca_pml_epml_network,
    .comm_failed = mca_pml_epml_acked_group,
    .comm_ack_failed = mca_pml_epml_acked_add,
    .comm_revoke = mca_pml_epml_revoke,
    .comm_shrink = mca_pml_epml_shrink,
    .comm_ishrink = mca_pml_epml_ishrink,
    .request_is_pending = mca_pml_epml_pending,
    .engine = &mca_pml_epml_service,
};
