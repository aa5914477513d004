/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Several threads use one handle at the same time (mpix_thread_level "multiple", the default);
 * their messages are distinguished by tags.
 *
 * Guards: pml_epml_lock.c
 */

#include "ept.h"

enum { THREADS = 4, MAX_BYTES = 50000 };

/** A thread of a rank; all threads of all ranks run the same body at once. */
struct worker {
    pthread_t thread;
    struct ept *t;
    int number;
    void (*body)(struct worker *w);
    uint64_t random;
};

static void *run_worker(void *arg)
{
    struct worker *w = arg;

    w->body(w);
    return NULL;
}

static void run_workers(struct ept *t, void (*body)(struct worker *w))
{
    struct worker workers[THREADS];

    for (int i = 0; i < THREADS; ++i) {
        workers[i] = (struct worker){0, t, i, body, ept_mix(t->seed, (uint64_t) i, 0, 0)};
        pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]);
    }
    for (int i = 0; i < THREADS; ++i) {
        pthread_join(workers[i].thread, NULL);
    }
}

static int num_rounds(const struct ept *t)
{
    return 8 < t->size ? 40 : 200;
}

/* The same stream of random numbers on all ranks: thread i here talks to thread i there. */
static int random_bytes(struct worker *w)
{
    static const int limits[] = {8, 64, 500, 9000, MAX_BYTES};

    return (int) ept_random_below(&w->random, (uint64_t) limits[ept_random_below(&w->random, 5)]);
}

