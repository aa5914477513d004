/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPIX_Init_endpoint, and MPI_Init and MPI_Init_thread, which begin with one endpoint: where some
 * process of the job asks for endpoints, all make them, together.
 *
 * All find out alike, from what each has said before it could send (static/announce.c), whether
 * there are to be any, and whether there can be; so all come to make them, or none does.  What can
 * go wrong after that is told by the creation itself, and by one exchange more.
 *
 * Not seams: programs call these functions themselves, and find ours first because the library is
 * linked before libmpi.  A process whose MPI_Init is libmpi's takes no part, which the others see.
 *
 * Tests: static_world, static_errors, static_told, query_thread, install/tools
 */

#include "ompi_config.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_c.h"
#include "../static/static.h"
#include "../base/base.h"
#include "calls.h"
#include "mpiext_endpoints_function.h"

#include <stdio.h>
#include <stdlib.h>

#include "ompi/constants.h"
#include "ompi/errhandler/errcode-internal.h"
#include "ompi/errhandler/errhandler.h"
#include "ompi/info/info.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/mca/pml/base/base.h"
#include "ompi/runtime/mpiruntime.h"

static const char *const level_names[] = {
    [MPI_THREAD_SINGLE] = "single",
    [MPI_THREAD_FUNNELED] = "funneled",
    [MPI_THREAD_SERIALIZED] = "serialized",
    [MPI_THREAD_MULTIPLE] = "multiple",
};

/** Of the running call, made or to be made. */
typedef struct begin_t {
    int count;
    int level;
    ompi_communicator_t **handles; /**< count */
} begin_t;

/** It goes on only if all have got it; more in MPI_COMM_WORLD than has already been said there, but
 * once per job.  @return an MPI error code, the same everywhere but for its number */
static int agree(int code)
{
    ompi_communicator_t *world = &ompi_mpi_comm_world.comm;
    int failed = MPI_SUCCESS != code, anybody = 0;
    const int rc = world->c_coll->coll_allreduce(&failed, &anybody, 1, MPI_INT, MPI_MAX, world,
                                                 world->c_coll->coll_allreduce_module);

    if (OMPI_SUCCESS != rc) {
        return ompi_errcode_get_mpi_code(rc);
    }
    return 0 == anybody ? MPI_SUCCESS : mpix_endpoints_error_code(MPIX_ENDPOINTS_CAUSE_RESOURCE);
}

/** All endpoints of the job, and what each has for itself. */
static int make_with(begin_t *begin, ompi_info_t *info)
{
    int code = mpix_endpoints_call_create(MPI_COMM_WORLD, begin->count, info, begin->handles);
    bool is_begun;

    if (MPI_SUCCESS != code) {
        return code; /* everybody has an error */
    }
    is_begun = OMPI_SUCCESS
               == mpix_endpoints_process_begin(begin->handles, begin->count, begin->level);
    code = agree(is_begun ? MPI_SUCCESS : MPI_ERR_NO_MEM);
    if (MPI_SUCCESS != code && is_begun) {
        mpix_endpoints_process_undo();
    } else if (MPI_SUCCESS != code) {
        for (int i = 0; i < begin->count; ++i) {
            (void) ompi_comm_free(&begin->handles[i]);
        }
    } else {
        mpix_endpoints_world_name_static();
    }
    return code;
}

/** Without memory for the smallest things it takes part all the same, to tell the others. */
static int make(begin_t *begin)
{
    ompi_info_t *info = OBJ_NEW(ompi_info_t);
    int code;

    if (0 < begin->count) {
        begin->handles = calloc((size_t) begin->count, sizeof(*begin->handles));
    }
    if (NULL != info) {
        (void) opal_info_set(&info->super, "mpix_thread_level", level_names[begin->level]);
    }
    code = make_with(begin, NULL != info ? info : &ompi_mpi_info_null.info);
    free(begin->handles);
    if (NULL != info) {
        OBJ_RELEASE(info);
    }
    return code;
}

/** Says in MPI_INFO_ENV how many ranks share this process's memory from the beginning on: the key
 * asp of chapter 12's draft for MPI 3, section 12.5, which its examples 12.4 and 12.5 call
 * MPI_ENV_ASP. */
static void note_asp(int count)
{
    char text[16];

    (void) snprintf(text, sizeof(text), "%d", count);
    (void) opal_info_set(&ompi_mpi_info_env.info.super, "asp", text);
    (void) opal_info_set(&ompi_mpi_info_env.info.super, "MPI_ENV_ASP", text);
}

