/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
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
 * Each input finds the same requests under way (fuzz_requests.c, fuzz_parts.c).  At its end all of
 * them are led to their ends by a peer that behaves, and everything must be back where it was.
 *
 * Guards: pml_epml_request.c, epml/proto, pml_epml_am.c
 */

#include "fuzz.h"

#include "ompi/mca/pml/epml/wire/pml_epml_flow.h"
#include "ompi/mpiext/endpoints/c/mpiext_endpoints_c.h"

#include <pthread.h>

#define ACTIONS_MAX 64
#define ENDING_MAX 10000
#define UNEXPECTED_LIMIT 8192 /* a few messages, so that the endpoint becomes full */

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

fuzz_comm_t fuzz_comms[FUZZ_COMMS];
mca_pml_epml_ep_t *fuzz_ep;
mca_pml_epml_peer_t *fuzz_remote;
uint64_t fuzz_local_uid;

/* Of the lock, whose functions are inline. */
_Atomic uint64_t epml_lock_endings_until;

static MPI_Comm handles[FUZZ_RANKS][FUZZ_COMMS];
static struct mca_btl_base_endpoint_t *remote_inbox;

/* ---- beginning and end ----------------------------------------------------------------------- */

static void run_ranks(void *(*work)(void *) )
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
    const uint64_t source = FUZZ_SOURCE;

    fuzz_remote = mca_pml_epml_comm(handles[0][FUZZ_COMM_MAIN])->peers->member[FUZZ_REMOTE];
    remote_inbox = fuzz_remote->shm;
    fuzz_net_init();
    fuzz_remote->shm = NULL;
    fuzz_remote->transport = fuzz_net.transport;
    fuzz_remote->address_length = sizeof(source);
    memcpy(fuzz_remote->address, &source, sizeof(source));
    epml_lock_enter(&fuzz_ep->lock);
    FUZZ_CHECK(!mca_pml_epml_ep_has_transports(fuzz_ep), "there is a network already");
    fuzz_ep->transports.module[fuzz_net.transport] = &fuzz_net.module;
    fuzz_ep->flow.limit = UNEXPECTED_LIMIT;
    atomic_store_explicit(&fuzz_ep->signs.busy, true, memory_order_relaxed);
    epml_lock_leave(&fuzz_ep->lock, false);
}

/** The next use of the remote rank connects anew; HOLD has not been sent. */
static void forget_connections(void)
{
    for (uint32_t i = 0; i < fuzz_ep->wire.connection_size; ++i) {
        if (NULL != fuzz_ep->wire.connections[i].holding) {
            /* Relaxed: never the last one, communicators have theirs. */
            atomic_fetch_sub_explicit(&fuzz_ep->wire.connections[i].holding->references, 1,
                                      memory_order_relaxed);
        }
        fuzz_ep->wire.connections[i] = (mca_pml_epml_connection_t){0};
    }
    fuzz_ep->wire.connections_used = 0;
    fuzz_ep->flow.holding_count = 0;
    fuzz_ep->flow.held_count = 0;
    fuzz_ep->flow.full = false;
    /* Relaxed: a hint to local peers, as where the endpoint itself writes it. */
    atomic_store_explicit(&fuzz_ep->life.self->full, false, memory_order_relaxed);
}

/** The remote rank is there again, as it never is in a job. */
static void forget_loss(void)
{
    for (int i = 0; i < FUZZ_COMM_FREED; ++i) {
        mca_pml_epml_comm_t *comm = mca_pml_epml_comm(fuzz_comms[i].comm);

        comm->loss.member = false;
        comm->loss.rank = -1;
        comm->loss.left = comm->loss.revoked = false;
        memset(comm->loss.passing, 0, sizeof(comm->loss.passing));
#if OPAL_ENABLE_FT_MPI
        comm->comm->comm_revoked = false;
#endif
    }
    memset(fuzz_ep->loss.early, 0, sizeof(fuzz_ep->loss.early));
    fuzz_ep->loss.early_next = 0;
    fuzz_ep->loss.ask_soon = false;
    fuzz_ep->loss.any = false;
    fuzz_ep->wire.lost_seen = 0; /* the launcher has reported nobody */
    fuzz_ep->engine.quiet = 0;
}

