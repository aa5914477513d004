/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPIX_Init_endpoint_begin and MPIX_Endpoint_create: a process learns its place in the job before it
 * says how many endpoints it wants.
 *
 * libmpi begins in the first phase, which announces that a number will follow; so the others, be it
 * in their MPI_Init, wait in the creation until it does.  Between the phases the program is where it
 * was before MPI_Init: libmpi's state says that its initialization is under way, and its count of
 * users that there is none, so that it refuses calls itself, and MPI_Initialized says no.
 *
 * Tests: two_phase
 */

#include "ompi_config.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_c.h"
#include "../static/static.h"
#include "../base/base.h"
#include "calls.h"
#include "mpiext_endpoints_begin.h"
#include "mpiext_endpoints_init.h"

#include "ompi/communicator/communicator.h"
#include "ompi/errhandler/errcode-internal.h"
#include "ompi/errhandler/errhandler.h"
#include "ompi/runtime/mpiruntime.h"

/** Written by the thread that begins MPI, before others are in MPI. */
static struct {
    bool is_open; /**< the second phase is still to come */
    int users;    /**< libmpi's count */
    int maximum;  /**< what the first has returned */
} phases;

static void open_phases(void)
{
    phases.is_open = true;
    phases.users = ompi_instance_count;
    ompi_instance_count = 0;
    ompi_mpi_state = OMPI_MPI_STATE_INIT_STARTED;
}

static void close_phases(void)
{
    phases.is_open = false;
    ompi_instance_count = phases.users;
    ompi_mpi_state = OMPI_MPI_STATE_INIT_COMPLETED;
}

int mpix_endpoints_call_init_begin(int *maximum, int *size, int *rank,
                                   mpix_endpoints_init_fn_t libmpi, void *arguments)
{
    static const char name[] = "MPIX_Init_endpoint_begin";
    const bool has_room = NULL != maximum && NULL != size && NULL != rank;
    int code, optimal;
    bool makes;

    if (mpix_endpoints_begin_is_late()) {
        return OMPI_ERRHANDLER_NOHANDLE_INVOKE(mpix_endpoints_begin_late_code(), name);
    }
    code = mpix_endpoints_begin_libmpi(has_room ? MPIX_ENDPOINTS_BEGINS_PHASES
                                                : MPIX_ENDPOINTS_BEGINS_WRONG
                                                      + MPIX_ENDPOINTS_CAUSE_NO_PLACE,
                                       MPI_THREAD_MULTIPLE, libmpi, arguments);
    if (MPI_SUCCESS != code) {
        return code;
    }
    code = mpix_endpoints_begin_look(true, &makes);
    if (MPI_SUCCESS != code) {
        return OMPI_ERRHANDLER_NOHANDLE_INVOKE(code, name);
    }
    (void) mpix_endpoints_call_number(MPI_COMM_WORLD, &optimal, &phases.maximum);
    *maximum = phases.maximum;
    *size = ompi_comm_size(&ompi_mpi_comm_world.comm);
    *rank = ompi_comm_rank(&ompi_mpi_comm_world.comm);
    open_phases();
    return MPI_SUCCESS;
}

/** What is wrong with it is sent to all.  Where there can be none at all the creation says why. */
static int init_phases_check(int count, struct mpix_endpoint_t *endpoints[])
{
    if (1 > count) {
        return MPIX_ENDPOINTS_BEGINS_WRONG + MPIX_ENDPOINTS_CAUSE_COUNT_NONE;
    }
    if (0 < phases.maximum && phases.maximum < count) {
        return MPIX_ENDPOINTS_BEGINS_WRONG + MPIX_ENDPOINTS_CAUSE_LIMIT;
    }
    return mpix_endpoints_begin_check_array(count, endpoints);
}

int mpix_endpoints_call_endpoint_create(int count, struct mpix_endpoint_t *endpoints[])
{
    static const char name[] = "MPIX_Endpoint_create";
    mpix_endpoints_begin_t begin = {.count = count, .level = MPI_THREAD_MULTIPLE};
    int code;

    if (!phases.is_open) {
        return OMPI_ERRHANDLER_NOHANDLE_INVOKE(
            0 == ompi_instance_count ? MPI_ERR_OTHER
                                     : mpix_endpoints_error_code(MPIX_ENDPOINTS_CAUSE_NO_PHASE),
            name);
    }
    begin.wrong = init_phases_check(count, endpoints);
    close_phases();
    code = mpix_endpoints_begin_fill(mpix_endpoints_begin_make(&begin), count, endpoints);
    return MPI_SUCCESS == code ? code : OMPI_ERRHANDLER_NOHANDLE_INVOKE(code, name);
}

void mpix_endpoints_phases_end(void)
{
    const mpix_endpoints_begin_t begin = {.count = 1, .level = MPI_THREAD_MULTIPLE};

    if (phases.is_open) {
        close_phases();
        (void) mpix_endpoints_begin_make(&begin); /* an error is of other members, which get it */
    }
}

/* ---- in Open MPI's ABI ----------------------------------------------------------------------- */

MPIX_ENDPOINTS_EXPORT int PMPIX_Init_endpoint_begin(int *argc, char ***argv, int *max_endpoints,
                                                    int *size, int *rank)
{
    mpix_endpoints_init_t arguments = {.argc = argc, .argv = argv};

    return mpix_endpoints_call_init_begin(max_endpoints, size, rank,
                                          mpix_endpoints_init_thread_libmpi, &arguments);
}

MPIX_ENDPOINTS_EXPORT __attribute__((weak)) int MPIX_Init_endpoint_begin(int *argc, char ***argv,
                                                                         int *max_endpoints,
                                                                         int *size, int *rank)
{
    mpix_endpoints_init_t arguments = {.argc = argc, .argv = argv};

    return mpix_endpoints_call_init_begin(max_endpoints, size, rank,
                                          mpix_endpoints_init_thread_tool, &arguments);
}

MPIX_ENDPOINTS_EXPORT int PMPIX_Endpoint_create(int count, MPIX_Endpoint endpoints[])
    __attribute__((alias("mpix_endpoints_call_endpoint_create")));
MPIX_ENDPOINTS_EXPORT int MPIX_Endpoint_create(int count, MPIX_Endpoint endpoints[])
    __attribute__((weak, alias("mpix_endpoints_call_endpoint_create")));
