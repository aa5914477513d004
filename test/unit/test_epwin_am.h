/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A world of window handles without an engine, for the tests of osc/epwin's layer am: members with memory, and a
 * network of queues in one thread.  What arrives, and which work takes a step, is random; messages
 * of a pair are in order.  Sending fails at random, as without memory.
 */

#ifndef EP_TEST_UNIT_EPWIN_AM_H
#define EP_TEST_UNIT_EPWIN_AM_H

#include "tap.h"

/** Memory as the tested code gets it: none, if a case says so. */
static bool no_memory;

static inline void *malloc_or_not(size_t size)
{
    return no_memory ? NULL : malloc(size);
}
#define malloc(size) malloc_or_not(size)

#include "ompi/mca/osc/epwin/am/osc_epwin_am_check.c"
#include "ompi/mca/osc/epwin/am/osc_epwin_am_epoch.c"
#include "ompi/mca/osc/epwin/am/osc_epwin_am_execute.c"
#include "ompi/mca/osc/epwin/am/osc_epwin_am_hold.c"
#include "ompi/mca/osc/epwin/am/osc_epwin_am_link.c"
#include "ompi/mca/osc/epwin/am/osc_epwin_am_long.c"
#include "ompi/mca/osc/epwin/am/osc_epwin_am_origin.c"
#include "ompi/mca/osc/epwin/am/osc_epwin_am_queue.c"
#include "ompi/mca/osc/epwin/am/osc_epwin_am_reply.c"
#include "ompi/mca/osc/epwin/am/osc_epwin_am_result.c"
#undef malloc
#include "ompi/mca/osc/epwin/base/osc_epwin_enter.c"
#include "ompi/mca/osc/epwin/target/osc_epwin_accumulate_lock.c"
#include "ompi/mca/osc/epwin/target/osc_epwin_apply.c"
#include "ompi/mca/osc/epwin/target/osc_epwin_device_memory.c"
#include "ompi/mca/osc/epwin/target/osc_epwin_range.c"
#include "ompi/mca/osc/epwin/target/osc_epwin_walk.c"
#include "ompi/mca/osc/epwin/target/osc_epwin_word.c"

enum {
    MEMBERS = 4,
    WINDOW = 224000, /**< bytes of a member */
    MARGIN = 256,    /**< before and behind them, which stay as they are */
    WORKS = 16
};

/** Of these members 1 and 2 share a domain. */
static const uint32_t domains[MEMBERS] = {0, 1, 1, 2};

/** A message of the engine. */
typedef struct long_message_t {
    ompi_request_t request; /**< first */
    struct long_message_t *next;
    int from, to, tag;
    void *address;
    size_t bytes;
    bool is_send;
} long_message_t;

typedef struct packet_t {
    struct packet_t *next;
    size_t size;
    alignas(8) unsigned char data[];
} packet_t;

static struct {
    mca_osc_epwin_module_t module[MEMBERS];
    mca_osc_epwin_domain_t *domain[MEMBERS];                    /**< by number */
    mca_osc_epwin_window_t *window[MEMBERS];                    /**< each member is a process */
    unsigned char *memory[MEMBERS];                             /**< with margins */
    packet_t *first[MEMBERS][MEMBERS], *last[MEMBERS][MEMBERS]; /**< from, to */
    mpix_endpoints_work_t *works[WORKS];
    long_message_t *longs;      /**< that have not been freed */
    unsigned int longs_matched; /**< pairs */
    bool is_lost[MEMBERS];
    size_t am_max[MEMBERS][MEMBERS];
    unsigned int messages[MEMBERS][MEMBERS]; /**< sent */
    unsigned int done, nonsense;             /**< requests completed; messages refused */
    uint64_t random;
    bool is_short;         /**< of memory, at random */
    bool is_in_handler;    /**< the engine's functions but three must not be called */
    unsigned int patience; /**< turns until a wait gives up; 0: never */
    void (*on_turn)(void); /**< called in each turn, or NULL */
} world;

mca_osc_epwin_component_t mca_osc_epwin_component;

/* ---- the network ------------------------------------------------------------------------------ */

/** Communicators are numbers of members. */
static int world_member(const ompi_communicator_t *comm)
{
    return (int) (intptr_t) comm - 1;
}

