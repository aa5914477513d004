/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Inboxes: creation, lookup by published address, release.  All slow path.
 *
 * Tests: unit/test_epshm_lanes, unit/test_epshm_lanes_random, lanes, create_many
 */

#include "opal_config.h"

#include <unistd.h>

#include "btl_epshm_types.h"

#include "opal/mca/threads/mutex.h"

#define EPSHM_ADDRESS_MAGIC 0x6d687365u

#define EPSHM_BUCKETS_MIN 64

/** All inboxes that can be connected to: a hash table by id, chained through the inboxes.  Ids are
 * given out one after the other, so their low bits spread them. */
static struct {
    opal_mutex_t lock;
    struct mca_btl_base_endpoint_t **bucket; /**< size of them, a power of two; NULL: no inbox */
    size_t size;
    size_t count; /**< of inboxes */
    uint64_t next_id;
} registry = {.lock = OPAL_MUTEX_STATIC_INIT, .next_id = 1};

/** Where the chain of an id begins.  Under the lock, in a table that has buckets. */
static struct mca_btl_base_endpoint_t **bucket_of(uint64_t id)
{
    return &registry.bucket[id & (registry.size - 1)];
}

/** A bucket for each inbox, and for one more.  Under the lock.  @return false: there are none, for
 * want of memory; with too few of them chains are long, no more. */
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
            struct mca_btl_base_endpoint_t *inbox = old[i];

            old[i] = inbox->next;
            inbox->next = *bucket_of(inbox->id);
            *bucket_of(inbox->id) = inbox;
        }
    }
    free(old);
    return true;
}

/** @return false: no memory */
static bool inbox_enter(struct mca_btl_base_endpoint_t *inbox)
{
    bool entered;

    opal_mutex_lock(&registry.lock);
    entered = make_buckets();
    if (entered) {
        inbox->id = registry.next_id++;
        inbox->next = *bucket_of(inbox->id);
        *bucket_of(inbox->id) = inbox;
        ++registry.count;
    }
    opal_mutex_unlock(&registry.lock);
    return entered;
}

struct mca_btl_base_endpoint_t *mca_btl_epshm_inbox_create(unsigned int cells)
{
    struct mca_btl_base_endpoint_t *inbox = aligned_alloc(EPSHM_CACHE_LINE,
                                                          sizeof(struct mca_btl_base_endpoint_t));

    if (NULL == inbox) {
        return NULL;
    }
    if (0 != epshm_ring_init(&inbox->ring, cells)) {
        free(inbox);
        return NULL;
    }
    atomic_init(&inbox->lanes, 0);
    for (int i = 0; i < EPSHM_LANES_MAX; ++i) {
        atomic_init(&inbox->lane[i].state, EPSHM_LANE_FREE);
        atomic_init(&inbox->lane[i].ring, NULL);
    }
    epshm_share_init(&inbox->share);
    atomic_init(&inbox->references, 1);
    atomic_init(&inbox->closed, false);
    if (!inbox_enter(inbox)) {
        epshm_ring_fini(&inbox->ring);
        free(inbox);
        return NULL;
    }
    return inbox;
}

struct mca_btl_base_endpoint_t *mca_btl_epshm_inbox_find(const mca_btl_epshm_address_t *address)
{
    struct mca_btl_base_endpoint_t *inbox = NULL;

    if (EPSHM_ADDRESS_MAGIC != address->magic || (uint32_t) getpid() != address->pid) {
        return NULL;
    }
    opal_mutex_lock(&registry.lock);
    for (inbox = NULL != registry.bucket ? *bucket_of(address->id) : NULL; NULL != inbox;
         inbox = inbox->next) {
        if (inbox->id == address->id) {
            /* Relaxed: the registry's own reference keeps it alive while we hold the lock. */
            atomic_fetch_add_explicit(&inbox->references, 1, memory_order_relaxed);
            break;
        }
    }
    opal_mutex_unlock(&registry.lock);
    return inbox;
}

static void inbox_unregister(struct mca_btl_base_endpoint_t *inbox)
{
    struct mca_btl_base_endpoint_t **link;

    opal_mutex_lock(&registry.lock);
    for (link = bucket_of(inbox->id); inbox != *link; link = &(*link)->next) {
    }
    *link = inbox->next;
    if (0 == --registry.count) {
        free(registry.bucket);
        registry.bucket = NULL;
        registry.size = 0;
    }
    opal_mutex_unlock(&registry.lock);
}

_Atomic uint32_t mca_btl_epshm_inboxes_closed = 0;

