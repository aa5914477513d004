/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The part of coll_layout that scans, and reduces what it scatters: sums, and what does not
 * commute.
 */

#include "coll_layout.h"

enum { RANKS = 64 };

/** What is reduced: elements of two ints. */
typedef struct ring_t {
    MPI_Datatype type;
    MPI_Op op;
    int per; /**< of type, in an element */
    bool commutes;
} ring_t;

static void element(int rank, int i, unsigned int *v)
{
    v[0] = 2 * (unsigned int) (rank + i) + 1;
    v[1] = (unsigned int) (rank - i);
}

/** v = v o x, of that ring. */
static void with(const ring_t *ring, unsigned int *v, const unsigned int *x)
{
    if (ring->commutes) {
        v[0] += x[0];
        v[1] += x[1];
    } else {
        v[1] = v[1] * x[0] + x[1];
        v[0] *= x[0];
    }
}

static void set_own(const group_t *g, int *v, int count)
{
    for (int i = 0; i < count; ++i) {
        element(g->rank, i, (unsigned int *) v + 2 * i);
    }
}

/** Elements first ... of what members 0 ... last give together. */
static void check_fold(const group_t *g, const ring_t *ring, int last, int first, int count,
                       const char *what)
{
    for (int i = 0; i < count; ++i) {
        unsigned int v[2], x[2];

        element(0, first + i, v);
        for (int from = 1; from <= last; ++from) {
            element(from, first + i, x);
            with(ring, v, x);
        }
        if (v[0] != (unsigned int) g->out[2 * i] || v[1] != (unsigned int) g->out[2 * i + 1]) {
            ept_fail(g->t, __FILE__, __LINE__, "%s: element %d of %d is wrong", what, i, count);
            return;
        }
    }
    atomic_fetch_add(&g->t->checks, 1);
}

static void clear(const group_t *g, int count)
{
    memset(g->out, 0x3a, 2 * (size_t) (count + 1) * sizeof(int));
}

static void scan(const group_t *g, enum coll_mode mode, const ring_t *ring, int count)
{
    const bool in_place = 0 != count % 2;

    ept_phase(g->t, "%s scan of %d", coll_mode_names[mode], count);
    clear(g, count);
    set_own(g, in_place ? g->out : g->in, count);
    COLL(g->t, mode, Scan, scan, in_place ? MPI_IN_PLACE : g->in, g->out, count * ring->per,
         ring->type, ring->op, g->comm);
    check_fold(g, ring, g->rank, 0, count, "scan");
    EPT_EQ(g->t, 0x3a3a3a3a, g->out[2 * count]);
}

static void exscan(const group_t *g, enum coll_mode mode, const ring_t *ring, int count)
{
    const bool in_place = 0 == count % 2;

    ept_phase(g->t, "%s exscan of %d", coll_mode_names[mode], count);
    clear(g, count);
    set_own(g, in_place ? g->out : g->in, count);
    COLL(g->t, mode, Exscan, exscan, in_place ? MPI_IN_PLACE : g->in, g->out, count * ring->per,
         ring->type, ring->op, g->comm);
    if (0 < g->rank) {
        check_fold(g, ring, g->rank - 1, 0, count, "exscan");
    } else if (!in_place) {
        EPT_EQ(g->t, 0x3a3a3a3a, g->out[0]);
    }
}

static void reduce_scatter(const group_t *g, enum coll_mode mode, const ring_t *ring, int count)
{
    const bool in_place = 0 != count % 2;
    const int each = count / g->size;
    int counts[RANKS], first = 0, all = 0, own = 0;

    for (int i = 0; i < g->size; ++i) {
        const int count_of = 2 == i % 3 ? 0 : each + i % 2;

        counts[i] = count_of * ring->per;
        own = i == g->rank ? count_of : own;
        first += i < g->rank ? count_of : 0;
        all += count_of;
    }
    ept_phase(g->t, "%s reduce_scatter of %d", coll_mode_names[mode], all);
    clear(g, all);
    set_own(g, in_place ? g->out : g->in, all);
    COLL(g->t, mode, Reduce_scatter, reduce_scatter, in_place ? MPI_IN_PLACE : g->in, g->out,
         counts, ring->type, ring->op, g->comm);
    check_fold(g, ring, g->size - 1, first, own, "reduce_scatter");
    if (!in_place) {
        EPT_EQ(g->t, 0x3a3a3a3a, g->out[2 * own]);
    }
}

static void reduce_scatter_block(const group_t *g, enum coll_mode mode, const ring_t *ring,
                                 int count)
{
    const bool in_place = 0 == count % 2;
    const int each = (count + g->size - 1) / g->size;

    ept_phase(g->t, "%s reduce_scatter_block of %d", coll_mode_names[mode], each);
    clear(g, each * g->size);
    set_own(g, in_place ? g->out : g->in, each * g->size);
    COLL(g->t, mode, Reduce_scatter_block, reduce_scatter_block, in_place ? MPI_IN_PLACE : g->in,
         g->out, each * ring->per, ring->type, ring->op, g->comm);
    check_fold(g, ring, g->size - 1, each * g->rank, each, "reduce_scatter_block");
    if (!in_place) {
        EPT_EQ(g->t, 0x3a3a3a3a, g->out[2 * each]);
    }
}

/** Do ranks of a process follow each other, and has one of them two? */
static bool is_ordered(const group_t *g)
{
    int process[RANKS], own = g->t->proc;
    bool ordered = true, shared = false;

    EPT_OK(g->t, MPI_Allgather(&own, 1, MPI_INT, process, 1, MPI_INT, g->comm));
    for (int i = 1; i < g->size; ++i) {
        shared = shared || process[i - 1] == process[i];
        for (int j = 0; j < i - 1; ++j) {
            ordered = ordered && (process[j] != process[i] || process[j + 1] == process[i]);
        }
    }
    return ordered && shared;
}

static void fold(const group_t *g, const ring_t *ring, int count)
{
    const enum coll_mode mode = g->form;

    scan(g, mode, ring, count);
    exscan(g, mode, ring, count);
    reduce_scatter(g, mode, ring, count);
    reduce_scatter_block(g, mode, ring, count);
}

void layout_fold(const group_t *g, int count)
{
    ring_t ring = {.type = MPI_UNSIGNED, .op = MPI_SUM, .per = 2, .commutes = true};

    if (RANKS < g->size) {
        return;
    }
    fold(g, &ring, count);
    /* Else libnbc serves what is not blocking: it calls the op for one thread in another, ordered
     * by what ThreadSanitizer does not see. */
    if (COLL_BLOCKING == g->form || is_ordered(g)) {
        MPI_Type_contiguous(2, MPI_UNSIGNED, &ring.type);
        MPI_Type_commit(&ring.type);
        MPI_Op_create(layout_affine, 0, &ring.op);
        ring.per = 1;
        ring.commutes = false;
        fold(g, &ring, count);
        MPI_Op_free(&ring.op);
        MPI_Type_free(&ring.type);
    }
}
