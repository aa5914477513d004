/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Point-to-point basics: the four send modes, when each may complete, MPI_PROC_NULL, messages to
 * oneself, wildcards, probes, sendrecv, status fields, truncation.
 *
 * Guards: pml_epml_base.c, pml_epml_irecv.c, pml_epml_isend.c, pml_epml_module.c, btl_epshm_sendi.c
 */

#include "ept.h"

enum { TAG_DATA = 11, TAG_GO = 12, TAG_TIME = 13 };
enum mode { STANDARD, BUFFERED, SYNCHRONOUS, READY, NUM_MODES };

static const int counts[] = {0, 1, 5, 700, 5000, 100000}; /* of int: across the eager limits */
#define NUM_COUNTS ((int) (sizeof(counts) / sizeof(counts[0])))
#define MAX_COUNT 100000

/* Buffered sends: one buffer per process serves all its ranks. */
static void *attached;
static size_t attached_size;

static void attach(struct ept *t)
{
    ept_local_barrier(t);
    if (0 == t->local) {
        attached_size = (size_t) t->nlocal * (MAX_COUNT * sizeof(int) + MPI_BSEND_OVERHEAD + 64);
        attached = malloc(attached_size);
        EPT_OK(t, MPI_Buffer_attach(attached, (int) attached_size));
    }
    ept_local_barrier(t);
}

static void detach(struct ept *t)
{
    ept_local_barrier(t);
    if (0 == t->local) {
        void *address = NULL;
        int size = 0;

        EPT_OK(t, MPI_Buffer_detach(&address, &size));
        EPT_CHECK(t, attached == address, "detached another buffer");
        EPT_EQ(t, attached_size, size);
        free(attached);
    }
    ept_local_barrier(t);
}

static int send_mode(enum mode mode, const int *data, int count, int to, MPI_Comm comm)
{
    switch (mode) {
    case BUFFERED:
        return MPI_Bsend(data, count, MPI_INT, to, TAG_DATA, comm);
    case SYNCHRONOUS:
        return MPI_Ssend(data, count, MPI_INT, to, TAG_DATA, comm);
    case READY:
        return MPI_Rsend(data, count, MPI_INT, to, TAG_DATA, comm);
    default:
        return MPI_Send(data, count, MPI_INT, to, TAG_DATA, comm);
    }
}

static int isend_mode(enum mode mode, const int *data, int count, int to, MPI_Comm comm,
                      MPI_Request *request)
{
    switch (mode) {
    case BUFFERED:
        return MPI_Ibsend(data, count, MPI_INT, to, TAG_DATA, comm, request);
    case SYNCHRONOUS:
        return MPI_Issend(data, count, MPI_INT, to, TAG_DATA, comm, request);
    case READY:
        return MPI_Irsend(data, count, MPI_INT, to, TAG_DATA, comm, request);
    default:
        return MPI_Isend(data, count, MPI_INT, to, TAG_DATA, comm, request);
    }
}

static uint64_t key_of(int from, int mode, int count, int blocking)
{
    return ept_mix((uint64_t) from, (uint64_t) mode, (uint64_t) count, (uint64_t) blocking);
}

static void sender(struct ept *t, int peer, enum mode mode, int count, bool blocking)
{
    size_t bytes = (size_t) count * sizeof(int);
    int *data = malloc(bytes + 1);

    ept_fill(data, 0, bytes, key_of(t->rank, mode, count, blocking));
    EPT_OK(t, MPI_Recv(NULL, 0, MPI_INT, peer, TAG_GO, t->comm, MPI_STATUS_IGNORE));
    if (blocking) {
        EPT_OK(t, send_mode(mode, data, count, peer, t->comm));
    } else {
        MPI_Request request = MPI_REQUEST_NULL;

        EPT_OK(t, isend_mode(mode, data, count, peer, t->comm, &request));
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        EPT_CHECK(t, MPI_REQUEST_NULL == request, "request not set to null");
    }
    free(data);
}

