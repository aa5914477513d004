/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * libFuzzer's target for messages of windows (osc/epwin, am), in the world of one thread of the unit
 * tests.  An input is a list of actions: a message arrives, with records that are right but for what
 * the input spoils; member 0 calls operations; messages of the world arrive; a member is lost.
 *
 * Nothing may be written outside of a member's memory, and nothing read outside of a message.  At the
 * end all are lost: no request is left.
 *
 * Guards: osc_epwin_am_check.c, osc_epwin_am_execute.c, osc_epwin_am_queue.c, osc_epwin_am_result.c,
 * osc_epwin_am_hold.c, osc_epwin_am_reply.c
 */

#include "../unit/test_epwin_am.h"

enum { MESSAGE_MAX = 512, REQUESTS = 64 };

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- the input -------------------------------------------------------------------------------- */

static struct {
    const uint8_t *at, *end;
} input;

static uint32_t take(uint32_t below)
{
    return input.at < input.end ? *input.at++ % below : 0;
}

static uint32_t take_two(void)
{
    const uint32_t high = take(256);

    return high << 8 | take(256);
}

/* ---- messages --------------------------------------------------------------------------------- */

static int receiver; /**< of the message that is made */

static const uint8_t record_kinds[] = {
    EPWIN_AM_PUT,         EPWIN_AM_GET,           EPWIN_AM_ACCUMULATE, EPWIN_AM_FETCH,
    EPWIN_AM_SWAP,        EPWIN_AM_FLUSH,         EPWIN_AM_LOCK,       EPWIN_AM_UNLOCK,
    EPWIN_AM_DOMAIN_LOCK, EPWIN_AM_DOMAIN_UNLOCK, EPWIN_AM_POST,       EPWIN_AM_COMPLETE,
    EPWIN_AM_DATA,        EPWIN_AM_NO_DATA,       EPWIN_AM_ACK,        EPWIN_AM_BROKEN};

/** Mostly within the window of a member, or behind the address of its memory. */
static int64_t take_place(int member)
{
    const int64_t place = take_two()
                          + (MPI_WIN_FLAVOR_DYNAMIC == world.module[member].flavor
                                 ? (int64_t) (uintptr_t) world_base(member)
                                 : 0);

    return 0 == take(8) ? place + WINDOW - 300 : 0 == take(32) ? -place : place;
}

/** The runs of a record.  @return bytes that they address */
static uint32_t runs_take(epwin_am_record_t *record, uint32_t unit)
{
    epwin_am_run_t *runs = (epwin_am_run_t *) (record + 1);
    uint32_t bytes = 0;

    record->access.runs = (uint16_t) take(4);
    for (uint32_t i = 0; i < record->access.runs; ++i) {
        runs[i] = (epwin_am_run_t){.at = take_place(receiver),
                                   .stride = 0 == take(2) ? (int64_t) (int8_t) take(256) : 0,
                                   .size = unit * take(9),
                                   .count = take(5)};
        if (0 == take(32)) {
            runs[i].count = UINT32_MAX - take(3);
        }
        bytes += runs[i].size * (runs[i].count < 8 ? runs[i].count : 1);
    }
    return bytes;
}

/** Data behind the runs, whose number the kind decides.  @return bytes, or too many */
static uint32_t data_bytes_of(const epwin_am_record_t *record, uint32_t bytes)
{
    switch (record->kind) {
    case EPWIN_AM_PUT:
    case EPWIN_AM_DATA:
        return bytes;
    case EPWIN_AM_SWAP:
        return 2 * bytes;
    case EPWIN_AM_ACCUMULATE:
    case EPWIN_AM_FETCH:
        return OMPI_OP_BASE_FORTRAN_NO_OP == record->op ? 0 : bytes;
    default:
        return 0;
    }
}

/** What an operation does, and its type.  @return bytes of an element */
static uint32_t element_take(epwin_am_record_t *record)
{
    const kind_t *kind = &kinds[take((uint32_t) kind_count)];

    record->type = (uint8_t) (0 == take(16) ? take(256) : (uint32_t) kind->basic->d_f_to_c_index);
    record->op = (uint8_t) (EPWIN_AM_SWAP == record->kind ? 0 : take(18));
    return (uint32_t) kind->basic->super.size;
}