/** Nobody asks for endpoints.  Where all have looked, all have duplicates. */
static int make_duplicates(int most, bool all)
{
    const int rc = MPIX_ENDPOINTS_BEGINS_PLAIN == most && all ? mpix_endpoints_process_duplicate()
                                                              : OMPI_SUCCESS;

    return OMPI_SUCCESS == rc ? MPI_SUCCESS : ompi_errcode_get_mpi_code(rc);
}

/** libmpi has begun.
 *
 * @param[in] asks  is it this process that wants endpoints?
 * @return MPI_SUCCESS; or an MPI error code, in all processes that take part */
static int take_part(begin_t *begin, bool asks)
{
    bool all;
    const int most = mpix_endpoints_announced(&all);

    if (NULL == mpix_endpoints_table() && asks) {
        mpix_endpoints_show_help("not selected",
                                 mca_pml_base_selected_component.pmlm_version.mca_component_name);
        return mpix_endpoints_error_code(MPIX_ENDPOINTS_CAUSE_NOT_SELECTED);
    }
    if (MPIX_ENDPOINTS_BEGINS_WRONG <= most) {
        return mpix_endpoints_error_code((mpix_endpoints_cause_t) (most
                                                                   - MPIX_ENDPOINTS_BEGINS_WRONG));
    }
    if (MPIX_ENDPOINTS_BEGINS_STATIC != most) {
        return asks ? mpix_endpoints_error_code(MPIX_ENDPOINTS_CAUSE_ABSENT)
                    : make_duplicates(most, all);
    }
    return all ? make(begin) : mpix_endpoints_error_code(MPIX_ENDPOINTS_CAUSE_ABSENT);
}

/** Is MPIX_Init_endpoint under way?  Written before there are threads. */
static bool is_beginning;

/** Has MPI begun, or ended? */
static bool is_late(void)
{
    return OMPI_MPI_STATE_NOT_INITIALIZED != ompi_mpi_state;
}

/** How this process begins: what is wrong with its arguments is said to all. */
static int check_arguments(int count, int level, struct mpix_endpoint_t *endpoints[])
{
    if (0 > count) {
        return MPIX_ENDPOINTS_BEGINS_WRONG + MPIX_ENDPOINTS_CAUSE_COUNT_WRONG;
    }
    if (MPI_THREAD_SINGLE > level || MPI_THREAD_MULTIPLE < level
        || (1 < count && MPI_THREAD_FUNNELED > level)) {
        return MPIX_ENDPOINTS_BEGINS_WRONG + MPIX_ENDPOINTS_CAUSE_LEVEL_WRONG;
    }
    if (mpix_endpoints_call_no_room == (char *) endpoints) {
        return MPIX_ENDPOINTS_BEGINS_WRONG + MPIX_ENDPOINTS_CAUSE_RESOURCE;
    }
    return 0 < count && NULL == endpoints
               ? MPIX_ENDPOINTS_BEGINS_WRONG + MPIX_ENDPOINTS_CAUSE_NO_ARRAY
               : MPIX_ENDPOINTS_BEGINS_STATIC;
}

int mpix_endpoints_call_init_endpoint(int count, int level, struct mpix_endpoint_t *endpoints[],
                                      mpix_endpoints_init_fn_t libmpi, void *arguments)
{
    static const char name[] = "MPIX_Init_endpoint";
    const int how = check_arguments(count, level, endpoints);
    begin_t begin = {.count = count, .level = level};
    int code;

    if (is_late()) {
        code = 0 == ompi_instance_count
                   ? MPI_ERR_OTHER
                   : mpix_endpoints_error_code(MPIX_ENDPOINTS_CAUSE_INITIALIZED);
        return OMPI_ERRHANDLER_NOHANDLE_INVOKE(code, name);
    }
    mpix_endpoints_announce(how);
    /* Threads of different endpoints are in libmpi at once. */
    is_beginning = true;
    code = libmpi(arguments,
                  MPIX_ENDPOINTS_BEGINS_STATIC == how && 1 >= count ? level : MPI_THREAD_MULTIPLE);
    is_beginning = false;
    if (MPI_SUCCESS != code) {
        return code;
    }
    code = take_part(&begin, true);
    if (MPI_SUCCESS != code) {
        return OMPI_ERRHANDLER_NOHANDLE_INVOKE(code, name);
    }
    note_asp(count);
    for (int i = 0; i < count; ++i) {
        endpoints[i] = mpix_endpoints_process_endpoint(i);
    }
    return MPI_SUCCESS;
}

