/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A signal comes whenever a file is given its memory: preloaded in front of libc by tests
 * (LD_PRELOAD).  Every other call is interrupted.
 */

#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>

__attribute__((visibility("default"))) int posix_fallocate(int fd, off_t offset, off_t size)
{
    static _Atomic unsigned calls;

    if (0 == atomic_fetch_add(&calls, 1) % 2) {
        return EINTR;
    }
    return 0 == fallocate(fd, 0, offset, size) ? 0 : errno;
}
