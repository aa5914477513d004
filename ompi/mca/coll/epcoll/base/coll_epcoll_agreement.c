/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Agreements of members that may die.  The members of a process die together, so they put their
 * contributions together in the process's memory, and the lowest of them, the *representative*,
 * takes part for all in the agreement of processes (coll_epcoll_consensus.c), by active messages.
 *
 * All is done by the steps of requests, messages included (coll_epcoll_agreement_messages.c).
 *
 * On an intercommunicator both sides take part in one agreement of their processes.  Each side's
 * flags have a half of the value's bits.
 *
 * Tests: ulfm_agree, ulfm_inter, ulfm_stress
 */

#include "ompi_config.h"

#include "coll_epcoll_agreement.h"
#include "coll_epcoll_agreement_messages.h"
#include "coll_epcoll.h"
#include "coll_epcoll_consensus.h"
#include "coll_epcoll_participants.h"

#include "ompi/constants.h"

#include <stdatomic.h>
#include <stdlib.h>

#if OPAL_ENABLE_FT_MPI

#    include "ompi/runtime/params.h"

/** Steps between checks for the dead. */
#    define CHECK_STEPS 64

/** Double buffer: of an active agreement and the next one. */
#    define BUFFERS 2

/** What the members of a process share. */
typedef struct shared_t {
    _Atomic uint64_t done; /**< the last agreement that has ended */
    /* Complements: a contribution is an OR, and nothing is all ones. */
    _Atomic uint64_t flag[BUFFERS];
    _Atomic uint32_t count[BUFFERS];
    uint64_t result[BUFFERS], id[BUFFERS];
    int error[BUFFERS];
    /** Of words each, for each buffer: acked (complements), then failed. */
    _Atomic uint64_t sets[];
} shared_t;

/** Of a handle. */
typedef struct agreement_t {
    ompi_communicator_t *comm;
    mpix_endpoints_memory_t *memory;
    uint32_t members; /**< of this process, on this side */
    epcoll_participants_t participants;
    _Atomic uint64_t begun, completed;
    epcoll_agreement_messages_t messages;
    /* The representative's. */
    epcoll_consensus_t *consensus;
    uint32_t steps;
} agreement_t;

typedef struct call_t {
    mpix_endpoints_work_t work; /**< first */
    agreement_t *agreement;
    ompi_request_t *request;
    uint64_t number;
    bool contributed, begun; /**< this member has; its process has */
    uint64_t mine, id;       /**< contribution */
    int *flag;               /**< the result goes to one of these */
    epcoll_agreed_t *agreed; /**< and has the contribution */
    ompi_group_t **group;
    bool grow;
    uint64_t acked[]; /**< this member's */
} call_t;

static int client_number;

#    define ENGINE mca_coll_epcoll_component.engine

/* ---- handles --------------------------------------------------------------------------------- */

static bool is_representative(const agreement_t *a)
{
    return a->participants.representative[a->participants.own].rank == ompi_comm_rank(a->comm);
}

/** A message of the agreement of processes leaves. */
static void send_message(void *context, uint32_t to, const epcoll_consensus_message_t *message,
                         size_t bytes)
{
    agreement_t *a = context;

    epcoll_agreement_messages_send(&a->messages, to, message, bytes);
}

static void agreement_free(ompi_communicator_t *comm, void *object)
{
    agreement_t *a = object;

    (void) comm;
    if (NULL != a->memory) {
        ENGINE->memory_put(a->memory);
    }
    epcoll_agreement_messages_free(&a->messages);
    epcoll_consensus_free(a->consensus);
    epcoll_participants_free(&a->participants);
    free(a);
}

/** Memory of this process's members, of a side that has a communicator of its own for it. */
static int memory_make(agreement_t *a)
{
    ompi_communicator_t *side = OMPI_COMM_IS_INTER(a->comm) ? a->comm->c_local_comm : a->comm;
    mpix_endpoints_members_t here;
    int rc = ENGINE->members(side, MPIX_ENDPOINTS_SCOPE_PROCESS, &here);

    if (MPI_SUCCESS == rc) {
        a->members = (uint32_t) here.count;
        rc = ENGINE->memory_get(side, MPIX_ENDPOINTS_SCOPE_PROCESS, client_number,
                                side == a->comm ? 0 : 1,
                                sizeof(shared_t)
                                    + 2 * BUFFERS * a->participants.words * sizeof(uint64_t),
                                &a->memory);
    }
    return rc;
}

