/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the library asks of the kernel when it is loaded, before the process has other threads.
 *
 * Guards: early.c
 */

#define _GNU_SOURCE

#include "ept.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

/** Could the barrier be used before main?  -1: this kernel has none. */
static int had_barrier;

/** After the library's.  (UCX starts no thread of its own: the table sets UCX_VFS_ENABLE.) */
__attribute__((constructor)) static void look(void)
{
    const long commands = syscall(__NR_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

    had_barrier = 0 > commands || 0 == (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED)
                      ? -1
                      : 0 == syscall(__NR_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

static void case_barrier(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CHECK(t, 0 != had_barrier, "the process has no right to the barrier before main");
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_barrier);
    return 0;
}
