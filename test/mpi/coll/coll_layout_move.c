/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The part of coll_layout that moves blocks: with a root, and from all to all; of equal and of
 * different lengths, none at all among them.
 */

#include "coll_layout.h"

enum { RANKS = 64 };

/** What a member sends, or receives, by rank. */
typedef struct blocks_t {
    int counts[RANKS], at[RANKS];
    int all; /**< elements of a buffer with all of them, and one of a gap behind each */
} blocks_t;

static int pair_of(int from, int to)
{
    return from * RANKS + to;
}

/** How long a block is: some are empty. */
static int length(int count, int size, int from, int to)
{
    const int each = (count + size - 1) / size;

    return 1 == (from + 2 * to) % 4 ? 0 : each - (from + to) % 2 * (each / 3);
}

/** @param sends  of blocks that we send, else of those that we receive; @param to_all  the same to
 *                all */
static blocks_t blocks_of(const group_t *g, int count, bool sends, bool to_all)
{
    blocks_t blocks = {.all = 0};

    for (int i = 0; i < g->size; ++i) {
        const int from = sends ? g->rank : i, to = sends ? i : g->rank;

        blocks.counts[i] = length(count, g->size, from, to_all ? 0 : to);
        blocks.at[i] = blocks.all;
        blocks.all += blocks.counts[i] + 1;
    }
    return blocks;
}

/** Blocks with what somebody sends to somebody, one behind the other. */
static void fill(const group_t *g, int *v, int stride, const blocks_t *blocks)
{
    for (int i = 0; i < g->size; ++i) {
        set(v + blocks->at[i] * stride, stride, blocks->counts[i], pair_of(g->rank, i));
    }
}

static void clear(const group_t *g, int elements)
{
    memset(g->out, 0x3a, 2 * (size_t) elements * sizeof(int));
}

/** All that has come, and the gaps. */
static void check_all(const group_t *g, int stride, const blocks_t *blocks, bool to_all,
                      const char *what)
{
    for (int i = 0; i < g->size; ++i) {
        const int *v = g->out + blocks->at[i] * stride;

        check(g, v, stride, blocks->counts[i], pair_of(i, to_all ? 0 : g->rank), what);
        EPT_EQ(g->t, 0x3a3a3a3a, v[blocks->counts[i] * stride]);
        if (2 == stride && 0 < blocks->counts[i]) {
            EPT_EQ(g->t, 0x3a3a3a3a, v[1]);
        }
    }
}

/* ---- with a root ----------------------------------------------------------------------------- */

static blocks_t equal(const group_t *g, int each)
{
    blocks_t blocks = {.all = 0};

    for (int i = 0; i < g->size; ++i) {
        blocks.counts[i] = each;
        blocks.at[i] = blocks.all;
        blocks.all += each;
    }
    return blocks;
}

static void gather(const group_t *g, enum coll_mode mode, int count, int root)
{
    const int each = (count + g->size - 1) / g->size, stride = stride_of(g);
    const bool in_place = root == g->rank && 0 != count % 2;
    const blocks_t blocks = equal(g, each);

    ept_phase(g->t, "%s gather of %d to %d", coll_mode_names[mode], each, root);
    clear(g, blocks.all);
    set(in_place ? g->out + blocks.at[root] * stride : g->in, in_place ? stride : 1, each,
        pair_of(g->rank, 0));
    COLL(g->t, mode, Gather, gather, in_place ? MPI_IN_PLACE : g->in, each, MPI_INT, g->out, each,
         type_of(g), root, g->comm);
    for (int i = 0; i < g->size && root == g->rank; ++i) {
        check(g, g->out + blocks.at[i] * stride, stride, each, pair_of(i, 0), "gather");
    }
    EPT_EQ(g->t, 0x3a3a3a3a, root == g->rank ? 0x3a3a3a3a : g->out[0]);
}

static void gatherv(const group_t *g, enum coll_mode mode, int count, int root)
{
    const blocks_t blocks = blocks_of(g, count, false, true);
    const int stride = stride_of(g), own = length(count, g->size, g->rank, 0);
    const bool in_place = root == g->rank && 0 == count % 2;

    ept_phase(g->t, "%s gatherv of %d to %d", coll_mode_names[mode], count, root);
    clear(g, blocks.all);
    set(in_place ? g->out + blocks.at[root] * stride : g->in, in_place ? stride : 1, own,
        pair_of(g->rank, 0));
    COLL(g->t, mode, Gatherv, gatherv, in_place ? MPI_IN_PLACE : g->in, own, MPI_INT, g->out,
         blocks.counts, blocks.at, type_of(g), root, g->comm);
    if (root == g->rank) {
        check_all(g, stride, &blocks, true, "gatherv");
    }
}

static void scatter(const group_t *g, enum coll_mode mode, int count, int root)
{
    const int each = (count + g->size - 1) / g->size, stride = stride_of(g);
    const bool in_place = root == g->rank && 0 != count % 2;
    const blocks_t blocks = equal(g, each);

    ept_phase(g->t, "%s scatter of %d from %d", coll_mode_names[mode], each, root);
    clear(g, each);
    if (root == g->rank) {
        fill(g, g->in, stride, &blocks);
    }
    COLL(g->t, mode, Scatter, scatter, g->in, each, type_of(g), in_place ? MPI_IN_PLACE : g->out,
         each, MPI_INT, root, g->comm);
    if (!in_place) {
        check(g, g->out, 1, each, pair_of(root, g->rank), "scatter");
    }
}