/** @param[in] local  of an intercommunicator: its local communicator's */
static int agreement_fill(agreement_t *a, const agreement_t *local)
{
    int rc = epcoll_participants_make(a->comm, &a->participants);

    if (MPI_SUCCESS == rc) {
        rc = epcoll_agreement_messages_make(&a->messages, a->comm, &a->participants, client_number,
                                            NULL != local ? &local->messages : NULL);
    }
    if (MPI_SUCCESS == rc) {
        rc = memory_make(a);
    }
    if (MPI_SUCCESS == rc && is_representative(a)) {
        a->consensus = epcoll_consensus_new(a->participants.count, a->participants.own,
                                            send_message, a);
        rc = NULL == a->consensus ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    }
    return rc;
}

static int agreement_make(ompi_communicator_t *comm, void **object_p)
{
    const agreement_t *local = NULL;
    agreement_t *a;
    int rc;

    if (!ompi_ftmpi_enabled) {
        return MPI_SUCCESS;
    }
    if (OMPI_COMM_IS_INTER(comm)) {
        local = ENGINE->client_object(comm->c_local_comm, client_number);
        if (NULL == local) {
            return MPI_SUCCESS; /* the local communicator has no agreements */
        }
    }
    a = calloc(1, sizeof(*a));
    if (NULL == a) {
        return MPI_ERR_NO_MEM;
    }
    a->comm = comm;
    rc = agreement_fill(a, local);
    if (MPI_SUCCESS != rc) {
        agreement_free(comm, a);
        return rc;
    }
    *object_p = a;
    return MPI_SUCCESS;
}

/** For the representative, under its endpoint's lock: the next step processes it. */
static bool agreement_arrived(void *object, int rank, const void *data, size_t size)
{
    const agreement_t *a = object;

    return NULL != a->consensus
           && epcoll_agreement_messages_arrived(&a->messages, rank, data, size);
}

static const mpix_endpoints_client_t client = {.name = "agreement",
                                               .make = agreement_make,
                                               .free = agreement_free,
                                               .am_handler = agreement_arrived};

