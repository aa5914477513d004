/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * What had arrived complete when its sender's process died is received, through however many pipes
 * its endpoints have sent.  Two processes; the launcher leaves the survivor alone and tells it.
 */

#include <mpi.h>
#include <mpi-ext.h>

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { MANY = 1000, ONE = 500, EARLY = 1, GO = 2, LAST = 3 };

/** Everybody sends something, and when the receiver is not in MPI one of them sends once more: many
 * that do would keep the receiver looking. */
static void die(const MPI_Comm comms[])
{
    char byte = 'x';

    for (int i = 0; i < MANY; ++i) {
        MPI_Send(&byte, 1, MPI_CHAR, 0, EARLY, comms[i]);
    }
    MPI_Recv(&byte, 1, MPI_CHAR, 0, GO, comms[0], MPI_STATUS_IGNORE);
    (void) usleep(200000);
    MPI_Send("l", 1, MPI_CHAR, 0, LAST, comms[ONE]);
    (void) kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
    int provided, rank, rc;
    MPI_Comm comms[MANY];
    char byte = 'x';

    alarm(100);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, 0 == rank ? 1 : MANY, MPI_INFO_NULL, comms);
    if (1 == rank) {
        die(comms);
    }
    MPI_Comm_set_errhandler(comms[0], MPI_ERRORS_RETURN);
    for (int i = 0; i < MANY; ++i) {
        MPI_Recv(&byte, 1, MPI_CHAR, 1 + i, EARLY, comms[0], MPI_STATUS_IGNORE);
    }
    MPI_Send(&byte, 1, MPI_CHAR, 1, GO, comms[0]);
    (void) sleep(2); /* all of that happens, and the launcher tells of it */
    rc = MPI_Recv(&byte, 1, MPI_CHAR, 1 + ONE, LAST, comms[0], MPI_STATUS_IGNORE);
    printf("1..1\n%sok 1 - the last word of the dead is %s\n",
           MPI_SUCCESS == rc && 'l' == byte ? "" : "not ",
           MPI_SUCCESS == rc ? "received" : "refused");
    fflush(stdout);
    _exit(0);
}
