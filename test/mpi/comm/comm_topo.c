/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Topologies: what the queries say of grids, graphs and distributed graphs, against coordinates and
 * edges computed without MPI. Messages along them are coll_neighbor.c's.
 *
 *   --rounds N   topologies of each kind (default 12)
 *
 * MPI_UNWEIGHTED is an array of no elements, of which compilers complain:
 * EPT-CFLAGS: -Wno-stringop-overread
 *
 * Guards: hook_topo.c
 */

#include "ept.h"

enum { DIMS_MAX = 4, EDGES_MAX = 6 };

/** A grid as the standard numbers it: the last coordinate runs fastest. */
struct grid {
    int ndims, total;
    int dims[DIMS_MAX], periods[DIMS_MAX];
};

static void coords_of(const struct grid *g, int rank, int coords[])
{
    for (int d = g->ndims - 1; 0 <= d; --d) {
        coords[d] = rank % g->dims[d];
        rank /= g->dims[d];
    }
}

/* MPI_PROC_NULL if it is beyond an open end. */
static int rank_of(const struct grid *g, const int coords[])
{
    int rank = 0;

    for (int d = 0; d < g->ndims; ++d) {
        int c = coords[d];

        if (0 > c || c >= g->dims[d]) {
            if (0 == g->periods[d]) {
                return MPI_PROC_NULL;
            }
            c = (c % g->dims[d] + g->dims[d]) % g->dims[d];
        }
        rank = rank * g->dims[d] + c;
    }
    return rank;
}

static struct grid draw_grid(uint64_t *stream, int size)
{
    struct grid g = {.ndims = 1 + (int) ept_random_below(stream, DIMS_MAX), .total = 1};

    for (int d = 0; d < g.ndims; ++d) {
        g.dims[d] = 1 + (int) ept_random_below(stream, (uint64_t) (size / g.total));
        g.periods[d] = (int) ept_random_below(stream, 2);
        g.total *= g.dims[d];
    }
    return g;
}

static void check_shift(struct ept *t, MPI_Comm cart, const struct grid *g, const int at[])
{
    for (int d = 0; d < g->ndims; ++d) {
        for (int by = -2; by <= 2; ++by) {
            int to[DIMS_MAX], from[DIMS_MAX], source = -99, target = -99;

            memcpy(to, at, sizeof(to));
            memcpy(from, at, sizeof(from));
            to[d] += by;
            from[d] -= by;
            EPT_OK(t, MPI_Cart_shift(cart, d, by, &source, &target));
            EPT_EQ(t, rank_of(g, from), source);
            EPT_EQ(t, rank_of(g, to), target);
        }
    }
}

/* Everything that can be asked of a grid. */
static void check_cart(struct ept *t, MPI_Comm cart, const struct grid *g)
{
    int kind, rank, size, ndims = -1, at[DIMS_MAX] = {0}, got[DIMS_MAX], dims[DIMS_MAX];
    int periods[DIMS_MAX];

    EPT_OK(t, MPI_Topo_test(cart, &kind));
    EPT_EQ(t, MPI_CART, kind);
    EPT_OK(t, MPI_Comm_rank(cart, &rank));
    EPT_OK(t, MPI_Comm_size(cart, &size));
    EPT_EQ(t, g->total, size);
    EPT_OK(t, MPI_Cartdim_get(cart, &ndims));
    EPT_EQ(t, g->ndims, ndims);
    if (g->ndims != ndims || g->total != size) {
        return;
    }
    coords_of(g, rank, at);
    EPT_OK(t, MPI_Cart_get(cart, ndims, dims, periods, got));
    for (int d = 0; d < ndims; ++d) {
        EPT_EQ(t, g->dims[d], dims[d]);
        EPT_EQ(t, g->periods[d], periods[d]);
        EPT_EQ(t, at[d], got[d]);
    }
    check_shift(t, cart, g, at);
    for (int r = 0; r < size; ++r) {
        int back = -1;

        EPT_OK(t, MPI_Cart_coords(cart, r, ndims, got));
        coords_of(g, r, at);
        for (int d = 0; d < ndims; ++d) {
            EPT_EQ(t, at[d], got[d]);
            got[d] += 0 != g->periods[d] ? (r % 3 - 1) * g->dims[d] : 0; /* once round */
        }
        EPT_OK(t, MPI_Cart_rank(cart, got, &back));
        EPT_EQ(t, r, back);
    }
}

/* Each rank of comm has a number of its own below size in the new one. */
static void check_numbers(struct ept *t, MPI_Comm comm, int mine, int total)
{
    int *all = malloc((size_t) t->size * sizeof(int)), seen = 0;

    EPT_OK(t, MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, comm));
    for (int n = 0; n < total; ++n) {
        int times = 0;

        for (int r = 0; r < t->size; ++r) {
            times += n == all[r];
        }
        EPT_EQ(t, 1, times);
        seen += times;
    }
    EPT_EQ(t, total, seen);
    free(all);
}

