/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Comm_disconnect waits until what is pending on the handle has completed, and for nothing
 * else: a thread disconnects several handles of its process in any order.
 *
 * Guards: comm_disconnect.c, pml_epml_open.c
 */

#include "ept.h"

#include <sched.h>

enum { LONG = 300000, TURNS = 2000, MOST = 3 };

/** Sends whose request is gone when the handle is disconnected. */
enum way { ISSEND, ISEND, BSEND, SSEND_INIT, WAYS };
static const char *const way_names[WAYS] = {"Issend", "long Isend", "long Bsend", "Ssend_init"};

static int length_of(enum way way)
{
    return ISEND == way || BSEND == way ? LONG : 10;
}

static void send_and_forget(struct ept *t, MPI_Comm comm, enum way way, int *data, int peer)
{
    const int n = length_of(way);
    MPI_Request request = MPI_REQUEST_NULL;

    switch (way) {
    case ISSEND:
        EPT_OK(t, MPI_Issend(data, n, MPI_INT, peer, 1, comm, &request));
        break;
    case BSEND:
        EPT_OK(t, MPI_Ibsend(data, n, MPI_INT, peer, 1, comm, &request));
        break;
    case SSEND_INIT:
        EPT_OK(t, MPI_Ssend_init(data, n, MPI_INT, peer, 1, comm, &request));
        EPT_OK(t, MPI_Start(&request));
        break;
    default:
        EPT_OK(t, MPI_Isend(data, n, MPI_INT, peer, 1, comm, &request));
    }
    EPT_OK(t, MPI_Request_free(&request));
}

/** One of two sends on a handle, which the other receives late; both disconnect it.
 * @param[in] peer     the other one's rank in handle
 * @param[in] partner  and in comm */
static void exchange(struct ept *t, MPI_Comm comm, MPI_Comm handle, int peer, bool sends,
                     enum way way, int partner)
{
    const int n = length_of(way);
    int *data = malloc((size_t) n * sizeof(*data)), wrong = 0, flag = 0, turns = 0;

    for (int i = 0; i < n; ++i) {
        data[i] = sends ? i + (int) way : -2;
    }
    ept_phase(t, "%s", way_names[way]);
    if (sends) {
        send_and_forget(t, handle, way, data, peer);
        EPT_OK(t, MPI_Comm_disconnect(&handle));
        memset(data, 0xff, (size_t) n * sizeof(*data));
        EPT_OK(t, MPI_Send(NULL, 0, MPI_INT, partner, 2, comm)); /* disconnected */
    } else {
        EPT_OK(t, MPI_Probe(peer, 1, handle, MPI_STATUS_IGNORE));
        while (!flag && ++turns < TURNS) {
            EPT_OK(t, MPI_Iprobe(partner, 2, comm, &flag, MPI_STATUS_IGNORE));
            sched_yield();
        }
        EPT_CHECK(t, !flag, "%s: disconnected before it was received", way_names[way]);
        EPT_OK(t, MPI_Recv(data, n, MPI_INT, peer, 1, handle, MPI_STATUS_IGNORE));
        for (int i = 0; i < n; ++i) {
            wrong += data[i] != i + (int) way;
        }
        EPT_EQ(t, 0, wrong);
        EPT_OK(t, MPI_Comm_disconnect(&handle));
        EPT_OK(t, MPI_Recv(NULL, 0, MPI_INT, partner, 2, comm, MPI_STATUS_IGNORE));
    }
    EPT_CHECK(t, MPI_COMM_NULL == handle, "a handle after MPI_Comm_disconnect");
    free(data);
}

/** An attached buffer for all ranks of the process. */
static void attach(struct ept *t, bool begin)
{
    const int size = t->nlocal * (int) (LONG * sizeof(int) + 2 * MPI_BSEND_OVERHEAD);
    void *buffer;
    int had;

    ept_local_barrier(t);
    if (0 == t->local && begin) {
        EPT_OK(t, MPI_Buffer_attach(malloc((size_t) size), size));
    } else if (0 == t->local) {
        EPT_OK(t, MPI_Buffer_detach(&buffer, &had));
        free(buffer);
    }
    ept_local_barrier(t);
}

