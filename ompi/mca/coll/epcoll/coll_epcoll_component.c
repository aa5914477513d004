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
 * Registration of coll/epcoll, and what the engine does with it: it is a guest behind the door.
 *
 * Tests: coll_move, coll_reduce, coll_life, comm_flat, comm_nomem, install/files
 */

#include "ompi_config.h"

#include "base/base.h"
#include "between/between.h"
#include "coll_epcoll_module.h"
#include "coll_epcoll_parameters.h"
#include "coll_epcoll_variables.h"
#include "local/local.h"
#include "pending/pending.h"

#include "mpi.h"
#include "ompi/constants.h"
#include "opal/mca/btl/btl_ep.h"
#include "opal/util/show_help.h"

#include <stdlib.h>

#if !defined(EPML_HELP_DIR)
#    error "EPML_HELP_DIR must name the folder of our help texts"
#endif

/* ---- handles --------------------------------------------------------------------------------- */

/** The block, and the member's view of it. */
static int block_get(mca_coll_epcoll_handle_t *handle)
{
    const uint32_t fan = mca_coll_epcoll_component.fan, count = (uint32_t) handle->here.count;
    const int rc = mca_coll_epcoll_component.door->memory_get(handle->comm, MPIX_ENDPOINTS_PROCESS,
                                                              mca_coll_epcoll_component.guest,
                                                              EPCOLL_KEY_BLOCK,
                                                              epcoll_block_size(count, fan),
                                                              &handle->memory);

    if (MPI_SUCCESS == rc) {
        epcoll_member_init(&handle->member, handle->memory->base, count,
                           (uint32_t) handle->here.index, fan);
        epcoll_set_crowded(&handle->member, mca_coll_epcoll_component.door->is_crowded());
        handle->member.turn = mca_coll_epcoll_turn;
        handle->member.context = handle;
    }
    return rc;
}

/** Put back what it has, as far as its making has come. */
static void handle_release(mca_coll_epcoll_handle_t *handle)
{
    const mpix_endpoints_door_t *door = mca_coll_epcoll_component.door;

    mca_coll_epcoll_near_put(handle);
    mca_coll_epcoll_shelf_put(handle);
    if (NULL != handle->module) {
        OBJ_RELEASE(handle->module);
    }
    if (NULL != handle->layout_memory) {
        door->memory_put(handle->layout_memory);
    }
    if (NULL != handle->memory) {
        door->memory_put(handle->memory);
    }
    mca_coll_epcoll_program_put(handle);
    free(handle->room[0].memory);
    free(handle->room[1].memory);
    free(handle->others);
    free(handle);
}

/** The module, once it is known what is served. */
static int module_make(mca_coll_epcoll_handle_t *handle)
{
    handle->begin = mca_coll_epcoll_pending_begin;
    handle->init = mca_coll_epcoll_pending_init;
    handle->module = mca_coll_epcoll_module_new(handle);
    return NULL == handle->module ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

/** A handle is being made: the block of its process, the layout, and the module, which may fail at all
 * members or at none.  Where no process has two members we serve nothing. */
static int handle_make(ompi_communicator_t *comm, void **object_p)
{
    mca_coll_epcoll_handle_t *handle;
    int rc;

    if (OMPI_COMM_IS_INTER(comm) || !mca_coll_epcoll_some_share(comm)) {
        return MPI_SUCCESS;
    }
    handle = calloc(1, sizeof(*handle));
    if (NULL == handle) {
        return MPI_ERR_NO_MEM;
    }
    handle->comm = comm;
    handle->rank = ompi_comm_rank(comm);
    handle->size = (uint32_t) ompi_comm_size(comm);
    rc = mca_coll_epcoll_component.door->members(comm, MPIX_ENDPOINTS_PROCESS, &handle->here);
    handle->is_local = handle->here.count == ompi_comm_size(comm);
    handle->run = handle->is_local ? mca_coll_epcoll_local_run : mca_coll_epcoll_between_run;
    if (MPI_SUCCESS == rc && !handle->is_local) {
        rc = mca_coll_epcoll_layout_get(comm, EPCOLL_KEY_LAYOUT, &handle->layout_memory,
                                        &handle->layout);
    }
    if (MPI_SUCCESS == rc && (handle->is_local || handle->layout->is_shared)) {
        rc = block_get(handle);
    }
    if (MPI_SUCCESS == rc && NULL != handle->memory && !handle->is_local) {
        rc = mca_coll_epcoll_near_find(handle);
    }
    if (MPI_SUCCESS == rc && NULL != handle->memory) {
        rc = module_make(handle);
    }
    if (MPI_SUCCESS != rc || NULL == handle->memory) {
        handle_release(handle);
        return rc;
    }
    mca_coll_epcoll_sides_begin(&handle->member);
    mca_coll_epcoll_variables_add(handle);
    *object_p = handle;
    return MPI_SUCCESS;
}

static void handle_free(ompi_communicator_t *comm, void *object)
{
    mca_coll_epcoll_handle_t *handle = object;

    (void) comm;
    /* It calls nothing any more: who waits for its part of something sees that (epcoll_is_gone). */
    epcoll_end_at(&handle->member, UINT64_MAX);
    mca_coll_epcoll_pending_free(handle);
    mca_coll_epcoll_variables_remove(handle);
    handle_release(handle);
}

static const mpix_endpoints_guest_t guest = {.name = "coll/epcoll",
                                             .make = handle_make,
                                             .free = handle_free,
                                             .arrived = mca_coll_epcoll_arrived};

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
    return opal_show_help_add_dir(EPML_HELP_DIR);
}

/** In MPI_Init, once the PML is there.  @return an error: we are not used */
static int init_query(bool enable_progress_threads, bool enable_mpi_threads)
{
    const mpix_endpoints_door_t *door = mpix_endpoints_door(MPIX_ENDPOINTS_DOOR_ABI);

    (void) enable_progress_threads;
    (void) enable_mpi_threads;
    if (NULL == door) {
        return OMPI_ERR_NOT_AVAILABLE;
    }
    if (!mca_coll_epcoll_parameters_right()) {
        return OMPI_ERR_BAD_PARAM;
    }
    mca_coll_epcoll_component.door = door;
    return MPI_SUCCESS == door->enrol(&guest, &mca_coll_epcoll_component.guest)
               ? OMPI_SUCCESS
               : OMPI_ERR_OUT_OF_RESOURCE;
}

static mca_coll_base_module_t *comm_query(struct ompi_communicator_t *comm, int *priority)
{
    mpix_endpoints_place_t place;
    mca_coll_epcoll_handle_t *handle;
    mca_coll_base_module_t *module;

    *priority = mca_coll_epcoll_component.priority;
    if (!mca_coll_epcoll_component.door->place(comm, 0, &place)) {
        return NULL; /* not of endpoints */
    }
    handle = mca_coll_epcoll_component.door->object(comm, mca_coll_epcoll_component.guest);
    if (NULL == handle) {
        return NULL;
    }
    module = handle->module;
    handle->module = NULL; /* it is libmpi's */
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
