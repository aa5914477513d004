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
 * Tests: unit/test_epml_backlog
 */

#ifndef MCA_PML_EPML_BACKLOG_H
#define MCA_PML_EPML_BACKLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/** The tests count what a search looks at. */
#if !defined(EPML_BACKLOG_STEP)
#    define EPML_BACKLOG_STEP()
#endif

/** Up to so many queues are found by walking the list. */
#define EPML_BACKLOG_FEW 8

/** A thing in a queue; part of a larger structure. */
typedef struct epml_backlog_thing_t {
    struct epml_backlog_thing_t *next; /**< behind it in its queue */

    /* Of the first one in its queue. */
    struct epml_backlog_thing_t *last;                    /**< in its queue */
    struct epml_backlog_thing_t *next_queue, *prev_queue; /**< their first things */
    struct epml_backlog_thing_t *chain;                   /**< in its place of the table */
    void *peer;                                           /**< the caller's */
    uint64_t since;  /**< likewise; 0 when it becomes the first one */
    uint32_t number; /**< of the peer */
} epml_backlog_thing_t;

/** All queues of an endpoint; starts as zeros. */
typedef struct epml_backlogs_t {
    epml_backlog_thing_t *first, *last; /**< of the list of queues */
    epml_backlog_thing_t **table;       /**< NULL: there are few, or there was no memory */
    uint32_t places;                    /**< of the table, a power of two */
    uint32_t count;                     /**< queues */
} epml_backlogs_t;

/** Where the chain of a number begins. */
static inline epml_backlog_thing_t **epml_backlog_place(const epml_backlogs_t *backlogs,
                                                        uint32_t number)
{
    /* Numbers are given out one after the other: multiplied by 2^32 over the golden ratio, the high
     * bits differ for those in a row and for every 2^k-th alike. */
    return &backlogs->table[((number * UINT32_C(2654435769)) >> 8) & (backlogs->places - 1)];
}

/** The first thing of a peer's queue, or NULL. */
static inline epml_backlog_thing_t *epml_backlog_find(const epml_backlogs_t *backlogs,
                                                      uint32_t number)
{
    epml_backlog_thing_t *thing;

    if (NULL != backlogs->table) {
        for (thing = *epml_backlog_place(backlogs, number);
             NULL != thing && number != thing->number; thing = thing->chain) {
            EPML_BACKLOG_STEP();
        }
        return thing;
    }
    for (thing = backlogs->first; NULL != thing && number != thing->number;
         thing = thing->next_queue) {
        EPML_BACKLOG_STEP();
    }
    return thing;
}

/** Make the table, or a larger one; without memory all stays as it is. */
static inline void epml_backlog_grow(epml_backlogs_t *backlogs)
{
    const uint32_t places = NULL == backlogs->table ? 4 * EPML_BACKLOG_FEW : 2 * backlogs->places;
    epml_backlog_thing_t **table = (epml_backlog_thing_t **) calloc(places, sizeof(*table));

    if (NULL == table) {
        return;
    }
    free(backlogs->table);
    backlogs->table = table;
    backlogs->places = places;
    for (epml_backlog_thing_t *thing = backlogs->first; NULL != thing; thing = thing->next_queue) {
        epml_backlog_thing_t **place = epml_backlog_place(backlogs, thing->number);

        EPML_BACKLOG_STEP();
        thing->chain = *place;
        *place = thing;
    }
}

/** The pointer in the table that leads to the first thing of a queue. */
static inline epml_backlog_thing_t **epml_backlog_chain_to(const epml_backlogs_t *backlogs,
                                                           const epml_backlog_thing_t *thing)
{
    epml_backlog_thing_t **next = epml_backlog_place(backlogs, thing->number);

    while (thing != *next) {
        EPML_BACKLOG_STEP();
        next = &(*next)->chain;
    }
    return next;
}

