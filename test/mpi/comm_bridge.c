/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * Groups that have never met: intercommunicators between endpoints of different creations, and
 * between endpoints and processes; what comes of them; endpoints created from intercommunicators;
 * and who is whom: MPIX_ALIASED, MPIX_COMM_TYPE_ADDRESS_SPACE.
 * --limit 1: pml_epml_max_endpoints is what the run has.
 *
 * Each member is known by its rank in the run's communicator, its id.  Whoever is to be reached on
 * a communicator is told by the ids that come back.  One long file: all cases need what the
 * first part of it checks of an intercommunicator.
 *
 * Guards: pml_epml_handle.c, pml_epml_intercomm.c, pml_epml_meeting.c, pml_epml_peer.c,
 * pml_epml_proc.c, endpoints/c
 */

#include "ept.h"

#include <unistd.h>

#define MAX_RANKS 256
#define MAX_EP 4

/* ---- what every intercommunicator must do ---------------------------------------------------- */

/* The sides of an intercommunicator by id, in the order of the ranks. */
struct sides {
    int num_local, num_remote;
    int local[MAX_RANKS], remote[MAX_RANKS];
};

/* Those of 0 ... num - 1 that are as even as mine is, in order, and the others. */
static struct sides even_and_odd(int num, int mine)
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
        EPT_CHECK(t, 0 <= status.MPI_SOURCE && status.MPI_SOURCE < s->num_remote,
                  "source %d of %d", status.MPI_SOURCE, s->num_remote);
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

static void check_inter(struct ept *t, MPI_Comm inter, int id, const struct sides *s)
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
static void check_intra(struct ept *t, MPI_Comm intra, int id, const int ids[], int num)
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

static void check_merge(struct ept *t, MPI_Comm inter, int id, const struct sides *s)
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

static void check_derived(struct ept *t, MPI_Comm inter, int id, const struct sides *s)
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

/* ---- cases: intercommunicators --------------------------------------------------------------- */

/* Two halves of the run, each with a parent of its own, create endpoints that have never met. */
static void case_two_creations(MPI_Comm comm, struct ept *t)
{
    const int mine = t->rank % 2;
    MPI_Comm half, own[1], inter;
    const struct sides s = even_and_odd(t->size, mine);

    EPT_OK(t, MPI_Comm_split(comm, mine, t->rank, &half));
    ept_phase(t, "create");
    EPT_OK(t, ept_create_endpoints(half, 1, MPI_INFO_NULL, own));
    EPT_OK(t, MPI_Comm_free(&half));
    ept_phase(t, "intercomm_create");
    EPT_OK(t, MPI_Intercomm_create(own[0], 0, comm, 1 - mine, 11, &inter));
    EPT_OK(t, MPI_Comm_free(&own[0]));
    check_inter(t, inter, t->rank, &s);
    check_derived(t, inter, t->rank, &s);
    EPT_OK(t, MPI_Comm_free(&inter));
}

/* Leaders that are not the first, order of ranks turned round. */
static void case_other_leaders(MPI_Comm comm, struct ept *t)
{
    const int mine = t->rank % 2;
    MPI_Comm half, own[1], inter;
    struct sides s = {0, 0, {0}, {0}};

    for (int i = t->size - 1; 0 <= i; --i) {
        if (mine == i % 2) {
            s.local[s.num_local++] = i;
        } else {
            s.remote[s.num_remote++] = i;
        }
    }
    EPT_OK(t, MPI_Comm_split(comm, mine, -t->rank, &half));
    EPT_OK(t, ept_create_endpoints(half, 1, MPI_INFO_NULL, own));
    /* The last of each half leads: ids 0 and 1. */
    EPT_OK(t, MPI_Intercomm_create(own[0], s.num_local - 1, comm, 1 - mine, 12, &inter));
    check_inter(t, inter, t->rank, &s);
    EPT_OK(t, MPI_Comm_free(&inter));
    EPT_OK(t, MPI_Comm_free(&own[0]));
    EPT_OK(t, MPI_Comm_free(&half));
}

