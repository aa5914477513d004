/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What had arrived complete when its sender's process died is received, through however many pipes
 * its endpoints have sent.  Two processes; the launcher leaves the survivor alone and tells it.
 *
 * With an argument: likewise receives that still owe their sender an answer, for which there has
 * been neither room nor memory (test/lib/fail_alloc.c).
 *
 * Guards: btl_epshm_node_peer.c, btl_epshm_node_progress.c
 */

#include <mpi.h>
#include <mpi-ext.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "word.h"

enum { MANY = 1000, ONE = 500, OWED = 100, EARLY = 1, GO = 2, LAST = 3 };

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

/** Wait for many answers, of which few have room, outside MPI. */
static void die_unanswered(MPI_Comm comm)
{
    static MPI_Request requests[OWED];
    char byte = 'x';

    MPI_Send(&byte, 1, MPI_CHAR, 0, EARLY, comm);
    MPI_Recv(&byte, 1, MPI_CHAR, 0, GO, comm, MPI_STATUS_IGNORE);
    byte = 'x';
    for (int i = 0; i < OWED; ++i) {
        MPI_Issend(&byte, 1, MPI_CHAR, 0, LAST, comm, &requests[i]);
    }
    word_say("sent");
    word_await("looked");
    (void) kill(getpid(), SIGKILL);
}

static void owe(MPI_Comm comm)
{
    void (*fail_alloc)(long n);
    MPI_Request requests[OWED];
    char bytes[OWED];
    int early = 0, good = 0, rc = MPI_SUCCESS;

    *(void **) &fail_alloc = dlsym(RTLD_DEFAULT, "ept_fail_alloc");
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < OWED; ++i) {
        MPI_Irecv(&bytes[i], 1, MPI_CHAR, 1, LAST, comm, &requests[i]);
    }
    MPI_Recv(&bytes[0], 1, MPI_CHAR, 1, EARLY, comm, MPI_STATUS_IGNORE);
    MPI_Send("g", 1, MPI_CHAR, 1, GO, comm);
    word_await("sent"); /* all is there */
    fail_alloc(-1);
    for (int turn = 0; turn < 10; ++turn) {
        for (int i = 0, flag; i < OWED; ++i) {
            (void) MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE);
            early += 9 == turn && flag;
        }
    }
    word_say("looked");
    for (int i = 0; i < OWED; ++i) {
        rc = MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        good += MPI_SUCCESS == rc && 'x' == bytes[i];
    }
    fail_alloc(0);
    printf("# the last one returned %d\n", rc);
    printf("1..1\n%sok 1 - %d of %d are received, %d before the death\n",
           OWED == good && OWED > early ? "" : "not ", good, OWED, early);
    fflush(stdout);
    _exit(0);
}

int main(int argc, char **argv)
{
    int provided, rank, rc;
    MPI_Comm comms[MANY];
    char byte = 'x';

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (0 == strcmp("owed", argv[argc - 1])) {
        MPIX_Comm_create_endpoints(MPI_COMM_WORLD, 1, MPI_INFO_NULL, comms);
        (0 == rank ? owe : die_unanswered)(comms[0]);
    }
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
