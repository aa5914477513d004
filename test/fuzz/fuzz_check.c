/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What must hold between two actions: the counts and lists of the endpoint under test agree.
 */

#include "fuzz.h"

#include "ompi/mca/pml/epml/wire/pml_epml_flow.h"

/** All places of a message: one in its exact queue, and one in each wildcard queue that it is in.
 * @return the exact queue */
static const epml_match_queue_t *check_places(const epml_match_unexpected_t *message)
{
    const epml_match_queue_t *exact = epml_match_queue_of(message);

    FUZZ_CHECK(EPML_MATCH_EXACT == exact->kind, "a message in a queue of kind %d", exact->kind);
    for (const epml_match_entry_t *entry = epml_match_entry(message->place); NULL != entry;
         entry = epml_match_entry(entry->rest)) {
        const epml_match_queue_t *queue = entry->queue;

        FUZZ_CHECK(message == entry->message, "an entry of another message");
        if (NULL == queue) {
            FUZZ_CHECK(entry >= fuzz_ep->match.hands
                           && entry < fuzz_ep->match.hands + EPML_MATCH_KINDS,
                       "an entry in no queue");
            continue;
        }
        FUZZ_CHECK(exact->context == queue->context, "an entry in another context");
        FUZZ_CHECK(EPML_MATCH_EXACT != queue->kind && EPML_MATCH_PROMISE != queue->kind,
                   "an entry in a queue of kind %d", queue->kind);
        FUZZ_CHECK((EPML_MATCH_ANY == queue->tag || exact->tag == queue->tag)
                       && (EPML_MATCH_ANY == queue->source || exact->source == queue->source),
                   "an entry in a queue that does not fit");
    }
    return exact;
}

/** The lists of one queue hang together.
 * @param[in,out] posted  receives, by kind
 * @return messages in the queue, if it is of the exact kind */
static uint64_t check_queue(const epml_match_queue_t *queue, uint64_t *posted)
{
    const epml_match_posted_t *before = NULL;
    const epml_match_unexpected_t *last = NULL;
    const epml_match_entry_t *entry = NULL;
    uint64_t messages = 0;

    if (EPML_MATCH_PROMISE == queue->kind) {
        FUZZ_CHECK(NULL == queue->posted_first, "a receive where promises are noted");
        return 0;
    }
    for (const epml_match_posted_t *at = queue->posted_first; NULL != at; at = at->next) {
        FUZZ_CHECK(queue == at->queue && before == at->prev, "a broken list of receives");
        ++posted[queue->kind];
        before = at;
    }
    FUZZ_CHECK(before == queue->posted_last, "a list of receives without end");
    if (EPML_MATCH_EXACT != queue->kind) {
        for (const epml_match_entry_t *at = queue->unexpected.wild.first; NULL != at;
             at = at->next) {
            FUZZ_CHECK(queue == at->queue && entry == at->prev, "a broken list of entries");
            entry = at;
        }
        FUZZ_CHECK(entry == queue->unexpected.wild.last, "a list of entries without end");
        return 0;
    }
    for (const epml_match_unexpected_t *at = queue->unexpected.exact.first; NULL != at;
         at = at->next) {
        FUZZ_CHECK(queue == epml_match_queue_of(at), "a message of another queue");
        last = at;
        ++messages;
    }
    FUZZ_CHECK(last == queue->unexpected.exact.last, "a queue of messages without end");
    return messages;
}

void fuzz_check_matching(void)
{
    const epml_match_table_t *table = &fuzz_ep->match;
    const epml_match_unexpected_t *last = NULL;
    uint64_t posted[EPML_MATCH_KINDS] = {0}, unexpected = 0, queued = 0, bytes = 0;

    for (uint64_t i = 0; i < table->buckets; ++i) {
        for (const epml_match_queue_t *queue = *epml_match_bucket(table, i); NULL != queue;
             queue = queue->chain) {
            queued += check_queue(queue, posted);
        }
    }
    for (const epml_match_unexpected_t *at = table->arrival_first; NULL != at; at = at->newer) {
        FUZZ_CHECK(last == at->older, "a broken list of messages");
        (void) check_places(at);
        bytes += mca_pml_epml_unexpected_cost(((const mca_pml_epml_unexpected_t *) at)->size);
        last = at;
        ++unexpected;
    }
    FUZZ_CHECK(last == table->arrival_last, "a list of messages without end");
    FUZZ_CHECK(unexpected == table->unexpected_count && unexpected == queued,
               "%llu messages, %llu in queues, counted %llu", (unsigned long long) unexpected,
               (unsigned long long) queued, (unsigned long long) table->unexpected_count);
    /* One that a matched probe has taken out is kept all the same. */
    FUZZ_CHECK(0 == fuzz_ep->flow.taken_out ? bytes == fuzz_ep->flow.bytes
                                            : bytes < fuzz_ep->flow.bytes,
               "%llu bytes kept, counted %llu", (unsigned long long) bytes,
               (unsigned long long) fuzz_ep->flow.bytes);
    for (int kind = 0; kind < EPML_MATCH_KINDS; ++kind) {
        FUZZ_CHECK(posted[kind] == table->posted_count[kind], "%llu receives, counted %llu",
                   (unsigned long long) posted[kind],
                   (unsigned long long) table->posted_count[kind]);
    }
}

