/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Links: the table, sending, waiting (osc_epwin_am_link.h).
 *
 * Called by osc_epwin_am_origin.c, osc_epwin_am_epoch.c and osc_epwin_am_result.c.
 *
 * Tests: win_net, unit/test_epwin_am, unit/test_epwin_am_random, win_death, win_away,
 * win_threads
 */

#include "ompi_config.h"

#include "osc_epwin_am_link.h"

#include <stdlib.h>
#include <string.h>

#define ENGINE mca_osc_epwin_component.engine

/** Attempts to send while the engine has no memory, each after progress. */
#define LINK_ATTEMPTS 1000

/** Slots of the first table. */
#define TABLE_SIZE 8

static inline epwin_am_origin_t *link_origin(const mca_osc_epwin_module_t *module)
{
    /* Acquire: the origin before its address; partner: origin_make.  The handler reads it in any
     * thread. */
    return __atomic_load_n(&module->origin, __ATOMIC_ACQUIRE);
}

/* ---- the table -------------------------------------------------------------------------------- */

static inline uint32_t table_slot(const epwin_am_table_t *table, int rank)
{
    return ((uint32_t) rank * 2654435761U >> 7) & (table->size - 1);
}

static epwin_am_link_t *table_find(const epwin_am_table_t *table, int rank)
{
    for (uint32_t i = table_slot(table, rank);; i = (i + 1) & (table->size - 1)) {
        /* Acquire: the link before its address; partner: table_add. */
        epwin_am_link_t *link = atomic_load_explicit(&table->slots[i], memory_order_acquire);

        if (NULL == link || link->rank == rank) {
            return link;
        }
    }
}

static void table_add(epwin_am_table_t *table, epwin_am_link_t *link)
{
    uint32_t i = table_slot(table, link->rank);

    while (NULL != atomic_load_explicit(&table->slots[i], memory_order_relaxed)) {
        i = (i + 1) & (table->size - 1);
    }
    /* Release: partner is table_find. */
    atomic_store_explicit(&table->slots[i], link, memory_order_release);
}

/** A table for one link more.  Handlers may be reading the old one, which stays. */
static bool table_grow(epwin_am_origin_t *origin)
{
    epwin_am_table_t *old = atomic_load_explicit(&origin->table, memory_order_relaxed);
    const uint32_t size = NULL == old ? TABLE_SIZE : 2 * old->size;
    epwin_am_table_t *table;

    if (NULL != old && 2 * (origin->count + 1) <= old->size) {
        return true;
    }
    table = calloc(1, sizeof(*table) + size * sizeof(table->slots[0]));
    if (NULL == table) {
        return false;
    }
    table->size = size;
    table->older = old;
    for (uint32_t i = 0; NULL != old && i < old->size; ++i) {
        epwin_am_link_t *link = atomic_load_explicit(&old->slots[i], memory_order_relaxed);

        if (NULL != link) {
            table_add(table, link);
        }
    }
    /* Release: the table before its address; partner: the acquire in link_find. */
    atomic_store_explicit(&origin->table, table, memory_order_release);
    return true;
}

static epwin_am_link_t *link_find(const epwin_am_origin_t *origin, int rank)
{
    /* Acquire: partner is table_grow. */
    const epwin_am_table_t *table = atomic_load_explicit(&origin->table, memory_order_acquire);

    return NULL == table ? NULL : table_find(table, rank);
}

epwin_am_link_t *mca_osc_epwin_am_link_find(const mca_osc_epwin_module_t *module, int rank)
{
    const epwin_am_origin_t *origin = link_origin(module);

    return NULL == origin ? NULL : link_find(origin, rank);
}

epwin_am_link_t *mca_osc_epwin_am_link_next(const mca_osc_epwin_module_t *module, uint32_t *index)
{
    const epwin_am_origin_t *origin = link_origin(module);
    /* Acquire, both: for dumps of queues, in any thread; partners: table_grow, table_add. */
    const epwin_am_table_t *table = NULL == origin ? NULL
                                                   : atomic_load_explicit(&origin->table,
                                                                          memory_order_acquire);

    while (NULL != table && *index < table->size) {
        epwin_am_link_t *link = atomic_load_explicit(&table->slots[(*index)++],
                                                     memory_order_acquire);

        if (NULL != link) {
            return link;
        }
    }
    return NULL;
}

