/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Part of ranks_basic: MPI_COMM_WORLD and MPI_COMM_SELF in calls of all kinds.
 */

#include "ranks_basic.h"

#include "check.h"

#include <stdlib.h>
#include <string.h>

static void check_messages(void)
{
    const int rank = ranks_rank(), size = ranks_size();
    const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI_Request requests[2];
    MPI_Status status;
    int got = -1, flag = 0;

    MPI_Sendrecv(&rank, 1, MPI_INT, next, 1, &got, 1, MPI_INT, previous, 1, MPI_COMM_WORLD, &status);
    CHECK(previous == got && previous == status.MPI_SOURCE);
    got = -1;
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&rank, 1, MPI_INT, next, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(previous == got && MPI_REQUEST_NULL == requests[0]);
    got = -1;
    MPI_Isend(&rank, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &requests[0]);
    while (!flag) {
        MPI_Iprobe(0, 3, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    }
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &status);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    CHECK(rank == got && 3 == status.MPI_TAG);
    MPI_Send_init(&rank, 1, MPI_INT, next, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(&got, 1, MPI_INT, previous, 4, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 3; ++i) {
        got = -1;
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK(previous == got);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Recv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
    CHECK(MPI_PROC_NULL == status.MPI_SOURCE);
    ranks_case("messages");
}

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *count; ++i) {
        ((int *) inout)[i] += ((int *) in)[i];
    }
}

static void check_collectives(void)
{
    const int rank = ranks_rank(), size = ranks_size();
    int *all = calloc((size_t) size, sizeof(int)), *mine = calloc((size_t) size, sizeof(int));
    int value = 0 == rank ? 77 : 0, sum = -1;
    MPI_Request request;
    MPI_Op op;

    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK(77 == value);
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; ++i) {
        CHECK(i == all[i]);
        mine[i] = 100 * rank + i;
    }
    MPI_Alltoall(mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; ++i) {
        CHECK(100 * i + rank == all[i]);
    }
    MPI_Scan(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(rank * (rank + 1) / 2 == sum);
    value = rank;
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(size - 1 == value);
    MPI_Op_create(add, 1, &op);
    MPI_Reduce(&rank, &sum, 1, MPI_INT, op, 0, MPI_COMM_WORLD);
    CHECK(0 != rank || size * (size - 1) / 2 == sum);
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, op, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(size * (size - 1) / 2 == sum);
    MPI_Op_free(&op);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    CHECK(rank == sum);
    free(all);
    free(mine);
    ranks_case("collectives");
}

static void check_communicators(void)
{
    const int rank = ranks_rank(), size = ranks_size();
    MPI_Comm made, half, between;
    int result, dims[1] = {size}, periods[1] = {1}, from, to, leader;

    MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &result);
    CHECK(MPI_IDENT == result);
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Comm_compare(MPI_COMM_WORLD, made, &result);
    CHECK(MPI_CONGRUENT == result);
    MPI_Comm_free(&made);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &made);
    MPI_Cart_shift(made, 0, 1, &from, &to);
    CHECK((rank + 1) % size == to && (rank + size - 1) % size == from);
    MPI_Comm_free(&made);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_rank(half, &result);
    CHECK((size - 1 - rank) / 2 == result);
    if (1 < size) {
        /* Each half's leader is its last rank, by the key. */
        leader = size - 1 - (rank % 2 == (size - 1) % 2 ? 1 : 0);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, leader, 9, &between);
        MPI_Comm_remote_size(between, &result);
        CHECK((0 == rank % 2 ? size / 2 : (size + 1) / 2) == result);
        MPI_Comm_free(&between);
    }
    MPI_Comm_free(&half);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
    MPI_Comm_size(made, &result);
    CHECK(size == result);
    MPI_Comm_free(&made);
    CHECK(MPI_COMM_NULL == made);
    MPI_Comm_test_inter(MPI_COMM_SELF, &result);
    CHECK(0 == result);
    CHECK(MPI_COMM_WORLD == MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)));
    CHECK(MPI_COMM_SELF == MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_SELF)));
    ranks_case("communicators");
}

static int deleted;

static int on_delete(MPI_Comm comm, int key, void *value, void *extra)
{
    (void) key;
    (void) extra;
    deleted += MPI_COMM_WORLD == comm && value == &deleted;
    return MPI_SUCCESS;
}

static int handled;

static void handle(MPI_Comm *comm, int *code, ...)
{
    int class = 0;

    MPI_Error_class(*code, &class);
    handled += MPI_COMM_WORLD == *comm && MPI_ERR_RANK == class;
}

static void check_local(void)
{
    MPI_Errhandler handler;
    char name[MPI_MAX_OBJECT_NAME];
    int key, flag = 0, length, *most;
    void *value;

    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &flag);
    CHECK(flag && 32767 <= *most);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &deleted);
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag);
    CHECK(flag && &deleted == value);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_free_keyval(&key);
    CHECK(1 == deleted);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    CHECK(MPI_SUCCESS != MPI_Send(NULL, 0, MPI_INT, ranks_size(), 0, MPI_COMM_WORLD));
    CHECK(1 == handled);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    CHECK(0 == strcmp("MPI_COMM_WORLD", name));
    ranks_case("attributes, error handlers, names");
}

static void check_types(void)
{
    const int rank = ranks_rank(), size = ranks_size();
    MPI_Datatype column;
    int matrix[4][4] = {{0}}, got[4] = {0}, position = 0;
    char packed[64];

    for (int i = 0; i < 4; ++i) {
        matrix[i][1] = 10 * rank + i;
    }
    MPI_Type_vector(4, 1, 4, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Sendrecv(&matrix[0][1], 1, column, (rank + 1) % size, 5, got, 4, MPI_INT,
                 (rank + size - 1) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 4; ++i) {
        CHECK(10 * ((rank + size - 1) % size) + i == got[i]);
    }
    MPI_Pack(&matrix[0][1], 1, column, packed, sizeof(packed), &position, MPI_COMM_WORLD);
    CHECK(4 * (int) sizeof(int) == position);
    MPI_Type_free(&column);
    CHECK(MPI_DATATYPE_NULL == column);
    ranks_case("derived types");
}

void check_calls(void)
{
    check_messages();
    check_collectives();
    check_communicators();
    check_local();
    check_types();
}
