/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * How far the calling thread has come in a call of ompio's that all members of a file make.
 */

#ifndef MPIEXT_ENDPOINTS_STAGE_H
#define MPIEXT_ENDPOINTS_STAGE_H

#include "ompi_config.h"

#include "../../base/base.h"

#if MPIX_ENDPOINTS_FILES

BEGIN_C_DECLS

/** The collective calls of this library in an opening, in their order; a view has the last one. */
typedef enum mpix_endpoints_stage_t {
    MPIX_ENDPOINTS_STAGE_NONE,
    MPIX_ENDPOINTS_STAGE_FBTL, /**< after the choice of fbtl: mpix_endpoints_open_select_fbtl */
    MPIX_ENDPOINTS_STAGE_FCOLL /**< after that of fcoll: mpix_endpoints_fcoll_module_select */
} mpix_endpoints_stage_t;

/** The thread goes into ompio.  @param[in] fcoll  what is called at the last stage */
void mpix_endpoints_stage_begin(int (*fcoll)(ompio_file_t *file, int rc));

/** It is about to make the collective call of a stage. */
void mpix_endpoints_stage_reach(mpix_endpoints_stage_t stage);

/** The last stage that it has reached. */
mpix_endpoints_stage_t mpix_endpoints_stage(void);

/** The call is over: nothing can be missed any more. */
void mpix_endpoints_stage_end(void);

/** In an opening, before another collective call: make that of the last stage, if this thread has
 * missed it.  (ompio forgets that a view has failed, and sets the shared pointer of a file that is
 * appended to.) */
void mpix_endpoints_stage_catch_up(ompio_file_t *file);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_STAGE_H */