/* The processes as such on one side; on the other all endpoints but the first of each process, who
 * is the process itself. */
static void case_processes(MPI_Comm comm, struct ept *t)
{
    const bool process = 0 == t->local;
    MPI_Comm side, inter;
    struct sides s = {0, 0, {0}, {0}};

    for (int i = 0; i < t->size; ++i) {
        if (process == (0 == i % t->nlocal)) {
            s.local[s.num_local++] = i;
        } else {
            s.remote[s.num_remote++] = i;
        }
    }
    EPT_OK(t, MPI_Comm_split(comm, process, t->rank, &side));
    if (process) {
        EPT_OK(t, MPI_Comm_free(&side));
        EPT_OK(t, MPI_Comm_dup(MPI_COMM_WORLD, &side));
    }
    ept_phase(t, "intercomm_create");
    EPT_OK(t, MPI_Intercomm_create(side, 0, comm, process ? 1 : 0, 13, &inter));
    EPT_OK(t, MPI_Comm_free(&side));
    check_inter(t, inter, t->rank, &s);
    check_derived(t, inter, t->rank, &s);
    EPT_OK(t, MPI_Comm_free(&inter));
}

/* One process alone on one side; on the other the endpoints of everybody else. */
static void case_one_process(MPI_Comm comm, struct ept *t)
{
    const bool process = 0 == t->rank;
    MPI_Comm side, others, inter;
    struct sides s = {0, 0, {0}, {0}};

    EPT_OK(t, MPI_Comm_split(comm, process, t->rank, &others));
    side = process ? MPI_COMM_SELF : others;
    EPT_OK(t, MPI_Intercomm_create(side, 0, comm, process ? 1 : 0, 14, &inter));
    EPT_CHECK(t, MPI_COMM_NULL != inter, "no handle");
    EPT_OK(t, MPI_Comm_free(&inter));
    /* Another leader on the larger side: its last. */
    EPT_OK(t, MPI_Intercomm_create(side, process ? 0 : t->size - 2, comm,
                                   process ? t->size - 1 : 0, 14, &inter));
    EPT_OK(t, MPI_Comm_free(&others));
    for (int i = 1; i < t->size; ++i) {
        s.local[s.num_local++] = i;
    }
    s.remote[s.num_remote++] = 0;
    if (process) {
        struct sides swapped = {s.num_remote, s.num_local, {0}, {0}};

        memcpy(swapped.local, s.remote, sizeof(s.remote));
        memcpy(swapped.remote, s.local, sizeof(s.local));
        s = swapped;
    }
    check_inter(t, inter, t->rank, &s);
    check_derived(t, inter, t->rank, &s);
    EPT_OK(t, MPI_Comm_free(&inter));
}

/* Results as parents again, and again: each round merges two sides that have never met. */
static void case_generations(MPI_Comm comm, struct ept *t)
{
    MPI_Comm world, half, own[1], inter;
    int ids[MAX_RANKS];

    for (int i = 0; i < t->size; ++i) {
        ids[i] = i;
    }
    EPT_OK(t, MPI_Comm_dup(comm, &world));
    for (int round = 0; round < 4; ++round) {
        const int cut = 1 + round % (t->size - 1); /* ranks below it are one side */
        const bool low = t->rank < cut;

        ept_phase(t, "round %d", round);
        EPT_OK(t, MPI_Comm_split(world, low, t->rank, &half));
        EPT_OK(t, ept_create_endpoints(half, 1, MPI_INFO_NULL, own));
        EPT_OK(t, MPI_Intercomm_create(own[0], 0, world, low ? cut : 0, 15, &inter));
        EPT_OK(t, MPI_Comm_free(&world));
        EPT_OK(t, MPI_Intercomm_merge(inter, !low, &world));
        EPT_OK(t, MPI_Comm_free(&inter));
        EPT_OK(t, MPI_Comm_free(&own[0]));
        EPT_OK(t, MPI_Comm_free(&half));
        check_intra(t, world, t->rank, ids, t->size);
    }
    EPT_OK(t, MPI_Comm_free(&world));
}

#if defined(HAVE_EP)

