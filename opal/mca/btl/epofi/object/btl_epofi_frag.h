/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Send buffers, and the descriptors made of them.
 */

#ifndef MCA_BTL_EPOFI_FRAG_H
#define MCA_BTL_EPOFI_FRAG_H

#include "opal_config.h"

#include "btl_epofi_types.h"

BEGIN_C_DECLS

void mca_btl_epofi_pool_init(mca_btl_epofi_pool_t *pool, size_t size, unsigned int limit);

/** Free all fragments, wherever they are. */
void mca_btl_epofi_pool_fini(mca_btl_epofi_pool_t *pool);

/** Slow path of mca_btl_epofi_frag_get: make more.  @return a fragment, or NULL at the bound */
mca_btl_epofi_frag_t *mca_btl_epofi_pool_grow(mca_btl_epofi_module_t *module,
                                              mca_btl_epofi_pool_t *pool);

mca_btl_base_descriptor_t *mca_btl_epofi_alloc(mca_btl_base_module_t *btl,
                                               struct mca_btl_base_endpoint_t *endpoint,
                                               uint8_t order, size_t size, uint32_t flags);
int mca_btl_epofi_free(mca_btl_base_module_t *btl, mca_btl_base_descriptor_t *descriptor);
mca_btl_base_descriptor_t *mca_btl_epofi_prepare_src(mca_btl_base_module_t *btl,
                                                     struct mca_btl_base_endpoint_t *endpoint,
                                                     struct opal_convertor_t *convertor,
                                                     uint8_t order, size_t reserve, size_t *size,
                                                     uint32_t flags);

/** The smallest fragment that holds size bytes; NULL if there is none left or none so large. */
static inline mca_btl_epofi_frag_t *mca_btl_epofi_frag_get(mca_btl_epofi_module_t *module,
                                                           size_t size)
{
    mca_btl_epofi_pool_t *pool = size <= module->eager_pool.size ? &module->eager_pool
                                                                 : &module->max_pool;
    mca_btl_epofi_frag_t *frag = pool->free;

    if (OPAL_UNLIKELY(NULL == frag)) {
        return size <= pool->size ? mca_btl_epofi_pool_grow(module, pool) : NULL;
    }
    if (OPAL_UNLIKELY(size > pool->size)) {
        return NULL;
    }
    pool->free = frag->next;
    return frag;
}

static inline void mca_btl_epofi_frag_put(mca_btl_epofi_frag_t *frag)
{
    frag->next = frag->pool->free;
    frag->pool->free = frag;
}

END_C_DECLS

#endif /* MCA_BTL_EPOFI_FRAG_H */
