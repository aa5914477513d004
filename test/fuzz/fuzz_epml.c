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
 * libFuzzer's target for what arrives from the network at pml/epml (mca_pml_epml_arrived).
 *
 * One process makes three endpoints.  Rank 0 is under test.  Rank 2 is made to look as if it lived
 * in another process: its inbox is hidden, and rank 0 gets a network module of the fuzzer's own,
 * whose progress brings the messages.  So all runs as it does in a job: the handler in progress,
 * under the endpoint's lock, between calls of MPI.
 *
 * An input is a list of actions, each a byte that chooses it and bytes that it reads: a message
 * arrives, the user calls something, a get is done, the network becomes full, broken or well again.
 * Each input finds the same requests under way (fuzz_requests.c).  At its end all of them are led to
 * their ends by a peer that behaves, and everything must be back where it was.
 */

#include "fuzz.h"

#include "ompi/mca/pml/epml/pml_epml_flow.h"
#include "ompi/mpiext/endpoints/c/mpiext_endpoints_c.h"

#include <pthread.h>

#define ACTIONS_MAX 64
#define ENDING_MAX 10000
#define UNEXPECTED_LIMIT 8192 /* a few messages, so that the endpoint becomes full */

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

fuzz_comm_t fuzz_comms[FUZZ_COMMS];
mca_pml_epml_ep_t *fuzz_ep;

static MPI_Comm handles[FUZZ_RANKS][FUZZ_COMMS];
static mca_pml_epml_peer_t *remote;
static struct mca_btl_base_endpoint_t *remote_inbox;

/* ---- beginning and end ----------------------------------------------------------------------- */

static void run_ranks(void *(*work)(void *))
{
    pthread_t threads[FUZZ_RANKS];

    for (int i = 0; i < FUZZ_RANKS; ++i) {
        FUZZ_CHECK(0 == pthread_create(&threads[i], NULL, work, handles[i]), "no thread");
    }
    for (int i = 0; i < FUZZ_RANKS; ++i) {
        pthread_join(threads[i], NULL);
    }
}

static void *make_comms(void *arg)
{
    MPI_Comm *comms = arg;
    int rank;

    MPI_Comm_rank(comms[FUZZ_COMM_MAIN], &rank);
    MPI_Comm_dup(comms[FUZZ_COMM_MAIN], &comms[FUZZ_COMM_DUP]);
    MPI_Comm_split(comms[FUZZ_COMM_MAIN], 0, FUZZ_RANKS - rank, &comms[FUZZ_COMM_REVERSED]);
    MPI_Comm_dup(comms[FUZZ_COMM_MAIN], &comms[FUZZ_COMM_FREED]);
    if (0 == rank) {
        fuzz_comms[FUZZ_COMM_FREED].context = mca_pml_epml_comm(comms[FUZZ_COMM_FREED])->context;
    }
    MPI_Barrier(comms[FUZZ_COMM_MAIN]);
    MPI_Comm_free(&comms[FUZZ_COMM_FREED]);
    MPI_Barrier(comms[FUZZ_COMM_MAIN]);
    return NULL;
}

static void *free_comms(void *arg)
{
    MPI_Comm *comms = arg;

    MPI_Comm_free(&comms[FUZZ_COMM_DUP]);
    MPI_Comm_free(&comms[FUZZ_COMM_REVERSED]);
    MPI_Comm_free(&comms[FUZZ_COMM_MAIN]);
    return NULL;
}

/** Hide the remote rank's inbox, and put the network in. */
static void connect_network(void)
{
    remote = mca_pml_epml_comm(handles[0][FUZZ_COMM_MAIN])->peers->peer[FUZZ_REMOTE];
    remote_inbox = remote->shm;
    remote->shm = NULL;
    remote->link = EPML_LINK_NET;
    remote->address_length = 8;
    fuzz_net_init();
    epml_lock_enter(&fuzz_ep->lock);
    FUZZ_CHECK(!mca_pml_epml_ep_has_links(fuzz_ep), "there is a network already");
    fuzz_ep->link[EPML_LINK_NET] = &fuzz_net.module;
    fuzz_ep->unexpected_limit = UNEXPECTED_LIMIT;
    atomic_store_explicit(&fuzz_ep->busy, true, memory_order_relaxed);
    epml_lock_leave(&fuzz_ep->lock, false);
}

