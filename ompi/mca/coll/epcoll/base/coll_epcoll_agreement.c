/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Agreements of members that may die.  The members of a process die together, so they put their
 * contributions together in the process's memory, and the lowest of them, the *speaker*, takes part
 * for all in the agreement of processes (coll_epcoll_consensus.c), by active messages.
 *
 * All is done by the steps of requests.  What arrives is put in a list, which the speaker's step goes
 * through: so one thread at a time is at the agreement, and holds no lock when it sends.
 *
 * Tests: ulfm_agree
 */

#include "ompi_config.h"

#include "coll_epcoll_agreement.h"
#include "coll_epcoll.h"
#include "coll_epcoll_consensus.h"

#include "ompi/constants.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#if OPAL_ENABLE_FT_MPI

#    include "ompi/runtime/params.h"
#    include "opal/mca/threads/mutex.h"

/** Steps between looks for the dead. */
#    define LOOK_LONG 64

/** Of an agreement under way and the next one: each has one of two places by its number. */
#    define PLACES 2

/** What the members of a process share. */
typedef struct shared_t {
    _Atomic uint64_t done; /**< the last agreement that has ended */
    /* Complements: a contribution is an OR, and nothing is all ones. */
    _Atomic uint32_t flag[PLACES], count[PLACES];
    uint32_t result[PLACES];
    int error[PLACES];
    /** Of words each, for each place: acked (complements), then failed. */
    _Atomic uint64_t sets[];
} shared_t;

typedef struct message_t {
    struct message_t *next;
    uint32_t party; /**< from it, or for it */
    epcoll_consensus_message_t message;
} message_t;

typedef struct messages_t {
    message_t *first, *last;
} messages_t;

/** Of a handle. */
typedef struct agreement_t {
    ompi_communicator_t *comm;
    mpix_endpoints_memory_t *memory;
    uint32_t members; /**< of this process */
    uint32_t parties, own, words;
    uint32_t *party_of; /**< by rank */
    int *rank_of;       /**< of speakers, by party */
    _Atomic uint64_t begun, completed;
    /* The speaker's. */
    epcoll_consensus_t *consensus;
    uint32_t steps;
    messages_t waiting; /**< to be sent when there is memory; only steps are at it */
    bool too_long;      /**< a message that cannot be sent */
    opal_mutex_t gate;  /**< of what has come; nothing is called under it */
    messages_t come;
    bool lost; /**< there was no memory for what has come */
} agreement_t;

typedef struct call_t {
    mpix_endpoints_work_t work; /**< first */
    agreement_t *agreement;
    ompi_request_t *request;
    uint64_t number;
    bool contributed, begun; /**< this member has; its process has */
    int *flag;
    ompi_group_t **group;
    bool grow;
    uint64_t acked[]; /**< this member's */
} call_t;

static int client_number;

#    define ENGINE mca_coll_epcoll_component.engine

static void agreement_append(messages_t *list, message_t *message)
{
    message->next = NULL;
    if (NULL == list->first) {
        list->first = message;
    } else {
        list->last->next = message;
    }
    list->last = message;
}

static message_t *message_new(uint32_t party, const epcoll_consensus_message_t *message,
                              size_t bytes)
{
    message_t *made = malloc(sizeof(*made) + bytes);

    if (NULL != made) {
        made->party = party;
        memcpy(&made->message, message, bytes);
    }
    return made;
}

static void messages_free(messages_t *list)
{
    while (NULL != list->first) {
        message_t *next = list->first->next;

        free(list->first);
        list->first = next;
    }
}

/* ---- handles --------------------------------------------------------------------------------- */

typedef struct place_t {
    uint32_t process;
    int rank;
} place_t;

static int compare_places(const void *a, const void *b)
{
    const place_t *left = a, *right = b;

    return left->process != right->process ? (left->process < right->process ? -1 : 1)
                                           : left->rank - right->rank;
}

/** Number the processes, by their lowest ranks. */
static int number_parties(agreement_t *a)
{
    const int size = ompi_comm_size(a->comm);
    place_t *places = calloc((size_t) size, sizeof(*places));

    if (NULL == places) {
        return MPI_ERR_NO_MEM;
    }
    for (int rank = 0; rank < size; ++rank) {
        mpix_endpoints_locality_t where;

        (void) ENGINE->locality(a->comm, rank, &where);
        places[rank] = (place_t){.process = where.process, .rank = rank};
    }
    qsort(places, (size_t) size, sizeof(*places), compare_places);
    /* First each rank's speaker, then that one's number. */
    for (int i = 0, first = 0; i < size; ++i) {
        first = places[i].process == places[first].process ? first : i;
        a->party_of[places[i].rank] = (uint32_t) places[first].rank;
    }
    free(places);
    for (int rank = 0; rank < size; ++rank) {
        if ((uint32_t) rank == a->party_of[rank]) {
            a->rank_of[a->parties] = rank;
            a->party_of[rank] = a->parties++;
        } else {
            a->party_of[rank] = a->party_of[a->party_of[rank]];
        }
    }
    a->own = a->party_of[ompi_comm_rank(a->comm)];
    a->words = (a->parties + 63) / 64;
    return MPI_SUCCESS;
}

