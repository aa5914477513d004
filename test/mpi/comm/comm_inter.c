/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Intercommunicators: messages and collectives across, what is made of them, and what making and
 * freeing them must leave alone.
 *
 *   --rounds N   of the storm (default 3000, 300 if there are several processes)
 *
 * Guards: pml_epml_intercomm.c, hook_intercomm.c
 */

#include "ept.h"

/** The run's communicator in two halves and a bridge between them. */
struct halves {
    int low;  /* ranks below are on side 0 */
    int side; /* of this rank */
    int rank, size, remote;
    MPI_Comm half, inter;
};

/* In between, num communicators are freed: the last made may get a lower slot than the first. */
static struct halves make_halves_and_free(MPI_Comm comm, struct ept *t, MPI_Comm holes[], int num)
{
    struct halves h = {.low = (t->size + 1) / 2};

    h.side = t->rank < h.low ? 0 : 1;
    h.rank = t->rank - (0 == h.side ? 0 : h.low);
    h.size = 0 == h.side ? h.low : t->size - h.low;
    h.remote = t->size - h.size;
    EPT_OK(t, MPI_Comm_split(comm, h.side, 0, &h.half));
    for (int i = 0; i < num; ++i) {
        EPT_OK(t, MPI_Comm_free(&holes[i]));
    }
    if (0 < num) {
        ept_local_barrier(t);
    }
    EPT_OK(t, MPI_Intercomm_create(h.half, h.size - 1, comm, 0 == h.side ? t->size - 1 : h.low - 1,
                                   3, &h.inter));
    return h;
}

static struct halves make_halves(MPI_Comm comm, struct ept *t)
{
    return make_halves_and_free(comm, t, NULL, 0);
}

static void free_halves(struct ept *t, struct halves *h)
{
    EPT_OK(t, MPI_Comm_free(&h->inter));
    EPT_OK(t, MPI_Comm_free(&h->half));
}

/* Rank in the run's communicator of a rank of the other side. */
static int remote_member(const struct halves *h, int rank)
{
    return rank + (0 == h->side ? h->low : 0);
}

/* Everything across: each collective that intercommunicators have. */
static void case_across(MPI_Comm comm, struct ept *t)
{
    struct halves h = make_halves(comm, t);
    int *out = malloc((size_t) t->size * sizeof(int)), *in = malloc((size_t) t->size * sizeof(int));
    int root = 0 == h.side ? (0 == h.rank ? MPI_ROOT : MPI_PROC_NULL) : 0, value = t->rank + 5;
    int sum = 0;
    MPI_Request request;

    for (int r = 0; r < h.remote; ++r) {
        sum += remote_member(&h, r) + 5;
        out[r] = t->rank * 1000 + r;
    }
    ept_phase(t, "allgather");
    EPT_OK(t, MPI_Allgather(&value, 1, MPI_INT, in, 1, MPI_INT, h.inter));
    for (int r = 0; r < h.remote; ++r) {
        EPT_EQ(t, remote_member(&h, r) + 5, in[r]);
    }
    ept_phase(t, "alltoall");
    EPT_OK(t, MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, h.inter));
    for (int r = 0; r < h.remote; ++r) {
        EPT_EQ(t, remote_member(&h, r) * 1000 + h.rank, in[r]);
    }
    ept_phase(t, "bcast, nonblocking reduce, barrier");
    value = 0 == t->rank ? 4711 : -1;
    EPT_OK(t, MPI_Bcast(&value, 1, MPI_INT, root, h.inter));
    EPT_EQ(t, 1 == h.side || 0 == t->rank ? 4711 : -1, value);
    value = t->rank + 5;
    in[0] = -1;
    EPT_OK(t, MPI_Ireduce(&value, in, 1, MPI_INT, MPI_SUM, root, h.inter, &request));
    EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    EPT_EQ(t, 0 == t->rank ? sum : -1, in[0]);
    EPT_OK(t, MPI_Barrier(h.inter));
    ept_phase(t, "gather, scatter");
    EPT_OK(t, MPI_Gather(&value, 1, MPI_INT, in, 1, MPI_INT, root, h.inter));
    for (int r = 0; 0 == t->rank && r < h.remote; ++r) {
        EPT_EQ(t, remote_member(&h, r) + 5, in[r]);
    }
    in[0] = -1;
    EPT_OK(t, MPI_Scatter(out, 1, MPI_INT, in, 1, MPI_INT, root, h.inter));
    EPT_EQ(t, 1 == h.side ? h.rank : -1, in[0]);
    free_halves(t, &h);
    free(in);
    free(out);
}

