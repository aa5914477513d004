/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Buffered sends: the process's attached buffer, shared by all its endpoints; what happens when it
 * is full, missing or detached while messages are in it; and static endpoints' own buffers.
 *
 * Open MPI 5 knows only the process's buffer; MPI_Comm_attach_buffer and MPI_Session_attach_buffer
 * come with 6.
 *
 * Guards: pml_epml_isend.c, pml_epml_buffer.c, pml_epml_open.c, buffer.c
 */

#include "ept.h"

enum { TAG_DATA = 1, TAG_GO = 2 };

static void attach(struct ept *t, size_t room)
{
    if (0 == t->local) {
        EPT_OK(t, MPI_Buffer_attach(malloc(room), (int) room));
    }
    ept_local_barrier(t);
}

/* Detach, and overwrite what was the buffer: nobody may look at it any more. */
static void detach(struct ept *t, size_t room)
{
    ept_local_barrier(t);
    if (0 == t->local) {
        void *address = NULL;
        int size = 0;

        EPT_OK(t, MPI_Buffer_detach(&address, &size));
        EPT_EQ(t, room, size);
        if (NULL != address) {
            memset(address, 0xa5, room);
        }
        free(address);
    }
    ept_local_barrier(t);
}

/* A message without data needs no room. */
static void case_no_buffer(MPI_Comm comm, struct ept *t)
{
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    MPI_Request request;
    MPI_Status status;

    EPT_OK(t, MPI_Comm_dup(comm, &comm));
    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    EPT_CLASS(t, MPI_ERR_BUFFER, MPI_Bsend("abc", 3, MPI_BYTE, to, TAG_DATA, comm));
    EPT_CLASS(t, MPI_ERR_BUFFER, MPI_Ibsend("abc", 3, MPI_BYTE, to, TAG_DATA, comm, &request));
    EPT_OK(t, MPI_Bsend(NULL, 0, MPI_BYTE, to, TAG_DATA, comm));
    EPT_OK(t, MPI_Ibsend(NULL, 0, MPI_BYTE, to, TAG_GO, comm, &request));
    EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_Recv(NULL, 0, MPI_BYTE, from, MPI_ANY_TAG, comm, &status));
    EPT_STATUS(t, &status, from, TAG_DATA, 0);
    EPT_OK(t, MPI_Recv(NULL, 0, MPI_BYTE, from, MPI_ANY_TAG, comm, &status));
    EPT_STATUS(t, &status, from, TAG_GO, 0);
    EPT_OK(t, MPI_Comm_free(&comm));
}

static const int sizes[] = {0, 1, 100, 3000, 20000, 200000};

static uint64_t key(int from, int k)
{
    return ept_mix(17, (uint64_t) from, (uint64_t) k, 0);
}

