/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The matching table's types, and its hash of queues, one for each key (context, source, tag) in
 * use.  Matching itself is in pml_epml_match.h, which is what others include.
 *
 * Tests: unit/test_epml_match_grow, unit/test_epml_match_random
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
    struct epml_match_queue_t *queue;       /**< NULL: it is one of the table's hands */
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
    epml_match_queue_t *recent;     /**< found last; programs repeat themselves */
    epml_match_queue_t ***segments; /**< EPML_MATCH_SEGMENT buckets each, or, the first, less */
    uint64_t buckets;               /**< in use */
    uint64_t mask;                  /**< the least 2^k - 1 that the last bucket's number fits in */
    epml_match_queue_t **first;     /**< the first segment again, which is all that most need */
    uint64_t flat;                  /**< buckets that are in it */
    uint64_t sweep_at;              /**< the bucket that is swept next */
    uint64_t queues;                /**< in the buckets */
    uint64_t next_sequence;
    uint64_t posted_count[EPML_MATCH_KINDS]; /**< receives posted, by kind */
    uint64_t unexpected_count;
    uint64_t promises;    /**< contexts that have promised something */
    unsigned int indexed; /**< bit k: unexpected messages are queued by kind k */
    /** By kind: an entry, in no queue, of the first message that may not be queued by this kind
     * yet; then those that come in are not either.  With message NULL: all are queued. */
    epml_match_entry_t hands[EPML_MATCH_KINDS];
    epml_match_unexpected_t *arrival_first, *arrival_last;
    epml_match_queue_t *free_queues;
} epml_match_table_t;

#define EPML_MATCH_BUCKETS_MIN 64

/** Buckets that are allocated at a time, 16 KiB; the first ones come by doubling up to here.  What
 * points to them is 64 KiB long at most, the largest of the table's allocations. */
#ifndef EPML_MATCH_SEGMENT /* tests have smaller ones */
#    define EPML_MATCH_SEGMENT UINT64_C(2048)
#    define EPML_MATCH_SEGMENTS_MAX UINT64_C(8192)
#endif

/** What one new key does at most: so many times sweep so many buckets, then split one.  With two
 * sweeps the table grows as long as half of the queues are in use; two times catch up with the
 * queues that come without a look at the load (epml_match_enter_ring). */
#define EPML_MATCH_STEPS 2
#define EPML_MATCH_SWEEPS 2

/** A bucket, or a queue, is looked at to make room; tests count. */
#ifndef EPML_MATCH_VISIT
#    define EPML_MATCH_VISIT()
#endif

static inline int epml_match_kind(int32_t source, int32_t tag)
{
    return (EPML_MATCH_ANY == tag ? EPML_MATCH_ANY_TAG : 0)
           | (EPML_MATCH_ANY == source ? EPML_MATCH_ANY_SOURCE : 0);
}

/** @return 0, or -1 if there is no memory */
static inline int epml_match_init(epml_match_table_t *table)
{
    memset(table, 0, sizeof(*table));
    table->segments = malloc(sizeof(*table->segments));
    if (NULL == table->segments) {
        return -1;
    }
    table->segments[0] = calloc(EPML_MATCH_BUCKETS_MIN, sizeof(*table->segments[0]));
    if (NULL == table->segments[0]) {
        free(table->segments);
        table->segments = NULL;
        return -1;
    }
    table->buckets = EPML_MATCH_BUCKETS_MIN;
    table->mask = EPML_MATCH_BUCKETS_MIN - 1;
    table->first = table->segments[0];
    table->flat = EPML_MATCH_BUCKETS_MIN;
    table->indexed = 1u << EPML_MATCH_EXACT;
    return 0;
}

/** The first queue of a bucket, by the bucket's number. */
static inline epml_match_queue_t **epml_match_bucket(const epml_match_table_t *table,
                                                     uint64_t number)
{
    return &table->segments[number / EPML_MATCH_SEGMENT][number % EPML_MATCH_SEGMENT];
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
    for (uint64_t i = 0; i < table->buckets; ++i) {
        epml_match_queue_t *queue;

        while (NULL != (queue = *epml_match_bucket(table, i))) {
            *epml_match_bucket(table, i) = queue->chain;
            epml_match_free_entries(queue);
            free(queue);
        }
    }
    while (NULL != table->free_queues) {
        epml_match_queue_t *queue = table->free_queues;

        table->free_queues = queue->chain;
        free(queue);
    }
    for (uint64_t i = 0; i < table->buckets; i += EPML_MATCH_SEGMENT) {
        free(table->segments[i / EPML_MATCH_SEGMENT]);
    }
    free(table->segments);
    table->segments = NULL;
    table->buckets = 0;
    table->flat = 0;
}

/** Multiplicative hashing.  The context is spread before source and tag come in: both of them count
 * up from small numbers and would cancel each other out. */
static inline uint64_t epml_match_hash(uint64_t context, int32_t source, int32_t tag)
{
    uint64_t hash = (context * UINT64_C(0x9e3779b97f4a7c15))
                    ^ ((uint64_t) (uint32_t) source << 32 | (uint32_t) tag);

    return (hash ^ (hash >> 32)) * UINT64_C(0xd6e8feb86659fd93) >> 32;
}

/** The number of the bucket in which a key is.  Buckets that are still to come have their keys in
 * those of half their numbers' range, from which they will be split. */
static inline uint64_t epml_match_place(const epml_match_table_t *table, uint64_t context,
                                        int32_t source, int32_t tag)
{
    const uint64_t number = epml_match_hash(context, source, tag) & table->mask;

    return number & (table->mask >> (number >= table->buckets));
}

