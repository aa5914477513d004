/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Persistent requests: lists for MPI_Startall that mix communicators of one endpoint, endpoints of
 * different creations and ordinary communicators; thousands of restarts; requests that are freed
 * while they are active, or outlive their communicator; cancelled and started again.  And sends
 * that somebody tries to cancel.
 *
 * Guards: pml_epml_start.c, pml_epml_request.c
 */

#include "ept.h"

enum { TAG = 60, MAX_LOCAL = 64, MODES = 4 };

static MPI_Comm world, other[MAX_LOCAL];

static void begin_process(struct ept *t)
{
    if (0 == t->local) {
        EPT_OK(t, MPI_Comm_dup(MPI_COMM_WORLD, &world));
        if (t->endpoints) {
            EPT_OK(t, ept_create_endpoints(MPI_COMM_WORLD, t->nlocal, MPI_INFO_NULL, other));
        } else {
            EPT_OK(t, MPI_Comm_dup(MPI_COMM_WORLD, &other[0]));
        }
    }
    ept_local_barrier(t);
}

static void end_process(struct ept *t)
{
    ept_local_barrier(t);
    if (0 == t->local) {
        for (int i = 0; i < t->nlocal; ++i) {
            EPT_OK(t, MPI_Comm_free(&other[i]));
        }
        EPT_OK(t, MPI_Comm_free(&world));
    }
    ept_local_barrier(t);
}

static void init_send(struct ept *t, int mode, const void *out, int bytes, int to, int tag,
                      MPI_Comm comm, MPI_Request *request)
{
    switch (mode) {
    case 0:
        EPT_OK(t, MPI_Send_init(out, bytes, MPI_BYTE, to, tag, comm, request));
        break;
    case 1:
        EPT_OK(t, MPI_Ssend_init(out, bytes, MPI_BYTE, to, tag, comm, request));
        break;
    case 2:
        EPT_OK(t, MPI_Rsend_init(out, bytes, MPI_BYTE, to, tag, comm, request));
        break;
    default:
        EPT_OK(t, MPI_Bsend_init(out, bytes, MPI_BYTE, to, tag, comm, request));
        break;
    }
}

/* ---- mixed lists ----------------------------------------------------------------------------- */

enum { LISTS = 3, NUM = LISTS * 3 };

/* Three sizes on each of three communicators, receives and sends alternating in one list. */
static void case_mixed_start(MPI_Comm comm, struct ept *t)
{
    static const int sizes[] = {4, 600, 150000};
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    int to_proc = (t->proc + 1) % t->nprocs, from_proc = (t->proc - 1 + t->nprocs) % t->nprocs;
    struct ept_buffer in[NUM], out[NUM];
    MPI_Request list[2 * NUM], copy[2 * NUM];
    MPI_Status statuses[2 * NUM];

    begin_process(t);
    for (int k = 0; k < NUM; ++k) {
        const bool ordinary = 2 == k % LISTS;
        MPI_Comm c = ordinary ? world : 1 == k % LISTS ? other[t->local] : comm;
        int bytes = sizes[k / LISTS], tag = ordinary ? TAG + t->local * NUM + k : TAG + k;

        in[k] = ept_buffer((size_t) bytes, 1);
        out[k] = ept_buffer((size_t) bytes, 0);
        EPT_OK(t, MPI_Recv_init(in[k].data, bytes, MPI_BYTE, ordinary ? from_proc : from, tag, c,
                                &list[2 * k]));
        init_send(t, k % 2, out[k].data, bytes, ordinary ? to_proc : to, tag, c, &list[2 * k + 1]);
    }
    memcpy(copy, list, sizeof(list));
    for (int round = 0; round < 40; ++round) {
        ept_phase(t, "round %d", round);
        for (int k = 0; k < NUM; ++k) {
            ept_fill(out[k].data, 0, out[k].size,
                     ept_mix((uint64_t) t->rank, (uint64_t) k, (uint64_t) round, 9));
        }
        EPT_OK(t, MPI_Startall(2 * NUM, list));
        if (0 == round % 2) {
            EPT_OK(t, MPI_Waitall(2 * NUM, list, statuses));
        } else {
            int indices[2 * NUM], n = 0, got = 0;
            MPI_Status some[2 * NUM];

            for (; got < 2 * NUM; got += n) {
                EPT_OK(t, MPI_Waitsome(2 * NUM, list, &n, indices, some));
                for (int i = 0; i < n; ++i) {
                    statuses[indices[i]] = some[i];
                }
            }
        }
        EPT_EQ(t, 0, memcmp(copy, list, sizeof(list)));
        for (int k = 0; k < NUM; ++k) {
            const bool ordinary = 2 == k % LISTS;
            int source = ordinary ? from_proc * t->nlocal + t->local : from;

            EPT_FILL(t, in[k].data, in[k].size,
                     ept_mix((uint64_t) source, (uint64_t) k, (uint64_t) round, 9));
            EPT_STATUS(t, &statuses[2 * k], ordinary ? from_proc : from,
                       ordinary ? TAG + t->local * NUM + k : TAG + k, in[k].size);
        }
    }
    for (int k = 0; k < NUM; ++k) {
        EPT_OK(t, MPI_Request_free(&list[2 * k]));
        EPT_OK(t, MPI_Request_free(&list[2 * k + 1]));
        EPT_GUARDS(t, &in[k]);
        ept_buffer_free(&in[k]);
        ept_buffer_free(&out[k]);
    }
    end_process(t);
}

