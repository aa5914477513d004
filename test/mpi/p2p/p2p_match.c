/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Matching: wildcards, which receive gets a message when several could have it, probe and iprobe,
 * matched probe and receive, communicators that must not mix.
 *
 * Guards: pml_epml_match.h, pml_epml_probe.c
 */

#include "ept.h"

enum { TAG_END = 500, TAG_UNUSED = 999 };

/* Size of message number i of a stream: some below, some above the eager limits. */
static int size_of(int i)
{
    static const int sizes[] = {4, 100, 4000, 17, 20000, 64, 150000, 9};

    return sizes[i % 8];
}

static uint64_t key_of(int from, int i)
{
    return ept_mix(77, (uint64_t) from, (uint64_t) i, 0);
}

/* Everyone but rank 0 sends `many` messages to rank 0, tags 0, 1, 2 ...; rank 0 takes them with
 * wildcards of each kind and checks the order per source. */
static void send_stream(MPI_Comm comm, struct ept *t, int many)
{
    unsigned char **data = malloc((size_t) many * sizeof(*data));
    MPI_Request *requests = malloc((size_t) many * sizeof(*requests));

    for (int i = 0; i < many; ++i) {
        data[i] = malloc((size_t) size_of(i));
        ept_fill(data[i], 0, (size_t) size_of(i), key_of(t->rank, i));
        EPT_OK(t, MPI_Isend(data[i], size_of(i), MPI_BYTE, 0, i, comm, &requests[i]));
    }
    EPT_OK(t, MPI_Waitall(many, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < many; ++i) {
        free(data[i]);
    }
    free(requests);
    free(data);
}

static void check_message(struct ept *t, struct ept_buffer *in, const MPI_Status *status)
{
    EPT_STATUS(t, status, status->MPI_SOURCE, status->MPI_TAG, size_of(status->MPI_TAG));
    EPT_FILL(t, in->data, (size_t) size_of(status->MPI_TAG),
             key_of(status->MPI_SOURCE, status->MPI_TAG));
    EPT_GUARDS(t, in);
    ept_buffer_clear(in);
}

static void take_any_any(MPI_Comm comm, struct ept *t, int many)
{
    struct ept_buffer in = ept_buffer(150000, 3);
    int *next = calloc((size_t) t->size, sizeof(int));

    for (int n = 0; n < many * (t->size - 1); ++n) {
        MPI_Status status;

        EPT_OK(t, MPI_Recv(in.data, 150000, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status));
        EPT_CHECK(t, 1 <= status.MPI_SOURCE && t->size > status.MPI_SOURCE, "source %d",
                  status.MPI_SOURCE);
        EPT_EQ(t, next[status.MPI_SOURCE], status.MPI_TAG);
        next[status.MPI_SOURCE] = status.MPI_TAG + 1;
        check_message(t, &in, &status);
    }
    free(next);
    ept_buffer_free(&in);
}

static void take_any_source(MPI_Comm comm, struct ept *t, int many)
{
    struct ept_buffer in = ept_buffer(150000, 5);
    bool *seen = calloc((size_t) t->size, sizeof(bool));

    /* By tag, the last tag first: each tag comes once from each source. */
    for (int tag = many - 1; tag >= 0; --tag) {
        memset(seen, 0, (size_t) t->size * sizeof(bool));
        for (int n = 1; n < t->size; ++n) {
            MPI_Status status;

            EPT_OK(t,
                   MPI_Recv(in.data, size_of(tag), MPI_BYTE, MPI_ANY_SOURCE, tag, comm, &status));
            EPT_EQ(t, tag, status.MPI_TAG);
            EPT_CHECK(t, !seen[status.MPI_SOURCE], "tag %d twice from %d", tag, status.MPI_SOURCE);
            seen[status.MPI_SOURCE] = true;
            check_message(t, &in, &status);
        }
    }
    free(seen);
    ept_buffer_free(&in);
}

static void take_any_tag(MPI_Comm comm, struct ept *t, int many)
{
    struct ept_buffer in = ept_buffer(150000, 0);

    for (int source = t->size - 1; source > 0; --source) {
        for (int n = 0; n < many; ++n) {
            MPI_Status status;

            EPT_OK(t, MPI_Recv(in.data, 150000, MPI_BYTE, source, MPI_ANY_TAG, comm, &status));
            EPT_EQ(t, source, status.MPI_SOURCE);
            EPT_EQ(t, n, status.MPI_TAG);
            check_message(t, &in, &status);
        }
    }
    ept_buffer_free(&in);
}

static void case_wildcards(MPI_Comm comm, struct ept *t)
{
    int many = 8 < t->size ? 8 : 24;

    for (int kind = 0; kind < 3; ++kind) {
        ept_phase(t, "kind %d", kind);
        if (0 != t->rank) {
            send_stream(comm, t, many);
        } else if (0 == kind) {
            take_any_any(comm, t, many);
        } else if (1 == kind) {
            take_any_source(comm, t, many);
        } else {
            take_any_tag(comm, t, many);
        }
        EPT_OK(t, MPI_Barrier(comm));
    }
}

/* Posted receives are served in the order of posting, wildcard or not. */
static void case_posted_order(MPI_Comm comm, struct ept *t)
{
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;

    for (int unexpected = 0; unexpected < 2; ++unexpected) {
        int in[5] = {-1, -1, -1, -1, -1}, out[5] = {10, 11, 12, 13, 14};
        static const int tags[5] = {1, 2, 1, 3, 2}; /* of the messages, in the order of sending */
        static const int expected[5] = {10, 12, 11, 13, 14}; /* for the receives below */
        MPI_Request receives[5], sends[5];
        MPI_Status statuses[5];

        for (int half = 0; half < 2; ++half) {
            if (unexpected != half) {
                EPT_OK(t, MPI_Irecv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, &receives[0]));
                EPT_OK(t, MPI_Irecv(&in[1], 1, MPI_INT, from, 1, comm, &receives[1]));
                EPT_OK(t, MPI_Irecv(&in[2], 1, MPI_INT, from, MPI_ANY_TAG, comm, &receives[2]));
                EPT_OK(t, MPI_Irecv(&in[3], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm,
                                    &receives[3]));
                EPT_OK(t, MPI_Irecv(&in[4], 1, MPI_INT, from, 2, comm, &receives[4]));
            } else {
                for (int i = 0; i < 5; ++i) {
                    EPT_OK(t, MPI_Isend(&out[i], 1, MPI_INT, to, tags[i], comm, &sends[i]));
                }
            }
            /* What was done so far is there before the other half starts: receives posted, or
             * messages on their way. (Wildcards never see the barrier's own messages.) */
            EPT_OK(t, MPI_Barrier(comm));
        }
        EPT_OK(t, MPI_Waitall(5, receives, statuses));
        EPT_OK(t, MPI_Waitall(5, sends, MPI_STATUSES_IGNORE));
        for (int i = 0; i < 5; ++i) {
            EPT_EQ(t, expected[i], in[i]);
            EPT_STATUS(t, &statuses[i], from, tags[expected[i] - 10], sizeof(int));
        }
    }
}

