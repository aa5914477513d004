/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Queues of what waits for room, one per slow peer, found by the peer's number, in one list.
 *
 * A queue is nothing but its things: the first one stands for it in the list of queues and in the
 * hash table, and hands that on to the second.  So putting something into a queue, its first thing
 * too, takes no memory and cannot fail.  Without memory for the table queues are found by walking
 * the list.
 *
 * Not thread safe; standalone, no Open MPI.
 *
 * Tests: unit/test_epml_pending_queue
 */

#ifndef MCA_PML_EPML_PENDING_QUEUE_H
#define MCA_PML_EPML_PENDING_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/** The tests count what a search looks at. */
#if !defined(EPML_PENDING_STEP)
#    define EPML_PENDING_STEP()
#endif

/** Up to so many queues are found by walking the list. */
#define EPML_PENDING_FEW 8

/** A thing in a queue; part of a larger structure. */
typedef struct epml_pending_thing_t {
    struct epml_pending_thing_t *next; /**< behind it in its queue */

    /* Of the first one in its queue. */
    struct epml_pending_thing_t *last;                    /**< in its queue */
    struct epml_pending_thing_t *next_queue, *prev_queue; /**< their first things */
    struct epml_pending_thing_t *chain;                   /**< in its place of the table */
    void *peer;                                           /**< the caller's */
    uint64_t since;  /**< likewise; 0 when it becomes the first one */
    uint32_t number; /**< of the peer */
} epml_pending_thing_t;

/** All queues of an endpoint; starts as zeros. */
typedef struct epml_pending_queues_t {
    epml_pending_thing_t *first, *last; /**< of the list of queues */
    epml_pending_thing_t **table;       /**< NULL: there are few, or there was no memory */
    uint32_t places;                    /**< of the table, a power of two */
    uint32_t count;                     /**< queues */
} epml_pending_queues_t;

/** Where the chain of a number begins. */
static inline epml_pending_thing_t **epml_pending_place(const epml_pending_queues_t *queues,
                                                        uint32_t number)
{
    /* Numbers are given out one after the other: multiplied by 2^32 over the golden ratio, the high
     * bits differ for those in a row and for every 2^k-th alike. */
    return &queues->table[((number * UINT32_C(2654435769)) >> 8) & (queues->places - 1)];
}

/** The first thing of a peer's queue, or NULL. */
static inline epml_pending_thing_t *epml_pending_find(const epml_pending_queues_t *queues,
                                                      uint32_t number)
{
    epml_pending_thing_t *thing;

    if (NULL != queues->table) {
        for (thing = *epml_pending_place(queues, number); NULL != thing && number != thing->number;
             thing = thing->chain) {
            EPML_PENDING_STEP();
        }
        return thing;
    }
    for (thing = queues->first; NULL != thing && number != thing->number;
         thing = thing->next_queue) {
        EPML_PENDING_STEP();
    }
    return thing;
}

/** Make the table, or a larger one; without memory all stays as it is. */
static inline void epml_pending_grow(epml_pending_queues_t *queues)
{
    const uint32_t places = NULL == queues->table ? 4 * EPML_PENDING_FEW : 2 * queues->places;
    epml_pending_thing_t **table = (epml_pending_thing_t **) calloc(places, sizeof(*table));

    if (NULL == table) {
        return;
    }
    free(queues->table);
    queues->table = table;
    queues->places = places;
    for (epml_pending_thing_t *thing = queues->first; NULL != thing; thing = thing->next_queue) {
        epml_pending_thing_t **place = epml_pending_place(queues, thing->number);

        EPML_PENDING_STEP();
        thing->chain = *place;
        *place = thing;
    }
}

/** The pointer in the table that leads to the first thing of a queue. */
static inline epml_pending_thing_t **epml_pending_chain_to(const epml_pending_queues_t *queues,
                                                           const epml_pending_thing_t *thing)
{
    epml_pending_thing_t **next = epml_pending_place(queues, thing->number);

    while (thing != *next) {
        EPML_PENDING_STEP();
        next = &(*next)->chain;
    }
    return next;
}

