/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Send buffers: pools of two sizes per module, and the descriptors made of them (btl_alloc,
 * btl_free, btl_prepare_src).
 *
 * A module's calls come one at a time, so the free lists are plain lists.
 *
 * Tests: unit/test_epofi, random_traffic (few)
 */

#include "opal_config.h"

#include "../base/base.h"
#include "btl_epofi_frag.h"
#include "btl_epofi_region.h"
#include "btl_epofi_types.h"

#include "opal/mca/common/ep/common_ep_prepare.h"

#include <stdlib.h>

/** Fragments made at once: few at first, as most endpoints never need more. */
#define SLAB_FIRST 8
#define SLAB_MOST 64

void mca_btl_epofi_pool_init(mca_btl_epofi_pool_t *pool, size_t size, unsigned int limit)
{
    pool->free = NULL;
    pool->size = size;
    pool->count = 0;
    pool->limit = limit;
    pool->slabs = NULL;
}

void mca_btl_epofi_pool_fini(mca_btl_epofi_pool_t *pool)
{
    while (NULL != pool->slabs) {
        mca_btl_epofi_slab_t *slab = pool->slabs;

        pool->slabs = slab->next;
        for (unsigned int i = 0; i < slab->count; ++i) {
            OBJ_DESTRUCT(&slab->frags[i].base);
        }
        if (NULL != slab->mr) {
            (void) fi_close(&slab->mr->fid);
        }
        free(slab->memory);
        free(slab->frags);
        free(slab);
    }
    pool->free = NULL;
}

/** So many buffers of a size, bytes.  @param[out] stride_p  how far they are apart */
static mca_btl_epofi_slab_t *slab_new(mca_btl_epofi_module_t *module, unsigned int count,
                                      size_t size, size_t *stride_p)
{
    mca_btl_epofi_slab_t *slab = calloc(1, sizeof(*slab));
    void *memory;

    if (NULL == slab) {
        return NULL;
    }
    slab->count = count;
    slab->frags = calloc(count, sizeof(*slab->frags));
    if (NULL == slab->frags) {
        goto err_free_slab;
    }
    memory = mca_btl_epofi_buffers_alloc(count, size, stride_p);
    if (NULL == memory) {
        goto err_free_frags;
    }
    slab->memory = memory;
    if (module->fabric->mr_local
        && OPAL_SUCCESS
               != mca_btl_epofi_mr_open(module, memory, count * *stride_p, FI_SEND, &slab->mr)) {
        goto err_free_memory;
    }
    return slab;

err_free_memory:
    free(slab->memory);
err_free_frags:
    free(slab->frags);
err_free_slab:
    free(slab);
    return NULL;
}

mca_btl_epofi_frag_t *mca_btl_epofi_pool_grow(mca_btl_epofi_module_t *module,
                                              mca_btl_epofi_pool_t *pool)
{
    unsigned int count = 0 == pool->count ? SLAB_FIRST : pool->count;
    mca_btl_epofi_slab_t *slab;
    mca_btl_epofi_frag_t *frag;
    size_t stride;

    if (SLAB_MOST < count) {
        count = SLAB_MOST;
    }
    if (pool->limit - pool->count < count) {
        count = pool->limit - pool->count;
    }
    if (0 == count) {
        return NULL;
    }
    slab = slab_new(module, count, sizeof(mca_btl_epofi_wire_t) + pool->size, &stride);
    if (NULL == slab) {
        return NULL;
    }
    for (unsigned int i = 0; i < count; ++i) {
        frag = &slab->frags[i];
        OBJ_CONSTRUCT(&frag->base, mca_btl_base_descriptor_t);
        frag->base.des_segments = &frag->segment;
        frag->base.des_segment_count = 1;
        frag->pool = pool;
        frag->buffer = slab->memory + i * stride;
        frag->desc = NULL == slab->mr ? NULL : fi_mr_desc(slab->mr);
        mca_btl_epofi_frag_put(frag);
    }
    slab->next = pool->slabs;
    pool->slabs = slab;
    pool->count += count;

    frag = pool->free;
    pool->free = frag->next;
    return frag;
}

mca_btl_base_descriptor_t *mca_btl_epofi_alloc(mca_btl_base_module_t *btl,
                                               struct mca_btl_base_endpoint_t *endpoint,
                                               uint8_t order, size_t size, uint32_t flags)
{
    mca_btl_epofi_frag_t *frag = mca_btl_epofi_frag_get((mca_btl_epofi_module_t *) btl, size);

    (void) order; /* everything is ordered */
    if (NULL == frag) {
        return NULL;
    }
    frag->endpoint = endpoint;
    frag->segment.seg_addr.pval = frag->buffer + sizeof(mca_btl_epofi_wire_t);
    frag->segment.seg_len = size;
    frag->base.des_flags = flags;
    frag->base.des_cbfunc = NULL;
    frag->base.order = MCA_BTL_NO_ORDER;
    return &frag->base;
}

int mca_btl_epofi_free(mca_btl_base_module_t *btl, mca_btl_base_descriptor_t *descriptor)
{
    (void) btl;
    mca_btl_epofi_frag_put((mca_btl_epofi_frag_t *) descriptor);
    return OPAL_SUCCESS;
}

mca_btl_base_descriptor_t *mca_btl_epofi_prepare_src(mca_btl_base_module_t *btl,
                                                     struct mca_btl_base_endpoint_t *endpoint,
                                                     struct opal_convertor_t *convertor,
                                                     uint8_t order, size_t reserve, size_t *size,
                                                     uint32_t flags)
{
    return mca_btl_ep_prepare_src(btl, endpoint, convertor, order,
                                  ((mca_btl_epofi_module_t *) btl)->max_pool.size, reserve, size,
                                  flags);
}
