/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * Packing that fails when it is told to: preloaded by tests (LD_PRELOAD).
 *
 *   void ept_fail_pack(long n)   the n-th call from now on fails, and all after it; 0: none
 *
 * The program finds the function with dlsym.
 */

#define _GNU_SOURCE

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

struct opal_convertor_t;
struct iovec;

typedef int (*pack_fn_t)(struct opal_convertor_t *convertor, struct iovec *iov, uint32_t *count,
                         size_t *size);

static _Atomic long left;

EXPORT void ept_fail_pack(long n)
{
    left = n;
}

EXPORT int opal_convertor_pack(struct opal_convertor_t *convertor, struct iovec *iov,
                               uint32_t *count, size_t *size)
{
    static pack_fn_t original;

    if (1 == left) {
        return -1;
    }
    if (1 < left) {
        --left;
    }
    if (NULL == original) {
        *(void **) &original = dlsym(RTLD_NEXT, "opal_convertor_pack");
    }
    return original(convertor, iov, count, size);
}