static epwin_am_link_t *link_make(mca_osc_epwin_module_t *module, int rank)
{
    const size_t room = ENGINE->am_max(module->comm, rank) & ~(size_t) 7;
    const size_t bytes = sizeof(epwin_am_link_t) + room;
    epwin_am_link_t *link = aligned_alloc(EPWIN_LINE,
                                          (bytes + EPWIN_LINE - 1) & ~(size_t) (EPWIN_LINE - 1));
    epwin_am_result_t *stub = calloc(1, sizeof(*stub));

    if (NULL == link || NULL == stub) {
        free(link);
        free(stub);
        return NULL;
    }
    memset((void *) link, 0, bytes);
    stub->is_complete = true;
    stub->is_done = true;
    stub->request = MPI_REQUEST_NULL;
    link->rank = rank;
    link->room = room;
    link->oldest = link->last = link->current = stub;
    return link;
}

static __attribute__((noinline)) int link_add(mca_osc_epwin_module_t *module, int target,
                                              epwin_am_link_t **link_p)
{
    epwin_am_origin_t *origin = link_origin(module);
    epwin_am_link_t *link;

    if (NULL == origin) {
        origin = calloc(1, sizeof(*origin));
        if (NULL == origin) {
            return MPI_ERR_NO_MEM;
        }
        origin->module = module;
        /* Release: partner is link_origin. */
        __atomic_store_n(&module->origin, origin, __ATOMIC_RELEASE);
    }
    if (!table_grow(origin) || NULL == (link = link_make(module, target))) {
        return MPI_ERR_NO_MEM;
    }
    ++origin->count;
    table_add(atomic_load_explicit(&origin->table, memory_order_relaxed), link);
    *link_p = link;
    return MPI_SUCCESS;
}

int mca_osc_epwin_am_link(mca_osc_epwin_module_t *module, int target, epwin_am_link_t **link_p)
{
    epwin_am_link_t *link = mca_osc_epwin_am_link_find(module, target);

    if (OPAL_UNLIKELY(NULL == link)) {
        return link_add(module, target, link_p);
    }
    *link_p = link;
    /* Relaxed: an error code and nothing with it. */
    return atomic_load_explicit(&link->failed, memory_order_relaxed);
}

/* ---- sending ---------------------------------------------------------------------------------- */

int mca_osc_epwin_am_link_fail(epwin_am_link_t *link, int error)
{
    int none = MPI_SUCCESS;

    (void) atomic_compare_exchange_strong_explicit(&link->failed, &none, error,
                                                   memory_order_relaxed, memory_order_relaxed);
    link->used = 0;
    return error;
}

void mca_osc_epwin_am_link_close(const mca_osc_epwin_module_t *module, epwin_am_link_t *link)
{
    int none = MPI_SUCCESS;

    /* Relaxed: is_lost takes the lock under which the handler runs.  So a handler that has not seen
     * the error has ended by then. */
    (void) atomic_compare_exchange_strong_explicit(&link->failed, &none, MPI_ERR_PROC_FAILED,
                                                   memory_order_relaxed, memory_order_relaxed);
    (void) ENGINE->is_lost(module->comm, link->rank);
}

int mca_osc_epwin_am_send(mca_osc_epwin_module_t *module, epwin_am_link_t *link)
{
    int rc = MPI_SUCCESS;

    if (0 == link->used) {
        return atomic_load_explicit(&link->failed, memory_order_relaxed);
    }
    for (int i = 0; i < LINK_ATTEMPTS; ++i) {
        uint32_t depth;

        rc = ENGINE->am_send(module->comm, mca_osc_epwin_component.client, link->rank,
                             link->message, link->used);
        if (OPAL_LIKELY(MPI_SUCCESS == rc)) {
            link->used = 0;
            return MPI_SUCCESS;
        }
        if (MPI_ERR_NO_MEM != rc) {
            return mca_osc_epwin_am_link_fail(link, rc);
        }
        depth = mca_osc_epwin_suspend(module);
        (void) ENGINE->progress(module->comm);
        mca_osc_epwin_resume(module, depth);
        if (OPAL_UNLIKELY(0 == link->used)) { /* another thread has sent it */
            return atomic_load_explicit(&link->failed, memory_order_relaxed);
        }
    }
    return rc;
}

