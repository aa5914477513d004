/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Registration of osc/epwin, a client of the engine.  It serves windows on communicators of
 * endpoints; windows on others are left to Open MPI's own components.
 *
 * Tests: win_create, install/files
 */

#include "ompi_config.h"

#include "base/base.h"
#include "create/create.h"
#include "calls/calls.h"
#include "am/am.h"
#include "osc_epwin_module.h"
#include "osc_epwin_parameters.h"

#include "ompi/constants.h"
#include "opal/mca/common/ep/common_ep_btl.h"
#include "opal/util/show_help.h"

#if !defined(EPML_HELP_DIR)
#    error "EPML_HELP_DIR must name the folder of our help texts"
#endif

static const mpix_endpoints_client_t client = {.name = "osc/epwin",
                                               .make = mca_osc_epwin_handle_make,
                                               .free = mca_osc_epwin_handle_free,
                                               .am_handler = mca_osc_epwin_am_handler,
                                               .describe = mca_osc_epwin_describe};

static int component_register(void)
{
    mca_osc_epwin_parameters_register();
    return OMPI_SUCCESS;
}

static int component_open(void)
{
    return opal_show_help_add_dir(EPML_HELP_DIR);
}

/** In MPI_Init, after the PML has been selected.  @return an error: the component is not used */
static int component_init(bool enable_progress_threads, bool enable_mpi_threads)
{
    const mpix_endpoints_engine_t *engine = mpix_endpoints_engine(MPIX_ENDPOINTS_ENGINE_ABI);

    (void) enable_progress_threads;
    (void) enable_mpi_threads;
    if (NULL == engine) {
        return OMPI_ERR_NOT_AVAILABLE;
    }
    if (!mca_osc_epwin_parameters_right()) {
        return OMPI_ERR_BAD_PARAM;
    }
    mca_osc_epwin_component.engine = engine;
    mca_osc_epwin_progress_init();
    mca_osc_epwin_component.has_accelerator = NULL != engine->accelerator();
    if (mca_osc_epwin_component.has_accelerator) {
        mca_osc_epwin_device_install(&mca_osc_epwin_functions);
    }
    return MPI_SUCCESS == engine->client_register(&client, &mca_osc_epwin_component.client)
               ? OMPI_SUCCESS
               : OMPI_ERR_OUT_OF_RESOURCE;
}

/** @return the priority; -1: not a communicator of endpoints */
static int component_query(ompi_win_t *win, void **base, size_t size, mca_osc_epwin_unit_t unit,
                           ompi_communicator_t *comm, opal_info_t *info, int flavor)
{
    mpix_endpoints_locality_t locality;

    (void) win;
    (void) base;
    (void) size;
    (void) unit;
    (void) info;
    (void) flavor;
    return mca_osc_epwin_component.engine->locality(comm, 0, &locality)
               ? mca_osc_epwin_component.priority
               : -1;
}

static int component_select(ompi_win_t *win, void **base, size_t size, mca_osc_epwin_unit_t unit,
                            ompi_communicator_t *comm, opal_info_t *info, int flavor, int *model_p)
{
    return mca_osc_epwin_create(win, &mca_osc_epwin_functions, base, size, unit, comm, info, flavor,
                                model_p);
}

static int component_finalize(void)
{
    return OMPI_SUCCESS;
}

mca_osc_epwin_component_t mca_osc_epwin_component = {
    .super = {
        .osc_version = {
            EPWIN_BASE_VERSION,
            .mca_component_name = "epwin",
            MCA_BTL_EP_VERSION,
            .mca_open_component = component_open,
            .mca_register_component_params = component_register,
        },
        .osc_data = {
            .param_field = MCA_BASE_METADATA_PARAM_NONE
        },
        .osc_init = component_init,
        .osc_query = component_query,
        .osc_select = component_select,
        .osc_finalize = component_finalize,
    },
};
