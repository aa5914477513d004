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
 * Registration, selection and end of pml/epml.
 *
 * Tests: create_errors, sessions
 */

#include "ompi_config.h"

#include "create/create.h"
#include "calls/calls.h"
#include "engine/engine.h"
#include "proto/proto.h"
#include "object/object.h"
#include "base/base.h"

#include "ompi/constants.h"
#include "ompi/mpiext/endpoints/c/mpiext_endpoints_link.h"
#include "opal/runtime/opal_progress.h"
#include "opal/util/show_help.h"

#if !defined(EPML_HELP_DIR)
#    error "EPML_HELP_DIR must name the folder of our help texts"
#endif

/** More would not fit in Open MPI's table of communicators anyway. */
#define EPML_MAX_ENDPOINTS 1000000

static const mca_base_var_enum_value_t yield_values[] = {{EPML_YIELD_AUTO, "auto"},
                                                         {EPML_YIELD_ALWAYS, "always"},
                                                         {EPML_YIELD_NEVER, "never"},
                                                         {0, NULL}};

/** A parameter; its default is set by set_defaults. */
typedef struct parameter_t {
    const char *name;
    void *storage;
    mca_base_var_type_t type;
    bool settable; /**< after MPI_Init, by MPI_T */
    mca_base_var_info_lvl_t level;
    const char *help;
} parameter_t;

static const parameter_t parameters[] = {
    {"base", &mca_pml_epml_component.base_name, MCA_BASE_VAR_TYPE_STRING,
     false, OPAL_INFO_LVL_3,
     "Name of the PML that serves ordinary communicators, or a list as pml's, also \"^a,b\" "
     "(default: the one that Open MPI would select if epml were not there, by the parameter "
     "files' pml)"},
    {"max_endpoints", &mca_pml_epml_component.max_endpoints, MCA_BASE_VAR_TYPE_INT,
     true, OPAL_INFO_LVL_3,
     "Number of endpoints that may live in one process at a time (0 to 1000000)"},
    {"progress_others", &mca_pml_epml_component.progress_others, MCA_BASE_VAR_TYPE_BOOL,
     true, OPAL_INFO_LVL_4,
     "Should a thread that is in MPI progress the endpoints of its process that no thread is "
     "driving at the moment, so that messages sent before a thread left for other work still "
     "arrive?  If not, only endpoints with unfinished requests are progressed that way"},
    {"unexpected_limit", &mca_pml_epml_component.unexpected_limit, MCA_BASE_VAR_TYPE_SIZE_T,
     true, OPAL_INFO_LVL_4,
     "Bytes, headers included, of messages without a receive that one endpoint keeps.  While it "
     "keeps more, until it keeps half of that, senders keep the data of their messages until "
     "these are received, so that a blocking send waits for its receive"},
    {"yield", &mca_pml_epml_component.yield, MCA_BASE_VAR_TYPE_INT,
     true, OPAL_INFO_LVL_4,
     "When does a thread that waits on an endpoint give its core to others?  auto: when the node "
     "has more endpoints, or the process more waiting threads, than there are cores"},
    {"ask", &mca_pml_epml_component.ask, MCA_BASE_VAR_TYPE_UNSIGNED_INT,
     true, OPAL_INFO_LVL_5,
     "Milliseconds that an endpoint waits for other processes without hearing anything from "
     "the network before it looks whether they are still there, again and again, and "
     "MPI_Finalize whether all are (0: never)"},
    {"launcher_wait", &mca_pml_epml_component.launcher_wait, MCA_BASE_VAR_TYPE_UNSIGNED_INT,
     true, OPAL_INFO_LVL_6,
     "Milliseconds that the launcher is given to say that a process has died, or to end the "
     "job, before a peer that the network cannot reach is reported as such, and before the base "
     "PML hears that a connection of its own is over"},
    {"way_wait", &mca_pml_epml_component.way_wait, MCA_BASE_VAR_TYPE_UNSIGNED_INT,
     true, OPAL_INFO_LVL_6,
     "Milliseconds that an answer to another process waits for a way to it, where there is no "
     "memory for one, before the two endpoints give each other up"},
    {"finalize_wait", &mca_pml_epml_component.finalize_wait, MCA_BASE_VAR_TYPE_UNSIGNED_INT,
     true, OPAL_INFO_LVL_6,
     "Milliseconds that MPI_Finalize waits for the other processes where this one has lost an "
     "endpoint of another process"},
    {"coll", &mca_pml_epml_component.coll_components, MCA_BASE_VAR_TYPE_STRING,
     false, OPAL_INFO_LVL_6,
     "Comma separated list of the collective components that may serve endpoint communicators "
     "(those that use nothing but point-to-point messages)"},
    {"verbose", &mca_pml_epml_component.verbose, MCA_BASE_VAR_TYPE_INT,
     true, OPAL_INFO_LVL_3,
     "Say, when the first endpoints have been created, what was chosen and why (0: no; 1: one "
     "process of each node; 2: every process)"},
};

