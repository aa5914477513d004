/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The matching table of one endpoint: which receive takes which message.
 *
 * Messages and receives are kept in queues, one queue for each key (context, source, tag) in use;
 * a key may have a wildcard for source, tag or both.  A hash table finds the queue, so the cost of
 * matching does not depend on how many other receives are posted or other messages wait.
 *
 *  - A posted receive is in the one queue of its own key, wildcards included, and carries a
 *    sequence number.  A message looks into the at most four queues whose keys it fits (only kinds
 *    of which receives are posted at all) and takes the receive posted first.
 *  - An unexpected message is in the queue of its exact key, and, from the first wildcard receive
 *    of a kind on that meets waiting messages, in the queue of its key of that kind, by an entry of
 *    its own.  A receive looks into one queue only, and if that is empty, at the messages that have
 *    not been queued by its kind yet, up to the first one that it takes.
 *
 * A wildcard tag fits tags >= 0 only: negative ones belong to Open MPI's collectives.  The source
 * and tag of a message must not be EPML_MATCH_ANY.
 *
 * There may be a million messages, so each carries as little as can be: its key is that of its
 * exact queue, and links for wildcards are allocated only where wildcards are used.
 *
 * A context may promise that no receive of some kinds will be posted in it (epml_match_promise).
 * Its messages then leave those kinds out, whatever other contexts post.  A receive that breaks the
 * promise takes it back, and is served like any other.  Negative tags are left out of this: the
 * promise is the user's, and some of Open MPI's collectives receive from any source.
 *
 * Not thread safe: the owner of the endpoint's lock calls.  Standalone: no Open MPI, no allocation
 * but of queues and wildcard entries.
 *
 * Tests: unit/test_epml_match, unit/test_epml_match_random, unit/test_epml_promise, p2p_match
 */

#ifndef MCA_PML_EPML_MATCH_H
#define MCA_PML_EPML_MATCH_H

#include "pml_epml_match_table.h"
#include "pml_epml_match_unexpected.h"

/* ---- posted receives ------------------------------------------------------------------------ */

/** Take a receive out of the table. */
static inline void epml_match_unpost(epml_match_table_t *table, epml_match_posted_t *posted)
{
    epml_match_queue_t *queue = posted->queue;

    if (NULL == posted->prev) {
        queue->posted_first = posted->next;
    } else {
        posted->prev->next = posted->next;
    }
    if (NULL == posted->next) {
        queue->posted_last = posted->prev;
    } else {
        posted->next->prev = posted->prev;
    }
    posted->queue = NULL;
    --table->posted_count[queue->kind];
}

/** Take the first receive of a queue out of the table. */
static inline epml_match_posted_t *epml_match_take_first(epml_match_table_t *table,
                                                         epml_match_queue_t *queue)
{
    epml_match_posted_t *posted = queue->posted_first;
    epml_match_posted_t *next;

    if (NULL == posted) {
        return NULL;
    }
    next = posted->next;
    queue->posted_first = next;
    if (NULL == next) {
        queue->posted_last = NULL;
    } else {
        next->prev = NULL;
    }
    posted->queue = NULL;
    --table->posted_count[queue->kind];
    return posted;
}

/** Append a receive to its queue. */
static inline void epml_match_post(epml_match_table_t *table, epml_match_queue_t *queue,
                                   epml_match_posted_t *posted)
{
    posted->queue = queue;
    posted->sequence = table->next_sequence++;
    posted->next = NULL;
    posted->prev = queue->posted_last;
    if (NULL == queue->posted_last) {
        queue->posted_first = posted;
    } else {
        queue->posted_last->next = posted;
    }
    queue->posted_last = posted;
    ++table->posted_count[queue->kind];
}

/** The general case of epml_match_arrive: wildcard receives are posted. */
static EPML_MATCH_SLOW epml_match_posted_t *epml_match_arrive_wild(epml_match_table_t *table,
                                                                   uint64_t context, int32_t source,
                                                                   int32_t tag)
{
    epml_match_posted_t *best = NULL;
    unsigned int never = 0;

    if (0 != (table->posted_count[EPML_MATCH_EXACT] | table->promises)) {
        const epml_match_queue_t *exact = epml_match_find(table, context, source, tag);

        if (NULL != exact) {
            best = exact->posted_first;
            never = exact->never;
        }
    }
    for (int kind = EPML_MATCH_EXACT + 1; kind < EPML_MATCH_KINDS; ++kind) {
        epml_match_queue_t *queue;

        if (0 == table->posted_count[kind] || 0 != (never & (1u << kind))
            || (0 > tag && 0 != (kind & EPML_MATCH_ANY_TAG))) {
            continue;
        }
        queue = epml_match_find(table, context,
                                0 != (kind & EPML_MATCH_ANY_SOURCE) ? EPML_MATCH_ANY : source,
                                0 != (kind & EPML_MATCH_ANY_TAG) ? EPML_MATCH_ANY : tag);
        if (NULL != queue && NULL != queue->posted_first
            && (NULL == best || queue->posted_first->sequence < best->sequence)) {
            best = queue->posted_first;
        }
    }
    if (NULL != best) {
        epml_match_unpost(table, best);
    }
    return best;
}

