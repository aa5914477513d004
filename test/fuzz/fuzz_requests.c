/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Requests of the endpoint under test, each with memory of its own between guard zones.
 */

#include "fuzz.h"

#define SLOTS 32
#define PIECES_MAX 512
#define GUARD 64
#define UNTOUCHED 0xa5
#define PROBED_MAX 8

/** Elements of 8 bytes every 12. */
#define PIECE 8
#define STRIDE 12

/** What is asked of MPI. */
typedef struct plan_t {
    enum { RECV, SEND, SSEND } what;
    bool persistent;
    bool pieces; /**< not contiguous */
    int comm;    /**< FUZZ_COMM_ */
    int peer;    /**< MPI_ANY_SOURCE, or another: the remote one */
    int tag;
    size_t size; /**< bytes of data */
} plan_t;

typedef struct slot_t {
    enum { EMPTY, ACTIVE, FREED, INACTIVE, OVER } state; /**< FREED: active, but given up */
    plan_t plan;
    MPI_Request request;
    mca_pml_epml_request_t *engine; /**< the same */
    size_t count;                   /**< bytes that came, of a receive that is over */
    unsigned char *memory;          /**< the buffer between two guard zones; of its own, so that
                            * AddressSanitizer knows where it ends, in space and in time */
} slot_t;

static slot_t slots[SLOTS];
static unsigned int slot_count;
static MPI_Datatype pieces[PIECES_MAX + 1]; /**< by number of pieces, made when needed */

static struct {
    MPI_Message message;
    int tag;
} probed[PROBED_MAX];
static unsigned int probed_count;

/** What every input finds, and what it may choose from. */
static const plan_t plans[] = {
    {RECV, false, false, FUZZ_COMM_MAIN, FUZZ_REMOTE, 1, 32},
    {RECV, false, false, FUZZ_COMM_MAIN, FUZZ_REMOTE, 1, 1024},
    {RECV, false, true, FUZZ_COMM_MAIN, FUZZ_REMOTE, 2, 600},
    {RECV, false, false, FUZZ_COMM_DUP, MPI_ANY_SOURCE, 3, 100},
    {RECV, false, false, FUZZ_COMM_DUP, FUZZ_REMOTE, MPI_ANY_TAG, 2000},
    {RECV, false, false, FUZZ_COMM_REVERSED, MPI_ANY_SOURCE, MPI_ANY_TAG, 0},
    {RECV, true, false, FUZZ_COMM_MAIN, FUZZ_REMOTE, 4, 400},
    {SEND, false, false, FUZZ_COMM_MAIN, FUZZ_REMOTE, 1, 1000},
    {SEND, false, true, FUZZ_COMM_MAIN, FUZZ_REMOTE, 2, 800},
    {SSEND, false, false, FUZZ_COMM_DUP, FUZZ_REMOTE, 3, 16},
    {SSEND, true, false, FUZZ_COMM_MAIN, FUZZ_REMOTE, 4, 3000},
    {SEND, false, false, FUZZ_COMM_REVERSED, FUZZ_REMOTE, 5, 300},
    {RECV, false, true, FUZZ_COMM_MAIN, MPI_ANY_SOURCE, 5, 2400},
    {RECV, true, true, FUZZ_COMM_REVERSED, FUZZ_REMOTE, 6, 80},
    {RECV, false, false, FUZZ_COMM_MAIN, MPI_ANY_SOURCE, MPI_ANY_TAG, 3000},
    {RECV, false, false, FUZZ_COMM_MAIN, FUZZ_REMOTE, 9, 1200},
    {SSEND, false, true, FUZZ_COMM_REVERSED, FUZZ_REMOTE, 7, 160},
    {SEND, true, true, FUZZ_COMM_DUP, FUZZ_REMOTE, 8, 2000},
    {SEND, false, false, FUZZ_COMM_DUP, FUZZ_REMOTE, 8, 8},
};

#define PLANS (sizeof(plans) / sizeof(plans[0]))
#define PLANS_AT_START 12

/** In the memory of a slot, where MPI's buffer begins. */
static unsigned char *buffer_of(slot_t *slot)
{
    return slot->memory + GUARD;
}

/** Bytes from the first to the last of the data. */
static size_t extent_of(const plan_t *plan)
{
    if (!plan->pieces || 0 == plan->size) {
        return plan->size;
    }
    return (plan->size / PIECE - 1) * STRIDE + PIECE;
}

static MPI_Datatype type_of(const plan_t *plan, int *count)
{
    MPI_Datatype *type = &pieces[plan->size / PIECE];

    if (!plan->pieces) {
        *count = (int) plan->size;
        return MPI_BYTE;
    }
    *count = 1;
    if (MPI_DATATYPE_NULL == *type || NULL == *type) {
        MPI_Type_vector((int) plan->size / PIECE, PIECE, STRIDE, MPI_BYTE, type);
        MPI_Type_commit(type);
    }
    return *type;
}