static void scatterv(const group_t *g, enum coll_mode mode, int count, int root)
{
    const blocks_t blocks = blocks_of(g, count, true, false);
    const int stride = stride_of(g), own = length(count, g->size, root, g->rank);
    const bool in_place = root == g->rank && 0 == count % 2;

    ept_phase(g->t, "%s scatterv of %d from %d", coll_mode_names[mode], count, root);
    clear(g, own + 1);
    if (root == g->rank) {
        fill(g, g->in, stride, &blocks);
    }
    COLL(g->t, mode, Scatterv, scatterv, g->in, blocks.counts, blocks.at, type_of(g),
         in_place ? MPI_IN_PLACE : g->out, own, MPI_INT, root, g->comm);
    if (!in_place) {
        check(g, g->out, 1, own, pair_of(root, g->rank), "scatterv");
        EPT_EQ(g->t, 0x3a3a3a3a, g->out[own]);
    }
}

/* ---- all to all ------------------------------------------------------------------------------ */

static void allgatherv(const group_t *g, enum coll_mode mode, int count)
{
    const blocks_t blocks = blocks_of(g, count, false, true);
    const int stride = stride_of(g), own = length(count, g->size, g->rank, 0);
    const bool in_place = 0 != count % 2;

    ept_phase(g->t, "%s allgatherv of %d", coll_mode_names[mode], count);
    clear(g, blocks.all);
    set(in_place ? g->out + blocks.at[g->rank] * stride : g->in, in_place ? stride : 1, own,
        pair_of(g->rank, 0));
    COLL(g->t, mode, Allgatherv, allgatherv, in_place ? MPI_IN_PLACE : g->in, own, MPI_INT, g->out,
         blocks.counts, blocks.at, type_of(g), g->comm);
    check_all(g, stride, &blocks, true, "allgatherv");
}

static void alltoall(const group_t *g, enum coll_mode mode, int count)
{
    const int each = (count + g->size - 1) / g->size, stride = stride_of(g);
    const bool in_place = 0 != count % 2;
    const blocks_t blocks = equal(g, each);

    ept_phase(g->t, "%s alltoall of %d", coll_mode_names[mode], each);
    clear(g, blocks.all);
    fill(g, in_place ? g->out : g->in, in_place ? stride : 1, &blocks);
    COLL(g->t, mode, Alltoall, alltoall, in_place ? MPI_IN_PLACE : g->in, each, MPI_INT, g->out,
         each, type_of(g), g->comm);
    for (int i = 0; i < g->size; ++i) {
        check(g, g->out + blocks.at[i] * stride, stride, each, pair_of(i, g->rank), "alltoall");
    }
}

static void alltoallv(const group_t *g, enum coll_mode mode, int count)
{
    const blocks_t out = blocks_of(g, count, true, false), in = blocks_of(g, count, false, false);
    const int stride = stride_of(g);

    ept_phase(g->t, "%s alltoallv of %d", coll_mode_names[mode], count);
    clear(g, in.all);
    fill(g, g->in, 1, &out);
    COLL(g->t, mode, Alltoallv, alltoallv, g->in, out.counts, out.at, MPI_INT, g->out, in.counts,
         in.at, type_of(g), g->comm);
    check_all(g, stride, &in, false, "alltoallv");
}

/** Where two exchange blocks, both have the same length. */
static void alltoallv_in_place(const group_t *g, enum coll_mode mode, int count)
{
    const int stride = stride_of(g);
    blocks_t blocks = {.all = 0};

    for (int i = 0; i < g->size; ++i) {
        const int low = i < g->rank ? i : g->rank, high = i < g->rank ? g->rank : i;

        blocks.counts[i] = length(count, g->size, low, high);
        blocks.at[i] = blocks.all;
        blocks.all += blocks.counts[i] + 1;
    }
    ept_phase(g->t, "%s alltoallv of %d, in place", coll_mode_names[mode], count);
    clear(g, blocks.all);
    fill(g, g->out, stride, &blocks);
    COLL(g->t, mode, Alltoallv, alltoallv, MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, g->out,
         blocks.counts, blocks.at, type_of(g), g->comm);
    check_all(g, stride, &blocks, false, "alltoallv in place");
}

static void alltoallw(const group_t *g, enum coll_mode mode, int count)
{
    const blocks_t out = blocks_of(g, count, true, false), in = blocks_of(g, count, false, false);
    const int stride = stride_of(g);
    MPI_Datatype out_types[RANKS], in_types[RANKS];
    int out_at[RANKS], in_at[RANKS];

    ept_phase(g->t, "%s alltoallw of %d", coll_mode_names[mode], count);
    for (int i = 0; i < g->size; ++i) {
        out_types[i] = MPI_INT;
        in_types[i] = type_of(g);
        out_at[i] = out.at[i] * (int) sizeof(int);
        in_at[i] = in.at[i] * stride * (int) sizeof(int);
    }
    clear(g, in.all);
    fill(g, g->in, 1, &out);
    COLL(g->t, mode, Alltoallw, alltoallw, g->in, out.counts, out_at, out_types, g->out, in.counts,
         in_at, in_types, g->comm);
    check_all(g, stride, &in, false, "alltoallw");
}

void layout_move(const group_t *g, int count)
{
    const int roots[] = {0, g->size - 1, g->size / 2};
    const enum coll_mode mode = g->form;

    if (RANKS < g->size) {
        return;
    }
    for (int i = 0; i < 3; ++i) {
        gather(g, mode, count, roots[i]);
        gatherv(g, mode, count, roots[i]);
        scatter(g, mode, count, roots[i]);
        scatterv(g, mode, count, roots[i]);
    }
    allgatherv(g, mode, count);
    alltoall(g, mode, count);
    alltoallv(g, mode, count);
    if (0 == g->form || g->shares) { /* libnbc's has wrong blocks where types have gaps */
        alltoallv_in_place(g, mode, count);
    }
    alltoallw(g, mode, count);
}