/**
 * A message has come: which receive takes it?
 *
 * @return the receive, taken out of the table, or NULL (then store the message with
 *         epml_match_store)
 */
static inline epml_match_posted_t *epml_match_arrive(epml_match_table_t *table, uint64_t context,
                                                     int32_t source, int32_t tag)
{
    if (0
        == (table->posted_count[EPML_MATCH_ANY_TAG] | table->posted_count[EPML_MATCH_ANY_SOURCE]
            | table->posted_count[EPML_MATCH_ANY_BOTH])) {
        epml_match_queue_t *queue = epml_match_find(table, context, source, tag);

        return NULL != queue ? epml_match_take_first(table, queue) : NULL;
    }
    return epml_match_arrive_wild(table, context, source, tag);
}

/**
 * All posted receives, one after the other, in no order; for clearing up.  The one that was
 * returned last may be taken out once its successor has been asked for; nothing may come in
 * meanwhile, which might move what the walk is at.  Slow.
 *
 * @param[in] posted  the last one, still in the table; NULL: start
 * @return NULL at the end
 */
static inline epml_match_posted_t *epml_match_posted_after(const epml_match_table_t *table,
                                                           const epml_match_posted_t *posted)
{
    const epml_match_queue_t *queue = NULL;
    uint64_t bucket = 0;

    if (NULL != posted) {
        if (NULL != posted->next) {
            return posted->next;
        }
        queue = posted->queue;
        bucket = epml_match_place(table, queue->context, queue->source, queue->tag);
        queue = queue->chain;
    } else {
        queue = *epml_match_bucket(table, 0);
    }
    for (;;) {
        while (NULL != queue) {
            if (NULL != queue->posted_first) {
                return queue->posted_first;
            }
            queue = queue->chain;
        }
        if (++bucket == table->buckets) {
            return NULL;
        }
        queue = *epml_match_bucket(table, bucket);
    }
}

/* ---- promises ------------------------------------------------------------------------------- */

/** @return bit k: receives of kind k are posted in the context */
static inline unsigned int epml_match_posted_kinds(const epml_match_table_t *table,
                                                   uint64_t context)
{
    unsigned int kinds = 0;

    for (uint64_t i = 0; i < table->buckets; ++i) {
        for (const epml_match_queue_t *queue = *epml_match_bucket(table, i); NULL != queue;
             queue = queue->chain) {
            if (context == queue->context && EPML_MATCH_ANY <= queue->tag
                && NULL != queue->posted_first) {
                kinds |= 1u << queue->kind;
            }
        }
    }
    return kinds;
}

/** Note in all queues of a context what it has promised. */
static inline void epml_match_spread_promise(epml_match_table_t *table, uint64_t context,
                                             unsigned int never)
{
    for (uint64_t i = 0; i < table->buckets; ++i) {
        for (epml_match_queue_t *queue = *epml_match_bucket(table, i); NULL != queue;
             queue = queue->chain) {
            if (context == queue->context
                && (EPML_MATCH_ANY <= queue->tag || EPML_MATCH_PROMISE_SOURCE == queue->source)) {
                queue->never = (uint16_t) never;
            }
        }
    }
}

/**
 * A context promises that no receive of some kinds is posted in it, instead of what it promised
 * before.  For changes of mind: it looks at all queues.
 *
 * Messages that wait stay in the queues that they are in.  Those that were left out of a kind that
 * is not promised any longer are entered when receives ask for them, and in order, since what came
 * before them is in.
 *
 * @param[in] never  bit k: of kind k, unless one is posted already; 0: nothing
 * @return 0, or -1 without memory: then what was promised before is in force
 */