static void world_check_outside(void)
{
    TAP_CHECK(!world.is_in_handler, "a function of the engine is called in the handler");
}

static int world_am_answer(ompi_communicator_t *comm, int number, int rank, const void *data,
                           size_t size)
{
    const int from = world_member(comm);
    packet_t *packet;

    (void) number;
    if (world.is_lost[rank] || world.is_lost[from]) {
        return MPI_ERR_PROC_FAILED;
    }
    if (size > world.am_max[from][rank]) {
        TAP_CHECK(false, "a message of %zu bytes, of %zu", size, world.am_max[from][rank]);
        return MPI_ERR_ARG;
    }
    if (world.is_short && 0 == tap_below(&world.random, 10)) {
        return MPI_ERR_NO_MEM;
    }
    packet = aligned_alloc(8, (sizeof(*packet) + size + 7) & ~(size_t) 7);
    memcpy(packet->data, data, size);
    packet->size = size;
    packet->next = NULL;
    if (NULL == world.first[from][rank]) {
        world.first[from][rank] = packet;
    } else {
        world.last[from][rank]->next = packet;
    }
    world.last[from][rank] = packet;
    ++world.messages[from][rank];
    return MPI_SUCCESS;
}

static int world_am_send(ompi_communicator_t *comm, int number, int rank, const void *data,
                         size_t size)
{
    world_check_outside();
    return world_am_answer(comm, number, rank, data, size);
}

static void world_arrive(int from, int to)
{
    packet_t *packet = world.first[from][to];

    if (NULL != packet) {
        world.first[from][to] = packet->next;
        world.is_in_handler = true;
        if (!world.is_lost[from] && !world.is_lost[to]
            && !mca_osc_epwin_am_handler(&world.module[to], from, packet->data, packet->size)) {
            ++world.nonsense;
        }
        world.is_in_handler = false;
        free(packet);
    }
}

static void world_step(unsigned int i)
{
    mpix_endpoints_work_t *work = world.works[i];

    if (NULL != work) {
        world.works[i] = NULL;
        if (MPIX_ENDPOINTS_STEP_DONE != work->step(work)) {
            while (NULL != world.works[i]) { /* one begun by the step */
                i = (i + 1) % WORKS;
            }
            world.works[i] = work;
        }
    }
}

/** Something happens, or not. */
static void world_turn(void)
{
    if (NULL != world.on_turn) {
        world.on_turn();
    }
    if (0 == tap_below(&world.random, 2)) {
        world_arrive((int) tap_below(&world.random, MEMBERS),
                     (int) tap_below(&world.random, MEMBERS));
    } else {
        world_step((unsigned int) tap_below(&world.random, WORKS));
    }
}

static void world_settle(unsigned int rounds)
{
    for (unsigned int round = 0; round < rounds; ++round) {
        for (int pair = 0; pair < MEMBERS * MEMBERS; ++pair) {
            while (NULL != world.first[pair / MEMBERS][pair % MEMBERS]) {
                world_arrive(pair / MEMBERS, pair % MEMBERS);
            }
        }
        for (unsigned int i = 0; i < WORKS; ++i) {
            world_step(i);
        }
    }
}

/* ---- the engine ------------------------------------------------------------------------------- */

static int world_progress(const ompi_communicator_t *comm)
{
    (void) comm;
    world_turn();
    return 0;
}

static bool world_is_lost(const ompi_communicator_t *comm, int rank)
{
    bool any = false;

    (void) comm;
    world_check_outside();
    for (int i = 0; i < MEMBERS; ++i) {
        any = any || world.is_lost[i];
    }
    return 0 > rank ? any : world.is_lost[rank];
}

static int world_wait(const ompi_communicator_t *comm, int from, bool (*until)(void *context),
                      void *context)
{
    for (unsigned int turns = 1; !until(context); ++turns) {
        world_turn();
        if (world_is_lost(comm, from) || turns == world.patience) {
            return until(context) ? MPI_SUCCESS : MPI_ERR_PROC_FAILED;
        }
    }
    return MPI_SUCCESS;
}

static bool world_is_oversubscribed(void)
{
    return true;
}