int mca_osc_epwin_am_append_head(mca_osc_epwin_module_t *module, epwin_am_link_t *link,
                                 const epwin_am_record_t *head)
{
    epwin_am_record_t *record;

    if (link->used + sizeof(*record) > link->room) {
        const int rc = mca_osc_epwin_am_send(module, link);

        if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
            return rc;
        }
    }
    record = (epwin_am_record_t *) (link->message + link->used);
    *record = *head;
    record->eights = sizeof(*record) / 8;
    mca_osc_epwin_am_append(link, record);
    return MPI_SUCCESS;
}

int mca_osc_epwin_am_append_flush(mca_osc_epwin_module_t *module, epwin_am_link_t *link)
{
    const epwin_am_record_t flush = {.kind = EPWIN_AM_FLUSH};
    uint64_t asks;
    int rc = MPI_SUCCESS;

    /* Other threads ask as well while this one waits for room, or sends.  Acquire: the handler's
     * use of asked; partner: ack_take. */
    while (asks = atomic_load_explicit(&link->asks, memory_order_relaxed),
           link->position != link->requested
               && asks - atomic_load_explicit(&link->acks, memory_order_acquire) >= EPWIN_AM_ASKS) {
        rc = mca_osc_epwin_am_wait_acked(module, link, link->asked[asks % EPWIN_AM_ASKS]);
        if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
            return rc;
        }
    }
    if (link->position == link->requested) {
        return MPI_SUCCESS;
    }
    if (0 == link->used) { /* the head needs no other message, and no wait */
        rc = mca_osc_epwin_am_append_head(module, link, &flush);
    }
    if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
        return rc;
    }
    ((epwin_am_record_t *) (link->message + link->last_at))->flags |= EPWIN_AM_FLAG_ACK;
    link->requested = link->asked[asks % EPWIN_AM_ASKS] = link->position;
    /* Relaxed: the handler reads both after an answer, which comes after am_send's lock. */
    atomic_store_explicit(&link->asks, asks + 1, memory_order_relaxed);
    return MPI_SUCCESS;
}

/** In an epoch of MPI_Win_lock_all the first operation to a member of another domain takes the lock
 * of that domain. */
static inline bool link_needs_domain(const mca_osc_epwin_module_t *module,
                                     const epwin_am_link_t *link)
{
    return EPWIN_ACCESS_LOCK_ALL == module->access && !module->is_all_nocheck
           && !link->has_domain_lock && !mca_osc_epwin_is_near(module, link->rank);
}

/** Has another member of a link's domain been asked for the domain's lock? */
static bool link_has_domain(const mca_osc_epwin_module_t *module, const epwin_am_link_t *link)
{
    const uint32_t domain = module->peers[link->rank].domain;
    const epwin_am_link_t *other;
    uint32_t index = 0;

    do {
        other = mca_osc_epwin_am_link_next(module, &index);
    } while (NULL != other
             && (!other->has_domain_lock || domain != module->peers[other->rank].domain));
    return NULL != other;
}

