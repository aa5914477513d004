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
 * A private opening of a framework's components.
 *
 * mca_base_framework_open would register the framework's variables again and run its open function,
 * which works on the real framework; so the two steps that concern components are done directly.
 *
 * Tests: sessions, create_errors
 */

#include "ompi_config.h"

#include "pml_epml_framework.h"

#include "ompi/constants.h"

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

void mca_pml_epml_framework_close(mca_base_framework_t *copy)
{
    (void) mca_base_framework_components_close(copy, NULL);
    OBJ_DESTRUCT(&copy->framework_components);
    OPAL_LIST_DESTRUCT(&copy->framework_failed_components);
}