/** The next use of the remote rank connects anew; nobody has told anybody to hold. */
static void forget_connections(void)
{
    for (uint32_t i = 0; i < fuzz_ep->connection_size; ++i) {
        if (NULL != fuzz_ep->connections[i].told) {
            /* Relaxed: never the last one, communicators have theirs. */
            atomic_fetch_sub_explicit(&fuzz_ep->connections[i].told->references, 1,
                                      memory_order_relaxed);
        }
        fuzz_ep->connections[i] = (mca_pml_epml_connection_t){0};
    }
    fuzz_ep->connections_used = 0;
    fuzz_ep->told_count = 0;
    fuzz_ep->held_count = 0;
    fuzz_ep->full = false;
    /* Relaxed: a hint to neighbours, as where the endpoint itself writes it. */
    atomic_store_explicit(&fuzz_ep->self->full, false, memory_order_relaxed);
}

static void end(void)
{
    forget_connections();
    fuzz_ep->link[EPML_LINK_NET] = NULL;
    remote->shm = remote_inbox;
    remote->address_length = 0;
    run_ranks(free_comms);
    MPI_Finalize();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    MPI_Comm endpoints[FUZZ_RANKS];
    int level;

    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level);
    FUZZ_CHECK(MPI_SUCCESS
                   == MPIX_Comm_create_endpoints(MPI_COMM_SELF, FUZZ_RANKS, MPI_INFO_NULL,
                                                 endpoints),
               "no endpoints");
    for (int i = 0; i < FUZZ_RANKS; ++i) {
        handles[i][FUZZ_COMM_MAIN] = endpoints[i];
    }
    run_ranks(make_comms);
    for (int i = 0; i < FUZZ_COMM_FREED; ++i) {
        fuzz_comm_t *comm = &fuzz_comms[i];

        comm->comm = handles[0][i];
        comm->context = mca_pml_epml_comm(comm->comm)->context;
        MPI_Comm_rank(comm->comm, &comm->rank);
        comm->remote = FUZZ_COMM_REVERSED == i ? FUZZ_RANKS - 1 - FUZZ_REMOTE : FUZZ_REMOTE;
        MPI_Comm_set_errhandler(comm->comm, MPI_ERRORS_RETURN);
    }
    fuzz_comms[FUZZ_COMM_FREED].remote = FUZZ_REMOTE;
    fuzz_ep = mca_pml_epml_comm(handles[0][FUZZ_COMM_MAIN])->ep;
    connect_network();
    atexit(end);
    return 0;
}

/* ---- what must hold -------------------------------------------------------------------------- */

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

