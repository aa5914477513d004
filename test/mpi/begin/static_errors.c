/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPIX_Init_endpoint that fails: every process of the job that takes part gets an error of class
 * MPIX_ERR_ENDPOINTS that says why, nobody waits, and MPI goes on without endpoints.
 *
 *   --wrong WHAT  by process --by: count, level, none (no such level), array; limit (more than
 *                 pml_epml_max_endpoints); told (more than its launcher was); absent (its MPI_Init
 *                 is libmpi's); apart (its MPI_Init does not look: MPIX_ENDPOINTS_STATIC=0); late
 *                 (MPI has begun); unselected (of all: without pml/epml)
 *
 * Errors are returned from the beginning on (parameter mpi_initial_errhandler).
 *
 * Guards: init_endpoint.c, init_make.c, announce.c, errors.c, told.c
 */

#include "static.h"

#if defined(HAVE_EP)

#    include <dlfcn.h>

static const char *wrong(void)
{
    return ept_option("wrong", "count");
}

static bool is_wrong(const char *what)
{
    return 0 == strcmp(what, wrong());
}

static bool is_by(int proc)
{
    return ept_option_long("by", 0) == proc;
}

/* The one that has made a mistake. */
static int begin_wrong(int *argc, char ***argv)
{
    if (is_wrong("count")) {
        return MPIX_Init_endpoint(argc, argv, -1, MPI_THREAD_FUNNELED, static_endpoints);
    }
    if (is_wrong("level")) {
        return MPIX_Init_endpoint(argc, argv, 2, MPI_THREAD_SINGLE, static_endpoints);
    }
    if (is_wrong("none")) {
        return MPIX_Init_endpoint(argc, argv, 1, MPI_THREAD_MULTIPLE + 1, static_endpoints);
    }
    if (is_wrong("array")) {
        return MPIX_Init_endpoint(argc, argv, 2, MPI_THREAD_MULTIPLE, NULL);
    }
    if (is_wrong("limit")) {
        return MPIX_Init_endpoint(argc, argv, 9, MPI_THREAD_MULTIPLE, static_endpoints);
    }
    if (is_wrong("told")) {
        return MPIX_Init_endpoint(argc, argv, 3, MPI_THREAD_MULTIPLE, static_endpoints);
    }
    if (is_wrong("apart")) {
        return MPI_Init(argc, argv);
    }
    if (is_wrong("absent")) {
        void *libmpi = dlopen("libmpi.so.40", RTLD_NOW | RTLD_NOLOAD);
        int (*init)(int *, char ***) = NULL;

        if (NULL != libmpi) {
            *(void **) &init = dlsym(libmpi, "PMPI_Init");
        }
        return NULL != init ? init(argc, argv) : MPI_ERR_OTHER;
    }
    return MPIX_Init_endpoint(argc, argv, 2, MPI_THREAD_MULTIPLE, static_endpoints);
}

int test_process_init(int *argc, char ***argv)
{
    const int proc = static_proc();

    static_code = is_by(proc) ? begin_wrong(argc, argv) : static_begin(argc, argv);
    if (is_wrong("late")) {
        static_code = MPIX_Init_endpoint(argc, argv, 2, MPI_THREAD_MULTIPLE, static_endpoints);
    }
    return MPI_THREAD_MULTIPLE;
}

static const char *words(void)
{
    return is_wrong("count")        ? "less than no endpoint"
           : is_wrong("level")      ? "MPI_THREAD_SINGLE for more than one"
           : is_wrong("none")       ? "no thread level of MPI's"
           : is_wrong("array")      ? "no array for its endpoints"
           : is_wrong("told")       ? "its launcher was told"
           : is_wrong("limit")      ? "more endpoints in one process"
           : is_wrong("absent")     ? "does not take part"
           : is_wrong("apart")      ? "MPIX_ENDPOINTS_STATIC=1"
           : is_wrong("late")       ? "after another initialization"
           : is_wrong("unselected") ? "epmpirun"
                                    : "?";
}

static void case_init_error(MPI_Comm comm, struct ept *t)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;

    (void) comm;
    if ((is_wrong("absent") || is_wrong("apart")) && is_by(t->proc)) {
        EPT_EQ(t, MPI_SUCCESS, static_code);
        return;
    }
    EPT_CLASS(t, MPIX_ERR_ENDPOINTS, static_code);
    EPT_OK(t, MPI_Error_string(static_code, text, &length));
    EPT_CHECK(t, NULL != strstr(text, words()), "expected \"%s\" in \"%s\"", words(), text);
    for (int i = 0; i < STATIC_MAX && !is_wrong("late"); ++i) {
        EPT_CHECK(t, MPIX_ENDPOINT_NULL == static_endpoints[i], "endpoint %d came with it", i);
    }
}

/* It has begun all the same. */
static void case_goes_on(MPI_Comm comm, struct ept *t)
{
    MPI_Comm comms[2];

    ept_use_comm(t, comm, t->rank, t->size);
    if (is_wrong("unselected")) {
        return;
    }
    EPT_OK(t, MPIX_Comm_create_endpoints(MPI_COMM_WORLD, 1, MPI_INFO_NULL, comms));
    EPT_OK(t, MPI_Barrier(comms[0]));
    EPT_OK(t, MPI_Comm_free(&comms[0]));
}

#endif

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
#if defined(HAVE_EP)
    EPT_CASE(t, case_init_error);
    EPT_CASE(t, case_goes_on);
#else
    ept_skip(t, "static", "needs endpoints");
#endif
    return 0;
}
