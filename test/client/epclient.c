/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A client of the engine, which uses nothing else: a barrier.
 *
 * The members of a process meet in memory that they share: each has a word, in which it says how
 * many barriers it has come to, and the first of them, the leader, says in one more how many are
 * over.  The leaders meet in the same way in memory of the node, if all members live there and can
 * share it; otherwise by messages, each with those 1, 2, 4, ... leaders further on.
 *
 * One state machine (advance) serves all forms: the blocking one waits until it has ended, the
 * others let the endpoint's turns run it.
 */

#include "test/client/epclient.h"

#include <stdlib.h>
#include <string.h>

#define KEY_PROCESS 1
#define KEY_NODE 2

/** A word for each member, and one by the leader.  Words count twice, for the last bit: it
 * failed. */
typedef struct meeting_t {
    struct {
        _Alignas(64) _Atomic uint64_t word;
    } * lines;
    int count, index; /**< members; which of them this one is */
} meeting_t;

/** What hangs on a handle. */
typedef struct handle_t {
    MPI_Comm comm;
    int rank;
    mpix_endpoints_memory_t *process_memory, *node_memory; /**< NULL: none */
    meeting_t process, node;
    int *leaders, leader_count, leader_index; /**< ranks of the leaders; of a leader, which it is */
    bool is_one_node;
    uint64_t rounds;                    /**< barriers begun */
    _Atomic uint64_t sum, out_of_order; /**< of messages; written under the endpoint's lock */
    uint64_t *last;                     /**< by rank: the last number that came */
    int overs; /**< persistent ones that were over when they were started */
} handle_t;

typedef enum stage_t {
    STAGE_PROCESS,
    STAGE_NODE,
    STAGE_MESSAGES,
    STAGE_RELEASE,
    STAGE_OVER
} stage_t;

/** A barrier under way. */
typedef struct barrier_t {
    mpix_endpoints_work_t work; /**< first: a step finds the barrier by it */
    handle_t *handle;
    MPI_Request request; /**< to be ended; MPI_REQUEST_NULL: it is waited for here */
    uint64_t round;
    stage_t stage;
    int seen; /**< members that have come */
    int step; /**< of the messages: how many leaders further on; 0: none yet */
    MPI_Request message[2];
    int error;
    MPI_Datatype types[]; /**< a copy of the user's, if there are any */
} barrier_t;

const mpix_endpoints_engine_t *epclient_engine;

static int number;
static int (*make_fails)(MPI_Comm comm);
static atomic_int handles;

/* ---- what hangs on a handle ------------------------------------------------------------------ */

static void handle_free(MPI_Comm comm, void *object)
{
    handle_t *handle = object;

    (void) comm;
    if (NULL != handle->process_memory) {
        epclient_engine->memory_put(handle->process_memory);
    }
    if (NULL != handle->node_memory) {
        epclient_engine->memory_put(handle->node_memory);
    }
    free(handle->leaders);
    free(handle->last);
    free(handle);
    atomic_fetch_sub(&handles, 1);
}

/** Find the leaders, the first member of each process.  @return how many are on this node */
static int find_leaders(handle_t *handle, int size)
{
    mpix_endpoints_locality_t place, other;
    int on_node = 0;

    for (int rank = 0; rank < size; ++rank) {
        int before = 0;

        (void) epclient_engine->locality(handle->comm, rank, &place);
        while (before < handle->leader_count
               && epclient_engine->locality(handle->comm, handle->leaders[before], &other)
               && other.process != place.process) {
            ++before;
        }
        if (before == handle->leader_count) {
            handle->leaders[handle->leader_count++] = rank;
            on_node += place.on_node;
        }
        if (place.in_process) {
            handle->leader_index = before; /* its process's */
        }
    }
    return on_node;
}

static int meet(handle_t *handle, mpix_endpoints_scope_t reach, int count, int index,
                meeting_t *meeting, mpix_endpoints_memory_t **memory)
{
    const size_t size = ((size_t) count + 1) * sizeof(*meeting->lines);
    const int rc = epclient_engine->memory_get(handle->comm, reach, number,
                                               MPIX_ENDPOINTS_SCOPE_NODE == reach ? KEY_NODE
                                                                                  : KEY_PROCESS,
                                               size, memory);

    if (MPI_SUCCESS == rc) {
        *meeting = (meeting_t){.lines = (*memory)->base, .count = count, .index = index};
    }
    return rc;
}

