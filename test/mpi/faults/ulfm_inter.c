/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Agreements and shrinking on an intercommunicator of endpoints, whose sides share processes: ranks
 * below and above the middle of each process's endpoints.  Each side gets the AND of the other one's
 * flags.  Process 0 dies; the survivors have the same error, acknowledge, and shrink.  With Open MPI 6
 * MPIX_Comm_ishrink, with an agreement begun behind it.
 *
 *   --ep N     endpoints per process, 2 or more
 *
 * Guards: coll_epcoll_participants.c, coll_epcoll_agreement.c, coll_epcoll_agreement_messages.c,
 * pml_epml_shrink.c
 */

#include "ulfm_kit.h"

enum { WORD = 3 };

enum { WHOLE, PENDING, FAILED, SHRINKS, WORKS, LATER, TOPICS };

static const char *const names[TOPICS] = {
    "each side gets the AND of the other one's flags",
    "nonblocking ones, several under way",
    "a process dies: an error at all survivors until all have acknowledged it",
    "survivors get an intercommunicator",
    "it works",
    "nonblocking shrinking, and an agreement behind it",
};

/** Ranks of the kit's communicator are of the side of their endpoint's index. */
static int side_of(int rank)
{
    return rank % kit_endpoints % 2;
}

/** Bits of the other side's members, of processes from first on. */
static int bits_of(const member_t *m, int first)
{
    int bits = 0;

    for (int rank = first * kit_endpoints; rank < m->size; ++rank) {
        if (side_of(rank) != side_of(m->rank)) {
            bits |= 1 << rank % 24;
        }
    }
    return bits;
}

static void whole(const member_t *m, MPI_Comm inter)
{
    MPI_Request requests[3];
    int flags[3], flag = ~(1 << m->rank % 24);

    OK(WHOLE, MPIX_Comm_agree(inter, &flag));
    CHECK(WHOLE, bits_of(m, 0) == ~flag);
    for (int i = 0; i < 3; ++i) {
        flags[i] = 1 == i ? ~0 : ~(1 << m->rank % 24);
        OK(PENDING, MPIX_Comm_iagree(inter, &flags[i], &requests[i]));
    }
    OK(PENDING, MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 3; ++i) {
        CHECK(PENDING, (1 == i ? 0 : bits_of(m, 0)) == ~flags[i]);
    }
}

/** Members of processes from first on: both sides meet. */
static void check_members(const member_t *m, MPI_Comm inter, int first)
{
    int is_inter, rank, local, remote, from = -1, ours = 0, theirs = 0;

    MPI_Comm_test_inter(inter, &is_inter);
    MPI_Comm_rank(inter, &rank);
    MPI_Comm_size(inter, &local);
    MPI_Comm_remote_size(inter, &remote);
    for (int i = first * kit_endpoints; i < m->size; ++i) {
        ours += side_of(i) == side_of(m->rank);
        theirs += side_of(i) != side_of(m->rank);
    }
    CHECK(SHRINKS, is_inter && ours == local && theirs == remote);
    if (ours == theirs && ours == local && theirs == remote) {
        OK(WORKS, MPI_Sendrecv(&m->rank, 1, MPI_INT, rank, WORD, &from, 1, MPI_INT, rank, WORD, inter,
                               MPI_STATUS_IGNORE));
        CHECK(WORKS, side_of(from) != side_of(m->rank)
                         && kit_process_of(from) == kit_process_of(m->rank));
    }
    OK(WORKS, MPI_Barrier(inter));
}

static void death(const member_t *m, MPI_Comm inter)
{
    int class = MPI_SUCCESS, flag;

    for (int round = 0; 0 == round || MPI_SUCCESS != class; ++round) {
        flag = ~(1 << m->rank % 24);
        MPI_Error_class(MPIX_Comm_agree(inter, &flag), &class);
        CHECK(FAILED, (0 == round ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS) == class
                          || MPIX_ERR_PROC_FAILED == class);
        CHECK(FAILED, bits_of(m, 1) == (~flag & bits_of(m, 1)));
        OK(FAILED, MPIX_Comm_failure_ack(inter));
    }
}

static void later(const member_t *m, MPI_Comm inter)
{
#if OMPI_MAJOR_VERSION >= 6
    MPI_Request requests[2];
    MPI_Comm made = MPI_COMM_NULL;
    int flag = ~(1 << m->rank % 24);

    OK(LATER, MPIX_Comm_ishrink(inter, &made, &requests[0]));
    OK(LATER, MPIX_Comm_iagree(inter, &flag, &requests[1]));
    OK(LATER, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK(LATER, bits_of(m, 1) == ~flag && MPI_COMM_NULL != made);
    if (MPI_COMM_NULL != made) {
        check_members(m, made, 1);
        MPI_Comm_free(&made);
    }
#else
    (void) m;
    (void) inter;
#endif
}

/** Process 0 goes on when all others have what they have made with it. */
static void wait_for_survivors(const member_t *m)
{
    int word = 0;

    for (int rank = kit_endpoints + m->index; rank < m->size; rank += kit_endpoints) {
        if (0 == kit_process) {
            OK(WORKS, MPI_Recv(&word, 1, MPI_INT, rank, WORD, m->comm, MPI_STATUS_IGNORE));
        } else if (rank == m->rank) {
            OK(WORKS, MPI_Send(&word, 1, MPI_INT, m->index, WORD, m->comm));
        }
    }
}

static void member_run(member_t *m)
{
    MPI_Comm half, inter, made;
    const int side = side_of(m->rank);

    MPI_Comm_split(m->comm, side, m->rank, &half);
    MPI_Intercomm_create(half, 0, m->comm, 1 - side, 7, &inter);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    whole(m, inter);
    OK(SHRINKS, MPIX_Comm_shrink(inter, &made));
    check_members(m, made, 0);
    MPI_Comm_free(&made);
    wait_for_survivors(m);
    if (0 == kit_process) {
        pthread_barrier_wait(&kit_barrier);
        if (0 == m->index) {
            kit_die();
        }
        (void) pause();
    }
    death(m, inter);
    OK(SHRINKS, MPIX_Comm_shrink(inter, &made));
    MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    check_members(m, made, 1);
    MPI_Comm_free(&made);
    later(m, inter);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    return kit_main(argc, argv, names, TOPICS, NULL);
}
