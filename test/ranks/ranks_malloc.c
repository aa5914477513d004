/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * malloc in ranks that share a process: heaps are writable as a whole, so that they grow without a
 * system call, and what is freed is kept for the next block.  With an argument: the environment says
 * how malloc works, and that holds.
 *
 * Guards: memory.c
 */

#define _GNU_SOURCE

#include "check.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { BLOCKS = 48, BLOCK = 2 << 20, PAGE = 4096, FIRST = 4 << 20, LARGE = 32 << 20 };

/** Bytes of the mapping, all of it readable and writable, that an address is in; 0: there is none. */
static size_t mapped_around(const void *address)
{
    FILE *in = fopen("/proc/self/maps", "r");
    char line[512], access[8];
    uintptr_t from, to, at = (uintptr_t) address;
    size_t size = 0;

    while (NULL != in && NULL != fgets(line, sizeof(line), in)) {
        if (3 == sscanf(line, "%jx-%jx %7s", &from, &to, access) && from <= at && at < to
            && 0 == strncmp(access, "rw", 2)) {
            size = to - from;
        }
    }
    if (NULL != in) {
        (void) fclose(in);
    }
    return size;
}

static long faults(void)
{
    struct rusage usage;

    (void) getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt;
}

/* Behind what may be kept from huge pages. */
static void check_heap(int is_tuned)
{
    char *first = malloc(FIRST), *small = malloc(PAGE);
    const int is_whole = mapped_around(small) >= LARGE;

    CHECK(NULL != first && NULL != small);
    CHECK(is_whole == !is_tuned);
    free(small);
    free(first);
    ranks_case("heap");
}

static void use_blocks(int count)
{
    char *block[BLOCKS];

    for (int i = 0; i < count; ++i) {
        block[i] = malloc(BLOCK);
        CHECK(NULL != block[i]);
        for (int at = 0; NULL != block[i] && at < BLOCK; at += PAGE) {
            block[i][at] = (char) i;
        }
    }
    for (int i = 0; i < count; ++i) {
        CHECK(NULL == block[i] || (i == block[i][0] && i == block[i][BLOCK - PAGE]));
        free(block[i]);
    }
}

static void check_blocks(void)
{
    /* More than a heap for one rank: the first, which has the process's own. */
    const int count = 0 == ranks_rank() ? BLOCKS : BLOCKS / 3;
    long before;

    use_blocks(count);
    before = faults();
    use_blocks(count);
    CHECK(faults() - before < BLOCK / PAGE); /* of 16 times as many pages, or 48 */
    ranks_case("blocks");
}

int main(int argc, char **argv)
{
    (void) argv;
    MPI_Init(&argc, &argv);
    check_heap(1 < argc);
    if (1 >= argc) {
        check_blocks();
    }
    return ranks_end();
}
