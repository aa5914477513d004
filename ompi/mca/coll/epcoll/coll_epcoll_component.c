/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Registration of coll/epcoll, and what the engine does with it: it is a client of the engine.
 *
 * Tests: coll_move, coll_reduce, coll_blocks, coll_life, comm_flat, comm_nomem, install/files
 */

#include "ompi_config.h"

#include "base/base.h"
#include "hier/hier.h"
#include "calls/calls.h"
#include "coll_epcoll_module.h"
#include "coll_epcoll_parameters.h"
#include "coll_epcoll_variables.h"
#include "local/local.h"
#include "pending/pending.h"

#include "mpi.h"
#include "ompi/constants.h"
#include "opal/mca/common/ep/common_ep_btl.h"
#include "opal/util/show_help.h"

#include <stdlib.h>

#if !defined(EPML_HELP_DIR)
#    error "EPML_HELP_DIR must name the folder of our help texts"
#endif

/* ---- handles --------------------------------------------------------------------------------- */

/** The block, and the member's view of it. */
static int segment_get(mca_coll_epcoll_handle_t *handle, const mpix_endpoints_members_t *here)
{
    const uint32_t fanout = mca_coll_epcoll_component.fanout, count = (uint32_t) here->count;
    mpix_endpoints_memory_t *memory;
    const int rc = mca_coll_epcoll_component.engine->memory_get(
        handle->view.comm, MPIX_ENDPOINTS_SCOPE_PROCESS, mca_coll_epcoll_component.client,
        EPCOLL_KEY_SEGMENT, epcoll_segment_size(count, fanout), &memory);

    if (MPI_SUCCESS == rc) {
        epcoll_member_init(&handle->view.member, memory->base, count, (uint32_t) here->index,
                           fanout);
        handle->view.member.oversubscribed = mca_coll_epcoll_component.engine->is_oversubscribed();
        /* Relaxed: it is the same for all members, and each has stored it. */
        atomic_store_explicit(&handle->view.member.segment->memory, memory, memory_order_relaxed);
    }
    return rc;
}

/** What has been made in calls. */
static void lazy_release(mca_coll_epcoll_handle_t *handle)
{
    mca_coll_epcoll_lazy_t *lazy = mca_coll_epcoll_lazy_if_made(handle);

    if (NULL != lazy) {
        mca_coll_epcoll_double_buffers_put(lazy);
        for (uint32_t i = 0; i < EPCOLL_SCHEDULE_SCRATCHES; ++i) {
            free(lazy->scratch[i].memory);
        }
        free(lazy);
    }
}

/** Release what it has, as far as it has been made. */
static void handle_release(mca_coll_epcoll_handle_t *handle)
{
    const mpix_endpoints_engine_t *engine = mca_coll_epcoll_component.engine;
    mca_coll_epcoll_hier_t *hier = mca_coll_epcoll_hier(handle);

    if (NULL != handle->module) {
        OBJ_RELEASE(handle->module);
    }
    if (handle->is_hier) {
        mca_coll_epcoll_node_segment_put(hier);
        mca_coll_epcoll_bounce_put(hier);
        if (NULL != hier->layout) {
            engine->memory_put(hier->layout->memory);
        }
    }
    if (NULL != handle->view.member.segment) {
        engine->memory_put(atomic_load_explicit(&handle->view.member.segment->memory,
                                                memory_order_relaxed));
    }
    lazy_release(handle);
    free(handle);
}

/** The layout, and, where some process has two members, the segment: our process may have one. */
static int hier_make(mca_coll_epcoll_hier_t *hier, const mpix_endpoints_members_t *here)
{
    int rc = mca_coll_epcoll_layout_get(hier->super.view.comm, EPCOLL_KEY_LAYOUT, &hier->layout);

    if (MPI_SUCCESS == rc && hier->layout->is_shared) {
        rc = segment_get(&hier->super, here);
        rc = MPI_SUCCESS == rc ? mca_coll_epcoll_node_segment_init(hier) : rc;
    }
    return rc;
}

