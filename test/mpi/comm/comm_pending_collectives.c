/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Pending collectives of comm_pending, nonblocking and persistent, and MPI_Comm_idup.
 */

#include "comm_pending.h"

void members_of(struct ept *t, MPI_Comm comm, struct members *members)
{
    int inter, topology;

    EPT_OK(t, MPI_Comm_rank(comm, &members->rank));
    EPT_OK(t, MPI_Comm_size(comm, &members->size));
    EPT_OK(t, MPI_Comm_test_inter(comm, &inter));
    members->remote_size = 0;
    if (inter) {
        EPT_OK(t, MPI_Comm_remote_size(comm, &members->remote_size));
    }
    EPT_OK(t, MPI_Topo_test(comm, &topology));
    members->is_ring = MPI_DIST_GRAPH == topology;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static void check_nothing(struct ept *t, struct operation *operation)
{
    (void) t;
    (void) operation;
}

static void check_sum(struct ept *t, struct operation *operation)
{
    const int size = senders(operation);

    for (int i = 0; i < operation->n; ++i) {
        EPT_CHECK(t, sum_of(operation, size, i) == operation->to[i],
                  "element %d: expected %d, got %d", i, sum_of(operation, size, i),
                  operation->to[i]);
        operation->to[i] = -1;
    }
}

/** Prefix sums, own part included. */
static void check_scan(struct ept *t, struct operation *operation)
{
    for (int i = 0; i < operation->n; ++i) {
        EPT_EQ(t, sum_of(operation, operation->members.rank + 1, i), operation->to[i]);
        operation->to[i] = -1;
    }
}

static void check_blocks(struct ept *t, struct operation *operation)
{
    for (int rank = 0; rank < senders(operation); ++rank) {
        expect_values(t, operation, &operation->to[rank * operation->n], rank, 0, operation->n);
    }
}

/** Of each member the block that is for this rank. */
static void check_alltoall(struct ept *t, struct operation *operation)
{
    for (int rank = 0; rank < senders(operation); ++rank) {
        expect_values(t, operation, &operation->to[rank * operation->n], rank,
                      operation->members.rank * operation->n, operation->n);
    }
}

static void check_root(struct ept *t, struct operation *operation)
{
    expect_values(t, operation, operation->to, 0, 0, operation->n);
    if (0 == operation->members.rank) { /* the buffer is also what the next start sends */
        for (int i = 0; i < operation->n; ++i) {
            operation->to[i] = value_of(operation, 0, i);
        }
    }
}

/** Own block of the sum. */
static void check_block_sum(struct ept *t, struct operation *operation)
{
    const int first = operation->members.rank * operation->n;

    for (int i = 0; i < operation->n; ++i) {
        EPT_EQ(t, sum_of(operation, senders(operation), first + i), operation->to[i]);
        operation->to[i] = -1;
    }
}

static void check_neighbors(struct ept *t, struct operation *operation)
{
    const int size = operation->members.size, rank = operation->members.rank, n = operation->n;

    expect_values(t, operation, operation->to, (rank + size - 1) % size, 0, n);
    expect_values(t, operation, &operation->to[n], (rank + 1) % size, 0, n);
}

/** The composition of all members' affine maps, in the order of ranks. */
static void check_composed(struct ept *t, struct operation *operation)
{
    unsigned a = 1, b = 0;

    for (int rank = 0; rank < operation->members.size; ++rank) {
        a *= (unsigned) value_of(operation, rank, 0);
        b = b * (unsigned) value_of(operation, rank, 0) + (unsigned) value_of(operation, rank, 1);
    }
    EPT_EQ(t, (int) a, operation->to[0]);
    EPT_EQ(t, (int) b, operation->to[1]);
}

/** The new communicator works, though the old one is gone. */
static void check_made(struct ept *t, struct operation *operation)
{
    int mine = 1, sum = 0;

    if (MPI_COMM_NULL != operation->made) {
        EPT_OK(t, MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, operation->made));
        EPT_EQ(t, senders(operation), sum);
        EPT_OK(t, MPI_Comm_free(&operation->made));
    }
}

/* ---- what is begun --------------------------------------------------------------------------- */

/** to = from, then to: maps x -> a x + b. */
static void compose(void *from, void *to, int *len, MPI_Datatype *type)
{
    const unsigned *first = from;
    unsigned *second = to;

    (void) type;
    for (int i = 0; i < *len; ++i, first += 2, second += 2) {
        second[1] = first[1] * second[0] + second[1];
        second[0] *= first[0];
    }
}

/** With an operator and a type of the user's, which go before it is complete. */
static void begin_composed(struct ept *t, struct operation *operation, MPI_Comm comm)
{
    MPI_Datatype type;
    MPI_Op op;

    EPT_OK(t, MPI_Type_contiguous(2, MPI_INT, &type));
    EPT_OK(t, MPI_Type_commit(&type));
    EPT_OK(t, MPI_Op_create(compose, 0, &op));
    EPT_OK(t, MPI_Iallreduce(operation->from, operation->to, 1, type, op, comm,
                             &operation->request[0]));
    EPT_OK(t, MPI_Op_free(&op));
    EPT_OK(t, MPI_Type_free(&type));
    operation->check = check_composed;
}