/* Probe says what the next receive will get, and takes nothing away. */
static void probe_stream(MPI_Comm comm, struct ept *t, int many, bool blocking)
{
    int *next = calloc((size_t) t->size, sizeof(int));

    for (int n = 0; n < many * (t->size - 1); ++n) {
        MPI_Status probed, again, status;
        struct ept_buffer in;
        int bytes = -1, flag = 0, source = 0 == n % 2 ? MPI_ANY_SOURCE : 1 + n % (t->size - 1);

        if (MPI_ANY_SOURCE != source && many == next[source]) {
            source = MPI_ANY_SOURCE;
        }
        if (blocking) {
            EPT_OK(t, MPI_Probe(source, MPI_ANY_TAG, comm, &probed));
        } else {
            while (0 == flag) {
                EPT_OK(t, MPI_Iprobe(source, MPI_ANY_TAG, comm, &flag, &probed));
            }
        }
        EPT_OK(t, MPI_Get_count(&probed, MPI_BYTE, &bytes));
        EPT_EQ(t, size_of(probed.MPI_TAG), bytes);
        EPT_EQ(t, next[probed.MPI_SOURCE], probed.MPI_TAG);
        next[probed.MPI_SOURCE] = probed.MPI_TAG + 1;
        flag = 0;
        EPT_OK(t, MPI_Iprobe(probed.MPI_SOURCE, probed.MPI_TAG, comm, &flag, &again));
        EPT_EQ(t, 1, flag);
        EPT_STATUS(t, &again, probed.MPI_SOURCE, probed.MPI_TAG, bytes);
        in = ept_buffer((size_t) bytes, 0);
        EPT_OK(t, MPI_Recv(in.data, bytes, MPI_BYTE, probed.MPI_SOURCE, probed.MPI_TAG, comm,
                           &status));
        EPT_STATUS(t, &status, probed.MPI_SOURCE, probed.MPI_TAG, bytes);
        check_message(t, &in, &status);
        ept_buffer_free(&in);
    }
    free(next);
}

