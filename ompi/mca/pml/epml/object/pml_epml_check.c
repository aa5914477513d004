/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What builds for tests watch (CPPFLAGS=-DEPML_CHECK_LOCKS=1, see pml_epml_lock.h): how many
 * endpoints' locks a thread holds, and how much memory it asks for meanwhile.  Otherwise empty.
 *
 * Tests: callbacks (tsan)
 */

#include "ompi_config.h"

#include "pml_epml_lock.h"

#if EPML_CHECK_LOCKS

#    include <dlfcn.h>

/** Bytes that may be allocated at once under an endpoint's lock, by whomever: so much is cleared or
 * copied in microseconds. */
#    define EPML_LARGEST_LOCKED 65536

/* In the program's own memory from the start: where it came with the first access, that would be an
 * allocation, which looks here. */
__attribute__((tls_model("initial-exec"))) _Thread_local int mca_pml_epml_locks_held;

/** The sanitizers': call them after each allocation, and before memory is given back.
 * @return 0: no more can be called */
int __sanitizer_install_malloc_and_free_hooks(void (*allocated)(const volatile void *, size_t),
                                              void (*freed)(const volatile void *))
    __attribute__((weak));

static void check_allocated(const volatile void *memory, size_t size)
{
    (void) memory;
    if (0 != mca_pml_epml_locks_held && EPML_LARGEST_LOCKED < size) {
        mca_pml_epml_locks_held = 0; /* what comes may allocate, too */
        fprintf(stderr, "pml/epml: %zu bytes are allocated under an endpoint's lock\n", size);
        abort();
    }
}

static void check_freed(const volatile void *memory)
{
    (void) memory;
}

void mca_pml_epml_check_start(void)
{
    static bool started = false;
    void *handle = NULL;
    Dl_info own;

    if (started || NULL == __sanitizer_install_malloc_and_free_hooks) {
        return;
    }
    /* The functions cannot be taken back: they stay. */
    if (0 != dladdr(&started, &own)) {
        handle = dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    }
    if (NULL != handle) {
        started = 0 != __sanitizer_install_malloc_and_free_hooks(allocated, freed);
        (void) dlclose(handle);
    }
    if (!started) {
        fprintf(stderr, "pml/epml: allocations cannot be watched\n");
    }
}

#endif /* EPML_CHECK_LOCKS */
