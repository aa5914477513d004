/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Getting a message's bytes into the memory it travels in, whichever that is.
 *
 * Tests: unit/test_epshm_node, pack_error
 */

#ifndef MCA_BTL_EPSHM_COPY_H
#define MCA_BTL_EPSHM_COPY_H

#include "opal_config.h"

#include <string.h>

#include "opal/mca/common/ep/common_ep_btl.h"

/** memcpy for what is mostly a few words: moves instead of a call.  Eight bytes at a time, no more:
 * the caller has just written them in pieces of that size, and a wider load would have to wait
 * until its stores have left the store buffer. */
static inline void epshm_copy_small(unsigned char *target, const void *source, size_t size)
{
    const unsigned char *from = source;

    if (OPAL_LIKELY(8 <= size && size <= 32)) {
        size_t done = 0;

        do {
            memcpy(target + done, from + done, 8);
            done += 8;
        } while (done + 8 <= size);
        memcpy(target + size - 8, from + size - 8, 8);
    } else if (0 < size) {
        memcpy(target, from, size);
    }
}

#endif /* MCA_BTL_EPSHM_COPY_H */
