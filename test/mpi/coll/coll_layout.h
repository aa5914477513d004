/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A communicator of coll_layout, and what its parts have in common.
 */

#ifndef EPT_COLL_LAYOUT_H
#define EPT_COLL_LAYOUT_H

#include "coll.h"

typedef struct group_t {
    struct ept *t;
    MPI_Comm comm;
    int rank, size;
    int form;          /**< 0: blocking, 1: nonblocking, 2: persistent */
    bool shares;       /**< some process has two members: else it is Open MPI's that serves */
    MPI_Datatype gaps; /**< an int, and nothing where the next would be */
    int *in, *out;
} group_t;

static inline void check(const group_t *g, const int *got, int stride, int count, int from,
                         const char *what)
{
    for (int i = 0; i < count; ++i) {
        if (coll_value(from, count, i) != got[i * stride]) {
            ept_fail(g->t, __FILE__, __LINE__, "%s: element %d of %d from %d: expected %d, got %d",
                     what, i, count, from, coll_value(from, count, i), got[i * stride]);
            return;
        }
    }
    atomic_fetch_add(&g->t->checks, 1);
}

static inline void set(int *v, int stride, int count, int from)
{
    for (int i = 0; i < count; ++i) {
        v[i * stride] = coll_value(from, count, i);
    }
}

/** Odd members have gaps between elements. */
static inline int stride_of(const group_t *g)
{
    return 1 + g->rank % 2;
}

static inline MPI_Datatype type_of(const group_t *g)
{
    return 0 != g->rank % 2 ? g->gaps : MPI_INT;
}

/** All kinds that move blocks, and those that scan or scatter, of so many elements. */
void layout_move(const group_t *g, int count);
void layout_fold(const group_t *g, int count);

/** (a, b) o (c, d) = (a c, b c + d): does not commute. */
void layout_affine(void *from, void *into, int *count, MPI_Datatype *type);

#endif /* EPT_COLL_LAYOUT_H */
