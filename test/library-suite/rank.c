/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Part of every shared object that driver.c loads, once per endpoint: makes that copy of a test
 * program believe that it is a process.
 *
 * The functions of libmpi and libc defined here are the copy's own (it is linked with
 * -Bsymbolic): what starts and ends MPI, what ends a process, and what keeps state in libc that a
 * process has to itself.
 */

#define _GNU_SOURCE /* RTLD_DEFAULT */

#include "endpoint.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char *argv[]);
int ept_rank_main(MPI_Comm world, MPI_Comm self, int argc, char *argv[]);

MPI_Comm ept_world = MPI_COMM_NULL;
MPI_Comm ept_self = MPI_COMM_NULL;

static bool initialized, finalized;
static pthread_t main_thread;
static jmp_buf out_of_main;
static int exit_status;

/* ---- beginning and end ------------------------------------------------------------------------ */

/* A process that ends without MPI_Finalize takes the job along; so does a rank, or the other ranks
 * would wait for it until the time is over. */
static void end_job(const char *why, int status)
{
    fflush(stdout);
    fprintf(stderr, "a rank %s, status %d\n", why, status);
    _exit(0 != status ? status : 1);
}

int ept_rank_main(MPI_Comm world, MPI_Comm self, int argc, char *argv[])
{
    /* Before MPI_Init: programs initialize variables with these. */
    ept_world = world;
    ept_self = self;
    main_thread = pthread_self();
    if (0 == setjmp(out_of_main)) {
        exit_status = main(argc, argv);
    }
    if (initialized && !finalized) {
        end_job("ended without MPI_Finalize", exit_status);
    }
    return exit_status;
}

void exit(int status)
{
    exit_status = status;
    if (!pthread_equal(main_thread, pthread_self())) {
        end_job("called exit() in another thread", status);
    }
    longjmp(out_of_main, 1);
}

/* ---- MPI -------------------------------------------------------------------------------------- */

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    (void) argc, (void) argv, (void) required;
    if (initialized) {
        return MPI_ERR_OTHER;
    }
    initialized = true;
    *provided = MPI_THREAD_MULTIPLE;
    return MPI_SUCCESS;
}

int MPI_Init(int *argc, char ***argv)
{
    int provided;

    return MPI_Init_thread(argc, argv, MPI_THREAD_SINGLE, &provided);
}

int MPI_Initialized(int *flag)
{
    *flag = initialized;
    return MPI_SUCCESS;
}

int MPI_Is_thread_main(int *flag)
{
    *flag = pthread_equal(main_thread, pthread_self());
    return MPI_SUCCESS;
}

/* Errors of calls without a communicator are raised on the process's own MPI_COMM_WORLD.  Handlers
 * of the program's are not set there: they are this rank's, the errors any rank's. */
int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler)
{
    /* Not by its name in C, which may stand for this rank's (private_copy_worlds). */
    MPI_Comm process_world = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world");

    if (comm == ept_world && MPI_ERRORS_RETURN == handler) {
        (void) PMPI_Comm_set_errhandler(process_world, handler);
    }
    return PMPI_Comm_set_errhandler(comm, handler);
}

/* As MPI demands of the real one: first MPI_COMM_SELF is freed, whose delete callbacks may still
 * use MPI, then all the rest. */
int MPI_Finalize(void)
{
    int rc = PMPI_Comm_free(&ept_self);

    if (MPI_SUCCESS == rc) {
        rc = PMPI_Barrier(ept_world);
    }
    if (MPI_SUCCESS == rc) {
        rc = PMPI_Comm_free(&ept_world);
    }
    finalized = true;
    return rc;
}

int MPI_Finalized(int *flag)
{
    *flag = finalized;
    return MPI_SUCCESS;
}

/* ---- libc ------------------------------------------------------------------------------------- */

static unsigned random_state = 1;

void srand(unsigned seed)
{
    random_state = seed;
}

int rand(void)
{
    return rand_r(&random_state);
}

char *strtok(char *restrict string, const char *restrict separators)
{
    static char *rest;

    return strtok_r(string, separators, &rest);
}