static void world_work_begin(ompi_communicator_t *comm, mpix_endpoints_work_t *work)
{
    unsigned int i = 0;

    (void) comm;
    while (NULL != world.works[i]) {
        TAP_CHECK(work != world.works[i], "the work is active");
        ++i;
    }
    world.works[i] = work;
}

static int world_request_new_win(ompi_communicator_t *comm, ompi_win_t *win,
                                 const mpix_endpoints_request_ops_t *ops, void *context,
                                 ompi_request_t **request_p)
{
    (void) comm;
    (void) win;
    (void) ops;
    (void) context;
    *request_p = calloc(1, sizeof(**request_p));
    (*request_p)->req_status.MPI_ERROR = -1;
    return MPI_SUCCESS;
}

static void world_request_done(ompi_request_t *request, int error)
{
    TAP_CHECK(-1 == request->req_status.MPI_ERROR, "completed twice");
    request->req_status.MPI_ERROR = error;
    ++world.done;
}

static int long_message_free(ompi_request_t **request)
{
    long_message_t **at = &world.longs, *message = (long_message_t *) *request;

    TAP_CHECK(REQUEST_COMPLETED == message->request.req_complete, "it is not complete");
    while (message != *at) {
        at = &(*at)->next;
    }
    *at = message->next;
    free(message);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

static int long_message_cancel(ompi_request_t *request, int flag)
{
    (void) flag;
    request->req_complete = REQUEST_COMPLETED;
    return MPI_SUCCESS;
}

/** A message, or its other side if that is there: then it arrives at once. */
static int long_message(ompi_communicator_t *comm, bool is_send, void *address, size_t bytes,
                        int rank, int tag, ompi_request_t **request_p)
{
    const int own = world_member(comm);
    const bool is_target = is_send == (0 != ((unsigned int) tag & EPWIN_AM_TAG_RESULT));
    long_message_t *message, *other = world.longs;

    if (world.is_short && is_target && 0 == tap_below(&world.random, 3)) {
        return MPI_ERR_NO_MEM;
    }
    message = calloc(1, sizeof(*message));
    *message = (long_message_t){.next = world.longs,
                                .from = is_send ? own : rank,
                                .to = is_send ? rank : own,
                                .tag = tag,
                                .address = address,
                                .bytes = bytes,
                                .is_send = is_send};
    message->request.req_complete = REQUEST_PENDING;
    message->request.req_free = long_message_free;
    message->request.req_cancel = long_message_cancel;
    while (NULL != other
           && (REQUEST_COMPLETED == other->request.req_complete || is_send == other->is_send
               || other->from != message->from || other->to != message->to || other->tag != tag)) {
        other = other->next;
    }
    world.longs = message;
    if (NULL != other) {
        TAP_EQ(bytes, other->bytes);
        memcpy(is_send ? other->address : address, is_send ? address : other->address, bytes);
        message->request.req_complete = other->request.req_complete = REQUEST_COMPLETED;
        ++world.longs_matched;
    }
    *request_p = &message->request;
    return MPI_SUCCESS;
}

static int world_isend(ompi_communicator_t *comm, int number, const void *buffer, size_t count,
                       ompi_datatype_t *datatype, int rank, int tag, ompi_request_t **request_p)
{
    (void) number;
    (void) datatype;
    return long_message(comm, true, (void *) (uintptr_t) buffer, count, rank, tag, request_p);
}

static int world_irecv(ompi_communicator_t *comm, int number, void *buffer, size_t count,
                       ompi_datatype_t *datatype, int rank, int tag, ompi_request_t **request_p)
{
    (void) number;
    (void) datatype;
    return long_message(comm, false, buffer, count, rank, tag, request_p);
}

static int world_wait_progress(const ompi_communicator_t *comm, int from,
                               mpix_endpoints_wait_t *wait)
{
    (void) comm;
    (void) from;
    (void) wait;
    world_turn();
    return MPI_SUCCESS;
}

static size_t world_am_max(const ompi_communicator_t *comm, int rank)
{
    return world.am_max[world_member(comm)][rank];
}

static const mpix_endpoints_engine_t world_engine = {
    .progress = world_progress,
    .wait = world_wait,
    .wait_progress = world_wait_progress,
    .is_oversubscribed = world_is_oversubscribed,
    .is_lost = world_is_lost,
    .work_begin = world_work_begin,
    .request_new_win = world_request_new_win,
    .request_done = world_request_done,
    .isend = world_isend,
    .irecv = world_irecv,
    .am_send = world_am_send,
    .am_max = world_am_max,
    .am_answer = world_am_answer,
};

/** Attached memory of dynamic windows: all of a member's, but its second half. */
bool mca_osc_epwin_regions_have(const mca_osc_epwin_window_t *window, int rank, uintptr_t at,
                                size_t size)
{
    const uintptr_t base = (uintptr_t) world.memory[rank] + MARGIN;

    (void) window;
    return at >= base && at - base <= WINDOW / 2 && size <= WINDOW / 2 - (at - base);
}

/* ---- members ---------------------------------------------------------------------------------- */

static unsigned char *world_base(int rank)
{
    return world.memory[rank] + MARGIN;
}

static void member_begin(int rank, uint16_t flavor)
{
    mca_osc_epwin_module_t *module = &world.module[rank];

    *module = (mca_osc_epwin_module_t){.flavor = flavor,
                                       .rank = rank,
                                       .size = MEMBERS,
                                       .comm = (ompi_communicator_t *) (intptr_t) (rank + 1),
                                       .win = (ompi_win_t *) module,
                                       .window = world.window[rank],
                                       .peers = world.window[rank]->peers,
                                       .domain = world.domain[domains[rank]],
                                       .domain_number = domains[rank],
                                       .domain_size = 1 == domains[rank] ? 2 : 1};
    for (int peer = 0; peer < MEMBERS; ++peer) {
        world.window[rank]->peers[peer] = (mca_osc_epwin_peer_t){
            .base = peer != rank || MPI_WIN_FLAVOR_DYNAMIC == flavor ? NULL
                                                                     : (char *) world_base(rank),
            .size = MPI_WIN_FLAVOR_DYNAMIC == flavor ? UINT64_MAX : WINDOW,
            .unit = 1,
            .domain = domains[peer],
            .slot = 2 == peer,
            .way = peer == rank ? EPWIN_WAY_DIRECT : EPWIN_WAY_MESSAGE};
    }
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_init(module));
}

