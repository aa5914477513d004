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
 *    of a kind on, in the queue of its key of that kind.  A receive looks into one queue only.
 *
 * A wildcard tag fits tags >= 0 only: negative ones belong to Open MPI's collectives.  The source
 * and tag of a message must not be EPML_MATCH_ANY.
 *
 * Not thread safe: the owner of the endpoint's lock calls.  Standalone: no Open MPI, no allocation
 * but of queues.  Tests: test/unit/test_epml_match.c.
 */

#ifndef MCA_PML_EPML_MATCH_H
#define MCA_PML_EPML_MATCH_H

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

struct epml_match_queue_t;

/** A posted receive's place in the table; embedded in the receive request. */
typedef struct epml_match_posted_t {
    struct epml_match_posted_t *next, *prev; /**< in the queue of its key */
    struct epml_match_queue_t *queue;        /**< NULL: not posted */
    uint64_t sequence;                       /**< order of posting */
} epml_match_posted_t;

struct epml_match_unexpected_t;

typedef struct epml_match_link_t {
    struct epml_match_unexpected_t *next, *prev;
} epml_match_link_t;

/** An unexpected message's place in the table; embedded in the stored message. */
typedef struct epml_match_unexpected_t {
    epml_match_link_t link[EPML_MATCH_KINDS];            /**< in the queue of each kind */
    struct epml_match_queue_t *queue[EPML_MATCH_KINDS];  /**< NULL: not in a queue of that kind */
    epml_match_link_t arrival;                           /**< in order of arrival */
    uint64_t context;
    int32_t source;
    int32_t tag;
} epml_match_unexpected_t;

/** All receives and all messages of one key. */
typedef struct epml_match_queue_t {
    struct epml_match_queue_t *chain; /**< next in the hash bucket, or in the free list */
    uint64_t context;
    int32_t source;
    int32_t tag;
    int kind; /**< epml_match_kind of the two */
    epml_match_posted_t *posted_first, *posted_last;
    epml_match_unexpected_t *unexpected_first, *unexpected_last;
} epml_match_queue_t;

