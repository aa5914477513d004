/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Partitioned requests of the endpoint under test, each with memory of its own between guard zones.
 */

#include "fuzz.h"

#define SLOTS 16
#define GUARD 64
#define UNTOUCHED 0xa5
#define PARTITIONS_MAX 16

/** Elements of 8 bytes every 12. */
#define PIECE 8
#define STRIDE 12

/** What is asked of MPI. */
typedef struct plan_t {
    bool send;
    bool pieces; /**< not contiguous */
    bool started;
    int comm; /**< FUZZ_COMM_ */
    int tag;
    int partitions;
    int count; /**< elements of a partition, of one byte or of a piece */
} plan_t;

typedef struct slot_t {
    enum { IDLE, ACTIVE, FREED, GONE } state; /**< FREED: active, but given up */
    plan_t plan;
    MPI_Request request;
    mca_pml_epml_part_t *engine; /**< the same, while the user has it */
    int ready;                   /**< partitions marked in this round, from the first on */
    unsigned char *memory;       /**< the buffer between two guard zones; NULL: checked already */
} slot_t;

static slot_t slots[SLOTS];
static unsigned int slot_count;
static MPI_Datatype piece = MPI_DATATYPE_NULL;

/** What every input finds, and what it may choose from. */
static const plan_t plans[] = {
    {false, false, true, FUZZ_COMM_MAIN, 1, 4, 64},
    {false, false, true, FUZZ_COMM_MAIN, 2, 8, 200},
    {false, true, true, FUZZ_COMM_DUP, 3, 5, 10},
    {false, false, false, FUZZ_COMM_MAIN, 4, 3, 100},
    {true, false, true, FUZZ_COMM_MAIN, 1, 4, 50},
    {true, false, true, FUZZ_COMM_MAIN, 2, 4, 400},
    {true, true, true, FUZZ_COMM_DUP, 3, 3, 20},
    {true, false, false, FUZZ_COMM_MAIN, 4, 2, 600},
    {false, false, true, FUZZ_COMM_REVERSED, 5, 2, 0},
    {true, false, true, FUZZ_COMM_REVERSED, 5, 2, 0},
    {false, false, true, FUZZ_COMM_MAIN, 1, PARTITIONS_MAX, 10},
    {false, true, false, FUZZ_COMM_MAIN, 2, 2, 100},
    {true, true, true, FUZZ_COMM_MAIN, 5, 1, 90},
    {true, false, true, FUZZ_COMM_DUP, 6, PARTITIONS_MAX, 100},
    {false, false, true, FUZZ_COMM_DUP, 3, 1, 1000},
};

#define PLANS (sizeof(plans) / sizeof(plans[0]))
#define PLANS_AT_START 8

enum { RECV_FETCHING = 1, RECV_PIECES = 2, SEND_GRANTED = 5 }; /* of those at the start */

/** Bytes from the first to the last of the data. */
static size_t extent_of(const plan_t *plan)
{
    const size_t elements = (size_t) plan->partitions * (size_t) plan->count;

    return !plan->pieces || 0 == elements ? elements : (elements - 1) * STRIDE + PIECE;
}

static void make_piece(void)
{
    MPI_Datatype bytes;

    MPI_Type_contiguous(PIECE, MPI_BYTE, &bytes);
    MPI_Type_create_resized(bytes, 0, STRIDE, &piece);
    MPI_Type_commit(&piece);
    MPI_Type_free(&bytes);
}

/** Was only written what may have been?  Then its memory goes. */
static void check_memory(slot_t *slot)
{
    const size_t extent = extent_of(&slot->plan);
    const unsigned char *buffer = slot->memory + GUARD;

    for (size_t i = 0; i < GUARD; ++i) {
        FUZZ_CHECK(UNTOUCHED == slot->memory[i], "byte %zu before a buffer was written", GUARD - i);
        FUZZ_CHECK(UNTOUCHED == buffer[extent + i], "byte %zu behind a buffer was written", i);
    }
    for (size_t i = 0; i < extent; ++i) {
        FUZZ_CHECK((!slot->plan.send && (!slot->plan.pieces || PIECE > i % STRIDE))
                       || UNTOUCHED == buffer[i],
                   "byte %zu of %zu was written", i, extent);
    }
    free(slot->memory);
    slot->memory = NULL;
}

/* ---- what the user does ---------------------------------------------------------------------- */

static void start(slot_t *slot)
{
    if (IDLE == slot->state) {
        slot->state = ACTIVE; /* the call may want to write already */
        slot->ready = 0;
        FUZZ_CHECK(MPI_SUCCESS == MPI_Start(&slot->request), "a request cannot be started");
    }
}

