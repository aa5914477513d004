/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A hardened system, put in front of libc: no file in memory, and so no code that was not there
 * when the program started.
 */

#include <errno.h>
#include <sys/mman.h>

int memfd_create(const char *name, unsigned int flags)
{
    (void) name;
    (void) flags;
    errno = EPERM;
    return -1;
}
