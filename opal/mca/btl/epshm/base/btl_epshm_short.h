/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The message that most are: 8 bytes behind a header whose first word the module knows (ep_prefix).
 * It is sent without that word, and costs nothing to count.
 */

#ifndef MCA_BTL_EPSHM_SHORT_H
#define MCA_BTL_EPSHM_SHORT_H

#include "opal_config.h"

#include <stdint.h>
#include <string.h>

#include "opal/mca/common/ep/common_ep_btl.h"

BEGIN_C_DECLS

/** Size of the header that most messages have. */
#define EPSHM_SHORT_HEADER 24

/** Bytes of a short message, its header included. */
#define EPSHM_SHORT_MESSAGE 32

/** Is it one that begins as most do, and for us?  That part, a word, can be left out. */
static inline bool epshm_is_bare(const mca_btl_ep_module_t *module, const void *header,
                                 size_t header_size, mca_btl_base_tag_t tag)
{
    uint64_t first = 0;

    /* Word by word: the caller has just written them, and a wider load would have to wait until
     * its stores have left the store buffer. */
    if (OPAL_LIKELY(EPSHM_SHORT_HEADER == header_size)) {
        memcpy(&first, header, sizeof(first));
    }
    return module->ep_prefix == first && EPSHM_SHORT_HEADER == header_size && MCA_BTL_EP_TAG == tag;
}

/**
 * What was sent that is not a short message: one of 8 bytes behind a bare header, in one cell of a
 * SPSC ring or pipe.  With the cells that have been written, which the producer's side knows anyway, it
 * tells messages and bytes, and short messages cost nothing.  Modulo 2^64: differences may be below
 * zero.
 */
typedef struct epshm_other_counts_t {
    uint64_t messages; /**< less cells */
    uint64_t bytes;    /**< less what as many short messages have */
} epshm_other_counts_t;

/** A message of size bytes, header included, is going out in so many cells. */
static inline void epshm_count_other(epshm_other_counts_t *other, uint64_t cells, size_t size)
{
    other->messages += 1 - cells;
    other->bytes += size - EPSHM_SHORT_MESSAGE;
}

END_C_DECLS

#endif /* MCA_BTL_EPSHM_SHORT_H */
