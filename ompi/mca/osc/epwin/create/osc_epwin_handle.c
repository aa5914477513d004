/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A window's module and its duplicate of the communicator.  The module is the client's object of
 * the duplicate: it is freed, and its memory put back, when the duplicate is.  So a message or a
 * step that is late finds a valid module.
 *
 * Called by osc_epwin_create.c, and by the engine.
 *
 * Tests: win_create, win_nomem, win_left, win_slots
 */

#include "ompi_config.h"

#include "../am/am.h"
#include "../base/base.h"
#include "../sync/sync.h"
#include "osc_epwin_create.h"
#include "osc_epwin_making.h"

#include "ompi/mca/coll/coll.h"

#include <stdlib.h>

/** The creation that this thread is in.  The engine calls make in the thread that duplicates. */
static _Thread_local epwin_making_t *being_made;

int mca_osc_epwin_error_reduce(const mca_osc_epwin_module_t *module, int error)
{
    int worst = error;
    const int rc
        = module->comm->c_coll->coll_allreduce(&error, &worst, 1, MPI_INT, MPI_MAX, module->comm,
                                               module->comm->c_coll->coll_allreduce_module);

    return OMPI_SUCCESS == rc ? worst : mca_osc_epwin_mpi_error(rc);
}

mca_osc_epwin_module_t *mca_osc_epwin_module_new(const ompi_osc_base_module_t *table,
                                                 ompi_win_t *win, ompi_communicator_t *comm,
                                                 int flavor)
{
    mca_osc_epwin_module_t *module = calloc(1, sizeof(*module));

    if (NULL != module) {
        module->super = *table;
        module->win = win;
        module->flavor = (uint16_t) flavor;
        module->open_target = EPWIN_OPEN_NONE;
        module->held = &module->first_held;
        module->held_room = 1;
        module->rank = ompi_comm_rank(comm);
        module->size = ompi_comm_size(comm);
    }
    return module;
}

static void module_free(mca_osc_epwin_module_t *module)
{
    mca_osc_epwin_am_free(module);
    mca_osc_epwin_sync_free(module);
    if (NULL != module->window && NULL != module->window->regions) {
        mca_osc_epwin_regions_end(module->window, module->rank);
    }
    for (int i = 0; i < 3; ++i) {
        if (NULL != module->memory[i]) {
            mca_osc_epwin_component.engine->memory_put(module->memory[i]);
        }
    }
    free(module);
}

/** Control memory of the members within a scope. */
static int control_get(epwin_making_t *making, mpix_endpoints_scope_t scope)
{
    mca_osc_epwin_module_t *module = making->module;
    const mpix_endpoints_members_t *members = MPIX_ENDPOINTS_SCOPE_NODE == scope ? &making->node
                                                                                 : &making->process;
    const size_t bytes = mca_osc_epwin_domain_bytes((size_t) members->count,
                                                    (size_t) module->size);
    const int rc = mca_osc_epwin_component.engine->memory_get(module->comm, scope,
                                                              mca_osc_epwin_component.client,
                                                              EPWIN_KEY_CONTROL, bytes,
                                                              &module->memory[EPWIN_KEY_CONTROL]);

    if (MPI_SUCCESS == rc) {
        module->domain = module->memory[EPWIN_KEY_CONTROL]->base;
        module->domain_number = (uint32_t) members->first;
        module->domain_size = (uint32_t) members->count;
    }
    return rc;
}

/** What a module needs before others can address it.  @return an error fails the duplicate */
static int module_begin(epwin_making_t *making, ompi_communicator_t *comm)
{
    const mpix_endpoints_engine_t *engine = mca_osc_epwin_component.engine;
    mca_osc_epwin_module_t *module = making->module;
    int rc = engine->members(comm, MPIX_ENDPOINTS_SCOPE_PROCESS, &making->process);

    module->comm = comm;
    rc = MPI_SUCCESS == rc ? engine->members(comm, MPIX_ENDPOINTS_SCOPE_NODE, &making->node) : rc;
    rc = MPI_SUCCESS == rc ? mca_osc_epwin_am_init(module) : rc;
    if (MPI_SUCCESS == rc) {
        const size_t bytes = mca_osc_epwin_window_bytes(module, making->process.count);

        rc = engine->memory_get(comm, MPIX_ENDPOINTS_SCOPE_PROCESS, mca_osc_epwin_component.client,
                                EPWIN_KEY_WINDOW, bytes, &module->memory[EPWIN_KEY_WINDOW]);
    }
    if (MPI_SUCCESS == rc && 1 == making->node.processes) {
        rc = control_get(making, MPIX_ENDPOINTS_SCOPE_PROCESS);
    } else if (MPI_SUCCESS == rc) {
        /* If not, the process's: control_settle. */
        (void) control_get(making, MPIX_ENDPOINTS_SCOPE_NODE);
    }
    return rc;
}

int mca_osc_epwin_handle_make(ompi_communicator_t *comm, void **object_p)
{
    epwin_making_t *making = being_made;
    int rc;

    /* Another handle: of a function that the user has attached to the communicator, for example. */
    if (NULL == making || making->is_taken || comm->c_local_group != making->group) {
        return MPI_SUCCESS;
    }
    if (NULL == making->module || NULL == making->infos || NULL == making->parts) {
        return MPI_ERR_NO_MEM;
    }
    rc = module_begin(making, comm);
    if (MPI_SUCCESS == rc) {
        making->is_taken = true;
        *object_p = making->module;
    }
    return rc;
}

void mca_osc_epwin_handle_free(ompi_communicator_t *comm, void *object)
{
    (void) comm;
    module_free(object);
}

/** The duplicate is complete: does the node have its control memory, at all its members or at none?
 * @return MPI_SUCCESS, MPI_ERR_NO_MEM */
static int control_settle(epwin_making_t *making)
{
    mpix_endpoints_memory_t **memory = &making->module->memory[EPWIN_KEY_CONTROL];

    if (NULL != *memory && mca_osc_epwin_component.engine->memory_is_complete(*memory)) {
        return MPI_SUCCESS;
    }
    if (NULL != *memory) {
        mca_osc_epwin_component.engine->memory_put(*memory);
        *memory = NULL;
    }
    return control_get(making, MPIX_ENDPOINTS_SCOPE_PROCESS);
}

void mca_osc_epwin_duplicate_free(mca_osc_epwin_module_t *module)
{
    ompi_communicator_t *duplicate = module->comm;

    (void) ompi_comm_free(&duplicate);
}

int mca_osc_epwin_duplicate(epwin_making_t *making, ompi_communicator_t *comm)
{
    ompi_communicator_t *duplicate;
    int rc;

    making->group = comm->c_local_group;
    being_made = making;
    rc = mca_osc_epwin_mpi_error(ompi_comm_dup(comm, &duplicate));
    being_made = NULL;
    if (!making->is_taken && NULL != making->module) {
        module_free(making->module);
    }
    if (MPI_SUCCESS == rc && !making->is_taken) {
        /* The engine has not called make for it.  The other members do not wait for this one. */
        mca_osc_epwin_component.engine->leave(duplicate);
        (void) ompi_comm_free(&duplicate);
        return MPI_ERR_INTERN;
    }
    if (MPI_SUCCESS == rc) {
        making->own.error = control_settle(making);
    }
    return rc;
}
