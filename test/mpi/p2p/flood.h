/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the parts of flood share.
 */

#ifndef EPT_FLOOD_H
#define EPT_FLOOD_H

#include "ept.h"

enum { TAG = 7, DONE = 8, OTHER = 9 };

static inline uint64_t value(int rank, long i)
{
    return (uint64_t) rank << 32 | (uint64_t) i;
}

/* flood_exhausted.c */
void case_exhausted(MPI_Comm comm, struct ept *t);
void case_exhausted_parts(MPI_Comm comm, struct ept *t);
void case_exhausted_answers(MPI_Comm comm, struct ept *t);

#endif /* EPT_FLOOD_H */
