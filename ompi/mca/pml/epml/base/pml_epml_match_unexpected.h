/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The matching table's messages that wait for a receive, in the queues of their exact keys, and, by
 * entries, in those of wildcards that receives have asked for.  pml_epml_match.h has the rules, and
 * is what others include.
 *
 * Tests: unit/test_epml_match, unit/test_epml_match_random
 */

#ifndef MCA_PML_EPML_MATCH_UNEXPECTED_H
#define MCA_PML_EPML_MATCH_UNEXPECTED_H

#include "pml_epml_match_table.h"

static inline epml_match_entry_t *epml_match_entry(uintptr_t place)
{
    return 0 != (place & EPML_MATCH_IS_ENTRY)
               ? (epml_match_entry_t *) (place & ~EPML_MATCH_IS_ENTRY)
               : NULL;
}

/** The queue of a stored message's exact key, which says what the key is. */
static inline const epml_match_queue_t *epml_match_queue_of(const epml_match_unexpected_t *message)
{
    uintptr_t place = message->place;

    for (epml_match_entry_t *entry; NULL != (entry = epml_match_entry(place));) {
        place = entry->rest;
    }
    return (const epml_match_queue_t *) place;
}

/** The message that a receive with the queue's key would take, or NULL. */
static inline epml_match_unexpected_t *epml_match_queue_first(const epml_match_queue_t *queue)
{
    if (EPML_MATCH_EXACT == queue->kind) {
        return queue->unexpected.exact.first;
    }
    return NULL == queue->unexpected.wild.first ? NULL : queue->unexpected.wild.first->message;
}

/** Append a message to its queue of a wildcard kind.  @return 0, or -1 without memory */
static inline int epml_match_enter(epml_match_table_t *table, epml_match_unexpected_t *message,
                                   int kind)
{
    const epml_match_queue_t *exact = epml_match_queue_of(message);
    epml_match_entry_t *entry = malloc(sizeof(*entry));
    epml_match_queue_t *queue;

    if (NULL == entry) {
        return -1;
    }
    queue = epml_match_open(table, exact->context,
                            0 != (kind & EPML_MATCH_ANY_SOURCE) ? EPML_MATCH_ANY : exact->source,
                            0 != (kind & EPML_MATCH_ANY_TAG) ? EPML_MATCH_ANY : exact->tag);
    if (NULL == queue) {
        free(entry);
        return -1;
    }
    entry->queue = queue;
    entry->message = message;
    entry->rest = message->place;
    message->place = (uintptr_t) entry | EPML_MATCH_IS_ENTRY;
    entry->next = NULL;
    entry->prev = queue->unexpected.wild.last;
    if (NULL == entry->prev) {
        queue->unexpected.wild.first = entry;
    } else {
        entry->prev->next = entry;
    }
    queue->unexpected.wild.last = entry;
    return 0;
}

/** Let a hand, which is nowhere, stand at a message, or at none. */
static inline void epml_match_set_hand(epml_match_entry_t *hand, epml_match_unexpected_t *message)
{
    hand->message = message;
    if (NULL != message) {
        hand->rest = message->place;
        message->place = (uintptr_t) hand | EPML_MATCH_IS_ENTRY;
    }
}

/** Take a hand off the message at which it stands. */
static inline void epml_match_lift_hand(epml_match_entry_t *hand)
{
    uintptr_t *next = &hand->message->place;

    while (hand != epml_match_entry(*next)) {
        next = &epml_match_entry(*next)->rest;
    }
    *next = hand->rest;
    hand->message = NULL;
}

/** Take a message out of its queues of wildcard kinds.  Hands that stand at it move on. */
static inline void epml_match_leave_wild(epml_match_unexpected_t *message)
{
    for (epml_match_entry_t *entry; NULL != (entry = epml_match_entry(message->place));) {
        epml_match_queue_t *queue = entry->queue;

        if (NULL == queue) {
            message->place = entry->rest;
            epml_match_set_hand(entry, message->newer);
            continue;
        }
        if (NULL == entry->prev) {
            queue->unexpected.wild.first = entry->next;
        } else {
            entry->prev->next = entry->next;
        }
        if (NULL == entry->next) {
            queue->unexpected.wild.last = entry->prev;
        } else {
            entry->next->prev = entry->prev;
        }
        message->place = entry->rest;
        free(entry);
    }
}

/** Does a message with this tag go into queues of this kind? */
static inline bool epml_match_fits_kind(int32_t tag, int kind)
{
    return 0 <= tag || 0 == (kind & EPML_MATCH_ANY_TAG);
}

/** Has the message's context promised that no receive of this kind comes? */
static inline bool epml_match_skips_kind(const epml_match_unexpected_t *message, int kind)
{
    return 0 != (epml_match_queue_of(message)->never & (1u << kind));
}

/**
 * Take a message out of the table.
 *
 * The cost is constant for one that a receive takes and for the oldest of a context: it is the
 * first of its exact queue, whatever the kind of the receive, because all messages with its key fit
 * that receive, too.  (Any other is looked for in its exact queue, which is linked one way only.)
 */
