/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What every intercommunicator must do, and what can be made of one.  For the cases of
 * comm_bridge.
 */

#include "comm_bridge.h"

/* ---- messages and collectives across --------------------------------------------------------- */

/* Those of 0 ... num - 1 that are as even as mine is, in order, and the others. */
struct sides even_and_odd(int num, int mine)
{
    struct sides s = {0, 0, {0}, {0}};

    for (int i = 0; i < num; ++i) {
        if (mine % 2 == i % 2) {
            s.local[s.num_local++] = i;
        } else {
            s.remote[s.num_remote++] = i;
        }
    }
    return s;
}

/* Point to point with every remote member, with a wildcard and without. */
static void check_messages(struct ept *t, MPI_Comm inter, int id, const struct sides *s)
{
    MPI_Request requests[2 * MAX_RANKS];
    int in[MAX_RANKS], seen[MAX_RANKS] = {0};

    ept_phase(t, "messages");
    for (int i = 0; i < s->num_remote; ++i) {
        in[i] = -1;
        EPT_OK(t, MPI_Irecv(&in[i], 1, MPI_INT, i, 5, inter, &requests[2 * i]));
        EPT_OK(t, MPI_Isend(&id, 1, MPI_INT, i, 5, inter, &requests[2 * i + 1]));
    }
    EPT_OK(t, MPI_Waitall(2 * s->num_remote, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < s->num_remote; ++i) {
        EPT_EQ(t, s->remote[i], in[i]);
        EPT_OK(t, MPI_Isend(&id, 1, MPI_INT, i, 6, inter, &requests[i]));
    }
    for (int i = 0; i < s->num_remote; ++i) {
        MPI_Status status;
        int got = -1;

        EPT_OK(t, MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 6, inter, &status));
        EPT_EQ(t, 6, status.MPI_TAG);
        EPT_CHECK(t, 0 <= status.MPI_SOURCE && status.MPI_SOURCE < s->num_remote, "source %d of %d",
                  status.MPI_SOURCE, s->num_remote);
        EPT_EQ(t, s->remote[status.MPI_SOURCE], got);
        EPT_EQ(t, 1, ++seen[status.MPI_SOURCE]);
    }
    EPT_OK(t, MPI_Waitall(s->num_remote, requests, MPI_STATUSES_IGNORE));
}

/* A message larger than any eager limit, to the remote member opposite. */
static void check_large(struct ept *t, MPI_Comm inter, int rank, const struct sides *s)
{
    enum { SIZE = 300000 };
    const int pairs = s->num_local < s->num_remote ? s->num_local : s->num_remote;
    unsigned char *out, *in;
    MPI_Request request;

    if (rank >= pairs) {
        return;
    }
    ept_phase(t, "large message");
    out = malloc(SIZE);
    in = calloc(1, SIZE);
    ept_fill(out, 0, SIZE, (uint64_t) s->local[rank]);
    EPT_OK(t, MPI_Irecv(in, SIZE, MPI_BYTE, rank, 7, inter, &request));
    EPT_OK(t, MPI_Send(out, SIZE, MPI_BYTE, rank, 7, inter));
    EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    EPT_FILL(t, in, SIZE, (uint64_t) s->remote[rank]);
    free(out);
    free(in);
}

