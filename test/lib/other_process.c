/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A kernel to which every process id means the process that asks, as where each process has a
 * namespace of its own in which it is number 1: preloaded in front of libc by tests (LD_PRELOAD).
 */

#define _GNU_SOURCE

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

__attribute__((visibility("default"))) ssize_t process_vm_readv(
    pid_t pid, const struct iovec *local, unsigned long local_count, const struct iovec *remote,
    unsigned long remote_count, unsigned long flags)
{
    (void) pid;
    return syscall(SYS_process_vm_readv, getpid(), local, local_count, remote, remote_count, flags);
}