/* Sides that share a member; bad leaders; bad bridges: an error for everybody who can know, and
 * nobody waits. */
static void case_bad_arguments(MPI_Comm comm, struct ept *t)
{
    const int mine = t->rank % 2;
    MPI_Comm half, inter;

    EPT_OK(t, MPI_Comm_split(comm, mine, t->rank, &half));
    EPT_OK(t, MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN));
    EPT_CLASS(t, MPI_ERR_RANK, MPI_Intercomm_create(half, -1, comm, 0, 16, &inter));
    EPT_CLASS(t, MPI_ERR_RANK, MPI_Intercomm_create(half, 1000, comm, 0, 16, &inter));
    EPT_CLASS(t, MPI_ERR_RANK, MPI_Intercomm_create(half, 0, comm, t->size, 16, &inter));
    EPT_CLASS(t, MPI_ERR_RANK, MPI_Intercomm_create(half, 0, comm, -1, 16, &inter));
    EPT_CLASS(t, MPI_ERR_COMM, MPI_Intercomm_create(half, 0, MPI_COMM_NULL, 0, 16, &inter));
    /* Both lead the same group: the leader talks to itself. */
    EPT_CLASS(t, MPI_ERR_COMM, MPI_Intercomm_create(half, 0, comm, mine, 16, &inter));
    /* All is well afterwards. */
    EPT_OK(t, MPI_Intercomm_create(half, 0, comm, 1 - mine, 16, &inter));
    EPT_CLASS(t, MPI_ERR_COMM, MPI_Intercomm_create(half, 0, inter, 0, 16, &half));
    EPT_OK(t, MPI_Comm_free(&inter));
}

/* What rank 0 does with both of its handles at a time, the others with their one. */
static void create_overlapping(MPI_Comm comm, struct ept *t, int index, void *context)
{
    const bool alone = 0 == t->rank && 0 == index;
    MPI_Comm *bridge = context, inter = MPI_COMM_NULL;

    EPT_CLASS(t, MPI_ERR_COMM,
              MPI_Intercomm_create(comm, alone ? 0 : t->size - 1, *bridge,
                                   alone ? t->size - 1 : 0, 17, &inter));
    EPT_CHECK(t, MPI_COMM_NULL == inter, "a handle came with the error");
}