static bool is_speaker(const agreement_t *a)
{
    return a->rank_of[a->own] == ompi_comm_rank(a->comm);
}

/** A message of the agreement of processes leaves. */
static void send_message(void *context, uint32_t to, const epcoll_consensus_message_t *message,
                         size_t bytes)
{
    agreement_t *a = context;
    int rc = MPI_ERR_NO_MEM;

    if (NULL == a->waiting.first) {
        rc = ENGINE->am_send(a->comm, client_number, a->rank_of[to], message, bytes);
    }
    a->too_long = a->too_long || MPI_ERR_ARG == rc;
    if (MPI_ERR_NO_MEM == rc) {
        message_t *made = message_new(to, message, bytes);

        a->too_long = a->too_long || NULL == made;
        if (NULL != made) {
            agreement_append(&a->waiting, made);
        }
    }
}

static void agreement_free(ompi_communicator_t *comm, void *object)
{
    agreement_t *a = object;

    (void) comm;
    if (NULL != a->memory) {
        ENGINE->memory_put(a->memory);
    }
    messages_free(&a->waiting);
    messages_free(&a->come);
    epcoll_consensus_free(a->consensus);
    OBJ_DESTRUCT(&a->gate);
    free(a->party_of);
    free(a->rank_of);
    free(a);
}

static int agreement_make(ompi_communicator_t *comm, void **object_p)
{
    const size_t size = (size_t) ompi_comm_size(comm);
    mpix_endpoints_members_t here;
    agreement_t *a;
    int rc;

    if (!ompi_ftmpi_enabled || OMPI_COMM_IS_INTER(comm)) {
        return MPI_SUCCESS;
    }
    a = calloc(1, sizeof(*a));
    if (NULL == a) {
        return MPI_ERR_NO_MEM;
    }
    OBJ_CONSTRUCT(&a->gate, opal_mutex_t);
    a->comm = comm;
    a->party_of = calloc(size, sizeof(*a->party_of));
    a->rank_of = calloc(size, sizeof(*a->rank_of));
    rc = NULL == a->party_of || NULL == a->rank_of ? MPI_ERR_NO_MEM : number_parties(a);
    rc = MPI_SUCCESS == rc ? ENGINE->members(comm, MPIX_ENDPOINTS_SCOPE_PROCESS, &here) : rc;
    if (MPI_SUCCESS == rc) {
        a->members = (uint32_t) here.count;
        rc = ENGINE->memory_get(comm, MPIX_ENDPOINTS_SCOPE_PROCESS, client_number, 0,
                                sizeof(shared_t) + 2 * PLACES * a->words * sizeof(uint64_t),
                                &a->memory);
    }
    if (MPI_SUCCESS == rc && is_speaker(a)) {
        a->consensus = epcoll_consensus_new(a->parties, a->own, send_message, a);
        rc = NULL == a->consensus ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    }
    if (MPI_SUCCESS != rc) {
        agreement_free(comm, a);
        return rc;
    }
    *object_p = a;
    return MPI_SUCCESS;
}

