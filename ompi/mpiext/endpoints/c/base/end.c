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
 * libmpi's explanation names the process.  Where threads are ranks from the beginning on, it names the
 * rank as well.
 *
 * Tests: comm_abort, ranks_exit
 */

#define _GNU_SOURCE /* asprintf */

#include "ompi_config.h"

#include "mpiext_endpoints_end.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "opal/util/show_help.h"

/** The thread that ends the job; 0: nobody does so far. */
static _Atomic pid_t ender;

static mpix_endpoints_end_rank_t *rank_of_thread;

void mpix_endpoints_end_init(mpix_endpoints_end_rank_t *rank)
{
    rank_of_thread = rank;
}

void mpix_endpoints_end_alone(void)
{
    const pid_t own = (pid_t) syscall(SYS_gettid);
    pid_t first = 0;

    /* Relaxed: only the first one matters; nothing is passed on. */
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

/** How the two messages name the process: "reported by process [1234,0]", "Proc: [[1234,1],0]". */
static const char *find_process(const char *text)
{
    const char *at = strstr(text, "process [");

    return NULL != at ? at : strstr(text, "Proc: [");
}

char *mpix_endpoints_last_word(const char *file, const char *topic, va_list arguments)
{
    char *text, *longer = NULL;
    const char *at;
    va_list copy;
    int rank, size;

    if (NULL == rank_of_thread || !rank_of_thread(&rank, &size)) {
        return NULL;
    }
    va_copy(copy, arguments);
    text = opal_show_help_vstring(file, topic, false, copy);
    va_end(copy);
    if (NULL != text && '\0' != *text && '\n' == text[strlen(text) - 1]) {
        text[strlen(text) - 1] = '\0'; /* it is shown as a line */
    }
    at = NULL != text ? find_process(text) : NULL;
    if (NULL != at
        && 0 > asprintf(&longer, "%.*srank %d of %d, in %s", (int) (at - text), text, rank, size,
                        at)) {
        longer = NULL;
    }
    free(text);
    return longer;
}
