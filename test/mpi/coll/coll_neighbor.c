/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Neighbourhood collectives, blocking, nonblocking and persistent, on a line (MPI_Cart_create, open
 * ends), a torus, grids with dimensions of one and two members, a graph (MPI_Graph_create), directed
 * graphs (MPI_Dist_graph_create_adjacent, also with several edges between two ranks, and
 * MPI_Dist_graph_create with edges told by others). What can be asked of topologies is in
 * comm_topo.c.
 *
 *   --stock 1  Open MPI's own components serve them: libnbc exchanges the blocks of periodic
 *              dimensions of one or two members
 *
 * Guards: pml_epml_coll.c, hook_topo.c, coll_epcoll_calls_direct.c, coll_epcoll_direct.c,
 * coll_epcoll_peers.c, coll_epcoll_module.c
 */

#include "coll.h"

#define MAX_DEGREE 6

/** A topology of either kind as this rank sees it. */
struct hood {
    MPI_Comm comm;
    int in, out;
    int sources[MAX_DEGREE], targets[MAX_DEGREE]; /* MPI_PROC_NULL: nobody there */
    int meets[MAX_DEGREE]; /* the block of the source that comes in as the block here */
    bool is_grid;
    bool is_thin; /* with a periodic dimension of one or two members */
};

/* A grid of any kind. */
static struct hood make_grid(MPI_Comm comm, struct ept *t, int ndims, const int *dims,
                             const int *periods)
{
    struct hood h = {.in = 2 * ndims, .out = 2 * ndims, .is_grid = true};

    EPT_OK(t, MPI_Cart_create(comm, ndims, dims, periods, 0, &h.comm));
    for (int d = 0; d < ndims; ++d) {
        EPT_OK(t, MPI_Cart_shift(h.comm, d, 1, &h.sources[2 * d], &h.sources[2 * d + 1]));
        h.is_thin = h.is_thin || (periods[d] && dims[d] <= 2);
    }
    memcpy(h.targets, h.sources, sizeof(h.targets));
    return h;
}

static struct hood make_line(MPI_Comm comm, struct ept *t)
{
    int dims[1] = {t->size}, periods[1] = {0}, left, right, rank, at[1], again[1], kind;
    struct hood h = make_grid(comm, t, 1, dims, periods);

    EPT_OK(t, MPI_Topo_test(h.comm, &kind));
    EPT_EQ(t, MPI_CART, kind);
    EPT_OK(t, MPI_Comm_rank(h.comm, &rank));
    EPT_EQ(t, t->rank, rank);
    EPT_OK(t, MPI_Cart_coords(h.comm, rank, 1, at));
    EPT_EQ(t, rank, at[0]);
    EPT_OK(t, MPI_Cart_get(h.comm, 1, dims, periods, again));
    EPT_EQ(t, rank, again[0]);
    EPT_OK(t, MPI_Cart_shift(h.comm, 0, 1, &left, &right));
    EPT_EQ(t, 0 == rank ? MPI_PROC_NULL : rank - 1, left);
    EPT_EQ(t, t->size - 1 == rank ? MPI_PROC_NULL : rank + 1, right);
    EPT_EQ(t, left, h.sources[0]);
    EPT_EQ(t, right, h.sources[1]);
    return h;
}

static struct hood make_graph(MPI_Comm comm, struct ept *t)
{
    static const int steps[] = {0, 1, 3};
    struct hood h = {.in = 0};
    int in = 0, out = 0, weighted = 0, kind, weights[MAX_DEGREE] = {1, 1, 1, 1};

    for (int i = 0; i < 3; ++i) {
        bool seen = false;

        for (int j = 0; j < i; ++j) {
            seen = seen || steps[j] % t->size == steps[i] % t->size;
        }
        if (!seen) {
            h.sources[h.in++] = (t->rank + t->size - steps[i] % t->size) % t->size;
            h.targets[h.out++] = (t->rank + steps[i]) % t->size;
        }
    }
    EPT_OK(t, MPI_Dist_graph_create_adjacent(comm, h.in, h.sources, weights, h.out, h.targets,
                                             weights, MPI_INFO_NULL, 0, &h.comm));
    EPT_OK(t, MPI_Topo_test(h.comm, &kind));
    EPT_EQ(t, MPI_DIST_GRAPH, kind);
    EPT_OK(t, MPI_Dist_graph_neighbors_count(h.comm, &in, &out, &weighted));
    EPT_EQ(t, h.in, in);
    EPT_EQ(t, h.out, out);
    EPT_EQ(t, 1, weighted);
    return h;
}

