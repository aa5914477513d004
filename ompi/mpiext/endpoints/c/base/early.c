/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the kernel does at once for a process that has one thread, and takes some 10 ms for in one that
 * has more, as it waits until all cores have passed through it: the right to use the barrier of
 * processes, which endpoints' locks and loans ask for again.
 *
 * A program that is linked with this library has one thread when it is loaded, if UCX's, which ends at
 * once, is gone.  Where Open MPI has loaded it there are others, and perhaps no endpoints.
 *
 * Tests: early
 */

#include "ompi_config.h"

#if defined(__linux__)
#    include <linux/membarrier.h>
#    include <sys/stat.h>
#    include <sys/syscall.h>
#    include <unistd.h>

/** Links of a folder that has one. */
enum { LINKS_OF_ONE = 3 };

__attribute__((constructor)) static void early_init(void)
{
    struct stat tasks;

    if (0 == stat("/proc/self/task", &tasks) && LINKS_OF_ONE == tasks.st_nlink) {
        (void) syscall(__NR_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
    }
}
#endif
