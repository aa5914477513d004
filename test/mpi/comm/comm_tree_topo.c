/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The steps of comm_tree that make topologies: grids and graphs.
 */

#include "comm_tree.h"

void op_cart(struct world *w)
{
    struct node *p = tree_pick(w, INTRA, DEPTH_MAX - 1), *n;
    struct model part = {.inter = false};
    int left = p->m.count[0], ndims = 1 + tree_draw(w, 3), dims[3], periods[3], total = 1, got_dims;
    MPI_Comm got = MPI_COMM_NULL;

    for (int i = 0; i < ndims; ++i) {
        dims[i] = 1 + tree_draw(w, left);
        periods[i] = tree_draw(w, 2);
        total *= dims[i];
        left /= dims[i];
    }
    for (int r = 0; r < total; ++r) {
        model_add(&part, 0, p->m.member[0][r]);
    }
    if (tree_mine(w, p)) {
        EPT_OK(w->t, MPI_Cart_create(p->comm, ndims, dims, periods, 0, &got));
    }
    tree_enter(w, p, &part, 1, got, &n);
    n->ndims = ndims;
    memcpy(n->dims, dims, sizeof(dims));
    if (MPI_COMM_NULL != got) {
        EPT_OK(w->t, MPI_Cartdim_get(got, &got_dims));
        EPT_EQ(w->t, ndims, got_dims);
    }
}

/* Slices of a grid: ranks whose coordinates agree where remain is 0. */
void op_cart_sub(struct world *w)
{
    struct node *p = tree_pick(w, GRID, DEPTH_MAX - 1), *nodes[MODEL_RANKS_MAX];
    struct model *parts;
    int remain[3], num = 1, dims[3], ndims = 0, got_dims = -1;
    MPI_Comm got = MPI_COMM_NULL;

    if (NULL == p) {
        return;
    }
    for (int i = 0; i < p->ndims; ++i) {
        remain[i] = tree_draw(w, 2);
        if (0 != remain[i]) {
            dims[ndims++] = p->dims[i];
        } else {
            num *= p->dims[i];
        }
    }
    if (num > tree_free_places(w)) {
        return;
    }
    parts = calloc((size_t) num, sizeof(*parts));
    for (int r = 0; r < p->m.count[0]; ++r) {
        int rest = r, part = 0, factor = 1;

        for (int i = p->ndims - 1; 0 <= i; --i) {
            if (0 == remain[i]) {
                part += factor * (rest % p->dims[i]);
                factor *= p->dims[i];
            }
            rest /= p->dims[i];
        }
        model_add(&parts[part], 0, p->m.member[0][r]);
    }
    if (tree_mine(w, p)) {
        EPT_OK(w->t, MPI_Cart_sub(p->comm, remain, &got));
        EPT_OK(w->t, MPI_Cartdim_get(got, &got_dims));
        EPT_EQ(w->t, ndims, got_dims);
    }
    tree_enter(w, p, parts, num, got, nodes);
    for (int i = 0; i < num; ++i) {
        nodes[i]->ndims = ndims;
        memcpy(nodes[i]->dims, dims, sizeof(dims));
    }
    free(parts);
}

/* A ring as a graph, of which the last ranks may be left out. */
void op_graph(struct world *w)
{
    struct node *p = tree_pick(w, INTRA, DEPTH_MAX - 1), *n;
    struct model part = {.inter = false};
    int total = 1 + tree_draw(w, p->m.count[0]), index[MODEL_RANKS_MAX], edges[2 * MODEL_RANKS_MAX];
    MPI_Comm got = MPI_COMM_NULL;

    for (int r = 0; r < total; ++r) {
        index[r] = 2 * (r + 1);
        edges[2 * r] = (r + 1) % total;
        edges[2 * r + 1] = (r + total - 1) % total;
        model_add(&part, 0, p->m.member[0][r]);
    }
    if (tree_mine(w, p)) {
        EPT_OK(w->t, MPI_Graph_create(p->comm, total, index, edges, 0, &got));
    }
    tree_enter(w, p, &part, 1, got, &n);
}

/* Each rank says what it sends to; or rank 0 says it of all. */
void op_dist_graph(struct world *w)
{
    struct node *p = tree_pick(w, INTRA, DEPTH_MAX - 1), *n;
    int size = p->m.count[0], step = 1 + tree_draw(w, size), way = tree_draw(w, 3), side;
    int rank = model_rank(&p->m, w->t->rank, &side), to = (rank + step) % size;
    int from = (rank + size - step % size) % size, one = 1, weight = 3, in = -1, out = -1, flag;
    int sources[MODEL_RANKS_MAX], degrees[MODEL_RANKS_MAX], targets[MODEL_RANKS_MAX];
    MPI_Comm got = MPI_COMM_NULL;

    if (tree_mine(w, p)) {
        if (0 == way) {
            EPT_OK(w->t, MPI_Dist_graph_create_adjacent(p->comm, 1, &from, &weight, 1, &to, &weight,
                                                        MPI_INFO_NULL, 0, &got));
        } else if (1 == way) {
            EPT_OK(w->t, MPI_Dist_graph_create(p->comm, 1, &rank, &one, &to, MPI_UNWEIGHTED,
                                               MPI_INFO_NULL, 0, &got));
        } else {
            for (int r = 0; r < size; ++r) {
                sources[r] = r;
                degrees[r] = 1;
                targets[r] = (r + step) % size;
            }
            EPT_OK(w->t, MPI_Dist_graph_create(p->comm, 0 == rank ? size : 0, sources, degrees,
                                               targets, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &got));
        }
        EPT_OK(w->t, MPI_Dist_graph_neighbors_count(got, &in, &out, &flag));
        EPT_EQ(w->t, 1, in);
        EPT_EQ(w->t, 1, out);
    }
    tree_enter(w, p, &p->m, 1, got, &n);
}
