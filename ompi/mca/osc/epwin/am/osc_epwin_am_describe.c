/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What a window handle waits for, for dumps of queues: one line of text, empty if there is nothing.
 *
 * The handle's thread may be running meanwhile.  Links stay until the handle is freed, and numbers
 * that change are read as they are at some moment.
 *
 * Called by the engine.
 *
 * Tests: win_dump
 */

#include "ompi_config.h"

#include "osc_epwin_am_link.h"

#include <stdarg.h>
#include <stdio.h>

/** Targets that are named. */
#define DESCRIBE_LINKS 4

typedef struct describe_text_t {
    char *text;
    size_t size, used;
} describe_text_t;

static __attribute__((format(printf, 2, 3))) void describe_add(describe_text_t *to,
                                                               const char *format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(to->text + to->used, to->size - to->used, format, arguments);
    va_end(arguments);
    to->used += 0 > length                                 ? 0
                : (size_t) length < to->size - to->used ? (size_t) length
                                                           : to->size - to->used - 1;
}

static const char *describe_epoch(const mca_osc_epwin_module_t *module)
{
    static const char *const names[] = {
        [EPWIN_ACCESS_NONE] = "no access epoch",
        [EPWIN_ACCESS_FENCE] = "access epoch of MPI_Win_fence",
        [EPWIN_ACCESS_START] = "access epoch of MPI_Win_start",
        [EPWIN_ACCESS_LOCK] = "access epoch of MPI_Win_lock",
        [EPWIN_ACCESS_LOCK_ALL] = "access epoch of MPI_Win_lock_all",
    };

    return names[module->access];
}

/** What the thread waits for in a call.  @return whether it waits */
static bool describe_wait(const mca_osc_epwin_module_t *module, describe_text_t *to)
{
    /* Relaxed, both: a rank of an earlier wait does no harm. */
    const char *awaited = atomic_load_explicit(&module->awaited, memory_order_relaxed);
    const int rank = atomic_load_explicit(&module->awaited_rank, memory_order_relaxed);

    if (NULL == awaited) {
        return false;
    }
    describe_add(to, ", waits for %s", awaited);
    if (MPIX_ENDPOINTS_ANY_RANK != rank) {
        describe_add(to, " of rank %d", rank);
    }
    return true;
}

/** Operations by messages that have not been completed.  @return whether there are some */
static bool describe_links(const mca_osc_epwin_module_t *module, describe_text_t *to)
{
    epwin_am_link_t *link;
    uint32_t index = 0;
    int named = 0;

    while (named < DESCRIBE_LINKS && NULL != (link = mca_osc_epwin_am_link_next(module, &index))) {
        /* Acquire: orders the loads of the larger numbers after it, so that no difference is
         * negative; partners: the releases in osc_epwin_am_result.c. */
        const uint64_t acked = atomic_load_explicit(&link->acked, memory_order_acquire);
        const uint64_t had = atomic_load_explicit(&link->results_had, memory_order_acquire);
        const uint64_t sent = __atomic_load_n(&link->position, __ATOMIC_RELAXED) - acked;
        const uint64_t results = __atomic_load_n(&link->results, __ATOMIC_RELAXED) - had;

        if (0 < sent || 0 < results) {
            describe_add(to, "; rank %d: %llu bytes not confirmed, %llu of results to come",
                         link->rank, (unsigned long long) sent, (unsigned long long) results);
            ++named;
        }
    }
    return 0 < named;
}

void mca_osc_epwin_describe(void *object, char *text, size_t size)
{
    const mca_osc_epwin_module_t *module = object;
    describe_text_t to = {.text = text, .size = size};
    bool any;

    text[0] = '\0';
    if (NULL == module->peers) {
        return; /* it is being created */
    }
    describe_add(&to, "window, %s", describe_epoch(module));
    any = describe_wait(module, &to);
    if (!describe_links(module, &to) && !any) {
        text[0] = '\0';
    }
}
