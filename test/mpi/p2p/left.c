/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Small messages to an endpoint that has freed the communicator, and will never receive them: the
 * sender sees success, whether they travel within the process, the node or over the network, and
 * whether the endpoint has another communicator or has gone with this one.
 *
 * Guards: pml_epml_comm.c, pml_epml_comms.c, pml_epml_ep.c, pml_epml_ep_destroy.c,
 * pml_epml_recvfrag.c
 */

#include <mpi.h>
#include <mpi-ext.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TAG = 1, FEW = 40, MANY = 1000, SMALL = 8, MEDIUM = 300 };

static int failures;

static void check(int rc, const char *what, bool gone, int i)
{
    int class = MPI_SUCCESS;

    MPI_Error_class(rc, &class);
    if (MPI_SUCCESS != class) {
        ++failures;
        fprintf(stderr, "# left.c: %s to an endpoint %s, message %d: class %d\n", what,
                gone ? "that has gone" : "with another communicator", i, class);
    }
}

static void send_all(MPI_Comm comm, bool gone)
{
    char buffer[2 * MEDIUM] = "";
    MPI_Datatype gaps;
    MPI_Request request;

    MPI_Type_create_resized(MPI_BYTE, 0, 2, &gaps);
    MPI_Type_commit(&gaps);
    for (int i = 0; i < (gone ? MANY : FEW); ++i) {
        const int size = 0 == i % 8 ? MEDIUM : SMALL;

        check(MPI_Send(buffer, size, MPI_BYTE, 1, TAG, comm), "MPI_Send", gone, i);
        check(MPI_Send(buffer, size, gaps, 1, TAG, comm), "MPI_Send of pieces", gone, i);
        check(MPI_Isend(buffer, size, MPI_BYTE, 1, TAG, comm, &request), "MPI_Isend", gone, i);
        check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait", gone, i);
    }
    MPI_Type_free(&gaps);
}

typedef struct member_t {
    MPI_Comm comm;
    bool gone;
    pthread_barrier_t *freed; /**< of both, within a process; NULL: they are two processes */
} member_t;

/** Wait for the other member, without a word on the endpoints. */
static void meet(const member_t *member)
{
    if (NULL != member->freed) {
        pthread_barrier_wait(member->freed);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void *run(void *context)
{
    member_t *member = context;
    MPI_Comm other = MPI_COMM_NULL;
    char byte = 'x';
    int rank;

    MPI_Comm_set_errhandler(member->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(member->comm, &rank);
    if (!member->gone) {
        MPI_Comm_dup(member->comm, &other);
    }
    for (int i = 0; i < FEW; ++i) { /* they have an SPSC ring, or a pipe */
        if (0 == rank) {
            check(MPI_Send(&byte, 1, MPI_BYTE, 1, TAG, member->comm), "MPI_Send", member->gone, i);
        } else {
            check(MPI_Recv(&byte, 1, MPI_BYTE, 0, TAG, member->comm, MPI_STATUS_IGNORE), "MPI_Recv",
                  member->gone, i);
        }
    }
    if (1 == rank) {
        MPI_Comm_free(&member->comm);
        meet(member);
        meet(member);
        if (MPI_COMM_NULL != other) { /* by then it has been notified of all that came before */
            check(MPI_Recv(&byte, 1, MPI_BYTE, 0, TAG, other, MPI_STATUS_IGNORE), "MPI_Recv", false,
                  -1);
        }
    } else {
        meet(member);
        send_all(member->comm, member->gone);
        if (MPI_COMM_NULL != other) {
            check(MPI_Send(&byte, 1, MPI_BYTE, 1, TAG, other), "MPI_Send", false, -1);
        }
        meet(member);
        MPI_Comm_free(&member->comm);
    }
    if (MPI_COMM_NULL != other) {
        MPI_Comm_free(&other);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const bool gone = 1 >= argc || 0 != strcmp(argv[argc - 1], "--other");
    pthread_barrier_t freed;
    MPI_Comm comms[2];
    member_t member[2];
    pthread_t second;
    int provided, rank, size, mine, all = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mine = 1 == size ? 2 : 1;
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, mine, MPI_INFO_NULL, comms);
    pthread_barrier_init(&freed, NULL, 2);
    for (int i = 0; i < mine; ++i) {
        member[i] = (member_t){comms[i], gone, 2 == mine ? &freed : NULL};
    }
    if (2 == mine) {
        pthread_create(&second, NULL, run, &member[1]);
    }
    run(&member[0]);
    if (2 == mine) {
        pthread_join(second, NULL);
    }
    MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("1..1\n%sok 1 - %s\n", 0 == all ? "" : "not ", gone ? "gone" : "other");
    }
    MPI_Finalize();
    return 0;
}
