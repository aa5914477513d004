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
 * The matching table's types, and its hash of queues, one for each key (context, source, tag) in
 * use.  Matching itself is in pml_epml_match.h, which is what others include.
 */

#ifndef MCA_PML_EPML_MATCH_TABLE_H
#define MCA_PML_EPML_MATCH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/** Wildcard for source and tag; the value of MPI_ANY_SOURCE and MPI_ANY_TAG in Open MPI. */
#define EPML_MATCH_ANY (-1)

/** Which of a key's parts are wildcards; bits. */
enum {
    EPML_MATCH_EXACT = 0,
    EPML_MATCH_ANY_TAG = 1,
    EPML_MATCH_ANY_SOURCE = 2,
    EPML_MATCH_ANY_BOTH = 3,
    EPML_MATCH_KINDS = 4
};

/** The kind of the entry in which the table notes what a context has promised.  Its source is no
 * message's: sources are ranks, or EPML_MATCH_ANY. */
#define EPML_MATCH_PROMISE EPML_MATCH_KINDS
#define EPML_MATCH_PROMISE_SOURCE INT32_MIN
#define EPML_MATCH_PROMISE_TAG INT32_MIN

/** The kind of the entry from which the exact queues of a context are found that have messages, or
 * have had; so its end need not look at those of others. */
#define EPML_MATCH_ANCHOR (EPML_MATCH_KINDS + 1)
#define EPML_MATCH_ANCHOR_SOURCE INT32_MIN
#define EPML_MATCH_ANCHOR_TAG (INT32_MIN + 1)

struct epml_match_queue_t;

/** A posted receive's place in the table; embedded in the receive request. */
typedef struct epml_match_posted_t {
    struct epml_match_posted_t *next, *prev; /**< in the queue of its key */
    struct epml_match_queue_t *queue;        /**< NULL: not posted */
    uint64_t sequence;                       /**< order of posting */
} epml_match_posted_t;

/** An unexpected message's place in the table; embedded in the stored message. */
typedef struct epml_match_unexpected_t {
    struct epml_match_unexpected_t *next;          /**< in the queue of its exact key */
    struct epml_match_unexpected_t *older, *newer; /**< in order of arrival */
    uintptr_t place; /**< its exact queue; or its first wildcard entry, plus EPML_MATCH_IS_ENTRY */
} epml_match_unexpected_t;

#define EPML_MATCH_IS_ENTRY ((uintptr_t) 1)

/** An unexpected message in the queue of a wildcard key. */
typedef struct epml_match_entry_t {
    struct epml_match_entry_t *next, *prev; /**< in that queue */
    struct epml_match_queue_t *queue;
    epml_match_unexpected_t *message;
    uintptr_t rest; /**< what the message's place was without this entry */
} epml_match_entry_t;

/** All receives and all messages of one key. */
typedef struct epml_match_queue_t {
    struct epml_match_queue_t *chain; /**< next in the hash bucket, or in the free list */
    uint64_t context;
    int32_t source;
    int32_t tag;
    int16_t kind;   /**< epml_match_kind of the two, EPML_MATCH_PROMISE or EPML_MATCH_ANCHOR */
    uint16_t never; /**< bit k: the context has promised that no receive of kind k is posted */
    epml_match_posted_t *posted_first, *posted_last;
    union {
        struct {
            epml_match_unexpected_t *first, *last;
        } exact; /**< of kind EPML_MATCH_EXACT */
        struct {
            epml_match_entry_t *first, *last;
        } wild; /**< of the others */
    } unexpected;
    /** A ring through the context's anchor and the exact queues with messages; NULL: not in it. */
    struct epml_match_queue_t *ring_next, *ring_prev;
} epml_match_queue_t;

typedef struct epml_match_table_t {
    epml_match_queue_t *recent; /**< found last; programs repeat themselves */
    epml_match_queue_t **buckets;
    uint64_t bucket_mask;
    uint64_t queues;                         /**< in the buckets */
    uint64_t next_sequence;
    uint64_t posted_count[EPML_MATCH_KINDS]; /**< receives posted, by kind */
    uint64_t unexpected_count;
    uint64_t promises;                       /**< contexts that have promised something */
    unsigned int indexed;                    /**< bit k: unexpected messages are queued by kind k */
    epml_match_unexpected_t *arrival_first, *arrival_last;
    epml_match_queue_t *free_queues;
} epml_match_table_t;

#define EPML_MATCH_BUCKETS_MIN 64

static inline int epml_match_kind(int32_t source, int32_t tag)
{
    return (EPML_MATCH_ANY == tag ? EPML_MATCH_ANY_TAG : 0)
           | (EPML_MATCH_ANY == source ? EPML_MATCH_ANY_SOURCE : 0);
}

