/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPIX_Comm_shrink on communicators of endpoints, whole and revoked, while processes die at random
 * moments: first process 0, then, of four and more, process 1.  The survivors get one communicator,
 * in the order of their ranks, which works.
 *
 *   --ep N     endpoints per process
 *   --seed N   of the moments
 *
 * Guards: pml_epml_shrink.c, hook_faults.c
 */

#include "ulfm_kit.h"

enum { LONGEST_US = 3000, WORD = 2 };

enum { WHOLE, SHRINKS, ORDER, WORKS, TOPICS };

static const char *const names[TOPICS] = {
    "nobody has failed: the same members",
    "survivors get a communicator, whenever others die",
    "in the order of ranks",
    "it works",
};

static void *die_soon(void *argument)
{
    (void) usleep(*(const useconds_t *) argument);
    kit_die();
    return NULL;
}

static void begin_to_die(member_t *m, int victim)
{
    static useconds_t after;
    pthread_t thread;

    if (victim == kit_process) {
        pthread_barrier_wait(&kit_barrier);
        if (0 == m->index) {
            after = (useconds_t) ((unsigned int) rand_r(&m->seed) % LONGEST_US);
            pthread_create(&thread, NULL, die_soon, &after);
        }
    }
}

/** All that are left say their old ranks. */
static void check_members(const member_t *m, MPI_Comm comm, int first)
{
    int rank, size, from = -1, all[4 * KIT_MOST_EP] = {0};

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    CHECK(ORDER, m->size - first == size && m->rank - first == rank);
    OK(WORKS, MPI_Allgather(&m->rank, 1, MPI_INT, all, 1, MPI_INT, comm));
    for (int i = 0; i < size; ++i) {
        CHECK(ORDER, first + i == all[i]);
    }
    OK(WORKS, MPI_Sendrecv(&m->rank, 1, MPI_INT, (rank + 1) % size, WORD, &from, 1, MPI_INT,
                           MPI_ANY_SOURCE, WORD, comm, MPI_STATUS_IGNORE));
    CHECK(WORKS, first + (rank + size - 1) % size == from);
}

/** Shrink until a victim is not in the result any more: it may die late.  @return the result */
static MPI_Comm shrink_while_dying(member_t *m, MPI_Comm comm, int victim)
{
    const int expected = m->size - kit_endpoints * (victim + 1);
    int size;

    begin_to_die(m, victim);
    do {
        MPI_Comm made = MPI_COMM_NULL;

        OK(SHRINKS, MPIX_Comm_shrink(comm, &made));
        if (MPI_COMM_NULL == made) {
            break;
        }
        MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
        MPI_Comm_size(made, &size);
        MPI_Comm_free(&comm);
        comm = made;
    } while (expected != size);
    check_members(m, comm, kit_endpoints * (victim + 1));
    return comm;
}

/** A victim goes on when all that will survive it have what they have made together. */
static void wait_for_survivors(const member_t *m, int victim)
{
    int word = 0;

    for (int rank = kit_endpoints * (victim + 1) + m->index; rank < m->size;
         rank += kit_endpoints) {
        if (victim == kit_process) {
            OK(WORKS, MPI_Recv(&word, 1, MPI_INT, rank, WORD, m->comm, MPI_STATUS_IGNORE));
        } else if (rank == m->rank) {
            OK(WORKS,
               MPI_Send(&word, 1, MPI_INT, kit_endpoints * victim + m->index, WORD, m->comm));
        }
    }
}

static void member_run(member_t *m)
{
    MPI_Comm comm, dup;

    OK(WHOLE, MPIX_Comm_shrink(m->comm, &comm));
    check_members(m, comm, 0);
    wait_for_survivors(m, 0);
    comm = shrink_while_dying(m, comm, 0);
    if (3 < kit_processes) {
        OK(WORKS, MPI_Comm_dup(comm, &dup));
        wait_for_survivors(m, 1);
        if (m->size - 1 == m->rank) {
            OK(SHRINKS, MPIX_Comm_revoke(dup));
        }
        dup = shrink_while_dying(m, dup, 1);
        MPI_Comm_free(&dup);
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    return kit_main(argc, argv, names, TOPICS, NULL);
}