static void receiver(struct ept *t, int peer, enum mode mode, int count, bool blocking,
                     bool expected)
{
    size_t bytes = (size_t) count * sizeof(int);
    struct ept_buffer buffer = ept_buffer(bytes, 0);
    MPI_Request request;
    MPI_Status status;

    /* A ready send needs the receive to be there. */
    if (expected || READY == mode) {
        EPT_OK(t, MPI_Irecv(buffer.data, count, MPI_INT, peer, TAG_DATA, t->comm, &request));
        EPT_OK(t, MPI_Send(NULL, 0, MPI_INT, peer, TAG_GO, t->comm));
        EPT_OK(t, MPI_Wait(&request, &status));
    } else {
        EPT_OK(t, MPI_Send(NULL, 0, MPI_INT, peer, TAG_GO, t->comm));
        EPT_OK(t, MPI_Recv(buffer.data, count, MPI_INT, peer, TAG_DATA, t->comm, &status));
    }
    EPT_STATUS(t, &status, peer, TAG_DATA, bytes);
    EPT_FILL(t, buffer.data, bytes, key_of(peer, mode, count, blocking));
    EPT_GUARDS(t, &buffer);
    ept_buffer_free(&buffer);
}

static void modes_with(struct ept *t, int peer, bool lower)
{
    for (int mode = 0; mode < NUM_MODES; ++mode) {
        for (int c = 0; c < NUM_COUNTS; ++c) {
            for (int variant = 0; variant < 4; ++variant) {
                bool blocking = 0 != (variant & 1), expected = 0 != (variant & 2);

                ept_phase(t, "mode %d, count %d, blocking %d, expected %d, peer %d", mode,
                          counts[c], blocking, expected, peer);
                /* Both directions, one after the other. */
                for (int turn = 0; turn < 2; ++turn) {
                    if (lower == (0 == turn)) {
                        sender(t, peer, mode, counts[c], blocking);
                    } else {
                        receiver(t, peer, mode, counts[c], blocking, expected);
                    }
                }
            }
        }
    }
}

static void case_modes(MPI_Comm comm, struct ept *t)
{
    enum ept_pairing pairings[3];
    int n = ept_pairings(t, pairings);

    (void) comm;
    attach(t);
    for (int i = 0; i < n; ++i) {
        int peer = ept_partner(t, pairings[i]);

        if (MPI_PROC_NULL != peer) {
            modes_with(t, peer, t->rank < peer);
        }
    }
    ept_phase(t, "detach");
    detach(t);
}

/* A synchronous send must not be complete before the receiver has matched it; a buffered one must
 * complete though nobody receives. */
