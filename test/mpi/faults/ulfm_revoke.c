/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPIX_Comm_revoke and MPIX_Comm_is_revoked on communicators of endpoints: one member revokes, and
 * what waits at all members ends with MPI_ERR_REVOKED, as does what is started later; duplicates and
 * others go on.  Of four processes and more two die at the end, and a revocation gets past them.
 *
 *   --ep N   endpoints per process
 *
 * Guards: coll_epcoll_wait.c, pml_epml_cid_tree.c, pml_epml_creation.c, pml_epml_leave.c, pml_epml_left.c, pml_epml_request.c, pml_epml_rndv_cancel.c,
 * hook_faults.c
 */

#include "ulfm_kit.h"

enum { NEVER = 9, WORD = 2, LARGE = 1 << 20, PENDING = 8, KINDS = 3, COMMS = 6 + KINDS };

enum { POSTED, BLOCKED, LATER, OTHERS, COLLECTIVE, APART, CREATION, INTER, FREED, DEATHS, TOPICS };

static const char *const names[TOPICS] = {
    "what has been posted ends at all members",
    "a blocking receive ends",
    "what is started later is refused, and is_revoked says so",
    "a duplicate goes on",
    "collectives in flight end",
    "those that others of the process do not come to",
    "creations in flight end",
    "an intercommunicator: both groups",
    "a member that has freed the communicator is not missed",
    "past members that have died",
};

/** Traffic of all members. */
static void talk(MPI_Comm comm, int topic)
{
    int rank, size, from = -1, sum = 0, flag = 1, one = 1;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    OK(topic, MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, WORD, &from, 1, MPI_INT,
                           MPI_ANY_SOURCE, WORD, comm, MPI_STATUS_IGNORE));
    CHECK(topic, (rank + size - 1) % size == from);
    OK(topic, MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(topic, size == sum);
    OK(topic, MPIX_Comm_is_revoked(comm, &flag));
    CHECK(topic, 0 == flag);
}

static void start_later(const member_t *m, MPI_Comm comm)
{
    MPI_Comm made = MPI_COMM_NULL;
    int flag = 0, word = 0;

    OK(LATER, MPIX_Comm_is_revoked(comm, &flag));
    CHECK(LATER, 0 != flag);
    CLASS(LATER, MPIX_ERR_REVOKED, MPI_Send(&word, 1, MPI_INT, (m->rank + 1) % m->size, WORD, comm));
    CLASS(LATER, MPIX_ERR_REVOKED,
          MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, WORD, comm, MPI_STATUS_IGNORE));
    CLASS(LATER, MPIX_ERR_REVOKED, MPI_Probe(m->rank, WORD, comm, MPI_STATUS_IGNORE));
    CLASS(LATER, MPIX_ERR_REVOKED, MPI_Barrier(comm));
    CLASS(LATER, MPIX_ERR_REVOKED, MPI_Comm_dup(comm, &made));
    OK(LATER, MPIX_Comm_revoke(comm));
}

/** The last member revokes; the others have posted what nobody answers. */
static void posted(const member_t *m, MPI_Comm comm)
{
    const int right = (m->rank + 1) % m->size;
    char *memory = calloc(2, LARGE);
    MPI_Request requests[PENDING];
    MPI_Status statuses[PENDING];
    int count = 0;

    if (m->size - 1 == m->rank) {
        OK(POSTED, MPIX_Comm_revoke(comm));
    } else {
        MPI_Irecv(memory, 8, MPI_CHAR, right, NEVER, comm, &requests[count++]);
        MPI_Irecv(memory, 8, MPI_CHAR, MPI_ANY_SOURCE, NEVER, comm, &requests[count++]);
        MPI_Recv_init(memory, 8, MPI_CHAR, right, NEVER, comm, &requests[count++]);
        MPI_Start(&requests[2]);
        MPI_Precv_init(memory, 2, 4, MPI_CHAR, right, NEVER, comm, MPI_INFO_NULL,
                       &requests[count++]);
        MPI_Start(&requests[3]);
        MPI_Issend(memory, 8, MPI_CHAR, right, WORD, comm, &requests[count++]);
        /* Synchronous, too: another one may be over before the message is dropped. */
        MPI_Issend(memory + LARGE, LARGE, MPI_CHAR, right, WORD, comm, &requests[count++]);
        MPI_Ibarrier(comm, &requests[count++]);
        CLASS(POSTED, MPI_ERR_IN_STATUS, MPI_Waitall(count, requests, statuses));
        for (int i = 0; i < count; ++i) {
            CLASS(POSTED, MPIX_ERR_REVOKED, statuses[i].MPI_ERROR);
        }
    }
    free(memory);
}

