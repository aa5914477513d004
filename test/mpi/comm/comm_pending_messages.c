/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Pending messages of comm_pending, around a ring: nonblocking, persistent and partitioned ones,
 * and sends whose request is freed at once.
 */

#include "comm_pending.h"

void expect_values(struct ept *t, struct operation *operation, int *to, int rank, int first, int n)
{
    for (int i = 0; i < n; ++i) {
        const int value = value_of(operation, rank, first + i);

        EPT_CHECK(t, value == to[i], "element %d of rank %d: expected %d, got %d", i, rank, value,
                  to[i]);
        to[i] = -1;
    }
}

/** The ranks that this one receives from and sends to: around the ring, or, of an
 * intercommunicator, those of equal rank, where there are. */
static void partners(const struct members *members, int *source, int *destination)
{
    if (0 < members->remote_size) {
        *source = *destination = members->rank < members->remote_size ? members->rank
                                                                      : MPI_PROC_NULL;
    } else {
        *source = (members->rank + members->size - 1) % members->size;
        *destination = (members->rank + 1) % members->size;
    }
}

static void check_received(struct ept *t, struct operation *operation)
{
    int source, destination;

    partners(&operation->members, &source, &destination);
    if (MPI_PROC_NULL != source) {
        expect_values(t, operation, operation->to, source, 0, operation->n);
    }
}

static void start_parts(struct ept *t, struct operation *operation)
{
    EPT_OK(t, MPI_Startall(2, operation->request));
    for (int i = 0; i < PARTS; ++i) {
        EPT_OK(t, MPI_Pready(PARTS - 1 - i, operation->request[1]));
    }
}

void operation_begin_messages(struct ept *t, struct operation *operation, MPI_Comm comm,
                              uint64_t kind)
{
    int source, destination, n = operation->n;

    partners(&operation->members, &source, &destination);
    operation->requests = 2;
    operation->check = check_received;
    switch (kind) {
    case 0:
        EPT_OK(t, MPI_Irecv(operation->to, n, MPI_INT, source, 3, comm, &operation->request[0]));
        EPT_OK(t, MPI_Issend(operation->from, n, MPI_INT, destination, 3, comm,
                             &operation->request[1]));
        return;
    case 1:
        EPT_OK(t, MPI_Irecv(operation->to, n, MPI_INT, source, 4, comm, &operation->request[0]));
        EPT_OK(t, MPI_Isend(operation->from, n, MPI_INT, destination, 4, comm,
                            &operation->request[1]));
        EPT_OK(t, MPI_Request_free(&operation->request[1]));
        operation->requests = 1;
        operation->was_freed = true;
        return;
    case 2:
        operation->is_persistent = true;
        EPT_OK(t,
               MPI_Recv_init(operation->to, n, MPI_INT, source, 5, comm, &operation->request[0]));
        EPT_OK(t, MPI_Send_init(operation->from, n, MPI_INT, destination, 5, comm,
                                &operation->request[1]));
        EPT_OK(t, MPI_Startall(2, operation->request));
        return;
    default:
        operation->is_persistent = operation->is_part = true;
        operation->n = n = n / PARTS * PARTS;
        EPT_OK(t, MPI_Precv_init(operation->to, PARTS, n / PARTS, MPI_INT, source, 6, comm,
                                 MPI_INFO_NULL, &operation->request[0]));
        EPT_OK(t, MPI_Psend_init(operation->from, PARTS, n / PARTS, MPI_INT, destination, 6, comm,
                                 MPI_INFO_NULL, &operation->request[1]));
        start_parts(t, operation);
    }
}

void operation_restart(struct ept *t, struct operation *operation)
{
    if (operation->is_part) {
        start_parts(t, operation);
    } else if (operation->is_persistent) {
        EPT_OK(t, MPI_Startall(operation->requests, operation->request));
    } else {
        operation->requests = 0;
    }
}
