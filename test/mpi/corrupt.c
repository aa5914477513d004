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
 * A process that goes wrong and writes into the memory that it shares with another one of its node:
 * both get errors and none hangs.  Two processes of two endpoints; rank 2 writes nonsense into its
 * pipe to rank 0, ranks 1 and 3 must not be touched.
 *
 *   --how cell    in place of its next message, once both have sent
 *   --how first   likewise, where rank 0 has sent nothing
 *   --how head    how far rank 0 has read
 */

#include <mpi.h>
#include <mpi-ext.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../opal/mca/btl/epshm/btl_epshm_pipe.h"

enum { TAG = 1, NEVER = 2, LARGE = 1 << 20 };

static const char *how = "";
static MPI_Comm comms[2];
static int failures;
static pthread_barrier_t together;

#define CHECK(condition, ...)                         \
    do {                                              \
        if (!(condition)) {                           \
            ++failures;                               \
            fprintf(stderr, "# corrupt.c:%d: ", __LINE__); \
            fprintf(stderr, __VA_ARGS__);             \
            fprintf(stderr, "\n");                    \
        }                                             \
    } while (0)

#define EXPECT(class, call)                                                               \
    do {                                                                                  \
        int expect_class = MPI_SUCCESS;                                                   \
        MPI_Error_class(call, &expect_class);                                             \
        CHECK((class) == expect_class, "%s: class %d, not %d", #call, expect_class, class); \
    } while (0)

/** The pipe in the segment of this process that the most messages have gone through: that of rank 2
 * to rank 0.  NULL: none. */
static epshm_pipe_t *find_pipe(void)
{
    char line[512];
    epshm_pipe_t *found = NULL;
    FILE *maps = fopen("/proc/self/maps", "r");
    int process;

    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    while (NULL != maps && NULL != fgets(line, sizeof(line), maps)) {
        unsigned long begin, end;
        const char *name = strstr(line, "/epshm.");
        unsigned int user, job, rank;

        if (NULL == name || 2 != sscanf(line, "%lx-%lx", &begin, &end)
            || 3 != sscanf(name, "/epshm.%u.%x.%u", &user, &job, &rank) || process != (int) rank) {
            continue;
        }
        for (unsigned long at = begin; at < begin + (1 << 18); at += EPSHM_PIPE_LINE) {
            epshm_pipe_t *pipe = (epshm_pipe_t *) at;

            if (EPSHM_PIPE_MAGIC == pipe->magic
                && (NULL == found || atomic_load(&pipe->head) > atomic_load(&found->head))) {
                found = pipe;
            }
        }
    }
    if (NULL != maps) {
        fclose(maps);
    }
    return found;
}

/** Nothing is under way: rank 0 has read all. */
static void corrupt(void)
{
    epshm_pipe_t *pipe = find_pipe();
    epshm_pipe_cell_t *cells = (epshm_pipe_cell_t *) (pipe + 1);
    uint64_t head;

    CHECK(NULL != pipe, "no pipe");
    if (NULL == pipe) {
        return;
    }
    head = atomic_load(&pipe->head);
    if (0 == strcmp(how, "head")) {
        atomic_store(&pipe->head, UINT64_C(1) << 60);
        return;
    }
    memset(cells[head & (pipe->cells - 1)].data, 0xff, EPSHM_PIPE_CELL_PAYLOAD);
    atomic_store(&cells[head & (pipe->cells - 1)].seq, head + 1);
}

static void say(MPI_Comm comm, int to)
{
    char byte = 'x';

    EXPECT(MPI_SUCCESS, MPI_Send(&byte, 1, MPI_CHAR, to, TAG, comm));
}

static void hear(MPI_Comm comm, int from)
{
    char byte;

    EXPECT(MPI_SUCCESS, MPI_Recv(&byte, 1, MPI_CHAR, from, TAG, comm, MPI_STATUS_IGNORE));
}

/** Ranks 0 and 2 have lost each other. */
static void expect_lost(MPI_Comm comm, int other, char *buffer)
{
    EXPECT(MPI_ERR_PROC_FAILED,
           MPI_Recv(buffer, 8, MPI_CHAR, other, NEVER, comm, MPI_STATUS_IGNORE));
    EXPECT(MPI_ERR_PROC_FAILED, MPI_Send(buffer, 8, MPI_CHAR, other, NEVER, comm));
    EXPECT(MPI_ERR_PROC_FAILED, MPI_Send(buffer, LARGE, MPI_CHAR, other, NEVER, comm));
    EXPECT(MPI_ERR_PROC_FAILED,
           MPI_Recv(buffer, 8, MPI_CHAR, MPI_ANY_SOURCE, NEVER, comm, MPI_STATUS_IGNORE));
}

static void *endpoint(void *context)
{
    MPI_Comm comm = *(MPI_Comm *) context;
    char *buffer = calloc(1, LARGE);
    int rank;

    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    if (2 == rank) {
        for (int i = 0; i < 40; ++i) {
            say(comm, 0);
        }
        if (0 != strcmp(how, "first")) {
            hear(comm, 0);
        } else {
            (void) usleep(300000); /* they are read */
        }
        corrupt();
    } else if (0 == rank) {
        for (int i = 0; i < 40; ++i) {
            hear(comm, 2);
        }
        if (0 != strcmp(how, "first")) {
            say(comm, 2);
        }
        if (0 == strcmp(how, "head")) {
            (void) usleep(500000); /* or it would say again how far it is */
        }
    }
    if (2 == rank && 0 == strcmp(how, "head")) {
        int rc = MPI_SUCCESS; /* it is seen when the pipe is full as far as it was known to be */

        for (int i = 0; i < 1000 && MPI_SUCCESS == rc; ++i) {
            rc = MPI_Send(buffer, 8, MPI_CHAR, 0, TAG, comm);
        }
        EXPECT(MPI_ERR_PROC_FAILED, rc);
    }
    if (0 == rank % 2) {
        expect_lost(comm, 2 - rank, buffer);
    }
    pthread_barrier_wait(&together);
    for (int i = 0; i < 10 && 1 == rank % 2; ++i) {
        int wrong = 0;

        memset(buffer, rank + i, LARGE);
        EXPECT(MPI_SUCCESS,
               MPI_Sendrecv_replace(buffer, LARGE, MPI_CHAR, 4 - rank, TAG, 4 - rank, TAG, comm,
                                    MPI_STATUS_IGNORE));
        for (int j = 0; j < LARGE; ++j) {
            wrong += 4 - rank + i != buffer[j];
        }
        CHECK(0 == wrong, "%d bytes wrong", wrong);
    }
    free(buffer);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    int provided, rank, all = 0;

    alarm(100);
    for (int i = 1; i < argc - 1; ++i) {
        how = 0 == strcmp(argv[i], "--how") ? argv[i + 1] : how;
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, 2, MPI_INFO_NULL, comms);
    pthread_barrier_init(&together, NULL, 2);
    for (int i = 0; i < 2; ++i) {
        pthread_create(&threads[i], NULL, endpoint, &comms[i]);
    }
    for (int i = 0; i < 2; ++i) {
        pthread_join(threads[i], NULL);
        MPI_Comm_free(&comms[i]);
    }
    MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("1..1\n%sok 1 - %s\n", 0 == all ? "" : "not ", how);
    }
    MPI_Finalize();
    return 0;
}
