/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The process begins MPI with an endpoint for each rank, and ends it when all ranks have left.
 *
 * Tests: ranks_basic, ranks_mpi, ranks_exit, ranks_omp, ranks_file, ranks_window
 */

#define _GNU_SOURCE

#include "ompi_config.h"

#include "state.h"

#include <stdlib.h>

#include "ompi/mca/common/ep/common_ep_engine.h"

/** Where the rank is among those of its node: ranks of a process follow each other. */
static void find_local(mpix_rank_t *ranks, int count)
{
    const mpix_endpoints_engine_t *engine = mpix_endpoints_engine(MPIX_ENDPOINTS_ENGINE_ABI);
    mpix_endpoints_members_t members = {.count = count, .index = 0};

    if (NULL != engine) {
        (void) engine->members(ranks[0].world, MPIX_ENDPOINTS_SCOPE_NODE, &members);
    }
    for (int i = 0; i < count; ++i) {
        ranks[i].local = members.index + i;
        ranks[i].local_size = members.count;
    }
}

static int begin_rank(mpix_rank_t *rank)
{
    int rc = PMPIX_Thread_attach_index(rank->index);

    if (MPI_SUCCESS != rc) {
        return rc;
    }
    rank->world = MPIX_COMM_ENDPOINTS;
    rank->self = MPIX_COMM_SELF;
    (void) PMPI_Comm_rank(rank->world, &rank->number);
    (void) PMPI_Comm_size(rank->world, &rank->size);
    return MPI_SUCCESS;
}

/** The ranks' error handlers are what the process's are, at first; those of calls without a
 * communicator as well (hook_errors.c). */
static int copy_handlers(const mpix_rank_t *ranks, int count)
{
    MPI_Errhandler of_world, of_self;
    int rc = PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &of_world);

    if (MPI_SUCCESS == rc) {
        rc = PMPI_Comm_get_errhandler(MPI_COMM_SELF, &of_self);
    }
    for (int i = 0; MPI_SUCCESS == rc && i < count; ++i) {
        rc = PMPI_Comm_set_errhandler(ranks[i].world, of_world);
        if (MPI_SUCCESS == rc) {
            rc = PMPI_Comm_set_errhandler(ranks[i].self, of_self);
        }
    }
    return rc;
}

/** An error is raised in a rank.  Before MPI_Init and after MPI_Finalize its handles are invalid, so
 * calls with one of them come here, and end the job. */
static void check_running(const char *function)
{
    if (NULL != mpix_ranks_self) {
        mpix_ranks_mpi_must_run(mpix_ranks_self, function);
    }
}

void mpix_ranks_mpi_begin(int *argc, char ***argv, mpix_rank_t *ranks, int count)
{
    MPIX_Endpoint *endpoints = calloc((size_t) count + 1, sizeof(*endpoints));
    struct mpix_rank_mpi_t *states = calloc((size_t) count + 1, sizeof(*states));
    int rc;

    if (NULL == endpoints || NULL == states) {
        mpix_ranks_refuse("no memory for %d ranks", count);
    }
    /* A number of endpoints is for programs that make some, and would be the most that there may
     * be. */
    (void) unsetenv("MPIX_ENDPOINTS");
    mpix_endpoints_call_world_begin(false, check_running);
    /* What it returns is an error where the user has said so (mpi_initial_errhandler). */
    rc = PMPIX_Init_endpoint(argc, argv, count, MPI_THREAD_MULTIPLE, endpoints);
    for (int i = 0; MPI_SUCCESS == rc && i < count; ++i) {
        states[i].endpoint = endpoints[i];
        ranks[i].mpi = &states[i];
        rc = begin_rank(&ranks[i]);
    }
    if (MPI_SUCCESS == rc && 0 < count) {
        find_local(ranks, count);
        rc = copy_handlers(ranks, count);
    }
    if (MPI_SUCCESS == rc && 0 < count) {
        rc = mpix_ranks_mpi_predefined_begin(ranks, count);
    }
    if (MPI_SUCCESS != rc) {
        char text[MPI_MAX_ERROR_STRING] = "";
        int length;

        (void) PMPI_Error_string(rc, text, &length);
        mpix_ranks_refuse("MPI cannot begin with %d ranks in this process: %s", count, text);
    }
    for (int i = 0; i < count; ++i) {
        atomic_flag_clear(&states[i].has_met);
        mpix_ranks_mpi_set_valid(&ranks[i], false);
    }
    free(endpoints);
}

void mpix_ranks_mpi_enter(mpix_rank_t *rank)
{
    mpix_endpoints_call_enter_endpoint(rank->mpi->endpoint);
}

bool mpix_ranks_mpi_is_running(const mpix_rank_t *rank)
{
    return rank->mpi->is_initialized && !rank->mpi->is_finalized;
}

void mpix_ranks_mpi_end(void)
{
    for (int i = 0; i < mpix_ranks_count; ++i) {
        mpix_ranks_mpi_set_valid(&mpix_ranks_all[i], true);
    }
    (void) PMPI_Finalize();
}