/** The bucket in which a key is. */
static inline epml_match_queue_t **epml_match_bucket_of(const epml_match_table_t *table,
                                                        uint64_t context, int32_t source,
                                                        int32_t tag)
{
    const uint64_t number = epml_match_hash(context, source, tag) & table->mask;

    return number < table->flat
               ? &table->first[number]
               : epml_match_bucket(table, epml_match_place(table, context, source, tag));
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

    queue = *epml_match_bucket_of(table, context, source, tag);
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

/** Take the queues that have run empty out of a bucket. */
static inline void epml_match_sweep(epml_match_table_t *table, uint64_t number)
{
    epml_match_queue_t **next = epml_match_bucket(table, number);

    EPML_MATCH_VISIT();
    while (NULL != *next) {
        epml_match_queue_t *queue = *next;

        EPML_MATCH_VISIT();
        if (!epml_match_is_empty(queue)) {
            next = &queue->chain;
            continue;
        }
        *next = queue->chain;
        if (NULL != queue->ring_next) {
            epml_match_leave_ring(queue);
        }
        if (queue == table->recent) {
            table->recent = NULL;
        }
        queue->chain = table->free_queues;
        table->free_queues = queue;
        --table->queues;
    }
}

/** Memory for one bucket more, which need not be cleared.  @return false: there is none */
static inline bool epml_match_extend(epml_match_table_t *table)
{
    const uint64_t segment = table->buckets / EPML_MATCH_SEGMENT;
    void *grown;

    if (0 == segment && 0 == (table->buckets & (table->buckets - 1))) {
        grown = realloc(table->segments[0], 2 * table->buckets * sizeof(*table->segments[0]));
        if (NULL == grown) {
            return false;
        }
        table->segments[0] = grown;
        table->first = table->segments[0];
    } else if (0 == table->buckets % EPML_MATCH_SEGMENT) {
        if (EPML_MATCH_SEGMENTS_MAX == segment) {
            return false;
        }
        if (0 == (segment & (segment - 1))) {
            grown = realloc(table->segments, 2 * segment * sizeof(*table->segments));
            if (NULL == grown) {
                return false;
            }
            table->segments = grown;
        }
        grown = malloc(EPML_MATCH_SEGMENT * sizeof(*table->segments[0]));
        if (NULL == grown) {
            return false;
        }
        table->segments[segment] = grown;
    }
    return true;
}

/**
 * One bucket more, which takes from another one what belongs there ("linear hashing", Litwin,
 * 1980): the table never moves as a whole.  Without memory it just stays as it is and gets slower.
 */
static inline void epml_match_split(epml_match_table_t *table)
{
    const uint64_t number = table->buckets;
    epml_match_queue_t **next, *moved = NULL;

    if (!epml_match_extend(table)) {
        return;
    }
    if (number > table->mask) {
        table->mask = 2 * table->mask + 1;
    }
    EPML_MATCH_VISIT();
    next = epml_match_bucket(table, number & (table->mask >> 1));
    ++table->buckets;
    table->flat += table->flat < EPML_MATCH_SEGMENT ? 1 : 0;
    while (NULL != *next) {
        epml_match_queue_t *queue = *next;

        EPML_MATCH_VISIT();
        if (number != epml_match_place(table, queue->context, queue->source, queue->tag)) {
            next = &queue->chain;
            continue;
        }
        *next = queue->chain;
        queue->chain = moved;
        moved = queue;
    }
    *epml_match_bucket(table, number) = moved;
}

/**
 * Keep the load below one queue a bucket.  Queues stay when they run empty, since the same key
 * mostly comes again.  From three quarters on each new key looks through a few buckets for empty
 * queues, and splits one where the table is full all the same; so its cost does not depend on the
 * table's size.  (The last quarter evens out what single looks find: without it there would be a
 * split now and then, for ever.)
 */
static EPML_MATCH_SLOW void epml_match_make_room(epml_match_table_t *table)
{
    int step = 0;

    do {
        for (int i = 0; i < EPML_MATCH_SWEEPS; ++i) {
            epml_match_sweep(table, table->sweep_at);
            table->sweep_at = table->sweep_at + 1 < table->buckets ? table->sweep_at + 1 : 0;
        }
        if (table->queues >= table->buckets) {
            epml_match_split(table);
        }
    } while (++step < EPML_MATCH_STEPS && table->queues >= table->buckets);
}

/** @return bit k: the context has promised that no receive of kind k is posted */
static inline unsigned int epml_match_promised(epml_match_table_t *table, uint64_t context)
{
    const epml_match_queue_t *promise = 0 == table->promises
                                            ? NULL
                                            : epml_match_find(table, context,
                                                              EPML_MATCH_PROMISE_SOURCE,
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
    epml_match_queue_t **bucket;

    if (NULL != queue) {
        table->free_queues = queue->chain;
    } else {
        queue = malloc(sizeof(*queue));
        if (NULL == queue) {
            return NULL;
        }
    }
    bucket = epml_match_bucket_of(table, context, source, tag);
    *queue = (epml_match_queue_t){
        .chain = *bucket,
        .context = context,
        .source = source,
        .tag = tag,
        .kind = (int16_t) epml_match_kind(source, tag),
        .never = (uint16_t) (EPML_MATCH_ANY <= tag ? epml_match_promised(table, context) : 0)};
    *bucket = queue;
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
    if (4 * table->queues >= 3 * table->buckets) {
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