/* ---- restarts -------------------------------------------------------------------------------- */

/* All modes, with the partner's receive started first where that is asked for. */
static void case_restarts(MPI_Comm comm, struct ept *t)
{
    int many = 4 < t->size ? 500 : 3000;
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    size_t room = (size_t) t->nlocal * 64 * (sizeof(int) + MPI_BSEND_OVERHEAD + 64);

    if (0 == t->local) {
        EPT_OK(t, MPI_Buffer_attach(malloc(room), (int) room));
    }
    ept_local_barrier(t);
    /* ob1 sends the data of the first start of a buffered request again and again. */
    for (int mode = 0; mode < (t->endpoints ? MODES : MODES - 1); ++mode) {
        int in = -1, out = -1;
        MPI_Request receive, send, go[2];

        EPT_OK(t, MPI_Recv_init(&in, sizeof(in), MPI_BYTE, from, TAG, comm, &receive));
        init_send(t, mode, &out, sizeof(out), to, TAG, comm, &send);
        EPT_OK(t, MPI_Recv_init(NULL, 0, MPI_BYTE, to, TAG + 1, comm, &go[0]));
        EPT_OK(t, MPI_Send_init(NULL, 0, MPI_BYTE, from, TAG + 1, comm, &go[1]));
        for (int i = 0; i < many; ++i) {
            ept_phase(t, "mode %d, start %d", mode, i);
            out = 7 * i + t->rank;
            EPT_OK(t, MPI_Start(&receive));
            EPT_OK(t, MPI_Startall(2, go));
            EPT_OK(t, MPI_Waitall(2, go, MPI_STATUSES_IGNORE));
            EPT_OK(t, MPI_Start(&send));
            EPT_OK(t, MPI_Wait(&receive, MPI_STATUS_IGNORE));
            EPT_OK(t, MPI_Wait(&send, MPI_STATUS_IGNORE));
            EPT_EQ(t, 7 * i + from, in);
        }
        EPT_OK(t, MPI_Request_free(&receive));
        EPT_OK(t, MPI_Request_free(&send));
        EPT_OK(t, MPI_Request_free(&go[0]));
        EPT_OK(t, MPI_Request_free(&go[1]));
    }
    EPT_OK(t, MPI_Barrier(comm));
    if (0 == t->local) {
        void *address = NULL;
        int size;

        EPT_OK(t, MPI_Buffer_detach(&address, &size));
        free(address);
    }
    ept_local_barrier(t);
}