/** A queue of one thing, whose peer and number are set, at the end of the list. */
static inline void epml_backlog_enter(epml_backlogs_t *backlogs, epml_backlog_thing_t *thing)
{
    thing->next = NULL;
    thing->last = thing;
    thing->since = 0;
    thing->next_queue = NULL;
    thing->prev_queue = backlogs->last;
    if (NULL == backlogs->last) {
        backlogs->first = thing;
    } else {
        backlogs->last->next_queue = thing;
    }
    backlogs->last = thing;
    if (NULL != backlogs->table) {
        epml_backlog_thing_t **place = epml_backlog_place(backlogs, thing->number);

        thing->chain = *place;
        *place = thing;
    }
    if (++backlogs->count > (NULL != backlogs->table ? backlogs->places : EPML_BACKLOG_FEW)) {
        epml_backlog_grow(backlogs);
    }
}

/** Let heir, or no element (NULL), stand for a queue in place of its first thing. */
static inline void epml_backlog_inherit(epml_backlogs_t *backlogs, epml_backlog_thing_t *thing,
                                        epml_backlog_thing_t *heir)
{
    epml_backlog_thing_t *before = NULL != heir ? heir : thing->next_queue;
    epml_backlog_thing_t *behind = NULL != heir ? heir : thing->prev_queue;

    if (NULL != backlogs->table) {
        *epml_backlog_chain_to(backlogs, thing) = NULL != heir ? heir : thing->chain;
    }
    if (NULL == thing->prev_queue) {
        backlogs->first = before;
    } else {
        thing->prev_queue->next_queue = before;
    }
    if (NULL == thing->next_queue) {
        backlogs->last = behind;
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
    if (0 == --backlogs->count) {
        free(backlogs->table);
        backlogs->table = NULL;
    }
}

/** Put a thing behind all others for the peer.  @return true: it is the first of a new queue */
static inline bool epml_backlog_append(epml_backlogs_t *backlogs, void *peer, uint32_t number,
                                       epml_backlog_thing_t *thing)
{
    epml_backlog_thing_t *first = epml_backlog_find(backlogs, number);

    if (NULL == first) {
        thing->peer = peer;
        thing->number = number;
        epml_backlog_enter(backlogs, thing);
        return true;
    }
    thing->next = NULL;
    first->last->next = thing;
    first->last = thing;
    return false;
}

/** Put a thing before all others for the peer: back to where it was.
 * @return true: it is the first of a new queue, at the end of the list */
static inline bool epml_backlog_put_back(epml_backlogs_t *backlogs, void *peer, uint32_t number,
                                         epml_backlog_thing_t *thing)
{
    epml_backlog_thing_t *first = epml_backlog_find(backlogs, number);

    if (NULL == first) {
        return epml_backlog_append(backlogs, peer, number, thing);
    }
    epml_backlog_inherit(backlogs, first, thing);
    thing->next = first;
    return false;
}

/** Take the first thing out of its queue.  The next one has not waited for anything as the first
 * one.  @return true: the queue is over */
static inline bool epml_backlog_take(epml_backlogs_t *backlogs, epml_backlog_thing_t *first)
{
    epml_backlog_inherit(backlogs, first, first->next);
    if (NULL == first->next) {
        return true;
    }
    first->next->since = 0;
    return false;
}

/** Take the thing behind another one out of their queue. */
static inline void epml_backlog_take_behind(epml_backlog_thing_t *first,
                                            epml_backlog_thing_t *before)
{
    epml_backlog_thing_t *thing = before->next;

    before->next = thing->next;
    if (first->last == thing) {
        first->last = before;
    }
}

/** Move a queue to the end of the list. */
static inline void epml_backlog_rotate(epml_backlogs_t *backlogs, epml_backlog_thing_t *first)
{
    if (NULL == first->next_queue) {
        return;
    }
    first->next_queue->prev_queue = first->prev_queue;
    if (NULL == first->prev_queue) {
        backlogs->first = first->next_queue;
    } else {
        first->prev_queue->next_queue = first->next_queue;
    }
    first->next_queue = NULL;
    first->prev_queue = backlogs->last;
    backlogs->last->next_queue = first;
    backlogs->last = first;
}

#endif /* MCA_PML_EPML_BACKLOG_H */