/* Round in both directions: with few ranks the same neighbour twice, or oneself. */
static struct hood make_torus(MPI_Comm comm, struct ept *t)
{
    int dims[2] = {0, 0}, periods[2] = {1, 1};

    EPT_OK(t, MPI_Dims_create(t->size, 2, dims));
    return make_grid(comm, t, 2, dims, periods);
}

/* Three edges to the next rank and one to oneself, in different orders at both ends. */
static struct hood make_repeated(MPI_Comm comm, struct ept *t)
{
    const int next = (t->rank + 1) % t->size, before = (t->rank + t->size - 1) % t->size;
    struct hood h = {.in = 4,
                     .out = 4,
                     .sources = {before, before, t->rank, before},
                     .targets = {next, t->rank, next, next}};

    int weights[MAX_DEGREE] = {1, 1, 1, 1}; /* gcc takes MPI_UNWEIGHTED for an array of nothing */

    EPT_OK(t, MPI_Dist_graph_create_adjacent(comm, h.in, h.sources, weights, h.out, h.targets,
                                             weights, MPI_INFO_NULL, 0, &h.comm));
    return h;
}

/* A ring whose even ranks have themselves as a neighbour as well. */
static struct hood make_old_graph(MPI_Comm comm, struct ept *t)
{
    struct hood h = {.in = 0 == t->rank % 2 ? 3 : 2};
    int *index = malloc((size_t) t->size * sizeof(int));
    int *edges = malloc((size_t) t->size * 3 * sizeof(int)), n = 0;

    for (int r = 0; r < t->size; ++r) {
        edges[n++] = (r + 1) % t->size;
        edges[n++] = (r + t->size - 1) % t->size;
        if (0 == r % 2) {
            edges[n++] = r;
        }
        index[r] = n;
    }
    EPT_OK(t, MPI_Graph_create(comm, t->size, index, edges, 0, &h.comm));
    h.out = h.in;
    EPT_OK(t, MPI_Graph_neighbors(h.comm, t->rank, h.in, h.sources));
    memcpy(h.targets, h.sources, sizeof(h.targets));
    free(edges);
    free(index);
    return h;
}

/* Each rank tells of the edges of the next. Odd ranks send to fewer. */
static struct hood make_told_graph(MPI_Comm comm, struct ept *t)
{
    struct hood h = {.in = 0};
    int of = (t->rank + 1) % t->size, degree = 0 == of % 2 ? 2 : 1, weighted;
    int targets[2] = {(of + 1) % t->size, (of + t->size / 2) % t->size}, weights[2] = {3, 4};

    EPT_OK(t, MPI_Dist_graph_create(comm, 1, &of, &degree, targets, weights, MPI_INFO_NULL, 0,
                                    &h.comm));
    EPT_OK(t, MPI_Dist_graph_neighbors_count(h.comm, &h.in, &h.out, &weighted));
    EPT_EQ(t, 0 == t->rank % 2 ? 2 : 1, h.out);
    EPT_CHECK(t, MAX_DEGREE >= h.in, "%d neighbours", h.in);
    EPT_OK(t, MPI_Dist_graph_neighbors(h.comm, MAX_DEGREE, h.sources, (int[MAX_DEGREE]){0},
                                       MAX_DEGREE, h.targets, (int[MAX_DEGREE]){0}));
    return h;
}

/* Which block meets which, by the standard's text: in a grid what goes in the negative direction
 * comes from the positive one (MPI 4.1, 8.6); in a graph the n-th edge from a rank to another one is
 * the n-th at both. */
static void match(struct ept *t, struct hood *h)
{
    int *all = malloc((size_t) t->size * MAX_DEGREE * sizeof(int)), mine[MAX_DEGREE];

    for (int i = 0; i < MAX_DEGREE; ++i) {
        mine[i] = i < h->out ? h->targets[i] : MPI_PROC_NULL;
    }
    EPT_OK(t, MPI_Allgather(mine, MAX_DEGREE, MPI_INT, all, MAX_DEGREE, MPI_INT, h->comm));
    for (int i = 0; i < h->in; ++i) {
        int edges = 0, block = 0;

        for (int j = 0; j < i; ++j) {
            edges += h->sources[i] == h->sources[j];
        }
        for (; !h->is_grid && block < MAX_DEGREE; ++block) {
            if (t->rank == all[h->sources[i] * MAX_DEGREE + block] && 0 == edges--) {
                break;
            }
        }
        h->meets[i] = h->is_grid ? i ^ 1 : block;
    }
    free(all);
}