static void world_begin(uint16_t flavor, uint64_t stream, size_t pending_limit)
{
    static const size_t am_max[] = {256, 264, 1000, 4096, MPIX_ENDPOINTS_AM_LIMIT};

    mca_osc_epwin_basics_fill();
    memset((void *) &world, 0, sizeof(world));
    world.random = tap_stream(stream);
    world.is_short = true;
    mca_osc_epwin_component.engine = &world_engine;
    mca_osc_epwin_component.pending_limit = pending_limit;
    mca_osc_epwin_component.rendezvous_limit = 0;
    for (int i = 0; i < MEMBERS; ++i) {
        const size_t bytes = mca_osc_epwin_domain_bytes(2, MEMBERS);

        world.domain[i] = aligned_alloc(EPWIN_LINE, (bytes + EPWIN_LINE - 1) & ~(size_t) 63);
        memset((void *) world.domain[i], 0, bytes);
        world.window[i] = calloc(1, sizeof(*world.window[i])
                                        + MEMBERS * sizeof(world.window[i]->peers[0]));
        world.memory[i] = aligned_alloc(64, (WINDOW + 2 * MARGIN + 63) & ~(size_t) 63);
        for (int j = 0; j < WINDOW + 2 * MARGIN; ++j) {
            world.memory[i][j] = (unsigned char) tap_random(&world.random);
        }
        for (int j = 0; j < MEMBERS; ++j) {
            world.am_max[i][j] = am_max[tap_below(&world.random, 5)];
        }
    }
    for (int i = 0; i < MEMBERS; ++i) {
        member_begin(i, flavor);
    }
}

