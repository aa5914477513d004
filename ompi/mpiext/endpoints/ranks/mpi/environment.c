/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI begins and ends for a rank, while it runs for the process: MPI_Init and its relatives.
 *
 * Before MPI_Init and after MPI_Finalize the rank's MPI_COMM_WORLD and MPI_COMM_SELF are invalid, which
 * libmpi checks in each call anyway.  Calls without one of them are not noticed: libmpi asks the
 * process's state alone.
 *
 * Tests: ranks_basic, ranks_mpi, ranks_exit, install/ranks
 */

#define _GNU_SOURCE

#include "ompi_config.h"

#include "state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ompi/communicator/communicator.h"
#include "ompi/errhandler/errhandler.h"
#include "ompi/info/info.h"

static const char *const level_names[] = {
    [MPI_THREAD_SINGLE] = "MPI_THREAD_SINGLE",
    [MPI_THREAD_FUNNELED] = "MPI_THREAD_FUNNELED",
    [MPI_THREAD_SERIALIZED] = "MPI_THREAD_SERIALIZED",
    [MPI_THREAD_MULTIPLE] = "MPI_THREAD_MULTIPLE",
};

void mpix_ranks_mpi_wrong(mpix_rank_t *rank, const char *function, const char *when)
{
    (void) fprintf(stderr, "epmpirun -ranks: rank %d has called %s %s, which MPI forbids\n",
                   rank->number, function, when);
    (void) PMPI_Abort(rank->world, 1);
    _exit(1);
}

void mpix_ranks_mpi_must_run(mpix_rank_t *rank, const char *function)
{
    if (!rank->mpi->is_initialized) {
        mpix_ranks_mpi_wrong(rank, function, "before MPI_Init");
    }
    if (rank->mpi->is_finalized) {
        mpix_ranks_mpi_wrong(rank, function, "after MPI_Finalize");
    }
}

void mpix_ranks_mpi_set_valid(mpix_rank_t *rank, bool is_valid)
{
    if (is_valid) {
        rank->world->c_flags &= ~(uint32_t) OMPI_COMM_INVALID;
        rank->self->c_flags &= ~(uint32_t) OMPI_COMM_INVALID;
    } else {
        OMPI_COMM_SET_INVALID(rank->world);
        OMPI_COMM_SET_INVALID(rank->self);
    }
}

static _Noreturn void environment_stop(void)
{
    for (;;) {
        (void) pause();
    }
}

/** All ranks of the job come here, by MPI_Init or at their ends, as processes meet in MPI_Init.
 * @return how many have called MPI_Init */
static int environment_barrier(mpix_rank_t *rank, int has_begun)
{
    int all = rank->size;

    if (atomic_flag_test_and_set(&rank->mpi->has_met)) {
        environment_stop(); /* another thread of the rank ends it */
    }
    mpix_ranks_mpi_set_valid(rank, true);
    (void) PMPI_Allreduce(&has_begun, &all, 1, MPI_INT, MPI_SUM, rank->world);
    return all;
}

bool mpix_ranks_mpi_leave(mpix_rank_t *rank)
{
    return rank->mpi->is_initialized || 0 == environment_barrier(rank, 0);
}

static int environment_begin(mpix_rank_t *rank, const char *function, int level)
{
    if (rank->mpi->is_initialized) {
        mpix_ranks_mpi_wrong(rank, function,
                             rank->mpi->is_finalized ? "after MPI_Finalize" : "a second time");
    }
    if (rank->size != environment_barrier(rank, 1)) {
        environment_stop(); /* another rank has ended, and ends the job */
    }
    rank->mpi->is_initialized = true;
    rank->mpi->level = level;
    rank->mpi->thread = pthread_self();
    (void) opal_info_set(&ompi_mpi_info_env.info.super, "thread_level", level_names[level]);
    return MPI_SUCCESS;
}

/** MPI_Init's, which the user can set, as libmpi has it. */
static int initial_level(void)
{
    const char *text = getenv("OMPI_MPI_THREAD_LEVEL");
    const int level = NULL != text ? atoi(text) : MPI_THREAD_SINGLE;

    return MPI_THREAD_SINGLE <= level && MPI_THREAD_MULTIPLE >= level ? level : MPI_THREAD_MULTIPLE;
}

void mpix_ranks_mpi_begin_outside(void)
{
    if (1 < mpix_ranks_left_out) {
        mpix_ranks_refuse(
            "%s does not need libmpi, but loads it while it runs, and so cannot have %d "
            "ranks as threads: use eppython in place of Python, link other programs with "
            "libmpi, or run it with processes",
            program_invocation_short_name, mpix_ranks_left_out);
    }
}

RANK_FUNCTION_BEGIN(Init, (int *argc, char ***argv), (argc, argv))
{
    (void) argc, (void) argv;
    return environment_begin(rank, "MPI_Init", initial_level());
}

RANK_FUNCTION_BEGIN(Init_thread, (int *argc, char ***argv, int required, int *provided),
                    (argc, argv, required, provided))
{
    (void) argc, (void) argv;
    if (MPI_THREAD_SINGLE > required || MPI_THREAD_MULTIPLE < required) {
        return OMPI_ERRHANDLER_NOHANDLE_INVOKE(MPI_ERR_ARG, "MPI_Init_thread");
    }
    *provided = required;
    return environment_begin(rank, "MPI_Init_thread", required);
}

RANK_FUNCTION(Initialized, (int *flag), (flag))
{
    *flag = rank->mpi->is_initialized;
    return MPI_SUCCESS;
}

RANK_FUNCTION(Finalized, (int *flag), (flag))
{
    *flag = rank->mpi->is_finalized;
    return MPI_SUCCESS;
}

RANK_FUNCTION(Query_thread, (int *provided), (provided))
{
    mpix_ranks_mpi_must_run(rank, "MPI_Query_thread");
    *provided = rank->mpi->level;
    return MPI_SUCCESS;
}

RANK_FUNCTION(Is_thread_main, (int *flag), (flag))
{
    mpix_ranks_mpi_must_run(rank, "MPI_Is_thread_main");
    *flag = 0 != pthread_equal(rank->mpi->thread, pthread_self());
    return MPI_SUCCESS;
}

/** The barrier is libmpi's fence: no rank leaves before all have come.  A failed process is no error
 * of MPI_Finalize (ULFM), so the barrier's does not go to the program's error handler. */
RANK_FUNCTION_VOID(Finalize)
{
    mpix_ranks_mpi_must_run(rank, "MPI_Finalize");
    mpix_endpoints_call_end_endpoint(rank->mpi->endpoint);
    (void) PMPI_Comm_set_errhandler(rank->world, MPI_ERRORS_RETURN);
    (void) PMPI_Barrier(rank->world);
    rank->mpi->is_finalized = true;
    mpix_ranks_mpi_set_valid(rank, false);
    return MPI_SUCCESS;
}