/* What the key of values is of which block is sent. */
enum { TO_ALL = -1, TO_BLOCK = 100 };

/* Slot i of in must hold what source i gave to all, or in the block that meets it; where nobody is,
 * the slot stays untouched. */
static void check_slots(struct ept *t, const struct hood *h, const struct coll_ints *in,
                        const int *places, const int *counts, int to)
{
    for (int i = 0; i < h->in; ++i) {
        if (MPI_PROC_NULL == h->sources[i]) {
            COLL_CHECK_CLEAR(t, in, places[i], counts[i]);
        } else {
            COLL_CHECK(t, in, places[i], counts[i], h->sources[i],
                       TO_ALL == to ? TO_ALL : TO_BLOCK + h->meets[i]);
        }
    }
}

static void neighbor_allgather(struct ept *t, const struct hood *h, enum coll_mode mode, int count)
{
    struct coll_ints out = coll_ints(count), in = coll_ints(count * h->in);
    int places[MAX_DEGREE], counts[MAX_DEGREE];

    for (int i = 0; i < h->in; ++i) {
        places[i] = i * count;
        counts[i] = count;
    }
    coll_set(&out, 0, count, t->rank, -1);
    COLL(t, mode, Neighbor_allgather, neighbor_allgather, out.v, count, MPI_INT32_T, in.v, count,
         MPI_INT32_T, h->comm);
    check_slots(t, h, &in, places, counts, TO_ALL);
    coll_free(t, &in);

    /* The v-form: slots in the opposite order, with gaps. */
    in = coll_ints((count + 1) * h->in);
    for (int i = 0; i < h->in; ++i) {
        places[i] = (h->in - 1 - i) * (count + 1);
    }
    COLL(t, mode, Neighbor_allgatherv, neighbor_allgatherv, out.v, count, MPI_INT32_T, in.v, counts,
         places, MPI_INT32_T, h->comm);
    check_slots(t, h, &in, places, counts, TO_ALL);
    for (int i = 0; i < h->in; ++i) {
        COLL_CHECK_CLEAR(t, &in, places[i] + count, 1);
    }
    coll_free(t, &in);
    coll_free(t, &out);
}

static void neighbor_alltoall(struct ept *t, const struct hood *h, enum coll_mode mode, int count)
{
    struct coll_ints out = coll_ints((count + 1) * h->out), in = coll_ints((count + 1) * h->in);
    int out_places[MAX_DEGREE], in_places[MAX_DEGREE], counts[MAX_DEGREE];
    MPI_Aint out_bytes[MAX_DEGREE], in_bytes[MAX_DEGREE];
    MPI_Datatype types[MAX_DEGREE];

    for (int i = 0; i < MAX_DEGREE; ++i) {
        counts[i] = count;
        in_places[i] = out_places[i] = i * count;
        types[i] = MPI_INT32_T;
    }
    for (int i = 0; i < h->out; ++i) {
        coll_set(&out, out_places[i], count, t->rank, TO_BLOCK + i);
    }
    COLL(t, mode, Neighbor_alltoall, neighbor_alltoall, out.v, count, MPI_INT32_T, in.v, count,
         MPI_INT32_T, h->comm);
    check_slots(t, h, &in, in_places, counts, TO_BLOCK);

    /* The v- and w-forms: gaps, and what comes in in the opposite order. */
    for (int i = 0; i < h->out; ++i) {
        out_places[i] = i * (count + 1);
        out_bytes[i] = out_places[i] * (MPI_Aint) sizeof(int32_t);
        coll_set(&out, out_places[i], count, t->rank, TO_BLOCK + i);
    }
    for (int i = 0; i < h->in; ++i) {
        in_places[i] = (h->in - 1 - i) * (count + 1);
        in_bytes[i] = in_places[i] * (MPI_Aint) sizeof(int32_t);
    }
    ept_buffer_clear(&in.buffer);
    COLL(t, mode, Neighbor_alltoallv, neighbor_alltoallv, out.v, counts, out_places, MPI_INT32_T,
         in.v, counts, in_places, MPI_INT32_T, h->comm);
    check_slots(t, h, &in, in_places, counts, TO_BLOCK);
    ept_buffer_clear(&in.buffer);
    COLL(t, mode, Neighbor_alltoallw, neighbor_alltoallw, out.v, counts, out_bytes, types, in.v,
         counts, in_bytes, types, h->comm);
    check_slots(t, h, &in, in_places, counts, TO_BLOCK);
    coll_free(t, &in);
    coll_free(t, &out);
}