/* The index 0 of every creation is the parent's member itself: rank 0 meets itself. */
static void case_overlap(MPI_Comm comm, struct ept *t)
{
    MPI_Comm all[1], alone, handles[2];

    EPT_OK(t, ept_create_endpoints(comm, 1, MPI_INFO_NULL, all));
    EPT_OK(t, MPI_Comm_split(comm, t->rank, 0, &alone));
    EPT_OK(t, MPI_Comm_set_errhandler(alone, MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Comm_set_errhandler(all[0], MPI_ERRORS_RETURN));
    handles[0] = 0 == t->rank ? alone : all[0];
    handles[1] = all[0];
    ept_on_each(t, handles, 0 == t->rank ? 2 : 1, create_overlapping, &comm);
    ept_use_comm(t, all[0], t->rank, t->size);
    EPT_OK(t, MPI_Comm_free(&alone));
    EPT_OK(t, MPI_Comm_free(&all[0]));
}

/* ---- cases: endpoints from intercommunicators ------------------------------------------------ */

struct use {
    struct sides sides;
    int first_id;
};

static void use_inter(MPI_Comm comm, struct ept *t, int index, void *context)
{
    const struct use *use = context;

    check_inter(t, comm, use->first_id + index, &use->sides);
    check_merge(t, comm, use->first_id + index, &use->sides);
}

/* Each member creates count(id) endpoints from an intercommunicator of two sides; ids of those are
 * 10 times the parent's plus the index. */
static void create_from(struct ept *t, MPI_Comm parent, const struct sides *s, int id,
                        int (*count)(int id))
{
    MPI_Comm comms[MAX_EP] = {NULL, NULL, NULL, NULL};
    struct use use = {.first_id = 10 * id};
    int num = count(id);

    for (int i = 0; i < s->num_local; ++i) {
        for (int j = 0; j < count(s->local[i]); ++j) {
            use.sides.local[use.sides.num_local++] = 10 * s->local[i] + j;
        }
    }
    for (int i = 0; i < s->num_remote; ++i) {
        for (int j = 0; j < count(s->remote[i]); ++j) {
            use.sides.remote[use.sides.num_remote++] = 10 * s->remote[i] + j;
        }
    }
    ept_phase(t, "create %d from an intercommunicator", num);
    EPT_OK(t, ept_create_endpoints(parent, num, MPI_INFO_NULL, comms));
    if (0 == use.sides.num_local || 0 == use.sides.num_remote) {
        for (int i = 0; i < num; ++i) {
            EPT_CHECK(t, MPI_COMM_NULL == comms[i], "handle %d for nobody to talk to", i);
        }
        return;
    }
    ept_on_each(t, comms, num, use_inter, &use);
    for (int i = 0; i < num; ++i) {
        EPT_OK(t, MPI_Comm_free(&comms[i]));
    }
}

static int one_each(int id)
{
    (void) id;
    return 1;
}

static int two_each(int id)
{
    (void) id;
    return 2;
}

static int by_rank(int id)
{
    return id % 3;
}

static int even_only(int id)
{
    return 0 == id % 2 ? 2 : 0;
}

static int nobody(int id)
{
    (void) id;
    return 0;
}

static void create_from_each_way(struct ept *t, MPI_Comm inter, int id, const struct sides *s)
{
    create_from(t, inter, s, id, two_each);
    create_from(t, inter, s, id, one_each);
    create_from(t, inter, s, id, by_rank);
    create_from(t, inter, s, id, even_only); /* in the cases below: one side only */
    create_from(t, inter, s, id, nobody);
}

/* The parent is an intercommunicator of endpoints. */
static void case_create_from_endpoints(MPI_Comm comm, struct ept *t)
{
    const int mine = t->rank % 2;
    MPI_Comm half, inter;
    const struct sides s = even_and_odd(t->size, mine);

    EPT_OK(t, MPI_Comm_split(comm, mine, t->rank, &half));
    EPT_OK(t, MPI_Intercomm_create(half, 0, comm, 1 - mine, 18, &inter));
    EPT_OK(t, MPI_Comm_free(&half));
    create_from_each_way(t, inter, t->rank, &s);
    EPT_OK(t, MPI_Comm_free(&inter));
}

/* The parent is an ordinary intercommunicator, of processes. */
static void case_create_from_processes(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (0 == t->local) {
        const int mine = t->proc % 2;
        MPI_Comm half, inter;
        const struct sides s = even_and_odd(t->nprocs, mine);

        EPT_OK(t, MPI_Comm_split(MPI_COMM_WORLD, mine, t->proc, &half));
        EPT_OK(t, MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - mine, 19, &inter));
        EPT_OK(t, MPI_Comm_free(&half));
        create_from_each_way(t, inter, t->proc, &s);
        EPT_OK(t, MPI_Comm_free(&inter));
    }
    ept_local_barrier(t);
}

/* ---- cases: who is whom ---------------------------------------------------------------------- */

static int compare(struct ept *t, MPI_Comm comm1, MPI_Comm comm2)
{
    int result = -1;

    EPT_OK(t, MPI_Comm_compare(comm1, comm2, &result));
    return result;
}

static int compare_groups(struct ept *t, MPI_Comm comm1, MPI_Comm comm2)
{
    MPI_Group group1, group2;
    int result = -1;

    EPT_OK(t, MPI_Comm_group(comm1, &group1));
    EPT_OK(t, MPI_Comm_group(comm2, &group2));
    EPT_OK(t, MPI_Group_compare(group1, group2, &result));
    EPT_OK(t, MPI_Group_free(&group1));
    EPT_OK(t, MPI_Group_free(&group2));
    return result;
}

struct dups {
    MPI_Comm dup[3], turned[3];
};

