/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Memory of a large program: what nobody writes is there once, and descriptors are above those that
 * the program may have.
 *
 * EPT-LIBS: -rdynamic
 *
 * Guards: files.c, share.c
 */

#include "check.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = 8 << 20 };

extern const char ranks_constants[SIZE];
const char ranks_constants[SIZE] = {1, 2, 3};

/** Of the process, in KiB; a page counts once, however often it is mapped.  -1: the kernel does not
 * say. */
static long shared_memory(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    long size = -1;

    while (NULL != file && NULL != fgets(line, sizeof(line), file)) {
        (void) sscanf(line, "Pss_Shmem: %ld", &size);
    }
    if (NULL != file) {
        (void) fclose(file);
    }
    return size;
}

static void check_memory(void)
{
    long sum = 0;

    for (int i = 0; i < SIZE; i += 4096) {
        sum += ranks_constants[i];
    }
    CHECK(1 == sum);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(shared_memory() < 3 * (SIZE >> 10));
    MPI_Barrier(MPI_COMM_WORLD);
    ranks_case("memory");
}

static void check_descriptors(void)
{
    char name[64], path[256];
    int count = 0;

    for (int i = 0; i < 1024; ++i) {
        ssize_t length;

        (void) snprintf(name, sizeof(name), "/proc/self/fd/%d", i);
        length = readlink(name, path, sizeof(path) - 1);
        if (0 < length) {
            path[length] = '\0';
            count += NULL != strstr(path, "ranks_memory");
        }
    }
    CHECK(0 == count);
    ranks_case("descriptors");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_memory();
    check_descriptors();
    return ranks_end();
}