/** The peers that were sent HOLD, and that sent it, are counted right. */
static void check_flow(void)
{
    uint32_t holding = 0, held = 0;

    for (uint32_t i = 0; i < fuzz_ep->wire.connection_size; ++i) {
        const mca_pml_epml_connection_t *connection = &fuzz_ep->wire.connections[i];

        FUZZ_CHECK(connection->used || (NULL == connection->holding && !connection->held),
                   "an unused connection holds");
        FUZZ_CHECK(NULL == connection->holding || fuzz_remote == connection->holding,
                   "another than the remote rank was sent HOLD");
        holding += NULL != connection->holding ? 1 : 0;
        held += connection->held ? 1 : 0;
    }
    FUZZ_CHECK(holding == fuzz_ep->flow.holding_count && held == fuzz_ep->flow.held_count,
               "%u were sent HOLD, counted %u; %u sent it, counted %u", holding,
               fuzz_ep->flow.holding_count, held, fuzz_ep->flow.held_count);
    FUZZ_CHECK(!fuzz_ep->flow.exhausted, "memory is said to have run out");
    FUZZ_CHECK(fuzz_ep->flow.full || fuzz_ep->flow.bytes <= fuzz_ep->flow.limit,
               "%llu bytes kept, and not full", (unsigned long long) fuzz_ep->flow.bytes);
}

uint32_t fuzz_check_numbers(void)
{
    const epml_request_ids_t *numbers = &fuzz_ep->numbers;
    uint32_t used = 0, free_count = 0;

    for (uint32_t i = 0; i < numbers->count; ++i) {
        const mca_pml_epml_request_t *request = epml_request_ids_slot(numbers, i)->request;

        if (NULL != request) {
            FUZZ_CHECK(i == (request->number & ((1u << EPML_NUMBER_INDEX_BITS) - 1)),
                       "number %u belongs to the request of %u", i, request->number);
            ++used;
        }
    }
    for (uint32_t i = numbers->first_free; EPML_NUMBER_NONE != i;
         i = epml_request_ids_slot(numbers, i)->next_free) {
        FUZZ_CHECK(i < numbers->count && NULL == epml_request_ids_slot(numbers, i)->request,
                   "number %u is free", i);
        ++free_count;
        FUZZ_CHECK(free_count <= numbers->count, "the free numbers go in a circle");
    }
    FUZZ_CHECK(used + free_count == numbers->count, "%u numbers used, %u free, of %u", used,
               free_count, numbers->count);
    return used;
}

/** Nothing that is over waits for its turn to go on; there is one remote rank to wait for. */
static void check_pending_queues(void)
{
    const epml_pending_queues_t *queues = &fuzz_ep->wire.pending;
    const epml_pending_thing_t *last = NULL;

    FUZZ_CHECK(queues->first == queues->last, "several pending queues");
    FUZZ_CHECK((NULL == queues->first ? 0 : 1) == queues->count, "%u pending queues",
               queues->count);
    if (NULL == queues->first) {
        return;
    }
    FUZZ_CHECK(fuzz_remote == queues->first->peer
                   && queues->first == epml_pending_find(queues, fuzz_remote->slot),
               "a pending queue of nobody");
    for (const epml_pending_thing_t *thing = queues->first; NULL != thing; thing = thing->next) {
        const mca_pml_epml_request_t *request = ((const mca_pml_epml_pending_t *) thing)->request;

        FUZZ_CHECK(NULL == request || !request->done, "a request that is over waits");
        FUZZ_CHECK(NULL == request || &request->pending.thing == thing, "another's place");
        FUZZ_CHECK(NULL == request || fuzz_is(request, "send") || request->in_pending_queue,
                   "a request waits, and does not know");
        last = thing;
    }
    FUZZ_CHECK(last == queues->first->last, "a pending queue without end");
}

void fuzz_check(void)
{
    epml_lock_enter(&fuzz_ep->lock);
    check_pending_queues();
    FUZZ_CHECK(NULL == fuzz_ep->requests.deferred, "something deferred was not done");
    fuzz_check_matching();
    check_flow();
    (void) fuzz_check_numbers();
    epml_lock_leave(&fuzz_ep->lock, false);
}

void fuzz_check_idle(void)
{
    /* Relaxed: under the lock. */
    FUZZ_CHECK(0 == atomic_load_explicit(&fuzz_ep->comms.active, memory_order_relaxed),
               "a communicator is counted as active");
    for (int i = 0; i < FUZZ_COMM_FREED; ++i) {
        const mca_pml_epml_comm_t *comm = mca_pml_epml_comm(fuzz_comms[i].comm);

        FUZZ_CHECK(0 == comm->active, "%llu requests of communicator %d are counted as active",
                   (unsigned long long) comm->active, i);
        FUZZ_CHECK(!comm->message_lost, "communicator %d has lost a message", i);
        FUZZ_CHECK((fuzz_net.lost || comm->loss.left) == comm->loss.member,
                   "communicator %d has%s lost a member", i, comm->loss.member ? "" : " not");
    }
    FUZZ_CHECK(0 == fuzz_ep->flow.bytes && 0 == fuzz_ep->flow.taken_out, "messages are missing");
}