/** Rank 1 knows that members have left: it passes on nothing, and stays as it is. */
static void local_knows(bool knows)
{
    for (int i = 0; i < FUZZ_COMM_FREED; ++i) {
        mca_pml_epml_comm_t *comm = mca_pml_epml_comm(handles[1][i]);

        comm->loss.left = comm->loss.revoked = knows;
    }
}

/** It takes in notices of losses, as no thread of its own does. */
static void local_progress(void)
{
    mca_pml_epml_ep_t *ep = mca_pml_epml_comm(handles[1][FUZZ_COMM_MAIN])->ep;

    epml_lock_enter(&ep->lock);
    while (ep->transports.shm->ep_pending(ep->transports.shm)) {
        (void) ep->transports.shm->ep_progress(ep->transports.shm);
    }
    epml_lock_leave(&ep->lock, false);
}

static void end(void)
{
    local_knows(false);
    forget_connections();
    fuzz_ep->transports.module[fuzz_net.transport] = NULL;
    fuzz_remote->shm = remote_inbox;
    fuzz_remote->address_length = 0;
    run_ranks(free_comms);
    MPI_Finalize();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    MPI_Comm endpoints[FUZZ_RANKS];
    int level;

    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level);
    fuzz_header_client();
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
    /* libmpi blames errors of MPI_Psend_init on this one. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    fuzz_comms[FUZZ_COMM_FREED].remote = FUZZ_REMOTE;
    fuzz_ep = mca_pml_epml_comm(handles[0][FUZZ_COMM_MAIN])->ep;
    fuzz_local_uid = mca_pml_epml_comm(handles[1][FUZZ_COMM_MAIN])->ep->life.uid;
    connect_network();
    local_knows(true);
    atexit(end);
    return 0;
}

/* ---- the peer that behaves ------------------------------------------------------------------- */