/** A record that addresses memory, in a block or in runs.  @return bytes behind the head, without
 * the data */
static uint32_t access_take(epwin_am_record_t *record, uint32_t *bytes_p)
{
    const uint32_t unit = EPWIN_AM_ACCUMULATE <= record->kind ? element_take(record) : 1 + take(8);

    if (EPWIN_AM_SWAP == record->kind || 0 == take(2)) {
        record->flags |= EPWIN_AM_FLAG_BLOCK;
        record->block = (uint16_t) (unit * (EPWIN_AM_SWAP == record->kind ? 1 : take(9)));
        record->at = take_place(receiver);
        *bytes_p = record->block;
        return 0;
    }
    *bytes_p = record->access.bytes = runs_take(record, unit);
    return record->access.runs * (uint32_t) sizeof(epwin_am_run_t);
}

/** The next record.  @return its bytes; 0: there is no room */
static uint32_t record_take(epwin_am_record_t *record, uint32_t room)
{
    uint32_t behind = 0, bytes = 0, data;

    *record = (epwin_am_record_t){.kind = record_kinds[take(sizeof(record_kinds))],
                                  .flags = (uint8_t) take(2)};
    if (epwin_am_has_runs(record)) {
        behind = access_take(record, &bytes);
    } else if (EPWIN_AM_LOCK == record->kind || EPWIN_AM_UNLOCK == record->kind) {
        record->hold = (uint8_t) take(4);
        record->with_domain = (uint8_t) take(2);
    } else if (EPWIN_AM_DATA <= record->kind) {
        record->error = (uint8_t) (0 == take(2) ? 0 : take(80));
        if (EPWIN_AM_ACK > record->kind) {
            bytes = record->access.bytes = 1 + take(64);
        }
    }
    data = data_bytes_of(record, bytes);
    if (sizeof(*record) + behind + data + 8 > room) {
        return 0;
    }
    memset((char *) (record + 1) + behind, (int) take(256), (data + 7) & ~7U);
    record->eights = (uint16_t) ((sizeof(*record) + behind + ((data + 7) & ~7U)) / 8);
    return epwin_am_length(record);
}

/** A message arrives at a member, in memory of just its size. */
static void message_arrive(void)
{
    alignas(8) unsigned char built[MESSAGE_MAX];
    const int from_next = (int) take(MEMBERS - 1);
    const uint32_t records = 1 + take(4);
    uint32_t size = 0, changes;
    unsigned char *message;

    receiver = 0 == take(3) ? 0 : 1;
    for (uint32_t i = 0; i < records && size + 160 < MESSAGE_MAX; ++i) {
        size += record_take((epwin_am_record_t *) (built + size), MESSAGE_MAX - size);
    }
    changes = 0 == take(4) ? 1 + take(3) : 0;
    for (uint32_t i = 0; i < changes && 0 < size; ++i) {
        built[take_two() % size] = (unsigned char) take(256);
    }
    if (0 == take(16)) {
        size = take_two() % (size + 1);
    }
    if (0 == size) {
        return;
    }
    message = malloc(size); /* aligned; what is read behind it is seen */
    memcpy(message, built, size);
    (void) mca_osc_epwin_am_handler(&world.module[receiver], (receiver + 1 + from_next) % MEMBERS,
                                    message, size);
    free(message);
}

/* ---- operations ------------------------------------------------------------------------------- */

static unsigned char buffer_bytes[4096]; /* of origins; results are written to it */
static ompi_request_t *requests[REQUESTS];
static int request_count;

static void request_kept(int rc)
{
    if (MPI_SUCCESS == rc && NULL != requests[request_count]) {
        ++request_count;
    }
}