/** @return 0, or -1 if there is no memory */
static inline int epml_match_init(epml_match_table_t *table)
{
    memset(table, 0, sizeof(*table));
    table->buckets = calloc(EPML_MATCH_BUCKETS_MIN, sizeof(*table->buckets));
    if (NULL == table->buckets) {
        return -1;
    }
    table->bucket_mask = EPML_MATCH_BUCKETS_MIN - 1;
    table->indexed = 1u << EPML_MATCH_EXACT;
    return 0;
}

static inline void epml_match_free_entries(epml_match_queue_t *queue)
{
    while (EPML_MATCH_EXACT != queue->kind && NULL != queue->unexpected.wild.first) {
        epml_match_entry_t *entry = queue->unexpected.wild.first;

        queue->unexpected.wild.first = entry->next;
        free(entry);
    }
}

/** Frees the queues; whatever is still in them is the caller's, and no longer in a table. */
static inline void epml_match_fini(epml_match_table_t *table)
{
    for (uint64_t i = 0; NULL != table->buckets && i <= table->bucket_mask; ++i) {
        while (NULL != table->buckets[i]) {
            epml_match_queue_t *queue = table->buckets[i];

            table->buckets[i] = queue->chain;
            epml_match_free_entries(queue);
            free(queue);
        }
    }
    while (NULL != table->free_queues) {
        epml_match_queue_t *queue = table->free_queues;

        table->free_queues = queue->chain;
        free(queue);
    }
    free(table->buckets);
    table->buckets = NULL;
}

/** Multiplicative hashing.  The context is spread before source and tag come in: both sides count
 * up from small numbers and would cancel each other out. */
static inline uint64_t epml_match_hash(uint64_t context, int32_t source, int32_t tag)
{
    uint64_t hash = (context * UINT64_C(0x9e3779b97f4a7c15))
                    ^ ((uint64_t) (uint32_t) source << 32 | (uint32_t) tag);

    return (hash ^ (hash >> 32)) * UINT64_C(0xd6e8feb86659fd93) >> 32;
}

static inline bool epml_match_is(const epml_match_queue_t *queue, uint64_t context, int32_t source,
                                 int32_t tag)
{
    return tag == queue->tag && source == queue->source && context == queue->context;
}

static inline bool epml_match_is_empty(const epml_match_queue_t *queue)
{
    if (EPML_MATCH_ANCHOR == queue->kind) {
        return queue == queue->ring_next;
    }
    return EPML_MATCH_PROMISE != queue->kind && NULL == queue->posted_first
           && (EPML_MATCH_EXACT == queue->kind ? NULL == queue->unexpected.exact.first
                                               : NULL == queue->unexpected.wild.first);
}

/** What is called now and then stays out of the functions that are called for every message. */
#define EPML_MATCH_SLOW __attribute__((noinline, unused))

/** epml_match_find, if it was not the last one found. */
static EPML_MATCH_SLOW epml_match_queue_t *epml_match_look_up(epml_match_table_t *table,
                                                              uint64_t context, int32_t source,
                                                              int32_t tag)
{
    epml_match_queue_t *queue;

    queue = table->buckets[epml_match_hash(context, source, tag) & table->bucket_mask];
    while (NULL != queue && !epml_match_is(queue, context, source, tag)) {
        queue = queue->chain;
    }
    if (NULL != queue) {
        table->recent = queue;
    }
    return queue;
}

/** @return the queue of a key, or NULL if there is none */
static inline epml_match_queue_t *epml_match_find(epml_match_table_t *table, uint64_t context,
                                                  int32_t source, int32_t tag)
{
    epml_match_queue_t *queue = table->recent;

    if (NULL != queue && epml_match_is(queue, context, source, tag)) {
        return queue;
    }
    return epml_match_look_up(table, context, source, tag);
}

/** Take a queue out of its context's ring. */
static inline void epml_match_leave_ring(epml_match_queue_t *queue)
{
    queue->ring_prev->ring_next = queue->ring_next;
    queue->ring_next->ring_prev = queue->ring_prev;
    queue->ring_next = NULL;
    queue->ring_prev = NULL;
}

/** Take the queues that have run empty out of the buckets. */
static inline void epml_match_sweep(epml_match_table_t *table)
{
    table->recent = NULL;
    for (uint64_t i = 0; i <= table->bucket_mask; ++i) {
        epml_match_queue_t **link = &table->buckets[i];

        while (NULL != *link) {
            epml_match_queue_t *queue = *link;

            if (epml_match_is_empty(queue)) {
                *link = queue->chain;
                if (NULL != queue->ring_next) {
                    epml_match_leave_ring(queue);
                }
                queue->chain = table->free_queues;
                table->free_queues = queue;
                --table->queues;
            } else {
                link = &queue->chain;
            }
        }
    }
}