/** Each time, as the component may be opened again. */
static void set_defaults(void)
{
    mca_pml_epml_component.base_name = NULL;
    mca_pml_epml_component.max_endpoints = 4096;
    mca_pml_epml_component.progress_others = true;
    mca_pml_epml_component.unexpected_limit = (size_t) 1 << 30;
    mca_pml_epml_component.yield = EPML_YIELD_AUTO;
    mca_pml_epml_component.ask = 2000;
    mca_pml_epml_component.launcher_wait = 1000;
    mca_pml_epml_component.way_wait = 3000;
    mca_pml_epml_component.finalize_wait = 10000;
    mca_pml_epml_component.coll_components = "tuned,basic,libnbc,inter,self";
    mca_pml_epml_component.verbose = 0;
}

static int component_register(void)
{
    mca_base_component_t *version = &mca_pml_epml_component.super.pmlm_version;
    mca_base_var_enum_t *yield_enum = NULL;

    set_defaults();
    (void) mca_base_var_enum_create("pml_epml_yield", yield_values, &yield_enum);
    for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); ++i) {
        const parameter_t *parameter = &parameters[i];

        (void) mca_base_component_var_register(
            version, parameter->name, parameter->help, parameter->type,
            &mca_pml_epml_component.yield == parameter->storage ? yield_enum : NULL, 0,
            parameter->settable ? MCA_BASE_VAR_FLAG_SETTABLE : 0, parameter->level,
            parameter->settable ? MCA_BASE_VAR_SCOPE_LOCAL : MCA_BASE_VAR_SCOPE_ALL_EQ,
            parameter->storage);
    }
    if (NULL != yield_enum) {
        OBJ_RELEASE(yield_enum);
    }
    mca_pml_epml_counts_register(version);
    return OMPI_SUCCESS;
}

static int component_open(void)
{
    return opal_show_help_add_dir(EPML_HELP_DIR);
}

/** Here, where no other thread is: Open MPI's own way, by whoever makes the first object, lets a
 * second thread see that a class is ready before it sees what it then needs of it. */
static void classes_init(void)
{
    opal_class_initialize(OBJ_CLASS(mca_pml_epml_request_t));
    opal_class_initialize(OBJ_CLASS(mca_pml_epml_part_t));
    mca_pml_epml_group_init();
}

static mca_pml_base_module_t *component_init(int *priority, bool enable_progress_threads,
                                             bool enable_mpi_threads)
{
    /* Never chosen over others of itself: the user asks for it with --mca pml epml. */
    *priority = 1;
    if (0 > mca_pml_epml_component.max_endpoints
        || EPML_MAX_ENDPOINTS < mca_pml_epml_component.max_endpoints) {
        EPML_SHOW_HELP("out of range", true, "pml_epml_max_endpoints",
                       mca_pml_epml_component.max_endpoints, 0, EPML_MAX_ENDPOINTS);
        return NULL;
    }
    if (OMPI_SUCCESS != mca_pml_epml_base_select(enable_progress_threads, enable_mpi_threads)) {
        return NULL;
    }
    mca_pml_epml_net_publish();
    classes_init();
    mca_pml_epml_serve_init();
#if EPML_CHECK_LOCKS
    mca_pml_epml_check_start();
#endif
#if !defined(__SANITIZE_THREAD__) /* which knows nothing of membarrier */
    mca_pml_epml_may_bias = epml_lock_setup();
#endif
    if (OMPI_SUCCESS != mpix_endpoints_register_pml(&mca_pml_epml_link)) {
        EPML_SHOW_HELP("extension differs", true);
        (void) mca_pml_epml_base_finalize();
        return NULL;
    }
    return mca_pml_epml_module_init();
}

static int component_finalize(void)
{
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
