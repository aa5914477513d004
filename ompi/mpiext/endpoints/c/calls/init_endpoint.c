/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPIX_Init_endpoint and MPIX_Init_endpoints: a process begins MPI with several endpoints, whose
 * number it knows.
 *
 * Tests: static_world, static_errors, static_told, two_phase, install/tools
 */

#include "ompi_config.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_c.h"
#include "../static/static.h"
#include "../base/base.h"
#include "calls.h"
#include "mpiext_endpoints_begin.h"
#include "mpiext_endpoints_init.h"

#include "ompi/errhandler/errcode-internal.h"
#include "ompi/errhandler/errhandler.h"

/** How this process begins: what is wrong with its arguments is said to all. */
static int check_arguments(int count, int level)
{
    if (0 > count) {
        return MPIX_ENDPOINTS_BEGINS_WRONG + MPIX_ENDPOINTS_CAUSE_COUNT_WRONG;
    }
    return MPI_THREAD_SINGLE > level || MPI_THREAD_MULTIPLE < level
                   || (1 < count && MPI_THREAD_FUNNELED > level)
               ? MPIX_ENDPOINTS_BEGINS_WRONG + MPIX_ENDPOINTS_CAUSE_LEVEL_WRONG
               : MPIX_ENDPOINTS_BEGINS_STATIC;
}

static int init_endpoint_run(const char *name, int how, const mpix_endpoints_begin_t *begin,
                             mpix_endpoints_init_fn_t libmpi, void *arguments)
{
    int code;

    if (mpix_endpoints_begin_is_late()) {
        return OMPI_ERRHANDLER_NOHANDLE_INVOKE(mpix_endpoints_begin_late_code(), name);
    }
    /* Threads of different endpoints are in libmpi at once. */
    code = mpix_endpoints_begin_libmpi(how,
                                       MPIX_ENDPOINTS_BEGINS_STATIC == how && 1 >= begin->count
                                           ? begin->level
                                           : MPI_THREAD_MULTIPLE,
                                       libmpi, arguments);
    if (MPI_SUCCESS != code) {
        return code;
    }
    code = mpix_endpoints_begin(begin, true);
    return MPI_SUCCESS == code ? code : OMPI_ERRHANDLER_NOHANDLE_INVOKE(code, name);
}

int mpix_endpoints_call_init_endpoint(int count, int level, struct mpix_endpoint_t *endpoints[],
                                      mpix_endpoints_init_fn_t libmpi, void *arguments)
{
    const mpix_endpoints_begin_t begin = {.count = count, .level = level};
    const int wrong = mpix_endpoints_begin_check_array(count, endpoints);
    int how = check_arguments(count, level);

    how = MPIX_ENDPOINTS_BEGINS_STATIC == how && 0 != wrong ? wrong : how;
    return mpix_endpoints_begin_fill(init_endpoint_run("MPIX_Init_endpoint", how, &begin, libmpi,
                                                       arguments),
                                     count, endpoints);
}

int mpix_endpoints_call_init_endpoints(int count, int requested, int *provided,
                                       mpix_endpoints_init_fn_t libmpi, void *arguments)
{
    const mpix_endpoints_begin_t begin = {.count = count,
                                          .level = MPI_THREAD_SINGLE == requested && 1 < count
                                                       ? MPI_THREAD_FUNNELED
                                                       : requested};
    const int code = init_endpoint_run("MPIX_Init_endpoints", check_arguments(count, begin.level),
                                       &begin, libmpi, arguments);

    if (MPI_SUCCESS == code && NULL != provided) {
        *provided = begin.level;
    }
    return code;
}

/* ---- in Open MPI's ABI ----------------------------------------------------------------------- */

MPIX_ENDPOINTS_EXPORT int PMPIX_Init_endpoint(int *argc, char ***argv, int count, int thread_level,
                                              MPIX_Endpoint endpoints[])
{
    mpix_endpoints_init_t arguments = {.argc = argc, .argv = argv};

    return mpix_endpoints_call_init_endpoint(count, thread_level, endpoints,
                                             mpix_endpoints_init_thread_libmpi, &arguments);
}

MPIX_ENDPOINTS_EXPORT __attribute__((weak)) int MPIX_Init_endpoint(int *argc, char ***argv,
                                                                   int count, int thread_level,
                                                                   MPIX_Endpoint endpoints[])
{
    mpix_endpoints_init_t arguments = {.argc = argc, .argv = argv};

    return mpix_endpoints_call_init_endpoint(count, thread_level, endpoints,
                                             mpix_endpoints_init_thread_tool, &arguments);
}

MPIX_ENDPOINTS_EXPORT int PMPIX_Init_endpoints(int *argc, char ***argv, int count, int requested,
                                               int *provided)
{
    mpix_endpoints_init_t arguments = {.argc = argc, .argv = argv};

    return mpix_endpoints_call_init_endpoints(count, requested, provided,
                                              mpix_endpoints_init_thread_libmpi, &arguments);
}

MPIX_ENDPOINTS_EXPORT __attribute__((weak)) int MPIX_Init_endpoints(int *argc, char ***argv,
                                                                    int count, int requested,
                                                                    int *provided)
{
    mpix_endpoints_init_t arguments = {.argc = argc, .argv = argv};

    return mpix_endpoints_call_init_endpoints(count, requested, provided,
                                              mpix_endpoints_init_thread_tool, &arguments);
}
