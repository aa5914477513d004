/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Init, MPI_Init_thread and MPI_Query_thread.
 *
 * A process that begins so has one endpoint, and takes part where others of the job ask for more.
 * Under epmpirun -asp, and with the levels MPIX_THREAD_ATTACH and MPIX_THREAD_REATTACH, it is as the
 * draft of chapter 12 for MPI 3 says: the process has the endpoints that the launcher was told of,
 * and each of its threads belongs to one or to none.  There a second call, by another thread, is no
 * error: it waits for the first, and gets what that has got (example 12.9).
 *
 * Not hooks: programs call these functions themselves, and find ours first because the library is
 * linked before libmpi.  A process whose MPI_Init is libmpi's takes no part, which the others see.
 *
 * Tests: static_world, query_thread, levels, install/tools
 */

#include "ompi_config.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_c.h"
#include "../static/static.h"
#include "../base/base.h"
#include "calls.h"
#include "mpiext_endpoints_begin.h"
#include "mpiext_endpoints_function.h"
#include "mpiext_endpoints_init.h"

#include <limits.h>
#include <pthread.h>

#include "ompi/constants.h"
#include "ompi/errhandler/errcode-internal.h"
#include "ompi/errhandler/errhandler.h"
#include "ompi/runtime/mpiruntime.h"

#define ASP_VARIABLE "MPIX_ENDPOINTS_ASP"

/** Is MPI to begin with the endpoints that the launcher was told of? */
static bool is_asp(void)
{
    return 1 == mpix_endpoints_told(ASP_VARIABLE, 1, 1);
}

static int init_plain(const char *name, mpix_endpoints_init_fn_t libmpi, void *arguments)
{
    mpix_endpoints_begin_t begin = {.count = 1};
    int code;

    mpix_endpoints_announce(MPIX_ENDPOINTS_BEGINS_PLAIN);
    code = libmpi(arguments, -1);
    if (MPI_SUCCESS != code) {
        return code;
    }
    begin.level = ompi_mpi_thread_provided;
    mpix_endpoints_process_plain(begin.level);
    code = mpix_endpoints_begin(&begin, false);
    return MPI_SUCCESS == code ? code : OMPI_ERRHANDLER_NOHANDLE_INVOKE(code, name);
}

/** The level that the caller gets: the launcher's, if it was told one, or what is required; at least
 * MPI_THREAD_FUNNELED where there are several endpoints. */
static int level_for(int required, bool asp, int count)
{
    const int told = asp ? mpix_endpoints_told(MPIX_ENDPOINTS_LEVEL_VARIABLE, MPI_THREAD_SINGLE,
                                               MPIX_THREAD_REATTACH)
                         : -1;
    const int level = 0 <= told ? told : required;

    return 1 < count && MPI_THREAD_FUNNELED > level ? MPI_THREAD_FUNNELED : level;
}

static mpix_endpoints_rule_t rule_of(int level)
{
    return MPIX_THREAD_REATTACH == level ? MPIX_ENDPOINTS_REATTACH
           : MPIX_THREAD_ATTACH == level ? MPIX_ENDPOINTS_ATTACH
                                         : MPIX_ENDPOINTS_ASSIGNED;
}

/** @return the level, or -1: code says why */
static int init_with_rule(const char *name, int required, mpix_endpoints_init_fn_t libmpi,
                          void *arguments, int *code)
{
    const bool asp = is_asp();
    const int told = asp ? mpix_endpoints_told(MPIX_ENDPOINTS_NUMBER_VARIABLE, 1, INT_MAX) : 1;
    const int count = 1 < told ? told : 1;
    const int level = level_for(required, asp, count);
    const int engine_level = MPI_THREAD_MULTIPLE < level ? MPI_THREAD_MULTIPLE : level;
    const mpix_endpoints_begin_t begin = {.count = count, .level = engine_level};

    mpix_endpoints_process_set_rule(MPIX_ENDPOINTS_PENDING, -1, false);
    *code = mpix_endpoints_begin_libmpi(asp ? MPIX_ENDPOINTS_BEGINS_STATIC
                                            : MPIX_ENDPOINTS_BEGINS_PLAIN,
                                        1 < count ? MPI_THREAD_MULTIPLE : engine_level, libmpi,
                                        arguments);
    if (MPI_SUCCESS == *code) {
        mpix_endpoints_process_plain(engine_level);
        *code = mpix_endpoints_begin(&begin, asp);
        if (MPI_SUCCESS == *code) {
            mpix_endpoints_process_set_rule(rule_of(level), level, asp);
            return level;
        }
        mpix_endpoints_process_set_rule(MPIX_ENDPOINTS_FREE, -1, false);
        *code = OMPI_ERRHANDLER_NOHANDLE_INVOKE(*code, name);
    } else {
        mpix_endpoints_process_set_rule(MPIX_ENDPOINTS_FREE, -1, false);
    }
    return -1;
}

