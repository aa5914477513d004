/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Layer mpi of libmpix_ranks: state that MPI keeps per process and a rank has to itself.  Its
 * functions stand before MPI's, under their MPI_ and PMPI_ names; in a thread of no rank they hand on.
 */

#ifndef MPIX_RANKS_MPI_H
#define MPIX_RANKS_MPI_H

#include "../base/base.h"

/** Begin MPI with an endpoint for each rank, in the first thread; sets number, size, local, world,
 * self of each.  Ends the job if that fails. */
void mpix_ranks_mpi_begin(int *argc, char ***argv, mpix_rank_t *ranks, int count);

/** A thread of the rank begins: MPI_COMM_SELF's and the attached buffer's functions are about the
 * rank's endpoint in it. */
void mpix_ranks_mpi_enter(mpix_rank_t *rank);

/** Has the rank begun MPI without ending it?  Then it must not leave main. */
bool mpix_ranks_mpi_is_running(const mpix_rank_t *rank);

/** The rank ends.  Without MPI_Init it waits until each other rank of the job has called MPI_Init or
 * has ended as well.
 * @return false: some ranks have called it; their collective calls would never return */
bool mpix_ranks_mpi_leave(mpix_rank_t *rank);

/** All ranks of the process have left: end MPI, in the first thread. */
void mpix_ranks_mpi_end(void);

#endif /* MPIX_RANKS_MPI_H */