static void derive(MPI_Comm comm, struct ept *t, int index, void *context)
{
    struct dups *dups = context;
    int rank;

    EPT_OK(t, MPI_Comm_dup(comm, &dups->dup[index]));
    EPT_OK(t, MPI_Comm_rank(comm, &rank));
    EPT_OK(t, MPI_Comm_split(comm, 0, -rank, &dups->turned[index]));
}

static void case_compare(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (0 == t->local) {
        MPI_Comm ep[3], one[1];
        struct dups d;

        EPT_OK(t, MPIX_Comm_create_endpoints(MPI_COMM_WORLD, 3, MPI_INFO_NULL, ep));
        ept_on_each(t, ep, 3, derive, &d);
        /* Communicators: one, another of the same members, the same in another order. */
        EPT_EQ(t, MPI_IDENT, compare(t, ep[1], ep[1]));
        EPT_EQ(t, MPIX_ALIASED, compare(t, ep[1], ep[2]));
        EPT_EQ(t, MPIX_ALIASED, compare(t, ep[0], ep[2]));
        EPT_EQ(t, MPIX_ALIASED, compare(t, d.dup[0], d.dup[1]));
        EPT_EQ(t, MPI_CONGRUENT, compare(t, ep[1], d.dup[1]));
        EPT_EQ(t, MPI_CONGRUENT, compare(t, ep[1], d.dup[2]));
        EPT_EQ(t, MPI_SIMILAR, compare(t, ep[1], d.turned[1]));
        EPT_EQ(t, MPI_SIMILAR, compare(t, ep[1], d.turned[0]));
        EPT_EQ(t, MPI_UNEQUAL, compare(t, ep[1], MPI_COMM_WORLD));
        EPT_EQ(t, MPI_UNEQUAL, compare(t, MPI_COMM_SELF, ep[1]));
        /* Groups: of the same member, or of another one. */
        EPT_EQ(t, MPI_IDENT, compare_groups(t, ep[1], ep[1]));
        EPT_EQ(t, MPI_IDENT, compare_groups(t, ep[1], d.dup[1]));
        EPT_EQ(t, MPIX_ALIASED, compare_groups(t, ep[0], ep[1]));
        EPT_EQ(t, MPIX_ALIASED, compare_groups(t, ep[1], d.dup[2]));
        EPT_EQ(t, MPI_SIMILAR, compare_groups(t, ep[1], d.turned[1]));
        EPT_EQ(t, MPI_UNEQUAL, compare_groups(t, ep[1], d.turned[0]));
        EPT_EQ(t, MPI_UNEQUAL, compare_groups(t, ep[1], MPI_COMM_WORLD));
        /* One endpoint everywhere: the processes themselves. */
        EPT_OK(t, MPIX_Comm_create_endpoints(MPI_COMM_WORLD, 1, MPI_INFO_NULL, one));
        EPT_EQ(t, MPI_CONGRUENT, compare(t, one[0], MPI_COMM_WORLD));
        EPT_EQ(t, MPI_IDENT, compare_groups(t, one[0], MPI_COMM_WORLD));
        EPT_OK(t, MPI_Comm_free(&one[0]));
        for (int i = 0; i < 3; ++i) {
            EPT_OK(t, MPI_Comm_free(&ep[i]));
            EPT_OK(t, MPI_Comm_free(&d.dup[i]));
            EPT_OK(t, MPI_Comm_free(&d.turned[i]));
        }
    }
    ept_local_barrier(t);
}

/* Both sides of one intercommunicator, compared in one process. */
static void case_compare_inter(MPI_Comm comm, struct ept *t)
{
    static MPI_Comm inters[MAX_RANKS];
    MPI_Comm half, inter;

    EPT_OK(t, MPI_Comm_split(comm, t->rank % 2, t->rank, &half));
    EPT_OK(t, MPI_Intercomm_create(half, 0, comm, 1 - t->rank % 2, 20, &inter));
    inters[t->local] = inter;
    ept_local_barrier(t);
    for (int i = 0; i < t->nlocal; ++i) {
        EPT_EQ(t, i == t->local ? MPI_IDENT : MPIX_ALIASED, compare(t, inter, inters[i]));
        EPT_EQ(t, MPI_UNEQUAL, compare(t, half, inters[i]));
    }
    ept_local_barrier(t);
    EPT_OK(t, MPI_Comm_free(&inter));
    EPT_OK(t, MPI_Comm_free(&half));
}