static int make(MPI_Comm comm, void **object_p)
{
    handle_t *handle;
    mpix_endpoints_members_t process, node;
    int rc, size, inter, on_node;

    if (NULL != make_fails && make_fails(comm)) {
        return MPI_ERR_NO_MEM;
    }
    (void) MPI_Comm_test_inter(comm, &inter);
    if (inter) {
        return MPI_SUCCESS; /* nothing for those */
    }
    (void) MPI_Comm_size(comm, &size);
    handle = calloc(1, sizeof(*handle));
    if (NULL == handle) {
        return MPI_ERR_NO_MEM;
    }
    atomic_fetch_add(&handles, 1);
    *object_p = handle; /* with what it has: free will be called */
    handle->comm = comm;
    (void) MPI_Comm_rank(comm, &handle->rank);
    handle->leaders = malloc((size_t) size * sizeof(*handle->leaders));
    handle->last = calloc((size_t) size, sizeof(*handle->last));
    if (NULL == handle->leaders || NULL == handle->last) {
        return MPI_ERR_NO_MEM;
    }
    on_node = find_leaders(handle, size);
    rc = epclient_engine->members(comm, MPIX_ENDPOINTS_SCOPE_PROCESS, &process);
    if (MPI_SUCCESS == rc) {
        rc = epclient_engine->members(comm, MPIX_ENDPOINTS_SCOPE_NODE, &node);
    }
    if (MPI_SUCCESS == rc) {
        rc = meet(handle, MPIX_ENDPOINTS_SCOPE_PROCESS, process.count, process.index,
                  &handle->process, &handle->process_memory);
    }
    handle->is_one_node = MPI_SUCCESS == rc && node.count == size;
    if (handle->is_one_node) {
        rc = meet(handle, MPIX_ENDPOINTS_SCOPE_NODE, on_node, handle->leader_index, &handle->node,
                  &handle->node_memory);
        rc = MPI_ERR_UNSUPPORTED_OPERATION == rc ? MPI_SUCCESS : rc; /* messages do it */
    }
    return rc;
}

/** A number that a member has sent. */
static bool arrived(void *object, int rank, const void *data, size_t size)
{
    handle_t *handle = object;
    uint64_t sent;

    if (sizeof(sent) != size) {
        return false;
    }
    memcpy(&sent, data, sizeof(sent));
    if (sent != handle->last[rank] + 1) {
        atomic_fetch_add_explicit(&handle->out_of_order, 1, memory_order_relaxed);
    }
    handle->last[rank] = sent;
    /* Release: partner is epclient_sum. */
    atomic_fetch_add_explicit(&handle->sum, sent, memory_order_release);
    return true;
}

static const mpix_endpoints_client_t client = {
    .name = "epclient", .make = make, .free = handle_free, .am_handler = arrived};

/* ---- a barrier ------------------------------------------------------------------------------- */

/** Set a word that only grows, and that two barriers of a handle may be at.  Release: partner is
 * has_reached. */
static void raise_word(_Atomic uint64_t *word, uint64_t value)
{
    uint64_t before = atomic_load_explicit(word, memory_order_relaxed);

    while (before < value
           && !atomic_compare_exchange_weak_explicit(word, &before, value, memory_order_release,
                                                     memory_order_relaxed)) {
    }
}

/** Acquire: what a member wrote before it came is ordered before what this one does next. */
static bool has_reached(const _Atomic uint64_t *word, uint64_t value)
{
    return atomic_load_explicit(word, memory_order_acquire) >= value;
}

/** Have all members of a meeting come? */
static bool all_here(barrier_t *barrier, const meeting_t *meeting)
{
    while (barrier->seen < meeting->count
           && has_reached(&meeting->lines[barrier->seen].word, 2 * barrier->round)) {
        ++barrier->seen;
    }
    return barrier->seen == meeting->count;
}

/** Has the leader said that it is over? */
static bool is_released(barrier_t *barrier, const meeting_t *meeting)
{
    const _Atomic uint64_t *word = &meeting->lines[meeting->count].word;

    if (!has_reached(word, 2 * barrier->round)) {
        return false;
    }
    if (2 * barrier->round + 1 == atomic_load_explicit(word, memory_order_relaxed)) {
        barrier->error = MPI_ERR_PROC_FAILED;
    }
    return true;
}

static void release(barrier_t *barrier, const meeting_t *meeting)
{
    raise_word(&meeting->lines[meeting->count].word,
               2 * barrier->round + (MPI_SUCCESS != barrier->error));
}

/** To the next stage of a leader. */
static void go_on(barrier_t *barrier, stage_t stage)
{
    handle_t *handle = barrier->handle;

    barrier->stage = stage;
    barrier->seen = 0;
    if (STAGE_NODE == stage) {
        raise_word(&handle->node.lines[handle->node.index].word, 2 * barrier->round);
    }
}