/** All but one wait for one that revokes. */
static void blocked(const member_t *m, MPI_Comm comm)
{
    int word;

    if (0 == m->rank) {
        OK(BLOCKED, MPIX_Comm_revoke(comm));
    } else {
        CLASS(BLOCKED, MPIX_ERR_REVOKED,
              MPI_Recv(&word, 1, MPI_INT, 0, NEVER, comm, MPI_STATUS_IGNORE));
    }
}

/** The one that does not come revokes. */
static void collective(const member_t *m, MPI_Comm comm)
{
    static const size_t large = LARGE / sizeof(int);
    int *data = calloc(large, sizeof(*data));

    if (1 == m->rank) {
        OK(COLLECTIVE, MPIX_Comm_revoke(comm));
    } else if (0 == m->rank % 3) {
        CLASS(COLLECTIVE, MPIX_ERR_REVOKED, MPI_Barrier(comm));
    } else {
        CLASS(COLLECTIVE, MPIX_ERR_REVOKED, MPI_Barrier(comm));
        CLASS(COLLECTIVE, MPIX_ERR_REVOKED,
              MPI_Allreduce(MPI_IN_PLACE, data, (int) large, MPI_INT, MPI_SUM, comm));
    }
    free(data);
}

static void inter(const member_t *m, MPI_Comm comm)
{
    int word, remote;

    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_remote_size(comm, &remote);
    if (0 == m->rank) {
        OK(INTER, MPIX_Comm_revoke(comm));
    } else if (0 == m->rank % 2) {
        CLASS(INTER, MPIX_ERR_REVOKED,
              MPI_Recv(&word, 1, MPI_INT, remote - 1, NEVER, comm, MPI_STATUS_IGNORE));
    }
    if (0 != m->rank % 2) {
        CLASS(INTER, MPIX_ERR_REVOKED, MPI_Barrier(comm));
    }
}

/** One has freed the communicator when another one revokes it. */
static void freed(const member_t *m, MPI_Comm *comm)
{
    int word = 0;

    if (1 == m->rank) {
        MPI_Comm_free(comm);
        OK(FREED, MPI_Send(&word, 1, MPI_INT, 0, WORD, m->comm));
    } else if (0 == m->rank) {
        OK(FREED, MPI_Recv(&word, 1, MPI_INT, 1, WORD, m->comm, MPI_STATUS_IGNORE));
        OK(FREED, MPIX_Comm_revoke(*comm));
    } else {
        CLASS(FREED, MPIX_ERR_REVOKED,
              MPI_Recv(&word, 1, MPI_INT, 0, NEVER, *comm, MPI_STATUS_IGNORE));
    }
}