/* Names and groups seen from both sides; the local side is a communicator of its own. */
static void case_sides(MPI_Comm comm, struct ept *t)
{
    struct halves h = make_halves(comm, t);
    MPI_Group all, local, remote, both, none;
    int got = -1;

    EPT_OK(t, MPI_Comm_group(comm, &all));
    EPT_OK(t, MPI_Comm_group(h.inter, &local));
    EPT_OK(t, MPI_Comm_remote_group(h.inter, &remote));
    EPT_OK(t, MPI_Group_rank(local, &got));
    EPT_EQ(t, h.rank, got);
    EPT_OK(t, MPI_Group_rank(remote, &got));
    EPT_EQ(t, MPI_UNDEFINED, got);
    for (int r = 0; r < h.remote; ++r) {
        EPT_OK(t, MPI_Group_translate_ranks(remote, 1, &r, all, &got));
        EPT_EQ(t, remote_member(&h, r), got);
    }
    EPT_OK(t, MPI_Group_union(0 == h.side ? local : remote, 0 == h.side ? remote : local, &both));
    EPT_OK(t, MPI_Group_rank(both, &got));
    EPT_EQ(t, t->rank, got);
    EPT_OK(t, MPI_Group_compare(both, all, &got));
    EPT_EQ(t, MPI_IDENT, got);
    EPT_OK(t, MPI_Group_intersection(local, remote, &none));
    EPT_OK(t, MPI_Group_compare(none, MPI_GROUP_EMPTY, &got));
    EPT_EQ(t, MPI_IDENT, got);
    EPT_OK(t, MPI_Comm_compare(h.inter, h.half, &got));
    EPT_EQ(t, MPI_UNEQUAL, got);
    EPT_OK(t, MPI_Group_free(&none));
    EPT_OK(t, MPI_Group_free(&both));
    EPT_OK(t, MPI_Group_free(&remote));
    EPT_OK(t, MPI_Group_free(&local));
    EPT_OK(t, MPI_Group_free(&all));
    free_halves(t, &h);
}

