/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The life of partitioned requests: one rank long before the other, rounds without bytes, nobody as
 * partner, giving requests and communicators up early.
 *
 * Guards: pml_epml_ipart.c, pml_epml_part.c, pml_epml_part_recv.c, pml_epml_part_send.c,
 * pml_epml_part_run.c
 */

#include "part.h"

/** A send whose partitions are all marked leaves the receive's buffer alone until that is
 * started. */
static void case_waits(MPI_Comm comm, struct ept *t)
{
    MPI_Request send, receive;
    int out[PARTS] = {0}, in[PARTS], flag = 1;

    EPT_OK(t, MPI_Psend_init(out, PARTS, 1, MPI_INT, above(t), TAG, comm, MPI_INFO_NULL, &send));
    EPT_OK(t, MPI_Precv_init(in, PARTS, 1, MPI_INT, below(t), TAG, comm, MPI_INFO_NULL, &receive));
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < PARTS; ++i) {
            out[i] = value(t->rank, 0, round, i);
            in[i] = -1;
        }
        EPT_OK(t, MPI_Start(&send));
        EPT_OK(t, MPI_Pready_range(0, PARTS - 1, send));
        EPT_OK(t, MPI_Barrier(comm));
        for (int i = 0; i < 100; ++i) {
            EPT_OK(t, MPI_Test(&send, &flag, MPI_STATUS_IGNORE));
            EPT_EQ(t, 0, flag);
            EPT_EQ(t, -1, in[i % PARTS]); /* the buffer is not the receive's yet */
        }
        EPT_OK(t, MPI_Barrier(comm));
        EPT_OK(t, MPI_Start(&receive));
        EPT_OK(t, MPI_Wait(&receive, MPI_STATUS_IGNORE));
        EPT_OK(t, MPI_Wait(&send, MPI_STATUS_IGNORE));
        for (int i = 0; i < PARTS; ++i) {
            EPT_EQ(t, value(below(t), 0, round, i), in[i]);
        }
    }
    EPT_OK(t, MPI_Request_free(&send));
    EPT_OK(t, MPI_Request_free(&receive));
}

/** A receive that is started before its send's init, and is long under way when that comes. */
static void case_early_receive(MPI_Comm comm, struct ept *t)
{
    MPI_Request send, receive;
    int out[PARTS] = {0}, in[PARTS], flag = 1;

    EPT_OK(t,
           MPI_Precv_init(in, 2, PARTS / 2, MPI_INT, below(t), TAG, comm, MPI_INFO_NULL, &receive));
    EPT_OK(t, MPI_Start(&receive));
    EPT_OK(t, MPI_Barrier(comm));
    for (int i = 0; i < 50; ++i) {
        EPT_OK(t, MPI_Parrived(receive, i % 2, &flag));
        EPT_EQ(t, 0, flag);
        EPT_OK(t, MPI_Test(&receive, &flag, MPI_STATUS_IGNORE));
        EPT_EQ(t, 0, flag);
    }
    EPT_OK(t, MPI_Barrier(comm));
    EPT_OK(t, MPI_Psend_init(out, PARTS, 1, MPI_INT, above(t), TAG, comm, MPI_INFO_NULL, &send));
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < PARTS; ++i) {
            out[i] = value(t->rank, 0, round, i);
        }
        EPT_OK(t, MPI_Start(&send));
        if (0 < round) {
            EPT_OK(t, MPI_Start(&receive));
        }
        EPT_OK(t, MPI_Pready_range(0, PARTS - 1, send));
        EPT_OK(t, MPI_Wait(&send, MPI_STATUS_IGNORE));
        EPT_OK(t, MPI_Wait(&receive, MPI_STATUS_IGNORE));
        for (int i = 0; i < PARTS; ++i) {
            EPT_EQ(t, value(below(t), 0, round, i), in[i]);
        }
    }
    EPT_OK(t, MPI_Request_free(&send));
    EPT_OK(t, MPI_Request_free(&receive));
}

