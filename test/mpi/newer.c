/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * What MPI 4 and 5 add, on endpoints, where Open MPI has it (6): counts of type MPI_Count, a buffer
 * for each communicator, looking at several requests without ending them.
 */

#include "ept.h"

#if 4 <= MPI_VERSION

enum { NUM = 1000, TAG = 5 };

static int number(int from, int to, int i)
{
    return (from * 1000 + to) * 1000 + i;
}

static void fill(int *data, int from, int to)
{
    for (int i = 0; i < NUM; ++i) {
        data[i] = number(from, to, i);
    }
}

static int wrong(const int *data, int from, int to)
{
    int count = 0;

    for (int i = 0; i < NUM; ++i) {
        count += number(from, to, i) != data[i];
    }
    return count;
}

/* Around the ring, by all kinds of sends, into receives of all kinds. */
static void case_p2p(MPI_Comm comm, struct ept *t)
{
    const int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    int out[NUM], in[NUM];
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Count count;
    MPI_Message message;

    fill(out, t->rank, to);
    EPT_OK(t, MPI_Irecv_c(in, NUM, MPI_INT, from, TAG, comm, &requests[0]));
    EPT_OK(t, MPI_Isend_c(out, NUM, MPI_INT, to, TAG, comm, &requests[1]));
    EPT_OK(t, MPI_Wait(&requests[0], &status));
    EPT_OK(t, MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_Get_count_c(&status, MPI_INT, &count));
    EPT_EQ(t, NUM, count);
    EPT_EQ(t, 0, wrong(in, from, t->rank));

    memset(in, 0, sizeof(in));
    EPT_OK(t, MPI_Issend_c(out, NUM, MPI_INT, to, TAG, comm, &requests[1]));
    EPT_OK(t, MPI_Mprobe(from, TAG, comm, &message, &status));
    EPT_OK(t, MPI_Mrecv_c(in, NUM, MPI_INT, &message, MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    EPT_EQ(t, 0, wrong(in, from, t->rank));

    memset(in, 0, sizeof(in));
    EPT_OK(t, MPI_Sendrecv_c(out, NUM, MPI_INT, to, TAG, in, NUM, MPI_INT, from, TAG, comm,
                             &status));
    EPT_EQ(t, 0, wrong(in, from, t->rank));
    EPT_OK(t, MPI_Isendrecv_replace_c(out, NUM, MPI_INT, to, TAG, from, TAG, comm, &requests[0]));
    EPT_OK(t, MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    EPT_EQ(t, 0, wrong(out, from, t->rank));

    fill(out, t->rank, to);
    memset(in, 0, sizeof(in));
    EPT_OK(t, MPI_Send_init_c(out, NUM, MPI_INT, to, TAG, comm, &requests[0]));
    EPT_OK(t, MPI_Recv_init_c(in, NUM, MPI_INT, from, TAG, comm, &requests[1]));
    for (int round = 0; round < 3; ++round) {
        EPT_OK(t, MPI_Startall(2, requests));
        EPT_OK(t, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        EPT_EQ(t, 0, wrong(in, from, t->rank));
    }
    EPT_OK(t, MPI_Request_free(&requests[0]));
    EPT_OK(t, MPI_Request_free(&requests[1]));
}

static void case_collectives(MPI_Comm comm, struct ept *t)
{
    int *out = malloc((size_t) t->size * NUM * sizeof(int));
    int *in = calloc((size_t) t->size * NUM, sizeof(int));
    MPI_Count *counts = malloc((size_t) t->size * sizeof(*counts));
    MPI_Aint *displs = malloc((size_t) t->size * sizeof(*displs));
    int one = t->rank, sum = -1;
    MPI_Request request;

    for (int i = 0; i < t->size; ++i) {
        counts[i] = NUM;
        displs[i] = (MPI_Aint) i * NUM;
        fill(out + (size_t) i * NUM, t->rank, i);
    }
    EPT_OK(t, MPI_Alltoallv_c(out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, comm));
    for (int i = 0; i < t->size; ++i) {
        EPT_EQ(t, 0, wrong(in + (size_t) i * NUM, i, t->rank));
    }
    memset(in, 0, (size_t) t->size * NUM * sizeof(int));
    fill(out, t->rank, 0);
    EPT_OK(t, MPI_Iallgatherv_c(out, NUM, MPI_INT, in, counts, displs, MPI_INT, comm, &request));
    EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < t->size; ++i) {
        EPT_EQ(t, 0, wrong(in + (size_t) i * NUM, i, 0));
    }
    EPT_OK(t, MPI_Allreduce_c(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    EPT_EQ(t, t->size * (t->size - 1) / 2, sum);
    EPT_OK(t, MPI_Allreduce_init_c(&one, &sum, 1, MPI_INT, MPI_MAX, comm, MPI_INFO_NULL,
                                   &request));
    EPT_OK(t, MPI_Start(&request));
    EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    EPT_EQ(t, t->size - 1, sum);
    EPT_OK(t, MPI_Request_free(&request));
    sum = 0 == t->rank ? 77 : 0;
    EPT_OK(t, MPI_Bcast_c(&sum, 1, MPI_INT, 0, comm));
    EPT_EQ(t, 77, sum);
    free(displs);
    free(counts);
    free(in);
    free(out);
}

/* A buffer of the communicator's, of each endpoint's own; the large message waits in it. */
static void case_comm_buffer(MPI_Comm comm, struct ept *t)
{
    enum { SMALL = 100, LARGE = 200000 };
    const int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    const int room = LARGE + SMALL + 2 * (MPI_BSEND_OVERHEAD + 64);
    unsigned char *bytes = malloc(LARGE);
    void *address = NULL, *buffer = malloc((size_t) room);
    int size = 0;

    EPT_OK(t, MPI_Comm_dup(comm, &comm));
    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Comm_attach_buffer(comm, buffer, room));
    for (int k = 0; k < 2; ++k) {
        const size_t length = 0 == k ? LARGE : SMALL;

        ept_fill(bytes, 0, length, ept_mix(3, (uint64_t) t->rank, length, 0));
        EPT_OK(t, MPI_Bsend(bytes, (int) length, MPI_BYTE, to, k, comm));
    }
    for (int k = 1; k >= 0; --k) {
        const size_t length = 0 == k ? LARGE : SMALL;

        EPT_OK(t, MPI_Recv(bytes, (int) length, MPI_BYTE, from, k, comm, MPI_STATUS_IGNORE));
        EPT_FILL(t, bytes, length, ept_mix(3, (uint64_t) from, length, 0));
    }
    EPT_OK(t, MPI_Comm_flush_buffer(comm));
    EPT_OK(t, MPI_Comm_detach_buffer(comm, &address, &size));
    EPT_CHECK(t, buffer == address, "another buffer");
    EPT_EQ(t, room, size);
    if (t->endpoints) { /* ob1 sends it without a buffer */
        EPT_CLASS(t, MPI_ERR_BUFFER, MPI_Bsend(bytes, SMALL, MPI_BYTE, to, TAG, comm));
    }
    EPT_OK(t, MPI_Comm_free(&comm));
    free(buffer);
    free(bytes);
}

/* Looked at as often as it takes, and still to be ended afterwards. */
static void case_get_status(MPI_Comm comm, struct ept *t)
{
    const int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    MPI_Request receives[3], send;
    MPI_Status statuses[3];
    int in[3] = {-1, -1, -1}, which[3], index = -1, count = 0, flag = 0;

    for (int k = 0; k < 3; ++k) {
        EPT_OK(t, MPI_Irecv(&in[k], 1, MPI_INT, from, k, comm, &receives[k]));
    }
    EPT_OK(t, MPI_Request_get_status_any(3, receives, &index, &flag, &statuses[0]));
    EPT_EQ(t, 0, flag);
    EPT_OK(t, MPI_Barrier(comm));
    EPT_OK(t, MPI_Isend(&t->rank, 1, MPI_INT, to, 1, comm, &send));
    while (!flag) {
        EPT_OK(t, MPI_Request_get_status_any(3, receives, &index, &flag, &statuses[0]));
    }
    EPT_EQ(t, 1, index);
    EPT_STATUS(t, &statuses[0], from, 1, sizeof(int));
    while (0 == count) {
        EPT_OK(t, MPI_Request_get_status_some(3, receives, &count, which, statuses));
    }
    EPT_EQ(t, 1, count);
    EPT_EQ(t, 1, which[0]);
    EPT_OK(t, MPI_Request_get_status_all(3, receives, &flag, statuses));
    EPT_EQ(t, 0, flag);
    EPT_OK(t, MPI_Wait(&send, MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_Barrier(comm)); /* all have looked */
    for (int k = 0; k < 3; k += 2) {
        EPT_OK(t, MPI_Send(&t->rank, 1, MPI_INT, to, k, comm));
    }
    while (!flag) {
        EPT_OK(t, MPI_Request_get_status_all(3, receives, &flag, statuses));
    }
    for (int k = 0; k < 3; ++k) {
        EPT_STATUS(t, &statuses[k], from, k, sizeof(int));
        EPT_EQ(t, from, in[k]);
    }
    EPT_OK(t, MPI_Waitall(3, receives, MPI_STATUSES_IGNORE));
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_p2p);
    EPT_CASE(t, case_collectives);
    EPT_CASE(t, case_comm_buffer);
    EPT_CASE(t, case_get_status);
    return 0;
}

#else

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    ept_skip(t, "all", "this MPI is older than version 4");
    return 0;
}

#endif
