/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What is compared: ways to do a small operation of all, on the lines of machine.h.
 */

#ifndef BENCH_LINES_WAYS_H
#define BENCH_LINES_WAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum lines_kind_t { LINES_BARRIER, LINES_ALLREDUCE, LINES_BCAST, LINES_KINDS } lines_kind_t;

/** The root of a bcast. */
static inline uint32_t lines_root(uint32_t threads, uint64_t number)
{
    return (uint32_t) (number % threads);
}

/** What a member says in an operation. */
static inline uint64_t lines_value(uint32_t thread, uint64_t number)
{
    return number * 1000 + thread;
}

typedef struct lines_way_t {
    const char *name;
    bool can[LINES_KINDS];
    size_t (*size)(uint32_t threads);
    /** Operation number, from 1.  @return what the member has got: of allreduce the sum, of bcast
     * what the root said, of the barrier the number */
    uint64_t (*run)(lines_kind_t kind, void *memory, uint32_t threads, uint32_t thread,
                    uint64_t number);
} lines_way_t;

extern const lines_way_t lines_segment;       /**< segment.c: coll/epcoll's */
extern const lines_way_t lines_dissemination; /**< others.c, and the rest */
extern const lines_way_t lines_tree;
extern const lines_way_t lines_counter;

#endif /* BENCH_LINES_WAYS_H */