/* All endpoints send out of one buffer; some messages are in it when it is detached. */
static void case_shared(MPI_Comm comm, struct ept *t)
{
    enum { NUM = 18 };
    size_t room = (size_t) t->nlocal * (NUM / 6) * (230000 + 6 * (MPI_BSEND_OVERHEAD + 64));
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    struct ept_buffer in[NUM];
    MPI_Request receives[NUM];
    unsigned char *out = malloc(200000);

    attach(t, room);
    for (int k = 0; k < NUM; ++k) {
        in[k] = ept_buffer((size_t) sizes[k % 6], 1);
        EPT_OK(t, MPI_Irecv(in[k].data, sizes[k % 6], MPI_BYTE, from, k, comm, &receives[k]));
    }
    for (int k = 0; k < NUM; ++k) {
        ept_fill(out, 0, (size_t) sizes[k % 6], key(t->rank, k));
        if (0 == k % 2) {
            EPT_OK(t, MPI_Bsend(out, sizes[k % 6], MPI_BYTE, to, k, comm));
        } else {
            MPI_Request request;

            EPT_OK(t, MPI_Ibsend(out, sizes[k % 6], MPI_BYTE, to, k, comm, &request));
            EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
    }
    detach(t, room);
    EPT_OK(t, MPI_Waitall(NUM, receives, MPI_STATUSES_IGNORE));
    for (int k = 0; k < NUM; ++k) {
        EPT_FILL(t, in[k].data, in[k].size, key(from, k));
        EPT_GUARDS(t, &in[k]);
        ept_buffer_free(&in[k]);
    }
    free(out);
    EPT_OK(t, MPI_Barrier(comm));
}

/* The receiver comes late: the detach waits for it. */
static void case_detach_waits(MPI_Comm comm, struct ept *t)
{
    enum { BYTES = 300000 };
    size_t room = (size_t) t->nlocal * (BYTES + MPI_BSEND_OVERHEAD + 64);
    int peer = t->rank ^ 1;
    unsigned char *out = malloc(BYTES);

    if (t->size == peer) {
        peer = MPI_PROC_NULL;
    }
    attach(t, room);
    for (int half = 0; half < 2; ++half) {
        if (half == t->rank % 2) {
            ept_fill(out, 0, BYTES, key(t->rank, half));
            EPT_OK(t, MPI_Bsend(out, BYTES, MPI_BYTE, peer, TAG_DATA, comm));
            memset(out, 0, BYTES);
        }
    }
    ept_local_barrier(t);
    if (0 == t->local && 1 < t->nlocal) {
        /* Blocks until the other ranks of this and the other process have received. */
        void *address = NULL;
        int size = 0;

        if (MPI_PROC_NULL != peer) {
            EPT_OK(t, MPI_Recv(out, BYTES, MPI_BYTE, peer, TAG_DATA, comm, MPI_STATUS_IGNORE));
            EPT_FILL(t, out, BYTES, key(peer, peer % 2));
        }
        ept_phase(t, "detach");
        EPT_OK(t, MPI_Buffer_detach(&address, &size));
        memset(address, 0x5a, room);
        free(address);
    } else if (MPI_PROC_NULL != peer) {
        double until = ept_time() + 0.05;

        while (ept_time() < until) {
        }
        EPT_OK(t, MPI_Recv(out, BYTES, MPI_BYTE, peer, TAG_DATA, comm, MPI_STATUS_IGNORE));
        EPT_FILL(t, out, BYTES, key(peer, peer % 2));
    }
    if (1 == t->nlocal) {
        detach(t, room);
    }
    free(out);
    EPT_OK(t, MPI_Barrier(comm));
}

/* A full buffer is an error, which passes when there is room again. */
static void case_full(MPI_Comm comm, struct ept *t)
{
    enum { BYTES = 300000, MOST = 5 };
    size_t room = MOST * (BYTES + MPI_BSEND_OVERHEAD) - BYTES / 2;
    static const unsigned char out[BYTES];
    unsigned char *in = malloc(BYTES);
    int sent = 0, got = 0;

    EPT_OK(t, MPI_Comm_dup(comm, &comm));
    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    attach(t, room);
    if (0 == t->rank) {
        int rc = MPI_SUCCESS;

        for (; MOST > sent && MPI_SUCCESS == rc; sent += MPI_SUCCESS == rc) {
            ept_phase(t, "%d messages are in the buffer", sent);
            rc = MPI_Bsend(out, BYTES, MPI_BYTE, t->size - 1, TAG_DATA, comm);
        }
        ept_phase(t, "full after %d messages", sent);
        EPT_CLASS(t, MPI_ERR_BUFFER, rc);
        EPT_CHECK(t, 1 <= sent && MOST > sent, "%d messages fit", sent);
        EPT_OK(t, MPI_Send(&sent, 1, MPI_INT, t->size - 1, TAG_GO, comm));
        EPT_OK(t, MPI_Recv(&got, 1, MPI_INT, t->size - 1, TAG_GO, comm, MPI_STATUS_IGNORE));
        EPT_EQ(t, sent, got);
        EPT_OK(t, MPI_Bsend(out, BYTES, MPI_BYTE, t->size - 1, TAG_DATA, comm));
        EPT_CLASS(t, MPI_ERR_BUFFER, MPI_Bsend(out, (int) room + 1, MPI_BYTE, 0, 9, comm));
    }
    if (t->size - 1 == t->rank && 0 != t->rank) {
        EPT_OK(t, MPI_Recv(&sent, 1, MPI_INT, 0, TAG_GO, comm, MPI_STATUS_IGNORE));
        for (got = 0; got < sent; ++got) {
            EPT_OK(t, MPI_Recv(in, BYTES, MPI_BYTE, 0, TAG_DATA, comm, MPI_STATUS_IGNORE));
        }
        EPT_OK(t, MPI_Send(&got, 1, MPI_INT, 0, TAG_GO, comm));
        EPT_OK(t, MPI_Recv(in, BYTES, MPI_BYTE, 0, TAG_DATA, comm, MPI_STATUS_IGNORE));
    }
    EPT_OK(t, MPI_Barrier(comm));
    detach(t, room);
    free(in);
    EPT_OK(t, MPI_Comm_free(&comm));
}

#if defined(HAVE_EP)
/* Messages of many sizes, in and out in any order, in a buffer of an endpoint's own. */
static void send_mixed(MPI_Comm comm, struct ept *t, int to, int from)
{
    enum { NUM = 60 };
    unsigned char *data = malloc(200000);
    MPI_Request receives[NUM];
    struct ept_buffer in[NUM];

    for (int k = 0; k < NUM; ++k) {
        in[k] = ept_buffer((size_t) sizes[k % 6], 1);
        EPT_OK(t, MPI_Irecv(in[k].data, sizes[k % 6], MPI_BYTE, from, k, comm, &receives[k]));
    }
    for (int k = 0; k < NUM; ++k) {
        int rc;

        ept_fill(data, 0, (size_t) sizes[k % 6], key(t->rank, k));
        do { /* room comes with what has been received */
            rc = MPI_Bsend(data, sizes[k % 6], MPI_BYTE, to, k, comm);
        } while (MPI_SUCCESS != rc);
    }
    EPT_OK(t, MPI_Waitall(NUM, receives, MPI_STATUSES_IGNORE));
    for (int k = 0; k < NUM; ++k) {
        EPT_FILL(t, in[k].data, in[k].size, key(from, k));
        EPT_GUARDS(t, &in[k]);
        ept_buffer_free(&in[k]);
    }
    free(data);
}

/* Each rank attaches, fills and detaches a buffer of its own, from any address on. */
static void case_own(MPI_Comm comm, struct ept *t)
{
    enum { ROOM = 500000, OFF = 3 };
    int size = (int) ROOM + t->rank, to = (t->rank + 1) % t->size, found = 0;
    int from = (t->rank - 1 + t->size) % t->size;
    struct ept_buffer room = ept_buffer((size_t) size + OFF, 1);
    void *address = NULL;

    EPT_OK(t, MPI_Comm_dup(comm, &comm));
    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    EPT_OK(t, MPIX_Thread_attach_index(t->local));
    EPT_OK(t, MPI_Buffer_attach(room.data + OFF, size));
    if (0 != t->local) { /* the first one's is libmpi's, which has a code of its own for this */
        EPT_CLASS(t, MPI_ERR_BUFFER, MPI_Buffer_attach(room.data, OFF));
    }
    EPT_CLASS(t, MPI_ERR_BUFFER, MPI_Bsend(room.data, size, MPI_BYTE, to, TAG_DATA, comm));
    EPT_OK(t, MPI_Barrier(comm));
    send_mixed(comm, t, to, from);
    EPT_OK(t, MPI_Buffer_detach(&address, &found));
    EPT_CHECK(t, room.data + OFF == address, "%p, not %p", address, (void *) (room.data + OFF));
    EPT_EQ(t, size, found);
    /* As much as MPI promises: three messages, each with what MPI has users add. */
    size = 3 * (1000 + MPI_BSEND_OVERHEAD);
    EPT_OK(t, MPI_Buffer_attach(room.data + OFF, size));
    for (int k = 0; k < 3; ++k) {
        EPT_OK(t, MPI_Bsend(room.data, 1000, MPI_BYTE, to, k, comm));
    }
    for (int k = 0; k < 3; ++k) {
        char in[1000];

        EPT_OK(t, MPI_Recv(in, 1000, MPI_BYTE, from, k, comm, MPI_STATUS_IGNORE));
    }
    EPT_OK(t, MPI_Buffer_detach(&address, &found));
    EPT_EQ(t, size, found);
    EPT_GUARDS(t, &room);
    EPT_OK(t, MPI_Barrier(
                  comm)); /* an endpoint without a buffer uses the first one's, the process's */
    EPT_CLASS(t, MPI_ERR_BUFFER, MPI_Bsend("a", 1, MPI_BYTE, to, 0, comm));
    EPT_OK(t, MPI_Barrier(comm));
    EPT_OK(t, MPIX_Thread_attach_index(0));
    ept_buffer_free(&room);
    EPT_OK(t, MPI_Comm_free(&comm));
}
#endif

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (t->endpoints) {
        EPT_CASE(t, case_no_buffer);
    } else {
        ept_skip(t, "case_no_buffer", "ob1 sends small messages without a buffer");
    }
    EPT_CASE(t, case_shared);
    if (2 <= t->size) {
        EPT_CASE(t, case_detach_waits);
        if (t->endpoints) {
            EPT_CASE(t, case_full);
        } else {
            ept_skip(t, "case_full", "no message of ob1's comes after one that found it full");
        }
    } else {
        ept_skip(t, "case_detach_waits", "needs two ranks");
        ept_skip(t, "case_full", "needs two ranks");
    }
#if defined(HAVE_EP)
    if (0 != ept_option_long("static", 0)) {
        EPT_CASE(t, case_own);
    }
#endif
    return 0;
}