int mpix_endpoints_call_init(const char *name, mpix_endpoints_init_fn_t libmpi, void *arguments)
{
    begin_t begin = {.count = 1};
    int code;

    if (is_late() || is_beginning) {
        /* libmpi knows what to say, or the call is MPIX_Init_endpoint's, by way of a tool. */
        return libmpi(arguments, 0);
    }
    mpix_endpoints_announce(MPIX_ENDPOINTS_BEGINS_PLAIN);
    code = libmpi(arguments, 0);
    if (MPI_SUCCESS != code) {
        return code;
    }
    begin.level = ompi_mpi_thread_provided;
    mpix_endpoints_process_plain(begin.level);
    code = take_part(&begin, false);
    if (MPI_SUCCESS != code) {
        return OMPI_ERRHANDLER_NOHANDLE_INVOKE(code, name);
    }
    note_asp(begin.count);
    return MPI_SUCCESS;
}

int mpix_endpoints_call_thread_level(void)
{
    return 0 != ompi_instance_count ? mpix_endpoints_process_level() : -1;
}

/* ---- in Open MPI's ABI ----------------------------------------------------------------------- */

/** A call of one of the three. */
typedef struct arguments_t {
    int *argc;
    char ***argv;
    int required;  /**< of MPI_Init_thread */
    int *provided; /**< likewise, of either */
} arguments_t;

static int init_by_libmpi(void *arguments, int level)
{
    int (*const original)(int *, char ***) = MPIX_ENDPOINTS_NEXT(Init);
    const arguments_t *a = arguments;

    (void) level;
    return NULL != original ? original(a->argc, a->argv) : MPI_ERR_INTERN;
}

static int init_thread_by_libmpi(void *arguments, int level)
{
    int (*const original)(int *, char ***, int, int *) = MPIX_ENDPOINTS_NEXT(Init_thread);
    const arguments_t *a = arguments;

    (void) level;
    return NULL != original ? original(a->argc, a->argv, a->required, a->provided) : MPI_ERR_INTERN;
}

static int init_level_by_libmpi(void *arguments, int level)
{
    arguments_t *a = arguments;

    a->required = level;
    return init_thread_by_libmpi(a, level);
}

/** A tool that has MPI_Init_thread begins with it. */
static int init_level_by_tool(void *arguments, int level)
{
    const arguments_t *a = arguments;

    return MPI_Init_thread(a->argc, a->argv, level, a->provided);
}

static int init_endpoint(int *argc, char ***argv, int count, int level, MPIX_Endpoint endpoints[],
                         mpix_endpoints_init_fn_t init)
{
    int provided;
    arguments_t arguments = {.argc = argc, .argv = argv, .provided = &provided};

    return mpix_endpoints_call_init_endpoint(count, level, endpoints, init, &arguments);
}

MPIX_ENDPOINTS_EXPORT int PMPIX_Init_endpoint(int *argc, char ***argv, int count, int thread_level,
                                              MPIX_Endpoint endpoints[])
{
    return init_endpoint(argc, argv, count, thread_level, endpoints, init_level_by_libmpi);
}

MPIX_ENDPOINTS_EXPORT __attribute__((weak)) int MPIX_Init_endpoint(int *argc, char ***argv,
                                                                   int count, int thread_level,
                                                                   MPIX_Endpoint endpoints[])
{
    return init_endpoint(argc, argv, count, thread_level, endpoints, init_level_by_tool);
}

MPIX_ENDPOINTS_EXPORT int MPIX_ENDPOINTS_FUNCTION(Init)(int *argc, char ***argv)
{
    arguments_t arguments = {.argc = argc, .argv = argv};

    return mpix_endpoints_call_init("MPI_Init", init_by_libmpi, &arguments);
}

MPIX_ENDPOINTS_FUNCTION_DEFINED(Init, (int *argc, char ***argv), (argc, argv));

MPIX_ENDPOINTS_EXPORT int MPIX_ENDPOINTS_FUNCTION(Init_thread)(int *argc, char ***argv,
                                                               int required, int *provided)
{
    arguments_t arguments = {
        .argc = argc, .argv = argv, .required = required, .provided = provided};

    return mpix_endpoints_call_init("MPI_Init_thread", init_thread_by_libmpi, &arguments);
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