static void check_collectives(struct ept *t, MPI_Comm inter, int id, int rank,
                              const struct sides *s, bool low)
{
    int all[MAX_RANKS], out[MAX_RANKS], sum = -1, expected = 0, value, root;
    MPI_Request request;

    ept_phase(t, "barrier, allgather");
    EPT_OK(t, MPI_Barrier(inter));
    EPT_OK(t, MPI_Allgather(&id, 1, MPI_INT, all, 1, MPI_INT, inter));
    for (int i = 0; i < s->num_remote; ++i) {
        EPT_EQ(t, s->remote[i], all[i]);
        expected += s->remote[i];
    }
    ept_phase(t, "allreduce");
    EPT_OK(t, MPI_Allreduce(&id, &sum, 1, MPI_INT, MPI_SUM, inter));
    EPT_EQ(t, expected, sum);
    sum = -1;
    EPT_OK(t, MPI_Iallreduce(&id, &sum, 1, MPI_INT, MPI_SUM, inter, &request));
    EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    EPT_EQ(t, expected, sum);

    ept_phase(t, "alltoall");
    for (int i = 0; i < s->num_remote; ++i) {
        out[i] = 1000 * id + s->remote[i];
        all[i] = -1;
    }
    EPT_OK(t, MPI_Alltoall(out, 1, MPI_INT, all, 1, MPI_INT, inter));
    for (int i = 0; i < s->num_remote; ++i) {
        EPT_EQ(t, 1000 * s->remote[i] + id, all[i]);
    }

    /* From the last member of the low side to the high side. */
    ept_phase(t, "bcast, reduce, gather, scatter");
    root = low ? (rank == s->num_local - 1 ? MPI_ROOT : MPI_PROC_NULL) : s->num_remote - 1;
    value = MPI_ROOT == root ? 12345 : -1;
    EPT_OK(t, MPI_Bcast(&value, 1, MPI_INT, root, inter));
    EPT_EQ(t, low && MPI_ROOT != root ? -1 : 12345, value);
    value = MPI_ROOT == root ? 54321 : -1;
    EPT_OK(t, MPI_Ibcast(&value, 1, MPI_INT, root, inter, &request));
    EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    EPT_EQ(t, low && MPI_ROOT != root ? -1 : 54321, value);
    sum = -1;
    EPT_OK(t, MPI_Reduce(&id, &sum, 1, MPI_INT, MPI_SUM, root, inter));
    EPT_EQ(t, MPI_ROOT == root ? expected : -1, sum);
    EPT_OK(t, MPI_Gather(&id, 1, MPI_INT, all, 1, MPI_INT, root, inter));
    for (int i = 0; MPI_ROOT == root && i < s->num_remote; ++i) {
        EPT_EQ(t, s->remote[i], all[i]);
        all[i] = 100 + i;
    }
    value = -1;
    EPT_OK(t, MPI_Scatter(all, 1, MPI_INT, &value, 1, MPI_INT, root, inter));
    EPT_EQ(t, low ? -1 : 100 + rank, value);
}

