/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Model of a pool of buffers (btl_epshm_frag.c): its owner sends two, then goes; two receivers read
 * one each and give it back.  Each buffer is freed once, and so is the pool, by the last thread.
 *
 * The variant MODEL_AGAIN: the owner looks for what has come back before it sends the second one,
 * which may be the first one's buffer.
 *
 * For a checker only: real threads do this in unit/test_epshm_spsc_rings and in the MPI tests.
 *
 * Guards: btl_epshm_frag.c
 */

#define MODEL_THREADS 3
#include "model.h"

/* Field by field: a checker does not mix sizes of accesses. */
static void clear_pool(void *memory);
#undef memset
#define memset(to, byte, size) clear_pool(to)

#include "opal/mca/btl/epshm/threads/btl_epshm_frag.c"

static void clear_pool(void *memory)
{
    struct mca_btl_epshm_pool_t *cleared = memory;

    for (int i = 0; i < EPSHM_FRAG_CLASSES; ++i) {
        cleared->free[i] = NULL;
        cleared->allocated[i] = 0;
        for (int k = 0; k < EPSHM_FRAG_ACCOUNTS; ++k) {
            cleared->held[i][k] = 0;
        }
    }
}

#define RECEIVERS 2

mca_btl_epshm_component_t mca_btl_epshm_component = {
    .eager_limit = 8, .max_send_size = 8, .eager_frags_max = RECEIVERS, .max_frags_max = 1};

/** In place of a receive queue's ring. */
static _Atomic(mca_btl_epshm_frag_t *) sent[RECEIVERS];

static struct mca_btl_epshm_pool_t *pool;
static const char recv_queue[RECEIVERS];

static void model_setup(void)
{
    pool = mca_btl_epshm_pool_create();
    assert(NULL != pool);
}

static void send(unsigned int number)
{
    mca_btl_epshm_frag_t *frag = mca_btl_epshm_frag_get(
        pool, (const struct mca_btl_base_endpoint_t *) &recv_queue[number], 8);

    assert(NULL != frag);
    *(uint64_t *) frag->data = 100 + number;
    atomic_store_explicit(&sent[number], frag, memory_order_release);
}

static void model_thread(unsigned int number)
{
    mca_btl_epshm_frag_t *frag;

    if (RECEIVERS == number) {
#if defined(MODEL_AGAIN)
        /* The first one's buffer, or another one. */
        send(0);
        collect_returned(pool);
        send(1);
#else
        for (unsigned int i = 0; i < RECEIVERS; ++i) {
            send(i);
        }
#endif
        mca_btl_epshm_pool_abandon(pool);
        return;
    }
    MODEL_AWAIT(NULL != (frag = atomic_load_explicit(&sent[number], memory_order_acquire)));
    assert(100 + number == *(const uint64_t *) frag->data);
    mca_btl_epshm_frag_return(frag);
}

static void model_verdict(void)
{
}
