/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What a rank is, which one the calling thread belongs to, and how a program is refused.
 *
 * Tests: ranks_basic
 */

#define _GNU_SOURCE

#include "base.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

__thread mpix_rank_t *mpix_ranks_self;
mpix_rank_t *mpix_ranks_all;
int mpix_ranks_count;
int mpix_ranks_left_out;

void *mpix_ranks_next(const char *name, void *_Atomic *cache)
{
    void *next = dlsym(RTLD_NEXT, name);

    atomic_store_explicit(cache, next, memory_order_relaxed);
    return next;
}

static void base_print(const char *format, va_list list)
{
    char text[2048] = "epmpirun -ranks: ";
    const size_t begin = strlen(text);
    const int count = vsnprintf(text + begin, sizeof(text) - begin, format, list);
    size_t length = begin + (count > 0 ? (size_t) count : 0);

    if (length > sizeof(text) - 1) {
        length = sizeof(text) - 1;
    }
    text[length++] = '\n';
    /* Not write(), which is layer libc's and takes a stream's lock. */
    if (syscall(SYS_write, STDERR_FILENO, text, length) < 0) {
        return; /* there is nobody to tell */
    }
}

void mpix_ranks_say(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    base_print(format, list);
    va_end(list);
}

bool mpix_ranks_is_asked(const char *variable)
{
    const char *value = getenv(variable);

    return NULL != value && '\0' != *value && 0 != strcmp(value, "0");
}

bool mpix_ranks_is_first_process(void)
{
    const char *process = getenv("OMPI_COMM_WORLD_RANK");

    return NULL == process || 0 == strcmp(process, "0");
}

_Noreturn void mpix_ranks_refuse(const char *format, ...)
{
    va_list list;

    /* All processes of the job have the same reason, as a rule, and the launcher ends them when the
     * first one, which says it, has ended. */
    if (!mpix_ranks_is_first_process()) {
        (void) sleep(5);
    }
    va_start(list, format);
    base_print(format, list);
    va_end(list);
    _exit(1);
}