/* The set of ranks on this node is not changed by an intercommunicator with them. */
static void case_locality(MPI_Comm comm, struct ept *t)
{
    struct halves h = make_halves(comm, t);
    MPI_Comm node;
    int size = -1;

    free_halves(t, &h);
    EPT_OK(t, MPI_Barrier(comm));
    EPT_OK(t, MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    EPT_CHECK(t, MPI_COMM_NULL != node, "no communicator of the node");
    if (MPI_COMM_NULL != node) {
        EPT_OK(t, MPI_Comm_size(node, &size));
        EPT_EQ(t, t->size / ept_option_long("hosts", 1), size);
        EPT_OK(t, MPI_Comm_free(&node));
    }
}

/**
 * Requests may be open when an intercommunicator is freed.
 *
 * libmpi counts an intercommunicator twice if its slot in the table is lower than its parent's
 * (comm_cid.c, "extra retain"), and gives up one more at MPI_Comm_free than it took if requests
 * hold it as well. So some slots are made free below.
 */
static void case_pending(MPI_Comm comm, struct ept *t)
{
    enum { HOLES = 4, LARGE = 200000 };
    MPI_Comm holes[HOLES];
    struct ept_buffer out = ept_buffer(LARGE, 0), in = ept_buffer(LARGE, 0);

    for (int round = 0; round < 4; ++round) {
        MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        struct halves h;
        MPI_Status status;
        int flag = 0, unused, peer;

        for (int i = 0; i < HOLES; ++i) {
            EPT_OK(t, MPI_Comm_dup(comm, &holes[i]));
        }
        ept_local_barrier(t);
        h = make_halves_and_free(comm, t, holes, HOLES);

        /* One to one as far as there are two. */
        peer = h.rank < h.size && h.rank < h.remote ? h.rank : MPI_PROC_NULL;
        ept_fill(out.data, 0, LARGE, (uint64_t) t->rank);
        ept_buffer_clear(&in);
        EPT_OK(t, MPI_Irecv(in.data, LARGE, MPI_BYTE, peer, 7, h.inter, &requests[0]));
        EPT_OK(t, MPI_Isend(out.data, LARGE, MPI_BYTE, peer, 7, h.inter, &requests[1]));
        EPT_OK(t, MPI_Irecv(&unused, 1, MPI_INT, MPI_ANY_SOURCE, 9, h.inter, &requests[2]));
        EPT_OK(t, MPI_Cancel(&requests[2]));
        ept_phase(t, "round %d: free", round);
        EPT_OK(t, MPI_Comm_free(&h.inter));
        ept_phase(t, "round %d: wait", round);
        EPT_OK(t, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        EPT_OK(t, MPI_Wait(&requests[2], &status));
        EPT_OK(t, MPI_Test_cancelled(&status, &flag));
        EPT_EQ(t, 1, flag);
        if (MPI_PROC_NULL != peer) {
            EPT_FILL(t, in.data, LARGE, (uint64_t) remote_member(&h, peer));
        }
        EPT_GUARDS(t, &in);
        EPT_OK(t, MPI_Comm_free(&h.half));
    }
    ept_buffer_free(&in);
    ept_buffer_free(&out);
}

/* Pairs make and free intercommunicators as fast as they can: slots are given back and taken by
 * other threads all the time, and each thread frees its own only (after the second of the two
 * releases told of above, libmpi looks the slot up once more). */
static void case_storm(MPI_Comm comm, struct ept *t)
{
    int peer = ept_partner(t, EPT_PAIR_NEXT);
    int rounds = (int) ept_option_long("rounds", 1 < t->nprocs ? 300 : 3000);
    MPI_Comm pair, self;

    EPT_OK(t, MPI_Comm_split(comm, t->rank / 2, t->rank, &pair));
    EPT_OK(t, MPI_Comm_split(comm, t->rank, 0, &self));
    for (int round = 0; MPI_PROC_NULL != peer && round < rounds; ++round) {
        MPI_Comm hole, mine, inter[2], whole;
        int got = -1, other = 1 - t->rank % 2;

        ept_phase(t, "round %d", round);
        EPT_OK(t, MPI_Comm_dup(self, &hole));
        EPT_OK(t, MPI_Comm_dup(self, &mine));
        EPT_OK(t, MPI_Comm_free(&hole));
        EPT_OK(t, MPI_Intercomm_create(mine, 0, pair, other, round, &inter[0]));
        EPT_OK(t, MPI_Comm_dup(inter[0], &inter[1]));
        EPT_OK(t, MPI_Sendrecv(&t->rank, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, inter[1],
                               MPI_STATUS_IGNORE));
        EPT_EQ(t, peer, got);
        EPT_OK(t, MPI_Intercomm_merge(inter[1], t->rank % 2, &whole));
        EPT_OK(t, MPI_Comm_free(&inter[round % 2]));
        EPT_OK(t, MPI_Comm_free(&inter[1 - round % 2]));
        EPT_OK(t, MPI_Sendrecv(&t->rank, 1, MPI_INT, other, 1, &got, 1, MPI_INT, MPI_ANY_SOURCE, 1,
                               whole, MPI_STATUS_IGNORE));
        EPT_EQ(t, peer, got);
        EPT_OK(t, MPI_Comm_free(&whole));
        EPT_OK(t, MPI_Comm_free(&mine));
    }
    EPT_OK(t, MPI_Comm_free(&self));
    EPT_OK(t, MPI_Comm_free(&pair));
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (2 > t->size) {
        ept_skip(t, "all", "needs two ranks");
        return 0;
    }
    EPT_CASE(t, case_across);
    EPT_CASE(t, case_sides);
    EPT_CASE(t, case_locality);
    if (t->endpoints) {
        EPT_CASE(t, case_pending);
    } else {
        ept_skip(t, "case_pending", "stock Open MPI frees what requests still hold");
    }
    EPT_CASE(t, case_storm);
    return 0;
}
