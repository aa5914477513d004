/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Arrival of messages: the handler, and the step that executes what the handler does not.
 *
 * The handler checks a message as a whole.  Answers go to the link.  Records are executed and
 * answered at once, while the step is not active, until one must wait for a lock, or there is too
 * much of them.  The rest of the message is copied for the step, which executes the records of each
 * origin in their order.  An origin whose record must wait holds up its own records alone.
 *
 * Called by the engine.
 *
 * Tests: win_net, unit/test_epwin_am, unit/test_epwin_am_random, fuzz/epwin
 */

#include "ompi_config.h"

#include "osc_epwin_am_link.h"
#include "osc_epwin_am_long.h"
#include "osc_epwin_am_queue.h"

#include <stdlib.h>
#include <string.h>

#define ENGINE mca_osc_epwin_component.engine

/** Slots of the first table of origins. */
#define QUEUE_SIZE 8

static inline const epwin_am_record_t *message_record(const epwin_am_message_t *message)
{
    return (const epwin_am_record_t *) (message->data + message->at);
}

/** @param[in] is_first  the work is not active.  @return NULL without memory */
static epwin_am_message_t *message_new(epwin_am_queue_t *queue, size_t size, bool is_first)
{
    return is_first && EPWIN_AM_SHORT >= size ? &queue->first.message
                                              : malloc(sizeof(epwin_am_message_t) + size);
}

static void message_free(epwin_am_queue_t *queue, epwin_am_message_t *message)
{
    if (&queue->first.message != message) {
        free(message);
    }
}

/* ---- origins ------------------------------------------------------------------------ */

static epwin_am_peer_t **queue_slot(epwin_am_peer_t **peers, uint32_t size, int rank)
{
    uint32_t i = ((uint32_t) rank * 2654435761U >> 7) & (size - 1);

    while (NULL != peers[i] && peers[i]->rank != rank) {
        i = (i + 1) & (size - 1);
    }
    return &peers[i];
}

/** A larger table, if need be. */
static bool queue_grow(epwin_am_queue_t *queue)
{
    const uint32_t size = 0 == queue->size ? QUEUE_SIZE : 2 * queue->size;
    epwin_am_peer_t **peers;

    if (2 * (queue->count + 1) <= queue->size) {
        return true;
    }
    peers = calloc(size, sizeof(*peers));
    if (NULL == peers) {
        return false;
    }
    for (uint32_t i = 0; i < queue->size; ++i) {
        if (NULL != queue->peers[i]) {
            *queue_slot(peers, size, queue->peers[i]->rank) = queue->peers[i];
        }
    }
    free(queue->peers);
    queue->peers = peers;
    queue->size = size;
    return true;
}

/** @return NULL without memory */
static epwin_am_peer_t *queue_peer(epwin_am_queue_t *queue, int rank)
{
    epwin_am_peer_t *peer = 0 == queue->size ? NULL : *queue_slot(queue->peers, queue->size, rank);

    if (OPAL_LIKELY(NULL != peer)) {
        return peer;
    }
    if (!queue_grow(queue) || NULL == (peer = calloc(1, sizeof(*peer)))) {
        return NULL;
    }
    peer->rank = rank;
    *queue_slot(queue->peers, queue->size, rank) = peer;
    ++queue->count;
    return peer;
}

/** Drop the messages of an origin. */
static void peer_drop(epwin_am_queue_t *queue, epwin_am_peer_t *peer)
{
    while (NULL != peer->first) {
        epwin_am_message_t *message = peer->first;

        peer->first = (epwin_am_message_t *) message->item.next;
        message_free(queue, message);
    }
    peer->last = NULL;
}

/** Drop all messages, but for those of origins whose long data are under way. */
static void queue_drop(epwin_am_queue_t *queue)
{
    epwin_am_peer_t **at = &queue->busy;

    while (NULL != *at) {
        epwin_am_peer_t *peer = *at;

        if (mca_osc_epwin_am_long_drop(peer)) {
            peer_drop(queue, peer);
            *at = peer->next_busy;
        } else {
            at = &peer->next_busy;
        }
    }
}

/** Messages from the inbox go to their origins. */
static void queue_sort(epwin_am_queue_t *queue)
{
    epwin_am_item_t *next, *item;

    for (item = inbox_take(&queue->inbox); NULL != item; item = next) {
        epwin_am_message_t *message = (epwin_am_message_t *) item;
        epwin_am_peer_t *peer;

        next = item->next;
        if (OPAL_UNLIKELY(&queue->tell == item)) {
            queue->notified = 0;
            continue;
        }
        peer = queue_peer(queue, message->rank);
        if (OPAL_UNLIKELY(NULL == peer)) {
            message_free(queue, message);
            atomic_store_explicit(&queue->is_broken, true, memory_order_relaxed);
            queue->notified = 0;
            continue;
        }
        message->item.next = NULL;
        if (NULL == peer->first) {
            peer->first = message;
            peer->next_busy = queue->busy;
            queue->busy = peer;
        } else {
            peer->last->item.next = &message->item;
        }
        peer->last = message;
    }
}

