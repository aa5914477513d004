/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Receive queues: creation, lookup by published address, release.  All slow path.
 *
 * Tests: unit/test_epshm_spsc_rings, unit/test_epshm_spsc_rings_random, spsc_rings, create_many
 */

#include "opal_config.h"

#include <unistd.h>

#include "btl_epshm_types.h"

#include "opal/mca/threads/mutex.h"

#define EPSHM_ADDRESS_MAGIC 0x6d687365u

#define EPSHM_BUCKETS_MIN 64

/** All receive queues that can be connected to: a hash table by id, chained through the receive
 * queues.  Ids are given out one after the other, so their low bits spread them. */
static struct {
    opal_mutex_t lock;
    struct mca_btl_base_endpoint_t *
        *bucket; /**< size of them, a power of two; NULL: no receive queue */
    size_t size;
    size_t count; /**< of receive queues */
    uint64_t next_id;
} registry = {.lock = OPAL_MUTEX_STATIC_INIT, .next_id = 1};

/** Where the chain of an id begins.  Under the lock, in a table that has buckets. */
static struct mca_btl_base_endpoint_t **bucket_of(uint64_t id)
{
    return &registry.bucket[id & (registry.size - 1)];
}

/** A bucket for each receive queue, and for one more.  Under the lock.  @return false: there are
 * none, for want of memory; with too few of them chains are long, no more. */
static bool make_buckets(void)
{
    struct mca_btl_base_endpoint_t **old = registry.bucket, **grown;
    const size_t old_size = registry.size;
    const size_t size = NULL == old ? EPSHM_BUCKETS_MIN : 2 * old_size;

    if (registry.count < old_size) {
        return true;
    }
    grown = calloc(size, sizeof(struct mca_btl_base_endpoint_t *));
    if (NULL == grown) {
        return NULL != old;
    }
    registry.bucket = grown;
    registry.size = size;
    for (size_t i = 0; i < old_size; ++i) {
        while (NULL != old[i]) {
            struct mca_btl_base_endpoint_t *recv_queue = old[i];

            old[i] = recv_queue->next;
            recv_queue->next = *bucket_of(recv_queue->id);
            *bucket_of(recv_queue->id) = recv_queue;
        }
    }
    free(old);
    return true;
}

/** @return false: no memory */
static bool recv_queue_enter(struct mca_btl_base_endpoint_t *recv_queue)
{
    bool entered;

    opal_mutex_lock(&registry.lock);
    entered = make_buckets();
    if (entered) {
        recv_queue->id = registry.next_id++;
        recv_queue->next = *bucket_of(recv_queue->id);
        *bucket_of(recv_queue->id) = recv_queue;
        ++registry.count;
    }
    opal_mutex_unlock(&registry.lock);
    return entered;
}

struct mca_btl_base_endpoint_t *mca_btl_epshm_recv_queue_create(unsigned int cells)
{
    struct mca_btl_base_endpoint_t *recv_queue
        = aligned_alloc(EPSHM_CACHE_LINE, sizeof(struct mca_btl_base_endpoint_t));

    if (NULL == recv_queue) {
        return NULL;
    }
    if (0 != epshm_ring_init(&recv_queue->ring, cells)) {
        free(recv_queue);
        return NULL;
    }
    atomic_init(&recv_queue->spsc_rings, 0);
    for (int i = 0; i < EPSHM_SPSC_RINGS_MAX; ++i) {
        atomic_init(&recv_queue->spsc[i].state, EPSHM_SPSC_FREE);
        atomic_init(&recv_queue->spsc[i].ring, NULL);
    }
    epshm_coop_copy_init(&recv_queue->share);
    atomic_init(&recv_queue->references, 1);
    atomic_init(&recv_queue->closed, false);
    if (!recv_queue_enter(recv_queue)) {
        epshm_ring_fini(&recv_queue->ring);
        free(recv_queue);
        return NULL;
    }
    return recv_queue;
}

struct mca_btl_base_endpoint_t *mca_btl_epshm_recv_queue_find(
    const mca_btl_epshm_address_t *address)
{
    struct mca_btl_base_endpoint_t *recv_queue = NULL;

    if (EPSHM_ADDRESS_MAGIC != address->magic || (uint32_t) getpid() != address->pid) {
        return NULL;
    }
    opal_mutex_lock(&registry.lock);
    for (recv_queue = NULL != registry.bucket ? *bucket_of(address->id) : NULL; NULL != recv_queue;
         recv_queue = recv_queue->next) {
        if (recv_queue->id == address->id) {
            /* Relaxed: the registry's own reference keeps it alive while we hold the lock. */
            atomic_fetch_add_explicit(&recv_queue->references, 1, memory_order_relaxed);
            break;
        }
    }
    opal_mutex_unlock(&registry.lock);
    return recv_queue;
}

static void recv_queue_unregister(struct mca_btl_base_endpoint_t *recv_queue)
{
    struct mca_btl_base_endpoint_t **link;

    opal_mutex_lock(&registry.lock);
    for (link = bucket_of(recv_queue->id); recv_queue != *link; link = &(*link)->next) {
    }
    *link = recv_queue->next;
    if (0 == --registry.count) {
        free(registry.bucket);
        registry.bucket = NULL;
        registry.size = 0;
    }
    opal_mutex_unlock(&registry.lock);
}

