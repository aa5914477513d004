/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Initialized, MPI_Is_thread_main and MPI_Finalize: by thread, where threads belong to endpoints
 * (init_mpi.c), and libmpi's own elsewhere.
 *
 * MPI_Finalize is called by the main thread of each endpoint, by chapter 12's text, and by one thread
 * of the process in its examples.  A call that finds main threads of others alive that have not
 * called may be either; it returns, and MPI ends with the last of them, or when the process exits.
 *
 * Not hooks: as init_mpi.c.
 *
 * Tests: levels, two_phase
 */

#include "ompi_config.h"

#include "../static/static.h"
#include "../base/base.h"
#include "calls.h"
#include "mpiext_endpoints_begin.h"
#include "mpiext_endpoints_function.h"

#include <pthread.h>
#include <stdlib.h>

void mpix_endpoints_call_initialized(int *flag)
{
    const mpix_endpoints_rule_t rule = mpix_endpoints_process_rule();

    if (MPIX_ENDPOINTS_FREE != rule && 0 != *flag) {
        *flag = MPIX_ENDPOINTS_PENDING != rule && &mpix_endpoints_none != mpix_endpoints_attached();
    }
}

int mpix_endpoints_call_is_main(void)
{
    return MPIX_ENDPOINTS_ASSIGNED > mpix_endpoints_process_rule()
               ? -1
               : mpix_endpoints_thread_is_main();
}

/* ---- the end --------------------------------------------------------------------------------- */

/** libmpi's MPI_Finalize, which is still to be called; under the lock. */
static int (*left)(void);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/** The thread that takes it calls libmpi's MPI_Finalize. */
static int thread_calls_finish(void)
{
    int (*libmpi)(void);

    pthread_mutex_lock(&lock);
    libmpi = left;
    left = NULL;
    pthread_mutex_unlock(&lock);
    return NULL != libmpi ? libmpi() : MPI_SUCCESS;
}

static void finish_at_exit(void)
{
    (void) thread_calls_finish();
}

/** @return false: nobody would call it at the exit of the process */
static bool leave_over(int (*libmpi)(void))
{
    static bool is_registered;
    bool is_left;

    pthread_mutex_lock(&lock);
    left = libmpi;
    is_registered = is_registered || 0 == atexit(finish_at_exit);
    is_left = is_registered;
    pthread_mutex_unlock(&lock);
    return is_left;
}

int mpix_endpoints_call_finalize(int (*libmpi)(void))
{
    mpix_endpoints_phases_end();
    if (MPIX_ENDPOINTS_ASSIGNED > mpix_endpoints_process_rule()) {
        return libmpi();
    }
    if (leave_over(libmpi) && !mpix_endpoints_thread_finalizes()) {
        return MPI_SUCCESS;
    }
    return thread_calls_finish();
}

/* ---- in Open MPI's ABI ----------------------------------------------------------------------- */

MPIX_ENDPOINTS_EXPORT int MPIX_ENDPOINTS_FUNCTION(Initialized)(int *flag)
{
    int (*const original)(int *) = MPIX_ENDPOINTS_NEXT(Initialized);
    const int code = NULL != original ? original(flag) : MPI_ERR_INTERN;

    if (MPI_SUCCESS == code) {
        mpix_endpoints_call_initialized(flag);
    }
    return code;
}

MPIX_ENDPOINTS_FUNCTION_DEFINED(Initialized, (int *flag), (flag));

MPIX_ENDPOINTS_EXPORT int MPIX_ENDPOINTS_FUNCTION(Is_thread_main)(int *flag)
{
    int (*const original)(int *) = MPIX_ENDPOINTS_NEXT(Is_thread_main);
    const int is_main = mpix_endpoints_call_is_main();

    if (0 <= is_main && NULL != flag) {
        *flag = is_main;
        return MPI_SUCCESS;
    }
    return NULL != original ? original(flag) : MPI_ERR_INTERN;
}

MPIX_ENDPOINTS_FUNCTION_DEFINED(Is_thread_main, (int *flag), (flag));

MPIX_ENDPOINTS_EXPORT int MPIX_ENDPOINTS_FUNCTION(Finalize)(void)
{
    int (*const original)(void) = MPIX_ENDPOINTS_NEXT(Finalize);

    return NULL != original ? mpix_endpoints_call_finalize(original) : MPI_ERR_INTERN;
}

MPIX_ENDPOINTS_FUNCTION_DEFINED(Finalize, (void), ());