int mca_coll_epcoll_agreement_register(void)
{
    return ENGINE->client_register(&client, &client_number);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static shared_t *shared_of(const agreement_t *a)
{
    return a->memory->base;
}

/** The sets of a buffer. */
static _Atomic uint64_t *acked_of(const agreement_t *a, uint64_t number)
{
    return shared_of(a)->sets + 2 * a->participants.words * (number % BUFFERS);
}

static _Atomic uint64_t *failed_of(const agreement_t *a, uint64_t number)
{
    return acked_of(a, number) + a->participants.words;
}

/** Is this member's turn, and its contribution there? */
static bool may_contribute(call_t *call)
{
    /* Acquire: the agreement before is over, here; partner: in finish. */
    if (call->number
        != atomic_load_explicit(&call->agreement->completed, memory_order_acquire) + 1) {
        return false;
    }
    if (NULL != call->agreed) {
        /* Acquire; partner: the release of the last reference but one. */
        if (0 != atomic_load_explicit(&call->agreed->held, memory_order_acquire)) {
            return false;
        }
        call->mine = call->agreed->flag;
        call->id = call->agreed->id;
    }
    return true;
}

/** This member's contribution goes to those of its process. */
static void agreement_contribute(call_t *call)
{
    const agreement_t *a = call->agreement;
    const uint64_t buffer = call->number % BUFFERS;
    shared_t *shared = shared_of(a);

    /* Relaxed: ordered by count. */
    (void) atomic_fetch_or_explicit(&shared->flag[buffer], ~call->mine, memory_order_relaxed);
    for (uint32_t i = 0; i < a->participants.words; ++i) {
        (void) atomic_fetch_or_explicit(&acked_of(a, call->number)[i], ~call->acked[i],
                                        memory_order_relaxed);
    }
    /* Release: the contribution before the count; partner: the acquire in process_begin. */
    (void) atomic_fetch_add_explicit(&shared->count[buffer], 1, memory_order_release);
    call->contributed = true;
}

/** Tell the agreement of those that have died. */
static void check_dead(agreement_t *a)
{
    for (uint32_t participant = 0; participant < a->participants.count; ++participant) {
        if (participant != a->participants.own
            && ENGINE->is_lost(epcoll_participants_comm(&a->participants, a->comm, participant),
                               a->participants.representative[participant].rank)) {
            epcoll_consensus_died(a->consensus, participant);
        }
    }
}

/** The representative: all members have contributed?  Then the process does. */
static bool process_begin(call_t *call)
{
    agreement_t *a = call->agreement;
    const uint64_t buffer = call->number % BUFFERS;
    shared_t *shared = shared_of(a);
    uint64_t flag;

    /* Acquire: partner in contribute. */
    if (atomic_load_explicit(&shared->count[buffer], memory_order_acquire) < a->members) {
        return false;
    }
    /* Relaxed, and for the agreement after the next one, which no member begins before this one and
     * the next one have ended (done). */
    atomic_store_explicit(&shared->count[buffer], 0, memory_order_relaxed);
    flag = ~atomic_exchange_explicit(&shared->flag[buffer], 0, memory_order_relaxed);
    for (uint32_t i = 0; i < a->participants.words; ++i) {
        call->acked[i] = ~atomic_exchange_explicit(&acked_of(a, call->number)[i], 0,
                                                   memory_order_relaxed);
    }
    call->begun = true;
    check_dead(a); /* failed members that this agreement includes */
    epcoll_consensus_begin(a->consensus, flag, call->id, call->acked);
    return true;
}

/** The representative has the value: so have the members of its process. */
static void agreement_publish(call_t *call, int error)
{
    agreement_t *a = call->agreement;
    const epcoll_consensus_value_t *value = &a->consensus->value;
    shared_t *shared = shared_of(a);
    const uint64_t buffer = call->number % BUFFERS;
    bool is_new = false;

    for (uint32_t i = 0; i < a->participants.words; ++i) {
        is_new = is_new || 0 != (value->failed[i] & ~value->acked[i]);
        atomic_store_explicit(&failed_of(a, call->number)[i], value->failed[i],
                              memory_order_relaxed);
    }
    shared->result[buffer] = value->flag;
    shared->id[buffer] = value->id;
    shared->error[buffer] = MPI_SUCCESS != error ? error
                            : is_new             ? MPI_ERR_PROC_FAILED
                                                 : MPI_SUCCESS;
    /* Release: the result before its number; partner: the acquire in step. */
    atomic_store_explicit(&shared->done, call->number, memory_order_release);
}

/** The representative goes on.  @return is it done? */
static bool agreement_leader_step(call_t *call, bool *moved)
{
    agreement_t *a = call->agreement;

    if (!call->begun) {
        if (!process_begin(call)) {
            return false;
        }
        *moved = true;
    }
    epcoll_agreement_messages_send_waiting(&a->messages);
    if (0 == a->steps++ % CHECK_STEPS) {
        check_dead(a);
    }
    *moved = epcoll_agreement_messages_take(&a->messages, a->consensus) || *moved;
    if (a->messages.no_memory || a->messages.too_long) {
        agreement_publish(call, a->messages.no_memory ? MPI_ERR_NO_MEM : MPI_ERR_OTHER);
        return true;
    }
    /* Others need the last messages. */
    if (EPCOLL_CONSENSUS_ENDED != a->consensus->phase || NULL != a->messages.waiting.first) {
        return false;
    }
    agreement_publish(call, MPI_SUCCESS);
    return true;
}

static int failed_group(const call_t *call, ompi_group_t **group_p)
{
    const agreement_t *a = call->agreement;
    uint64_t *failed = calloc(a->participants.words, sizeof(*failed));
    int rc;

    if (NULL == failed) {
        return MPI_ERR_NO_MEM;
    }
    for (uint32_t i = 0; i < a->participants.words; ++i) {
        failed[i] = atomic_load_explicit(&failed_of(a, call->number)[i], memory_order_relaxed);
    }
    rc = epcoll_participants_group(&a->participants, a->comm, failed, group_p);
    free(failed);
    return rc;
}

/** Each side of an intercommunicator has a half of the flags. */
static int half(const agreement_t *a, bool of_first)
{
    return NULL == a->participants.remote || of_first ? 0 : 32;
}

static void agreement_finish(call_t *call)
{
    agreement_t *a = call->agreement;
    const uint64_t buffer = call->number % BUFFERS;
    const uint64_t result = shared_of(a)->result[buffer];
    int error = shared_of(a)->error[buffer];

    if (NULL != call->agreed) {
        call->agreed->flag = result;
        call->agreed->id = shared_of(a)->id[buffer];
    } else { /* the other side's */
        *call->flag = (int) (uint32_t) (result >> half(a, !a->participants.is_first));
    }
    if (call->grow && (MPI_SUCCESS == error || MPI_ERR_PROC_FAILED == error)) {
        error = failed_group(call, call->group);
    }
    /* Release: the result has been read, before its buffer is used again; partner: in step. */
    atomic_store_explicit(&a->completed, call->number, memory_order_release);
    ENGINE->request_done(call->request, error);
}

static mpix_endpoints_step_t agreement_step(mpix_endpoints_work_t *work)
{
    call_t *call = (call_t *) work;
    agreement_t *a = call->agreement;
    bool moved = false;

    if (!call->contributed) {
        if (!may_contribute(call)) {
            return MPIX_ENDPOINTS_STEP_IDLE;
        }
        agreement_contribute(call);
        moved = true;
    }
    if (NULL != a->consensus
            ? !agreement_leader_step(call, &moved)
            : atomic_load_explicit(&shared_of(a)->done, memory_order_acquire) < call->number) {
        return moved ? MPIX_ENDPOINTS_STEP_PROGRESS : MPIX_ENDPOINTS_STEP_IDLE;
    }
    agreement_finish(call);
    return MPIX_ENDPOINTS_STEP_DONE;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void call_free(void *context)
{
    free(context);
}

static const mpix_endpoints_request_ops_t request_ops = {.free = call_free};

static int agree_begin(ompi_communicator_t *comm, call_t *given, ompi_request_t **request_p)
{
    agreement_t *a = given->agreement;
    call_t *call = calloc(1, sizeof(*call) + a->participants.words * sizeof(call->acked[0]));
    int rc;

    if (NULL == call) {
        return MPI_ERR_NO_MEM;
    }
    *call = *given;
    call->work.step = agreement_step;
    rc = call->grow ? MPI_SUCCESS
                    : epcoll_participants_acked(&a->participants, comm, *call->group, call->acked);
    if (MPI_SUCCESS == rc) {
        rc = ENGINE->request_new(comm, &request_ops, call, false, &call->request);
    }
    if (MPI_SUCCESS != rc) {
        free(call);
        return rc;
    }
    /* Relaxed: the caller begins one at a time. */
    call->number = atomic_fetch_add_explicit(&a->begun, 1, memory_order_relaxed) + 1;
    *request_p = call->request;
    ENGINE->request_begin(call->request, &call->work);
    return MPI_SUCCESS;
}

/** @return NULL: not on this communicator */
static agreement_t *agreement_of(const ompi_communicator_t *comm)
{
    agreement_t *a = ENGINE->client_object(comm, client_number);

    return NULL != a && MPIX_ENDPOINTS_AM_LIMIT >= epcoll_consensus_bytes(a->participants.count)
               ? a
               : NULL;
}

bool mca_coll_epcoll_agreement_has(const ompi_communicator_t *comm)
{
    return NULL != agreement_of(comm);
}

int mca_coll_epcoll_agreement_begin(ompi_communicator_t *comm, int *flag, ompi_group_t **group,
                                    bool grow, ompi_request_t **request_p)
{
    call_t call = {.agreement = agreement_of(comm), .flag = flag, .group = group, .grow = grow};

    if (NULL == call.agreement) {
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    call.mine = ~((uint64_t) ~(uint32_t) *flag
                  << half(call.agreement, call.agreement->participants.is_first));
    call.id = UINT64_MAX;
    return agree_begin(comm, &call, request_p);
}

int mca_coll_epcoll_agreement_begin_id(ompi_communicator_t *comm, epcoll_agreed_t *agreed,
                                       ompi_group_t **group, bool grow, ompi_request_t **request_p)
{
    call_t call = {.agreement = agreement_of(comm), .agreed = agreed, .group = group, .grow = grow};

    return NULL == call.agreement ? MPI_ERR_UNSUPPORTED_OPERATION
                                  : agree_begin(comm, &call, request_p);
}

#else

int mca_coll_epcoll_agreement_register(void)
{
    return MPI_SUCCESS;
}

bool mca_coll_epcoll_agreement_has(const ompi_communicator_t *comm)
{
    (void) comm;
    return false;
}

int mca_coll_epcoll_agreement_begin(ompi_communicator_t *comm, int *flag, ompi_group_t **group,
                                    bool grow, ompi_request_t **request_p)
{
    (void) comm;
    (void) flag;
    (void) group;
    (void) grow;
    (void) request_p;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

int mca_coll_epcoll_agreement_begin_id(ompi_communicator_t *comm, epcoll_agreed_t *agreed,
                                       ompi_group_t **group, bool grow, ompi_request_t **request_p)
{
    (void) comm;
    (void) agreed;
    (void) group;
    (void) grow;
    (void) request_p;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

#endif
