/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Performance variables: calls of each collective by each path.  Each exists twice, for the process
 * (coll_epcoll_x, bound to nothing) and for a communicator (coll_epcoll_ep_x; with one that is not
 * served here it is the process's). docs/variables.md has the list.
 *
 * Tests: variables, install/files
 */

#include "ompi_config.h"

#include <stdio.h>

#include "base/base.h"
#include "coll_epcoll_variables.h"

#include "ompi/constants.h"
#include "opal/mca/base/mca_base_pvar.h"

#define NAME(name, kind) [kind] = #name,
static const char *const kinds[] = {EPCOLL_FOR_ALL_KINDS(NAME)};
#undef NAME

#define MPI_NAME(name, kind) [kind] = #kind,
static const char *const constants[] = {EPCOLL_FOR_ALL_KINDS(MPI_NAME)};
#undef MPI_NAME

static const struct {
    const char *name, *help;
} paths[EPCOLL_PATHS] = {
    [EPCOLL_PATH_SLOTS] = {"slots", "whose data travelled in slots"},
    [EPCOLL_PATH_CHUNKS] = {"chunks", "that members executed in chunks, from buffer to buffer"},
    [EPCOLL_PATH_HIER] = {"hier", "by members of several processes, with messages, or through "
                                  "the node's memory"},
};

/** Can calls of a kind take this path? */
static bool can_go(mca_coll_epcoll_kind_t kind, mca_coll_epcoll_path_t path)
{
    switch (kind) {
    case EPCOLL_BARRIER:
        return EPCOLL_PATH_CHUNKS != path;
    case EPCOLL_ALLGATHERV:
    case EPCOLL_ALLTOALLV:
    case EPCOLL_ALLTOALLW:
    case EPCOLL_GATHERV:
    case EPCOLL_SCATTERV:
        return EPCOLL_PATH_SLOTS != path; /* a member does not know how long the others' data are */
    default:
        return true;
    }
}

static int get_of_process(const mca_base_pvar_t *variable, void *value, void *object)
{
    const int kind = (int) ((uintptr_t) variable->ctx / EPCOLL_PATHS);
    const int path = (int) ((uintptr_t) variable->ctx % EPCOLL_PATHS);

    (void) object;
    *(unsigned long long *) value = mca_coll_epcoll_counted(NULL, kind, path);
    return OPAL_SUCCESS;
}

/** The handle of a communicator, or NULL. */
static mca_coll_epcoll_handle_t *handle_of(const ompi_communicator_t *comm)
{
    const mpix_endpoints_engine_t *engine = mca_coll_epcoll_component.engine;
    mpix_endpoints_locality_t place;

    return NULL == comm || NULL == engine || !engine->locality(comm, 0, &place)
               ? NULL
               : engine->client_object(comm, mca_coll_epcoll_component.client);
}

static int get_of_comm(const mca_base_pvar_t *variable, void *value, void *object)
{
    mca_coll_epcoll_handle_t *handle = handle_of(object);

    /* Not refused: Open MPI does not survive a variable that cannot be bound (5.0.7). */
    if (NULL == handle) {
        return get_of_process(variable, value, object);
    }
    *(unsigned long long *) value
        = mca_coll_epcoll_counted(handle, (int) ((uintptr_t) variable->ctx / EPCOLL_PATHS),
                                  (int) ((uintptr_t) variable->ctx % EPCOLL_PATHS));
    return OPAL_SUCCESS;
}

static void add_variable(int number, const char *prefix, const char *suffix, int binding,
                         mca_base_get_value_fn_t get)
{
    const mca_base_pvar_flag_t flags = MCA_BASE_PVAR_FLAG_READONLY | MCA_BASE_PVAR_FLAG_CONTINUOUS;
    const int kind = number / EPCOLL_PATHS, path = number % EPCOLL_PATHS;
    char name[64], help[256];

    snprintf(name, sizeof(name), "%s%s_%s", prefix, kinds[kind], paths[path].name);
    snprintf(help, sizeof(help), "Calls of MPI_%s %s%s", constants[kind] + strlen("EPCOLL_"),
             paths[path].help, suffix);
    (void) mca_base_component_pvar_register(&mca_coll_epcoll_component.super.collm_version, name,
                                            help, OPAL_INFO_LVL_4, MCA_BASE_PVAR_CLASS_COUNTER,
                                            MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, NULL, binding,
                                            flags, get, NULL, NULL, (void *) (uintptr_t) number);
}

void mca_coll_epcoll_variables_register(void)
{
    for (int i = 0; i < EPCOLL_KINDS * EPCOLL_PATHS; ++i) {
        if (can_go(i / EPCOLL_PATHS, i % EPCOLL_PATHS)) {
            add_variable(i, "", "", MCA_BASE_VAR_BIND_NO_OBJECT, get_of_process);
            add_variable(i, "ep_", "; on a communicator", MCA_BASE_VAR_BIND_MPI_COMM, get_of_comm);
        }
    }
}