/* A communicator's address spaces: those who are in this process, in the order of the keys. */
static void check_spaces(struct ept *t, MPI_Comm comm, int id, int sign)
{
    int pid = (int) getpid(), rank, pids[MAX_RANKS], ids[MAX_RANKS], size, spaces_rank, n = 0;
    int expected[MAX_RANKS];
    MPI_Comm space = MPI_COMM_NULL;

    EPT_OK(t, MPI_Comm_rank(comm, &rank));
    EPT_OK(t, MPI_Comm_size(comm, &size));
    EPT_OK(t, MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, comm));
    EPT_OK(t, MPI_Allgather(&id, 1, MPI_INT, ids, 1, MPI_INT, comm));
    for (int i = 0; i < size; ++i) {
        int at = 0 < sign ? i : size - 1 - i;

        if (pid == pids[at]) {
            expected[n++] = ids[at];
        }
    }
    EPT_OK(t, MPI_Comm_split_type(comm, MPIX_COMM_TYPE_ADDRESS_SPACE, sign * rank, MPI_INFO_NULL,
                                  &space));
    EPT_CHECK(t, MPI_COMM_NULL != space, "no communicator");
    if (MPI_COMM_NULL != space) {
        EPT_OK(t, MPI_Comm_rank(space, &spaces_rank));
        check_intra(t, space, id, expected, n);
        EPT_OK(t, MPI_Comm_free(&space));
    }
}

static void case_address_space(MPI_Comm comm, struct ept *t)
{
    MPI_Comm space;

    check_spaces(t, comm, t->rank, 1);
    check_spaces(t, comm, t->rank, -1);
    /* Some stay out. */
    EPT_OK(t, MPI_Comm_split_type(comm, 0 == t->rank ? MPI_UNDEFINED : MPIX_COMM_TYPE_ADDRESS_SPACE,
                                  0, MPI_INFO_NULL, &space));
    EPT_EQ(t, 0 == t->rank, MPI_COMM_NULL == space);
    if (MPI_COMM_NULL != space) {
        int size, here = t->nlocal - (0 == t->proc);

        EPT_OK(t, MPI_Comm_size(space, &size));
        EPT_EQ(t, here, size);
        EPT_OK(t, MPI_Comm_free(&space));
    }
    /* Processes. */
    if (0 == t->local) {
        check_spaces(t, MPI_COMM_WORLD, t->proc, 1);
        check_spaces(t, MPI_COMM_SELF, t->proc, 1);
    }
    ept_local_barrier(t);
}

/* On an intercommunicator: the members of either side in one process stay together. */
static void case_address_space_inter(MPI_Comm comm, struct ept *t)
{
    const int mine = t->rank % 2;
    MPI_Comm half, inter, space;
    struct sides s = {0, 0, {0}, {0}};

    for (int i = t->proc * t->nlocal; i < (t->proc + 1) * t->nlocal; ++i) {
        if (mine == i % 2) {
            s.local[s.num_local++] = i;
        } else {
            s.remote[s.num_remote++] = i;
        }
    }
    EPT_OK(t, MPI_Comm_split(comm, mine, t->rank, &half));
    EPT_OK(t, MPI_Intercomm_create(half, 0, comm, 1 - mine, 21, &inter));
    EPT_OK(t, MPI_Comm_split_type(inter, MPIX_COMM_TYPE_ADDRESS_SPACE, 0, MPI_INFO_NULL, &space));
    EPT_EQ(t, 0 == s.num_remote, MPI_COMM_NULL == space);
    if (MPI_COMM_NULL != space) {
        check_inter(t, space, t->rank, &s);
        EPT_OK(t, MPI_Comm_free(&space));
    }
    EPT_OK(t, MPI_Comm_free(&inter));
    EPT_OK(t, MPI_Comm_free(&half));
}