static void check_copies(struct ept *t, MPI_Comm cart, const struct grid *g)
{
    MPI_Comm copy;
    MPI_Request request;

    EPT_OK(t, MPI_Comm_dup(cart, &copy));
    check_cart(t, copy, g);
    EPT_OK(t, MPI_Comm_free(&copy));
    EPT_OK(t, MPI_Comm_idup(cart, &copy, &request));
    EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_cart(t, copy, g);
    EPT_OK(t, MPI_Comm_free(&copy));
}

static void case_cart(MPI_Comm comm, struct ept *t)
{
    uint64_t stream = ept_mix(t->seed, (uint64_t) t->size, 1, 0);
    long rounds = ept_option_long("rounds", 12);

    for (long round = 0; round < rounds; ++round) {
        struct grid g = draw_grid(&stream, t->size);
        int reorder = (int) (round % 2), rank = MPI_UNDEFINED, wanted = -99;
        MPI_Comm cart = MPI_COMM_NULL;

        ept_phase(t, "round %ld: %d dimensions, %d ranks", round, g.ndims, g.total);
        EPT_OK(t, MPI_Cart_map(comm, g.ndims, g.dims, g.periods, &wanted));
        check_numbers(t, comm, wanted, g.total);
        EPT_OK(t, MPI_Cart_create(comm, g.ndims, g.dims, g.periods, reorder, &cart));
        if (MPI_COMM_NULL != cart) {
            EPT_OK(t, MPI_Comm_rank(cart, &rank));
            check_cart(t, cart, &g);
            check_copies(t, cart, &g);
        }
        if (0 == reorder) {
            EPT_EQ(t, t->rank < g.total ? t->rank : MPI_UNDEFINED, rank);
        }
        check_numbers(t, comm, rank, g.total);
        if (MPI_COMM_NULL != cart) {
            ept_use_comm(t, cart, rank, g.total);
            EPT_OK(t, MPI_Comm_free(&cart));
        }
    }
}

/* All ways to take dimensions away. */
static void case_cart_sub(MPI_Comm comm, struct ept *t)
{
    uint64_t stream = ept_mix(t->seed, (uint64_t) t->size, 2, 0);
    long rounds = (ept_option_long("rounds", 12) + 2) / 3;

    for (long round = 0; round < rounds; ++round) {
        struct grid g = draw_grid(&stream, t->size);
        MPI_Comm cart = MPI_COMM_NULL;

        EPT_OK(t, MPI_Cart_create(comm, g.ndims, g.dims, g.periods, 0, &cart));
        for (int mask = 0; MPI_COMM_NULL != cart && mask < 1 << g.ndims; ++mask) {
            struct grid part = {.total = 1};
            int remain[DIMS_MAX], at[DIMS_MAX], wanted = 0, rank = -1;
            MPI_Comm sub;

            ept_phase(t, "round %ld, mask %d", round, mask);
            coords_of(&g, t->rank, at);
            for (int d = 0; d < g.ndims; ++d) {
                remain[d] = 0 != (mask & 1 << d);
                if (0 != remain[d]) {
                    part.dims[part.ndims] = g.dims[d];
                    part.periods[part.ndims] = g.periods[d];
                    ++part.ndims;
                    part.total *= g.dims[d];
                    wanted = wanted * g.dims[d] + at[d];
                }
            }
            EPT_OK(t, MPI_Cart_sub(cart, remain, &sub));
            EPT_OK(t, MPI_Comm_rank(sub, &rank));
            EPT_EQ(t, wanted, rank);
            check_cart(t, sub, &part);
            EPT_OK(t, MPI_Barrier(sub));
            EPT_OK(t, MPI_Comm_free(&sub));
        }
        if (MPI_COMM_NULL != cart) {
            EPT_OK(t, MPI_Comm_free(&cart));
        }
    }
}

