/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Pools of buffers for messages that do not fit in the cells.
 *
 * Only the owner draws; any thread puts back.  The owner's free lists are private, so drawing costs
 * no atomic; receivers push onto a shared stack, which the owner empties in one exchange when a
 * free list runs dry.  Taking the whole stack at once leaves no room for the ABA problem.
 *
 * One receive queue may have three quarters of them, so that a receiver that keeps what it was sent does
 * not keep its senders from sending to others.  Fragments in place of zero-copy sends are not counted: there
 * may be any number, all at one receive queue.
 *
 * An owner may go while fragments are still at receivers.  It then leaves a mark in place of the
 * stack; a thread that finds the mark frees the fragment, and the last one frees the pool.
 *
 * Tests: unit/test_epshm_spsc_rings, unit/test_epshm_zcopy, model/pool, flood
 */

#include "opal_config.h"

#include <limits.h>

#include "btl_epshm_types.h"

/** What receive queues hold is counted by their ids; of more than that some share an account. */
#define EPSHM_FRAG_ACCOUNTS 256

struct mca_btl_epshm_pool_t {
    /* Owner's lines. */
    mca_btl_epshm_frag_t *free[EPSHM_FRAG_CLASSES];
    unsigned int allocated[EPSHM_FRAG_CLASSES];
    uint32_t held[EPSHM_FRAG_CLASSES]
                 [EPSHM_FRAG_ACCOUNTS]; /**< fragments that receive queues have */
    unsigned int more[EPSHM_FRAG_CLASSES]; /**< that are out beyond those that there may be */

    /* Receivers' line. */
    alignas(EPSHM_CACHE_LINE) _Atomic(mca_btl_epshm_frag_t *) returned; /**< stack, or the mark */
    /** After the owner has gone: fragments still out, less those that came back before the owner
     * had counted. */
    _Atomic int64_t out;
};

/** Stands in place of the stack when the owner has gone. */
static mca_btl_epshm_frag_t owner_gone;

static void frag_construct(mca_btl_epshm_frag_t *frag)
{
    frag->base.des_segments = &frag->segment;
    frag->base.des_segment_count = 1;
}

OBJ_CLASS_INSTANCE(mca_btl_epshm_frag_t, mca_btl_base_descriptor_t, frag_construct, NULL);

struct mca_btl_epshm_pool_t *mca_btl_epshm_pool_create(void)
{
    struct mca_btl_epshm_pool_t *pool = aligned_alloc(EPSHM_CACHE_LINE,
                                                      sizeof(struct mca_btl_epshm_pool_t));

    if (NULL == pool) {
        return NULL;
    }
    memset((void *) pool, 0, sizeof(*pool));
    atomic_init(&pool->returned, NULL);
    atomic_init(&pool->out, 0);
    return pool;
}

static void frag_destroy(mca_btl_epshm_frag_t *frag)
{
    OBJ_DESTRUCT(frag);
    free(frag);
}

/** @return number of fragments freed */
static int64_t free_list(mca_btl_epshm_frag_t *frag)
{
    int64_t count = 0;

    while (NULL != frag) {
        mca_btl_epshm_frag_t *next = frag->next;

        frag_destroy(frag);
        frag = next;
        ++count;
    }
    return count;
}

void mca_btl_epshm_pool_abandon(struct mca_btl_epshm_pool_t *pool)
{
    /* Acquire pairs with the release in mca_btl_epshm_frag_return, as in collect_returned. */
    int64_t out = -free_list(atomic_exchange_explicit(&pool->returned, &owner_gone,
                                                      memory_order_acq_rel));

    for (int i = 0; i < EPSHM_FRAG_CLASSES; ++i) {
        out += (int64_t) pool->allocated[i] - free_list(pool->free[i]);
    }
    /* Late returns have counted down from zero; the sum is zero when all are back.  Acquire and
     * release: every return is ordered before the end of the pool. */
    if (0 == atomic_fetch_add_explicit(&pool->out, out, memory_order_acq_rel) + out) {
        free(pool);
    }
}

/** A fragment comes back after its owner has gone. */
static __attribute__((noinline)) void return_late(struct mca_btl_epshm_pool_t *pool,
                                                  mca_btl_epshm_frag_t *frag)
{
    frag_destroy(frag);
    if (1 == atomic_fetch_sub_explicit(&pool->out, 1, memory_order_acq_rel)) {
        free(pool);
    }
}

/** A receive queue's place among the counts.  By its id, which follow each other: a hash of the
 * address let receive queues at some distances of each other share one, over and over. */
static inline unsigned int account_of(const struct mca_btl_base_endpoint_t *recv_queue)
{
    return (unsigned int) (recv_queue->id % EPSHM_FRAG_ACCOUNTS);
}

static inline void put_back(struct mca_btl_epshm_pool_t *pool, mca_btl_epshm_frag_t *frag)
{
    --pool->held[frag->class_index][frag->account];
    pool->more[frag->class_index] -= frag->more;
    frag->more = false;
    frag->next = pool->free[frag->class_index];
    pool->free[frag->class_index] = frag;
}

