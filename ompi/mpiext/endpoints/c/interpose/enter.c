/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Hooks into a libmpi that calls its own functions directly: the functions are entered
 * (entry/entry.h).
 *
 * Which threads can be in the first instructions of one meanwhile?  It is done when pml/epml is
 * selected and enabled, within MPI_Init or the first session's, under libmpi's lock of instances.
 * All these functions want a communicator, a group, a window or a file, and nobody has been given
 * one yet: the user's threads have no business in them, and libmpi's own is this one.  The threads
 * of PMIx and of libmpi's other libraries only note what has come, or set events for threads in MPI
 * to see (ompi_errhandler_callback).  There remains ompi_mpi_abort, in a process that is about to
 * end.
 *
 * Tests: comm_ops (direct), create_errors (direct)
 */

#include "ompi_config.h"

#include "../entry/entry.h"
#include "mpiext_endpoints_enter.h"
#include "mpiext_endpoints_originals.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

#if MPIX_ENDPOINTS_ENTRIES

/** Bytes of a function, by its library's table of symbols; 0: not known. */
static size_t size_of(const void *function)
{
    const ElfW(Sym) *symbol = NULL;
    Dl_info info;

    if (0 == dladdr1(function, &info, (void **) &symbol, RTLD_DL_SYMENT) || NULL == symbol
        || info.dli_saddr != function) {
        return 0;
    }
    return symbol->st_size;
}

/** @return NULL, or why the function cannot be entered */
static const char *enter_check(const mpix_endpoints_enter_t *wanted, mpix_endpoints_entry_t *entry)
{
    const ElfW(Phdr) *segment = mpix_endpoints_library_segment(wanted->library, wanted->definition);

    *entry = (mpix_endpoints_entry_t){
        .function = wanted->definition,
        .size = size_of(wanted->definition),
        .ours = wanted->ours,
    };
    if (NULL == segment || (PF_R | PF_X) != (segment->p_flags & (PF_R | PF_W | PF_X))) {
        return "its code is not readable, or not only code";
    }
    if (0 == entry->size) {
        return "its size is not known";
    }
    return mpix_endpoints_entry_check(entry);
}

static bool enter_fail(const mpix_endpoints_enter_t *wanted, const char *why, char *problem,
                       size_t length)
{
    snprintf(problem, length, "%s: %s", wanted->name, why);
    return false;
}

bool mpix_endpoints_enter(const mpix_endpoints_enter_t *wanted, int count, char *problem,
                          size_t length)
{
    mpix_endpoints_entry_t entries[MPIX_ENDPOINTS_HOOK_COUNT];
    const mpix_endpoints_enter_t *whose[MPIX_ENDPOINTS_HOOK_COUNT];
    const char *why;
    int n = 0;

    for (int i = 0; i < count; ++i) {
        why = enter_check(&wanted[i], &entries[n]);
        if (NULL == why) {
            whose[n++] = &wanted[i];
        } else if (wanted[i].required) {
            return enter_fail(&wanted[i], why, problem, length);
        }
    }
    if (0 == n) {
        return true;
    }
    why = mpix_endpoints_entries_place(entries, n);
    if (NULL != why) {
        return enter_fail(whose[0], why, problem, length);
    }
    for (int i = 0; i < n; ++i) {
        /* Relaxed: see mpix_endpoints_hook_original.  First: from the next step on what the name
         * means leads to ours. */
        atomic_store_explicit(whose[i]->original, (void *) (uintptr_t) entries[i].slot,
                              memory_order_relaxed);
        why = mpix_endpoints_entry_enter(&entries[i]);
        *whose[i]->entered = NULL == why;
        if (NULL != why && whose[i]->required) {
            return enter_fail(whose[i], why, problem, length);
        }
    }
    return true;
}

#else /* not on this machine */

bool mpix_endpoints_enter(const mpix_endpoints_enter_t *wanted, int count, char *problem,
                          size_t length)
{
    for (int i = 0; i < count; ++i) {
        if (wanted[i].required) {
            snprintf(problem, length, "%s: not on this kind of machine", wanted[i].name);
            return false;
        }
    }
    return true;
}

#endif
