/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the tests of partitioned requests share: each rank sends to the one above it, round the
 * ring, integers that follow from their sender, request, round and place.
 */

#ifndef EPT_PART_H
#define EPT_PART_H

#include "ept.h"

enum { TAG = 3, PARTS = 4 };

static inline int above(const struct ept *t)
{
    return (t->rank + 1) % t->size;
}

static inline int below(const struct ept *t)
{
    return (t->rank - 1 + t->size) % t->size;
}

static inline int value(int rank, int request, int round, int i)
{
    return 1000000 * rank + 10000 * request + 100 * round + i;
}

#endif /* EPT_PART_H */
