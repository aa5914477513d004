/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Packing that fails on demand: preloaded by tests (LD_PRELOAD).
 *
 *   void ept_fail_pack(long n)      the n-th call from now on fails, and all after it; 0: none
 *   void ept_fail_prepare(long n)   likewise calls that prepare for it
 *
 * The program finds the functions with dlsym.
 */

#define _GNU_SOURCE

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

struct opal_convertor_t;
struct opal_datatype_t;
struct iovec;

typedef int (*pack_fn_t)(struct opal_convertor_t *convertor, struct iovec *iov, uint32_t *count,
                         size_t *size);

typedef int32_t (*prepare_fn_t)(struct opal_convertor_t *convertor,
                                const struct opal_datatype_t *datatype, size_t count,
                                const void *buffer);

/** Calls until the first one that fails, itself included; 0: none does. */
static _Atomic long left_pack, left_prepare;

EXPORT void ept_fail_pack(long n)
{
    left_pack = n;
}

EXPORT void ept_fail_prepare(long n)
{
    left_prepare = n;
}

static bool fails(_Atomic long *left)
{
    if (1 < *left) {
        --*left;
        return false;
    }
    return 1 == *left;
}

EXPORT int opal_convertor_pack(struct opal_convertor_t *convertor, struct iovec *iov,
                               uint32_t *count, size_t *size)
{
    static pack_fn_t original;

    if (fails(&left_pack)) {
        return -1;
    }
    if (NULL == original) {
        *(void **) &original = dlsym(RTLD_NEXT, "opal_convertor_pack");
    }
    return original(convertor, iov, count, size);
}

EXPORT int32_t opal_convertor_prepare_for_send(struct opal_convertor_t *convertor,
                                               const struct opal_datatype_t *datatype, size_t count,
                                               const void *buffer)
{
    static prepare_fn_t original;

    if (fails(&left_prepare)) {
        return -1;
    }
    if (NULL == original) {
        *(void **) &original = dlsym(RTLD_NEXT, "opal_convertor_prepare_for_send");
    }
    return original(convertor, datatype, count, buffer);
}