/** Twice the buckets.  Without memory the table just stays as it is and gets slower. */
static inline void epml_match_grow(epml_match_table_t *table)
{
    uint64_t old_count = table->bucket_mask + 1;
    uint64_t mask = 2 * old_count - 1;
    epml_match_queue_t **buckets = calloc(mask + 1, sizeof(*buckets));

    if (NULL == buckets) {
        return;
    }
    for (uint64_t i = 0; i < old_count; ++i) {
        while (NULL != table->buckets[i]) {
            epml_match_queue_t *queue = table->buckets[i];
            uint64_t target = epml_match_hash(queue->context, queue->source, queue->tag) & mask;

            table->buckets[i] = queue->chain;
            queue->chain = buckets[target];
            buckets[target] = queue;
        }
    }
    free(table->buckets);
    table->buckets = buckets;
    table->bucket_mask = mask;
}

/**
 * Keep the load below one queue a bucket.  Queues stay when they run empty, since the same key
 * mostly comes again; a full table is first cleared of empty queues, and grows only if that leaves
 * it more than half full, so the cost per new key is constant on average.
 */
static inline void epml_match_make_room(epml_match_table_t *table)
{
    epml_match_sweep(table);
    if (2 * table->queues > table->bucket_mask) {
        epml_match_grow(table);
    }
}

/** @return bit k: the context has promised that no receive of kind k is posted */
static inline unsigned int epml_match_promised(epml_match_table_t *table, uint64_t context)
{
    const epml_match_queue_t *promise
        = 0 == table->promises ? NULL
                               : epml_match_find(table, context, EPML_MATCH_PROMISE_SOURCE,
                                                 EPML_MATCH_PROMISE_TAG);

    return NULL == promise ? 0 : promise->never;
}

/** Put an empty queue for a key that has none into its bucket.  @return it, or NULL without
 * memory */
static EPML_MATCH_SLOW epml_match_queue_t *epml_match_add(epml_match_table_t *table,
                                                          uint64_t context, int32_t source,
                                                          int32_t tag)
{
    epml_match_queue_t *queue = table->free_queues;
    uint64_t bucket;

    if (NULL != queue) {
        table->free_queues = queue->chain;
    } else {
        queue = malloc(sizeof(*queue));
        if (NULL == queue) {
            return NULL;
        }
    }
    bucket = epml_match_hash(context, source, tag) & table->bucket_mask;
    *queue = (epml_match_queue_t){
        .chain = table->buckets[bucket], .context = context, .source = source, .tag = tag,
        .kind = (int16_t) epml_match_kind(source, tag),
        .never = (uint16_t) (EPML_MATCH_ANY <= tag ? epml_match_promised(table, context) : 0)};
    table->buckets[bucket] = queue;
    ++table->queues;
    return queue;
}

/** @return the queue of a key, made if need be; NULL without memory */
static inline epml_match_queue_t *epml_match_open(epml_match_table_t *table, uint64_t context,
                                                  int32_t source, int32_t tag)
{
    epml_match_queue_t *queue = epml_match_find(table, context, source, tag);

    if (NULL != queue) {
        return queue;
    }
    if (table->queues > table->bucket_mask) {
        epml_match_make_room(table);
    }
    queue = epml_match_add(table, context, source, tag);
    if (NULL != queue) {
        table->recent = queue;
    }
    return queue;
}

/** The first message of an exact queue: its context's end must find it.
 * @return 0, or -1 without memory */
static EPML_MATCH_SLOW int epml_match_enter_ring(epml_match_table_t *table,
                                                 epml_match_queue_t *queue)
{
    epml_match_queue_t *anchor;

    /* The queue is still empty, and making room would sweep it out: there is room in any case. */
    anchor = epml_match_find(table, queue->context, EPML_MATCH_ANCHOR_SOURCE,
                             EPML_MATCH_ANCHOR_TAG);
    if (NULL == anchor) {
        anchor = epml_match_add(table, queue->context, EPML_MATCH_ANCHOR_SOURCE,
                                EPML_MATCH_ANCHOR_TAG);
        if (NULL == anchor) {
            return -1;
        }
        anchor->kind = EPML_MATCH_ANCHOR;
        anchor->ring_next = anchor;
        anchor->ring_prev = anchor;
    }
    queue->ring_next = anchor->ring_next;
    queue->ring_prev = anchor;
    anchor->ring_next->ring_prev = queue;
    anchor->ring_next = queue;
    return 0;
}

#endif /* MCA_PML_EPML_MATCH_TABLE_H */