_Atomic uint32_t mca_btl_epshm_recv_queues_closed = 0;

/** Return fragments that will not be received any more to their pools. */
static void drain_ring(struct mca_btl_base_endpoint_t *recv_queue)
{
    epshm_ring_t *ring = &recv_queue->ring;
    epshm_cell_t *cell;

    while (NULL != (cell = epshm_ring_peek(ring))) {
        epshm_envelope_t envelope;
        uint64_t cells = 1;

        memcpy(&envelope, cell->data, sizeof(envelope));
        if (EPSHM_KIND_FRAG == envelope.kind) {
            mca_btl_epshm_frag_t *frag;

            memcpy(&frag, cell->data + sizeof(envelope), sizeof(frag));
            mca_btl_epshm_frag_return(frag);
        } else if (EPSHM_KIND_SPSC == envelope.kind) {
            mca_btl_epshm_spsc_opened(recv_queue, envelope.size);
        } else {
            cells = epshm_ring_cells_for(sizeof(envelope) + envelope.size);
        }
        epshm_ring_pop(ring, cells);
    }
}

/** Likewise.  What its sender is taking back just now, and what is behind that, stays for the last
 * holder, or the sender's buffer would be lost. */
static void drain_spsc(epshm_spsc_ring_t *ring)
{
    const epshm_spsc_cell_t *cell;
    epshm_spsc_mark_t mark;

    while (NULL != (cell = epshm_spsc_peek(ring, &mark))) {
        const bool is_zcopy = EPSHM_KIND_ZCOPY == mark.kind;
        const epshm_zcopy_state_t state = is_zcopy ? epshm_zcopy_borrow(ring) : EPSHM_ZCOPY_OPEN;
        uint64_t count;

        if (EPSHM_ZCOPY_RECALLED == state) {
            return;
        }
        if (EPSHM_KIND_FRAG == mark.kind || EPSHM_ZCOPY_REPLACED == state) {
            mca_btl_epshm_frag_t *frag; /* the first of an epshm_zcopy_cell_t, too */

            memcpy(&frag, cell->data, sizeof(frag));
            mca_btl_epshm_frag_return(frag);
        }
        if (EPSHM_KIND_BESIDE == mark.kind) {
            (void) epshm_spsc_find_out_of_line(ring, mark.size, &count);
        } else {
            count = is_zcopy ? 1 : epshm_spsc_cells_for(mark.size);
        }
        epshm_spsc_pop(ring, count);
    }
}

/** What is in the receive queue will not be received.  The receiver, or the last holder. */
static void recv_queue_drain(struct mca_btl_base_endpoint_t *recv_queue)
{
    /* First: it announces the SPSC rings. */
    drain_ring(recv_queue);

    /* Relaxed: the caller itself, or one before it, has set the bits; likewise the rings. */
    for (uint32_t spsc_rings = atomic_load_explicit(&recv_queue->spsc_rings, memory_order_relaxed);
         0 != spsc_rings; spsc_rings &= spsc_rings - 1) {
        drain_spsc(atomic_load_explicit(&recv_queue->spsc[__builtin_ctz(spsc_rings)].ring,
                                        memory_order_relaxed));
    }
}

void mca_btl_epshm_recv_queue_close(struct mca_btl_base_endpoint_t *recv_queue)
{
    recv_queue_unregister(recv_queue);
    /* Release pairs with the acquires in mca_btl_epshm_zcopy_progress and vacate: what has been
     * read of a sender's memory before it is the sender's again. */
    atomic_store_explicit(&recv_queue->closed, true, memory_order_release);
    /* Release pairs with the acquire in closed_changed (btl_epshm_progress.c): a thread that sees
     * the new number sees which receive queue it is. */
    atomic_fetch_add_explicit(&mca_btl_epshm_recv_queues_closed, 1, memory_order_release);
    /* Now, not with the last reference: a sender whose buffers are here may need them, and the
     * receive queue may be held for long. */
    recv_queue_drain(recv_queue);
    mca_btl_epshm_recv_queue_release(recv_queue);
}

void mca_btl_epshm_recv_queue_release(struct mca_btl_base_endpoint_t *recv_queue)
{
    /* Release: what each holder did is ordered before its decrement; acquire: the last holder sees
     * it all before it frees.  The fragments that came in after the module was closed are drained
     * here, when no sender can be left. */
    if (1 == atomic_fetch_sub_explicit(&recv_queue->references, 1, memory_order_acq_rel)) {
        recv_queue_drain(recv_queue);
        epshm_ring_fini(&recv_queue->ring);
        for (int i = 0; i < EPSHM_SPSC_RINGS_MAX; ++i) {
            /* Relaxed: by the reference. */
            epshm_spsc_destroy(atomic_load_explicit(&recv_queue->spsc[i].ring,
                                                    memory_order_relaxed));
        }
        free(recv_queue);
    }
}

void mca_btl_epshm_recv_queue_address(const struct mca_btl_base_endpoint_t *recv_queue,
                                      mca_btl_epshm_address_t *address)
{
    address->magic = EPSHM_ADDRESS_MAGIC;
    address->pid = (uint32_t) getpid();
    address->id = recv_queue->id;
}
