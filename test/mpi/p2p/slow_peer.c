/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * One endpoint that does not receive: rank 0 leaves MPI altogether while the others send to it with
 * MPI_Isend, and among each other, through every protocol, with what blocks.  They must not wait
 * for it.  Then it comes back, and everything must be there, in order.
 *
 * Guards: pml_epml_registry.c, pml_epml_flow.c, pml_epml_transmit.c
 */

#include "ept.h"

#include <unistd.h>

enum { TAG = 7 };

static atomic_int siblings_done; /* of rank 0, in its process */

/** All ranks but 0 do a round of everything that blocks. */
static void busy_round(MPI_Comm others, struct ept *t, int round, struct ept_buffer buffers[2])
{
    static const int sizes[] = {0, 8, 300, 2000, 4000, 20000, 200000};
    const int bytes = sizes[round % 7];
    const uint64_t key = ept_mix(t->seed, 77, (uint64_t) round, 0);
    int rank, size;

    EPT_OK(t, MPI_Comm_rank(others, &rank));
    EPT_OK(t, MPI_Comm_size(others, &size));
    ept_phase(t, "round %d of the others, %d bytes", round, bytes);
    ept_fill(buffers[0].data, 0, (size_t) bytes, key + (uint64_t) rank);
    EPT_OK(t,
           MPI_Sendrecv(buffers[0].data, bytes, MPI_BYTE, (rank + 1) % size, TAG, buffers[1].data,
                        bytes, MPI_BYTE, (rank + size - 1) % size, TAG, others, MPI_STATUS_IGNORE));
    EPT_FILL(t, buffers[1].data, (size_t) bytes, key + (uint64_t) ((rank + size - 1) % size));
    EPT_OK(t, MPI_Barrier(others));
}

/** Rank 0 is not in MPI.  Its siblings and its senders go on; then it takes everything. */
static void slow_one(MPI_Comm comm, struct ept *t, const int sizes[8], int senders)
{
    enum { SENDS = 2400, ROUNDS = 60 };
    struct ept_buffer buffers[2] = {ept_buffer(200000, 0), ept_buffer(200000, 0)};
    unsigned char *data = malloc(SENDS * 4000L);
    MPI_Request *requests = malloc(SENDS * sizeof(*requests));
    MPI_Comm others;

    EPT_OK(t, MPI_Comm_split(comm, 0 == t->rank ? MPI_UNDEFINED : 1, t->rank, &others));
    EPT_OK(t, MPI_Barrier(comm));
    if (0 == t->rank) {
        ept_phase(t, "out of MPI");
        while (atomic_load(&siblings_done) < t->nlocal - 1) {
            usleep(1000);
        }
        atomic_store(&siblings_done, 0);
        for (int from = 1; from <= senders; ++from) {
            for (int i = 0; i < SENDS; ++i) {
                const int bytes = sizes[i % 8];

                ept_phase(t, "receive message %d of rank %d", i, from);
                EPT_OK(t, MPI_Recv(data, bytes, MPI_BYTE, from, TAG, comm, MPI_STATUS_IGNORE));
                EPT_FILL(t, data, (size_t) bytes,
                         ept_mix(t->seed, (uint64_t) from, (uint64_t) i, 1));
            }
        }
    } else {
        for (int i = 0; i < SENDS; ++i) {
            const int bytes = sizes[i % 8];

            requests[i] = MPI_REQUEST_NULL;
            if (t->rank <= senders) {
                ept_fill(data + 4000L * i, 0, (size_t) bytes,
                         ept_mix(t->seed, (uint64_t) t->rank, (uint64_t) i, 1));
                EPT_OK(t, MPI_Isend(data + 4000L * i, bytes, MPI_BYTE, 0, TAG, comm, &requests[i]));
            }
            if (0 == i % (SENDS / ROUNDS + 1)) {
                busy_round(others, t, i, buffers);
            }
        }
        for (int i = 0; i < ROUNDS; ++i) {
            busy_round(others, t, i, buffers);
        }
        EPT_OK(t, MPI_Comm_free(&others));
        atomic_fetch_add(&siblings_done, 0 == t->proc);
        ept_phase(t, "wait for the sends");
        EPT_OK(t, MPI_Waitall(SENDS, requests, MPI_STATUSES_IGNORE));
    }
    free(requests);
    free(data);
    ept_buffer_free(&buffers[0]);
    ept_buffer_free(&buffers[1]);
}

static void case_siblings(MPI_Comm comm, struct ept *t)
{
    static const int mixed[8] = {8, 1000, 4000, 8, 4000, 40, 4000, 1000};

    slow_one(comm, t, mixed, t->size - 1);
}

/** One sender's buffers are all at rank 0; it needs some for the others. */
static void case_one_sender(MPI_Comm comm, struct ept *t)
{
    static const int large[8] = {4000, 4000, 4000, 4000, 4000, 4000, 4000, 4000};

    slow_one(comm, t, large, 1);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (2 > t->nlocal || 3 > t->size) {
        ept_skip(t, "all", "rank 0 needs a sibling that calls it back, and another one");
        return 0;
    }
    EPT_CASE(t, case_siblings);
    EPT_CASE(t, case_one_sender);
    return 0;
}
