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
 * Pools of buffers for messages that do not fit in the cells.
 *
 * Only the owner draws; anybody puts back.  The owner's free lists are private, so drawing costs no
 * atomic; receivers push onto a shared stack, which the owner empties in one exchange when a free
 * list runs dry.  Taking the whole stack at once leaves no room for the ABA problem.
 */

#include "opal_config.h"

#include "btl_epshm_types.h"

struct mca_btl_epshm_pool_t {
    /* Owner's line. */
    mca_btl_epshm_frag_t *free[EPSHM_FRAG_CLASSES];
    unsigned int allocated[EPSHM_FRAG_CLASSES];

    /* Receivers' line. */
    alignas(EPSHM_CACHE_LINE) _Atomic(mca_btl_epshm_frag_t *) returned;
    /** Fragments drawn and not yet back, plus one for the owner. */
    _Atomic uint32_t references;
};

static void frag_construct(mca_btl_epshm_frag_t *frag)
{
    frag->base.des_segments = &frag->segment;
    frag->base.des_segment_count = 1;
}

OBJ_CLASS_INSTANCE(mca_btl_epshm_frag_t, mca_btl_base_descriptor_t, frag_construct, NULL);

struct mca_btl_epshm_pool_t *mca_btl_epshm_pool_create(void)
{
    struct mca_btl_epshm_pool_t *pool
        = aligned_alloc(EPSHM_CACHE_LINE, sizeof(struct mca_btl_epshm_pool_t));

    if (NULL == pool) {
        return NULL;
    }
    memset((void *) pool, 0, sizeof(*pool));
    atomic_init(&pool->returned, NULL);
    atomic_init(&pool->references, 1);
    return pool;
}

static void free_list(mca_btl_epshm_frag_t *frag)
{
    while (NULL != frag) {
        mca_btl_epshm_frag_t *next = frag->next;

        OBJ_DESTRUCT(frag);
        free(frag);
        frag = next;
    }
}

/** Give back one reference; the last one frees the pool with all fragments, which are then all in
 * one of its lists. */
static void pool_release(struct mca_btl_epshm_pool_t *pool)
{
    /* Release: our push is ordered before the decrement; acquire: the last one sees all pushes. */
    if (1 != atomic_fetch_sub_explicit(&pool->references, 1, memory_order_acq_rel)) {
        return;
    }
    for (int i = 0; i < EPSHM_FRAG_CLASSES; ++i) {
        free_list(pool->free[i]);
    }
    free_list(atomic_load_explicit(&pool->returned, memory_order_relaxed));
    free(pool);
}

void mca_btl_epshm_pool_abandon(struct mca_btl_epshm_pool_t *pool)
{
    pool_release(pool);
}

/** Sort what receivers have put back into the owner's free lists. */
static void collect_returned(struct mca_btl_epshm_pool_t *pool)
{
    /* Acquire pairs with the release in mca_btl_epshm_frag_return: the receiver's reads of the
     * buffer are ordered before our next writes to it. */
    mca_btl_epshm_frag_t *frag
        = atomic_exchange_explicit(&pool->returned, NULL, memory_order_acquire);

    while (NULL != frag) {
        mca_btl_epshm_frag_t *next = frag->next;

        frag->next = pool->free[frag->class_index];
        pool->free[frag->class_index] = frag;
        frag = next;
    }
}

static mca_btl_epshm_frag_t *frag_create(struct mca_btl_epshm_pool_t *pool, unsigned int index)
{
    const bool eager = EPSHM_FRAG_EAGER == index;
    size_t size = eager ? mca_btl_epshm_component.eager_limit
                        : mca_btl_epshm_component.max_send_size;
    unsigned int limit = eager ? mca_btl_epshm_component.eager_frags_max
                               : mca_btl_epshm_component.max_frags_max;
    mca_btl_epshm_frag_t *frag;

    if (pool->allocated[index] >= limit) {
        return NULL;
    }
    size = (sizeof(*frag) + size + EPSHM_CACHE_LINE - 1) & ~(size_t) (EPSHM_CACHE_LINE - 1);
    frag = aligned_alloc(EPSHM_CACHE_LINE, size);
    if (NULL == frag) {
        return NULL;
    }
    OBJ_CONSTRUCT(frag, mca_btl_epshm_frag_t);
    frag->pool = pool;
    frag->class_index = index;
    ++pool->allocated[index];
    return frag;
}

mca_btl_epshm_frag_t *mca_btl_epshm_frag_get(struct mca_btl_epshm_pool_t *pool, size_t size)
{
    unsigned int index = size <= mca_btl_epshm_component.eager_limit ? EPSHM_FRAG_EAGER
                                                                     : EPSHM_FRAG_MAX;
    mca_btl_epshm_frag_t *frag = pool->free[index];

    if (OPAL_UNLIKELY(NULL == frag)) {
        collect_returned(pool);
        frag = pool->free[index];
    }
    if (OPAL_LIKELY(NULL != frag)) {
        pool->free[index] = frag->next;
    } else {
        frag = frag_create(pool, index);
        if (NULL == frag) {
            return NULL;
        }
    }
    frag->segment.seg_addr.pval = frag->data;
    frag->segment.seg_len = size;
    return frag;
}

void mca_btl_epshm_frag_hold(mca_btl_epshm_frag_t *frag)
{
    /* Relaxed: the owner holds a reference itself; the ring's publication orders the rest. */
    atomic_fetch_add_explicit(&frag->pool->references, 1, memory_order_relaxed);
}

void mca_btl_epshm_frag_return(mca_btl_epshm_frag_t *frag)
{
    struct mca_btl_epshm_pool_t *pool = frag->pool;
    mca_btl_epshm_frag_t *first = atomic_load_explicit(&pool->returned, memory_order_relaxed);

    do {
        frag->next = first;
        /* Release pairs with the acquire in collect_returned. */
    } while (!atomic_compare_exchange_weak_explicit(&pool->returned, &first, frag,
                                                    memory_order_release, memory_order_relaxed));
    pool_release(pool);
}

void mca_btl_epshm_frag_free(mca_btl_epshm_frag_t *frag)
{
    frag->next = frag->pool->free[frag->class_index];
    frag->pool->free[frag->class_index] = frag;
}