static inline void epml_match_remove(epml_match_table_t *table, epml_match_unexpected_t *message)
{
    epml_match_unexpected_t *before = NULL;
    epml_match_queue_t *queue;

    epml_match_leave_wild(message);
    queue = (epml_match_queue_t *) message->place;
    if (message == queue->unexpected.exact.first) {
        queue->unexpected.exact.first = message->next;
    } else {
        before = queue->unexpected.exact.first;
        while (message != before->next) {
            before = before->next;
        }
        before->next = message->next;
    }
    if (NULL == message->next) {
        queue->unexpected.exact.last = before;
    }
    if (NULL == message->older) {
        table->arrival_first = message->newer;
    } else {
        message->older->newer = message->newer;
    }
    if (NULL == message->newer) {
        table->arrival_last = message->older;
    } else {
        message->newer->older = message->older;
    }
    if (0 == --table->unexpected_count) {
        /* Start anew: messages to come are queued by their exact keys only, until a
         * wildcard asks. */
        table->indexed = 1u << EPML_MATCH_EXACT;
    }
}

/** Queue a new message by the wildcard kinds that have been asked for.
 * @return 0, or -1 without memory (it is in no such queue then) */
static inline int epml_match_store_wild(epml_match_table_t *table, epml_match_unexpected_t *message,
                                        int32_t tag)
{
    for (int kind = EPML_MATCH_EXACT + 1; kind < EPML_MATCH_KINDS; ++kind) {
        if (0 != (table->indexed & (1u << kind)) && NULL == table->hands[kind].message
            && epml_match_fits_kind(tag, kind) && !epml_match_skips_kind(message, kind)
            && 0 != epml_match_enter(table, message, kind)) {
            epml_match_leave_wild(message);
            return -1;
        }
    }
    return 0;
}

/**
 * Keep a message that no receive takes yet.
 *
 * @return 0, or -1 without memory (the message is not stored then)
 */
static inline int epml_match_store(epml_match_table_t *table, epml_match_unexpected_t *message,
                                   uint64_t context, int32_t source, int32_t tag)
{
    epml_match_queue_t *queue = epml_match_open(table, context, source, tag);

    if (NULL == queue) {
        return -1;
    }
    if (NULL == queue->ring_next && 0 != epml_match_enter_ring(table, queue)) {
        return -1;
    }
    message->place = (uintptr_t) queue;
    message->next = NULL;
    /* In its exact queue first: an empty one may be swept when those of wildcards are opened. */
    if (NULL == queue->unexpected.exact.first) {
        queue->unexpected.exact.first = message;
    } else {
        queue->unexpected.exact.last->next = message;
    }
    queue->unexpected.exact.last = message;
    message->newer = NULL;
    message->older = table->arrival_last;
    if (NULL == table->arrival_last) {
        table->arrival_first = message;
    } else {
        table->arrival_last->newer = message;
    }
    table->arrival_last = message;
    ++table->unexpected_count;
    if (1u << EPML_MATCH_EXACT != table->indexed
        && 0 != epml_match_store_wild(table, message, tag)) {
        epml_match_remove(table, message);
        return -1;
    }
    return 0;
}

/** Is a message in its queue of a wildcard kind? */
static inline bool epml_match_is_entered(const epml_match_unexpected_t *message, int kind)
{
    epml_match_entry_t *entry = epml_match_entry(message->place);

    while (NULL != entry && (NULL == entry->queue || kind != entry->queue->kind)) {
        entry = epml_match_entry(entry->rest);
    }
    return NULL != entry;
}

/** Queue by a kind what waits, from the first message on, as far as it is not: as receives ask. */
static inline void epml_match_index_kind(epml_match_table_t *table, int kind)
{
    epml_match_entry_t *hand = &table->hands[kind];

    if (NULL != hand->message) {
        epml_match_lift_hand(hand);
    }
    epml_match_set_hand(hand, table->arrival_first);
    table->indexed |= 1u << kind;
}

/**
 * A wildcard receive looks for a message: queue those that wait by its kind, in order of arrival,
 * until one has come into its queue.  What is queued stays so, and is not read again.
 *
 * @return 0, or -1 without memory; the next receive goes on there
 */
static inline int epml_match_index(epml_match_table_t *table, uint64_t context, int32_t source,
                                   int32_t tag, int kind)
{
    epml_match_entry_t *hand = &table->hands[kind];
    const epml_match_queue_t *queue = epml_match_find(table, context, source, tag);
    bool found = NULL != queue && NULL != queue->unexpected.wild.first;

    while (!found && NULL != hand->message) {
        epml_match_unexpected_t *message = hand->message;
        const epml_match_queue_t *exact = epml_match_queue_of(message);

        EPML_MATCH_VISIT();
        if (epml_match_fits_kind(exact->tag, kind) && !epml_match_skips_kind(message, kind)) {
            if (!epml_match_is_entered(message, kind)
                && 0 != epml_match_enter(table, message, kind)) {
                return -1;
            }
            found = context == exact->context
                    && (EPML_MATCH_ANY == source || source == exact->source)
                    && (EPML_MATCH_ANY == tag || tag == exact->tag);
        }
        epml_match_lift_hand(hand);
        epml_match_set_hand(hand, message->newer);
    }
    return 0;
}

#endif /* MCA_PML_EPML_MATCH_UNEXPECTED_H */