/* The forms with counts, rank i giving or getting i + 1 elements. */
static void check_vector_collectives(struct ept *t, MPI_Comm inter, int id, int rank,
                                     const struct sides *s, bool low)
{
    const int most = s->num_local < s->num_remote ? s->num_remote : s->num_local;
    int *out = malloc((size_t) (most + 1) * (most + 1) * sizeof(int));
    int *in = malloc((size_t) (most + 1) * (most + 1) * sizeof(int));
    int counts[MAX_RANKS], places[MAX_RANKS], own[MAX_RANKS], own_places[MAX_RANKS];
    int bytes[MAX_RANKS], own_bytes[MAX_RANKS], at = 0, root;
    MPI_Datatype types[MAX_RANKS];
    MPI_Request request;

    for (int i = 0; i < s->num_remote; ++i) {
        counts[i] = i + 1; /* from remote rank i */
        places[i] = at;
        bytes[i] = at * (int) sizeof(int);
        at += i + 1;
        own[i] = rank + 1; /* to remote rank i */
        own_places[i] = i * (rank + 1);
        own_bytes[i] = own_places[i] * (int) sizeof(int);
        types[i] = MPI_INT;
    }
    for (int i = 0; i < s->num_remote * (rank + 1); ++i) {
        out[i] = 1000 * id + i;
    }

    ept_phase(t, "allgatherv");
    memset(in, -1, (size_t) at * sizeof(int));
    EPT_OK(t, MPI_Allgatherv(out, rank + 1, MPI_INT, in, counts, places, MPI_INT, inter));
    for (int i = 0; i < s->num_remote; ++i) {
        EPT_EQ(t, 1000 * s->remote[i], in[places[i]]);
        EPT_EQ(t, 1000 * s->remote[i] + i, in[places[i] + i]);
    }
    for (int form = 0; form < 3; ++form) {
        ept_phase(t, "alltoallv, alltoallw, ialltoallw: %d", form);
        memset(in, -1, (size_t) at * sizeof(int));
        if (0 == form) {
            EPT_OK(t, MPI_Alltoallv(out, own, own_places, MPI_INT, in, counts, places, MPI_INT,
                                    inter));
        } else if (1 == form) {
            EPT_OK(t, MPI_Alltoallw(out, own, own_bytes, types, in, counts, bytes, types, inter));
        } else {
            EPT_OK(t, MPI_Ialltoallw(out, own, own_bytes, types, in, counts, bytes, types, inter,
                                     &request));
            EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        for (int i = 0; i < s->num_remote; ++i) {
            EPT_EQ(t, 1000 * s->remote[i] + rank * (i + 1), in[places[i]]);
        }
    }

    /* From and to the first member of the high side. */
    root = low ? 0 : 0 == rank ? MPI_ROOT : MPI_PROC_NULL;
    ept_phase(t, "gatherv, scatterv");
    memset(in, -1, (size_t) at * sizeof(int));
    EPT_OK(t, MPI_Gatherv(out, rank + 1, MPI_INT, in, counts, places, MPI_INT, root, inter));
    for (int i = 0; MPI_ROOT == root && i < s->num_remote; ++i) {
        EPT_EQ(t, 1000 * s->remote[i] + i, in[places[i] + i]);
    }
    EPT_OK(t, MPI_Iscatterv(in, counts, places, MPI_INT, in, rank + 1, MPI_INT, root, inter,
                            &request));
    EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (low) {
        EPT_EQ(t, 1000 * id + rank, in[rank]); /* what it gave comes back */
    }
    free(out);
    free(in);
}

/* The sum over one side, in blocks of one, to the other. */
static void check_reduce_scatter(struct ept *t, MPI_Comm inter, int id, int rank,
                                 const struct sides *s)
{
    /* Both sides give as many elements, so blocks of each others' sizes. */
    const int total = s->num_local * s->num_remote;
    int *out = malloc((size_t) total * sizeof(int)), *in = malloc((size_t) total * sizeof(int));
    int sum = 0;
    MPI_Request request;

    for (int i = 0; i < s->num_remote; ++i) {
        sum += s->remote[i];
    }
    for (int form = 0; form < 2; ++form) {
        ept_phase(t, "reduce_scatter_block, form %d", form);
        for (int i = 0; i < total; ++i) {
            out[i] = id + i;
            in[i] = -1;
        }
        if (0 == form) {
            EPT_OK(t, MPI_Reduce_scatter_block(out, in, s->num_remote, MPI_INT, MPI_SUM, inter));
        } else {
            EPT_OK(t, MPI_Ireduce_scatter_block(out, in, s->num_remote, MPI_INT, MPI_SUM, inter,
                                                &request));
            EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        for (int i = 0; i < s->num_remote; ++i) {
            EPT_EQ(t, sum + s->num_remote * (rank * s->num_remote + i), in[i]);
        }
    }
    free(out);
    free(in);
}

/* Several at a time, waited for in the other order. */
static void check_nonblocking(struct ept *t, MPI_Comm inter, int id, const struct sides *s)
{
    MPI_Request requests[4];
    int all[MAX_RANKS], each[MAX_RANKS], out[MAX_RANKS], sum = -1, expected = 0;

    for (int i = 0; i < s->num_remote; ++i) {
        out[i] = 1000 * id + s->remote[i];
        expected += s->remote[i];
    }
    ept_phase(t, "nonblocking ones");
    EPT_OK(t, MPI_Ibarrier(inter, &requests[3]));
    EPT_OK(t, MPI_Iallgather(&id, 1, MPI_INT, all, 1, MPI_INT, inter, &requests[2]));
    EPT_OK(t, MPI_Ialltoall(out, 1, MPI_INT, each, 1, MPI_INT, inter, &requests[1]));
    EPT_OK(t, MPI_Iallreduce(&id, &sum, 1, MPI_INT, MPI_SUM, inter, &requests[0]));
    for (int i = 0; i < 4; ++i) {
        EPT_OK(t, MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    }
    EPT_EQ(t, expected, sum);
    for (int i = 0; i < s->num_remote; ++i) {
        EPT_EQ(t, s->remote[i], all[i]);
        EPT_EQ(t, 1000 * s->remote[i] + id, each[i]);
    }
}

void check_inter(struct ept *t, MPI_Comm inter, int id, const struct sides *s)
{
    MPI_Group local, remote;
    int flag = -1, size = -1, remote_size = -1, rank = -1, group_rank = -1;

    EPT_OK(t, MPI_Comm_test_inter(inter, &flag));
    EPT_EQ(t, 1, flag);
    EPT_OK(t, MPI_Comm_rank(inter, &rank));
    EPT_OK(t, MPI_Comm_size(inter, &size));
    EPT_OK(t, MPI_Comm_remote_size(inter, &remote_size));
    EPT_EQ(t, s->num_local, size);
    EPT_EQ(t, s->num_remote, remote_size);
    if (size != s->num_local || remote_size != s->num_remote || rank < 0 || rank >= size) {
        return; /* ranks below would be wrong ones */
    }
    EPT_EQ(t, s->local[rank], id);

    EPT_OK(t, MPI_Comm_group(inter, &local));
    EPT_OK(t, MPI_Group_rank(local, &group_rank));
    EPT_EQ(t, rank, group_rank);
    EPT_OK(t, MPI_Comm_remote_group(inter, &remote));
    EPT_OK(t, MPI_Group_rank(remote, &group_rank));
    EPT_EQ(t, MPI_UNDEFINED, group_rank);
    EPT_OK(t, MPI_Group_size(remote, &size));
    EPT_EQ(t, s->num_remote, size);
    EPT_OK(t, MPI_Group_free(&local));
    EPT_OK(t, MPI_Group_free(&remote));

    check_messages(t, inter, id, s);
    check_large(t, inter, rank, s);
    check_collectives(t, inter, id, rank, s, s->local[0] < s->remote[0]);
    check_vector_collectives(t, inter, id, rank, s, s->local[0] < s->remote[0]);
    check_reduce_scatter(t, inter, id, rank, s);
    check_nonblocking(t, inter, id, s);
}

/* ---- what can be made of one ----------------------------------------------------------------- */

/* The ids of an intracommunicator, by rank. */
void check_intra(struct ept *t, MPI_Comm intra, int id, const int ids[], int num)
{
    int all[MAX_RANKS], size = -1, rank = -1;

    EPT_OK(t, MPI_Comm_size(intra, &size));
    EPT_OK(t, MPI_Comm_rank(intra, &rank));
    EPT_EQ(t, num, size);
    if (num != size || rank < 0 || rank >= size) {
        return;
    }
    EPT_EQ(t, ids[rank], id);
    EPT_OK(t, MPI_Allgather(&id, 1, MPI_INT, all, 1, MPI_INT, intra));
    for (int i = 0; i < num; ++i) {
        EPT_EQ(t, ids[i], all[i]);
    }
    ept_use_comm(t, intra, rank, size);
}

void check_merge(struct ept *t, MPI_Comm inter, int id, const struct sides *s)
{
    const bool low = s->local[0] < s->remote[0];
    const int total = s->num_local + s->num_remote;
    MPI_Comm merged, derived, cart;
    int ids[MAX_RANKS], rank, value, left, right, periodic = 1;

    ept_phase(t, "merge");
    for (int i = 0; i < total; ++i) { /* the high side first */
        int num_high = low ? s->num_remote : s->num_local;
        const int *high = low ? s->remote : s->local, *lowest = low ? s->local : s->remote;

        ids[i] = i < num_high ? high[i] : lowest[i - num_high];
    }
    EPT_OK(t, MPI_Intercomm_merge(inter, low, &merged));
    check_intra(t, merged, id, ids, total);
    EPT_OK(t, MPI_Comm_rank(merged, &rank));

    ept_phase(t, "dup and split of the merged one");
    EPT_OK(t, MPI_Comm_dup(merged, &derived));
    check_intra(t, derived, id, ids, total);
    EPT_OK(t, MPI_Comm_free(&derived));
    EPT_OK(t, MPI_Comm_split(merged, rank % 2, -rank, &derived));
    value = id;
    EPT_OK(t, MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, derived));
    for (int i = rank % 2; i < total; i += 2) {
        value -= ids[i];
    }
    EPT_EQ(t, 0, value);
    EPT_OK(t, MPI_Comm_free(&derived));

    ept_phase(t, "ring on the merged one");
    EPT_OK(t, MPI_Cart_create(merged, 1, &(int){total}, &periodic, 0, &cart));
    EPT_OK(t, MPI_Cart_shift(cart, 0, 1, &left, &right));
    EPT_OK(t, MPI_Sendrecv(&id, 1, MPI_INT, right, 3, &value, 1, MPI_INT, left, 3, cart,
                           MPI_STATUS_IGNORE));
    EPT_EQ(t, ids[(rank + total - 1) % total], value);
    EPT_OK(t, MPI_Comm_free(&cart));
    EPT_OK(t, MPI_Comm_free(&merged));
}

/* Every second member of each side. */
static struct sides halves(const struct sides *s, int parity)
{
    struct sides half = {0, 0, {0}, {0}};

    for (int i = parity; i < s->num_local; i += 2) {
        half.local[half.num_local++] = s->local[i];
    }
    for (int i = parity; i < s->num_remote; i += 2) {
        half.remote[half.num_remote++] = s->remote[i];
    }
    return half;
}

void check_derived(struct ept *t, MPI_Comm inter, int id, const struct sides *s)
{
    MPI_Comm derived;
    MPI_Request request;
    MPI_Group group, first;
    struct sides half;
    int rank;

    EPT_OK(t, MPI_Comm_rank(inter, &rank));
    ept_phase(t, "dup");
    EPT_OK(t, MPI_Comm_dup(inter, &derived));
    check_inter(t, derived, id, s);
    EPT_OK(t, MPI_Comm_free(&derived));
    ept_phase(t, "idup");
    EPT_OK(t, MPI_Comm_idup(inter, &derived, &request));
    EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_inter(t, derived, id, s);
    EPT_OK(t, MPI_Comm_free(&derived));

    if (1 < s->num_local && 1 < s->num_remote) {
        ept_phase(t, "split");
        half = halves(s, rank % 2);
        EPT_OK(t, MPI_Comm_split(inter, rank % 2, rank, &derived));
        check_inter(t, derived, id, &half);
        EPT_OK(t, MPI_Comm_free(&derived));
    }
    ept_phase(t, "create");
    EPT_OK(t, MPI_Comm_group(inter, &group));
    EPT_OK(t, MPI_Group_incl(group, 1, &(int){0}, &first));
    EPT_OK(t, MPI_Comm_create(inter, first, &derived));
    EPT_EQ(t, 0 == rank, MPI_COMM_NULL != derived);
    if (MPI_COMM_NULL != derived) {
        struct sides firsts = *s;

        firsts.num_local = firsts.num_remote = 1;
        check_inter(t, derived, id, &firsts);
        EPT_OK(t, MPI_Comm_free(&derived));
    }
    EPT_OK(t, MPI_Group_free(&first));
    EPT_OK(t, MPI_Group_free(&group));
    check_merge(t, inter, id, s);
}
