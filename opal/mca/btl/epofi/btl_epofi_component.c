/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Registration of btl/epofi, and the way in (ep_create).
 *
 * Open MPI's own BTL selection opens this component too, gets no module from it, and may close it
 * while pml/epml uses it: what is shared lives as long as a user has it open or has a module.
 *
 * Tests: unit/test_epofi_life, create_errors
 */

#include "opal_config.h"

#include "engine/engine.h"
#include "fabric/fabric.h"
#include "base/base.h"
#include "btl_epofi_report.h"

#include "opal/util/show_help.h"

#include <stdlib.h>
#include <string.h>

#if !defined(EPML_HELP_DIR)
#    error "EPML_HELP_DIR must name the folder of our help texts"
#endif

/** Has the user asked for pml/epml?  Its parameter may not be registered yet: the BTLs come before
 * the PMLs when Open MPI starts. */
static bool endpoints_wanted(void)
{
    int index = mca_base_var_find("ompi", "pml", NULL, NULL);
    const char *const *value = NULL;
    const char *text = getenv("OMPI_MCA_pml");

    if (0 <= index && OPAL_SUCCESS == mca_base_var_get_value(index, &value, NULL, NULL)
        && NULL != value) {
        text = *value;
    }
    return NULL != text && NULL != strstr(text, "epml");
}

/** Bytes: 128, and what the header has grown by since that was enough. */
#define TCP_INJECT "152"

/**
 * Keep the contexts of the tcp provider small, and let it inject as much as without our header.
 *
 * It has a buffer for unexpected tagged messages in each entry of its transfer pool, of 16 KiB
 * by default, and clears 1024 entries when the first is used: 17 MiB and 8 ms per
 * context.  We send no tagged messages.  With the buffer at the size of its injected messages a
 * context takes 0.5 MiB and 0.3 ms.  Seen in libfabric 2.1.0.
 *
 * It injects up to 128 bytes.  Of these our header would take 32; a message of 80 bytes, which goes
 * through a send buffer then, takes 4.9 us one way over a loopback instead of 4.7.
 *
 * libfabric reads the variable once, when the first of its users in the process comes; that is why
 * this happens so early.  What the user has set stays.
 */
static void trim_tcp(void)
{
    (void) setenv("FI_TCP_MAX_INJECT", TCP_INJECT, 0);
    (void) setenv("FI_TCP_MAX_RX_SIZE", TCP_INJECT, 0);
}

static int component_open(void)
{
    /* Not by the first threads that use it, which Open MPI does not order. */
    opal_class_initialize(OBJ_CLASS(mca_btl_base_descriptor_t));
    if (endpoints_wanted()) {
        trim_tcp();
    }
    opal_mutex_lock(&mca_btl_epofi_lock);
    mca_btl_epofi_fabric_hold(1);
    opal_mutex_unlock(&mca_btl_epofi_lock);
    return opal_show_help_add_dir(EPML_HELP_DIR);
}

static int component_close(void)
{
    opal_mutex_lock(&mca_btl_epofi_lock);
    mca_btl_epofi_fabric_hold(-1);
    opal_mutex_unlock(&mca_btl_epofi_lock);
    return OPAL_SUCCESS;
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

static int component_create(void *context, uint32_t flags, mca_btl_ep_module_t **module_p)
{
    MCA_BTL_EP_HOLD_CANCEL();
    int rc;

    opal_mutex_lock(&mca_btl_epofi_lock);
    rc = mca_btl_epofi_module_create(context, flags, module_p);
    opal_mutex_unlock(&mca_btl_epofi_lock);
    return rc;
}

static int component_check(void)
{
    MCA_BTL_EP_HOLD_CANCEL();
    int rc;

    opal_mutex_lock(&mca_btl_epofi_lock);
    rc = mca_btl_epofi_choose_check();
    opal_mutex_unlock(&mca_btl_epofi_lock);
    return rc;
}

mca_btl_epofi_component_t mca_btl_epofi_component = {
    .super = {
        .super = {
            .btl_version = {
                MCA_BTL_BASE_VERSION_3_3_0,
                .mca_component_name = "epofi",
                MCA_BTL_EP_VERSION,
                .mca_open_component = component_open,
                .mca_close_component = component_close,
                .mca_register_component_params = mca_btl_epofi_parameters_register,
            },
            .btl_data = {
                MCA_BASE_METADATA_PARAM_NONE,
                .reserved = {0},
            },
            .btl_init = component_init,
        },
        .ep_abi = MCA_BTL_EP_ABI,
        .ep_create = component_create,
        .ep_report = mca_btl_epofi_report,
        .ep_check = component_check,
        .ep_context_limit = mca_btl_epofi_context_limit,
        .ep_network = mca_btl_epofi_network,
    },
};
