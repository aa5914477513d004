/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the programs have in common that order faults of the fabric (fault.c, cut.c): three
 * processes with an endpoint each, over tcp, with test/lib/fault_fabric.c in front of libfabric.
 * Rank 0 orders the faults, rank 1 is the peer that they are about, rank 2 the one that they must
 * not touch.  What must be printed is in lib/Ept/Table/Failures.pm.
 *
 *   --how NAME   see the program's table
 */

#ifndef FAULT_H
#define FAULT_H

#include <mpi.h>
#include <mpi-ext.h>

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LARGE (1 << 20)
#define PIECE 60000
#define PIECES 200
#define NEVER 99    /**< a tag that nobody sends */
#define PROBES 2000 /**< of one that has no other way to let time pass */

static MPI_Comm comm;
static int rank;
static int failures;
static char *buffer;
static int (*fault)(const char *what, int count, int error, int ms);

#define CHECK(condition, ...)                                                \
    do {                                                                     \
        if (!(condition)) {                                                  \
            ++failures;                                                      \
            fprintf(stderr, "# %s:%d: rank %d: ", __FILE__, __LINE__, rank); \
            fprintf(stderr, __VA_ARGS__);                                    \
            fprintf(stderr, "\n");                                           \
        }                                                                    \
    } while (0)

__attribute__((unused)) static int class_of(int rc)
{
    int class = MPI_SUCCESS;

    MPI_Error_class(rc, &class);
    return class;
}

/** An operation must end, which the job's time-out sees to, with this class. */
#define EXPECT(class, call)                                                                 \
    do {                                                                                    \
        const int expect_class = class_of(call);                                            \
        CHECK((class) == expect_class, "%s: class %d, not %d", #call, expect_class, class); \
    } while (0)

static char pattern(int round, int i)
{
    return (char) (round * 31 + i * 7 + 5);
}

__attribute__((unused)) static void send_checked(int to, int size, int round)
{
    for (int i = 0; i < size; ++i) {
        buffer[i] = pattern(round, i);
    }
    EXPECT(MPI_SUCCESS, MPI_Send(buffer, size, MPI_CHAR, to, 1, comm));
}

__attribute__((unused)) static void recv_checked(int from, int size, int round)
{
    int wrong = 0;

    EXPECT(MPI_SUCCESS, MPI_Recv(buffer, size, MPI_CHAR, from, 1, comm, MPI_STATUS_IGNORE));
    for (int i = 0; i < size; ++i) {
        wrong += pattern(round, i) != buffer[i];
    }
    CHECK(0 == wrong, "round %d from %d: %d of %d bytes wrong", round, from, wrong, size);
}

/** Ranks 0 and other talk with each other, rounds times. */
__attribute__((unused)) static void talk(int other, int rounds)
{
    if (0 != rank && other != rank) {
        return;
    }
    for (int round = 0; round < rounds; ++round) {
        const int size = 7 == round % 16 ? LARGE : 8 + round;

        if (0 == rank) {
            send_checked(other, size, round);
            recv_checked(other, size, round + 1);
        } else {
            recv_checked(0, size, round);
            send_checked(0, size, round + 1);
        }
    }
}

/** Look for a message of that rank's that never comes: what its connection has said is heard. */
__attribute__((unused)) static void look_at(int other)
{
    for (int i = 0; i < PROBES; ++i) {
        int flag;

        EXPECT(MPI_SUCCESS, MPI_Iprobe(other, NEVER, comm, &flag, MPI_STATUS_IGNORE));
        CHECK(!flag, "a message that nobody has sent");
    }
}

/** Rank 1 is lost to rank 0 and the other way round. */
__attribute__((unused)) static void expect_lost(int peer)
{
    EXPECT(MPI_ERR_PROC_FAILED,
           MPI_Recv(buffer, 8, MPI_CHAR, peer, NEVER, comm, MPI_STATUS_IGNORE));
    EXPECT(MPI_ERR_PROC_FAILED, MPI_Send(buffer, 8, MPI_CHAR, peer, NEVER, comm));
    EXPECT(MPI_ERR_PROC_FAILED, MPI_Send(buffer, LARGE, MPI_CHAR, peer, NEVER, comm));
}

/** A fault, and what the ranks do about it. */
struct fault_case {
    const char *name;
    void (*run)(void);
    bool cold;  /**< before there is any connection */
    bool final; /**< rank 0 talks with nobody afterwards */
};

static int fault_main(int argc, char **argv, const struct fault_case *faults, size_t count)
{
    const char *how = "";
    int provided, all = 0, chosen = -1;

    for (int i = 1; i < argc - 1; ++i) {
        how = 0 == strcmp(argv[i], "--how") ? argv[i + 1] : how;
    }
    for (size_t i = 0; i < count; ++i) {
        chosen = 0 == strcmp(faults[i].name, how) ? (int) i : chosen;
    }
    *(void **) &fault = dlsym(RTLD_DEFAULT, "ept_fault");
    if (0 > chosen || NULL == fault) {
        fprintf(stderr, "fault: %s\n", NULL == fault ? "nothing is preloaded" : "no such fault");
        return 2;
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, 1, MPI_INFO_NULL, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    buffer = calloc(1, LARGE);

    if (!faults[chosen].cold) {
        talk(1, 2);
        talk(2, 2);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    faults[chosen].run();
    MPI_Barrier(MPI_COMM_WORLD);
    if (!faults[chosen].final) {
        talk(2, 40);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
    MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("1..1\n%sok 1 - %s\n", 0 == all ? "" : "not ", how);
    }
    free(buffer);
    MPI_Finalize();
    return 0;
}

#endif /* FAULT_H */
