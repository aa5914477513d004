/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Registration, selection and end of pml/epml.
 *
 * Tests: create_errors, sessions
 */

#include "ompi_config.h"

#include "create/create.h"
#include "cid/cid.h"
#include "calls/calls.h"
#include "engine/engine.h"
#include "proto/proto.h"
#include "object/object.h"
#include "base/base.h"
#include "pml_epml_parameters.h"

#include "ompi/constants.h"
#include "ompi/mca/common/ep/common_ep_link.h"
#include "opal/runtime/opal_progress.h"
#include "opal/util/show_help.h"

#if !defined(EPML_HELP_DIR)
#    error "EPML_HELP_DIR must name the folder of our help texts"
#endif

static const mca_pml_epml_visits_t visits = {mca_pml_epml_ep_visit_all, mca_pml_epml_visit};

static int component_register(void)
{
    mca_pml_epml_parameters_register();
    mca_pml_epml_counts_register(&mca_pml_epml_component.super.pmlm_version, &visits);
    return OMPI_SUCCESS;
}

static int component_open(void)
{
    return opal_show_help_add_dir(EPML_HELP_DIR);
}

/** Done here, where no other thread is.  Open MPI initializes a class with its first object, and
 * lets a second thread see that the class is ready before it sees all of its data. */
static void classes_init(void)
{
    opal_class_initialize(OBJ_CLASS(mca_pml_epml_request_t));
    opal_class_initialize(OBJ_CLASS(mca_pml_epml_part_t));
    opal_class_initialize(OBJ_CLASS(mca_pml_epml_client_request_t));
    mca_pml_epml_group_init();
}

static mca_pml_base_module_t *component_init(int *priority, bool enable_progress_threads,
                                             bool enable_mpi_threads)
{
    /* Never chosen over others of itself: the user asks for it with --mca pml epml. */
    *priority = 1;
    if (!mca_pml_epml_parameters_right()
        || OMPI_SUCCESS != mca_pml_epml_base_select(enable_progress_threads, enable_mpi_threads)) {
        return NULL;
    }
    mca_pml_epml_net_publish();
    classes_init();
    mca_pml_epml_serve_init();
#if EPML_CHECK_LOCKS
    mca_pml_epml_check_start();
#endif
    mca_pml_epml_cid_steps_init();
    mca_pml_epml_shrink_init();
    if (OMPI_SUCCESS != mpix_endpoints_register_pml(&mca_pml_epml_link)) {
        EPML_SHOW_HELP("extension differs", true);
        (void) mca_pml_epml_base_finalize();
        return NULL;
    }
    mca_pml_epml_progress_watch(mca_pml_epml_dump_all);
    return mca_pml_epml_module_init();
}

static int component_finalize(void)
{
    mca_pml_epml_progress_unwatch();
    (void) mpix_endpoints_register_pml(NULL);
    mca_pml_epml_serve_no_more();
    return mca_pml_epml_base_finalize();
}

mca_pml_epml_component_t mca_pml_epml_component = {
    .super = {
        .pmlm_version = {
            MCA_PML_BASE_VERSION_2_1_0,
            .mca_component_name = "epml",
            MCA_BTL_EP_VERSION,
            .mca_open_component = component_open,
            .mca_register_component_params = component_register,
        },
        .pmlm_data = {
            .param_field = MCA_BASE_METADATA_PARAM_NONE
        },
        .pmlm_init = component_init,
        .pmlm_finalize = component_finalize,
    },
};
