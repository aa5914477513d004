/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * State that MPI keeps per process and a rank has to itself.
 *
 * Tests: ranks_basic
 */

#define _GNU_SOURCE

#include "mpi.h"

#include <stdlib.h>

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_c.h"

struct mpix_rank_mpi_t {
    bool is_initialized;
    bool is_finalized;
    int level;
};

void mpix_ranks_mpi_begin(int *argc, char ***argv, mpix_rank_t *ranks, int count)
{
    MPIX_Endpoint *endpoints = calloc((size_t) count, sizeof(*endpoints));

    if (NULL == endpoints
        || MPI_SUCCESS
               != PMPIX_Init_endpoint(argc, argv, count, MPI_THREAD_MULTIPLE, endpoints)) {
        mpix_ranks_refuse("no endpoints");
    }
    for (int i = 0; i < count; ++i) {
        ranks[i].mpi = calloc(1, sizeof(*ranks[i].mpi));
        (void) PMPIX_Thread_attach_index(i);
        ranks[i].world = MPIX_COMM_ENDPOINTS;
        ranks[i].self = MPIX_COMM_SELF;
        (void) PMPI_Comm_rank(ranks[i].world, &ranks[i].number);
        (void) PMPI_Comm_size(ranks[i].world, &ranks[i].size);
        (void) PMPI_Comm_set_name(ranks[i].world, "MPI_COMM_WORLD");
        (void) PMPI_Comm_set_name(ranks[i].self, "MPI_COMM_SELF");
    }
    free(endpoints);
}

void mpix_ranks_mpi_enter(mpix_rank_t *rank)
{
    (void) PMPIX_Thread_attach_index(rank->index);
}

bool mpix_ranks_mpi_is_running(const mpix_rank_t *rank)
{
    return rank->mpi->is_initialized && !rank->mpi->is_finalized;
}

void mpix_ranks_mpi_end(void)
{
    (void) PMPI_Finalize();
}

static void begin(int want, int *have)
{
    mpix_ranks_self->mpi->is_initialized = true;
    mpix_ranks_self->mpi->level = *have = want;
}

static void finalize(void)
{
    (void) PMPI_Barrier(mpix_ranks_self->world);
    mpix_ranks_self->mpi->is_finalized = true;
}

/* Both names: libraries for Fortran call PMPI_. */
#define BOTH(name, parameters, arguments, own)                \
    MPIX_RANKS_EXPORT int MPI_##name parameters               \
    {                                                         \
        if (NULL == mpix_ranks_self) {                        \
            return MPIX_RANKS_NEXT(MPI_##name) arguments;     \
        }                                                     \
        own;                                                  \
        return MPI_SUCCESS;                                   \
    }                                                         \
    MPIX_RANKS_EXPORT int PMPI_##name parameters              \
    {                                                         \
        if (NULL == mpix_ranks_self) {                        \
            return MPIX_RANKS_NEXT(PMPI_##name) arguments;    \
        }                                                     \
        own;                                                  \
        return MPI_SUCCESS;                                   \
    }

BOTH(Init, (int *argc, char ***argv), (argc, argv), int have; begin(MPI_THREAD_SINGLE, &have))
BOTH(Init_thread, (int *argc, char ***argv, int want, int *have), (argc, argv, want, have),
     begin(want, have))
BOTH(Initialized, (int *flag), (flag), *flag = mpix_ranks_self->mpi->is_initialized)
BOTH(Finalized, (int *flag), (flag), *flag = mpix_ranks_self->mpi->is_finalized)
BOTH(Finalize, (void), (), finalize())

/** Fortran: all of mpif.h, mpi and mpi_f08 turn handles into C's by this. */
MPIX_RANKS_EXPORT MPI_Comm PMPI_Comm_f2c(MPI_Fint comm)
{
    if (NULL != mpix_ranks_self && 0 == comm) {
        return mpix_ranks_self->world;
    }
    if (NULL != mpix_ranks_self && 1 == comm) {
        return mpix_ranks_self->self;
    }
    return MPIX_RANKS_NEXT(PMPI_Comm_f2c)(comm);
}

MPIX_RANKS_EXPORT MPI_Comm MPI_Comm_f2c(MPI_Fint comm)
{
    return PMPI_Comm_f2c(comm);
}
