/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Communicators of the tests: creation of endpoints (or its stand-in), threads on handles, a sound
 * workout for one communicator.
 */

#include "ept.h"

int ept_create_endpoints(MPI_Comm parent, int num_ep, MPI_Info info, MPI_Comm comms[])
{
    int rc, rank;
    MPI_Comm comm;

#if defined(HAVE_EP)
    if (0 < ept_option_long("ep", 0)) {
        return MPIX_Comm_create_endpoints(parent, num_ep, info, comms);
    }
#endif
    (void) info;
    MPI_Comm_rank(parent, &rank);
    rc = MPI_Comm_split(parent, 0 < num_ep ? 0 : MPI_UNDEFINED, rank, &comm);
    if (MPI_SUCCESS == rc && 0 < num_ep) {
        comms[0] = comm;
    }
    return rc;
}

int ept_count(const struct ept *t, int num_ep)
{
    return t->endpoints || 1 > num_ep ? num_ep : 1;
}

struct handle_thread {
    pthread_t thread;
    struct ept *t;
    MPI_Comm comm;
    int index;
    ept_handle_fn_t fn;
    void *context;
};

static void *run_handle(void *arg)
{
    struct handle_thread *h = arg;

    h->fn(h->comm, h->t, h->index, h->context);
    return NULL;
}

void ept_on_each(struct ept *t, MPI_Comm comms[], int num, ept_handle_fn_t fn, void *context)
{
    struct handle_thread *threads = calloc((size_t) num + 1, sizeof(*threads));

    for (int i = 0; i < num; ++i) {
        threads[i] = (struct handle_thread){0, t, comms[i], i, fn, context};
        if (0 != pthread_create(&threads[i].thread, NULL, run_handle, &threads[i])) {
            ept_note("pthread_create failed");
            abort();
        }
    }
    for (int i = 0; i < num; ++i) {
        pthread_join(threads[i].thread, NULL);
    }
    free(threads);
}

void ept_meet(MPI_Comm comm, struct ept *t)
{
    int rank, size;

    EPT_OK(t, MPI_Comm_rank(comm, &rank));
    EPT_OK(t, MPI_Comm_size(comm, &size));
    for (int away = 1; away < size; ++away) {
        EPT_OK(t, MPI_Sendrecv(NULL, 0, MPI_BYTE, (rank + away) % size, 2, NULL, 0, MPI_BYTE,
                               (rank + size - away) % size, 2, comm, MPI_STATUS_IGNORE));
    }
}

/* A ring in both directions, with a message below and one above the eager limits. */
static void use_ring(struct ept *t, MPI_Comm comm, int rank, int size)
{
    enum { LARGE = 30000 };
    int to = (rank + 1) % size, from = (rank - 1 + size) % size, small = rank, got = -1;
    struct ept_buffer out = ept_buffer(LARGE, 0), in = ept_buffer(LARGE, 0);
    MPI_Status status;

    EPT_OK(t, MPI_Sendrecv(&small, 1, MPI_INT, to, 1, &got, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm,
                           &status));
    EPT_EQ(t, from, got);
    EPT_EQ(t, from, status.MPI_SOURCE);
    ept_fill(out.data, 0, LARGE, (uint64_t) rank);
    EPT_OK(t, MPI_Sendrecv(out.data, LARGE, MPI_BYTE, from, 2, in.data, LARGE, MPI_BYTE, to, 2,
                           comm, MPI_STATUS_IGNORE));
    EPT_FILL(t, in.data, LARGE, (uint64_t) to);
    EPT_GUARDS(t, &in);
    ept_buffer_free(&out);
    ept_buffer_free(&in);
}

void ept_use_comm(struct ept *t, MPI_Comm comm, int rank, int size)
{
    int my_rank = -1, my_size = -1, sum = -1, *ranks = malloc((size_t) size * sizeof(int));

    EPT_OK(t, MPI_Comm_rank(comm, &my_rank));
    EPT_OK(t, MPI_Comm_size(comm, &my_size));
    EPT_EQ(t, rank, my_rank);
    EPT_EQ(t, size, my_size);
    if (rank == my_rank && size == my_size) {
        EPT_OK(t, MPI_Allgather(&rank, 1, MPI_INT, ranks, 1, MPI_INT, comm));
        for (int r = 0; r < size; ++r) {
            EPT_EQ(t, r, ranks[r]);
        }
        EPT_OK(t, MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
        EPT_EQ(t, size * (size - 1) / 2, sum);
        use_ring(t, comm, rank, size);
        EPT_OK(t, MPI_Barrier(comm));
    }
    free(ranks);
}
