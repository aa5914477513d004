/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Failed endpoints as groups, and their acknowledgement: MPIX_Comm_get_failed, _ack_failed,
 * _failure_ack and _failure_get_acked on communicators, duplicates and intercommunicators of
 * endpoints.  Until a loss is acknowledged receives from anybody fail: blocking ones and probes with
 * MPI_ERR_PROC_FAILED, nonblocking ones with MPI_ERR_PROC_FAILED_PENDING, in every way of waiting,
 * and these stay active and get what comes after the acknowledgement.
 *
 * The last process dies, and, of four and more, later the one before it.
 *
 *   --ep N   endpoints per process
 *
 * Guards: pml_epml_acked.c, pml_epml_connection.c, pml_epml_pending.c, pml_epml_recv.c,
 * pml_epml_wait.c, hook_faults.c
 */

#include "ulfm_kit.h"

enum { NEVER = 9, LATE = 2, EARLY = 3, LIST = 3 };

enum { NOBODY, PENDING, BLOCKING, GROUP, PARTLY, ACKED, APART, INTER, AGAIN, TOPICS };

static const char *const names[TOPICS] = {
    "nobody has failed before the death",
    "a nonblocking receive from anybody stays active, in every way of waiting",
    "a blocking receive and probes from anybody fail",
    "get_failed: the endpoints of the dead process",
    "some acknowledged: still refused",
    "all acknowledged: what others send is received from anybody",
    "a duplicate has its own acknowledgement",
    "an intercommunicator: failed members of both groups",
    "a later death is not acknowledged by an earlier one's",
};

/** The failed, or acknowledged, members of a communicator, by rank. */
static int members_of(const member_t *m, MPI_Comm comm, bool acked, int ranks[], int most)
{
    MPI_Group group = MPI_GROUP_NULL, all;
    int count = -1, numbers[4 * KIT_MOST_EP];

    OK(GROUP, acked ? MPIX_Comm_failure_get_acked(comm, &group)
                    : MPIX_Comm_get_failed(comm, &group));
    MPI_Comm_group(m->comm, &all);
    MPI_Group_size(group, &count);
    count = count < most ? count : most;
    for (int i = 0; i < count; ++i) {
        numbers[i] = i;
    }
    OK(GROUP, MPI_Group_translate_ranks(group, count, numbers, all, ranks));
    MPI_Group_free(&all);
    MPI_Group_free(&group);
    return count;
}

/** Are ranks those of a process, in order? */
static bool are_of(const int ranks[], int process)
{
    for (int i = 0; i < kit_endpoints; ++i) {
        if (kit_endpoints * process + i != ranks[i]) {
            return false;
        }
    }
    return true;
}

/** Each way of waiting for a list whose second request is pending; nothing else comes. */
static void wait_in_vain(MPI_Request requests[LIST])
{
    MPI_Request alone[LIST] = {MPI_REQUEST_NULL, requests[1], MPI_REQUEST_NULL};
    MPI_Status statuses[LIST];
    int flag = 1, index = -1, count = -1, indices[LIST];

    CLASS(PENDING, MPIX_ERR_PROC_FAILED_PENDING, MPI_Wait(&requests[1], statuses));
    CLASS(PENDING, MPIX_ERR_PROC_FAILED_PENDING, MPI_Test(&requests[1], &flag, statuses));
    CLASS(PENDING, MPIX_ERR_PROC_FAILED_PENDING, MPI_Waitany(LIST, requests, &index, statuses));
    CHECK(PENDING, 1 == index);
    CLASS(PENDING, MPIX_ERR_PROC_FAILED_PENDING,
          MPI_Testany(LIST, requests, &index, &flag, statuses));
    CLASS(PENDING, MPI_ERR_IN_STATUS, MPI_Waitall(LIST, requests, statuses));
    CHECK(PENDING, MPI_ERR_PENDING == statuses[0].MPI_ERROR);
    CLASS(PENDING, MPIX_ERR_PROC_FAILED_PENDING, statuses[1].MPI_ERROR);
    CLASS(PENDING, MPI_ERR_IN_STATUS, MPI_Waitall(LIST, alone, statuses));
    CLASS(PENDING, MPIX_ERR_PROC_FAILED_PENDING, statuses[1].MPI_ERROR);
    CHECK(PENDING, MPI_SUCCESS != MPI_Waitsome(LIST, requests, &count, indices, statuses));
    CHECK(PENDING, MPI_SUCCESS != MPI_Testsome(LIST, requests, &count, indices, statuses));
    CHECK(PENDING, requests[1] == alone[1] && MPI_REQUEST_NULL != alone[1]
                       && MPI_REQUEST_NULL != requests[0]);
}

