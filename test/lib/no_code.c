/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
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
