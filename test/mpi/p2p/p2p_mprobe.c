/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Matched probes: all four calls in all combinations, with wildcards, MPI_PROC_NULL, small and
 * large messages, several threads on one endpoint, and messages that are taken out and received
 * only after others, or after their communicator has been freed.
 *
 * Guards: pml_epml_probe.c
 */

#include "ept.h"

enum { TAG = 80, THREADS = 4 };

static const int sizes[] = {0, 8, 700, 9000, 200000};

static uint64_t key(int from, int k)
{
    return ept_mix(41, (uint64_t) from, (uint64_t) k, 0);
}

/* Take a message out: blocking or not, with wildcards or without. */
static void take(MPI_Comm comm, struct ept *t, int how, int from, int tag, MPI_Message *message,
                 MPI_Status *status)
{
    int source = 0 != (how & 1) ? MPI_ANY_SOURCE : from, flag = 0;
    int what = 0 != (how & 2) ? MPI_ANY_TAG : tag;

    *message = MPI_MESSAGE_NULL;
    if (0 == (how & 4)) {
        EPT_OK(t, MPI_Mprobe(source, what, comm, message, status));
        return;
    }
    while (0 == flag) {
        EPT_OK(t, MPI_Improbe(source, what, comm, &flag, message, status));
    }
}

static void receive(struct ept *t, int how, MPI_Message *message, int from, int tag, int k)
{
    const int bytes = sizes[k % 5];
    struct ept_buffer in = ept_buffer((size_t) bytes, 1);
    MPI_Status status;

    if (0 == (how & 8)) {
        EPT_OK(t, MPI_Mrecv(in.data, bytes, MPI_BYTE, message, &status));
    } else {
        MPI_Request request;

        EPT_OK(t, MPI_Imrecv(in.data, bytes, MPI_BYTE, message, &request));
        EPT_OK(t, MPI_Wait(&request, &status));
        EPT_CHECK(t, MPI_REQUEST_NULL == request, "the request is left");
    }
    EPT_CHECK(t, MPI_MESSAGE_NULL == *message, "the message is left");
    EPT_STATUS(t, &status, from, tag, bytes);
    EPT_FILL(t, in.data, in.size, key(from, k));
    EPT_GUARDS(t, &in);
    ept_buffer_free(&in);
}

