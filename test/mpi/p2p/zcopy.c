/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Sends from buffers that are written to as soon as MPI allows it, to receivers that are there,
 * come late, or do nothing meanwhile: data that the receiver copies straight from the sender's
 * buffer must be the ones that were sent, and a send below the eager limit must not wait for its
 * receive.
 *
 * Guards: pml_epml_oversubscription.c, btl_epshm_zcopy.c
 */

#include "ept.h"

#include <unistd.h>

/** MAX_BYTES are what is always buffered, LONG_BYTES more than what is sent with zero copy. */
enum { MAX_BYTES = 4072, LONG_BYTES = 20000, MANY = 40, WINDOW = 16 };

static int random_bytes(uint64_t *random, int most)
{
    const int limits[] = {100, 600, 1500, most + 1};

    return (int) ept_random_below(random, (uint64_t) limits[ept_random_below(random, 4)]);
}

/** Local peers get SPSC rings, which zero-copy sends need. */
static void warm_up(MPI_Comm comm, struct ept *t)
{
    const int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;

    for (int i = 0; i < 40; ++i) {
        EPT_OK(t, MPI_Sendrecv(NULL, 0, MPI_BYTE, to, 0, NULL, 0, MPI_BYTE, from, 0, comm,
                               MPI_STATUS_IGNORE));
    }
}

/** All send before anybody receives. */
static void case_nobody_there(MPI_Comm comm, struct ept *t)
{
    const int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    unsigned char data[MAX_BYTES];

    warm_up(comm, t);
    for (int round = 0; round < 5; ++round) {
        uint64_t out = ept_mix(t->seed, (uint64_t) t->rank, (uint64_t) round, 1);
        uint64_t in = ept_mix(t->seed, (uint64_t) from, (uint64_t) round, 1);

        for (int i = 0; i < MANY; ++i) {
            const int bytes = random_bytes(&out, MAX_BYTES);

            ept_fill(data, 0, (size_t) bytes, (uint64_t) (t->rank * 1000 + i));
            EPT_OK(t, MPI_Send(data, bytes, MPI_BYTE, to, i, comm));
            memset(data, 0xee, sizeof(data));
        }
        ept_local_barrier(t);
        for (int i = 0; i < MANY; ++i) {
            const int bytes = random_bytes(&in, MAX_BYTES);
            MPI_Status status;

            EPT_OK(t, MPI_Recv(data, MAX_BYTES, MPI_BYTE, from, i, comm, &status));
            EPT_STATUS(t, &status, from, i, (size_t) bytes);
            EPT_FILL(t, data, (size_t) bytes, (uint64_t) (from * 1000 + i));
        }
    }
}

/** A moment in which the peer goes on alone, or none. */
static void linger(uint64_t *random)
{
    switch (ept_random_below(random, 6)) {
    case 0:
        usleep((useconds_t) ept_random_below(random, 200));
        break;
    case 1:
        for (uint64_t i = ept_random_below(random, 20000); 0 < i; --i) {
            __asm__ volatile("" ::: "memory");
        }
        break;
    default:
        break;
    }
}

/** Windows of MPI_Isend; the buffers are written to when the requests are complete. */
static void case_windows(MPI_Comm comm, struct ept *t)
{
    const int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    uint64_t mine = ept_mix(t->seed, (uint64_t) t->rank, 7, 2);
    unsigned char(*out)[LONG_BYTES] = malloc(WINDOW * sizeof(*out));
    unsigned char(*in)[LONG_BYTES] = malloc(WINDOW * sizeof(*in));
    MPI_Request requests[2 * WINDOW];

    warm_up(comm, t);
    for (int round = 0; round < 30; ++round) {
        uint64_t sends = ept_mix(t->seed, (uint64_t) t->rank, (uint64_t) round, 3);
        uint64_t receives = ept_mix(t->seed, (uint64_t) from, (uint64_t) round, 3);

        for (int i = 0; i < WINDOW; ++i) {
            const int bytes = random_bytes(&sends, LONG_BYTES);

            ept_fill(out[i], 0, (size_t) bytes, (uint64_t) (t->rank * 1000 + round + i));
            EPT_OK(t, MPI_Isend(out[i], bytes, MPI_BYTE, to, i, comm, &requests[i]));
        }
        linger(&mine);
        for (int i = 0; i < WINDOW; ++i) {
            EPT_OK(t, MPI_Irecv(in[i], LONG_BYTES, MPI_BYTE, from, i, comm, &requests[WINDOW + i]));
        }
        if (0 == round % 2) {
            EPT_OK(t, MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE));
            memset(out, 0xee, WINDOW * sizeof(*out));
            linger(&mine);
            EPT_OK(t, MPI_Waitall(WINDOW, requests + WINDOW, MPI_STATUSES_IGNORE));
        } else {
            EPT_OK(t, MPI_Waitall(2 * WINDOW, requests, MPI_STATUSES_IGNORE));
            memset(out, 0xee, WINDOW * sizeof(*out));
        }
        for (int i = 0; i < WINDOW; ++i) {
            EPT_FILL(t, in[i], (size_t) random_bytes(&receives, LONG_BYTES),
                     (uint64_t) (from * 1000 + round + i));
        }
    }
    free(out);
    free(in);
}