/** For the speaker, under its endpoint's lock: the next step looks at it. */
static bool agreement_arrived(void *object, int rank, const void *data, size_t size)
{
    agreement_t *a = object;
    message_t *message;

    if (NULL == a->consensus || epcoll_consensus_bytes(a->parties) != size
        || rank != a->rank_of[a->party_of[rank]]) {
        return false;
    }
    message = message_new(a->party_of[rank], data, size);
    opal_mutex_lock(&a->gate);
    if (NULL == message) {
        a->lost = true;
    } else {
        agreement_append(&a->come, message);
    }
    opal_mutex_unlock(&a->gate);
    return true;
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

/** The sets of a place. */
static _Atomic uint64_t *acked_of(const agreement_t *a, uint64_t number)
{
    return shared_of(a)->sets + 2 * a->words * (number % PLACES);
}

static _Atomic uint64_t *failed_of(const agreement_t *a, uint64_t number)
{
    return acked_of(a, number) + a->words;
}

/** This member's contribution goes to those of its process. */
static void agreement_contribute(call_t *call)
{
    const agreement_t *a = call->agreement;
    const uint64_t place = call->number % PLACES;
    shared_t *shared = shared_of(a);

    /* Relaxed: ordered by count. */
    (void) atomic_fetch_or_explicit(&shared->flag[place], ~(uint32_t) *call->flag,
                                    memory_order_relaxed);
    for (uint32_t i = 0; i < a->words; ++i) {
        (void) atomic_fetch_or_explicit(&acked_of(a, call->number)[i], ~call->acked[i],
                                        memory_order_relaxed);
    }
    /* Release: the contribution before the count; partner: the acquire in process_begin. */
    (void) atomic_fetch_add_explicit(&shared->count[place], 1, memory_order_release);
    call->contributed = true;
}

/** Tell the agreement of those that have died. */
static void look_for_dead(agreement_t *a)
{
    for (uint32_t party = 0; party < a->parties; ++party) {
        if (party != a->own && ENGINE->is_lost(a->comm, a->rank_of[party])) {
            epcoll_consensus_died(a->consensus, party);
        }
    }
}

/** The speaker: all members have contributed?  Then the process does. */
static bool process_begin(call_t *call)
{
    agreement_t *a = call->agreement;
    const uint64_t place = call->number % PLACES;
    shared_t *shared = shared_of(a);
    uint32_t flag;

    /* Acquire: partner in contribute. */
    if (atomic_load_explicit(&shared->count[place], memory_order_acquire) < a->members) {
        return false;
    }
    /* Relaxed, and for the agreement after the next one, which nobody begins before this one and the
     * next one have ended (done). */
    atomic_store_explicit(&shared->count[place], 0, memory_order_relaxed);
    flag = ~atomic_exchange_explicit(&shared->flag[place], 0, memory_order_relaxed);
    for (uint32_t i = 0; i < a->words; ++i) {
        call->acked[i] = ~atomic_exchange_explicit(&acked_of(a, call->number)[i], 0,
                                                   memory_order_relaxed);
    }
    call->begun = true;
    look_for_dead(a); /* failed members that this agreement includes */
    epcoll_consensus_begin(a->consensus, flag, call->acked);
    return true;
}

/** What waits for memory goes, in order. */
static void send_waiting(agreement_t *a)
{
    while (NULL != a->waiting.first) {
        message_t *message = a->waiting.first;
        const int rc = ENGINE->am_send(a->comm, client_number, a->rank_of[message->party],
                                       &message->message, epcoll_consensus_bytes(a->parties));

        if (MPI_ERR_NO_MEM == rc) {
            return;
        }
        a->waiting.first = message->next;
        free(message);
    }
}

/** @return has anything come? */
static bool take_in(agreement_t *a)
{
    messages_t come;

    opal_mutex_lock(&a->gate);
    come = a->come;
    a->come.first = NULL;
    opal_mutex_unlock(&a->gate);
    if (NULL == come.first) {
        return false;
    }
    for (message_t *message = come.first; NULL != message; message = message->next) {
        (void) epcoll_consensus_arrived(a->consensus, message->party, &message->message,
                                        epcoll_consensus_bytes(a->parties));
    }
    messages_free(&come);
    return true;
}

/** The speaker has the value: so have the members of its process. */
static void agreement_publish(call_t *call, int error)
{
    agreement_t *a = call->agreement;
    const epcoll_consensus_value_t *value = &a->consensus->value;
    shared_t *shared = shared_of(a);
    const uint64_t place = call->number % PLACES;
    bool is_new = false;

    for (uint32_t i = 0; i < a->words; ++i) {
        is_new = is_new || 0 != (value->failed[i] & ~value->acked[i]);
        atomic_store_explicit(&failed_of(a, call->number)[i], value->failed[i],
                              memory_order_relaxed);
    }
    shared->result[place] = value->flag;
    shared->error[place] = MPI_SUCCESS != error ? error
                           : is_new             ? MPI_ERR_PROC_FAILED
                                                : MPI_SUCCESS;
    /* Release: the result before its number; partner: the acquire in step. */
    atomic_store_explicit(&shared->done, call->number, memory_order_release);
}

/** The speaker goes on.  @return is it done? */
static bool agreement_leader_step(call_t *call, bool *moved)
{
    agreement_t *a = call->agreement;

    if (!call->begun) {
        if (!process_begin(call)) {
            return false;
        }
        *moved = true;
    }
    send_waiting(a);
    if (0 == a->steps++ % LOOK_LONG) {
        look_for_dead(a);
    }
    *moved = take_in(a) || *moved;
    if (a->lost || a->too_long) {
        agreement_publish(call, a->lost ? MPI_ERR_NO_MEM : MPI_ERR_OTHER);
        return true;
    }
    /* Others need what has been said last. */
    if (EPCOLL_CONSENSUS_ENDED != a->consensus->phase || NULL != a->waiting.first) {
        return false;
    }
    agreement_publish(call, MPI_SUCCESS);
    return true;
}

/** The failed members, by rank. */
static int failed_group(const call_t *call, ompi_group_t **group_p)
{
    const agreement_t *a = call->agreement;
    const int size = ompi_comm_size(a->comm);
    int *ranks = calloc((size_t) size, sizeof(*ranks)), count = 0, rc;

    if (NULL == ranks) {
        return MPI_ERR_NO_MEM;
    }
    for (int rank = 0; rank < size; ++rank) {
        const uint32_t party = a->party_of[rank];
        const uint64_t word = atomic_load_explicit(&failed_of(a, call->number)[party / 64],
                                                   memory_order_relaxed);

        if (0 != (word >> party % 64 & 1)) {
            ranks[count++] = rank;
        }
    }
    rc = ompi_group_incl(a->comm->c_local_group, count, ranks, group_p);
    free(ranks);
    return rc;
}

static void agreement_finish(call_t *call)
{
    agreement_t *a = call->agreement;
    const uint64_t place = call->number % PLACES;
    int error = shared_of(a)->error[place];

    *call->flag = (int) shared_of(a)->result[place];
    if (call->grow && (MPI_SUCCESS == error || MPI_ERR_PROC_FAILED == error)) {
        error = failed_group(call, call->group);
    }
    /* Release: the result has been read, before its place is used again; partner: in step. */
    atomic_store_explicit(&a->completed, call->number, memory_order_release);
    ENGINE->request_done(call->request, error);
}

static mpix_endpoints_step_t agreement_step(mpix_endpoints_work_t *work)
{
    call_t *call = (call_t *) work;
    agreement_t *a = call->agreement;
    bool moved = false;

    /* Acquire: the one before is over, here. */
    if (!call->contributed) {
        if (call->number != atomic_load_explicit(&a->completed, memory_order_acquire) + 1) {
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

/** A process's failure is acknowledged if all its members are in the group. */
static int note_acked(call_t *call, ompi_group_t *group)
{
    const agreement_t *a = call->agreement;
    const int size = ompi_comm_size(a->comm), count = ompi_group_size(group);
    int *ranks = calloc((size_t) size + 1, 2 * sizeof(*ranks)), *numbers = ranks + size + 1, rc;

    if (NULL == ranks) {
        return MPI_ERR_NO_MEM;
    }
    for (int i = 0; i < count; ++i) {
        numbers[i] = i;
    }
    rc = 0 < count
             ? ompi_group_translate_ranks(group, count, numbers, a->comm->c_local_group, ranks)
             : OMPI_SUCCESS;
    memset(numbers, 0, (size_t) size * sizeof(*numbers)); /* by rank now */
    for (int i = 0; i < count && OMPI_SUCCESS == rc; ++i) {
        if (0 <= ranks[i]) {
            numbers[ranks[i]] = 1;
        }
    }
    memset(call->acked, 0xff, a->words * sizeof(uint64_t));
    for (int rank = 0; rank < size; ++rank) {
        const uint32_t party = a->party_of[rank];

        if (0 == numbers[rank]) {
            call->acked[party / 64] &= ~(UINT64_C(1) << party % 64);
        }
    }
    free(ranks);
    return rc;
}

int mca_coll_epcoll_agreement_begin(ompi_communicator_t *comm, int *flag, ompi_group_t **group,
                                    bool grow, ompi_request_t **request_p)
{
    agreement_t *a = ENGINE->client_object(comm, client_number);
    call_t *call;
    int rc;

    if (NULL == a || MPIX_ENDPOINTS_AM_LIMIT < epcoll_consensus_bytes(a->parties)) {
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    call = calloc(1, sizeof(*call) + a->words * sizeof(call->acked[0]));
    if (NULL == call) {
        return MPI_ERR_NO_MEM;
    }
    call->work.step = agreement_step;
    call->agreement = a;
    call->flag = flag;
    call->group = group;
    call->grow = grow;
    rc = grow ? MPI_SUCCESS : note_acked(call, *group);
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

#else

int mca_coll_epcoll_agreement_register(void)
{
    return MPI_SUCCESS;
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

#endif