/* ---- the end of requests --------------------------------------------------------------------- */

/* Freed while active, and the communicator as well: the messages arrive, the buffers are whole. */
static void case_free_active(MPI_Comm comm, struct ept *t)
{
    static const int sizes[] = {8, 5000, 200000};
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;

    for (int k = 0; k < 9; ++k) {
        int bytes = sizes[k % 3], done = 0;
        struct ept_buffer in = ept_buffer((size_t) bytes, 1);
        unsigned char *out = malloc((size_t) bytes);
        MPI_Request receive, send;
        MPI_Comm dup;

        ept_phase(t, "%d bytes, mode %d", bytes, k / 3);
        EPT_OK(t, MPI_Comm_dup(comm, &dup));
        ept_fill(out, 0, (size_t) bytes, ept_mix((uint64_t) t->rank, (uint64_t) k, 5, 0));
        EPT_OK(t, MPI_Recv_init(in.data, bytes, MPI_BYTE, from, TAG, dup, &receive));
        init_send(t, k / 3 % 2, out, bytes, to, TAG, dup, &send);
        EPT_OK(t, MPI_Start(&receive));
        EPT_OK(t, MPI_Start(&send));
        EPT_OK(t, MPI_Request_free(&send));
        if (0 == k % 2) {
            EPT_OK(t, MPI_Comm_free(&dup));
        }
        EPT_OK(t, MPI_Wait(&receive, MPI_STATUS_IGNORE));
        EPT_FILL(t, in.data, in.size, ept_mix((uint64_t) from, (uint64_t) k, 5, 0));
        EPT_GUARDS(t, &in);
        EPT_OK(t, MPI_Request_free(&receive));
        if (0 != k % 2) {
            EPT_OK(t, MPI_Comm_free(&dup));
        }
        /* The buffer is ours again when the receiver says that it has the message. */
        EPT_OK(t, MPI_Sendrecv(&k, 1, MPI_INT, from, TAG + 1, &done, 1, MPI_INT, to, TAG + 1, comm,
                               MPI_STATUS_IGNORE));
        free(out);
        ept_buffer_free(&in);
    }
}

/* An active receive is cancelled; the request serves again. */
static void case_cancel_and_restart(MPI_Comm comm, struct ept *t)
{
    int in = -1, flag = 0;
    MPI_Request receive;
    MPI_Status status;

    EPT_OK(t, MPI_Recv_init(&in, 1, MPI_INT, MPI_ANY_SOURCE, TAG, comm, &receive));
    EPT_OK(t, MPI_Barrier(comm));
    for (int round = 0; round < 20; ++round) {
        EPT_OK(t, MPI_Start(&receive));
        if (0 == round % 2) {
            EPT_OK(t, MPI_Cancel(&receive));
            EPT_OK(t, MPI_Wait(&receive, &status));
            EPT_OK(t, MPI_Test_cancelled(&status, &flag));
            EPT_EQ(t, 1, flag);
        } else {
            EPT_OK(t, MPI_Send(&round, 1, MPI_INT, t->rank, TAG, comm));
            EPT_OK(t, MPI_Wait(&receive, &status));
            EPT_OK(t, MPI_Test_cancelled(&status, &flag));
            EPT_EQ(t, 0, flag);
            EPT_STATUS(t, &status, t->rank, TAG, sizeof(int));
            EPT_EQ(t, round, in);
        }
        EPT_CHECK(t, MPI_REQUEST_NULL != receive, "the request is gone");
    }
    EPT_OK(t, MPI_Request_free(&receive));
}

/* A send cannot be cancelled: it goes on as if nobody had asked. (ob1 says that this is
 * deprecated.) */
