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
 * Tests: file_first, file_nomem, device_file
 */

#include "ompi_config.h"

#include "../fbtl/fbtl.h"
#include "interception.h"

#if MPIX_ENDPOINTS_FILES

/**
 * Note that a file is open, if it is, and take ompio's mark for that off it.  In Open MPI 6.0 the
 * mark has the bit of OMPI_FILE_ASSERT_NO_ACCEL_BUF, so ompio would take device memory for the
 * host's.  It sets the mark, and reads it nowhere.
 */
static void handle_note_open(ompi_file_t *file)
{
    mpix_endpoints_io_state_t *state = mpix_endpoints_io_state(mpix_endpoints_ompio_file(file));

    if (NULL != state && 0 != (file->f_flags & OMPIO_FILE_IS_OPEN)) {
        state->is_open = true;
        file->f_flags &= ~OMPIO_FILE_IS_OPEN;
    }
}

void mpix_endpoints_handle_hook(ompi_file_t *file)
{
    mpix_endpoints_io_module_t *module = MPIX_ENDPOINTS_IO_MODULE(file);

    handle_note_open(file);
    mpix_endpoints_ompio_keep(module);
    mpix_endpoints_blocking_hook(module);
    mpix_endpoints_collective_calls_hook(module);
    mpix_endpoints_zero_size_hook(module);
    mpix_endpoints_split_hook(module);
}

#endif