/* Factors that are as close as can be, in decreasing order; those given stay. */
static void case_dims(MPI_Comm comm, struct ept *t)
{
    static const struct {
        int nodes, ndims, given[3], dims[3];
    } table[] = {
        {6, 2, {0, 0}, {3, 2}},       {7, 2, {0, 0}, {7, 1}},        {6, 3, {0, 3, 0}, {2, 3, 1}},
        {16, 2, {0, 0}, {4, 4}},      {1, 3, {0, 0, 0}, {1, 1, 1}},  {12, 2, {3, 0}, {3, 4}},
        {8, 3, {0, 0, 0}, {2, 2, 2}}, {64, 3, {0, 0, 0}, {4, 4, 4}}, {9, 1, {0}, {9}},
        {4, 2, {2, 2}, {2, 2}}};

    (void) comm;
    for (int round = 0; round < 50; ++round) {
        for (int i = 0; i < (int) (sizeof(table) / sizeof(table[0])); ++i) {
            int dims[3];

            memcpy(dims, table[i].given, sizeof(dims));
            EPT_OK(t, MPI_Dims_create(table[i].nodes, table[i].ndims, dims));
            for (int d = 0; d < table[i].ndims; ++d) {
                EPT_EQ(t, table[i].dims[d], dims[d]);
            }
        }
    }
}

/* ---- graphs -------------------------------------------------------------------------------- */

static void check_graph(struct ept *t, MPI_Comm graph, int nodes, const int index[],
                        const int edges[])
{
    int kind, got_nodes = -1, got_edges = -1;
    int *i = malloc((size_t) nodes * sizeof(int));
    int *e = malloc((size_t) index[nodes - 1] * sizeof(int) + 1);

    EPT_OK(t, MPI_Topo_test(graph, &kind));
    EPT_EQ(t, MPI_GRAPH, kind);
    EPT_OK(t, MPI_Graphdims_get(graph, &got_nodes, &got_edges));
    EPT_EQ(t, nodes, got_nodes);
    EPT_EQ(t, index[nodes - 1], got_edges);
    EPT_OK(t, MPI_Graph_get(graph, nodes, index[nodes - 1], i, e));
    for (int n = 0; n < nodes; ++n) {
        int first = 0 == n ? 0 : index[n - 1], degree = -1;

        EPT_EQ(t, index[n], i[n]);
        EPT_OK(t, MPI_Graph_neighbors_count(graph, n, &degree));
        EPT_EQ(t, index[n] - first, degree);
        EPT_OK(t, MPI_Graph_neighbors(graph, n, degree, e));
        for (int k = 0; k < degree; ++k) {
            EPT_EQ(t, edges[first + k], e[k]);
        }
    }
    free(e);
    free(i);
}

static void case_graph(MPI_Comm comm, struct ept *t)
{
    uint64_t stream = ept_mix(t->seed, (uint64_t) t->size, 3, 0);
    int *index = malloc((size_t) t->size * sizeof(int));
    int *edges = malloc((size_t) t->size * EDGES_MAX * sizeof(int));
    long rounds = ept_option_long("rounds", 12);

    for (long round = 0; round < rounds; ++round) {
        int nodes = 1 + (int) ept_random_below(&stream, (uint64_t) t->size), total = 0;
        int rank = MPI_UNDEFINED, wanted = -99;
        MPI_Comm graph = MPI_COMM_NULL, copy;

        ept_phase(t, "round %ld: %d nodes", round, nodes);
        for (int n = 0; n < nodes; ++n) {
            for (int k = (int) ept_random_below(&stream, EDGES_MAX); 0 < k; --k) {
                edges[total++] = (int) ept_random_below(&stream, (uint64_t) nodes);
            }
            index[n] = total;
        }
        EPT_OK(t, MPI_Graph_map(comm, nodes, index, edges, &wanted));
        check_numbers(t, comm, wanted, nodes);
        EPT_OK(t, MPI_Graph_create(comm, nodes, index, edges, (int) (round % 2), &graph));
        if (MPI_COMM_NULL != graph) {
            EPT_OK(t, MPI_Comm_rank(graph, &rank));
            check_graph(t, graph, nodes, index, edges);
            EPT_OK(t, MPI_Comm_dup(graph, &copy));
            check_graph(t, copy, nodes, index, edges);
            EPT_OK(t, MPI_Comm_free(&copy));
        }
        check_numbers(t, comm, rank, nodes);
        if (MPI_COMM_NULL != graph) {
            ept_use_comm(t, graph, rank, nodes);
            EPT_OK(t, MPI_Comm_free(&graph));
        }
    }
    free(edges);
    free(index);
}

/* ---- distributed graphs -------------------------------------------------------------------- */

/** Edges of one rank, in or out: the neighbour and the weight. */
struct edges {
    int num, rank[64], weight[64];
};

static void add_edge(struct edges *e, int rank, int weight)
{
    if (e->num < (int) (sizeof(e->rank) / sizeof(e->rank[0]))) {
        e->rank[e->num] = rank;
        e->weight[e->num++] = weight;
    }
}

