/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What MPI 4 and 5 add, on endpoints, where Open MPI has it (6): counts of type MPI_Count (see also
 * large.c), a buffer for each communicator and session, looking at several requests without ending
 * them.
 *
 * Guards: abi.c, mpiext_endpoints_abi.h, request_get_status.c
 */

#include "ept.h"

#if 4 <= MPI_VERSION

enum { NUM = 1000, TAG = 5, RANKS = 64 };

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
    EPT_OK(t,
           MPI_Sendrecv_c(out, NUM, MPI_INT, to, TAG, in, NUM, MPI_INT, from, TAG, comm, &status));
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
    EPT_OK(t, MPI_Allreduce_init_c(&one, &sum, 1, MPI_INT, MPI_MAX, comm, MPI_INFO_NULL, &request));
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

/* The other collectives, with one number for each pair of ranks. */
static void case_one_each(MPI_Comm comm, struct ept *t)
{
    const int n = t->size, me = t->rank;
    int out[RANKS] = {0}, in[RANKS] = {0}, one = -1;
    MPI_Count ones[RANKS];
    MPI_Aint places[RANKS];

    EPT_CHECK(t, RANKS >= n, "too many ranks");
    for (int i = 0; i < n; ++i) {
        ones[i] = 1;
        places[i] = i;
        out[i] = 100 * me + i;
        in[i] = -1;
    }
    EPT_OK(t, MPI_Alltoall_c(out, 1, MPI_INT, in, 1, MPI_INT, comm));
    for (int i = 0; i < n; ++i) {
        EPT_EQ(t, 100 * i + me, in[i]);
    }
    EPT_OK(t, MPI_Allgather_c(&out[me], 1, MPI_INT, in, 1, MPI_INT, comm));
    for (int i = 0; i < n; ++i) {
        EPT_EQ(t, 101 * i, in[i]);
    }
    for (int root = 0; root < n; ++root) {
        EPT_OK(t, MPI_Gather_c(&out[0], 1, MPI_INT, in, 1, MPI_INT, root, comm));
        EPT_OK(t, MPI_Gatherv_c(&out[1 % n], 1, MPI_INT, in, ones, places, MPI_INT, root, comm));
        EPT_EQ(t, root == me ? 100 * (n - 1) + 1 % n : 101 * (n - 1), in[n - 1]);
        EPT_OK(t, MPI_Scatter_c(out, 1, MPI_INT, &one, 1, MPI_INT, root, comm));
        EPT_EQ(t, 100 * root + me, one);
        EPT_OK(t, MPI_Scatterv_c(out, ones, places, MPI_INT, &one, 1, MPI_INT, root, comm));
        EPT_EQ(t, 100 * root + me, one);
        EPT_OK(t, MPI_Reduce_c(&me, &one, 1, MPI_INT, MPI_SUM, root, comm));
        EPT_EQ(t, root == me ? n * (n - 1) / 2 : 100 * root + me, one);
        in[n - 1] = 101 * (n - 1);
    }
    EPT_OK(t, MPI_Reduce_scatter_c(out, &one, ones, MPI_INT, MPI_SUM, comm));
    EPT_EQ(t, 50 * n * (n - 1) + n * me, one);
    EPT_OK(t, MPI_Reduce_scatter_block_c(out, &one, 1, MPI_INT, MPI_MAX, comm));
    EPT_EQ(t, 100 * (n - 1) + me, one);
    EPT_OK(t, MPI_Scan_c(&me, &one, 1, MPI_INT, MPI_SUM, comm));
    EPT_EQ(t, me * (me + 1) / 2, one);
    EPT_OK(t, MPI_Exscan_c(&me, &one, 1, MPI_INT, MPI_SUM, comm));
    EPT_EQ(t, 0 == me ? 0 : me * (me - 1) / 2, one);
}