/** Blocking calls from anybody. */
static void block_in_vain(MPI_Comm comm, int topic)
{
    MPI_Message message = MPI_MESSAGE_NULL;
    int got, flag, byte = 0;

    CLASS(topic, MPIX_ERR_PROC_FAILED,
          MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, NEVER, comm, MPI_STATUS_IGNORE));
    CLASS(topic, MPIX_ERR_PROC_FAILED,
          MPI_Probe(MPI_ANY_SOURCE, NEVER, comm, MPI_STATUS_IGNORE));
    CLASS(topic, MPIX_ERR_PROC_FAILED,
          MPI_Iprobe(MPI_ANY_SOURCE, NEVER, comm, &flag, MPI_STATUS_IGNORE));
    CLASS(topic, MPIX_ERR_PROC_FAILED,
          MPI_Mprobe(MPI_ANY_SOURCE, NEVER, comm, &message, MPI_STATUS_IGNORE));
    CLASS(topic, MPIX_ERR_PROC_FAILED,
          MPI_Sendrecv(&byte, 1, MPI_INT, MPI_PROC_NULL, NEVER, &got, 1, MPI_INT, MPI_ANY_SOURCE,
                       NEVER, comm, MPI_STATUS_IGNORE));
}

/** Around the survivors: each receives from anybody, blocking and by the request that pended. */
static void talk(const member_t *m, MPI_Comm others, MPI_Request *pended, const int *got)
{
    int rank, size, from = -1;
    MPI_Request sends[2];
    MPI_Status status;

    MPI_Comm_rank(others, &rank);
    MPI_Comm_size(others, &size);
    MPI_Barrier(others);
    MPI_Isend(&m->rank, 1, MPI_INT, (rank + 1) % size, LATE, m->comm, &sends[0]);
    OK(ACKED, MPI_Wait(pended, &status));
    CHECK(ACKED, (rank + size - 1) % size == *got && *got == status.MPI_SOURCE);
    MPI_Isend(&m->rank, 1, MPI_INT, (rank + 1) % size, EARLY, m->comm, &sends[1]);
    OK(ACKED, MPI_Probe(MPI_ANY_SOURCE, EARLY, m->comm, &status));
    OK(ACKED, MPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, EARLY, m->comm, &status));
    CHECK(ACKED, (rank + size - 1) % size == from && from == status.MPI_SOURCE);
    OK(ACKED, MPI_Waitall(2, sends, MPI_STATUSES_IGNORE));
}

/** Wait until a process is known to be dead: a receive that names it ends. */
static void see_death(const member_t *m, int process)
{
    int got;

    CLASS(GROUP, MPIX_ERR_PROC_FAILED,
          MPI_Recv(&got, 1, MPI_INT, kit_endpoints * process + m->index, NEVER, m->comm,
                   MPI_STATUS_IGNORE));
}