static stage_t stage_after_process(const handle_t *handle)
{
    if (1 == handle->leader_count) {
        return STAGE_RELEASE;
    }
    return handle->is_one_node && NULL != handle->node_memory
                   && epclient_engine->memory_is_complete(handle->node_memory)
               ? STAGE_NODE
               : STAGE_MESSAGES;
}

/** Begin the messages of a step.  @return false: they have failed */
static bool send_step(barrier_t *barrier)
{
    handle_t *handle = barrier->handle;
    const int count = handle->leader_count, index = handle->leader_index;
    const int tag = (int) (barrier->round & MPIX_ENDPOINTS_TAG_MAX);

    barrier->error = epclient_engine->irecv(
        handle->comm, number, NULL, 0, MPI_BYTE,
        handle->leaders[(index - barrier->step + count) % count], tag, &barrier->message[0]);
    if (MPI_SUCCESS == barrier->error) {
        barrier->error = epclient_engine->isend(handle->comm, number, NULL, 0, MPI_BYTE,
                                                handle->leaders[(index + barrier->step) % count],
                                                tag, &barrier->message[1]);
    }
    return MPI_SUCCESS == barrier->error;
}

/** @return whether the messages are over, well or not */
static bool messages_over(barrier_t *barrier)
{
    for (;;) {
        int done;

        if (0 < barrier->step) {
            MPI_Status statuses[2];
            const int rc = MPI_Testall(2, barrier->message, &done, statuses);

            if (MPI_SUCCESS != rc) {
                barrier->error = MPI_ERR_PROC_FAILED;
                return true;
            }
            if (!done) {
                return false;
            }
        }
        barrier->step = 0 == barrier->step ? 1 : 2 * barrier->step;
        if (barrier->step >= barrier->handle->leader_count || !send_step(barrier)) {
            return true;
        }
    }
}

/** Go as far as it goes.  @return is it over? */
static bool advance(void *context)
{
    barrier_t *barrier = context;
    handle_t *handle = barrier->handle;
    stage_t before;

    do {
        before = barrier->stage;
        if (STAGE_PROCESS == before && 0 != handle->process.index) {
            if (is_released(barrier, &handle->process)) {
                barrier->stage = STAGE_OVER;
            }
        } else if (STAGE_PROCESS == before && all_here(barrier, &handle->process)) {
            go_on(barrier, stage_after_process(handle));
        } else if (STAGE_NODE == before && 0 != handle->node.index) {
            if (is_released(barrier, &handle->node)) {
                go_on(barrier, STAGE_RELEASE);
            }
        } else if (STAGE_NODE == before && all_here(barrier, &handle->node)) {
            release(barrier, &handle->node);
            go_on(barrier, STAGE_RELEASE);
        } else if (STAGE_MESSAGES == before && messages_over(barrier)) {
            go_on(barrier, STAGE_RELEASE);
        } else if (STAGE_RELEASE == before) {
            release(barrier, &handle->process);
            barrier->stage = STAGE_OVER;
        }
    } while (before != barrier->stage);
    return STAGE_OVER == barrier->stage;
}

static handle_t *handle_of(MPI_Comm comm)
{
    return epclient_engine->client_object(comm, number);
}

/** The handle comes to its next barrier. */
static void begin(barrier_t *barrier)
{
    handle_t *handle = barrier->handle;

    barrier->round = ++handle->rounds;
    barrier->stage = STAGE_PROCESS;
    barrier->seen = barrier->step = 0;
    barrier->message[0] = barrier->message[1] = MPI_REQUEST_NULL;
    barrier->error = MPI_SUCCESS;
    raise_word(&handle->process.lines[handle->process.index].word, 2 * barrier->round);
}

/** As the engine's wait does. */
static int wait_in_pieces(barrier_t *barrier)
{
    mpix_endpoints_wait_t wait = {{0}};
    int rc = MPI_SUCCESS;

    while (!advance(barrier)) {
        rc = epclient_engine->wait_progress(barrier->handle->comm, MPIX_ENDPOINTS_ANY_RANK, &wait);
        if (MPI_SUCCESS != rc) {
            rc = advance(barrier) ? MPI_SUCCESS : rc;
            break;
        }
    }
    if (0 != wait.words[0]) {
        epclient_engine->wait_end(&wait);
    }
    return rc;
}