static void operation(void)
{
    mca_osc_epwin_module_t *module = &world.module[0];
    const kind_t *kind = &kinds[take((uint32_t) kind_count)];
    const mca_osc_epwin_buffer_t buffer = {.address = buffer_bytes,
                                           .count = 1 + take(3),
                                           .type = kind->type};
    const int target = 1 + (int) take(2);
    const mca_osc_epwin_place_t place = {.target = target,
                                         .at = (ptrdiff_t) take_place(target),
                                         .count = buffer.count,
                                         .type = kind->type};
    ompi_request_t **request = REQUESTS > request_count && 0 == take(2) ? &requests[request_count]
                                                                        : NULL;

    if (NULL != request) {
        *request = NULL;
    }
    switch (take(7)) {
    case 0:
        (void) mca_osc_epwin_am_put(module, &buffer, &place, true);
        break;
    case 1:
        request_kept(NULL == request ? MPI_ERR_REQUEST
                                     : mca_osc_epwin_am_get(module, &buffer, &place, request));
        break;
    case 2:
        (void) mca_osc_epwin_am_accumulate(module, &buffer, NULL, &place, kind->basic,
                                           kind_op(kind), NULL);
        break;
    case 3:
        request_kept(NULL == request
                         ? MPI_ERR_REQUEST
                         : mca_osc_epwin_am_accumulate(module, &buffer, &buffer, &place,
                                                       kind->basic, kind_op(kind), request));
        break;
    case 4:
        (void) mca_osc_epwin_am_flush_local(module, place.target);
        break;
    case 5:
        (void) mca_osc_epwin_am_post(module, place.target);
        break;
    default:
        (void) mca_osc_epwin_am_flush(module, place.target);
        break;
    }
}

/* ---- an input --------------------------------------------------------------------------------- */

static unsigned char margins[MEMBERS][2 * MARGIN];

static void check(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "fuzz: %s\n", what);
        abort();
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    int level;

    /* Datatypes and operations are all that is used of MPI. */
    (void) setenv("OMPI_MCA_pml", "ob1", 1);
    (void) setenv("OMPI_MCA_btl", "self", 1);
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level);
    kinds_make();
    world_begin(MPI_WIN_FLAVOR_CREATE, 1, 1 << 20);
    for (int i = 0; i < MEMBERS; ++i) {
        memcpy(margins[i], world.memory[i], MARGIN);
        memcpy(margins[i] + MARGIN, world_base(i) + WINDOW, MARGIN);
    }
    return 0;
}

/** The world as at its beginning, but for its memory. */
static void world_renew(uint16_t flavor)
{
    world.is_short = false;
    world.patience = 30; /* answers may be lost */
    world.random = 1;
    request_count = 0;
    memset(world.works, 0, sizeof(world.works));
    memset(world.is_lost, 0, sizeof(world.is_lost));
    for (int i = 0; i < MEMBERS; ++i) {
        mca_osc_epwin_am_free(&world.module[i]);
        memset((void *) world.domain[i], 0, mca_osc_epwin_domain_bytes(2, MEMBERS));
    }
    for (int i = 0; i < MEMBERS; ++i) {
        member_begin(i, flavor);
    }
}

static void act(void)
{
    switch (take(8)) {
    case 0:
    case 1:
    case 2:
        message_arrive();
        break;
    case 3:
    case 4:
        operation();
        break;
    case 5:
        world_settle(1 + take(3));
        break;
    case 6:
        for (uint32_t turns = take(16); 0 < turns; --turns) {
            world_turn();
        }
        break;
    default:
        if (0 == take(16)) {
            world.is_lost[take(MEMBERS)] = true;
        }
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input.at = data;
    input.end = data + size;
    world_renew(0 == take(4) ? MPI_WIN_FLAVOR_DYNAMIC : MPI_WIN_FLAVOR_CREATE);
    while (input.at < input.end) {
        act();
    }
    memset(world.is_lost, true, sizeof(world.is_lost));
    world_settle(2 * EPWIN_AM_LIVENESS);
    for (int i = 0; i < request_count; ++i) {
        check(-1 != requests[i]->req_status.MPI_ERROR, "a request waits for the dead");
        free(requests[i]);
    }
    for (int i = 0; i < MEMBERS; ++i) {
        check(0 == memcmp(margins[i], world.memory[i], MARGIN)
                  && 0 == memcmp(margins[i] + MARGIN, world_base(i) + WINDOW, MARGIN),
              "bytes outside of a window were written");
    }
    check(0 == atomic_load(&tap.failures), "a check of the world");
    return 0;
}
