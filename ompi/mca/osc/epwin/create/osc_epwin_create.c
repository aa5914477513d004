/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Creation of windows.
 *
 * Tests: install/files
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "osc_epwin_create.h"

int mca_osc_epwin_handle_make(ompi_communicator_t *comm, void **object_p)
{
    (void) comm;
    (void) object_p;
    return MPI_SUCCESS;
}

void mca_osc_epwin_handle_free(ompi_communicator_t *comm, void *object)
{
    (void) comm;
    (void) object;
}

int mca_osc_epwin_free(ompi_win_t *win)
{
    (void) win;
    return MPI_SUCCESS;
}

int mca_osc_epwin_create(ompi_win_t *win, const ompi_osc_base_module_t *table, void **base,
                         size_t size, mca_osc_epwin_unit_t unit, ompi_communicator_t *comm,
                         opal_info_t *info, int flavor, int *model_p)
{
    (void) win;
    (void) table;
    (void) base;
    (void) size;
    (void) unit;
    (void) comm;
    (void) info;
    (void) flavor;
    (void) model_p;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
