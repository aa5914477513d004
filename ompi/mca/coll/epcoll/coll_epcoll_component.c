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
 * Tests: coll_move, coll_reduce, coll_life, comm_flat, install/files
 */

#include "ompi_config.h"

#include "base/base.h"
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

/** Key of the block's memory behind the door; the layer pending has others. */
#define KEY_BLOCK 0

/* ---- handles --------------------------------------------------------------------------------- */

/** A handle is being made: the block of its process, which may fail at all members or at none. */
static int handle_make(ompi_communicator_t *comm, void **object_p)
{
    const mpix_endpoints_door_t *door = mca_coll_epcoll_component.door;
    const uint32_t fan = mca_coll_epcoll_component.fan;
    mca_coll_epcoll_handle_t *handle;
    mpix_endpoints_members_t here;
    int rc;

    if (OMPI_COMM_IS_INTER(comm) || 1 == ompi_comm_size(comm)) {
        return MPI_SUCCESS;
    }
    rc = door->members(comm, MPIX_ENDPOINTS_PROCESS, &here);
    if (MPI_SUCCESS != rc || here.count != ompi_comm_size(comm)) {
        return rc;
    }
    handle = calloc(1, sizeof(*handle));
    if (NULL == handle) {
        return MPI_ERR_NO_MEM;
    }
    rc = door->memory_get(comm, MPIX_ENDPOINTS_PROCESS, mca_coll_epcoll_component.guest, KEY_BLOCK,
                          epcoll_block_size((uint32_t) here.count, fan), &handle->memory);
    if (MPI_SUCCESS != rc) {
        free(handle);
        return rc;
    }
    handle->comm = comm;
    handle->rank = ompi_comm_rank(comm);
    handle->size = (uint32_t) ompi_comm_size(comm);
    handle->here = here;
    handle->is_local = true;
    handle->run = mca_coll_epcoll_local_run;
    handle->begin = mca_coll_epcoll_pending_begin;
    handle->init = mca_coll_epcoll_pending_init;
    epcoll_member_init(&handle->member, handle->memory->base, (uint32_t) here.count,
                       (uint32_t) here.index, fan);
    epcoll_set_crowded(&handle->member, door->is_crowded());
    handle->member.turn = mca_coll_epcoll_turn;
    handle->member.context = handle;
    mca_coll_epcoll_sides_begin(&handle->member);
    mca_coll_epcoll_variables_add(handle);
    *object_p = handle;
    return MPI_SUCCESS;
}

static void handle_free(ompi_communicator_t *comm, void *object)
{
    mca_coll_epcoll_handle_t *handle = object;

    (void) comm;
    mca_coll_epcoll_pending_free(handle);
    mca_coll_epcoll_variables_remove(handle);
    mca_coll_epcoll_component.door->memory_put(handle->memory);
    free(handle);
}

static const mpix_endpoints_guest_t guest = {.name = "coll/epcoll",
                                             .make = handle_make,
                                             .free = handle_free};

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

    *priority = mca_coll_epcoll_component.priority;
    if (!mca_coll_epcoll_component.door->place(comm, 0, &place)) {
        return NULL; /* not of endpoints */
    }
    handle = mca_coll_epcoll_component.door->object(comm, mca_coll_epcoll_component.guest);
    return NULL == handle ? NULL : mca_coll_epcoll_module_new(handle);
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
