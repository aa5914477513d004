/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Performance variables of the base PML's that are bound to communicators (MPI_T), read of endpoint
 * communicators: ob1's lengths of queues.
 *
 * Guards: pml_epml_base_variables.c
 */

#include "ept.h"

void test_process_begin(void)
{
    int level;

    (void) MPI_T_init_thread(MPI_THREAD_MULTIPLE, &level);
}

/* One value for each rank: expected at rank, 0 elsewhere. */
static void check_lengths(struct ept *t, MPI_T_pvar_session session, MPI_Comm comm,
                          const char *name, int rank, unsigned expected)
{
    unsigned *lengths = malloc((size_t) t->size * sizeof(*lengths));
    MPI_T_pvar_handle handle;
    int index = -1, count = 0;

    memset(lengths, 0xff, (size_t) t->size * sizeof(*lengths));
    EPT_EQ(t, MPI_SUCCESS, MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_SIZE, &index));
    EPT_EQ(t, MPI_SUCCESS, MPI_T_pvar_handle_alloc(session, index, &comm, &handle, &count));
    if (EPT_EQ(t, t->size, count)) {
        EPT_EQ(t, MPI_SUCCESS, MPI_T_pvar_read(session, handle, lengths));
        for (int i = 0; i < count; ++i) {
            EPT_EQ(t, i == rank ? expected : 0, lengths[i]);
        }
    }
    EPT_EQ(t, MPI_SUCCESS, MPI_T_pvar_handle_free(session, &handle));
    free(lengths);
}

/* ob1's lengths of queues, of a communicator that is not ob1's. */
static void case_base_lengths(MPI_Comm comm, struct ept *t)
{
    const int to = (t->rank + 1) % t->size, from = (t->rank + t->size - 1) % t->size;
    MPI_Request requests[4];
    MPI_T_pvar_session session;
    MPI_Comm dup;
    int in[4];

    EPT_OK(t, MPI_Comm_dup(comm, &dup));
    EPT_EQ(t, MPI_SUCCESS, MPI_T_pvar_session_create(&session));
    for (int i = 0; i < 3; ++i) {
        EPT_OK(t, MPI_Send(&i, 1, MPI_INT, to, i, dup));
    }
    EPT_OK(t, MPI_Probe(from, 2, dup, MPI_STATUS_IGNORE)); /* so all three are there */
    EPT_OK(t, MPI_Irecv(&in[3], 1, MPI_INT, to, 4, dup, &requests[3]));
    check_lengths(t, session, dup, "pml_ob1_unexpected_msgq_length", from, 3);
    check_lengths(t, session, dup, "pml_ob1_posted_recvq_length", to, 1);
    EPT_OK(t, MPI_Barrier(comm)); /* all have looked */
    for (int i = 0; i < 3; ++i) {
        EPT_OK(t, MPI_Irecv(&in[i], 1, MPI_INT, from, i, dup, &requests[i]));
    }
    EPT_OK(t, MPI_Send(&in[0], 1, MPI_INT, from, 4, dup));
    EPT_OK(t, MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    check_lengths(t, session, dup, "pml_ob1_unexpected_msgq_length", from, 0);
    EPT_EQ(t, MPI_SUCCESS, MPI_T_pvar_session_free(&session));
    EPT_OK(t, MPI_Comm_free(&dup));
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_base_lengths);
    return 0;
}
