/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the two tests of the matching table share: a heap that counts and fails, keys, MPI's rule,
 * and short forms of the table's calls.
 */

#ifndef EP_TEST_UNIT_TEST_EPML_MATCH_H
#define EP_TEST_UNIT_TEST_EPML_MATCH_H

#include "tap.h"

/* The table's allocations are counted, and fail when a case wants it. */
static struct {
    int64_t live, made;
    int64_t fail_after;  /**< so many succeed, then one fails; < 0: none fails */
    unsigned int chance; /**< one in so many fails; 0: none */
    uint64_t random;
    size_t most;    /**< larger ones fail; 0: none */
    size_t largest; /**< what was asked for at once */
} heap = {.fail_after = -1};

static inline bool heap_fails(size_t size)
{
    heap.largest = size > heap.largest ? size : heap.largest;
    return (0 <= heap.fail_after && 0 > --heap.fail_after)
           || (0 != heap.chance && 0 == tap_below(&heap.random, heap.chance))
           || (0 != heap.most && size > heap.most);
}

static inline void *heap_get(size_t count, size_t size, int fill)
{
    void *memory = heap_fails(count * size) ? NULL : malloc(count * size);

    if (NULL != memory) {
        memset(memory, fill, count * size);
        ++heap.live;
        ++heap.made;
    }
    return memory;
}

static inline void *heap_resize(void *memory, size_t size)
{
    return heap_fails(size) ? NULL : realloc(memory, size);
}

static inline void heap_put(void *memory)
{
    heap.live -= NULL == memory ? 0 : 1;
    free(memory);
}

/** Queues and buckets that the table has looked at to make room. */
static uint64_t visits;

#define EPML_MATCH_VISIT() (++visits)
#define malloc(size) heap_get(1, size, 0xa5)
#define calloc(count, size) heap_get(count, size, 0)
#define realloc(memory, size) heap_resize(memory, size)
#define free(memory) heap_put(memory)
#include "ompi/mca/pml/epml/base/pml_epml_match.h"
#undef malloc
#undef calloc
#undef realloc
#undef free

#define ANY EPML_MATCH_ANY

typedef struct match_key_t {
    uint64_t context;
    int32_t source;
    int32_t tag;
} match_key_t;

/** A receive; the table links its first member. */
typedef struct receive_t {
    epml_match_posted_t posted;
    match_key_t key;
    struct receive_t *free_next;
} receive_t;

typedef struct message_t {
    epml_match_unexpected_t match;
    match_key_t key;
    uint64_t number; /**< order of arrival */
    struct message_t *free_next;
} message_t;

/** MPI's rule, in the model's words. */
static inline bool fits(match_key_t receive, match_key_t message)
{
    return receive.context == message.context
           && (ANY == receive.source || receive.source == message.source)
           && (ANY == receive.tag ? 0 <= message.tag : receive.tag == message.tag);
}

static inline void table_init(epml_match_table_t *table)
{
    if (0 != epml_match_init(table)) {
        printf("Bail out! no memory\n");
        exit(99);
    }
}

/** The end of a case: the table gives everything back. */
static inline void table_fini(epml_match_table_t *table)
{
    epml_match_fini(table);
    TAP_EQ(0, heap.live);
}

/** Post a receive that must find no message waiting. */
static inline void post(epml_match_table_t *table, receive_t *receive, match_key_t key)
{
    epml_match_queue_t *queue = NULL;
    epml_match_unexpected_t *found = epml_match_first(table, key.context, key.source, key.tag,
                                                      &queue);

    receive->key = key;
    TAP_CHECK(NULL == found, "a message for a receive that none fits");
    TAP_CHECK(NULL != queue, "no queue");
    if (NULL != queue) {
        epml_match_post(table, queue, &receive->posted);
    }
}

static inline receive_t *arrive(epml_match_table_t *table, match_key_t key)
{
    return (receive_t *) epml_match_arrive(table, key.context, key.source, key.tag);
}

static inline int store(epml_match_table_t *table, message_t *message, match_key_t key)
{
    message->key = key;
    return epml_match_store(table, &message->match, key.context, key.source, key.tag);
}

/** Allocations that hold the buckets of a table. */
static inline int64_t segments(const epml_match_table_t *table)
{
    return (int64_t) (1 + (table->buckets + EPML_MATCH_SEGMENT - 1) / EPML_MATCH_SEGMENT);
}

/** Allocations that a table with so many wildcard entries should have. */
static inline int64_t allocations(const epml_match_table_t *table, uint64_t entries)
{
    uint64_t spare = 0;

    for (const epml_match_queue_t *q = table->free_queues; NULL != q; q = q->chain) {
        ++spare;
    }
    return segments(table) + (int64_t) (table->queues + spare + entries);
}

/** The message that a receive would take. */
static inline message_t *first(epml_match_table_t *table, match_key_t key)
{
    epml_match_queue_t *queue = NULL;
    message_t *message = (message_t *) epml_match_first(table, key.context, key.source, key.tag,
                                                        &queue);

    TAP_CHECK(NULL != queue, "no queue");
    return message;
}

#endif /* EP_TEST_UNIT_TEST_EPML_MATCH_H */
