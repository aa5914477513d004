/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Windows.  Those of endpoints are osc/epwin's; other components are not asked.
 *
 * Creation: libmpi parses two info values before it selects a component, and returns at the member
 * that has a bad one, while the others wait in the component.  So the members reduce their errors
 * first (MPI_Win_create of this library, calls/win_create.c, takes part with its own).
 *
 * Free: libmpi removes a window from its table also where the component refuses to free it.  A window
 * with an open epoch stays a valid one: MPI_Win_free can be called again.
 *
 * Tests: comm_refused, win_create_errors, win_fortran
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "hooks.h"

#include "ompi/communicator/communicator.h"
#include "ompi/mca/osc/base/base.h"
#include "ompi/mca/osc/osc.h"
#include "ompi/win/win.h"
#include "opal/mca/base/mca_base_component_repository.h"
#include "opal/util/info.h"

#include <stdatomic.h>
#include <string.h>

/** osc/epwin, or NULL: it is not there, or has been excluded.  The list does not change between
 * MPI_Init and MPI_Finalize. */
static const ompi_osc_base_component_t *win_component(void)
{
    mca_base_component_list_item_t *item;

    OPAL_LIST_FOREACH (item, &ompi_osc_base_framework.framework_components,
                       mca_base_component_list_item_t) {
        if (0 == strcmp("epwin", item->cli_component->mca_component_name)) {
            return (const ompi_osc_base_component_t *) item->cli_component;
        }
    }
    return NULL;
}

/** Are the values valid that libmpi itself parses at creation? */
static bool win_info_is_valid(opal_info_t *info)
{
    int value, flag;

    return NULL == info
           || (OMPI_SUCCESS
                   == opal_info_get_value_enum(info, "accumulate_ops", &value, 0,
                                               ompi_win_accumulate_ops, &flag)
               && OMPI_SUCCESS
                      == opal_info_get_value_enum(info, "accumulate_order", &value, 0,
                                                  &ompi_win_accumulate_order->super, &flag));
}

/** Can all members create a window?  Collective over comm, if it is of endpoints.
 *
 * @return MPI_SUCCESS, or the error of all members: MPI_ERR_UNSUPPORTED_OPERATION,
 *         MPI_ERR_INFO_VALUE, one that a member's MPI_Win_create has found, or the reduction's */
static int win_check(ompi_communicator_t *comm, opal_info_t *info)
{
    static bool said;

    if (OPAL_LIKELY(!mpix_endpoints_is_endpoint_comm(comm))) {
        return MPI_SUCCESS;
    }
    if (NULL == win_component()) {
        mpix_endpoints_show_help_once("no windows", &said);
        return mpix_endpoints_reduce_error(comm, MPI_ERR_UNSUPPORTED_OPERATION);
    }
    return mpix_endpoints_reduce_error(comm,
                                       win_info_is_valid(info) ? MPI_SUCCESS : MPI_ERR_INFO_VALUE);
}

int MPIX_ENDPOINTS_HOOK(ompi_win_create)(void *base, size_t size, mpix_endpoints_disp_unit_t unit,
                                         ompi_communicator_t *comm, opal_info_t *info,
                                         ompi_win_t **newwin)
{
    const int rc = win_check(comm, info);

    return MPI_SUCCESS == rc
               ? MPIX_ENDPOINTS_ORIGINAL(ompi_win_create)(base, size, unit, comm, info, newwin)
               : rc;
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_win_create);

int MPIX_ENDPOINTS_HOOK(ompi_win_allocate)(size_t size, mpix_endpoints_disp_unit_t unit,
                                           opal_info_t *info, ompi_communicator_t *comm,
                                           void *baseptr, ompi_win_t **newwin)
{
    const int rc = win_check(comm, info);

    return MPI_SUCCESS == rc
               ? MPIX_ENDPOINTS_ORIGINAL(ompi_win_allocate)(size, unit, info, comm, baseptr, newwin)
               : rc;
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_win_allocate);

int MPIX_ENDPOINTS_HOOK(ompi_win_allocate_shared)(size_t size, mpix_endpoints_disp_unit_t unit,
                                                  opal_info_t *info, ompi_communicator_t *comm,
                                                  void *baseptr, ompi_win_t **newwin)
{
    const int rc = win_check(comm, info);

    return MPI_SUCCESS == rc
               ? MPIX_ENDPOINTS_ORIGINAL(ompi_win_allocate_shared)(size, unit, info, comm, baseptr,
                                                                   newwin)
               : rc;
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_win_allocate_shared);

int MPIX_ENDPOINTS_HOOK(ompi_win_create_dynamic)(opal_info_t *info, ompi_communicator_t *comm,
                                                 ompi_win_t **newwin)
{
    const int rc = win_check(comm, info);

    return MPI_SUCCESS == rc ? MPIX_ENDPOINTS_ORIGINAL(ompi_win_create_dynamic)(info, comm, newwin)
                             : rc;
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_win_create_dynamic);

/** osc/epwin's osc_free, by which its windows are known; NULL before the first one. */
static _Atomic(ompi_osc_base_module_free_fn_t) win_free;

/** Other components' queries are not called: osc/ucx creates a context in its first one, without a
 * lock, and endpoints call from several threads. */
int MPIX_ENDPOINTS_HOOK(ompi_osc_base_select)(ompi_win_t *win, void **base, size_t size,
                                              mpix_endpoints_disp_unit_t unit,
                                              ompi_communicator_t *comm, int flavor, int *model)
{
    const ompi_osc_base_component_t *component;
    int rc;

    if (OPAL_LIKELY(!mpix_endpoints_is_endpoint_comm(comm))) {
        return MPIX_ENDPOINTS_ORIGINAL(ompi_osc_base_select)(win, base, size, unit, comm, flavor,
                                                             model);
    }
    component = win_component();
    if (NULL == component) {
        return MPI_ERR_UNSUPPORTED_OPERATION; /* creation did not come by our definitions */
    }
    rc = component->osc_select(win, base, size, unit, comm, win->super.s_info, flavor, model);
    if (MPI_SUCCESS == rc) {
        /* Relaxed: always the same value, and a thread that frees a window has it from the one that
         * created it. */
        atomic_store_explicit(&win_free, win->w_osc_module->osc_free, memory_order_relaxed);
    }
    return rc;
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_osc_base_select);

static int win_is_freed(ompi_win_t *win)
{
    (void) win;
    return OMPI_SUCCESS;
}

int MPIX_ENDPOINTS_HOOK(ompi_win_free)(ompi_win_t *win)
{
    static ompi_osc_base_module_t freed = {.osc_free = win_is_freed}; /* never written */
    const ompi_osc_base_module_free_fn_t function = win->w_osc_module->osc_free;
    int rc;

    /* Relaxed: see above. */
    if (function == atomic_load_explicit(&win_free, memory_order_relaxed)) {
        rc = function(win);
        if (OMPI_SUCCESS != rc) {
            return rc;
        }
        win->w_osc_module = &freed;
    }
    return MPIX_ENDPOINTS_ORIGINAL(ompi_win_free)(win);
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_win_free);
