/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Which of Open MPI's collective components serve on endpoints (pml_epml_coll): those that know
 * their members by messages only.
 *
 * Tests: coll_move, coll_reduce, coll_neighbor, create_errors (coll)
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "pml_epml_coll.h"

#include "ompi/constants.h"
#include "ompi/mca/coll/base/base.h"
#include "opal/util/argv.h"
#include "opal/util/info.h"

/** All collective components but the allowed ones, as Open MPI's info key wants them: "^a,b". */
static char *make_excluded_coll(void)
{
    char **allowed = opal_argv_split(mca_pml_epml_component.coll_components, ',');
    char **excluded = NULL;
    char *list = NULL, *names = NULL;
    mca_base_component_list_item_t *item;

    OPAL_LIST_FOREACH (item, &ompi_coll_base_framework.framework_components,
                       mca_base_component_list_item_t) {
        const char *name = item->cli_component->mca_component_name;
        bool found = false;

        for (int i = 0; NULL != allowed && NULL != allowed[i]; ++i) {
            found = found || 0 == strcmp(name, allowed[i]);
        }
        if (!found && OPAL_SUCCESS != opal_argv_append_nosize(&excluded, name)) {
            goto out;
        }
    }
    names = opal_argv_join(excluded, ',');
    if (NULL != names && 0 > asprintf(&list, "^%s", names)) {
        list = NULL;
    }
out:
    free(names);
    opal_argv_free(excluded);
    opal_argv_free(allowed);
    return list;
}

/** The list of them; to put it together took a quarter of a dup. */
static _Atomic(char *) excluded_coll;

static const char *get_excluded_coll(void)
{
    /* Acquire pairs with the release below, of another thread: the text before its address. */
    char *known = atomic_load_explicit(&excluded_coll, memory_order_acquire);
    char *made;

    if (OPAL_LIKELY(NULL != known)) {
        return known;
    }
    made = make_excluded_coll();
    if (NULL != made
        && !atomic_compare_exchange_strong_explicit(&excluded_coll, &known, made,
                                                    memory_order_acq_rel, memory_order_acquire)) {
        free(made);
        made = known;
    }
    return made;
}

int mca_pml_epml_coll_restrict(ompi_communicator_t *comm)
{
    const char *excluded = get_excluded_coll();

    if (NULL == comm->super.s_info) {
        comm->super.s_info = OBJ_NEW(opal_info_t);
    }
    if (NULL == excluded || NULL == comm->super.s_info) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    return opal_info_set_internal(comm->super.s_info, "ompi_comm_coll_preference", excluded);
}

void mca_pml_epml_coll_finalize(void)
{
    /* Alone by now. */
    free(atomic_exchange_explicit(&excluded_coll, NULL, memory_order_relaxed));
}