/** More sends than an SPSC ring holds, and no turn of the sender's endpoint before the last: each comes
 * back once. */
static void case_many(MPI_Comm comm, struct ept *t)
{
    enum { SENDS = 2000, BYTES = 900 };
    const int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    unsigned char *out = malloc((size_t) SENDS * BYTES), in[BYTES];
    MPI_Request *requests = malloc(SENDS * sizeof(*requests));

    warm_up(comm, t);
    ept_fill(out, 0, (size_t) SENDS * BYTES, (uint64_t) t->rank);
    if (0 == t->rank % 2) {
        for (int i = 0; i < SENDS; ++i) {
            EPT_OK(t, MPI_Isend(out + i * BYTES, BYTES, MPI_BYTE, to, 3, comm, &requests[i]));
        }
    }
    for (int i = 0; 0 == from % 2 && i < SENDS; ++i) {
        EPT_OK(t, MPI_Recv(in, BYTES, MPI_BYTE, from, 3, comm, MPI_STATUS_IGNORE));
        for (int j = 0; j < BYTES; j += 100) {
            EPT_EQ(t, ept_byte((uint64_t) from, (size_t) (i * BYTES + j)), in[j]);
        }
    }
    if (0 == t->rank % 2) {
        EPT_OK(t, MPI_Waitall(SENDS, requests, MPI_STATUSES_IGNORE));
    }
    free(requests);
    free(out);
}

/** A send that only ever is tested for, to a receiver that does not look: it completes by
 * itself. */
static void case_tested(MPI_Comm comm, struct ept *t)
{
    const int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    unsigned char out[1000], in[1000];
    MPI_Request request;
    int done = 0, tests = 0;

    warm_up(comm, t);
    ept_fill(out, 0, sizeof(out), (uint64_t) t->rank);
    EPT_OK(t, MPI_Isend(out, sizeof(out), MPI_BYTE, to, 9, comm, &request));
    while (!done && tests < 1000000) {
        EPT_OK(t, MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        ++tests;
    }
    EPT_EQ(t, 1, done);
    memset(out, 0xee, sizeof(out));
    ept_local_barrier(t);
    EPT_OK(t, MPI_Recv(in, sizeof(in), MPI_BYTE, from, 9, comm, MPI_STATUS_IGNORE));
    EPT_FILL(t, in, sizeof(in), (uint64_t) from);
}

/** What is sent, and given up by both ranks, keeps nobody: the communicator can be freed. */
static void case_never_received(MPI_Comm comm, struct ept *t)
{
    static unsigned char data[MAX_BYTES]; /* stays when the request is gone */
    const int to = (t->rank + 1) % t->size;
    MPI_Comm dup;
    MPI_Request request;

    for (int round = 0; round < 3; ++round) {
        EPT_OK(t, MPI_Comm_dup(comm, &dup));
        warm_up(dup, t);
        EPT_OK(t, MPI_Send(data, MAX_BYTES, MPI_BYTE, to, 1, dup));
        EPT_OK(t, MPI_Isend(data, 700, MPI_BYTE, to, 2, dup, &request));
        EPT_OK(t, MPI_Request_free(&request));
        ept_local_barrier(t);
        EPT_OK(t, MPI_Comm_free(&dup));
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_nobody_there);
    EPT_CASE(t, case_windows);
    EPT_CASE(t, case_many);
    EPT_CASE(t, case_tested);
    EPT_CASE(t, case_never_received);
    return 0;
}