/** Processes 1 and 2 die, between which and the processes next to which it went otherwise. */
static void deaths(const member_t *m, MPI_Comm comm)
{
    int word, class;

    MPI_Barrier(m->comm);
    if (1 == kit_process || 2 == kit_process) {
        pthread_barrier_wait(&kit_barrier);
        kit_die();
    }
    for (int process = 1; process < 3; ++process) {
        CLASS(DEATHS, MPIX_ERR_PROC_FAILED,
              MPI_Recv(&word, 1, MPI_INT, kit_endpoints * process, NEVER, m->comm,
                       MPI_STATUS_IGNORE)); /* comm may be revoked before */
    }
    if (0 == m->rank) {
        OK(DEATHS, MPIX_Comm_revoke(comm));
    } else if (0 != m->rank % 2) { /* it hears of it, though its collectives fail at once */
        do {
            MPI_Error_class(MPI_Barrier(comm), &class);
        } while (MPIX_ERR_PROC_FAILED == class);
        CHECK(DEATHS, MPIX_ERR_REVOKED == class);
    } else {
        CLASS(DEATHS, MPIX_ERR_REVOKED,
              MPI_Recv(&word, 1, MPI_INT, 0, NEVER, comm, MPI_STATUS_IGNORE));
    }
    if (0 == kit_process) {
        pthread_barrier_wait(&kit_barrier); /* rank 0 is not in MPI, and so of no help */
    }
}

/** Only the first endpoint of each process comes, to what is not blocking; the last one revokes. */
static void apart(const member_t *m, MPI_Comm comm)
{
    int *memory = calloc((size_t) m->size, 2 * sizeof(*memory));
    MPI_Request requests[3];
    MPI_Status statuses[3];

    if (m->size - 1 == m->rank) {
        OK(APART, MPIX_Comm_revoke(comm));
    } else if (0 == m->index) {
        MPI_Ibarrier(comm, &requests[0]);
        MPI_Ialltoall(memory, 1, MPI_INT, memory + m->size, 1, MPI_INT, comm, &requests[1]);
        MPI_Iallreduce(memory, memory + m->size, 1, MPI_INT, MPI_SUM, comm, &requests[2]);
        CLASS(APART, MPI_ERR_IN_STATUS, MPI_Waitall(3, requests, statuses));
        for (int i = 0; i < 3; ++i) {
            CLASS(APART, MPIX_ERR_REVOKED, statuses[i].MPI_ERROR);
        }
    }
    free(memory);
}

/** The one that does not come revokes. */
static void creation(const member_t *m, MPI_Comm comm, int kind)
{
    MPI_Comm made[2] = {MPI_COMM_NULL, MPI_COMM_NULL};

    if (1 == m->rank) {
        OK(CREATION, MPIX_Comm_revoke(comm));
    } else if (0 == kind) {
        CLASS(CREATION, MPIX_ERR_REVOKED, MPIX_Comm_create_endpoints(comm, 2, MPI_INFO_NULL, made));
    } else if (1 == kind) {
        CLASS(CREATION, MPIX_ERR_REVOKED, MPI_Comm_dup(comm, made));
    } else {
        CLASS(CREATION, MPIX_ERR_REVOKED, MPI_Comm_split(comm, 0, m->rank, made));
    }
}

static void member_run(member_t *m)
{
    MPI_Comm comms[COMMS], half, bridged;

    for (int i = 0; i < COMMS; ++i) {
        MPI_Comm_dup(m->comm, &comms[i]);
    }
    MPI_Comm_split(m->comm, m->rank % 2, m->rank, &half);
    MPI_Intercomm_create(half, 0, m->comm, 1 - m->rank % 2, 7, &bridged);
    posted(m, comms[0]);
    start_later(m, comms[0]);
    talk(m->comm, OTHERS);
    blocked(m, comms[1]);
    collective(m, comms[2]);
    apart(m, comms[5]);
    for (int kind = 0; kind < KINDS; ++kind) {
        creation(m, comms[6 + kind], kind);
    }
    inter(m, bridged);
    talk(half, OTHERS);
    freed(m, &comms[3]);
    talk(m->comm, OTHERS);
    if (3 < kit_processes) {
        deaths(m, comms[4]);
    }
    MPI_Comm_free(&bridged);
    MPI_Comm_free(&half);
    for (int i = 0; i < COMMS; ++i) {
        if (MPI_COMM_NULL != comms[i]) {
            MPI_Comm_free(&comms[i]);
        }
    }
}

int main(int argc, char **argv)
{
    return kit_main(argc, argv, names, TOPICS, NULL);
}