static void case_cancel_send(MPI_Comm comm, struct ept *t)
{
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;

    for (int count = 1; count < 200000; count *= 20) {
        int *in = malloc((size_t) count * sizeof(int)), *out = calloc((size_t) count, sizeof(int));
        MPI_Request send;
        MPI_Status status;
        int flag = 1;

        out[count - 1] = 100 + t->rank;
        EPT_OK(t, MPI_Issend(out, count, MPI_INT, to, TAG, comm, &send));
        EPT_OK(t, MPI_Cancel(&send));
        EPT_OK(t, MPI_Recv(in, count, MPI_INT, from, TAG, comm, MPI_STATUS_IGNORE));
        EPT_OK(t, MPI_Wait(&send, &status));
        EPT_OK(t, MPI_Test_cancelled(&status, &flag));
        EPT_EQ(t, 0, flag);
        EPT_EQ(t, 100 + from, in[count - 1]);
        free(in);
        free(out);
    }
}

/* A receive that is too short, until it is complete in one of the ways of waiting or testing. */
static int complete(int way, MPI_Request *request)
{
    MPI_Status status = {.MPI_ERROR = MPI_SUCCESS};
    int rc = MPI_SUCCESS, flag = 0, index, count = 0;

    switch (way) {
    case 0:
        return MPI_Wait(request, &status);
    case 1:
        rc = MPI_Waitall(1, request, &status);
        return MPI_SUCCESS == status.MPI_ERROR ? MPI_SUCCESS : rc;
    case 2:
        return MPI_Waitall(1, request, MPI_STATUSES_IGNORE);
    case 3:
        return MPI_Waitany(1, request, &index, &status);
    case 4:
        return MPI_Waitsome(1, request, &count, &index, &status);
    case 5:
        while (MPI_SUCCESS == rc && !flag) {
            rc = MPI_Test(request, &flag, &status);
        }
        return rc;
    case 6:
        while (MPI_SUCCESS == rc && !flag) {
            rc = MPI_Testall(1, request, &flag, &status);
        }
        return MPI_SUCCESS == status.MPI_ERROR ? MPI_SUCCESS : rc;
    case 7:
        while (MPI_SUCCESS == rc && !flag) {
            rc = MPI_Testall(1, request, &flag, MPI_STATUSES_IGNORE);
        }
        return rc;
    case 8:
        while (MPI_SUCCESS == rc && !flag) {
            rc = MPI_Testany(1, request, &index, &flag, &status);
        }
        return rc;
    default:
        while (MPI_SUCCESS == rc && 0 == count) {
            rc = MPI_Testsome(1, request, &count, &index, &status);
        }
        return rc;
    }
}

static void case_errors(MPI_Comm comm, struct ept *t)
{
    char in[8] = "", out[8] = "";
    MPI_Comm dup;

    EPT_OK(t, MPI_Comm_dup(comm, &dup));
    EPT_OK(t, MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN));
    for (int way = 0; way < 10; ++way) {
        MPI_Request receive;
        int class = MPI_SUCCESS;

        ept_phase(t, "way %d", way);
        EPT_OK(t, MPI_Recv_init(in, 4, MPI_BYTE, t->rank, TAG, dup, &receive));
        EPT_OK(t, MPI_Start(&receive));
        EPT_OK(t, MPI_Send(out, 8, MPI_BYTE, t->rank, TAG, dup));
        EPT_OK(t, MPI_Error_class(complete(way, &receive), &class));
        EPT_CHECK(t, MPI_ERR_TRUNCATE == class || MPI_ERR_IN_STATUS == class,
                  "way %d: class %d instead of a truncation", way, class);
        if (MPI_REQUEST_NULL != receive) {
            EPT_OK(t, MPI_Request_free(&receive));
        }
    }
    EPT_OK(t, MPI_Comm_free(&dup));
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_mixed_start);
    EPT_CASE(t, case_restarts);
    EPT_CASE(t, case_free_active);
    EPT_CASE(t, case_cancel_and_restart);
    EPT_CASE_STOCK_DEFECT(t, case_errors,
                          "MPI_Waitall and MPI_Testall overlook errors of persistent requests");
    if (t->endpoints) {
        EPT_CASE(t, case_cancel_send);
    } else {
        ept_skip(t, "case_cancel_send", "ob1 says that it is deprecated");
    }
    return 0;
}