/* Duplicates, parts and intercommunicators; pairs by rank. */
static void case_pairs(MPI_Comm comm, struct ept *t)
{
    const int partner = t->rank ^ 1;
    const bool sends = 0 == t->rank % 2;

    attach(t, true);
    for (enum way way = ISSEND; partner < t->size / 2 * 2 && way < WAYS; ++way) {
        MPI_Comm pair, inter, one, low;

        EPT_OK(t, MPI_Comm_split(comm, t->rank / 2, t->rank, &pair));
        EPT_OK(t, MPI_Comm_split(comm, t->rank, 0, &one));
        EPT_OK(t, MPI_Intercomm_create(one, 0, comm, partner, 3, &inter));
        EPT_OK(t, MPI_Comm_dup(pair, &low));
        exchange(t, comm, low, sends ? 1 : 0, sends, way, partner);
        exchange(t, comm, inter, 0, sends, way, partner);
        exchange(t, comm, pair, sends ? 1 : 0, sends, way, partner);
        EPT_OK(t, MPI_Comm_disconnect(&one));
    }
    attach(t, false);
}

/* One thread has all endpoints of its process, and disconnects them in another order than the other
 * processes do.  Each has a send and a receive under way whose requests are gone. */
static void in_order(struct ept *t, int num, const int *order)
{
    static int out[MOST][LONG], in[MOST][LONG];
    MPI_Comm ep[MOST];

    EPT_OK(t, ept_create_endpoints(MPI_COMM_WORLD, num, MPI_INFO_NULL, ep));
    for (int i = 0; i < num; ++i) {
        MPI_Request request;
        int rank, size;

        MPI_Comm_rank(ep[i], &rank);
        MPI_Comm_size(ep[i], &size);
        for (int k = 0; k < LONG; ++k) {
            out[i][k] = rank + k;
            in[i][k] = -1;
        }
        EPT_OK(t, MPI_Irecv(in[i], LONG, MPI_INT, (rank + size - 1) % size, 1, ep[i], &request));
        EPT_OK(t, MPI_Request_free(&request));
        EPT_OK(t, MPI_Isend(out[i], LONG, MPI_INT, (rank + 1) % size, 1, ep[i], &request));
        EPT_OK(t, MPI_Request_free(&request));
    }
    for (int at = 0; at < num; ++at) {
        const int i = order[at];
        int rank, size, wrong = 0;

        MPI_Comm_rank(ep[i], &rank);
        MPI_Comm_size(ep[i], &size);
        EPT_OK(t, MPI_Comm_disconnect(&ep[i]));
        for (int k = 0; k < LONG; ++k) {
            wrong += in[i][k] != (rank + size - 1) % size + k;
        }
        EPT_EQ(t, 0, wrong);
        memset(out[i], 0xff, sizeof(out[i]));
    }
}

static void case_one_thread(MPI_Comm comm, struct ept *t)
{
    static const int orders[][MOST] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                       {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

    (void) comm;
    ept_local_barrier(t);
    for (int i = 0; 0 == t->local && i < 6; ++i) {
        ept_phase(t, "order %d", i);
        in_order(t, MOST, orders[(i + t->proc) % 6]);
    }
    ept_local_barrier(t);
}

/* Requests that are complete or inactive, and not freed, are not waited for. */
static void case_over(MPI_Comm comm, struct ept *t)
{
    int data = 0, in = -1, flag = 0;
    MPI_Request inactive[2], received;
    MPI_Status status;
    MPI_Comm dup;

    EPT_OK(t, MPI_Comm_dup(comm, &dup));
    EPT_OK(t, MPI_Recv_init(&data, 1, MPI_INT, t->rank, 7, dup, &inactive[0]));
    EPT_OK(t, MPI_Ssend_init(&data, 1, MPI_INT, t->rank, 7, dup, &inactive[1]));
    EPT_OK(t, MPI_Irecv(&in, 1, MPI_INT, t->rank, 8, dup, &received));
    EPT_OK(t, MPI_Send(&t->rank, 1, MPI_INT, t->rank, 8, dup));
    while (!flag) {
        EPT_OK(t, MPI_Request_get_status(received, &flag, &status));
    }
    EPT_OK(t, MPI_Comm_disconnect(&dup));
    EPT_OK(t, MPI_Wait(&received, &status));
    EPT_EQ(t, t->rank, in);
    EPT_OK(t, MPI_Request_free(&inactive[0]));
    EPT_OK(t, MPI_Request_free(&inactive[1]));
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_pairs);
    if (t->endpoints) {
        EPT_CASE(t, case_one_thread);
    } else {
        ept_skip(t, "case_one_thread", "a process has one rank");
    }
    EPT_CASE(t, case_over);
    return 0;
}