/* One message to the right, one from the left, in one of several ways. */
static void exchange(struct worker *w, int round)
{
    struct ept *t = w->t;
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    int bytes = random_bytes(w), way = (int) ept_random_below(&w->random, 4), tag = w->number;
    struct ept_buffer out = ept_buffer((size_t) bytes, 0), in = ept_buffer((size_t) bytes, 7);
    uint64_t key_in = ept_mix((uint64_t) from, (uint64_t) w->number, (uint64_t) round, 8);
    MPI_Request requests[2];
    MPI_Status status;

    ept_fill(out.data, 0, out.size,
             ept_mix((uint64_t) t->rank, (uint64_t) w->number, (uint64_t) round, 8));
    switch (way) {
    case 0:
        EPT_OK(t, MPI_Sendrecv(out.data, bytes, MPI_BYTE, to, tag, in.data, bytes, MPI_BYTE, from,
                               tag, t->comm, &status));
        break;
    case 1:
        EPT_OK(t, MPI_Irecv(in.data, bytes, MPI_BYTE, MPI_ANY_SOURCE, tag, t->comm, &requests[0]));
        EPT_OK(t, MPI_Issend(out.data, bytes, MPI_BYTE, to, tag, t->comm, &requests[1]));
        EPT_OK(t, MPI_Wait(&requests[0], &status));
        EPT_OK(t, MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
        break;
    case 2:
        EPT_OK(t, MPI_Isend(out.data, bytes, MPI_BYTE, to, tag, t->comm, &requests[0]));
        EPT_OK(t, MPI_Probe(MPI_ANY_SOURCE, tag, t->comm, &status));
        EPT_STATUS(t, &status, from, tag, bytes);
        EPT_OK(t, MPI_Recv(in.data, bytes, MPI_BYTE, from, tag, t->comm, &status));
        EPT_OK(t, MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        break;
    default:
        EPT_OK(t, MPI_Isend(out.data, bytes, MPI_BYTE, to, tag, t->comm, &requests[0]));
        EPT_OK(t, MPI_Irecv(in.data, bytes, MPI_BYTE, from, tag, t->comm, &requests[1]));
        for (int flag = 0; 0 == flag;) {
            EPT_OK(t, MPI_Test(&requests[1], &flag, &status));
        }
        EPT_OK(t, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        break;
    }
    EPT_STATUS(t, &status, from, tag, bytes);
    EPT_FILL(t, in.data, in.size, key_in);
    EPT_GUARDS(t, &in);
    ept_buffer_free(&in);
    ept_buffer_free(&out);
}

static void exchange_body(struct worker *w)
{
    for (int round = 0; round < num_rounds(w->t); ++round) {
        ept_phase(w->t, "thread %d, round %d", w->number, round);
        exchange(w, round);
    }
}

static void case_by_tags(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    run_workers(t, exchange_body);
}

/* A thread is blocked in a receive that only another thread of the same rank satisfies. */
static void self_body(struct worker *w)
{
    struct ept *t = w->t;
    int left = (w->number + THREADS - 1) % THREADS, value;

    for (int round = 0; round < num_rounds(t); ++round) {
        ept_phase(t, "thread %d, round %d", w->number, round);
        /* A token goes around the threads, by messages to oneself. */
        if (0 != w->number || 0 != round) {
            EPT_OK(t, MPI_Recv(&value, 1, MPI_INT, t->rank, 10 + left, t->comm, MPI_STATUS_IGNORE));
            EPT_EQ(t, 0 == w->number ? round * THREADS - 1 : round * THREADS + left, value);
        }
        value = round * THREADS + w->number;
        EPT_OK(t, MPI_Send(&value, 1, MPI_INT, t->rank, 10 + w->number, t->comm));
    }
    if (0 == w->number) {
        EPT_OK(t, MPI_Recv(&value, 1, MPI_INT, t->rank, 10 + left, t->comm, MPI_STATUS_IGNORE));
        EPT_EQ(t, num_rounds(t) * THREADS - 1, value);
    }
}

static void case_wake_each_other(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    run_workers(t, self_body);
}

/* All threads receive from one stream with the same tag: each message comes exactly once. */
static atomic_int *taken;

static void stream_body(struct worker *w)
{
    struct ept *t = w->t;
    int per_thread = num_rounds(t), value = -1;
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    atomic_int *mine = taken + (size_t) t->local * THREADS * (size_t) per_thread;

    for (int i = 0; i < per_thread; ++i) {
        int out = w->number * per_thread + i;
        MPI_Request request;

        EPT_OK(t, MPI_Isend(&out, 1, MPI_INT, to, 50, t->comm, &request));
        EPT_OK(t, MPI_Recv(&value, 1, MPI_INT, from, 50, t->comm, MPI_STATUS_IGNORE));
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        EPT_CHECK(t, 0 <= value && THREADS * per_thread > value, "value %d", value);
        if (0 <= value && THREADS * per_thread > value) {
            EPT_EQ(t, 0, atomic_fetch_add(&mine[value], 1));
        }
    }
}

static void case_one_stream(MPI_Comm comm, struct ept *t)
{
    size_t per_rank = (size_t) THREADS * (size_t) num_rounds(t);

    (void) comm;
    if (0 == t->local) {
        taken = calloc((size_t) t->nlocal * per_rank, sizeof(*taken));
    }
    ept_local_barrier(t);
    run_workers(t, stream_body);
    for (size_t i = 0; i < per_rank; ++i) {
        EPT_EQ(t, 1, atomic_load(&taken[(size_t) t->local * per_rank + i]));
    }
    ept_local_barrier(t);
    if (0 == t->local) {
        free(taken);
    }
}

/* Each thread with a duplicate of its own: collectives side by side on one endpoint. */
static MPI_Comm (*copies)[THREADS];

static void collective_body(struct worker *w)
{
    struct ept *t = w->t;

    for (int round = 0; round < num_rounds(t) / 4; ++round) {
        int mine = t->rank + round * (w->number + 1), sum = -1;

        ept_phase(t, "thread %d, round %d", w->number, round);
        EPT_OK(t, MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, copies[t->local][w->number]));
        EPT_EQ(t, t->size * (t->size - 1) / 2 + t->size * round * (w->number + 1), sum);
    }
}

static void case_collectives(MPI_Comm comm, struct ept *t)
{
    if (0 == t->local) {
        copies = malloc((size_t) t->nlocal * sizeof(*copies));
    }
    ept_local_barrier(t);
    for (int i = 0; i < THREADS; ++i) {
        EPT_OK(t, MPI_Comm_dup(comm, &copies[t->local][i]));
    }
    run_workers(t, collective_body);
    for (int i = 0; i < THREADS; ++i) {
        EPT_OK(t, MPI_Comm_free(&copies[t->local][i]));
    }
    ept_local_barrier(t);
    if (0 == t->local) {
        free(copies);
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_by_tags);
    EPT_CASE(t, case_wake_each_other);
    EPT_CASE(t, case_one_stream);
    EPT_CASE(t, case_collectives);
    return 0;
}
