/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the files of layer mpi share: a rank's state, and how a function of MPI's that is ours is
 * defined.
 */

#ifndef MPIX_RANKS_STATE_H
#define MPIX_RANKS_STATE_H

#include "mpi.h"

#include "ompi/mpiext/endpoints/c/calls/calls.h"
#include "ompi/mpiext/endpoints/c/mpiext_endpoints_c.h"

/** Written by the rank's threads alone, which MPI allows to call Init and Finalize one after the
 * other. */
struct mpix_rank_mpi_t {
    MPIX_Endpoint endpoint;
    bool is_initialized;
    bool is_finalized;
    atomic_flag has_met; /**< the rank has called Init, or has ended without */
    int level;        /**< MPI_THREAD_..., that Init has given */
    pthread_t thread; /**< that has called Init */
};

/**
 * RANK_FUNCTION(name, parameters, arguments) { … } defines PMPI_name for threads of a rank, as a
 * function with one parameter more, the rank; in others the next PMPI_name is called.  MPI_name is a
 * tool's, where one was loaded behind libmpix_endpoints, or the same.
 */
#define RANK_FUNCTION(name, parameters, arguments)                                              \
    static int rank_##name(mpix_rank_t *rank, MPIX_RANKS_UNPACK parameters);                    \
    RANK_FUNCTION_(name, parameters, arguments, rank_##name(self, MPIX_RANKS_UNPACK arguments), \
                   MPIX_RANKS_NEXT(PMPI_##name) arguments)                                      \
    static int rank_##name(mpix_rank_t *rank, MPIX_RANKS_UNPACK parameters)

/** Of a function that begins MPI: in a process without ranks it may be refused. */
#define RANK_FUNCTION_BEGIN(name, parameters, arguments)                                        \
    static int rank_##name(mpix_rank_t *rank, MPIX_RANKS_UNPACK parameters);                    \
    RANK_FUNCTION_(name, parameters, arguments, rank_##name(self, MPIX_RANKS_UNPACK arguments), \
                   (mpix_ranks_mpi_begin_outside(), MPIX_RANKS_NEXT(PMPI_##name) arguments))    \
    static int rank_##name(mpix_rank_t *rank, MPIX_RANKS_UNPACK parameters)

/** Of a function without parameters. */
#define RANK_FUNCTION_VOID(name)                                                        \
    static int rank_##name(mpix_rank_t *rank);                                          \
    RANK_FUNCTION_(name, (void), (), rank_##name(self), MPIX_RANKS_NEXT(PMPI_##name)()) \
    static int rank_##name(mpix_rank_t *rank)

#define MPIX_RANKS_UNPACK(...) __VA_ARGS__

#define RANK_FUNCTION_(name, parameters, arguments, own, others)                                   \
    MPIX_RANKS_EXPORT int PMPI_##name parameters                                                   \
    {                                                                                              \
        mpix_rank_t *const self = mpix_ranks_self;                                                 \
                                                                                                   \
        return NULL == self ? others : own;                                                        \
    }                                                                                              \
    MPIX_RANKS_EXPORT __attribute__((weak)) int MPI_##name parameters                              \
    {                                                                                              \
        static _Atomic(void *) tool_;                                                              \
        void *const tool = mpix_endpoints_call_tool("MPI_" #name, &tool_);                         \
                                                                                                   \
        return NULL == tool ? PMPI_##name arguments : ((__typeof__(&PMPI_##name)) tool) arguments; \
    }

/** MPI_COMM_WORLD and MPI_COMM_SELF of the rank are valid handles from now on, or are not: then a
 * call with one of them ends in libmpi's check of its arguments, which leads to
 * mpix_ranks_mpi_must_run.  In a thread of the rank, or before there are ranks. */
void mpix_ranks_mpi_set_valid(mpix_rank_t *rank, bool is_valid);

/** MPI begins in a process of a program that was not found to need it: end it if it was to have
 * several ranks. */
void mpix_ranks_mpi_begin_outside(void);

/** End the job if the rank has not called MPI_Init, or has called MPI_Finalize. */
void mpix_ranks_mpi_must_run(mpix_rank_t *rank, const char *function);

/** The rank has called a function of MPI's that it must not call now: end the job, as libmpi
 * does. */
_Noreturn void mpix_ranks_mpi_wrong(mpix_rank_t *rank, const char *function, const char *when);

/** MPI_COMM_WORLD's attributes and MPI_INFO_ENV count ranks.  @return an MPI error code */
int mpix_ranks_mpi_predefined_begin(mpix_rank_t *ranks, int count);

#endif /* MPIX_RANKS_STATE_H */