/** A queue of one thing, whose peer and number are set, at the end of the list. */
static inline void epml_pending_enter(epml_pending_queues_t *queues, epml_pending_thing_t *thing)
{
    thing->next = NULL;
    thing->last = thing;
    thing->since = 0;
    thing->next_queue = NULL;
    thing->prev_queue = queues->last;
    if (NULL == queues->last) {
        queues->first = thing;
    } else {
        queues->last->next_queue = thing;
    }
    queues->last = thing;
    if (NULL != queues->table) {
        epml_pending_thing_t **place = epml_pending_place(queues, thing->number);

        thing->chain = *place;
        *place = thing;
    }
    if (++queues->count > (NULL != queues->table ? queues->places : EPML_PENDING_FEW)) {
        epml_pending_grow(queues);
    }
}

/** Let heir, or no element (NULL), stand for a queue in place of its first thing. */
static inline void epml_pending_inherit(epml_pending_queues_t *queues, epml_pending_thing_t *thing,
                                        epml_pending_thing_t *heir)
{
    epml_pending_thing_t *before = NULL != heir ? heir : thing->next_queue;
    epml_pending_thing_t *behind = NULL != heir ? heir : thing->prev_queue;

    if (NULL != queues->table) {
        *epml_pending_chain_to(queues, thing) = NULL != heir ? heir : thing->chain;
    }
    if (NULL == thing->prev_queue) {
        queues->first = before;
    } else {
        thing->prev_queue->next_queue = before;
    }
    if (NULL == thing->next_queue) {
        queues->last = behind;
    } else {
        thing->next_queue->prev_queue = behind;
    }
    if (NULL != heir) {
        heir->last = thing->last;
        heir->next_queue = thing->next_queue;
        heir->prev_queue = thing->prev_queue;
        heir->chain = thing->chain;
        heir->peer = thing->peer;
        heir->since = thing->since;
        heir->number = thing->number;
        return;
    }
    if (0 == --queues->count) {
        free(queues->table);
        queues->table = NULL;
    }
}

/** Put a thing behind all others for the peer.  @return true: it is the first of a new queue */
static inline bool epml_pending_append(epml_pending_queues_t *queues, void *peer, uint32_t number,
                                       epml_pending_thing_t *thing)
{
    epml_pending_thing_t *first = epml_pending_find(queues, number);

    if (NULL == first) {
        thing->peer = peer;
        thing->number = number;
        epml_pending_enter(queues, thing);
        return true;
    }
    thing->next = NULL;
    first->last->next = thing;
    first->last = thing;
    return false;
}

/** Put a thing before all others for the peer: back to where it was.
 * @return true: it is the first of a new queue, at the end of the list */
static inline bool epml_pending_put_back(epml_pending_queues_t *queues, void *peer, uint32_t number,
                                         epml_pending_thing_t *thing)
{
    epml_pending_thing_t *first = epml_pending_find(queues, number);

    if (NULL == first) {
        return epml_pending_append(queues, peer, number, thing);
    }
    epml_pending_inherit(queues, first, thing);
    thing->next = first;
    return false;
}

/** Take the first thing out of its queue.  The next one has not waited for anything as the first
 * one.  @return true: the queue is over */
static inline bool epml_pending_take(epml_pending_queues_t *queues, epml_pending_thing_t *first)
{
    epml_pending_inherit(queues, first, first->next);
    if (NULL == first->next) {
        return true;
    }
    first->next->since = 0;
    return false;
}

/** Take the thing behind another one out of their queue. */
static inline void epml_pending_take_behind(epml_pending_thing_t *first,
                                            epml_pending_thing_t *before)
{
    epml_pending_thing_t *thing = before->next;

    before->next = thing->next;
    if (first->last == thing) {
        first->last = before;
    }
}

/** Move a queue to the end of the list. */
static inline void epml_pending_rotate(epml_pending_queues_t *queues, epml_pending_thing_t *first)
{
    if (NULL == first->next_queue) {
        return;
    }
    first->next_queue->prev_queue = first->prev_queue;
    if (NULL == first->prev_queue) {
        queues->first = first->next_queue;
    } else {
        first->prev_queue->next_queue = first->next_queue;
    }
    first->next_queue = NULL;
    first->prev_queue = queues->last;
    queues->last->next_queue = first;
    queues->last = first;
}

#endif /* MCA_PML_EPML_PENDING_QUEUE_H */
