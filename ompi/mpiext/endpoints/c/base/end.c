/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The end of the job: one thread's.
 *
 * libmpi ends a job once: a second call returns, as if it had to protect itself against its own.
 * Where ranks are threads the second call is another rank's, whose failed call would return then,
 * with results that are none, while the first is still on its way to the launcher.  So the first
 * thread ends the job, and every other one that comes stays.
 *
 * Tests: comm_abort
 */

#include "ompi_config.h"

#include "mpiext_endpoints_end.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/** The thread that ends the job; 0: nobody does so far. */
static _Atomic pid_t ender;

void mpix_endpoints_end_alone(void)
{
    const pid_t own = (pid_t) syscall(SYS_gettid);
    pid_t first = 0;

    /* Relaxed: who is first is all that matters; nothing is passed on. */
    if (!atomic_compare_exchange_strong_explicit(&ender, &first, own, memory_order_relaxed,
                                                 memory_order_relaxed)
        && own != first) {
        for (;;) {
            (void) pause(); /* signals are the user's; the end of the process ends it */
        }
    }
}

bool mpix_endpoints_is_last_word(const char *file, const char *topic)
{
    if (NULL == file || NULL == topic) {
        return false;
    }
    return (0 == strcmp(file, "help-mpi-errors.txt") && 0 == strncmp(topic, "mpi_errors_", 11))
           || (0 == strcmp(file, "help-mpi-api.txt") && 0 == strcmp(topic, "mpi-abort"));
}