/** Without bytes, too, a receive is not complete before all partitions are marked. */
static void case_nothing(MPI_Comm comm, struct ept *t)
{
    MPI_Request send, receive;
    MPI_Status status;
    int flag = 1;

    for (int parts = 0; parts < 3; ++parts) {
        EPT_OK(t,
               MPI_Psend_init(NULL, parts, 0, MPI_INT, above(t), TAG, comm, MPI_INFO_NULL, &send));
        EPT_OK(t,
               MPI_Precv_init(NULL, 2, 0, MPI_INT, below(t), TAG, comm, MPI_INFO_NULL, &receive));
        for (int round = 0; round < 3; ++round) {
            ept_phase(t, "%d partitions, round %d", parts, round);
            EPT_OK(t, MPI_Start(&receive));
            EPT_OK(t, MPI_Barrier(comm));
            for (int i = 0; i < 50; ++i) {
                EPT_OK(t, MPI_Test(&receive, &flag, MPI_STATUS_IGNORE));
                EPT_EQ(t, 0, flag);
                EPT_OK(t, MPI_Parrived(receive, i % 2, &flag));
                EPT_EQ(t, 0, flag);
            }
            EPT_OK(t, MPI_Barrier(comm));
            EPT_OK(t, MPI_Start(&send));
            for (int p = 0; p < parts; ++p) {
                EPT_OK(t, MPI_Pready(p, send));
            }
            EPT_OK(t, MPI_Wait(&receive, &status));
            EPT_STATUS(t, &status, below(t), TAG, 0);
            EPT_OK(t, MPI_Wait(&send, MPI_STATUS_IGNORE));
        }
        EPT_OK(t, MPI_Request_free(&send));
        EPT_OK(t, MPI_Request_free(&receive));
    }
}