static void run_on(struct ept *t, struct hood *h)
{
    static const int counts[] = {0, 1, 13, 3000};
    const bool is_stock = !t->endpoints || 0 != ept_option_long("stock", 0);

    match(t, h);
    for (int mode = 0; mode < COLL_NUM_MODES; ++mode) {
        for (int c = 0; c < 4; ++c) {
            ept_phase(t, "%s, count %d", coll_mode_names[mode], counts[c]);
            neighbor_allgather(t, h, mode, counts[c]);
            if (!is_stock || !h->is_thin || COLL_BLOCKING == mode) {
                neighbor_alltoall(t, h, mode, counts[c]);
            }
        }
    }
    EPT_OK(t, MPI_Barrier(h->comm));
    EPT_OK(t, MPI_Comm_free(&h->comm));
}

static void case_line(MPI_Comm comm, struct ept *t)
{
    struct hood h = make_line(comm, t);

    run_on(t, &h);
}

static void case_graph(MPI_Comm comm, struct ept *t)
{
    struct hood h = make_graph(comm, t);

    run_on(t, &h);
}

static void case_torus(MPI_Comm comm, struct ept *t)
{
    struct hood h = make_torus(comm, t);

    run_on(t, &h);
}

static void case_thin(MPI_Comm comm, struct ept *t)
{
    const int n = t->size, even = 0 == n % 2 ? 2 : 1;
    const struct {
        int ndims, dims[3], periods[3];
    } grids[] = {
        {1, {n}, {1}},       {3, {n, 1, 1}, {1, 1, 1}},     {3, {even, n / even, 1}, {1, 1, 0}},
        {2, {1, n}, {1, 0}}, {2, {n / even, even}, {0, 1}}, {3, {1, even, n / even}, {0, 0, 0}}};

    for (size_t i = 0; i < sizeof(grids) / sizeof(grids[0]); ++i) {
        struct hood h = make_grid(comm, t, grids[i].ndims, grids[i].dims, grids[i].periods);

        run_on(t, &h);
    }
}

static void case_repeated(MPI_Comm comm, struct ept *t)
{
    struct hood h = make_repeated(comm, t);

    run_on(t, &h);
}

static void case_old_graph(MPI_Comm comm, struct ept *t)
{
    struct hood h = make_old_graph(comm, t);

    run_on(t, &h);
}

static void case_told_graph(MPI_Comm comm, struct ept *t)
{
    struct hood h = make_told_graph(comm, t);

    run_on(t, &h);
}

/* A grid: coordinates, ranks and sub-grids, a sum along each row. */
static void case_grid(MPI_Comm comm, struct ept *t)
{
    int dims[2] = {0, 0}, periods[2] = {1, 1}, remain[2] = {0, 1}, at[2], rank, size, sum = -1;
    int wanted = 0;
    MPI_Comm grid, row;

    EPT_OK(t, MPI_Dims_create(t->size, 2, dims));
    EPT_OK(t, MPI_Cart_create(comm, 2, dims, periods, 0, &grid));
    EPT_OK(t, MPI_Cart_coords(grid, t->rank, 2, at));
    EPT_EQ(t, t->rank / dims[1], at[0]);
    EPT_EQ(t, t->rank % dims[1], at[1]);
    EPT_OK(t, MPI_Cart_rank(grid, at, &rank));
    EPT_EQ(t, t->rank, rank);
    EPT_OK(t, MPI_Cart_sub(grid, remain, &row));
    EPT_OK(t, MPI_Comm_size(row, &size));
    EPT_EQ(t, dims[1], size);
    EPT_OK(t, MPI_Allreduce(&t->rank, &sum, 1, MPI_INT, MPI_SUM, row));
    for (int i = 0; i < dims[1]; ++i) {
        wanted += at[0] * dims[1] + i;
    }
    EPT_EQ(t, wanted, sum);
    EPT_OK(t, MPI_Comm_free(&row));
    EPT_OK(t, MPI_Comm_free(&grid));
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_line);
    EPT_CASE(t, case_graph);
    EPT_CASE(t, case_torus);
    EPT_CASE(t, case_thin);
    EPT_CASE(t, case_repeated);
    EPT_CASE(t, case_old_graph);
    EPT_CASE(t, case_told_graph);
    EPT_CASE(t, case_grid);
    return 0;
}
