/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * How far the calling thread has come in a call of ompio's that all members of a file make.  A
 * thread that leaves such a call early makes the collective calls that it has missed afterwards
 * (missed.c); what it calls then is handed in.
 *
 * Tests: file_errors, file_nomem
 */

#include "ompi_config.h"

#include "mpiext_endpoints_stage.h"

#if MPIX_ENDPOINTS_FILES

static _Thread_local struct {
    mpix_endpoints_stage_t reached;
    int (*fcoll)(ompio_file_t *file, int rc);
} stage;

void mpix_endpoints_stage_begin(int (*fcoll)(ompio_file_t *file, int rc))
{
    stage.reached = MPIX_ENDPOINTS_STAGE_NONE;
    stage.fcoll = fcoll;
}

void mpix_endpoints_stage_reach(mpix_endpoints_stage_t reached)
{
    stage.reached = reached;
}

mpix_endpoints_stage_t mpix_endpoints_stage(void)
{
    return stage.reached;
}

void mpix_endpoints_stage_end(void)
{
    stage.reached = MPIX_ENDPOINTS_STAGE_NONE;
}

void mpix_endpoints_stage_catch_up(ompio_file_t *file)
{
    if (MPIX_ENDPOINTS_STAGE_FBTL == stage.reached) {
        (void) stage.fcoll(file, OMPI_ERR_OUT_OF_RESOURCE);
    }
}

#endif