static void case_probe(MPI_Comm comm, struct ept *t)
{
    int many = 8 < t->size ? 8 : 24, flag = 1;

    EPT_OK(t, MPI_Iprobe(MPI_ANY_SOURCE, TAG_UNUSED, comm, &flag, MPI_STATUS_IGNORE));
    EPT_EQ(t, 0, flag);
    for (int blocking = 0; blocking < 2; ++blocking) {
        ept_phase(t, "blocking %d", blocking);
        if (0 != t->rank) {
            send_stream(comm, t, many);
        } else {
            probe_stream(comm, t, many, 1 == blocking);
        }
        EPT_OK(t, MPI_Barrier(comm));
    }
    EPT_OK(t, MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE));
    EPT_EQ(t, 0, flag);
}

/* A matched message belongs to its handle: no receive or probe sees it any more, and the next one
 * of the stream may be received before it. */
static void mprobe_stream(MPI_Comm comm, struct ept *t, int many)
{
    for (int source = 1; source < t->size; ++source) {
        for (int i = 0; i + 1 < many; i += 2) {
            struct ept_buffer first = ept_buffer((size_t) size_of(i), 0);
            struct ept_buffer second = ept_buffer((size_t) size_of(i + 1), 0);
            MPI_Message message = MPI_MESSAGE_NULL;
            MPI_Request request;
            MPI_Status status;
            int flag = 0;

            if (0 == i % 4) {
                EPT_OK(t, MPI_Mprobe(source, MPI_ANY_TAG, comm, &message, &status));
            } else {
                while (0 == flag) {
                    EPT_OK(t, MPI_Improbe(source, MPI_ANY_TAG, comm, &flag, &message, &status));
                }
            }
            EPT_STATUS(t, &status, source, i, size_of(i));
            EPT_OK(t, MPI_Iprobe(source, i, comm, &flag, MPI_STATUS_IGNORE));
            EPT_EQ(t, 0, flag);
            EPT_OK(t, MPI_Recv(second.data, size_of(i + 1), MPI_BYTE, source, MPI_ANY_TAG, comm,
                               &status));
            EPT_EQ(t, i + 1, status.MPI_TAG);
            check_message(t, &second, &status);
            if (0 == i % 4) {
                EPT_OK(t, MPI_Imrecv(first.data, size_of(i), MPI_BYTE, &message, &request));
                EPT_OK(t, MPI_Wait(&request, &status));
            } else {
                EPT_OK(t, MPI_Mrecv(first.data, size_of(i), MPI_BYTE, &message, &status));
            }
            EPT_CHECK(t, MPI_MESSAGE_NULL == message, "message handle not null after mrecv");
            EPT_EQ(t, i, status.MPI_TAG);
            check_message(t, &first, &status);
            ept_buffer_free(&first);
            ept_buffer_free(&second);
        }
    }
}

static void case_matched_probe(MPI_Comm comm, struct ept *t)
{
    int many = 8 < t->size ? 8 : 24;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;

    EPT_OK(t, MPI_Mprobe(MPI_PROC_NULL, 0, comm, &message, &status));
    EPT_CHECK(t, MPI_MESSAGE_NO_PROC == message, "mprobe of MPI_PROC_NULL");
    EPT_OK(t, MPI_Mrecv(NULL, 0, MPI_INT, &message, &status));
    EPT_STATUS(t, &status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    if (0 != t->rank) {
        send_stream(comm, t, many);
    } else {
        mprobe_stream(comm, t, many);
    }
}

/* The same ranks and tags on three communicators: each receive gets its own communicator's. */
static void case_contexts(MPI_Comm comm, struct ept *t)
{
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    int in[3] = {-1, -1, -1}, out[3], flag = 1;
    MPI_Comm comms[3] = {comm, MPI_COMM_NULL, MPI_COMM_NULL};
    MPI_Request sends[3];
    MPI_Status status;

    EPT_OK(t, MPI_Comm_dup(comm, &comms[1]));
    EPT_OK(t, MPI_Comm_dup(comms[1], &comms[2]));
    for (int i = 0; i < 3; ++i) {
        out[i] = 100 * t->rank + i;
        EPT_OK(t, MPI_Isend(&out[i], 1, MPI_INT, to, 4, comms[i], &sends[i]));
    }
    for (int i = 2; i >= 0; --i) {
        EPT_OK(t, MPI_Recv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i], &status));
        EPT_EQ(t, 100 * from + i, in[i]);
        EPT_STATUS(t, &status, from, 4, sizeof(int));
        EPT_OK(t, MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i], &flag, &status));
        EPT_EQ(t, 0, flag);
    }
    EPT_OK(t, MPI_Waitall(3, sends, MPI_STATUSES_IGNORE));
    EPT_OK(t, MPI_Comm_free(&comms[2]));
    EPT_OK(t, MPI_Comm_free(&comms[1]));
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_wildcards);
    EPT_CASE(t, case_posted_order);
    EPT_CASE(t, case_probe);
    EPT_CASE(t, case_matched_probe);
    EPT_CASE(t, case_contexts);
    return 0;
}
