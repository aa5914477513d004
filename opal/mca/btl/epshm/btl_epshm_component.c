/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Registration of btl/epshm, and the way in (ep_create).
 *
 * Tests: create_errors, create (pipe)
 */

#include "opal_config.h"

#include "node/node.h"
#include "threads/threads.h"
#include "segment/segment.h"
#include "base/base.h"
#include "btl_epshm_parameters.h"
#include "btl_epshm_report.h"

#include "opal/util/show_help.h"

#if !defined(EPML_HELP_DIR)
#    error "EPML_HELP_DIR must name the folder of our help texts"
#endif

static int component_register(void)
{
    mca_btl_epshm_parameters_register();
    return OPAL_SUCCESS;
}

static int component_create(void *context, uint32_t flags, mca_btl_ep_module_t **module_p)
{
    const bool node = 0 != (flags & MCA_BTL_EP_FLAG_NODE);

    if (!mca_btl_epshm_parameters_right(node)) {
        return OPAL_ERR_BAD_PARAM;
    }
    return node ? mca_btl_epshm_node_module_create(context, module_p)
                : mca_btl_epshm_module_create(context, flags, module_p);
}

/** Open MPI's own selection opens and closes the component as well, while it may be in use. */
static int component_close(void)
{
    /* Relaxed: no module is created while components are closed. */
    if (0 == atomic_load_explicit(&mca_btl_epshm_component.node_modules, memory_order_relaxed)) {
        mca_btl_epshm_segment_close();
    }
    return OPAL_SUCCESS;
}

static int component_open(void)
{
    /* Done here, where no other thread is.  Open MPI initializes a class with its first object, and
     * lets a second thread see that the class is ready before it sees all of its data. */
    opal_class_initialize(OBJ_CLASS(mca_btl_epshm_frag_t));
    opal_class_initialize(OBJ_CLASS(epshm_node_frag_t));
    return opal_show_help_add_dir(EPML_HELP_DIR);
}

/** Open MPI's own selection gets nothing from us: modules are made per endpoint, by ep_create. */
static mca_btl_base_module_t **component_init(int *num_btls, bool enable_progress_threads,
                                              bool enable_mpi_threads)
{
    (void) enable_progress_threads;
    (void) enable_mpi_threads;
    *num_btls = 0;
    return NULL;
}

mca_btl_epshm_component_t mca_btl_epshm_component = {
    .super = {
        .super = {
            .btl_version = {
                MCA_BTL_BASE_VERSION_3_3_0,
                .mca_component_name = "epshm",
                MCA_BTL_EP_VERSION,
                .mca_open_component = component_open,
                .mca_close_component = component_close,
                .mca_register_component_params = component_register,
            },
            .btl_data = {
                .param_field = MCA_BASE_METADATA_PARAM_NONE
            },
            .btl_init = component_init,
        },
        .ep_abi = MCA_BTL_EP_ABI,
        .ep_create = component_create,
        .ep_report = mca_btl_epshm_report,
        .ep_memory_get = mca_btl_epshm_node_memory_get,
        .ep_copy = mca_btl_epshm_node_copy,
    },
};