/** Those that any communicator has. */
static void begin_any(struct ept *t, struct operation *operation, MPI_Comm comm, uint64_t kind)
{
    const int n = operation->n;
    int *from = operation->from, *to = operation->to;
    MPI_Request *request = &operation->request[0];

    switch (kind) {
    case 0:
        EPT_OK(t, MPI_Ibarrier(comm, request));
        return;
    case 1:
        EPT_OK(t, MPI_Iallreduce(from, to, n, MPI_INT, MPI_SUM, comm, request));
        operation->check = check_sum;
        return;
    case 2:
        EPT_OK(t, MPI_Iallgather(from, n, MPI_INT, to, n, MPI_INT, comm, request));
        operation->check = check_blocks;
        return;
    case 3:
        EPT_OK(t, MPI_Ialltoall(from, n, MPI_INT, to, n, MPI_INT, comm, request));
        operation->check = check_alltoall;
        return;
    case 4:
        EPT_OK(t, MPI_Comm_idup(comm, &operation->made, request));
        operation->check = check_made;
        return;
    case 5:
        operation->is_persistent = true;
        EPT_OK(t, MPI_Allreduce_init(from, to, n, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, request));
        operation->check = check_sum;
        break;
    default:
        operation->is_persistent = true;
        EPT_OK(t, MPI_Barrier_init(comm, MPI_INFO_NULL, request));
    }
    EPT_OK(t, MPI_Start(request));
}

/** Those of intracommunicators. */
static void begin_intra(struct ept *t, struct operation *operation, MPI_Comm comm, uint64_t kind)
{
    const int n = operation->n;
    int *from = operation->from, *to = operation->to;
    MPI_Request *request = &operation->request[0];

    switch (kind) {
    case 0:
        EPT_OK(t, MPI_Iscan(from, to, n, MPI_INT, MPI_SUM, comm, request));
        operation->check = check_scan;
        return;
    case 1:
        EPT_OK(t, MPI_Ireduce_scatter_block(from, to, n, MPI_INT, MPI_SUM, comm, request));
        operation->check = check_block_sum;
        return;
    case 2:
        begin_composed(t, operation, comm);
        return;
    case 3:
        memcpy(to, from, (size_t) n * sizeof(*to));
        EPT_OK(t, MPI_Ibcast(to, n, MPI_INT, 0, comm, request));
        operation->check = check_root;
        return;
    default:
        memcpy(to, from, (size_t) n * sizeof(*to));
        operation->is_persistent = true;
        EPT_OK(t, MPI_Bcast_init(to, n, MPI_INT, 0, comm, MPI_INFO_NULL, request));
        operation->check = check_root;
        EPT_OK(t, MPI_Start(request));
    }
}

/** On an intercommunicator both sides bring vectors of one length. */
static void begin_inter(struct ept *t, struct operation *operation, MPI_Comm comm)
{
    operation->n = operation->members.remote_size;
    operation->check = check_block_sum;
    EPT_OK(t, MPI_Ireduce_scatter_block(operation->from, operation->to, operation->n, MPI_INT,
                                        MPI_SUM, comm, &operation->request[0]));
}

static void begin_neighbors(struct ept *t, struct operation *operation, MPI_Comm comm, bool start)
{
    const int n = operation->n;

    operation->check = check_neighbors;
    operation->is_persistent = start;
    if (start) {
        EPT_OK(t,
               MPI_Neighbor_allgather_init(operation->from, n, MPI_INT, operation->to, n, MPI_INT,
                                           comm, MPI_INFO_NULL, &operation->request[0]));
        EPT_OK(t, MPI_Start(&operation->request[0]));
    } else {
        EPT_OK(t, MPI_Ineighbor_allgather(operation->from, n, MPI_INT, operation->to, n, MPI_INT,
                                          comm, &operation->request[0]));
    }
}

void operation_begin(struct ept *t, struct operation *operation, MPI_Comm comm,
                     const struct members *members, uint64_t *shared)
{
    const uint64_t kind = ept_random_below(shared, 18), length = ept_random_below(shared, 3);
    const int most = members->size > members->remote_size ? members->size : members->remote_size,
              least = members->size + members->remote_size - most;

    memset(operation, 0, sizeof(*operation));
    operation->members = *members;
    operation->key = (int) ept_random_below(shared, 1000);
    operation->n = 0 == length ? 4 : 1 == length ? 300 : LENGTH;
    operation->requests = 1;
    operation->made = MPI_COMM_NULL;
    operation->check = check_nothing;
    operation->from = malloc((size_t) (most * operation->n) * sizeof(int));
    operation->to = malloc((size_t) (most * operation->n + operation->n) * sizeof(int));
    for (int i = 0; i < most * operation->n; ++i) {
        operation->from[i] = value_of(operation, members->rank, i);
        operation->to[i] = -1;
    }
    if (kind < 4) {
        operation_begin_messages(t, operation, comm, kind);
    } else if (kind > 14 && 0 < members->remote_size && least <= operation->n) {
        begin_inter(t, operation, comm);
    } else if (kind < 11 || 0 < members->remote_size) {
        begin_any(t, operation, comm, (kind - 4) % 7);
    } else if (kind < 16 || !members->is_ring) {
        begin_intra(t, operation, comm, (kind - 11) % 5);
    } else {
        begin_neighbors(t, operation, comm, 16 == kind);
    }
}

void operation_end(struct ept *t, struct operation *operation)
{
    for (int k = 0; operation->is_persistent && k < operation->requests; ++k) {
        EPT_OK(t, MPI_Request_free(&operation->request[k]));
    }
    if (!operation->was_freed) { /* else the send may still need it */
        free(operation->from);
    }
    free(operation->to);
}