static int init_request(slot_t *slot)
{
    const plan_t *plan = &slot->plan;
    const fuzz_comm_t *comm = &fuzz_comms[plan->comm];
    MPI_Datatype type = plan->pieces ? piece : MPI_BYTE;
    void *buffer = slot->memory + GUARD;

    return plan->send ? MPI_Psend_init(buffer, plan->partitions, plan->count, type, comm->remote,
                                       plan->tag, comm->comm, MPI_INFO_NULL, &slot->request)
                      : MPI_Precv_init(buffer, plan->partitions, plan->count, type, comm->remote,
                                       plan->tag, comm->comm, MPI_INFO_NULL, &slot->request);
}

static void init(const plan_t *plan)
{
    const size_t size = 2 * GUARD + extent_of(plan);
    slot_t *slot;
    int rc;

    if (SLOTS == slot_count) {
        return;
    }
    if (MPI_DATATYPE_NULL == piece) {
        make_piece();
    }
    slot = &slots[slot_count++];
    *slot = (slot_t){.state = IDLE, .plan = *plan, .memory = malloc(size)};
    FUZZ_CHECK(NULL != slot->memory, "no memory");
    memset(slot->memory, UNTOUCHED, size);
    rc = init_request(slot);
    if (MPI_SUCCESS != rc) {
        /* The network may be broken. */
        FUZZ_CHECK(plan->send, "a partitioned receive cannot be made: %d", rc);
        slot->state = GONE;
        return;
    }
    slot->engine = (mca_pml_epml_part_t *) slot->request;
    if (plan->started) {
        start(slot);
    }
}

/** Mark the next count partitions, if there are as many. */
static void ready(slot_t *slot, int count)
{
    const int left = slot->plan.partitions - slot->ready;

    count = count < left ? count : left;
    if (ACTIVE == slot->state && slot->plan.send && 0 < count) {
        /* Errors are reported by the request's end. */
        FUZZ_CHECK(MPI_SUCCESS
                       == MPI_Pready_range(slot->ready, slot->ready + count - 1, slot->request),
                   "partitions cannot be marked");
        slot->ready += count;
    }
}

/** Has it been completed by now? */
static void test(slot_t *slot)
{
    int flag = 0;

    if (ACTIVE != slot->state) {
        return;
    }
    (void) MPI_Test(&slot->request, &flag, MPI_STATUS_IGNORE);
    if (flag) {
        FUZZ_CHECK(!slot->plan.send || slot->plan.partitions == slot->ready,
                   "a send is over with %d partitions of %d", slot->ready, slot->plan.partitions);
        /* With an error Open MPI frees the request. */
        slot->state = MPI_REQUEST_NULL != slot->request ? IDLE : GONE;
    }
}

static void ask_arrived(slot_t *slot, int partition)
{
    int flag = 0;

    if ((ACTIVE == slot->state || IDLE == slot->state) && !slot->plan.send) {
        FUZZ_CHECK(MPI_SUCCESS
                       == MPI_Parrived(slot->request, partition % slot->plan.partitions, &flag),
                   "it cannot be asked what has arrived");
    }
}

/** Active ones go on without us.  Nobody may touch the memory of others from now on. */
static void give_up(slot_t *slot)
{
    if (ACTIVE == slot->state) {
        ready(slot, slot->plan.partitions);
        (void) MPI_Request_free(&slot->request);
        slot->state = FREED;
    } else if (IDLE == slot->state) {
        (void) MPI_Request_free(&slot->request);
        slot->state = GONE;
        check_memory(slot);
    }
}

void fuzz_parts_act(fuzz_input_t *input)
{
    const uint8_t choice = fuzz_byte(input);
    slot_t *slot = &slots[choice % slot_count];

    switch (fuzz_byte(input) % 8) {
    case 0:
        init(&plans[choice % PLANS]);
        break;
    case 1:
        start(slot);
        break;
    case 2:
    case 3:
        ready(slot, 1 + choice / 64);
        break;
    case 4:
        ask_arrived(slot, choice / 16);
        break;
    case 5:
        give_up(slot);
        break;
    case 6:
        test(slot);
        break;
    default:
        test(slot);
        start(slot);
        break;
    }
}

void fuzz_parts_start(void)
{
    const fuzz_comm_t *comm = fuzz_comms;

    slot_count = 0;
    for (size_t i = 0; i < PLANS_AT_START; ++i) {
        init(&plans[i]);
    }
    fuzz_rndv(EPML_HDR_PART_INIT, &comm[FUZZ_COMM_MAIN], 2, 1600);
    fuzz_part_rndv(slots[RECV_FETCHING].engine, 200, 600);
    fuzz_rndv(EPML_HDR_PART_INIT, &comm[FUZZ_COMM_DUP], 3, 320);
    fuzz_part_start(slots[SEND_GRANTED].engine->super.number, 1, 1600);
    ready(&slots[SEND_GRANTED], 2);
}