/** Sort what receivers have put back into the owner's free lists. */
static void collect_returned(struct mca_btl_epshm_pool_t *pool)
{
    /* Acquire pairs with the release in mca_btl_epshm_frag_return: the receiver's reads of the
     * buffer are ordered before our next writes to it. */
    mca_btl_epshm_frag_t *frag = atomic_exchange_explicit(&pool->returned, NULL,
                                                          memory_order_acquire);

    while (NULL != frag) {
        mca_btl_epshm_frag_t *next = frag->next;

        put_back(pool, frag);
        frag = next;
    }
}

static inline unsigned int frags_max(unsigned int index)
{
    return EPSHM_FRAG_EAGER == index ? mca_btl_epshm_component.eager_frags_max
                                     : mca_btl_epshm_component.max_frags_max;
}

static mca_btl_epshm_frag_t *frag_create(struct mca_btl_epshm_pool_t *pool, unsigned int index)
{
    size_t size = EPSHM_FRAG_EAGER == index ? mca_btl_epshm_component.eager_limit
                                            : mca_btl_epshm_component.max_send_size;
    mca_btl_epshm_frag_t *frag;

    size = (sizeof(*frag) + size + EPSHM_CACHE_LINE - 1) & ~(size_t) (EPSHM_CACHE_LINE - 1);
    frag = aligned_alloc(EPSHM_CACHE_LINE, size);
    if (NULL == frag) {
        return NULL;
    }
    OBJ_CONSTRUCT(frag, mca_btl_epshm_frag_t);
    frag->pool = pool;
    frag->class_index = index;
    frag->more = false;
    ++pool->allocated[index];
    return frag;
}

/** @param[in] allowed  buffers of the kind that there may be
 *  @param[in] most     those of them that receive queue may have */
static inline mca_btl_epshm_frag_t *frag_get(struct mca_btl_epshm_pool_t *pool,
                                             const struct mca_btl_base_endpoint_t *recv_queue,
                                             unsigned int index, size_t size, unsigned int allowed,
                                             unsigned int most)
{
    const unsigned int account = account_of(recv_queue);
    mca_btl_epshm_frag_t *frag = pool->free[index];

    if (OPAL_UNLIKELY(NULL == frag || pool->held[index][account] >= most)) {
        collect_returned(pool);
        frag = pool->free[index];
        if (pool->held[index][account] >= most) {
            return NULL;
        }
    }
    if (OPAL_LIKELY(NULL != frag)) {
        pool->free[index] = frag->next;
    } else {
        frag = pool->allocated[index] < allowed ? frag_create(pool, index) : NULL;
        if (NULL == frag) {
            return NULL;
        }
    }
    frag->account = account;
    ++pool->held[index][account];
    frag->segment.seg_addr.pval = frag->data;
    frag->segment.seg_len = size;
    return frag;
}

/** Of messages of this size. */
static inline unsigned int class_of(size_t size)
{
    return size <= mca_btl_epshm_component.eager_limit ? EPSHM_FRAG_EAGER : EPSHM_FRAG_MAX;
}

mca_btl_epshm_frag_t *mca_btl_epshm_frag_get(struct mca_btl_epshm_pool_t *pool,
                                             const struct mca_btl_base_endpoint_t *recv_queue,
                                             size_t size)
{
    const unsigned int index = class_of(size);

    return frag_get(pool, recv_queue, index, size, frags_max(index) + pool->more[index],
                    frags_max(index) - frags_max(index) / 4);
}

mca_btl_epshm_frag_t *mca_btl_epshm_frag_get_more(struct mca_btl_epshm_pool_t *pool,
                                                  const struct mca_btl_base_endpoint_t *recv_queue,
                                                  size_t size)
{
    const unsigned int index = class_of(size);
    mca_btl_epshm_frag_t *frag = frag_get(pool, recv_queue, index, size, UINT_MAX, UINT_MAX);

    if (NULL != frag) {
        frag->more = true;
        ++pool->more[index];
    }
    return frag;
}

void mca_btl_epshm_frag_return(mca_btl_epshm_frag_t *frag)
{
    struct mca_btl_epshm_pool_t *pool = frag->pool;
    mca_btl_epshm_frag_t *first = atomic_load_explicit(&pool->returned, memory_order_relaxed);

    do {
        if (OPAL_UNLIKELY(&owner_gone == first)) {
            return_late(pool, frag);
            return;
        }
        frag->next = first;
        /* Release pairs with the acquire in collect_returned. */
    } while (!atomic_compare_exchange_weak_explicit(&pool->returned, &first, frag,
                                                    memory_order_release, memory_order_relaxed));
}

void mca_btl_epshm_frag_free(mca_btl_epshm_frag_t *frag)
{
    put_back(frag->pool, frag);
}
