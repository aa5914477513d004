/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * For tests with counts and displacements beyond 2^31: areas of more addresses than memory.  The
 * includer defines _GNU_SOURCE, for memfd_create.
 */

#ifndef EP_TEST_LARGE_BUFFER_H
#define EP_TEST_LARGE_BUFFER_H

#include "ept.h"

#include <sys/mman.h>
#include <unistd.h>

/* Bytes of a large buffer; of its repeated piece; of the last page. */
#define LARGE (((MPI_Count) 1 << 31) + 4099)
enum { PIECE = 4 << 20, PAGE = 4096 };

/* Nothing but addresses; what is touched becomes zeros.  munmap frees it. */
static inline unsigned char *empty_area(struct ept *t, size_t size)
{
    void *area = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    EPT_CHECK(t, MAP_FAILED != area, "no %zu addresses", size);
    return MAP_FAILED != area ? area : NULL;
}

/* Bytes to munmap. */
static inline size_t large_size(void)
{
    return ((size_t) LARGE + PIECE - 1) / PIECE * PIECE;
}

/* LARGE bytes: one piece of PIECE bytes, mapped again and again, and the last page, which is apart. */
static inline unsigned char *large_buffer(struct ept *t)
{
    const int file = memfd_create("ept-large", 0);
    unsigned char *area = empty_area(t, large_size());
    bool good = NULL != area && 0 <= file && 0 == ftruncate(file, PIECE);

    for (size_t at = 0; good && at < large_size(); at += PIECE) {
        good = MAP_FAILED
               != mmap(area + at, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
    }
    good = good
           && MAP_FAILED
                  != mmap(area + (size_t) LARGE / PAGE * PAGE, PAGE, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (0 <= file) {
        close(file);
    }
    EPT_CHECK(t, good, "no buffer for %lld bytes", (long long) LARGE);
    return good ? area : NULL;
}

#endif /* EP_TEST_LARGE_BUFFER_H */