/* ---- the step --------------------------------------------------------------------------------- */

/** Execute an origin's messages.  @return EXECUTED: all */
static epwin_am_outcome_t peer_execute(epwin_am_queue_t *queue, epwin_am_peer_t *peer,
                                       size_t *budget)
{
    while (NULL != peer->first) {
        epwin_am_message_t *message = peer->first;

        while (message->at < message->size) {
            const epwin_am_record_t *record = message_record(message);
            epwin_am_outcome_t outcome;

            if (0 == *budget) {
                return EPWIN_AM_MORE;
            }
            if (!message->is_executed) {
                outcome = mca_osc_epwin_am_execute(queue, peer, record, &message->cursor, budget);
                if (EPWIN_AM_EXECUTED != outcome) {
                    return outcome;
                }
                message->is_executed = true;
            }
            if (0 != (record->flags & EPWIN_AM_FLAG_ACK)
                && !mca_osc_epwin_am_reply_ack(queue, peer)) {
                return EPWIN_AM_NO_ROOM;
            }
            message->at += epwin_am_length(record);
            message->cursor = (epwin_am_cursor_t){0};
            message->is_executed = false;
        }
        peer->first = (epwin_am_message_t *) message->item.next;
        message_free(queue, message);
    }
    peer->last = NULL;
    return EPWIN_AM_EXECUTED;
}

/** Execute what there is.  @return whether something was done */
static bool queue_execute(epwin_am_queue_t *queue)
{
    epwin_am_peer_t **at = &queue->busy;
    size_t budget = EPWIN_AM_STEP_MAX;
    bool done = false;

    while (NULL != *at) {
        epwin_am_peer_t *peer = *at;
        const epwin_am_message_t *message = peer->first;
        const uint32_t before = message->at, bytes = message->cursor.done;
        const epwin_am_outcome_t outcome = peer_execute(queue, peer, &budget);

        done = done || message != peer->first || before != peer->first->at
               || bytes != peer->first->cursor.done;
        if (EPWIN_AM_EXECUTED == outcome) {
            *at = peer->next_busy;
        } else {
            at = &peer->next_busy;
        }
        if (EPWIN_AM_MORE == outcome || EPWIN_AM_NO_ROOM == outcome) {
            break;
        }
    }
    return mca_osc_epwin_am_reply_send(queue) && done;
}

/** The busy origins in another order: the one that has used up the budget last. */
static void queue_turn(epwin_am_queue_t *queue)
{
    epwin_am_peer_t *first = queue->busy, **at = &queue->busy;

    if (NULL == first || NULL == first->next_busy) {
        return;
    }
    queue->busy = first->next_busy;
    while (NULL != *at) {
        at = &(*at)->next_busy;
    }
    first->next_busy = NULL;
    *at = first;
}

static mpix_endpoints_step_t queue_step(mpix_endpoints_work_t *work)
{
    epwin_am_queue_t *queue = (epwin_am_queue_t *) ((char *) work
                                                    - offsetof(epwin_am_queue_t, work));
    bool done = false;

    queue_sort(queue);
    if (OPAL_UNLIKELY(NULL == queue->module->win
                      || atomic_load_explicit(&queue->is_broken, memory_order_relaxed))) {
        queue_drop(queue);
    }
    if (OPAL_UNLIKELY(0 <= queue->notified)) {
        if (!mca_osc_epwin_am_reply_broken(queue)) {
            return MPIX_ENDPOINTS_STEP_IDLE;
        }
        queue->notified = -1;
        atomic_store_explicit(&queue->is_telling, false, memory_order_relaxed);
    }
    if (mca_osc_epwin_am_reply_send(queue)) {
        done = queue_execute(queue);
        queue_turn(queue);
    }
    if (NULL == queue->busy && 0 == queue->reply_used && inbox_end(&queue->inbox)) {
        return MPIX_ENDPOINTS_STEP_DONE;
    }
    return done ? MPIX_ENDPOINTS_STEP_PROGRESS : MPIX_ENDPOINTS_STEP_IDLE;
}

/* ---- the handler ------------------------------------------------------------------------------ */

