/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The functions of a window, for libmpi: the layer calls for operations, sync for epochs, create for
 * the rest.
 *
 * Tests: install/files
 */

#include "ompi_config.h"

#include "osc_epwin_module.h"

#include "create/create.h"

const ompi_osc_base_module_t mca_osc_epwin_functions = {.osc_free = mca_osc_epwin_free};
