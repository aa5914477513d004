/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A private opening of a framework's components.
 *
 * mca_base_framework_open would register the framework's variables again and run its open function,
 * which works on the real framework; so the two steps that concern components are done directly.
 *
 * Tests: sessions, create_errors, unit/test_epml_present
 */

#include "ompi_config.h"

#include "pml_epml_compat.h"
#include "pml_epml_framework.h"

#include "ompi/constants.h"
#include "opal/mca/base/mca_base_component_repository.h"
#include "opal/util/argv.h"

#include <string.h>

int mca_pml_epml_framework_open(mca_base_framework_t *copy, const mca_base_framework_t *original,
                                const char *selection)
{
    int rc;

    *copy = *original;
    copy->framework_selection = (char *) selection;
    copy->framework_refcnt = 1;
    copy->framework_output = -1;
    OBJ_CONSTRUCT(&copy->framework_components, opal_list_t);
    OBJ_CONSTRUCT(&copy->framework_failed_components, opal_list_t);

    rc = mca_base_framework_components_register(copy, MCA_BASE_REGISTER_DEFAULT);
    if (OMPI_SUCCESS == rc) {
        rc = mca_base_framework_components_open(copy, MCA_BASE_OPEN_DEFAULT);
    }
    if (OMPI_SUCCESS != rc) {
        mca_pml_epml_framework_close(copy);
    }
    return rc;
}

/** Is there a component of that name, linked in or in a file? */
static bool is_present(const mca_base_framework_t *framework, opal_list_t *files, const char *name)
{
    const mca_base_component_t *linked;
    mca_base_component_repository_item_t *file;

    for (int i = 0; NULL != (linked = mca_pml_epml_compat_linked(framework, i)); ++i) {
        if (0 == strcmp(name, linked->mca_component_name)) {
            return true;
        }
    }
    if (NULL != files) {
        OPAL_LIST_FOREACH (file, files, mca_base_component_repository_item_t) {
            if (0 == strcmp(name, file->ri_name)) {
                return true;
            }
        }
    }
    return false;
}

char *mca_pml_epml_framework_present(const mca_base_framework_t *framework, const char *names)
{
    char **all = opal_argv_split(names, ','), **present = NULL, *result;
    opal_list_t *files = NULL;

    /* It changes nothing of the description. */
    if (OPAL_SUCCESS
        != mca_base_component_repository_get_components(
            (mca_base_framework_t *) (uintptr_t) framework, &files)) {
        files = NULL;
    }
    for (int i = 0; NULL != all && NULL != all[i]; ++i) {
        if (is_present(framework, files, all[i])) {
            (void) opal_argv_append_nosize(&present, all[i]);
        }
    }
    result = opal_argv_join(present, ',');
    opal_argv_free(all);
    opal_argv_free(present);
    return result;
}

void mca_pml_epml_framework_close(mca_base_framework_t *copy)
{
    (void) mca_base_framework_components_close(copy, NULL);
    OBJ_DESTRUCT(&copy->framework_components);
    OPAL_LIST_DESTRUCT(&copy->framework_failed_components);
}