/* MPI_COMM_TYPE_SHARED: those on the same node, whatever communicator they met on. */
static void check_node(struct ept *t, MPI_Comm comm, int id)
{
    char own[MPI_MAX_PROCESSOR_NAME] = "", *names;
    int ids[MAX_RANKS], expected[MAX_RANKS], size, length, rank, n = 0;
    MPI_Comm node = MPI_COMM_NULL;

    EPT_OK(t, MPI_Comm_size(comm, &size));
    EPT_OK(t, MPI_Comm_rank(comm, &rank));
    names = malloc((size_t) size * sizeof(own));
    EPT_OK(t, MPI_Get_processor_name(own, &length));
    EPT_OK(t, MPI_Allgather(own, sizeof(own), MPI_CHAR, names, sizeof(own), MPI_CHAR, comm));
    EPT_OK(t, MPI_Allgather(&id, 1, MPI_INT, ids, 1, MPI_INT, comm));
    for (int i = 0; i < size; ++i) {
        if (0 == strcmp(own, names + (size_t) i * sizeof(own))) {
            expected[n++] = ids[i];
        }
    }
    EPT_OK(t, MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node));
    EPT_CHECK(t, MPI_COMM_NULL != node, "no communicator");
    if (MPI_COMM_NULL != node) {
        check_intra(t, node, id, expected, n);
        EPT_OK(t, MPI_Comm_free(&node));
    }
    free(names);
}

static void case_node(MPI_Comm comm, struct ept *t)
{
    MPI_Comm half, own[1], inter, whole;

    check_node(t, comm, t->rank);
    EPT_OK(t, MPI_Comm_split(comm, t->rank % 2, t->rank, &half));
    EPT_OK(t, ept_create_endpoints(half, 1, MPI_INFO_NULL, own));
    EPT_OK(t, MPI_Intercomm_create(own[0], 0, comm, 1 - t->rank % 2, 25, &inter));
    EPT_OK(t, MPI_Intercomm_merge(inter, 0, &whole));
    check_node(t, whole, t->rank);
    check_node(t, comm, t->rank); /* still */
    EPT_OK(t, MPI_Comm_free(&whole));
    EPT_OK(t, MPI_Comm_free(&inter));
    EPT_OK(t, MPI_Comm_free(&own[0]));
    EPT_OK(t, MPI_Comm_free(&half));
}

/* Each side in processes of its own: nobody shares an address space across.  Some stay out. */
static void case_address_space_apart(MPI_Comm comm, struct ept *t)
{
    const int side = t->proc % 2;
    MPI_Comm half, inter, space;

    EPT_OK(t, MPI_Comm_split(comm, side, t->rank, &half));
    EPT_OK(t, MPI_Intercomm_create(half, 0, comm, 0 == side ? t->nlocal : 0, 22, &inter));
    EPT_OK(t, MPI_Comm_split_type(inter, MPIX_COMM_TYPE_ADDRESS_SPACE, 0, MPI_INFO_NULL, &space));
    EPT_CHECK(t, MPI_COMM_NULL == space, "a communicator with nobody on the other side");
    EPT_OK(t, MPI_Comm_split_type(inter,
                                  0 == t->rank ? MPI_UNDEFINED : MPIX_COMM_TYPE_ADDRESS_SPACE, 0,
                                  MPI_INFO_NULL, &space));
    EPT_CHECK(t, MPI_COMM_NULL == space, "a communicator with nobody on the other side");
    EPT_OK(t, MPI_Comm_free(&inter));
    EPT_OK(t, MPI_Comm_free(&half));
    /* Processes. */
    if (0 == t->local) {
        EPT_OK(t, MPI_Comm_split(MPI_COMM_WORLD, side, t->proc, &half));
        EPT_OK(t, MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 23, &inter));
        EPT_OK(t, MPI_Comm_split_type(inter, MPIX_COMM_TYPE_ADDRESS_SPACE, 0, MPI_INFO_NULL,
                                      &space));
        EPT_CHECK(t, MPI_COMM_NULL == space, "a communicator of one process's space");
        EPT_OK(t, MPI_Comm_free(&inter));
        EPT_OK(t, MPI_Comm_free(&half));
    }
    ept_local_barrier(t);
}