typedef struct epml_match_table_t {
    epml_match_queue_t *recent; /**< found last; programs repeat themselves */
    epml_match_queue_t **buckets;
    uint64_t bucket_mask;
    uint64_t queues;                         /**< in the buckets */
    uint64_t next_sequence;
    uint64_t posted_count[EPML_MATCH_KINDS]; /**< receives posted, by kind */
    uint64_t unexpected_count;
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

/** Frees the queues; whatever is still in them is the caller's. */
static inline void epml_match_fini(epml_match_table_t *table)
{
    for (uint64_t i = 0; NULL != table->buckets && i <= table->bucket_mask; ++i) {
        while (NULL != table->buckets[i]) {
            epml_match_queue_t *queue = table->buckets[i];

            table->buckets[i] = queue->chain;
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
    return NULL == queue->posted_first && NULL == queue->unexpected_first;
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

/** @return the queue of a key, made if need be; NULL without memory */
static inline epml_match_queue_t *epml_match_open(epml_match_table_t *table, uint64_t context,
                                                  int32_t source, int32_t tag)
{
    epml_match_queue_t *queue = epml_match_find(table, context, source, tag);
    uint64_t bucket;

    if (NULL != queue) {
        return queue;
    }
    if (table->queues > table->bucket_mask) {
        epml_match_make_room(table);
    }
    queue = table->free_queues;
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
        .kind = epml_match_kind(source, tag)};
    table->buckets[bucket] = queue;
    ++table->queues;
    table->recent = queue;
    return queue;
}

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
                                                                   uint64_t context,
                                                                   int32_t source, int32_t tag)
{
    epml_match_posted_t *best = NULL;

    for (int kind = 0; kind < EPML_MATCH_KINDS; ++kind) {
        epml_match_queue_t *queue;

        if (0 == table->posted_count[kind] || (0 > tag && 0 != (kind & EPML_MATCH_ANY_TAG))) {
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
    if (0 == (table->posted_count[EPML_MATCH_ANY_TAG] | table->posted_count[EPML_MATCH_ANY_SOURCE]
              | table->posted_count[EPML_MATCH_ANY_BOTH])) {
        epml_match_queue_t *queue = epml_match_find(table, context, source, tag);

        return NULL != queue ? epml_match_take_first(table, queue) : NULL;
    }
    return epml_match_arrive_wild(table, context, source, tag);
}

/* ---- unexpected messages -------------------------------------------------------------------- */

/** Append a message to its queue of one kind.  @return 0, or -1 without memory */
static inline int epml_match_enqueue(epml_match_table_t *table, epml_match_unexpected_t *message,
                                     int kind)
{
    epml_match_queue_t *queue
        = epml_match_open(table, message->context,
                          0 != (kind & EPML_MATCH_ANY_SOURCE) ? EPML_MATCH_ANY : message->source,
                          0 != (kind & EPML_MATCH_ANY_TAG) ? EPML_MATCH_ANY : message->tag);

    if (NULL == queue) {
        return -1;
    }
    message->queue[kind] = queue;
    message->link[kind].next = NULL;
    message->link[kind].prev = queue->unexpected_last;
    if (NULL == queue->unexpected_last) {
        queue->unexpected_first = message;
    } else {
        queue->unexpected_last->link[kind].next = message;
    }
    queue->unexpected_last = message;
    return 0;
}

/** Does a message with this tag go into queues of this kind? */
static inline bool epml_match_fits_kind(int32_t tag, int kind)
{
    return 0 <= tag || 0 == (kind & EPML_MATCH_ANY_TAG);
}

/** Take a message out of the table. */
static inline void epml_match_remove(epml_match_table_t *table, epml_match_unexpected_t *message)
{
    for (int kind = 0; kind < EPML_MATCH_KINDS; ++kind) {
        epml_match_queue_t *queue = message->queue[kind];
        epml_match_link_t *link = &message->link[kind];

        if (NULL == queue) {
            continue;
        }
        if (NULL == link->prev) {
            queue->unexpected_first = link->next;
        } else {
            link->prev->link[kind].next = link->next;
        }
        if (NULL == link->next) {
            queue->unexpected_last = link->prev;
        } else {
            link->next->link[kind].prev = link->prev;
        }
        message->queue[kind] = NULL;
    }
    if (NULL == message->arrival.prev) {
        table->arrival_first = message->arrival.next;
    } else {
        message->arrival.prev->arrival.next = message->arrival.next;
    }
    if (NULL == message->arrival.next) {
        table->arrival_last = message->arrival.prev;
    } else {
        message->arrival.next->arrival.prev = message->arrival.prev;
    }
    if (0 == --table->unexpected_count) {
        /* Start anew: messages to come are queued by their exact keys only, until a
         * wildcard asks. */
        table->indexed = 1u << EPML_MATCH_EXACT;
    }
}

/**
 * Keep a message that no receive takes yet.
 *
 * @param[in] message  context, source and tag set
 * @return 0, or -1 without memory (the message is not stored then)
 */
static inline int epml_match_store(epml_match_table_t *table, epml_match_unexpected_t *message)
{
    memset(message->queue, 0, sizeof(message->queue));
    message->arrival.next = NULL;
    message->arrival.prev = table->arrival_last;
    if (NULL == table->arrival_last) {
        table->arrival_first = message;
    } else {
        table->arrival_last->arrival.next = message;
    }
    table->arrival_last = message;
    ++table->unexpected_count;

    for (int kind = 0; kind < EPML_MATCH_KINDS; ++kind) {
        if (0 != (table->indexed & (1u << kind)) && epml_match_fits_kind(message->tag, kind)
            && 0 != epml_match_enqueue(table, message, kind)) {
            epml_match_remove(table, message);
            return -1;
        }
    }
    return 0;
}

/** The first wildcard receive of a kind: queue the messages that wait by this kind too. */
static inline int epml_match_index_kind(epml_match_table_t *table, int kind)
{
    for (epml_match_unexpected_t *message = table->arrival_first; NULL != message;
         message = message->arrival.next) {
        if (epml_match_fits_kind(message->tag, kind) && NULL == message->queue[kind]
            && 0 != epml_match_enqueue(table, message, kind)) {
            return -1;
        }
    }
    table->indexed |= 1u << kind;
    return 0;
}

/** epml_match_first, if the queue is not the last one found. */
static EPML_MATCH_SLOW epml_match_unexpected_t *epml_match_first_slow(epml_match_table_t *table,
                                                                      uint64_t context,
                                                                      int32_t source, int32_t tag,
                                                                      epml_match_queue_t **queue_p)
{
    const int kind = epml_match_kind(source, tag);

    *queue_p = NULL;
    if (0 == (table->indexed & (1u << kind)) && 0 != epml_match_index_kind(table, kind)) {
        return NULL;
    }
    *queue_p = epml_match_open(table, context, source, tag);
    return NULL == *queue_p ? NULL : (*queue_p)->unexpected_first;
}

/**
 * The first message that a receive with this key would take; it stays in the table.
 *
 * @param[out] queue_p  the queue of the key, for epml_match_post, valid until the next call on the
 *                      table; NULL without memory
 */
static inline epml_match_unexpected_t *epml_match_first(epml_match_table_t *table,
                                                        uint64_t context, int32_t source,
                                                        int32_t tag, epml_match_queue_t **queue_p)
{
    epml_match_queue_t *queue = table->recent;

    if (NULL != queue && EPML_MATCH_EXACT == queue->kind
        && epml_match_is(queue, context, source, tag)) {
        *queue_p = queue;
        return queue->unexpected_first;
    }
    return epml_match_first_slow(table, context, source, tag, queue_p);
}

/** The oldest message of a context, or NULL; for clearing up.  Slow. */
static inline epml_match_unexpected_t *epml_match_first_of_context(epml_match_table_t *table,
                                                                   uint64_t context)
{
    epml_match_unexpected_t *message = table->arrival_first;

    while (NULL != message && context != message->context) {
        message = message->arrival.next;
    }
    return message;
}

#endif /* MCA_PML_EPML_MATCH_H */
