/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What all files use: the lock, the clock, memory for buffers, and errors of libfabric's as Open
 * MPI's.
 *
 * Tests: unit/test_epofi
 */

#include "opal_config.h"

#include "btl_epofi_base.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define BUFFER_ALIGNMENT 64

opal_mutex_t mca_btl_epofi_lock = OPAL_MUTEX_STATIC_INIT;

uint64_t mca_btl_epofi_now(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t) now.tv_sec * 1000000000u + (uint64_t) now.tv_nsec;
}

void *mca_btl_epofi_buffers_alloc(unsigned int count, size_t size, size_t *stride_p)
{
    /* One line more than needed: buffers a power of two apart would all want the same cache
     * sets. */
    const size_t lines = (size + BUFFER_ALIGNMENT - 1) / BUFFER_ALIGNMENT + 1;
    void *memory;

    *stride_p = lines * BUFFER_ALIGNMENT;
    return 0 == posix_memalign(&memory, BUFFER_ALIGNMENT, count * *stride_p) ? memory : NULL;
}

int mca_btl_epofi_status(int error)
{
    switch (error) {
    case FI_SUCCESS:
        return OPAL_SUCCESS;
    case FI_ENOMEM:
    case FI_ENOBUFS:
        return OPAL_ERR_OUT_OF_RESOURCE;
    case FI_EACCES:
    case FI_EPERM:
    case FI_ENOKEY:
    case FI_EKEYREJECTED:
        return OPAL_ERR_PERM;
    case FI_ETRUNC:
    case FI_EMSGSIZE:
    case FI_ETOOSMALL:
        return OPAL_ERR_VALUE_OUT_OF_BOUNDS;
    case FI_ECONNREFUSED:
    case FI_ECONNRESET:
    case FI_ECONNABORTED:
    case FI_EHOSTUNREACH:
    case FI_EHOSTDOWN:
    case FI_ENETUNREACH:
    case FI_ENOTCONN:
    case FI_ESHUTDOWN:
    case FI_ETIMEDOUT:
    case EPIPE: /* libfabric has no name of its own for it */
    case FI_ECANCELED:
        return OPAL_ERR_UNREACH;
    default:
        return OPAL_ERROR;
    }
}