/* Processes that join endpoints count as endpoints do. */
static void case_limit(MPI_Comm comm, struct ept *t)
{
    MPI_Comm side, inter, none;

    EPT_OK(t, MPI_Comm_split(comm, 0 == t->local, t->rank, &side));
    if (0 == t->local) {
        EPT_OK(t, MPI_Comm_free(&side));
        EPT_OK(t, MPI_Comm_dup(MPI_COMM_WORLD, &side));
    }
    EPT_OK(t, MPI_Comm_set_errhandler(side, MPI_ERRORS_RETURN));
    EPT_CLASS(t, MPIX_ERR_ENDPOINTS,
              MPI_Intercomm_create(side, 0, comm, 0 == t->local ? 1 : 0, 24, &inter));
    if (0 == t->local) {
        /* Who asks for none gets none, without complaint. */
        EPT_OK(t, MPIX_Comm_create_endpoints(side, 0, MPI_INFO_NULL, &none));
    }
    EPT_OK(t, MPI_Comm_free(&side));
}

static void case_address_space_errors(MPI_Comm comm, struct ept *t)
{
    MPI_Comm own, space;

    EPT_OK(t, MPI_Comm_dup(comm, &own));
    EPT_OK(t, MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN));
    EPT_CLASS(t, MPI_ERR_ARG,
              MPI_Comm_split_type(own, MPIX_COMM_TYPE_ADDRESS_SPACE, 0, MPI_INFO_NULL, NULL));
    EPT_CLASS(t, MPI_ERR_ARG, MPI_Comm_split_type(own, 0x4551, 0, MPI_INFO_NULL, &space));
    /* Not all mean the same; one has no place for the result; one has no info. */
    EPT_CLASS(t, MPI_ERR_ARG,
              MPI_Comm_split_type(own, 0 == t->rank ? MPI_COMM_TYPE_SHARED
                                                    : MPIX_COMM_TYPE_ADDRESS_SPACE,
                                  0, MPI_INFO_NULL, &space));
    EPT_CLASS(t, MPI_ERR_ARG,
              MPI_Comm_split_type(own, MPIX_COMM_TYPE_ADDRESS_SPACE, 0, MPI_INFO_NULL,
                                  0 == t->rank ? NULL : &space));
    EPT_CLASS(t, 0 == t->rank ? MPI_ERR_INFO : MPI_ERR_ARG,
              MPI_Comm_split_type(own, MPI_COMM_TYPE_SHARED, 0,
                                  0 == t->rank ? NULL : MPI_INFO_NULL, &space));
    ept_use_comm(t, own, t->rank, t->size);
    EPT_OK(t, MPI_Comm_free(&own));
}

#endif /* HAVE_EP */

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (2 > t->size) {
        ept_skip(t, "all", "needs two ranks");
        return 0;
    }
#if defined(HAVE_EP)
    if (0 != ept_option_long("limit", 0)) {
        EPT_CASE(t, case_limit);
        return 0;
    }
#endif
    EPT_CASE(t, case_two_creations);
    EPT_CASE(t, case_other_leaders);
    EPT_CASE(t, case_one_process);
    EPT_CASE(t, case_generations);
    if (1 < t->nlocal) {
        EPT_CASE(t, case_processes);
    }
#if defined(HAVE_EP)
    if (t->endpoints) {
        EPT_CASE(t, case_bad_arguments);
        EPT_CASE(t, case_overlap);
        EPT_CASE(t, case_create_from_endpoints);
        if (1 < t->nprocs) {
            EPT_CASE(t, case_create_from_processes);
        }
        EPT_CASE(t, case_compare);
        EPT_CASE(t, case_compare_inter);
        EPT_CASE(t, case_node);
        EPT_CASE(t, case_address_space);
        EPT_CASE(t, case_address_space_inter);
        if (1 < t->nprocs) {
            EPT_CASE(t, case_address_space_apart);
        }
        EPT_CASE(t, case_address_space_errors);
    }
#endif
    return 0;
}