static void case_proc_null(MPI_Comm comm, struct ept *t)
{
    MPI_Request send, receive;
    MPI_Status status;
    int data[PARTS] = {1, 2, 3, 4}, flag = 1;

    EPT_OK(t,
           MPI_Psend_init(data, PARTS, 1, MPI_INT, MPI_PROC_NULL, TAG, comm, MPI_INFO_NULL, &send));
    EPT_OK(t, MPI_Precv_init(data, PARTS, 1, MPI_INT, MPI_PROC_NULL, TAG, comm, MPI_INFO_NULL,
                             &receive));
    for (int round = 0; round < 3; ++round) {
        EPT_OK(t, MPI_Start(&send));
        EPT_OK(t, MPI_Start(&receive));
        EPT_OK(t, MPI_Parrived(receive, 2, &flag));
        EPT_EQ(t, 1, flag);
        EPT_OK(t, MPI_Wait(&receive, &status));
        EPT_STATUS(t, &status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
        EPT_OK(t, MPI_Pready_range(0, PARTS - 2, send));
        EPT_OK(t, MPI_Test(&send, &flag, MPI_STATUS_IGNORE));
#if !defined(OMPI_MAJOR_VERSION) || 6 > OMPI_MAJOR_VERSION
        /* Open MPI 6 serves MPI_PROC_NULL above all PMLs, and such a send is complete at once. */
        EPT_EQ(t, 0, flag);
#endif
        EPT_OK(t, MPI_Pready(PARTS - 1, send));
        EPT_OK(t, MPI_Wait(&send, MPI_STATUS_IGNORE));
    }
    EPT_EQ(t, 3, data[2]);
    EPT_OK(t, MPI_Request_free(&send));
    EPT_OK(t, MPI_Request_free(&receive));
}

/** A round of a new pair of requests, with nothing but its own data. */
static void use_pair(MPI_Comm comm, struct ept *t, int number)
{
    MPI_Request requests[2];
    int out[PARTS], in[PARTS];

    for (int i = 0; i < PARTS; ++i) {
        out[i] = value(t->rank, number, 0, i);
        in[i] = -1;
    }
    EPT_OK(t, MPI_Psend_init(out, PARTS, 1, MPI_INT, above(t), TAG, comm, MPI_INFO_NULL,
                             &requests[0]));
    EPT_OK(t, MPI_Precv_init(in, 2, PARTS / 2, MPI_INT, below(t), TAG, comm, MPI_INFO_NULL,
                             &requests[1]));
    EPT_OK(t, MPI_Startall(2, requests));
    EPT_OK(t, MPI_Pready_range(0, PARTS - 1, requests[0]));
    EPT_OK(t, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < PARTS; ++i) {
        EPT_EQ(t, value(below(t), number, 0, i), in[i]);
    }
    EPT_OK(t, MPI_Request_free(&requests[0]));
    EPT_OK(t, MPI_Request_free(&requests[1]));
}

/** Requests that nobody started take their partners along, whichever rank comes first. */
static void case_free(MPI_Comm comm, struct ept *t)
{
    int in[PARTS] = {0}, out[PARTS] = {0};

    for (int k = 0; k < 20; ++k) {
        MPI_Request send, receive;

        ept_phase(t, "turn %d", k);
        if (0 != k % 2) {
            EPT_OK(t, MPI_Precv_init(in, 1, PARTS, MPI_INT, below(t), TAG, comm, MPI_INFO_NULL,
                                     &receive));
            EPT_OK(t, MPI_Request_free(&receive));
            EPT_OK(t, MPI_Barrier(comm));
        }
        EPT_OK(t,
               MPI_Psend_init(out, PARTS, 1, MPI_INT, above(t), TAG, comm, MPI_INFO_NULL, &send));
        EPT_OK(t, MPI_Request_free(&send));
        if (0 == k % 2) {
            EPT_OK(t, MPI_Barrier(comm));
            EPT_OK(t, MPI_Precv_init(in, 1, PARTS, MPI_INT, below(t), TAG, comm, MPI_INFO_NULL,
                                     &receive));
            EPT_OK(t, MPI_Request_free(&receive));
        }
        use_pair(comm, t, k);
    }
}

/** Active requests are freed: they end by themselves.  The communicator goes before them; inits
 * without partner go with it. */
static void case_free_active(MPI_Comm comm, struct ept *t)
{
    enum { LENGTH = 20000 };

    for (int k = 0; k < 6; ++k) {
        int *out = malloc(PARTS * LENGTH * sizeof(int)), *in = malloc(PARTS * LENGTH * sizeof(int));
        int wrong = 0, sent = 1, got = 0;
        MPI_Comm dup;
        MPI_Request send, receive, lonely[2];

        ept_phase(t, "turn %d", k);
        EPT_OK(t, MPI_Comm_dup(comm, &dup));
        EPT_OK(t, MPI_Psend_init(out, 1, 5, MPI_INT, above(t), TAG + 1, dup, MPI_INFO_NULL,
                                 &lonely[0]));
        EPT_OK(t, MPI_Precv_init(in, 1, 5, MPI_INT, below(t), TAG + 2, dup, MPI_INFO_NULL,
                                 &lonely[1]));
        EPT_OK(t, MPI_Request_free(&lonely[0]));
        EPT_OK(t, MPI_Request_free(&lonely[1]));
        for (int i = 0; i < PARTS * LENGTH; ++i) {
            out[i] = value(t->rank, k, 0, i);
        }
        in[PARTS * LENGTH - 1] = -1;
        EPT_OK(t, MPI_Psend_init(out, PARTS, LENGTH, MPI_INT, above(t), TAG, dup, MPI_INFO_NULL,
                                 &send));
        EPT_OK(t, MPI_Precv_init(in, 1, PARTS * LENGTH, MPI_INT, below(t), TAG, dup, MPI_INFO_NULL,
                                 &receive));
        EPT_OK(t, MPI_Start(&send));
        EPT_OK(t, MPI_Comm_free(&dup));
        EPT_OK(t, MPI_Pready_range(0, PARTS - 1, send));
        if (0 != k % 2) {
            EPT_OK(t, MPI_Request_free(&send)); /* active */
        }
        EPT_OK(t, MPI_Start(&receive));
        EPT_OK(t, MPI_Wait(&receive, MPI_STATUS_IGNORE));
        for (int i = 0; i < PARTS * LENGTH; ++i) {
            wrong += value(below(t), k, 0, i) != in[i];
        }
        EPT_EQ(t, 0, wrong);
        EPT_OK(t, MPI_Request_free(&receive)); /* inactive */
        if (0 == k % 2) {
            EPT_OK(t, MPI_Wait(&send, MPI_STATUS_IGNORE));
            EPT_OK(t, MPI_Request_free(&send));
        }
        /* The neighbour has all of ours when it says so. */
        EPT_OK(t, MPI_Sendrecv(&sent, 1, MPI_INT, below(t), TAG, &got, 1, MPI_INT, above(t), TAG,
                               comm, MPI_STATUS_IGNORE));
        EPT_EQ(t, 1, got);
        free(out);
        free(in);
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_waits);
    EPT_CASE(t, case_early_receive);
    EPT_CASE(t, case_nothing);
    EPT_CASE(t, case_proc_null);
    EPT_CASE(t, case_free);
    EPT_CASE(t, case_free_active);
    return 0;
}