int epclient_barrier(MPI_Comm comm)
{
    barrier_t barrier = {.handle = handle_of(comm), .request = MPI_REQUEST_NULL};
    int rc;

    begin(&barrier);
    rc = 0 == barrier.round % 2
             ? epclient_engine->wait(comm, MPIX_ENDPOINTS_ANY_RANK, advance, &barrier)
             : wait_in_pieces(&barrier);
    if (MPI_SUCCESS != rc && 0 == barrier.handle->process.index) {
        barrier.error = rc;
        release(&barrier, &barrier.handle->process); /* members that wait for this one */
    }
    for (int i = 0; i < 2; ++i) {
        if (MPI_REQUEST_NULL != barrier.message[i]) {
            (void) MPI_Request_free(&barrier.message[i]);
        }
    }
    return MPI_SUCCESS != rc ? rc : barrier.error;
}

static mpix_endpoints_step_t step(mpix_endpoints_work_t *work)
{
    barrier_t *barrier = (barrier_t *) work;
    const stage_t before = barrier->stage;

    if (!advance(barrier)) {
        return before == barrier->stage ? MPIX_ENDPOINTS_STEP_IDLE : MPIX_ENDPOINTS_STEP_PROGRESS;
    }
    epclient_engine->request_done(barrier->request, barrier->error);
    return MPIX_ENDPOINTS_STEP_DONE; /* the member that it was waited for by may have freed it */
}

/** Have it go on while the endpoint is turned. */
static void go_on_later(barrier_t *barrier)
{
    if (0 == barrier->round % 4) {
        epclient_engine->work_begin(barrier->handle->comm, &barrier->work); /* the long way */
    } else {
        epclient_engine->request_begin(barrier->request, &barrier->work);
    }
}

/** The last member, if it needs no message, completes at once. */
static int start(void *context)
{
    barrier_t *barrier = context;

    begin(barrier);
    if (advance(barrier) && MPI_SUCCESS == barrier->error) {
        ++barrier->handle->overs;
        return MPIX_ENDPOINTS_REQUEST_COMPLETE;
    }
    go_on_later(barrier);
    return MPI_SUCCESS;
}

static const mpix_endpoints_request_ops_t request_ops = {.start = start, .free = free};

/** @param[in] types  of which a copy is kept, or NULL */
static int request_of(MPI_Comm comm, bool persistent, const MPI_Datatype *types,
                      MPI_Request *request)
{
    size_t size = 0;
    barrier_t *barrier;
    int rc, ranks;

    if (NULL != types) {
        (void) MPI_Comm_size(comm, &ranks);
        size = (size_t) ranks * sizeof(*types);
    }
    barrier = calloc(1, sizeof(*barrier) + size);
    if (NULL == barrier) {
        return MPI_ERR_NO_MEM;
    }
    if (NULL != types) {
        memcpy(barrier->types, types, size);
    }
    barrier->work.step = step;
    barrier->handle = handle_of(comm);
    rc = epclient_engine->request_new(comm, &request_ops, barrier, persistent, &barrier->request);
    if (MPI_SUCCESS != rc) {
        free(barrier);
        return rc;
    }
    if (NULL != types) {
        epclient_engine->request_types(barrier->request, barrier->types, NULL);
    }
    *request = barrier->request;
    if (!persistent) {
        begin(barrier);
        go_on_later(barrier);
    }
    return MPI_SUCCESS;
}

int epclient_ibarrier(MPI_Comm comm, MPI_Request *request)
{
    return request_of(comm, false, NULL, request);
}

int epclient_ibarrier_types(MPI_Comm comm, const MPI_Datatype *types, MPI_Request *request)
{
    return request_of(comm, false, types, request);
}

int epclient_barrier_init(MPI_Comm comm, MPI_Request *request)
{
    return request_of(comm, true, NULL, request);
}

int epclient_overs(MPI_Comm comm)
{
    return handle_of(comm)->overs;
}

/* ---- the rest -------------------------------------------------------------------------------- */

int epclient_open(int (*fails)(MPI_Comm comm))
{
    epclient_engine = mpix_endpoints_engine(MPIX_ENDPOINTS_ENGINE_ABI);
    make_fails = fails;
    return NULL == epclient_engine ? MPI_ERR_INTERN
                                   : epclient_engine->client_register(&client, &number);
}

int epclient_number(void)
{
    return number;
}

int epclient_handles(void)
{
    return atomic_load(&handles);
}

int epclient_send(MPI_Comm comm, int rank, uint64_t value)
{
    return epclient_engine->am_send(comm, number, rank, &value, sizeof(value));
}

uint64_t epclient_sum(MPI_Comm comm)
{
    (void) epclient_engine->progress(comm);
    return atomic_load_explicit(&handle_of(comm)->sum, memory_order_acquire);
}

uint64_t epclient_out_of_order(MPI_Comm comm)
{
    return atomic_load_explicit(&handle_of(comm)->out_of_order, memory_order_relaxed);
}