/** The matching table counts right, and its lists hang together. */
static void check_matching(void)
{
    const epml_match_table_t *table = &fuzz_ep->match;
    const epml_match_unexpected_t *last = NULL;
    uint64_t posted[EPML_MATCH_KINDS] = {0}, unexpected = 0, queued = 0, bytes = 0;

    for (uint64_t i = 0; i <= table->bucket_mask; ++i) {
        for (const epml_match_queue_t *queue = table->buckets[i]; NULL != queue;
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
    FUZZ_CHECK(0 == fuzz_ep->taken_out ? bytes == fuzz_ep->unexpected_bytes
                                       : bytes < fuzz_ep->unexpected_bytes,
               "%llu bytes kept, counted %llu", (unsigned long long) bytes,
               (unsigned long long) fuzz_ep->unexpected_bytes);
    for (int kind = 0; kind < EPML_MATCH_KINDS; ++kind) {
        FUZZ_CHECK(posted[kind] == table->posted_count[kind], "%llu receives, counted %llu",
                   (unsigned long long) posted[kind],
                   (unsigned long long) table->posted_count[kind]);
    }
}

/** Who was told to hold, and who told us, is counted right. */
static void check_flow(void)
{
    uint32_t told = 0, held = 0;

    for (uint32_t i = 0; i < fuzz_ep->connection_size; ++i) {
        const mca_pml_epml_connection_t *connection = &fuzz_ep->connections[i];

        FUZZ_CHECK(connection->used || (NULL == connection->told && !connection->held),
                   "an unused connection holds");
        FUZZ_CHECK(NULL == connection->told || remote == connection->told,
                   "another than the remote rank was told to hold");
        told += NULL != connection->told ? 1 : 0;
        held += connection->held ? 1 : 0;
    }
    FUZZ_CHECK(told == fuzz_ep->told_count && held == fuzz_ep->held_count,
               "%u were told to hold, counted %u; %u told us, counted %u", told,
               fuzz_ep->told_count, held, fuzz_ep->held_count);
    FUZZ_CHECK(!fuzz_ep->exhausted, "memory is said to have run out");
    FUZZ_CHECK(fuzz_ep->full || fuzz_ep->unexpected_bytes <= fuzz_ep->unexpected_limit,
               "%llu bytes kept, and not full", (unsigned long long) fuzz_ep->unexpected_bytes);
}

/** Each number is free or belongs to the request that has it.  @return how many are used */
static uint32_t check_numbers(void)
{
    const mca_pml_epml_numbers_t *numbers = &fuzz_ep->numbers;
    uint32_t used = 0, free_count = 0;

    for (uint32_t i = 0; i < numbers->count; ++i) {
        const mca_pml_epml_request_t *request = numbers->slot[i].request;

        if (NULL != request) {
            FUZZ_CHECK(i == (request->number & ((1u << EPML_NUMBER_INDEX_BITS) - 1)),
                       "number %u belongs to the request of %u", i, request->number);
            ++used;
        }
    }
    for (uint32_t i = numbers->first_free; EPML_NUMBER_NONE != i; i = numbers->slot[i].next_free) {
        FUZZ_CHECK(i < numbers->count && NULL == numbers->slot[i].request, "number %u is free", i);
        ++free_count;
        FUZZ_CHECK(free_count <= numbers->count, "the free numbers go in a circle");
    }
    FUZZ_CHECK(used + free_count == numbers->count, "%u numbers used, %u free, of %u", used,
               free_count, numbers->count);
    return used;
}

/** Nothing that is over waits for its turn to go on. */
static void check_backlogs(void)
{
    for (const mca_pml_epml_backlog_t *backlog = fuzz_ep->backlogs; NULL != backlog;
         backlog = backlog->next) {
        FUZZ_CHECK(remote == backlog->peer && NULL != backlog->first, "a backlog of nothing");
        for (const mca_pml_epml_pending_t *at = backlog->first; NULL != at; at = at->next) {
            FUZZ_CHECK(NULL == at->request || !at->request->done, "a request that is over waits");
        }
    }
}

static void check(void)
{
    epml_lock_enter(&fuzz_ep->lock);
    check_backlogs();
    FUZZ_CHECK(NULL == fuzz_ep->deferred, "something deferred was not done");
    check_matching();
    check_flow();
    (void) check_numbers();
    epml_lock_leave(&fuzz_ep->lock, false);
}

/* ---- the peer that behaves ------------------------------------------------------------------- */

/** Answer a request that waits for an answer.  @return false: none does */
static bool answer(void)
{
    for (uint32_t i = 0; i < fuzz_ep->numbers.count; ++i) {
        const mca_pml_epml_request_t *request = fuzz_ep->numbers.slot[i].request;

        if (NULL == request || request->done) {
            continue;
        }
        if (EPML_REQUEST_RECV == request->kind) {
            const uint64_t left = request->wanted - request->received;

            fuzz_frag(request->number, request->received,
                      FUZZ_FRAG_LIMIT < left ? FUZZ_FRAG_LIMIT : left);
        } else {
            fuzz_finished(EPML_SEND_SYNC == request->state ? EPML_HDR_ACK : EPML_HDR_FIN,
                          request->number);
        }
        return true;
    }
    return false;
}

static const fuzz_comm_t *comm_of(uint64_t context)
{
    const fuzz_comm_t *comm = fuzz_comms;

    while (context != comm->context) {
        ++comm;
        FUZZ_CHECK(comm < fuzz_comms + FUZZ_COMM_FREED, "a receive of no communicator");
    }
    return comm;
}

/** Send what a posted receive waits for.  @return false: none is posted */
static bool serve(void)
{
    for (uint64_t i = 0; i <= fuzz_ep->match.bucket_mask; ++i) {
        for (const epml_match_queue_t *queue = fuzz_ep->match.buckets[i]; NULL != queue;
             queue = queue->chain) {
            if (NULL != queue->posted_first) {
                const fuzz_comm_t *comm = comm_of(queue->context);

                fuzz_eager(comm, comm->remote, EPML_MATCH_ANY == queue->tag ? 1 : queue->tag, 0);
                return true;
            }
        }
    }
    return false;
}

/** Lead all requests to their ends, in a network that is well. */
static void end_requests(void)
{
    memset(fuzz_net.policy, FUZZ_WELL, sizeof(fuzz_net.policy));
    fuzz_requests_receive_probed();
    for (int i = 0;; ++i) {
        FUZZ_CHECK(ENDING_MAX > i, "there is no end to it");
        fuzz_net_poll();
        if (0 < fuzz_net.gets) {
            fuzz_net_finish_get(OPAL_SUCCESS);
        } else if (NULL == fuzz_ep->backlogs && !answer() && !serve()) {
            break;
        }
    }
    fuzz_requests_finish();
}

/** Nothing is under way on any communicator. */
static void check_idle(void)
{
    /* Relaxed: under the lock. */
    FUZZ_CHECK(0 == atomic_load_explicit(&fuzz_ep->active_comms, memory_order_relaxed),
               "a communicator is counted as active");
    for (int i = 0; i < FUZZ_COMM_FREED; ++i) {
        const mca_pml_epml_comm_t *comm = mca_pml_epml_comm(fuzz_comms[i].comm);

        FUZZ_CHECK(0 == comm->active, "%llu requests of communicator %d are counted as active",
                   (unsigned long long) comm->active, i);
        FUZZ_CHECK(!comm->lost && !comm->lost_member, "communicator %d has lost something", i);
    }
    FUZZ_CHECK(0 == fuzz_ep->unexpected_bytes && 0 == fuzz_ep->taken_out, "messages are missing");
}

/** Forget what was not received, and put back what counts up: the next input starts as this one. */
static void clear(void)
{
    epml_match_table_t *table = &fuzz_ep->match;
    mca_pml_epml_numbers_t *numbers = &fuzz_ep->numbers;

    epml_lock_enter(&fuzz_ep->lock);
    while (NULL != table->arrival_first) {
        epml_match_unexpected_t *message = table->arrival_first;

        fuzz_ep->unexpected_bytes
            -= mca_pml_epml_unexpected_cost(((mca_pml_epml_unexpected_t *) message)->size);
        epml_match_remove(table, message);
        free(message);
    }
    epml_match_sweep(table);
    check_matching();
    FUZZ_CHECK(0 == table->queues, "%llu queues are not empty", (unsigned long long) table->queues);
    FUZZ_CHECK(0 == check_numbers(), "a number is still used");
    check_idle();
    numbers->first_free = 0 < numbers->count ? 0 : EPML_NUMBER_NONE;
    for (uint32_t i = 0; i < numbers->count; ++i) {
        numbers->slot[i].generation = i;
        numbers->slot[i].next_free = i + 1 < numbers->count ? i + 1 : EPML_NUMBER_NONE;
    }
    forget_connections();
    fuzz_ep->net_interval = 1;
    fuzz_ep->net_countdown = 1;
    epml_lock_leave(&fuzz_ep->lock, false);
    fuzz_net_reset();
}

/* ---- one input ------------------------------------------------------------------------------- */

static void set_policy(fuzz_input_t *input)
{
    const uint8_t choice = fuzz_byte(input);

    if (32 > choice) {
        memset(fuzz_net.policy, FUZZ_WELL, sizeof(fuzz_net.policy));
    } else {
        fuzz_net.policy[choice % FUZZ_CALLS] = fuzz_byte(input) % FUZZ_POLICIES;
    }
}

static void finish_get(fuzz_input_t *input)
{
    fuzz_net_finish_get(0 != fuzz_byte(input) % 4 ? OPAL_SUCCESS : OPAL_ERROR);
}

/** A message from rank 1, by shared memory: what may be trusted comes between what may not. */
static void neighbour_sends(fuzz_input_t *input)
{
    static const uint64_t data[4] = {1, 2, 3, 4};
    const uint8_t choice = fuzz_byte(input);

    if (fuzz_ep->full) {
        return; /* its data would stay where they are, and the call wait for a receive */
    }
    MPI_Send(data, choice % 32, MPI_BYTE, FUZZ_COMM_REVERSED == choice % 3 ? FUZZ_RANKS - 1 : 0,
             choice / 16, handles[1][choice % 3]);
}

static void poll_once(fuzz_input_t *input)
{
    (void) input;
    fuzz_net_poll();
}

/** By chance: the more often, the more places. */
static void (*const actions[])(fuzz_input_t *input) = {
    fuzz_header_deliver, fuzz_header_deliver, fuzz_header_deliver, fuzz_header_deliver,
    fuzz_header_deliver, fuzz_requests_act,   fuzz_requests_act,   set_policy,
    finish_get,          finish_get,          neighbour_sends,     poll_once,
};

#define ACTIONS (sizeof(actions) / sizeof(actions[0]))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input_t input = {.data = data, .size = size};
    const fuzz_comm_t *comm = &fuzz_comms[FUZZ_COMM_MAIN];

    fuzz_requests_start();
    fuzz_eager(comm, comm->remote, 9, 100);
    fuzz_rndv(comm, 9, 2000);
    fuzz_eager(&fuzz_comms[FUZZ_COMM_REVERSED], fuzz_comms[FUZZ_COMM_REVERSED].remote, -9, 8);
    for (int i = 0; i < ACTIONS_MAX && 0 < input.size; ++i) {
        actions[fuzz_byte(&input) % ACTIONS](&input);
        fuzz_requests_check();
        check();
    }
    end_requests();
    clear();
    return 0;
}