/* The same edges, in any order. */
static void check_edges(struct ept *t, const struct edges *wanted, const struct edges *got,
                        bool weighted, bool in_order)
{
    bool used[64] = {false};

    for (int i = 0; i < wanted->num; ++i) {
        int at = in_order ? i : 0;

        while (!in_order && at < got->num
               && (used[at] || wanted->rank[i] != got->rank[at]
                   || (weighted && wanted->weight[i] != got->weight[at]))) {
            ++at;
        }
        EPT_CHECK(t, at < got->num, "edge with %d is missing", wanted->rank[i]);
        if (at < got->num) {
            used[at] = true;
            EPT_EQ(t, wanted->rank[i], got->rank[at]);
            EPT_EQ(t, weighted ? wanted->weight[i] : 0, weighted ? got->weight[at] : 0);
        }
    }
}

static void check_dist_graph(struct ept *t, MPI_Comm graph, const struct edges *in,
                             const struct edges *out, bool weighted, bool in_order)
{
    struct edges got_in = {0}, got_out = {0};
    int kind, flag = -1;

    EPT_OK(t, MPI_Topo_test(graph, &kind));
    EPT_EQ(t, MPI_DIST_GRAPH, kind);
    EPT_OK(t, MPI_Dist_graph_neighbors_count(graph, &got_in.num, &got_out.num, &flag));
    EPT_EQ(t, in->num, got_in.num);
    EPT_EQ(t, out->num, got_out.num);
    EPT_EQ(t, weighted, 0 != flag);
    if (in->num == got_in.num && out->num == got_out.num) {
        EPT_OK(t, MPI_Dist_graph_neighbors(graph, got_in.num, got_in.rank, got_in.weight,
                                           got_out.num, got_out.rank, got_out.weight));
        check_edges(t, in, &got_in, weighted, in_order);
        check_edges(t, out, &got_out, weighted, in_order);
    }
}

/* All ranks draw the whole graph; each edge is told by a rank that is drawn too. */
static void case_dist_graph(MPI_Comm comm, struct ept *t)
{
    uint64_t stream = ept_mix(t->seed, (uint64_t) t->size, 4, 0);
    long rounds = ept_option_long("rounds", 12);

    for (long round = 0; round < rounds; ++round) {
        struct edges in = {0}, out = {0}, told = {0};
        int sources[64], degrees[64], rank = -1;
        bool weighted = 0 != round % 2;
        MPI_Comm graph, copy;

        ept_phase(t, "round %ld", round);
        for (int i = 0; i < 3 * t->size && i < 60; ++i) {
            int from = (int) ept_random_below(&stream, (uint64_t) t->size);
            int to = (int) ept_random_below(&stream, (uint64_t) t->size);
            int weight = 1 + (int) ept_random_below(&stream, 9);

            if (t->rank == (int) ept_random_below(&stream, (uint64_t) t->size)) {
                sources[told.num] = from;
                degrees[told.num] = 1;
                add_edge(&told, to, weight);
            }
            if (t->rank == from) {
                add_edge(&out, to, weight);
            }
            if (t->rank == to) {
                add_edge(&in, from, weight);
            }
        }
        EPT_OK(t, MPI_Dist_graph_create(comm, told.num, sources, degrees, told.rank,
                                        weighted ? told.weight : MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                        &graph));
        check_dist_graph(t, graph, &in, &out, weighted, false);
        EPT_OK(t, MPI_Comm_dup(graph, &copy));
        check_dist_graph(t, copy, &in, &out, weighted, false);
        EPT_OK(t, MPI_Comm_free(&copy));
        EPT_OK(t, MPI_Comm_rank(graph, &rank));
        ept_use_comm(t, graph, rank, t->size);
        EPT_OK(t, MPI_Comm_free(&graph));

        /* The same, each telling of its own edges: the order of the arguments counts. */
        EPT_OK(t, MPI_Dist_graph_create_adjacent(comm, in.num, in.rank,
                                                 weighted ? in.weight : MPI_UNWEIGHTED, out.num,
                                                 out.rank, weighted ? out.weight : MPI_UNWEIGHTED,
                                                 MPI_INFO_NULL, 0, &graph));
        check_dist_graph(t, graph, &in, &out, weighted, true);
        EPT_OK(t, MPI_Comm_free(&graph));
    }
    /* Nobody knows anybody. */
    {
        struct edges none = {0};
        MPI_Comm graph;
        int nobody[1] = {0};

        EPT_OK(t, MPI_Dist_graph_create_adjacent(comm, 0, nobody, MPI_WEIGHTS_EMPTY, 0, nobody,
                                                 MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &graph));
        check_dist_graph(t, graph, &none, &none, true, true);
        EPT_OK(t, MPI_Comm_free(&graph));
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_cart);
    EPT_CASE(t, case_cart_sub);
    EPT_CASE(t, case_dims);
    EPT_CASE(t, case_graph);
    EPT_CASE(t, case_dist_graph);
    return 0;
}