/** @param[in] is_quiet  no work is left and no lock is held */
static inline void world_end(bool is_quiet)
{
    world.is_short = false;
    world_settle(200);
    for (unsigned int i = 0; is_quiet && i < WORKS; ++i) {
        TAP_CHECK(NULL == world.works[i], "work is left");
    }
    for (int i = 0; i < MEMBERS; ++i) {
        if (is_quiet) {
            TAP_EQ(0, world.domain[i]->lock.word & ~EPWIN_LOCK_WAITING);
            TAP_EQ(0, world.domain[i]->control[0].lock.word);
            TAP_EQ(0, world.domain[i]->control[1].lock.word);
            TAP_EQ(0, world.domain[i]->control[0].accumulate);
        }
        mca_osc_epwin_am_free(&world.module[i]);
        free(world.domain[i]);
        free(world.window[i]);
        free(world.memory[i]);
    }
    while (NULL != world.longs) { /* of records that were nonsense */
        long_message_t *message = world.longs;

        world.longs = message->next;
        free(message);
    }
}

/* ---- types ------------------------------------------------------------------------------------ */

typedef struct kind_t {
    MPI_Datatype type, basic;
    int elements; /**< of basic */
    size_t part;  /**< number of basic: each has a part of the memory */
} kind_t;

enum { BASICS = 7 };

static kind_t kinds[16];
static int kind_count;

static inline void kind_add(MPI_Datatype type, MPI_Datatype basic, size_t part)
{
    int size, element;

    MPI_Type_commit(&type);
    MPI_Type_size(type, &size);
    MPI_Type_size(basic, &element);
    kinds[kind_count++] = (kind_t){
        .type = type, .basic = basic, .elements = size / element, .part = part};
}

static inline void kinds_make(void)
{
    static const MPI_Datatype basics[BASICS] = {MPI_BYTE,    MPI_INT,       MPI_INT64_T,
                                                MPI_DOUBLE,  MPI_SHORT_INT, MPI_DOUBLE_INT,
                                                MPI_UINT16_T};
    int lengths[5] = {3, 1, 2, 2, 5}, places[5] = {1, 6, 8, 12, 15};
    MPI_Datatype type;

    for (size_t i = 0; i < BASICS; ++i) {
        if (0 == i % 2) {
            MPI_Type_dup(basics[i], &type);
            kind_add(type, basics[i], i);
            MPI_Type_vector(7, 2, 5, basics[i], &type);
        } else {
            kind_add(basics[i], basics[i], i);
            MPI_Type_indexed(5, lengths, places, basics[i], &type);
        }
        kind_add(type, basics[i], i);
    }
}

static inline void kinds_free(void)
{
    for (int i = 0; i < kind_count; ++i) {
        int integers, addresses, types, combiner;

        MPI_Type_get_envelope(kinds[i].type, &integers, &addresses, &types, &combiner);
        if (MPI_COMBINER_NAMED != combiner) {
            MPI_Type_free(&kinds[i].type);
        }
    }
}

/** An operation that is defined for a type. */
static inline MPI_Op kind_op(const kind_t *kind)
{
    static const MPI_Op all[] = {MPI_SUM, MPI_REPLACE, MPI_NO_OP, MPI_MAX, MPI_PROD};
    static const MPI_Op pairs[] = {MPI_MINLOC, MPI_REPLACE, MPI_NO_OP, MPI_MAXLOC};

    if (MPI_SHORT_INT == kind->basic || MPI_DOUBLE_INT == kind->basic) {
        return pairs[tap_below(&world.random, 4)];
    }
    if (MPI_BYTE == kind->basic) {
        return 0 == tap_below(&world.random, 2) ? MPI_BXOR : MPI_REPLACE;
    }
    /* Open MPI's sum of many 16-bit unsigned numbers saturates, that of one does not (op/avx). */
    return all[tap_below(&world.random, 5 - (MPI_UINT16_T == kind->basic))
               + (MPI_UINT16_T == kind->basic)];
}

/* ---- the program ------------------------------------------------------------------------------ */

static inline void world_init(int argc, char **argv, const char *name)
{
    int level;

    tap_begin(argc, argv, name, 120);
    setenv("OMPI_MCA_btl", "self", 1); /* a process by itself leaves others' files in /dev/shm */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    kinds_make();
}

static inline int world_exit(void)
{
    kinds_free();
    MPI_Finalize();
    return tap_end();
}

#endif /* EP_TEST_UNIT_EPWIN_AM_H */