/* ---- what the user does ---------------------------------------------------------------------- */

static int init_or_start(slot_t *slot)
{
    const plan_t *plan = &slot->plan;
    const fuzz_comm_t *comm = &fuzz_comms[plan->comm];
    const int peer = MPI_ANY_SOURCE == plan->peer ? MPI_ANY_SOURCE : comm->remote;
    void *buffer = buffer_of(slot);
    int count;
    MPI_Datatype type = type_of(plan, &count);

    switch (plan->what) {
    case RECV:
        return (plan->persistent ? MPI_Recv_init : MPI_Irecv)(buffer, count, type, peer, plan->tag,
                                                              comm->comm, &slot->request);
    case SEND:
        return (plan->persistent ? MPI_Send_init : MPI_Isend)(buffer, count, type, peer, plan->tag,
                                                              comm->comm, &slot->request);
    default:
        return (plan->persistent ? MPI_Ssend_init : MPI_Issend)(buffer, count, type, peer,
                                                                plan->tag, comm->comm,
                                                                &slot->request);
    }
}

static slot_t *new_slot(const plan_t *plan)
{
    slot_t *slot;

    if (SLOTS == slot_count) {
        return NULL;
    }
    slot = &slots[slot_count++];
    slot->state = ACTIVE;
    slot->plan = *plan;
    slot->count = 0;
    slot->memory = malloc(2 * GUARD + extent_of(plan));
    FUZZ_CHECK(NULL != slot->memory, "no memory");
    memset(slot->memory, UNTOUCHED, 2 * GUARD + extent_of(plan));
    return slot;
}

static void start(const plan_t *plan)
{
    slot_t *slot = new_slot(plan);
    int rc;

    if (NULL == slot) {
        return;
    }
    rc = init_or_start(slot);
    if (MPI_SUCCESS == rc && plan->persistent) {
        rc = MPI_Start(&slot->request);
    }
    if (MPI_SUCCESS != rc) {
        /* The network may be broken: then the call may say so. */
        FUZZ_CHECK(RECV != plan->what, "a receive cannot be posted: %d", rc);
        slot->state = OVER;
        return;
    }
    slot->engine = (mca_pml_epml_request_t *) slot->request;
}

/** Has it been completed by now? */
static void test(slot_t *slot)
{
    MPI_Status status;
    int flag = 0;

    if (ACTIVE != slot->state) {
        return;
    }
    (void) MPI_Test(&slot->request, &flag, &status);
    if (!flag) {
        return;
    }
    /* With an error Open MPI frees the request, a persistent one, too. */
    slot->state = MPI_REQUEST_NULL != slot->request ? INACTIVE : OVER;
    if (!slot->plan.persistent && INACTIVE == slot->state) {
        MPI_Request_free(&slot->request);
        slot->state = OVER;
    }
    if (RECV == slot->plan.what) {
        slot->count = status._ucount;
        FUZZ_CHECK(slot->plan.size >= slot->count || status._cancelled, "%zu bytes into %zu",
                   slot->count, slot->plan.size);
    }
}

static void cancel(slot_t *slot)
{
    if (ACTIVE == slot->state) {
        (void) MPI_Cancel(&slot->request);
        test(slot);
    }
}

/** Active ones go on without us. */
static void give_up(slot_t *slot)
{
    if (ACTIVE == slot->state) {
        (void) MPI_Request_free(&slot->request);
        slot->state = FREED;
    }
}

static void restart(slot_t *slot)
{
    if (INACTIVE == slot->state) {
        memset(slot->memory, UNTOUCHED, 2 * GUARD + extent_of(&slot->plan));
        slot->state = ACTIVE;
        FUZZ_CHECK(MPI_SUCCESS == MPI_Start(&slot->request), "a request cannot be started again");
    }
}

static void probe(int tag)
{
    const fuzz_comm_t *comm = &fuzz_comms[FUZZ_COMM_MAIN];
    MPI_Message message;
    int flag = 0;

    if (PROBED_MAX == probed_count) {
        return;
    }
    MPI_Improbe(comm->remote, 11 < tag ? MPI_ANY_TAG : tag, comm->comm, &flag, &message,
                MPI_STATUS_IGNORE);
    if (flag) {
        probed[probed_count++].message = message;
    }
}

static void receive_probed(void)
{
    static const plan_t plan = {RECV, false, false, FUZZ_COMM_MAIN, FUZZ_REMOTE, 9, 500};
    slot_t *slot = 0 < probed_count ? new_slot(&plan) : NULL;

    if (NULL == slot) {
        return;
    }
    MPI_Imrecv(buffer_of(slot), (int) plan.size, MPI_BYTE, &probed[--probed_count].message,
               &slot->request);
    slot->engine = (mca_pml_epml_request_t *) slot->request;
}