/** Threads that begin at once: one does. */
static pthread_mutex_t beginning = PTHREAD_MUTEX_INITIALIZER;

int mpix_endpoints_call_init(const char *name, int required, int *provided,
                             mpix_endpoints_init_fn_t libmpi, void *arguments)
{
    const bool has_rule = MPIX_ENDPOINTS_FREE != mpix_endpoints_process_rule() || is_asp()
                          || (MPI_THREAD_MULTIPLE < required && MPIX_THREAD_REATTACH >= required);
    int level, code = MPI_SUCCESS;

    if (mpix_endpoints_begin_is_running() && !has_rule) {
        return libmpi(arguments, -1); /* MPIX_Init_endpoint's, by way of a tool */
    }
    if (!has_rule) {
        return mpix_endpoints_begin_is_late() ? libmpi(arguments, -1) /* which knows what to say */
                                              : init_plain(name, libmpi, arguments);
    }
    pthread_mutex_lock(&beginning);
    if (MPIX_ENDPOINTS_ASSIGNED <= mpix_endpoints_process_rule()) {
        level = mpix_endpoints_process_level();
    } else if (mpix_endpoints_begin_is_late()) {
        level = -1;
        code = libmpi(arguments, -1);
    } else {
        level = init_with_rule(name, required, libmpi, arguments, &code);
    }
    pthread_mutex_unlock(&beginning);
    if (0 <= level) {
        (void) mpix_endpoints_attached(); /* its first call */
        if (NULL != provided) {
            *provided = level;
        }
    }
    return code;
}

int mpix_endpoints_call_thread_level(void)
{
    const int level = 0 != ompi_instance_count ? mpix_endpoints_process_level() : -1;

    if (MPIX_ENDPOINTS_FREE != mpix_endpoints_process_rule()) {
        (void) mpix_endpoints_attached(); /* perhaps its first call */
    }
    return level;
}

/* ---- in Open MPI's ABI ----------------------------------------------------------------------- */

MPIX_ENDPOINTS_EXPORT int MPIX_ENDPOINTS_FUNCTION(Init)(int *argc, char ***argv)
{
    mpix_endpoints_init_t arguments = {.argc = argc, .argv = argv};

    return mpix_endpoints_call_init("MPI_Init", MPI_THREAD_SINGLE, NULL, mpix_endpoints_init_libmpi,
                                    &arguments);
}

MPIX_ENDPOINTS_FUNCTION_DEFINED(Init, (int *argc, char ***argv), (argc, argv));

MPIX_ENDPOINTS_EXPORT int MPIX_ENDPOINTS_FUNCTION(Init_thread)(int *argc, char ***argv,
                                                               int required, int *provided)
{
    mpix_endpoints_init_t arguments = {
        .argc = argc, .argv = argv, .required = required, .provided = provided};

    return mpix_endpoints_call_init("MPI_Init_thread", required, provided,
                                    mpix_endpoints_init_thread_libmpi, &arguments);
}

MPIX_ENDPOINTS_FUNCTION_DEFINED(Init_thread, (int *argc, char ***argv, int required, int *provided),
                                (argc, argv, required, provided));

MPIX_ENDPOINTS_EXPORT int MPIX_ENDPOINTS_FUNCTION(Query_thread)(int *provided)
{
    int (*const original)(int *) = MPIX_ENDPOINTS_NEXT(Query_thread);
    const int level = mpix_endpoints_call_thread_level();

    if (0 <= level && NULL != provided) {
        *provided = level;
        return MPI_SUCCESS;
    }
    return NULL != original ? original(provided) : MPI_ERR_INTERN;
}

MPIX_ENDPOINTS_FUNCTION_DEFINED(Query_thread, (int *provided), (provided));