int mca_osc_epwin_am_room(mca_osc_epwin_module_t *module, epwin_am_link_t *link, size_t least,
                          size_t most, size_t *room_p, epwin_am_record_t **record_p)
{
    /* A short rest of a message is not worth a part of an operation. */
    const size_t wanted = most < link->room / 4 ? most : link->room / 4;
    const size_t needed = (link_needs_domain(module, link) ? sizeof(epwin_am_record_t) : 0)
                          + (least > wanted ? least : wanted);

    /* Sent now: the record, and the domain's lock before it, are appended without a wait. */
    if (link->used + needed > link->room) {
        const int rc = mca_osc_epwin_am_send(module, link);

        if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
            return rc;
        }
    }
    if (OPAL_UNLIKELY(link_needs_domain(module, link))) {
        const epwin_am_record_t lock = {.kind = EPWIN_AM_DOMAIN_LOCK,
                                        .with_domain = link_has_domain(module, link)};

        (void) mca_osc_epwin_am_append_head(module, link, &lock);
        link->has_domain_lock = true;
    }
    *room_p = link->room - link->used;
    *record_p = (epwin_am_record_t *) (link->message + link->used);
    **record_p = (epwin_am_record_t){0};
    return MPI_SUCCESS;
}

/* ---- waiting ---------------------------------------------------------------------------------- */

typedef struct link_wait_t {
    const epwin_am_link_t *link;
    const _Atomic uint64_t *value;
    uint64_t least;
} link_wait_t;

static bool link_has(void *context)
{
    const link_wait_t *wait = context;

    /* Acquire: orders the results that the handler has written before their use; partners: the
     * releases in osc_epwin_am_result.c. */
    return atomic_load_explicit(wait->value, memory_order_acquire) >= wait->least
           || MPI_SUCCESS != atomic_load_explicit(&wait->link->failed, memory_order_relaxed);
}

static int link_wait(mca_osc_epwin_module_t *module, epwin_am_link_t *link,
                     const _Atomic uint64_t *value, uint64_t least)
{
    link_wait_t wait = {.link = link, .value = value, .least = least};
    int rc = mca_osc_epwin_am_send(module, link);
    uint32_t depth;

    if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
        return rc;
    }
    depth = mca_osc_epwin_suspend(module);
    /* At once by the engine: an answer arrives by progress only. */
    rc = mca_osc_epwin_wait_long(module, "answers", link->rank, link_has, &wait);
    mca_osc_epwin_resume(module, depth);
    if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
        mca_osc_epwin_am_link_close(module, link);
        link->used = 0;
        return rc;
    }
    return atomic_load_explicit(value, memory_order_relaxed) >= least
               ? MPI_SUCCESS
               : atomic_load_explicit(&link->failed, memory_order_relaxed);
}

int mca_osc_epwin_am_wait_acked(mca_osc_epwin_module_t *module, epwin_am_link_t *link,
                                uint64_t position)
{
    if (atomic_load_explicit(&link->acked, memory_order_acquire) >= position) {
        return atomic_load_explicit(&link->failed, memory_order_relaxed);
    }
    return link_wait(module, link, &link->acked, position);
}

int mca_osc_epwin_am_wait_results(mca_osc_epwin_module_t *module, epwin_am_link_t *link,
                                  uint64_t bytes)
{
    if (atomic_load_explicit(&link->results_had, memory_order_acquire) >= bytes) {
        return atomic_load_explicit(&link->failed, memory_order_relaxed);
    }
    return link_wait(module, link, &link->results_had, bytes);
}

int mca_osc_epwin_am_bound(mca_osc_epwin_module_t *module, epwin_am_link_t *link)
{
    const uint64_t limit = mca_osc_epwin_component.pending_limit;
    uint64_t least;
    int rc;

    if (OPAL_UNLIKELY(link->position - link->requested > limit / 2)) {
        rc = mca_osc_epwin_am_append_flush(module, link);
        if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
            return rc;
        }
    }
    if (OPAL_UNLIKELY(link->position - atomic_load_explicit(&link->acked, memory_order_relaxed)
                      > limit)) {
        /* What other threads have appended meanwhile they ask for themselves. */
        least = link->position - limit;
        rc = mca_osc_epwin_am_wait_acked(module, link,
                                         least < link->requested ? least : link->requested);
        if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
            return rc;
        }
    }
    if (OPAL_UNLIKELY(link->results - atomic_load_explicit(&link->results_had, memory_order_relaxed)
                      > limit)) {
        return mca_osc_epwin_am_wait_results(module, link, link->results - limit);
    }
    return MPI_SUCCESS;
}