static void case_completion(MPI_Comm comm, struct ept *t)
{
    int peer = ept_partner(t, EPT_PAIR_NEXT);

    attach(t);
    for (int c = 0; MPI_PROC_NULL != peer && c < NUM_COUNTS; ++c) {
        int count = counts[c], flag = 0;
        int *data = calloc((size_t) count + 1, sizeof(int));
        double posted = 0, completed;
        MPI_Request request;

        ept_phase(t, "count %d", count);
        if (t->rank < peer) {
            EPT_OK(t, MPI_Issend(data, count, MPI_INT, peer, TAG_DATA, comm, &request));
            for (int i = 0; i < 300; ++i) {
                EPT_OK(t, MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
                EPT_CHECK(t, 0 == flag, "Issend of %d ints complete before it was matched", count);
            }
            EPT_OK(t, MPI_Bsend(data, count, MPI_INT, peer, TAG_TIME, comm));
            EPT_OK(t, MPI_Send(NULL, 0, MPI_INT, peer, TAG_GO, comm));
            EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
            EPT_OK(t, MPI_Ssend(data, count, MPI_INT, peer, TAG_DATA, comm));
            completed = ept_time();
            EPT_OK(t, MPI_Recv(&posted, 1, MPI_DOUBLE, peer, TAG_TIME, comm, MPI_STATUS_IGNORE));
            EPT_CHECK(t, completed >= posted,
                      "Ssend of %d ints returned %.6f s before the receive was posted", count,
                      posted - completed);
        } else {
            EPT_OK(t, MPI_Recv(NULL, 0, MPI_INT, peer, TAG_GO, comm, MPI_STATUS_IGNORE));
            EPT_OK(t, MPI_Recv(data, count, MPI_INT, peer, TAG_DATA, comm, MPI_STATUS_IGNORE));
            EPT_OK(t, MPI_Recv(data, count, MPI_INT, peer, TAG_TIME, comm, MPI_STATUS_IGNORE));
            for (double end = ept_time() + 0.02; ept_time() < end;) {
                EPT_OK(t, MPI_Iprobe(peer, TAG_GO, comm, &flag, MPI_STATUS_IGNORE));
                EPT_EQ(t, 0, flag);
            }
            posted = ept_time();
            EPT_OK(t, MPI_Recv(data, count, MPI_INT, peer, TAG_DATA, comm, MPI_STATUS_IGNORE));
            EPT_OK(t, MPI_Send(&posted, 1, MPI_DOUBLE, peer, TAG_TIME, comm));
        }
        free(data);
    }
    detach(t);
}

static void check_empty(struct ept *t, const MPI_Status *status)
{
    int count = -1;

    EPT_EQ(t, MPI_PROC_NULL, status->MPI_SOURCE);
    EPT_EQ(t, MPI_ANY_TAG, status->MPI_TAG);
    EPT_OK(t, MPI_Get_count(status, MPI_INT, &count));
    EPT_EQ(t, 0, count);
}

static void case_proc_null(MPI_Comm comm, struct ept *t)
{
    MPI_Request requests[2];
    MPI_Status status[2];
    int value = 77, flag = 0;

    EPT_OK(t, MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 3, comm));
    EPT_OK(t, MPI_Ssend(&value, 1, MPI_INT, MPI_PROC_NULL, 3, comm));
    EPT_OK(t, MPI_Rsend(&value, 1, MPI_INT, MPI_PROC_NULL, 3, comm));
    EPT_OK(t, MPI_Bsend(&value, 1, MPI_INT, MPI_PROC_NULL, 3, comm));
    EPT_OK(t, MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 3, comm, &status[0]));
    check_empty(t, &status[0]);
    EPT_OK(t, MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 3, comm, &requests[0]));
    EPT_OK(t, MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 3, comm, &requests[1]));
    EPT_OK(t, MPI_Waitall(2, requests, status));
    check_empty(t, &status[1]);
    EPT_OK(t, MPI_Sendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, &value, 1, MPI_INT, MPI_PROC_NULL,
                           1, comm, &status[0]));
    check_empty(t, &status[0]);
    EPT_OK(t, MPI_Probe(MPI_PROC_NULL, 3, comm, &status[0]));
    check_empty(t, &status[0]);
    EPT_OK(t, MPI_Iprobe(MPI_PROC_NULL, 3, comm, &flag, &status[0]));
    EPT_EQ(t, 1, flag);
    check_empty(t, &status[0]);
    EPT_EQ(t, 77, value);
}