void fuzz_requests_receive_probed(void)
{
    while (0 < probed_count) {
        if (SLOTS == slot_count) {
            /* No slot is left: nowhere. */
            MPI_Status status;
            MPI_Request request;
            int flag = 0;

            MPI_Imrecv(NULL, 0, MPI_BYTE, &probed[--probed_count].message, &request);
            (void) MPI_Test(&request, &flag, &status);
            FUZZ_CHECK(flag, "a receive of nothing is not over");
            if (MPI_REQUEST_NULL != request) {
                MPI_Request_free(&request);
            }
        } else {
            receive_probed();
        }
    }
}

void fuzz_requests_act(fuzz_input_t *input)
{
    const uint8_t choice = fuzz_byte(input);
    slot_t *slot = &slots[choice % slot_count];

    switch (fuzz_byte(input) % 8) {
    case 0:
    case 1:
        start(&plans[choice % PLANS]);
        break;
    case 2:
        test(slot);
        break;
    case 3:
        cancel(slot);
        break;
    case 4:
        give_up(slot);
        break;
    case 5:
        restart(slot);
        break;
    case 6:
        probe(choice % 16);
        break;
    default:
        receive_probed();
        break;
    }
}

void fuzz_requests_start(void)
{
    slot_count = 0;
    probed_count = 0;
    for (size_t i = 0; i < PLANS_AT_START; ++i) {
        start(&plans[i]);
    }
}

/* ---- what must hold -------------------------------------------------------------------------- */

bool fuzz_requests_may_write(const void *memory, size_t size)
{
    for (unsigned int i = 0; i < slot_count; ++i) {
        const unsigned char *buffer = buffer_of(&slots[i]);
        const unsigned char *from = memory;

        if (RECV == slots[i].plan.what && (ACTIVE == slots[i].state || FREED == slots[i].state)
            && from >= buffer && from + size <= buffer + slots[i].plan.size) {
            return true;
        }
    }
    return false;
}

/** Will the engine come back to it? */
static bool is_findable(const mca_pml_epml_request_t *request)
{
    if (request->in_pending_queue) {
        return true;
    }
    if (fuzz_is(request, "receive")) {
        return NULL != request->posted.queue || 0 < request->gets
               || EPML_NUMBER_NONE != request->number;
    }
    /* One that has not sent anything yet, or whose fragments are held up, is in a pending queue. */
    return (EPML_SEND_SYNC == request->state || EPML_SEND_RNDV == request->state
            || EPML_SEND_CANCELLED == request->state)
               ? EPML_NUMBER_NONE != request->number
               : NULL != fuzz_ep->wire.pending.first;
}

void fuzz_requests_check(void)
{
    for (unsigned int i = 0; i < slot_count; ++i) {
        const mca_pml_epml_request_t *request = slots[i].engine;

        if (ACTIVE != slots[i].state || OMPI_REQUEST_PML != request->req_ompi.req_type
            || REQUEST_COMPLETED == request->req_ompi.req_complete) {
            continue;
        }
        FUZZ_CHECK(!request->done, "request %u is through, and not complete", i);
        FUZZ_CHECK(is_findable(request), "request %u is lost", i);
    }
}

/** Was only written what may have been? */
static void check_memory(slot_t *slot)
{
    const plan_t *plan = &slot->plan;
    const size_t extent = extent_of(plan);
    size_t written = RECV != plan->what ? 0 : OVER == slot->state ? slot->count : plan->size;
    const unsigned char *buffer = buffer_of(slot);

    for (size_t i = 0; i < GUARD; ++i) {
        FUZZ_CHECK(UNTOUCHED == slot->memory[i], "byte %zu before a buffer was written", GUARD - i);
        FUZZ_CHECK(UNTOUCHED == buffer[extent + i], "byte %zu behind a buffer was written", i);
    }
    for (size_t i = 0; i < extent; ++i) {
        const bool is_data = !plan->pieces || PIECE > i % STRIDE;
        const size_t position = plan->pieces ? i / STRIDE * PIECE + i % STRIDE : i;

        FUZZ_CHECK((is_data && position < written) || UNTOUCHED == buffer[i],
                   "byte %zu of %zu was written, after %zu", i, extent, written);
    }
}

void fuzz_requests_finish(void)
{
    for (unsigned int i = 0; i < slot_count; ++i) {
        slot_t *slot = &slots[i];

        test(slot);
        FUZZ_CHECK(ACTIVE != slot->state, "request %u is not over, state %d, kind %d", i,
                   slot->engine->state, slot->plan.what);
        if (INACTIVE == slot->state) {
            MPI_Request_free(&slot->request);
        }
        check_memory(slot);
        free(slot->memory);
        slot->memory = NULL;
    }
    slot_count = 0;
}
