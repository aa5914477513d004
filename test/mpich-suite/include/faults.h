/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Put in front of MPICH's tests of fault tolerance (its folder ft).  It changes how a rank dies and how
 * a program reports, nothing that the tests do with MPI:
 *
 * - A rank dies by exit(EXIT_FAILURE).  Open MPI's launcher ends a job of which a process exits with a
 *   status other than 0, so it dies by a signal here, with its process.
 * - Survivors return the error that they have expected from main.  Their status is 0 here, for the same
 *   reason; mistakes are printed in any case.
 * - MTest_Finalize reduces the mistakes over MPI_COMM_WORLD, which has lost a member, and rank 0 prints
 *   an uninitialized sum.  Each rank prints its own here.
 */

#ifndef FAULTS_H_INCLUDED
#define FAULTS_H_INCLUDED

#include <mpi.h>
#include <mpi-ext.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "mpitest.h"

/* The tests look for error classes where they know MPICH's version. */
#define MPICH 1
#define MPICH_NUMVERSION 40000000

static inline void faults_exit(int status)
{
    while (0 != status) {
        kill(getpid(), SIGKILL);
    }
    exit(status);
}

static inline void faults_finalize(int errs)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (0 != errs) {
        printf(" Found %d errors\n", errs);
    } else if (0 == rank) {
        printf(" No Errors\n");
    }
    fflush(stdout);
    MPI_Finalize();
}

int faults_main(int argc, char **argv);

int main(int argc, char **argv)
{
    (void) faults_main(argc, argv);
    return 0;
}

#define exit faults_exit
#define MTest_Finalize faults_finalize
#define main faults_main

#endif /* FAULTS_H_INCLUDED */
