/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * malloc, for ranks that share a process.
 *
 * A thread other than the first allocates from heaps of 64 MiB of its own, which glibc makes writable
 * as they are used up, by an mprotect for each page or so.  That takes the kernel's lock of the whole
 * address space, which the other ranks need for their page faults.  Here heaps are writable as a whole,
 * and are kept; so are blocks that would be mapped and unmapped each time otherwise.
 *
 * Tests: ranks_malloc
 */

#define _GNU_SOURCE

#include "start.h"

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/** A heap of glibc's is as large, and begins at a multiple of it, on all 64-bit machines. */
#define HEAP_BYTES (64 << 20)

/** Larger blocks are mapped, each for itself: the most that glibc takes. */
#define MAPPED_BYTES (HEAP_BYTES / 2)

/** Arenas for each core that there are at most: glibc's default, but for those from 2.34 to 2.38,
 * which count the cores that the first thread to ask is bound to. */
#define ARENAS_OF_CORE 8

/** Of a huge page, on x86-64, and on aarch64 with pages of 4 KiB. */
#define HUGE_BYTES ((uintptr_t) 2 << 20)

/** Would the first bytes of a heap take a huge page? */
static bool is_always_huge;

/** Has a file of one line a word? */
static bool file_says(const char *path, const char *word)
{
    char line[128];
    FILE *in = fopen(path, "re");
    bool has = NULL != in && NULL != fgets(line, sizeof(line), in) && NULL != strstr(line, word);

    if (NULL != in) {
        (void) fclose(in);
    }
    return has;
}

/** Has the user said how malloc works? */
static bool is_tuned(void)
{
    static const char *const names[] = {"MALLOC_ARENA_MAX",       "MALLOC_ARENA_TEST",
                                        "MALLOC_MMAP_MAX_",       "MALLOC_MMAP_THRESHOLD_",
                                        "MALLOC_TRIM_THRESHOLD_", "MALLOC_TOP_PAD_"};
    const char *tunables = getenv("GLIBC_TUNABLES");

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        if (NULL != getenv(names[i])) {
            return true;
        }
    }
    return NULL != tunables && NULL != strstr(tunables, "glibc.malloc.");
}

void mpix_ranks_start_memory_begin(int count)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);

    /* Where the system counts what is writable, and not what is used, others would get none. */
    if (1 >= count || is_tuned() || file_says("/proc/sys/vm/overcommit_memory", "2")) {
        return;
    }
    (void) mallopt(M_TOP_PAD, HEAP_BYTES);
    (void) mallopt(M_TRIM_THRESHOLD, -1); /* never */
    (void) mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
    (void) mallopt(M_ARENA_MAX, ARENAS_OF_CORE * (cores > count ? (int) cores : count));
    is_always_huge = file_says("/sys/kernel/mm/transparent_hugepage/enabled", "[always]");
}

void mpix_ranks_start_memory_enter(void)
{
    void *first = is_always_huge ? malloc(1) : NULL;

    if (NULL != first) {
        (void) madvise((void *) ((uintptr_t) first / HUGE_BYTES * HUGE_BYTES), HUGE_BYTES,
                       MADV_NOHUGEPAGE);
        free(first);
    }
}