static void first_death(const member_t *m, MPI_Comm dup, MPI_Comm inter, MPI_Comm others)
{
    int got[LIST], acked = -1, ranks[4 * KIT_MOST_EP];
    const int victim = kit_processes - 1;
    MPI_Request requests[LIST] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};

    MPI_Irecv(&got[0], 1, MPI_INT, m->rank, NEVER, m->comm, &requests[0]); /* nothing comes */
    MPI_Irecv(&got[1], 1, MPI_INT, MPI_ANY_SOURCE, LATE, m->comm, &requests[1]);
    MPI_Barrier(m->comm); /* then it dies */
    wait_in_vain(requests);
    CHECK(GROUP, kit_endpoints == members_of(m, m->comm, false, ranks, 4 * KIT_MOST_EP)
                     && are_of(ranks, victim));
    CHECK(GROUP, 0 == members_of(m, m->comm, true, ranks, 4 * KIT_MOST_EP));
    block_in_vain(m->comm, BLOCKING);
    OK(PARTLY, MPIX_Comm_ack_failed(m->comm, 0, &acked));
    CHECK(PARTLY, 0 == acked);
    if (1 < kit_endpoints) {
        OK(PARTLY, MPIX_Comm_ack_failed(m->comm, 1, &acked));
        CHECK(PARTLY, 1 == acked && 1 == members_of(m, m->comm, true, ranks, 4 * KIT_MOST_EP));
        block_in_vain(m->comm, PARTLY);
        CLASS(PARTLY, MPIX_ERR_PROC_FAILED_PENDING, MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    }
    OK(ACKED, MPIX_Comm_ack_failed(m->comm, m->size, &acked));
    CHECK(ACKED, kit_endpoints == acked);
    CHECK(ACKED, kit_endpoints == members_of(m, m->comm, true, ranks, 4 * KIT_MOST_EP)
                     && are_of(ranks, victim));
    talk(m, others, &requests[1], &got[1]);
    block_in_vain(dup, APART);
    CHECK(APART, 0 == members_of(m, dup, true, ranks, 4 * KIT_MOST_EP));
    OK(APART, MPIX_Comm_failure_ack(dup));
    CHECK(APART, kit_endpoints == members_of(m, dup, true, ranks, 4 * KIT_MOST_EP));
    CHECK(INTER, kit_endpoints == members_of(m, inter, false, ranks, 4 * KIT_MOST_EP));
    OK(INTER, MPIX_Comm_ack_failed(inter, kit_endpoints, &acked));
    CHECK(INTER, kit_endpoints == acked);
    MPI_Cancel(&requests[0]);
    OK(PENDING, MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
}

static void second_death(const member_t *m, MPI_Comm others)
{
    const int victim = kit_processes - 2;
    int ranks[4 * KIT_MOST_EP], acked = -1;

    MPI_Barrier(others); /* then it dies */
    if (victim == kit_process) {
        pthread_barrier_wait(&kit_barrier);
        kit_die();
    }
    see_death(m, victim);
    CHECK(AGAIN, 2 * kit_endpoints == members_of(m, m->comm, false, ranks, 4 * KIT_MOST_EP)
                     && are_of(ranks, kit_processes - 1) && are_of(&ranks[kit_endpoints], victim));
    CHECK(AGAIN, kit_endpoints == members_of(m, m->comm, true, ranks, 4 * KIT_MOST_EP));
    block_in_vain(m->comm, AGAIN);
    OK(AGAIN, MPIX_Comm_ack_failed(m->comm, m->size, &acked));
    CHECK(AGAIN, 2 * kit_endpoints == acked);
}

static void member_run(member_t *m)
{
    MPI_Comm dup, half, inter, others;
    int ranks[4 * KIT_MOST_EP];
    const bool dies = kit_processes - 1 == kit_process;

    MPI_Comm_dup(m->comm, &dup);
    MPI_Comm_split(m->comm, m->rank % 2, m->rank, &half);
    MPI_Intercomm_create(half, 0, m->comm, 1 - m->rank % 2, 7, &inter);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Comm_split(m->comm, dies, m->rank, &others);
    CHECK(NOBODY, 0 == members_of(m, m->comm, false, ranks, 4 * KIT_MOST_EP));
    CHECK(NOBODY, 0 == members_of(m, m->comm, true, ranks, 4 * KIT_MOST_EP));
    if (dies) {
        MPI_Barrier(m->comm);
        pthread_barrier_wait(&kit_barrier);
        kit_die();
    }
    first_death(m, dup, inter, others);
    if (3 < kit_processes) {
        second_death(m, others);
    }
    MPI_Comm_free(&others);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    MPI_Comm_free(&dup);
}

int main(int argc, char **argv)
{
    return kit_main(argc, argv, names, TOPICS, NULL);
}
