/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Beginning and ending MPI in the MPI ABI: as abi.c, of which this is the third part.
 *
 * Thread levels are other numbers; MPIX_THREAD_ATTACH and _REATTACH follow MPI_THREAD_MULTIPLE in
 * both ABIs.
 *
 * Tests: static_world (abi), levels (abi), two_phase (abi)
 */

#include "mpiext_endpoints_abi.h"

/* ---- libmpi_abi's own -------------------------------------------------------------------------- */

/** What a program has called a function that begins MPI with. */
typedef struct arguments_t {
    int *argc;
    char ***argv;
    int required; /**< of MPI_Init_thread, in the MPI ABI; provided likewise */
    int *provided;
    int code; /**< what libmpi_abi has returned, in the MPI ABI; raised already */
} arguments_t;

static int init_thread_by_libmpi(void *arguments, int level)
{
    typedef int (*init_thread_fn_t)(int *, char ***, int, int *);
    static _Atomic(void *) found;
    init_thread_fn_t original = (init_thread_fn_t) mpix_endpoints_next_function("PMPI_Init_thread",
                                                                                &found);
    arguments_t *a = arguments;
    int provided;

    if (NULL == original) {
        a->code = MPI_ERR_INTERN_ABI_INTERNAL;
    } else if (0 > level) {
        a->code = original(a->argc, a->argv, a->required, a->provided);
    } else {
        a->code = original(a->argc, a->argv, ompi_convert_ts_level_ompi_to_standard(level),
                           &provided);
    }
    return MPI_SUCCESS == a->code ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static int init_by_libmpi(void *arguments, int level)
{
    typedef int (*init_fn_t)(int *, char ***);
    static _Atomic(void *) found;
    init_fn_t original = (init_fn_t) mpix_endpoints_next_function("PMPI_Init", &found);
    arguments_t *a = arguments;

    if (0 <= level) {
        return init_thread_by_libmpi(arguments, level);
    }
    a->code = NULL != original ? original(a->argc, a->argv) : MPI_ERR_INTERN_ABI_INTERNAL;
    return MPI_SUCCESS == a->code ? MPI_SUCCESS : MPI_ERR_OTHER;
}

/** A tool that has MPI_Init_thread begins with it. */
static int init_by_tool(void *arguments, int level);

/** What is libmpi_abi's is in its ABI. */
static int init_result(const arguments_t *arguments, int code)
{
    return MPI_SUCCESS != arguments->code ? arguments->code : error_to_abi(code);
}

/** Of a function with several variants: what begins MPI below. */
static mpix_endpoints_init_fn_t abi_init_below(bool tool)
{
    return tool ? init_by_tool : init_thread_by_libmpi;
}

/* ---- beginning with endpoints ------------------------------------------------------------------ */

static int init_endpoint(int *argc, char ***argv, int count, int level,
                         struct mpix_endpoint_t *endpoints[], bool tool)
{
    arguments_t arguments = {.argc = argc, .argv = argv};
    const int code = mpix_endpoints_call_init_endpoint(count, level_from_abi(level), endpoints,
                                                       abi_init_below(tool), &arguments);

    return init_result(&arguments, code);
}

static int init_endpoints(int *argc, char ***argv, int count, int requested, int *provided,
                          bool tool)
{
    arguments_t arguments = {.argc = argc, .argv = argv};
    const int code = mpix_endpoints_call_init_endpoints(count, level_from_abi(requested), provided,
                                                        abi_init_below(tool), &arguments);

    if (MPI_SUCCESS == code && NULL != provided) {
        *provided = level_to_abi(*provided);
    }
    return init_result(&arguments, code);
}

static int init_begin(int *argc, char ***argv, int *maximum, int *size, int *rank, bool tool)
{
    arguments_t arguments = {.argc = argc, .argv = argv};
    const int code = mpix_endpoints_call_init_begin(maximum, size, rank, abi_init_below(tool),
                                                    &arguments);

    return init_result(&arguments, code);
}

static int init_endpoint_thread(int index, int flag, bool tool)
{
    arguments_t arguments = {.argc = NULL};
    const int code = mpix_endpoints_call_init_thread(index, flag, abi_init_below(tool), &arguments);

    return init_result(&arguments, code);
}

static int init_upcmpi(int *argc, char ***argv, int flag, bool tool)
{
    arguments_t arguments = {.argc = argc, .argv = argv};
    const int code = mpix_endpoints_call_init_pgas(flag, abi_init_below(tool), &arguments);

    return init_result(&arguments, code);
}

/** MPIX_... and its PMPIX_ twin, which passes by a tool that has MPI_Init_thread. */
#define BOTH(name, function, parameters, ...)               \
    EXPORT int PMPIX_##name parameters                      \
    {                                                       \
        return function(__VA_ARGS__, false);                \
    }                                                       \
    EXPORT __attribute__((weak)) int MPIX_##name parameters \
    {                                                       \
        return function(__VA_ARGS__, true);                 \
    }

BOTH(Init_endpoint, init_endpoint,
     (int *argc, char ***argv, int count, int thread_level, struct mpix_endpoint_t *endpoints[]),
     argc, argv, count, thread_level, endpoints)
BOTH(Init_endpoints, init_endpoints,
     (int *argc, char ***argv, int count, int requested, int *provided), argc, argv, count,
     requested, provided)
BOTH(Init_endpoint_begin, init_begin,
     (int *argc, char ***argv, int *max_endpoints, int *size, int *rank), argc, argv, max_endpoints,
     size, rank)
BOTH(Init_endpoint_thread, init_endpoint_thread, (int index, int flag), index, flag)
BOTH(Init_UPCMPI, init_upcmpi, (int *argc, char ***argv, int flag), argc, argv, flag)

EXPORT int PMPIX_Endpoint_create(int count, struct mpix_endpoint_t *endpoints[])
{
    return error_to_abi(mpix_endpoints_call_endpoint_create(count, endpoints));
}

EXPORT int PMPIX_Get_UPC_numprogs(int *num_progs)
{
    return error_to_abi(mpix_endpoints_call_numprogs(num_progs));
}

EXPORT int PMPIX_Get_UPC_config(int num_progs, int *my_prog, int num_threads[])
{
    return error_to_abi(mpix_endpoints_call_config(num_progs, my_prog, num_threads));
}

EXPORT WEAK(MPIX_Endpoint_create);
EXPORT WEAK(MPIX_Get_UPC_numprogs);
EXPORT WEAK(MPIX_Get_UPC_config);

/* ---- MPI's own ------------------------------------------------------------------------------- */

EXPORT int PMPI_Init(int *argc, char ***argv)
{
    arguments_t arguments = {.argc = argc, .argv = argv};

    return init_result(&arguments, mpix_endpoints_call_init("MPI_Init", MPI_THREAD_SINGLE, NULL,
                                                            init_by_libmpi, &arguments));
}

EXPORT int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    arguments_t arguments = {
        .argc = argc, .argv = argv, .required = required, .provided = provided};
    int level = -1;
    const int code = mpix_endpoints_call_init("MPI_Init_thread", level_from_abi(required), &level,
                                              init_thread_by_libmpi, &arguments);

    if (0 <= level && NULL != provided) {
        *provided = level_to_abi(level);
    }
    return init_result(&arguments, code);
}