void fuzz_parts_ready(void)
{
    for (unsigned int i = 0; i < slot_count; ++i) {
        ready(&slots[i], slots[i].plan.partitions);
    }
}

/* ---- the peer that behaves ------------------------------------------------------------------- */

bool fuzz_parts_answer(const mca_pml_epml_part_t *part)
{
    const mca_pml_epml_request_t *request = &part->super;
    const uint64_t most = FUZZ_FRAG_LIMIT < part->missing ? FUZZ_FRAG_LIMIT : part->missing;

    if (fuzz_is(request, "partitioned receive")) {
        if (!part->matched) {
            return false;
        }
        fuzz_part_data(part, 0, most); /* with its end one is freed */
        return true;
    }
    if (0 > (int32_t) (part->granted - part->round)) {
        fuzz_part_start(request->number, part->granted + 1, request->size);
        return true;
    }
    if (0 < part->open) {
        fuzz_finished(EPML_HDR_FIN, request->number, part->round);
        return true;
    }
    return false;
}

/* ---- what must hold -------------------------------------------------------------------------- */

bool fuzz_parts_may_write(const void *memory, size_t size)
{
    const unsigned char *from = memory;

    for (unsigned int i = 0; i < slot_count; ++i) {
        const unsigned char *buffer = slots[i].memory + GUARD;

        if (!slots[i].plan.send && (ACTIVE == slots[i].state || FREED == slots[i].state)
            && from >= buffer && from + size <= buffer + extent_of(&slots[i].plan)) {
            return true;
        }
    }
    return false;
}

static void check_recv(const mca_pml_epml_part_t *part)
{
    const mca_pml_epml_request_t *request = &part->super;
    uint64_t left = 0;

    for (size_t i = 0; i < part->partitions; ++i) {
        /* Relaxed: written by this thread. */
        const uint64_t mine = atomic_load_explicit(&part->left[i], memory_order_relaxed);

        FUZZ_CHECK(EPML_PART_WHOLE == mine || mine <= part->partition_size,
                   "%llu bytes missing of a partition", (unsigned long long) mine);
        left += EPML_PART_WHOLE == mine ? 0 : mine;
    }
    if (!part->matched) {
        FUZZ_CHECK(NULL != request->posted.queue && 0 == part->open, "a receive is lost");
        return;
    }
    FUZZ_CHECK(NULL == request->posted.queue && request->wanted <= request->size, "matched twice");
    FUZZ_CHECK(request->done || 0 < part->missing || 0 < part->open || 0 == request->wanted,
               "a receive has all and is not over");
    /* A peer that sends bytes twice makes a round end early, never late. */
    FUZZ_CHECK(request->done || left >= part->missing, "%llu bytes missing, %llu by partition",
               (unsigned long long) part->missing, (unsigned long long) left);
    FUZZ_CHECK(0 == part->open || 0 < fuzz_net.gets || NULL != fuzz_ep->wire.pending.first,
               "%llu pieces are lost", (unsigned long long) part->open);
    FUZZ_CHECK(!request->done || 0 == part->open, "over, with pieces under way");
}

static void check_send(const mca_pml_epml_part_t *part, int marked)
{
    FUZZ_CHECK(part->ready_first + part->run <= part->ready_last
                   && part->ready_last <= part->partitions,
               "%u + %u of %u partitions", part->ready_first, part->run, part->ready_last);
    FUZZ_CHECK(part->super.done || (uint32_t) marked == part->ready_last,
               "%d partitions were marked, counted %u", marked, part->ready_last);
    FUZZ_CHECK(!part->super.done || (0 == part->open && !part->super.in_pending_queue),
               "over, with pieces under way");
    FUZZ_CHECK(part->super.done || part->ready_first < part->partitions || 0 < part->open
                   || part->super.in_pending_queue || 0 > (int32_t) (part->granted - part->round)
                   || 0 == part->partitions,
               "a send has sent all and is not over");
}

void fuzz_parts_check(void)
{
    for (unsigned int i = 0; i < slot_count; ++i) {
        const mca_pml_epml_part_t *part = slots[i].engine;

        if (ACTIVE != slots[i].state && IDLE != slots[i].state) {
            continue;
        }
        FUZZ_CHECK(EPML_NUMBER_NONE != part->super.number, "a request has lost its number");
        if (slots[i].plan.send) {
            check_send(part, slots[i].ready);
        } else {
            check_recv(part);
        }
    }
}

void fuzz_parts_finish(void)
{
    for (unsigned int i = 0; i < slot_count; ++i) {
        slot_t *slot = &slots[i];

        test(slot);
        FUZZ_CHECK(ACTIVE != slot->state, "partitioned request %u is not over", i);
        if (IDLE == slot->state) {
            MPI_Request_free(&slot->request);
        }
        if (NULL != slot->memory) {
            check_memory(slot);
        }
    }
    slot_count = 0;
}