static void case_combinations(MPI_Comm comm, struct ept *t)
{
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    unsigned char *out = malloc(200000);

    for (int k = 0; k < 16 * 5; ++k) {
        MPI_Message message;
        MPI_Request request;
        MPI_Status status;
        int how = k / 5;

        ept_phase(t, "way %d, %d bytes", how, sizes[k % 5]);
        ept_fill(out, 0, (size_t) sizes[k % 5], key(t->rank, k));
        EPT_OK(t, MPI_Isend(out, sizes[k % 5], MPI_BYTE, to, TAG, comm, &request));
        take(comm, t, how, from, TAG, &message, &status);
        EPT_STATUS(t, &status, from, TAG, sizes[k % 5]);
        receive(t, how, &message, from, TAG, k);
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    free(out);
}

static void case_proc_null(MPI_Comm comm, struct ept *t)
{
    for (int how = 0; how < 4; ++how) {
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Request request;
        MPI_Status status;
        int flag = 1;

        if (0 == (how & 1)) {
            EPT_OK(t, MPI_Mprobe(MPI_PROC_NULL, 3, comm, &message, &status));
        } else {
            EPT_OK(t, MPI_Improbe(MPI_PROC_NULL, MPI_ANY_TAG, comm, &flag, &message, &status));
        }
        EPT_EQ(t, 1, flag);
        EPT_STATUS(t, &status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
        EPT_CHECK(t, MPI_MESSAGE_NO_PROC == message, "another message");
        if (0 == (how & 2)) {
            EPT_OK(t, MPI_Mrecv(NULL, 0, MPI_INT, &message, &status));
        } else {
            EPT_OK(t, MPI_Imrecv(NULL, 0, MPI_INT, &message, &request));
            EPT_OK(t, MPI_Wait(&request, &status));
        }
        EPT_STATUS(t, &status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
        EPT_CHECK(t, MPI_MESSAGE_NULL == message, "the message is left");
    }
}

/* All messages are taken out, and received in the opposite order, after the communicator's end: of
 * all sizes, or of the first three, whose sends are over by then and do not hold it. */
static void received_later(MPI_Comm comm, struct ept *t, int kinds)
{
    enum { NUM = 15 };
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size, flag = 1;
    unsigned char *out[NUM];
    MPI_Message messages[NUM];
    MPI_Request sends[NUM];
    MPI_Status status;
    MPI_Comm dup;

    EPT_OK(t, MPI_Comm_dup(comm, &dup));
    for (int k = 0; k < NUM; ++k) {
        int size = sizes[k % kinds];

        out[k] = malloc((size_t) size + 1);
        ept_fill(out[k], 0, (size_t) size, key(t->rank, k / kinds * 5 + k % kinds));
        EPT_OK(t, MPI_Isend(out[k], size, MPI_BYTE, to, k, dup, &sends[k]));
    }
    for (int k = 0; k < NUM; ++k) {
        take(dup, t, k % 8, from, k, &messages[k], &status);
        EPT_STATUS(t, &status, from, k, sizes[k % kinds]);
    }
    EPT_OK(t, MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, dup, &flag, MPI_STATUS_IGNORE));
    EPT_EQ(t, 0, flag);
    EPT_OK(t, MPI_Comm_free(&dup));
    ept_use_comm(t, comm, t->rank, t->size);
    for (int k = NUM; 0 < k--;) {
        ept_phase(t, "message %d", k);
        receive(t, k % 2 * 8, &messages[k], from, k, k / kinds * 5 + k % kinds);
    }
    EPT_OK(t, MPI_Waitall(NUM, sends, MPI_STATUSES_IGNORE));
    for (int k = 0; k < NUM; ++k) {
        free(out[k]);
    }
}

static void case_later(MPI_Comm comm, struct ept *t)
{
    received_later(comm, t, 5);
    received_later(comm, t, 3);
}

/* Threads of one endpoint take messages out of one stream: each gets what it has seen. */
struct worker {
    pthread_t thread;
    MPI_Comm comm;
    struct ept *t;
    int number, count, from;
    atomic_int *taken;
};

static void *work(void *arg)
{
    struct worker *w = arg;

    for (int i = 0; i < w->count; ++i) {
        MPI_Message message;
        MPI_Status status;

        take(w->comm, w->t, w->number % 2 * 4 + 2, w->from, 0, &message, &status);
        if (0 > status.MPI_TAG || THREADS * w->count <= status.MPI_TAG) {
            EPT_CHECK(w->t, false, "tag %d", status.MPI_TAG);
            break;
        }
        EPT_EQ(w->t, 0, atomic_fetch_add(&w->taken[status.MPI_TAG], 1));
        receive(w->t, i % 2 * 8, &message, w->from, status.MPI_TAG, status.MPI_TAG);
    }
    return NULL;
}

static void case_threads(MPI_Comm comm, struct ept *t)
{
    const int count = 8 < t->size ? 10 : 40, num = THREADS * count;
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    MPI_Request *sends = malloc((size_t) num * sizeof(*sends));
    atomic_int *taken = calloc((size_t) num, sizeof(*taken));
    unsigned char **out = malloc((size_t) num * sizeof(*out));
    struct worker w[THREADS];

    EPT_OK(t, MPI_Comm_dup(comm, &comm));
    for (int i = 0; i < THREADS; ++i) {
        w[i] = (struct worker){0, comm, t, i, count, from, taken};
        pthread_create(&w[i].thread, NULL, work, &w[i]);
    }
    for (int k = 0; k < num; ++k) {
        out[k] = malloc((size_t) sizes[k % 5] + 1);
        ept_fill(out[k], 0, (size_t) sizes[k % 5], key(t->rank, k));
        EPT_OK(t, MPI_Isend(out[k], sizes[k % 5], MPI_BYTE, to, k, comm, &sends[k]));
    }
    EPT_OK(t, MPI_Waitall(num, sends, MPI_STATUSES_IGNORE));
    for (int i = 0; i < THREADS; ++i) {
        pthread_join(w[i].thread, NULL);
    }
    for (int k = 0; k < num; ++k) {
        EPT_EQ(t, 1, atomic_load(&taken[k]));
        free(out[k]);
    }
    free(out);
    free(taken);
    free(sends);
    EPT_OK(t, MPI_Comm_free(&comm));
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_combinations);
    EPT_CASE(t, case_proc_null);
    EPT_CASE(t, case_later);
    EPT_CASE(t, case_threads);
    return 0;
}
