/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Memory of test/lib/fake_accelerator.c, which is preloaded.
 */

#ifndef DEVICE_H
#define DEVICE_H

#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif

#include "ept.h"

#include <dlfcn.h>

static inline void *device_function(struct ept *t, const char *name)
{
    void *function = dlsym(RTLD_DEFAULT, name);

    EPT_CHECK(t, NULL != function, "fake_accelerator is not preloaded");
    if (NULL == function) {
        abort();
    }
    return function;
}

/** Memory that the CPU cannot access; never given back. */
static inline void *device_memory(struct ept *t, size_t size)
{
    void *(*get)(size_t);

    *(void **) &get = device_function(t, "ept_device_memory");
    return get(size);
}

/** Memory of the device that it can access, likewise. */
static inline void *managed_memory(struct ept *t, size_t size)
{
    void *(*get)(size_t);

    *(void **) &get = device_function(t, "ept_managed_memory");
    return get(size);
}

/** Addresses that the accelerator has been asked about by this thread; less than 0: nobody counts. */
static inline long device_looks(struct ept *t)
{
    long (*looks)(void);

    *(void **) &looks = device_function(t, "ept_device_looks");
    return looks();
}

/** Copies from the device to the device, by all threads of the process; likewise. */
static inline long device_copies(struct ept *t)
{
    long (*copies)(void);

    *(void **) &copies = device_function(t, "ept_device_copies");
    return copies();
}

/** This thread is one that has not used the device yet. */
static inline void device_detach(struct ept *t)
{
    void (*detach)(void);

    *(void **) &detach = device_function(t, "ept_device_detach");
    detach();
}

/** From and to any memory. */
static inline void device_copy(struct ept *t, void *to, const void *from, size_t size)
{
    void (*copy)(void *, const void *, size_t);

    *(void **) &copy = device_function(t, "ept_device_copy");
    copy(to, from, size);
}

#endif /* DEVICE_H */
