/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A fragment of a message whose data must be packed: btl_prepare_src, as all modules of ours do it,
 * by their own btl_alloc and btl_free.
 *
 * Tests: unit/test_epofi
 */

#ifndef OPAL_COMMON_EP_PREPARE_H
#define OPAL_COMMON_EP_PREPARE_H

#include "opal_config.h"

#include "opal/datatype/opal_convertor.h"
#include "opal/mca/common/ep/common_ep_btl.h"

/**
 * Get a descriptor, and pack into it as much as fits behind what the caller reserves.
 *
 * @param[in]     most  bytes that a descriptor may have
 * @param[in,out] size  bytes wanted, then packed; 0 where the convertor fails, which is no want of
 *                      room
 * @return the descriptor; NULL: none to be had at present, or the convertor's error
 */
static inline mca_btl_base_descriptor_t *mca_btl_ep_prepare_src(
    mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
    struct opal_convertor_t *convertor, uint8_t order, size_t most, size_t reserve, size_t *size,
    uint32_t flags)
{
    mca_btl_base_descriptor_t *descriptor;
    struct iovec iov;
    uint32_t iov_count = 1;

    if (reserve > most) {
        return NULL;
    }
    if (*size > most - reserve) {
        *size = most - reserve;
    }
    descriptor = btl->btl_alloc(btl, endpoint, order, reserve + *size, flags);
    if (NULL == descriptor) {
        return NULL;
    }
    iov.iov_base = (IOVBASE_TYPE *) ((unsigned char *) descriptor->des_segments->seg_addr.pval
                                     + reserve);
    iov.iov_len = *size;
    if (0 < *size && 0 > opal_convertor_pack(convertor, &iov, &iov_count, size)) {
        (void) btl->btl_free(btl, descriptor);
        *size = 0;
        return NULL;
    }
    descriptor->des_segments->seg_len = reserve + *size;
    return descriptor;
}

#endif /* OPAL_COMMON_EP_PREPARE_H */