static void case_self(MPI_Comm comm, struct ept *t)
{
    for (int c = 0; c < NUM_COUNTS; ++c) {
        int count = counts[c];
        size_t bytes = (size_t) count * sizeof(int);
        int *out = malloc(bytes + 1);
        struct ept_buffer in = ept_buffer(bytes, 4);
        uint64_t key = key_of(t->rank, 9, count, 0);
        MPI_Request requests[2];
        MPI_Status status;

        ept_phase(t, "count %d", count);
        ept_fill(out, 0, bytes, key);
        EPT_OK(t, MPI_Isend(out, count, MPI_INT, t->rank, 5, comm, &requests[0]));
        EPT_OK(t, MPI_Recv(in.data, count, MPI_INT, MPI_ANY_SOURCE, 5, comm, &status));
        EPT_OK(t, MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        EPT_STATUS(t, &status, t->rank, 5, bytes);
        EPT_FILL(t, in.data, bytes, key);

        ept_buffer_clear(&in);
        EPT_OK(t, MPI_Irecv(in.data, count, MPI_INT, t->rank, MPI_ANY_TAG, comm, &requests[0]));
        EPT_OK(t, MPI_Isend(out, count, MPI_INT, t->rank, 6, comm, &requests[1]));
        EPT_OK(t, MPI_Wait(&requests[0], &status));
        EPT_OK(t, MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
        EPT_STATUS(t, &status, t->rank, 6, bytes);
        EPT_FILL(t, in.data, bytes, key);

        ept_buffer_clear(&in);
        EPT_OK(t, MPI_Sendrecv(out, count, MPI_INT, t->rank, 7, in.data, count, MPI_INT, t->rank, 7,
                               comm, &status));
        EPT_STATUS(t, &status, t->rank, 7, bytes);
        EPT_FILL(t, in.data, bytes, key);
        EPT_GUARDS(t, &in);
        ept_buffer_free(&in);
        free(out);
    }
}

static void sendrecv_shift(MPI_Comm comm, struct ept *t, int shift, int count)
{
    int to = (t->rank + shift) % t->size, from = (t->rank - shift + t->size) % t->size;
    size_t bytes = (size_t) count * sizeof(int);
    int *out = malloc(bytes + 1);
    struct ept_buffer in = ept_buffer(bytes, 0);
    MPI_Request request;
    MPI_Status status;

    ept_fill(out, 0, bytes, key_of(t->rank, 20, count, shift));
    EPT_OK(t, MPI_Sendrecv(out, count, MPI_INT, to, shift, in.data, count, MPI_INT, from, shift,
                           comm, &status));
    EPT_STATUS(t, &status, from, shift, bytes);
    EPT_FILL(t, in.data, bytes, key_of(from, 20, count, shift));

    memcpy(in.data, out, bytes);
    EPT_OK(t, MPI_Sendrecv_replace(in.data, count, MPI_INT, to, shift + 1, from, shift + 1, comm,
                                   &status));
    EPT_STATUS(t, &status, from, shift + 1, bytes);
    EPT_FILL(t, in.data, bytes, key_of(from, 20, count, shift));
#if 4 <= MPI_VERSION || (defined(OMPI_MAJOR_VERSION) && 5 <= OMPI_MAJOR_VERSION)
    ept_buffer_clear(&in);
    EPT_OK(t, MPI_Isendrecv(out, count, MPI_INT, to, 1, in.data, count, MPI_INT, from, 1, comm,
                            &request));
    EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    EPT_FILL(t, in.data, bytes, key_of(from, 20, count, shift));
#endif
    EPT_GUARDS(t, &in);
    ept_buffer_free(&in);
    free(out);
}

static void case_sendrecv(MPI_Comm comm, struct ept *t)
{
    int shifts[4], n = ept_shifts(t, shifts);

    for (int i = 0; i < n; ++i) {
        for (int c = 0; c < NUM_COUNTS; ++c) {
            ept_phase(t, "shift %d, count %d", shifts[i], counts[c]);
            sendrecv_shift(comm, t, shifts[i], counts[c]);
        }
    }
}

/* Counts and elements of partial receives; buffers larger than the message. */
static void case_status(MPI_Comm comm, struct ept *t)
{
    int out[12], in[12], count = -1, cancelled = 1;
    MPI_Datatype triple;
    MPI_Status status;

    EPT_OK(t, MPI_Type_contiguous(3, MPI_INT, &triple));
    EPT_OK(t, MPI_Type_commit(&triple));
    for (int n = 0; n <= 12; ++n) {
        MPI_Request request;

        for (int i = 0; i < 12; ++i) {
            out[i] = 1000 * n + i;
            in[i] = -1;
        }
        EPT_OK(t, MPI_Isend(out, n, MPI_INT, (t->rank + 1) % t->size, n, comm, &request));
        EPT_OK(t, MPI_Recv(in, 4, triple, (t->rank - 1 + t->size) % t->size, n, comm, &status));
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        EPT_OK(t, MPI_Get_count(&status, triple, &count));
        EPT_EQ(t, 0 == n % 3 ? n / 3 : MPI_UNDEFINED, count);
        EPT_OK(t, MPI_Get_elements(&status, triple, &count));
        EPT_EQ(t, n, count);
        EPT_OK(t, MPI_Get_count(&status, MPI_INT, &count));
        EPT_EQ(t, n, count);
        EPT_OK(t, MPI_Test_cancelled(&status, &cancelled));
        EPT_EQ(t, 0, cancelled);
        for (int i = 0; i < 12; ++i) {
            EPT_EQ(t, i < n ? 1000 * n + i : -1, in[i]);
        }
    }
    EPT_OK(t, MPI_Type_free(&triple));
}

/* The message is longer than the receive: an error of the receive, and nothing else is broken. */
static void truncate_once(MPI_Comm comm, struct ept *t, int peer, int sent, int room, bool expected)
{
    int *out = calloc((size_t) sent, sizeof(int)), token = 0;
    struct ept_buffer in = ept_buffer((size_t) room * sizeof(int), 0);
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int rc;

    if (t->rank < peer) {
        EPT_OK(t, MPI_Recv(NULL, 0, MPI_INT, peer, TAG_GO, comm, MPI_STATUS_IGNORE));
        EPT_OK(t, MPI_Isend(out, sent, MPI_INT, peer, TAG_DATA, comm, &requests[0]));
        EPT_OK(t, MPI_Isend(out, 1, MPI_INT, peer, TAG_TIME, comm, &requests[1]));
        EPT_OK(t, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        /* The way back still works. */
        EPT_OK(t, MPI_Recv(&token, 1, MPI_INT, peer, TAG_GO, comm, MPI_STATUS_IGNORE));
        EPT_EQ(t, 4711, token);
    } else {
        if (expected) {
            EPT_OK(t, MPI_Irecv(in.data, room, MPI_INT, peer, TAG_DATA, comm, &requests[0]));
            EPT_OK(t, MPI_Irecv(&token, 1, MPI_INT, peer, TAG_TIME, comm, &requests[1]));
            EPT_OK(t, MPI_Send(NULL, 0, MPI_INT, peer, TAG_GO, comm));
            rc = MPI_Waitall(2, requests, statuses);
            EPT_CLASS(t, MPI_ERR_IN_STATUS, rc);
            EPT_CLASS(t, MPI_ERR_TRUNCATE, statuses[0].MPI_ERROR);
            /* Waitall may stop at the first error: then the other request is still pending. */
            if (MPI_REQUEST_NULL != requests[1]) {
                EPT_OK(t, MPI_Wait(&requests[1], &statuses[1]));
            } else {
                EPT_CLASS(t, MPI_SUCCESS, statuses[1].MPI_ERROR);
            }
        } else {
            EPT_OK(t, MPI_Send(NULL, 0, MPI_INT, peer, TAG_GO, comm));
            /* The later message is here, so the earlier one is unexpected. */
            EPT_OK(t, MPI_Recv(&token, 1, MPI_INT, peer, TAG_TIME, comm, MPI_STATUS_IGNORE));
            rc = MPI_Recv(in.data, room, MPI_INT, peer, TAG_DATA, comm, &statuses[0]);
            EPT_CLASS(t, MPI_ERR_TRUNCATE, rc);
        }
        EPT_EQ(t, peer, statuses[0].MPI_SOURCE);
        EPT_EQ(t, TAG_DATA, statuses[0].MPI_TAG);
        EPT_GUARDS(t, &in);
        token = 4711;
        EPT_OK(t, MPI_Send(&token, 1, MPI_INT, peer, TAG_GO, comm));
    }
    ept_buffer_free(&in);
    free(out);
}

static void case_truncation(MPI_Comm comm, struct ept *t)
{
    static const struct {
        int sent, room;
    } sizes[] = {{1, 0},    {2, 1},       {20, 10},        {3000, 2999},
                 {3000, 0}, {100000, 10}, {100000, 99999}, {300000, 299999}};
    enum ept_pairing pairings[3];
    int n = ept_pairings(t, pairings);

    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    for (int i = 0; i < n; ++i) {
        int peer = ept_partner(t, pairings[i]);

        for (size_t s = 0; MPI_PROC_NULL != peer && s < sizeof(sizes) / sizeof(sizes[0]); ++s) {
            for (int expected = 0; expected < 2; ++expected) {
                ept_phase(t, "sent %d ints, room %d, expected %d, peer %d", sizes[s].sent,
                          sizes[s].room, expected, peer);
                truncate_once(comm, t, peer, sizes[s].sent, sizes[s].room, 1 == expected);
            }
        }
    }
    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL));
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_modes);
    EPT_CASE(t, case_completion);
    EPT_CASE(t, case_proc_null);
    EPT_CASE(t, case_self);
    EPT_CASE(t, case_sendrecv);
    EPT_CASE(t, case_status);
    EPT_CASE(t, case_truncation);
    return 0;
}
