/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What a process has taken, for the tests that see whether it stays flat (create_loop.c,
 * comm_flat.c, coll_pending.c). A source that includes this defines _GNU_SOURCE (mallinfo2).
 */

#ifndef EPT_USAGE_H
#define EPT_USAGE_H

#include "ept.h"

#include <dirent.h>
#include <malloc.h>
#include <unistd.h>

struct usage {
    long heap_kib; /* handed out by malloc */
    long resident_kib;
    long files;
    long mappings;
    int slot; /* the handle's place in Open MPI's table */
};

static inline long count_entries(const char *path)
{
    DIR *dir = opendir(path);
    long n = 0;

    if (NULL != dir) {
        while (NULL != readdir(dir)) {
            ++n;
        }
        closedir(dir);
    }
    return n;
}

static inline long count_lines(const char *path)
{
    FILE *file = fopen(path, "r");
    long n = 0;

    if (NULL != file) {
        for (int c = getc(file); EOF != c; c = getc(file)) {
            n += '\n' == c;
        }
        fclose(file);
    }
    return n;
}

static inline long resident_kib(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0, resident = 0;

    if (NULL != file) {
        if (2 != fscanf(file, "%ld %ld", &pages, &resident)) {
            resident = 0;
        }
        fclose(file);
    }
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

/** Bytes that the process has from malloc, in all arenas.  Not under valgrind, whose malloc glibc
 * knows nothing of. */
static inline long heap_bytes(void)
{
    struct mallinfo2 info;

    (void) malloc_trim(0); /* what lies in its bins for next time counts as handed out */
    info = mallinfo2();
    return (long) (info.uordblks + info.hblkhd);
}

static inline struct usage measure(int slot)
{
    struct usage u = {.files = count_entries("/proc/self/fd"),
                      .mappings = count_lines("/proc/self/maps"),
                      .slot = slot};

    u.heap_kib = heap_bytes() / 1024;
    u.resident_kib = resident_kib();
    return u;
}

#endif /* EPT_USAGE_H */
