/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The functions of a handle that ompio has opened.  libmpi gives each handle a copy of ompio's
 * table, in which each file of this folder replaces some.
 *
 * Tests: file_first, file_nomem
 */

#include "ompi_config.h"

#include "interception.h"

#if MPIX_ENDPOINTS_FILES

void mpix_endpoints_handle_hook(ompi_file_t *file)
{
    mpix_endpoints_io_module_t *module = MPIX_ENDPOINTS_IO_MODULE(file);

    mpix_endpoints_ompio_keep(module);
    mpix_endpoints_blocking_hook(module);
    mpix_endpoints_collective_calls_hook(module);
    mpix_endpoints_zero_size_hook(module);
    mpix_endpoints_split_hook(module);
}

#endif