/** Return fragments that will not be received any more to their pools. */
static void drain_ring(struct mca_btl_base_endpoint_t *inbox)
{
    epshm_ring_t *ring = &inbox->ring;
    epshm_cell_t *cell;

    while (NULL != (cell = epshm_ring_peek(ring))) {
        epshm_envelope_t envelope;
        uint64_t cells = 1;

        memcpy(&envelope, cell->data, sizeof(envelope));
        if (EPSHM_KIND_FRAG == envelope.kind) {
            mca_btl_epshm_frag_t *frag;

            memcpy(&frag, cell->data + sizeof(envelope), sizeof(frag));
            mca_btl_epshm_frag_return(frag);
        } else if (EPSHM_KIND_LANE == envelope.kind) {
            mca_btl_epshm_lane_opened(inbox, envelope.size);
        } else {
            cells = epshm_ring_cells_for(sizeof(envelope) + envelope.size);
        }
        epshm_ring_pop(ring, cells);
    }
}

/** Likewise.  What its sender is taking back just now, and what is behind that, stays for the last
 * holder, or the sender's buffer would be lost. */
static void drain_lane(epshm_lane_ring_t *ring)
{
    const epshm_lane_cell_t *cell;
    epshm_lane_mark_t mark;

    while (NULL != (cell = epshm_lane_peek(ring, &mark))) {
        const bool is_loan = EPSHM_KIND_LOAN == mark.kind;
        const epshm_loan_state_t state = is_loan ? epshm_loan_borrow(ring) : EPSHM_LOAN_OPEN;
        uint64_t count;

        if (EPSHM_LOAN_RECALLED == state) {
            return;
        }
        if (EPSHM_KIND_FRAG == mark.kind || EPSHM_LOAN_REPLACED == state) {
            mca_btl_epshm_frag_t *frag; /* the first of an epshm_loan_cell_t, too */

            memcpy(&frag, cell->data, sizeof(frag));
            mca_btl_epshm_frag_return(frag);
        }
        if (EPSHM_KIND_BESIDE == mark.kind) {
            (void) epshm_lane_find_beside(ring, mark.size, &count);
        } else {
            count = is_loan ? 1 : epshm_lane_cells_for(mark.size);
        }
        epshm_lane_pop(ring, count);
    }
}

/** What is in the inbox will not be received.  The receiver, or the last holder. */
static void inbox_drain(struct mca_btl_base_endpoint_t *inbox)
{
    /* First: it announces the lanes. */
    drain_ring(inbox);

    /* Relaxed: the caller itself, or one before it, has set the bits; likewise the rings. */
    for (uint32_t lanes = atomic_load_explicit(&inbox->lanes, memory_order_relaxed); 0 != lanes;
         lanes &= lanes - 1) {
        drain_lane(atomic_load_explicit(&inbox->lane[__builtin_ctz(lanes)].ring,
                                        memory_order_relaxed));
    }
}

void mca_btl_epshm_inbox_close(struct mca_btl_base_endpoint_t *inbox)
{
    inbox_unregister(inbox);
    /* Release pairs with the acquires in mca_btl_epshm_loans_progress and vacate: what has been
     * read of a sender's memory before it is the sender's again. */
    atomic_store_explicit(&inbox->closed, true, memory_order_release);
    /* Release pairs with the acquire in closed_changed (btl_epshm_progress.c): a thread that sees
     * the new number sees which inbox it is. */
    atomic_fetch_add_explicit(&mca_btl_epshm_inboxes_closed, 1, memory_order_release);
    /* Now, not with the last reference: a sender whose buffers are here may need them, and the
     * inbox may be held for long. */
    inbox_drain(inbox);
    mca_btl_epshm_inbox_release(inbox);
}

void mca_btl_epshm_inbox_release(struct mca_btl_base_endpoint_t *inbox)
{
    /* Release: what each holder did is ordered before its decrement; acquire: the last holder sees
     * it all before it frees.  The fragments that came in after the module was closed are drained
     * here, when no sender can be left. */
    if (1 == atomic_fetch_sub_explicit(&inbox->references, 1, memory_order_acq_rel)) {
        inbox_drain(inbox);
        epshm_ring_fini(&inbox->ring);
        for (int i = 0; i < EPSHM_LANES_MAX; ++i) {
            /* Relaxed: by the reference. */
            epshm_lane_destroy(atomic_load_explicit(&inbox->lane[i].ring, memory_order_relaxed));
        }
        free(inbox);
    }
}

void mca_btl_epshm_inbox_address(const struct mca_btl_base_endpoint_t *inbox,
                                 mca_btl_epshm_address_t *address)
{
    address->magic = EPSHM_ADDRESS_MAGIC;
    address->pid = (uint32_t) getpid();
    address->id = inbox->id;
}