static void queue_push(epwin_am_queue_t *queue, epwin_am_item_t *item)
{
    if (inbox_push(&queue->inbox, item)) {
        queue->work.step = queue_step;
        ENGINE->work_begin(queue->module->comm, &queue->work);
    }
}

/** Execute and answer records at once: as peer_execute, of a message that is not copied so far.
 *
 * @param[out] message  of the next record: cursor and is_executed
 * @return bytes that have been executed */
static size_t queue_execute_now(epwin_am_queue_t *queue, epwin_am_peer_t *peer, const char *data,
                                size_t size, epwin_am_message_t *message)
{
    size_t at = 0, budget = EPWIN_AM_HANDLER_MAX;

    queue->is_in_handler = true;
    while (at < size && 0 < budget) {
        const epwin_am_record_t *record = (const epwin_am_record_t *) (data + at);

        if (EPWIN_AM_EXECUTED
            != mca_osc_epwin_am_execute(queue, peer, record, &message->cursor, &budget)) {
            break;
        }
        message->is_executed = 0 != (record->flags & EPWIN_AM_FLAG_ACK)
                               && !mca_osc_epwin_am_reply_ack(queue, peer);
        if (OPAL_UNLIKELY(message->is_executed)) {
            break;
        }
        at += epwin_am_length(record);
        message->cursor = (epwin_am_cursor_t){0};
    }
    (void) mca_osc_epwin_am_reply_send(queue);
    queue->is_in_handler = false;
    return at;
}

/** There is no memory for a message.  All members are notified, so that no origin waits for an
 * answer. */
static __attribute__((noinline)) void queue_break(epwin_am_queue_t *queue)
{
    atomic_store_explicit(&queue->is_broken, true, memory_order_relaxed);
    if (!atomic_exchange_explicit(&queue->is_telling, true, memory_order_relaxed)) {
        queue_push(queue, &queue->tell);
    }
}

bool mca_osc_epwin_am_handler(void *object, int rank, const void *data, size_t size)
{
    mca_osc_epwin_module_t *module = object;
    epwin_am_queue_t *queue = module->queue;
    epwin_am_message_t *message, rest = {.rank = rank};
    epwin_am_peer_t *peer;
    bool is_answer, is_first;
    size_t at = 0;

    if (NULL == module->peers || NULL == module->win) {
        return true; /* it has been freed, or its creation has failed */
    }
    if (!mca_osc_epwin_am_check(module, data, size, &is_answer)) {
        return false;
    }
    if (is_answer) {
        return mca_osc_epwin_am_answer(module, rank, data, size);
    }
    if (OPAL_UNLIKELY(atomic_load_explicit(&queue->is_broken, memory_order_relaxed))) {
        queue_break(queue);
        return true;
    }
    is_first = inbox_is_idle(&queue->inbox);
    if (is_first) {
        peer = queue_peer(queue, rank);
        if (OPAL_LIKELY(NULL != peer)) {
            at = queue_execute_now(queue, peer, data, size, &rest);
        }
        if (at == size && 0 == queue->reply_used) {
            return true;
        }
    }
    message = message_new(queue, size - at, is_first);
    if (OPAL_UNLIKELY(NULL == message)) {
        queue_break(queue);
        return true;
    }
    rest.size = (uint32_t) (size - at);
    *message = rest;
    memcpy(message->data, (const char *) data + at, size - at);
    queue_push(queue, &message->item);
    return true;
}

/* ---- the handle ------------------------------------------------------------------------------- */

int mca_osc_epwin_am_init(mca_osc_epwin_module_t *module)
{
    epwin_am_queue_t *queue = calloc(1, sizeof(*queue));

    if (NULL == queue) {
        return MPI_ERR_NO_MEM;
    }
    queue->module = module;
    queue->notified = -1;
    queue->reply_rank = -1;
    module->queue = queue;
    return MPI_SUCCESS;
}

static void queue_free(epwin_am_queue_t *queue)
{
    epwin_am_item_t *next, *item;

    for (item = inbox_take(&queue->inbox); NULL != item; item = next) {
        next = item->next;
        if (&queue->tell != item) {
            message_free(queue, (epwin_am_message_t *) item);
        }
    }
    queue_drop(queue);
    for (uint32_t i = 0; i < queue->size; ++i) {
        free(queue->peers[i]);
    }
    free(queue->peers);
    free(queue->reply);
    free(queue);
}

void mca_osc_epwin_am_free(mca_osc_epwin_module_t *module)
{
    mca_osc_epwin_am_origin_free(module);
    if (NULL != module->queue) {
        queue_free(module->queue);
        module->queue = NULL;
    }
}
