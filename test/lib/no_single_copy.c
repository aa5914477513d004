/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A kernel that does not let processes read each other's memory, as in some containers: preloaded
 * in front of libc by tests (LD_PRELOAD).  Nobody knows before the first copy is tried.
 */

#define _GNU_SOURCE

#include <errno.h>
#include <sys/uio.h>

__attribute__((visibility("default"))) ssize_t process_vm_readv(
    pid_t pid, const struct iovec *local, unsigned long local_count, const struct iovec *remote,
    unsigned long remote_count, unsigned long flags)
{
    (void) pid;
    (void) local;
    (void) local_count;
    (void) remote;
    (void) remote_count;
    (void) flags;
    errno = EPERM;
    return -1;
}