/* With both neighbours in a ring. */
static void case_neighbours(MPI_Comm comm, struct ept *t)
{
    const int size = t->size, periodic = 1;
    const int left = (t->rank + size - 1) % size, right = (t->rank + 1) % size;
    const MPI_Count ones[2] = {1, 1};
    const MPI_Aint places[2] = {0, 1};
    int out[2] = {2 * t->rank, 2 * t->rank + 1}, in[2] = {-1, -1};
    MPI_Comm ring;

    EPT_OK(t, MPI_Cart_create(comm, 1, &size, &periodic, 0, &ring));
    EPT_OK(t, MPI_Neighbor_allgather_c(out, 1, MPI_INT, in, 1, MPI_INT, ring));
    EPT_EQ(t, 2 * left, in[0]);
    EPT_EQ(t, 2 * right, in[1]);
    EPT_OK(t, MPI_Neighbor_alltoall_c(out, 1, MPI_INT, in, 1, MPI_INT, ring));
    EPT_EQ(t, 2 * left + 1, in[0]);
    EPT_EQ(t, 2 * right, in[1]);
    in[0] = in[1] = -1;
    EPT_OK(t,
           MPI_Neighbor_alltoallv_c(out, ones, places, MPI_INT, in, ones, places, MPI_INT, ring));
    EPT_EQ(t, 2 * left + 1, in[0]);
    EPT_EQ(t, 2 * right, in[1]);
    EPT_OK(t, MPI_Comm_free(&ring));
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

/* A message that is larger than what goes at once is on its way until somebody receives it. */
enum { BUFFERED = 300000, MESSAGES = 5 };

static uint64_t buffered_key(int from, int k)
{
    return ept_mix(5, (uint64_t) from, (uint64_t) k, 0);
}

static void send_buffered(MPI_Comm comm, struct ept *t)
{
    unsigned char *bytes = malloc(BUFFERED);
    const int to = (t->rank + 1) % t->size;

    for (int k = 0; k < MESSAGES; ++k) {
        ept_fill(bytes, 0, BUFFERED, buffered_key(t->rank, k));
        EPT_OK(t, MPI_Bsend(bytes, BUFFERED, MPI_BYTE, to, k, comm));
    }
    free(bytes);
}

static void receive_buffered(MPI_Comm comm, struct ept *t)
{
    unsigned char *bytes = malloc(BUFFERED);
    const int from = (t->rank - 1 + t->size) % t->size;

    for (int k = MESSAGES - 1; 0 <= k; --k) {
        EPT_OK(t, MPI_Recv(bytes, BUFFERED, MPI_BYTE, from, k, comm, MPI_STATUS_IGNORE));
        EPT_FILL(t, bytes, BUFFERED, buffered_key(from, k));
    }
    free(bytes);
}

/* As much as it takes. */
static void case_automatic_buffer(MPI_Comm comm, struct ept *t)
{
    void *address = NULL;
    int size = 0;

    EPT_OK(t, MPI_Comm_dup(comm, &comm));
    EPT_OK(t, MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0));
    for (int round = 0; round < 3; ++round) {
        send_buffered(comm, t);
        receive_buffered(comm, t);
    }
    EPT_OK(t, MPI_Comm_detach_buffer(comm, &address, &size));
    EPT_CHECK(t, MPI_BUFFER_AUTOMATIC == address, "another buffer");
    EPT_OK(t, MPI_Comm_free(&comm));
}

/* Until all has been taken out of it.  6.0.0rc2 leaves the buffer locked if anything was in it, so
 * there is nothing to be sent afterwards; and its call that should leave the wait to a request
 * waits itself, so the messages must have been received. */
static void case_flush(MPI_Comm comm, struct ept *t)
{
    const MPI_Count room = MESSAGES * (BUFFERED + MPI_BSEND_OVERHEAD + 64);
    void *buffer = malloc((size_t) room), *address = NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Count size = 0;

    EPT_OK(t, MPI_Comm_dup(comm, &comm));
    for (int round = 0; round < 4; ++round) {
        EPT_OK(t, MPI_Comm_attach_buffer_c(comm, buffer, room));
        send_buffered(comm, t);
        receive_buffered(comm, t);
        if (0 == round % 2) {
            EPT_OK(t, MPI_Comm_flush_buffer(comm));
        } else {
            EPT_OK(t, MPI_Comm_iflush_buffer(comm, &request));
            EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        EPT_OK(t, MPI_Comm_detach_buffer_c(comm, &address, &size));
        EPT_CHECK(t, buffer == address, "another buffer");
        EPT_EQ(t, (long) room, (long) size);
        memset(buffer, 0x5a, (size_t) room);
    }
    EPT_OK(t, MPI_Comm_free(&comm));
    free(buffer);
}

/* Of a process. */
static MPI_Session session;
static MPI_Comm session_comm, *session_ranks;
static void *session_buffer;

static void session_begin(struct ept *t, size_t room)
{
    MPI_Group group;

    EPT_OK(t, MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    EPT_OK(t, MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    EPT_OK(t, MPI_Comm_create_from_group(group, "ept.newer", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                         &session_comm));
    EPT_OK(t, MPI_Group_free(&group));
    session_ranks = malloc((size_t) t->nlocal * sizeof(*session_ranks));
    EPT_OK(t, ept_create_endpoints(session_comm, t->nlocal, MPI_INFO_NULL, session_ranks));
    session_buffer = malloc(room);
    EPT_OK(t, MPI_Session_attach_buffer(session, session_buffer, (int) room));
}

static void session_end(struct ept *t, size_t room)
{
    void *address = NULL;
    int size = 0;

    EPT_OK(t, MPI_Session_flush_buffer(session));
    EPT_OK(t, MPI_Session_detach_buffer(session, &address, &size));
    EPT_CHECK(t, session_buffer == address, "another buffer");
    EPT_EQ(t, room, size);
    for (int i = 0; i < t->nlocal; ++i) {
        EPT_OK(t, MPI_Comm_free(&session_ranks[i]));
    }
    EPT_OK(t, MPI_Comm_free(&session_comm));
    EPT_OK(t, MPI_Session_finalize(&session));
    free(session_buffer);
    free(session_ranks);
}

/* Of a session, and of all endpoints of the process whose communicators come from it. */
static void case_session_buffer(MPI_Comm comm, struct ept *t)
{
    const size_t room = (size_t) t->nlocal * MESSAGES * (BUFFERED + MPI_BSEND_OVERHEAD + 64);

    (void) comm;
    if (0 == t->local) {
        session_begin(t, room);
    }
    ept_local_barrier(t);
    send_buffered(session_ranks[t->local], t);
    receive_buffered(session_ranks[t->local], t);
    ept_local_barrier(t);
    if (0 == t->local) {
        session_end(t, room);
    }
    ept_local_barrier(t);
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
    EPT_CASE(t, case_one_each);
    EPT_CASE(t, case_neighbours);
    EPT_CASE(t, case_comm_buffer);
    EPT_CASE(t, case_automatic_buffer);
    EPT_CASE(t, case_flush);
    EPT_CASE(t, case_session_buffer);
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