/** The module, of a handle that is complete otherwise. */
static int module_make(mca_coll_epcoll_handle_t *handle)
{
    handle->module = mca_coll_epcoll_module_new(handle);
    return NULL == handle->module ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

/** One of a communicator in which no process has two members. */
static int bare_make(ompi_communicator_t *comm, void **object_p)
{
    mca_coll_epcoll_bare_t *bare = calloc(1, sizeof(*bare));

    if (NULL == bare) {
        return MPI_ERR_NO_MEM;
    }
    bare->super.view.comm = comm;
    bare->super.view.is_handle = true;
    bare->super.view.member.broken = &bare->broken;
    if (MPI_SUCCESS != module_make(&bare->super)) {
        handle_release(&bare->super);
        return MPI_ERR_NO_MEM;
    }
    *object_p = bare;
    return MPI_SUCCESS;
}

/** Make a handle: the segment of its process, the layout, and the module, which may fail at all
 * members or at none. */
static int handle_make(ompi_communicator_t *comm, void **object_p)
{
    mpix_endpoints_members_t here;
    mca_coll_epcoll_handle_t *handle;
    bool is_local;
    int rc;

    if (OMPI_COMM_IS_INTER(comm)) {
        return MPI_SUCCESS;
    }
    if (!mca_coll_epcoll_some_share(comm)) {
        return bare_make(comm, object_p);
    }
    rc = mca_coll_epcoll_component.engine->members(comm, MPIX_ENDPOINTS_SCOPE_PROCESS, &here);
    if (MPI_SUCCESS != rc) {
        return rc;
    }
    is_local = here.count == ompi_comm_size(comm);
    handle = calloc(1, is_local ? sizeof(*handle) : sizeof(mca_coll_epcoll_hier_t));
    if (NULL == handle) {
        return MPI_ERR_NO_MEM;
    }
    handle->view.comm = comm;
    handle->view.is_handle = true;
    handle->view.is_local = is_local;
    handle->is_hier = !is_local;
    rc = is_local ? segment_get(handle, &here) : hier_make(mca_coll_epcoll_hier(handle), &here);
    rc = MPI_SUCCESS == rc && !mca_coll_epcoll_is_bare(handle) ? module_make(handle) : rc;
    if (MPI_SUCCESS != rc || mca_coll_epcoll_is_bare(handle)) {
        handle_release(handle);
        return MPI_SUCCESS != rc ? rc : bare_make(comm, object_p);
    }
    mca_coll_epcoll_deferred_begin(&handle->view.member);
    mca_coll_epcoll_count_add(handle);
    *object_p = handle;
    return MPI_SUCCESS;
}

static void handle_free(ompi_communicator_t *comm, void *object)
{
    mca_coll_epcoll_handle_t *handle = object;

    (void) comm;
    if (mca_coll_epcoll_is_bare(handle)) {
        handle_release(handle);
        return;
    }
    /* It makes no more calls: a member that waits for its part of something detects that
     * (epcoll_has_left). */
    epcoll_end_at(&handle->view.member, UINT64_MAX);
    mca_coll_epcoll_pending_free(handle);
    mca_coll_epcoll_count_remove(handle);
    handle_release(handle);
}

static const mpix_endpoints_client_t client = {.name = "coll/epcoll",
                                               .make = handle_make,
                                               .free = handle_free,
                                               .am_handler = mca_coll_epcoll_am_handler,
                                               .describe = mca_coll_epcoll_describe};

/* ---- the component --------------------------------------------------------------------------- */

static int component_register(void)
{
    mca_coll_epcoll_parameters_register();
    mca_coll_epcoll_variables_register();
    return OMPI_SUCCESS;
}

static int component_open(void)
{
    opal_class_initialize(OBJ_CLASS(mca_coll_epcoll_module_t));
    opal_class_initialize(OBJ_CLASS(mca_coll_epcoll_guard_t));
    return opal_show_help_add_dir(EPML_HELP_DIR);
}

/** In MPI_Init, once the PML is there.  @return an error: we are not used */
static int init_query(bool enable_progress_threads, bool enable_mpi_threads)
{
    const mpix_endpoints_engine_t *engine = mpix_endpoints_engine(MPIX_ENDPOINTS_ENGINE_ABI);

    (void) enable_progress_threads;
    (void) enable_mpi_threads;
    if (NULL == engine) {
        return OMPI_ERR_NOT_AVAILABLE;
    }
    if (!mca_coll_epcoll_parameters_right()) {
        return OMPI_ERR_BAD_PARAM;
    }
    mca_coll_epcoll_component.engine = engine;
    mca_coll_epcoll_component.begin = mca_coll_epcoll_pending_begin;
    mca_coll_epcoll_component.init = mca_coll_epcoll_pending_init;
    return MPI_SUCCESS == engine->client_register(&client, &mca_coll_epcoll_component.client)
                   && MPI_SUCCESS == mca_coll_epcoll_agreement_register()
               ? OMPI_SUCCESS
               : OMPI_ERR_OUT_OF_RESOURCE;
}

/** A handle's module, which is libmpi's from then on.  @return NULL: none, or it has it */
static mca_coll_base_module_t *module_query(mca_coll_epcoll_handle_t *handle)
{
    mca_coll_base_module_t *module;

    if (NULL == handle) {
        return NULL;
    }
    module = handle->module;
    handle->module = NULL;
    handle->run = handle->view.is_local ? mca_coll_epcoll_local_run : mca_coll_epcoll_hier_run;
    return module;
}

static mca_coll_base_module_t *comm_query(struct ompi_communicator_t *comm, int *priority)
{
    mpix_endpoints_locality_t place;
    mca_coll_base_module_t *module;

    *priority = mca_coll_epcoll_component.priority;
    if (!mca_coll_epcoll_component.engine->locality(comm, 0, &place)) {
        return NULL; /* not of endpoints */
    }
    module = module_query(
        mca_coll_epcoll_component.engine->client_object(comm, mca_coll_epcoll_component.client));
    if (NULL != mca_coll_epcoll_component.engine->accelerator()) {
        mca_coll_base_module_t *guard = mca_coll_epcoll_guard_new(module);

        module = NULL == guard ? module : guard;
    } else if (OMPI_COMM_IS_INTER(comm)) {
        module = mca_coll_epcoll_module_inter(comm);
    }
    return module;
}

mca_coll_epcoll_component_t mca_coll_epcoll_component = {
    .super = {
        .collm_version = {
            EPCOLL_BASE_VERSION,
            .mca_component_name = "epcoll",
            MCA_BTL_EP_VERSION,
            .mca_open_component = component_open,
            .mca_register_component_params = component_register,
        },
        .collm_data = {
            .param_field = MCA_BASE_METADATA_PARAM_NONE
        },
        .collm_init_query = init_query,
        .collm_comm_query = comm_query,
    },
};
