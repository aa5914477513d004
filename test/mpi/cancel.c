/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A thread is cancelled (pthread_cancel) while it is in MPI on an endpoint: it ends when it is out
 * of MPI, with what it was at done; until then others use the endpoint as before.
 *
 * Guards: pml_epml_wait.c, common_ep_cancel.h
 */

#include "ept.h"

#include <unistd.h>

enum { TALK = 1, WAIT = 2, LARGE = 300000, SMALL = 100, MESSAGES = 20, WAYS = 4 };

/** A thread that is cancelled. */
struct victim {
    pthread_t thread;
    struct ept *t;
    int way;
    int from; /**< the sender of its message */
    char *buffer;
    atomic_bool started;
    bool through; /**< it came out of MPI */
};

static int bytes_of(int way)
{
    return 0 == way % 2 ? SMALL : LARGE;
}

static void *be_cancelled(void *arg)
{
    struct victim *v = arg;
    const int bytes = bytes_of(v->way);
    MPI_Status status;

    atomic_store(&v->started, true);
    if (2 <= v->way) {
        EPT_OK(v->t, MPI_Probe(v->from, WAIT, v->t->comm, &status));
    }
    EPT_OK(v->t, MPI_Recv(v->buffer, bytes, MPI_BYTE, v->from, WAIT, v->t->comm, &status));
    v->through = true;
    for (;;) {
        pthread_testcancel();
        usleep(1000);
    }
    return NULL;
}

/** Messages of all sizes with the neighbours, by the thread that goes on. */
static void talk(struct ept *t, int to, int from)
{
    for (int i = 0; i < MESSAGES; ++i) {
        const int bytes = bytes_of(i);
        struct ept_buffer out = ept_buffer((size_t) bytes, 0), in = ept_buffer((size_t) bytes, 0);

        ept_fill(out.data, 0, out.size, ept_mix((uint64_t) t->rank, (uint64_t) i, 0, 1));
        EPT_OK(t, MPI_Sendrecv(out.data, bytes, MPI_BYTE, to, TALK, in.data, bytes, MPI_BYTE, from,
                               TALK, t->comm, MPI_STATUS_IGNORE));
        EPT_FILL(t, in.data, in.size, ept_mix((uint64_t) from, (uint64_t) i, 0, 1));
        ept_buffer_free(&in);
        ept_buffer_free(&out);
    }
}

static void cancel_one(struct ept *t, int way, unsigned int after_us)
{
    const int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    const int bytes = bytes_of(way);
    struct ept_buffer in = ept_buffer((size_t) bytes, 0), out = ept_buffer((size_t) bytes, 0);
    struct victim v = {.t = t, .way = way, .from = from, .buffer = (char *) in.data};
    void *end = NULL;

    ept_phase(t, "way %d, cancelled after %u us", way, after_us);
    pthread_create(&v.thread, NULL, be_cancelled, &v);
    while (!atomic_load(&v.started)) {
        usleep(100);
    }
    usleep(after_us);
    EPT_EQ(t, 0, pthread_cancel(v.thread));
    usleep(1000);
    talk(t, to, from);
    ept_fill(out.data, 0, out.size, ept_mix((uint64_t) t->rank, (uint64_t) way, after_us, 2));
    EPT_OK(t, MPI_Send(out.data, bytes, MPI_BYTE, to, WAIT, t->comm));
    EPT_EQ(t, 0, pthread_join(v.thread, &end));
    EPT_CHECK(t, PTHREAD_CANCELED == end, "it was not cancelled");
    EPT_CHECK(t, v.through, "it did not come out of MPI");
    EPT_FILL(t, in.data, in.size, ept_mix((uint64_t) from, (uint64_t) way, after_us, 2));
    EPT_GUARDS(t, &in);
    ept_buffer_free(&in);
    ept_buffer_free(&out);
}

static void case_cancelled(MPI_Comm comm, struct ept *t)
{
    static const unsigned int delays[] = {0, 300, 20000};

    (void) comm;
    for (int way = 0; way < WAYS; ++way) {
        for (size_t i = 0; i < sizeof(delays) / sizeof(delays[0]); ++i) {
            cancel_one(t, way, delays[i]);
        }
    }
    EPT_OK(t, MPI_Barrier(t->comm));
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_cancelled);
    return 0;
}