EXPORT int PMPI_Query_thread(int *provided)
{
    typedef int (*query_thread_fn_t)(int *);
    static _Atomic(void *) found;
    query_thread_fn_t original
        = (query_thread_fn_t) mpix_endpoints_next_function("PMPI_Query_thread", &found);
    const int level = mpix_endpoints_call_thread_level();

    if (0 <= level && NULL != provided) {
        *provided = level_to_abi(level);
        return MPI_SUCCESS;
    }
    return NULL != original ? original(provided) : MPI_ERR_INTERN_ABI_INTERNAL;
}

EXPORT int PMPI_Initialized(int *flag)
{
    typedef int (*initialized_fn_t)(int *);
    static _Atomic(void *) found;
    initialized_fn_t original = (initialized_fn_t) mpix_endpoints_next_function("PMPI_Initialized",
                                                                                &found);
    const int code = NULL != original ? original(flag) : MPI_ERR_INTERN_ABI_INTERNAL;

    if (MPI_SUCCESS == code) {
        mpix_endpoints_call_initialized(flag);
    }
    return code;
}

EXPORT int PMPI_Is_thread_main(int *flag)
{
    typedef int (*is_thread_main_fn_t)(int *);
    static _Atomic(void *) found;
    is_thread_main_fn_t original
        = (is_thread_main_fn_t) mpix_endpoints_next_function("PMPI_Is_thread_main", &found);
    const int is_main = mpix_endpoints_call_is_main();

    if (0 <= is_main && NULL != flag) {
        *flag = is_main;
        return MPI_SUCCESS;
    }
    return NULL != original ? original(flag) : MPI_ERR_INTERN_ABI_INTERNAL;
}

EXPORT int PMPI_Finalize(void)
{
    typedef int (*finalize_fn_t)(void);
    static _Atomic(void *) found;
    finalize_fn_t original = (finalize_fn_t) mpix_endpoints_next_function("PMPI_Finalize", &found);

    return NULL != original ? mpix_endpoints_call_finalize(original) : MPI_ERR_INTERN_ABI_INTERNAL;
}

MPIX_ENDPOINTS_OR_TOOL(Init, PMPI_Init, (int *argc, char ***argv), (argc, argv));
MPIX_ENDPOINTS_OR_TOOL(Init_thread, PMPI_Init_thread,
                       (int *argc, char ***argv, int required, int *provided),
                       (argc, argv, required, provided));
MPIX_ENDPOINTS_OR_TOOL(Query_thread, PMPI_Query_thread, (int *provided), (provided));
MPIX_ENDPOINTS_OR_TOOL(Initialized, PMPI_Initialized, (int *flag), (flag));
MPIX_ENDPOINTS_OR_TOOL(Is_thread_main, PMPI_Is_thread_main, (int *flag), (flag));
MPIX_ENDPOINTS_OR_TOOL(Finalize, PMPI_Finalize, (void), ());

static int init_by_tool(void *arguments, int level)
{
    arguments_t *a = arguments;
    int provided;

    a->code = MPI_Init_thread(a->argc, a->argv, ompi_convert_ts_level_ompi_to_standard(level),
                              &provided);
    return MPI_SUCCESS == a->code ? MPI_SUCCESS : MPI_ERR_OTHER;
}