static inline int epml_match_promise(epml_match_table_t *table, uint64_t context,
                                     unsigned int never)
{
    const unsigned int before = epml_match_promised(table, context);
    epml_match_queue_t *promise;

    if (0 != never) {
        never &= ~(1u << EPML_MATCH_EXACT | epml_match_posted_kinds(table, context));
    }
    if (never == before) {
        return 0;
    }
    promise = epml_match_open(table, context, EPML_MATCH_PROMISE_SOURCE, EPML_MATCH_PROMISE_TAG);
    if (NULL == promise) {
        return -1;
    }
    epml_match_spread_promise(table, context, never);
    for (int kind = EPML_MATCH_EXACT + 1; kind < EPML_MATCH_KINDS; ++kind) {
        if (0 != (table->indexed & before & ~never & (1u << kind))) {
            epml_match_index_kind(table, kind);
        }
    }
    if (0 == before) {
        promise->kind = EPML_MATCH_PROMISE;
        ++table->promises;
    } else if (0 == never) {
        promise->kind = EPML_MATCH_EXACT; /* an empty queue, to be swept out like others */
        --table->promises;
    }
    return 0;
}

/* ---- a receive looks for a message ----------------------------------------------------------- */

/** epml_match_first, if the queue is not the last one found. */
static EPML_MATCH_SLOW epml_match_unexpected_t *epml_match_first_slow(epml_match_table_t *table,
                                                                      uint64_t context,
                                                                      int32_t source, int32_t tag,
                                                                      epml_match_queue_t **queue_p)
{
    const int kind = epml_match_kind(source, tag);

    *queue_p = NULL;
    /* A wildcard all the same: the promise is broken, and taken back. */
    if (EPML_MATCH_EXACT != kind && 0 != table->promises && EPML_MATCH_ANY <= tag
        && 0 != (epml_match_promised(table, context) & (1u << kind))
        && 0 != epml_match_promise(table, context, 0)) {
        return NULL;
    }
    /* Where none waits those to come are not queued either: a receive that is posted in time needs
     * no entries. */
    if (0 == (table->indexed & (1u << kind)) && 0 != table->unexpected_count) {
        epml_match_index_kind(table, kind);
    }
    if (NULL != table->hands[kind].message
        && 0 != epml_match_index(table, context, source, tag, kind)) {
        return NULL;
    }
    *queue_p = epml_match_open(table, context, source, tag);
    return NULL == *queue_p ? NULL : epml_match_queue_first(*queue_p);
}

/**
 * The first message that a receive with this key would take; it stays in the table.
 *
 * @param[out] queue_p  the queue of the key, for epml_match_post, valid until the next call on the
 *                      table; NULL without memory
 */
static inline epml_match_unexpected_t *epml_match_first(epml_match_table_t *table, uint64_t context,
                                                        int32_t source, int32_t tag,
                                                        epml_match_queue_t **queue_p)
{
    epml_match_queue_t *queue = table->recent;

    if (NULL != queue && EPML_MATCH_EXACT == queue->kind
        && epml_match_is(queue, context, source, tag)) {
        *queue_p = queue;
        return queue->unexpected.exact.first;
    }
    return epml_match_first_slow(table, context, source, tag, queue_p);
}

/* ---- a context ends -------------------------------------------------------------------------- */

/** A message of a context, the first of its exact queue, or NULL; for clearing up: to take all out
 * one after the other costs as much as there are, whatever else waits. */
static inline epml_match_unexpected_t *epml_match_some_of_context(epml_match_table_t *table,
                                                                  uint64_t context)
{
    epml_match_queue_t *anchor = epml_match_find(table, context, EPML_MATCH_ANCHOR_SOURCE,
                                                 EPML_MATCH_ANCHOR_TAG);

    while (NULL != anchor && anchor != anchor->ring_next) {
        epml_match_queue_t *queue = anchor->ring_next;

        if (NULL != queue->unexpected.exact.first) {
            return queue->unexpected.exact.first;
        }
        epml_match_leave_ring(queue);
    }
    return NULL;
}

/** A context ends, without messages and receives, and never comes again: so does its promise. */
static inline void epml_match_end_promise(epml_match_table_t *table, uint64_t context)
{
    epml_match_queue_t *promise = 0 == table->promises
                                      ? NULL
                                      : epml_match_find(table, context, EPML_MATCH_PROMISE_SOURCE,
                                                        EPML_MATCH_PROMISE_TAG);

    if (NULL != promise && EPML_MATCH_PROMISE == promise->kind) {
        promise->never = 0;
        promise->kind = EPML_MATCH_EXACT; /* an empty queue, to be swept out like others */
        --table->promises;
    }
}

#endif /* MCA_PML_EPML_MATCH_H */