/** Answer a request that waits for an answer.  @return false: none does */
static bool answer(void)
{
    for (uint32_t i = 0; i < fuzz_ep->numbers.count; ++i) {
        const mca_pml_epml_request_t *request
            = epml_request_ids_slot(&fuzz_ep->numbers, i)->request;

        if (NULL == request || request->done) {
            continue;
        }
        if (fuzz_is_part(request)) {
            if (fuzz_parts_answer((const mca_pml_epml_part_t *) request)) {
                return true;
            }
            continue;
        }
        if (fuzz_is(request, "receive")) {
            const uint64_t left = request->wanted - request->received;

            fuzz_frag(EPML_HDR_FRAG, request->number, request->received,
                      FUZZ_FRAG_LIMIT < left ? FUZZ_FRAG_LIMIT : left);
        } else {
            fuzz_finished(EPML_SEND_SYNC == request->state ? EPML_HDR_ACK : EPML_HDR_FIN,
                          request->number, 0);
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
    const epml_match_table_t *table = &fuzz_ep->match;

    for (uint64_t i = 0; i < table->buckets; ++i) {
        for (const epml_match_queue_t *queue = *epml_match_bucket(table, i); NULL != queue;
             queue = queue->chain) {
            if (NULL != queue->posted_first) {
                const fuzz_comm_t *comm = comm_of(queue->context & ~EPML_PART_CONTEXT);

                if (0 != (queue->context & EPML_PART_CONTEXT)) {
                    fuzz_rndv(EPML_HDR_PART_INIT, comm, queue->tag, 100);
                    return true;
                }
                FUZZ_CHECK(!fuzz_net.lost, "a receive waits for one that is lost");
                fuzz_eager(comm, comm->remote, EPML_MATCH_ANY == queue->tag ? 1 : queue->tag, 0);
                return true;
            }
        }
    }
    return false;
}

/** Lead all requests to their ends, in a network that is well.  If the peer is lost nothing but
 * that must end them; partitioned receives that have not been matched are taken away by a match. */
static void end_requests(void)
{
    memset(fuzz_net.policy, FUZZ_WELL, sizeof(fuzz_net.policy));
    fuzz_requests_receive_probed();
    fuzz_parts_ready();
    for (int i = 0;; ++i) {
        FUZZ_CHECK(ENDING_MAX > i, "there is no end to it");
        fuzz_net_poll();
        if (0 < fuzz_net.gets) {
            fuzz_net_finish_get(OPAL_SUCCESS);
        } else if (NULL == fuzz_ep->wire.pending.first && (fuzz_net.lost || !answer())
                   && !serve()) {
            break;
        }
    }
    fuzz_requests_finish();
    fuzz_parts_finish();
}

/** Forget what was not received, and put back what counts up: the next input starts as this one. */
static void clear(void)
{
    epml_match_table_t *table = &fuzz_ep->match;
    epml_request_ids_t *numbers = &fuzz_ep->numbers;

    epml_lock_enter(&fuzz_ep->lock);
    while (NULL != table->arrival_first) {
        epml_match_unexpected_t *message = table->arrival_first;

        fuzz_ep->flow.bytes
            -= mca_pml_epml_unexpected_cost(((mca_pml_epml_unexpected_t *) message)->size);
        epml_match_remove(table, message);
        free(message);
    }
    /* Twice: the second time for the anchors of what the first one has taken out. */
    for (uint64_t i = 0; i < 2 * table->buckets; ++i) {
        epml_match_sweep(table, i % table->buckets);
    }
    fuzz_check_matching();
    FUZZ_CHECK(0 == table->queues, "%llu queues are not empty", (unsigned long long) table->queues);
    FUZZ_CHECK(0 == fuzz_check_numbers(), "a number is still used");
    fuzz_check_idle();
    numbers->first_free = 0 < numbers->count ? 0 : EPML_NUMBER_NONE;
    for (uint32_t i = 0; i < numbers->count; ++i) {
        *epml_request_ids_slot(numbers, i) = (epml_request_id_slot_t){
            .generation = i, .next_free = i + 1 < numbers->count ? i + 1 : EPML_NUMBER_NONE};
    }
    forget_connections();
    forget_loss();
    fuzz_ep->engine.net_interval = 1;
    fuzz_ep->engine.net_countdown = 1;
    epml_lock_leave(&fuzz_ep->lock, false);
    local_progress();
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
static void local_sends(fuzz_input_t *input)
{
    static const uint64_t data[4] = {1, 2, 3, 4};
    const uint8_t choice = fuzz_byte(input);

    if (fuzz_ep->flow.full) {
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
    finish_get,          finish_get,          local_sends,         poll_once,
};

#define ACTIONS (sizeof(actions) / sizeof(actions[0]))

/** As above from here on: what the user does with partitioned requests. */
#define PART_ACTIONS 208

/** And from here on: the remote rank is lost.  What comes from it all the same must do no harm. */
#define LOSS_ACTIONS 254

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input_t input = {.data = data, .size = size};
    const fuzz_comm_t *comm = &fuzz_comms[FUZZ_COMM_MAIN];

    fuzz_requests_start();
    fuzz_parts_start();
    fuzz_eager(comm, comm->remote, 9, 100);
    fuzz_rndv(EPML_HDR_RNDV, comm, 9, 2000);
    fuzz_eager(&fuzz_comms[FUZZ_COMM_REVERSED], fuzz_comms[FUZZ_COMM_REVERSED].remote, -9, 8);
    for (int i = 0; i < ACTIONS_MAX && 0 < input.size; ++i) {
        const uint8_t choice = fuzz_byte(&input);

        if (LOSS_ACTIONS <= choice) {
            fuzz_net_lose();
        } else {
            (PART_ACTIONS <= choice ? fuzz_parts_act : actions[choice % ACTIONS])(&input);
        }
        fuzz_requests_check();
        fuzz_parts_check();
        fuzz_check();
    }
    end_requests();
    clear();
    return 0;
}
