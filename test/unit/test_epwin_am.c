/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Windows' synchronization by messages (osc/epwin, am), in a world of one thread (test_epwin_am.h):
 * locks and their order; posts; errors of dynamic windows; the number of messages; losses; no memory;
 * and random changes of messages, which must write nothing outside of the window.
 *
 * Guards: osc/epwin/am, osc_epwin_apply.c, osc_epwin_word.c
 */

#include "test_epwin_am.h"

enum { FUZZ = TAP_SANITIZED ? 3000 : 40000 };

/* ---- synchronization -------------------------------------------------------------------------- */

static int put_word(int origin, int target, size_t at, uint64_t value)
{
    const mca_osc_epwin_buffer_t from = {.address = &value, .count = 1, .type = MPI_UINT64_T};
    const mca_osc_epwin_place_t place = {
        .target = target, .at = (ptrdiff_t) at, .count = 1, .type = MPI_UINT64_T};

    return mca_osc_epwin_am_put(&world.module[origin], &from, &place, true);
}

static uint64_t word(int rank, size_t at)
{
    uint64_t value;

    memcpy(&value, world_base(rank) + at, sizeof(value));
    return value;
}

static void case_messages(void)
{
    tap_case("put and flush: one message there, one back");
    world_begin(MPI_WIN_FLAVOR_CREATE, 1, 1 << 20);
    world.is_short = false;
    TAP_EQ(MPI_SUCCESS, put_word(0, 1, 8, 77));
    TAP_EQ(0, world.messages[0][1]);
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_flush(&world.module[0], 1));
    TAP_EQ(77, word(1, 8));
    TAP_EQ(1, world.messages[0][1]);
    TAP_EQ(1, world.messages[1][0]);
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_flush(&world.module[0], 1)); /* nothing to flush */
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_flush(&world.module[0], 2));
    TAP_EQ(1, world.messages[0][1]);
    TAP_EQ(0, world.messages[0][2]);
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_lock(&world.module[0], 1, EPWIN_HOLD_EXCLUSIVE, true));
    TAP_EQ(MPI_SUCCESS, put_word(0, 1, 8, 78));
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_unlock(&world.module[0], 1, EPWIN_HOLD_EXCLUSIVE, true));
    TAP_EQ(78, word(1, 8));
    TAP_EQ(2, world.messages[0][1]);
    TAP_EQ(2, world.messages[1][0]);
    world_end(true);
    tap_case_done();
}

static void case_locks(void)
{
    mca_osc_epwin_module_t *first = &world.module[0], *second = &world.module[3];

    tap_case("locks: operations wait for their own origin's lock");
    world_begin(MPI_WIN_FLAVOR_CREATE, 2, 1 << 20);
    TAP_EQ(MPI_SUCCESS, put_word(0, 1, 0, 1));
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_flush(first, 1));
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_lock(first, 1, EPWIN_HOLD_EXCLUSIVE, true));
    TAP_EQ(MPI_SUCCESS, put_word(0, 1, 0, 2));
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_flush(first, 1));
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_lock(second, 1, EPWIN_HOLD_SHARED, false));
    TAP_EQ(MPI_SUCCESS, put_word(3, 1, 0, 3));
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_post(second, 1)); /* sends, and is behind the lock */
    world_settle(300);
    TAP_EQ(2, word(1, 0));
    TAP_EQ(0, mca_osc_epwin_row(&world.module[1], 1)[0]);
    /* The second exclusive lock in the domain relies on the first one's. */
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_lock(first, 2, EPWIN_HOLD_EXCLUSIVE, false));
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_unlock(first, 1, EPWIN_HOLD_EXCLUSIVE, false));
    world_settle(300);
    TAP_EQ(3, word(1, 0));
    TAP_EQ(8, mca_osc_epwin_row(&world.module[1], 1)[0]);
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_unlock(second, 1, EPWIN_HOLD_SHARED, false));
    /* MPI_Win_lock_all waits for the exclusive lock of another member of the domain. */
    second->access = EPWIN_ACCESS_LOCK_ALL;
    TAP_EQ(MPI_SUCCESS, put_word(3, 1, 0, 4));
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_flush_local(second, 1));
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_send(second, mca_osc_epwin_am_link_find(second, 1)));
    world_settle(300);
    TAP_EQ(3, word(1, 0));
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_unlock(first, 2, EPWIN_HOLD_EXCLUSIVE, true));
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_flush(second, 1));
    TAP_EQ(4, word(1, 0));
    TAP_EQ(1, world.domain[1]->lock.word & EPWIN_LOCK_FIRST);
    /* By another member it passes one that waits for it. */
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_lock(first, 1, EPWIN_HOLD_EXCLUSIVE, true));
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_send(first, mca_osc_epwin_am_link_find(first, 1)));
    world_settle(10);
    TAP_EQ(MPI_SUCCESS, put_word(3, 2, 0, 6));
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_send(second, mca_osc_epwin_am_link_find(second, 2)));
    world_arrive(3, 2);
    TAP_EQ(6, word(2, 0));
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_unlock_all(second));
    second->access = EPWIN_ACCESS_NONE;
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_unlock(first, 1, EPWIN_HOLD_EXCLUSIVE, true));
    TAP_EQ(MPI_SUCCESS, put_word(3, 1, 0, 5));
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_complete(second, 1));
    world_settle(300);
    TAP_EQ(5, word(1, 0));
    TAP_EQ(1, mca_osc_epwin_control(&world.module[1], 1)->completed);
    world_end(true);
    tap_case_done();
}

/** The accumulate lock of the target is taken: elements that need it wait, in order. */
static void case_accumulate_lock(void)
{
    const double one = 1;
    const mca_osc_epwin_buffer_t from = {.address = (void *) (uintptr_t) &one,
                                         .count = 1,
                                         .type = MPI_DOUBLE};
    const mca_osc_epwin_place_t place = {.target = 1, .at = 16, .count = 1, .type = MPI_DOUBLE};
    double value = 41;

    tap_case("an accumulate waits for the accumulate lock");
    world_begin(MPI_WIN_FLAVOR_CREATE, 3, 1 << 20);
    memcpy(world_base(1) + 16, &value, 8);
    TAP_CHECK(mca_osc_epwin_accumulate_try(mca_osc_epwin_control(&world.module[1], 1), 2), "taken");
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_accumulate(&world.module[0], &from, NULL, &place,
                                                    MPI_DOUBLE, MPI_SUM, NULL));
    TAP_EQ(MPI_SUCCESS, put_word(0, 1, 24, 1));
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_complete(&world.module[0], 1));
    world_settle(200);
    TAP_EQ(0, mca_osc_epwin_control(&world.module[1], 1)->completed);
    mca_osc_epwin_accumulate_release(mca_osc_epwin_control(&world.module[1], 1));
    world_settle(20);
    TAP_EQ(1, mca_osc_epwin_control(&world.module[1], 1)->completed);
    memcpy(&value, world_base(1) + 16, 8);
    TAP_CHECK(42 == value, "%g, not 42", value);
    world_end(true);
    tap_case_done();
}

static unsigned int turns;

/** Member 3 releases member 1's accumulate lock, which member 2 takes, and it dies with it. */
static void die_as_holder(void)
{
    if (10 == ++turns) {
        mca_osc_epwin_control(&world.module[1], 1)->accumulate = 2 + 1;
    }
    world.is_lost[2] = 20 <= turns;
}

/** A member that does not hold it dies first. */
static void die_as_other(void)
{
    world.is_lost[0] = true;
    if (200 == ++turns) {
        mca_osc_epwin_accumulate_release(mca_osc_epwin_control(&world.module[1], 1));
    }
}

static void case_accumulate_lost(void)
{
    mca_osc_epwin_control_t *control;

    tap_case("the accumulate lock's holder dies, or another member");
    world_begin(MPI_WIN_FLAVOR_CREATE, 8, 1 << 20);
    control = mca_osc_epwin_control(&world.module[1], 1);
    TAP_CHECK(mca_osc_epwin_accumulate_try(control, 3), "taken");
    turns = 0;
    world.on_turn = die_as_holder;
    TAP_EQ(MPI_ERR_PROC_FAILED, mca_osc_epwin_accumulate_acquire(&world.module[1], control));
    TAP_EQ(20, turns);
    TAP_EQ(2 + 1, control->accumulate);
    control->accumulate = 3 + 1;
    world.is_lost[2] = false;
    turns = 0;
    world.on_turn = die_as_other;
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_accumulate_acquire(&world.module[1], control));
    TAP_EQ(200, turns);
    TAP_EQ(1 + 1, control->accumulate);
    world.on_turn = NULL;
    world.is_lost[0] = false;
    mca_osc_epwin_accumulate_release(control);
    world_end(true);
    tap_case_done();
}

/* ---- errors ----------------------------------------------------------------------------------- */

static void case_range(void)
{
    uint64_t result = 5;
    const mca_osc_epwin_buffer_t to = {.address = &result, .count = 1, .type = MPI_UINT64_T};
    mca_osc_epwin_place_t place = {.target = 1, .count = 1, .type = MPI_UINT64_T};
    ompi_request_t *request;

    tap_case("a dynamic window: memory that is not attached");
    world_begin(MPI_WIN_FLAVOR_DYNAMIC, 4, 1 << 20);
    const size_t base = (size_t) (uintptr_t) world_base(1);
    const uint64_t before = word(1, WINDOW / 2 - 4);
    TAP_EQ(MPI_SUCCESS, put_word(0, 1, base + WINDOW / 2 - 4, 1));
    TAP_EQ(MPI_SUCCESS, put_word(0, 1, base + 8, 2));
    TAP_EQ(MPI_ERR_RMA_RANGE, mca_osc_epwin_am_flush(&world.module[0], 1));
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_flush(&world.module[0], 1));
    TAP_EQ(before, word(1, WINDOW / 2 - 4));
    TAP_EQ(2, word(1, 8));
    place.at = (ptrdiff_t) base + WINDOW;
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_get(&world.module[0], &to, &place, &request));
    world_settle(20);
    TAP_EQ(MPI_ERR_RMA_RANGE, request->req_status.MPI_ERROR);
    free(request);
    TAP_EQ(5, result);
    TAP_EQ(MPI_ERR_RMA_RANGE, mca_osc_epwin_am_flush(&world.module[0], 1));
    place.at = (ptrdiff_t) base + 8;
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_get(&world.module[0], &to, &place, NULL));
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_flush(&world.module[0], 1));
    TAP_EQ(2, result);
    world_end(true);
    tap_case_done();
}

/** Lock, put, get and unlock of one message are executed and answered by the handler. */
static void case_at_once(void)
{
    const epwin_am_record_t unlock = {.kind = EPWIN_AM_UNLOCK,
                                      .hold = EPWIN_HOLD_EXCLUSIVE,
                                      .with_domain = 1};
    uint64_t result = 0;
    const mca_osc_epwin_buffer_t to = {.address = &result, .count = 1, .type = MPI_UINT64_T};
    const mca_osc_epwin_place_t place = {.target = 1, .count = 1, .type = MPI_UINT64_T};
    epwin_am_link_t *link;

    tap_case("a message that need not wait is answered before its handler returns");
    world_begin(MPI_WIN_FLAVOR_CREATE, 8, 1 << 20);
    world.is_short = false;
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_lock(&world.module[0], 1, EPWIN_HOLD_EXCLUSIVE, true));
    TAP_EQ(MPI_SUCCESS, put_word(0, 1, 0, 7));
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_get(&world.module[0], &to, &place, NULL));
    link = mca_osc_epwin_am_link_find(&world.module[0], 1);
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_append_head(&world.module[0], link, &unlock));
    TAP_EQ(MPI_SUCCESS, link_flush_begin(&world.module[0], link));
    TAP_EQ(1, world.messages[0][1]);
    world_arrive(0, 1);
    TAP_EQ(7, word(1, 0));
    TAP_EQ(0, world.domain[1]->lock.word);
    TAP_EQ(1, world.messages[1][0]);
    TAP_CHECK(NULL == world.works[0], "the step has something to do");
    world_arrive(1, 0);
    TAP_EQ(7, result);
    TAP_EQ(link->requested, atomic_load(&link->acked));
    world_end(true);
    tap_case_done();
}

static void case_no_memory(void)
{
    double one = 1.0;
    const mca_osc_epwin_buffer_t from = {.address = &one, .count = 1, .type = MPI_DOUBLE};
    const mca_osc_epwin_place_t place = {.target = 1, .at = 8, .count = 1, .type = MPI_DOUBLE};
    mca_osc_epwin_control_t *control;

    tap_case("a target without memory: the origin's flush tells of it");
    world_begin(MPI_WIN_FLAVOR_CREATE, 5, 1 << 20);
    control = mca_osc_epwin_control(&world.module[1], 1);
    world.is_short = false;
    TAP_CHECK(mca_osc_epwin_accumulate_try(control, 2), "the lock is taken");
    TAP_EQ(MPI_SUCCESS, put_word(0, 1, 0, 1));
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_accumulate(&world.module[3], &from, NULL, &place,
                                                    MPI_DOUBLE, MPI_SUM, NULL));
    for (int i = 0; i < MEMBERS; i += 3) {
        epwin_am_link_t *link = mca_osc_epwin_am_link_find(&world.module[i], 1);

        TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_append_flush(&world.module[i], link));
        TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_send(&world.module[i], link));
    }
    world_arrive(3, 1); /* it waits for the lock, but is short: it needs none */
    no_memory = true;
    world_arrive(0, 1); /* the step has the other: this one is copied */
    no_memory = false;
    mca_osc_epwin_accumulate_release(control);
    TAP_EQ(MPI_ERR_NO_MEM, mca_osc_epwin_am_flush(&world.module[0], 1));
    TAP_EQ(MPI_ERR_NO_MEM, put_word(0, 1, 0, 1));
    TAP_EQ(MPI_ERR_NO_MEM, mca_osc_epwin_am_flush(&world.module[3], 1));
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_post(&world.module[2], 1)); /* it has no link so far */
    TAP_EQ(MPI_SUCCESS, put_word(2, 1, 0, 1));
    TAP_EQ(MPI_ERR_NO_MEM, mca_osc_epwin_am_flush(&world.module[2], 1));
    TAP_EQ(0, world.nonsense);
    world_end(true);
    tap_case_done();
}

static void case_lost(void)
{
    uint64_t result = 5;
    const mca_osc_epwin_buffer_t to = {.address = &result, .count = 1, .type = MPI_UINT64_T};
    mca_osc_epwin_place_t place = {.target = 1, .count = 1, .type = MPI_UINT64_T};
    ompi_request_t *request;

    tap_case("losses: of the target, for a request, a flush and an operation");
    world_begin(MPI_WIN_FLAVOR_CREATE, 6, 1 << 20);
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_get(&world.module[3], &to, &place, &request));
    world.is_lost[1] = true;
    world_settle(200);
    TAP_EQ(MPI_ERR_PROC_FAILED, request->req_status.MPI_ERROR);
    free(request);
    TAP_EQ(MPI_ERR_PROC_FAILED, mca_osc_epwin_am_flush(&world.module[3], 1));
    TAP_EQ(MPI_ERR_PROC_FAILED, put_word(3, 1, 0, 1));
    TAP_EQ(5, result);
    world_end(true);
    tap_case_done();
}

/** After the loss of another member the target may have left: it is not waited for. */
static void case_lost_other(void)
{
    uint64_t result = 5, requested = 6;
    const mca_osc_epwin_buffer_t to = {.address = &result, .count = 1, .type = MPI_UINT64_T};
    const mca_osc_epwin_buffer_t to_requested = {.address = &requested,
                                                 .count = 1,
                                                 .type = MPI_UINT64_T};
    mca_osc_epwin_place_t place = {.target = 1, .count = 1, .type = MPI_UINT64_T};
    ompi_request_t *request;

    tap_case("losses: of another member; what arrives then is not written");
    world_begin(MPI_WIN_FLAVOR_CREATE, 9, 1 << 20);
    world.is_short = false;
    world.is_lost[0] = true;
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_get(&world.module[3], &to, &place, NULL));
    TAP_EQ(MPI_ERR_PROC_FAILED, mca_osc_epwin_am_flush(&world.module[3], 1));
    world_settle(200); /* the answer arrives */
    TAP_EQ(5, result);
    TAP_EQ(MPI_ERR_PROC_FAILED, put_word(3, 1, 0, 1));
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_get(&world.module[2], &to_requested, &place, &request));
    for (int i = 0; i < EPWIN_AM_LIVENESS * WORKS; ++i) {
        world_step((unsigned int) i % WORKS);
    }
    TAP_EQ(MPI_ERR_PROC_FAILED, request->req_status.MPI_ERROR);
    free(request);
    world_settle(200);
    TAP_EQ(6, requested);
    TAP_EQ(0, world.nonsense);
    world_end(true);
    tap_case_done();
}

/** A lock that a lost origin has taken by a message. */
static void case_lost_origin(void)
{
    tap_case("losses: of an origin with a lock");
    world_begin(MPI_WIN_FLAVOR_CREATE, 10, 1 << 20);
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_lock(&world.module[0], 1, EPWIN_HOLD_EXCLUSIVE, true));
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_flush(&world.module[0], 1));
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_lock(&world.module[3], 1, EPWIN_HOLD_EXCLUSIVE, true));
    world.is_lost[0] = true;
    TAP_EQ(MPI_ERR_PROC_FAILED,
           mca_osc_epwin_am_unlock(&world.module[3], 1, EPWIN_HOLD_EXCLUSIVE, true));
    world_end(false);
    tap_case_done();
}

/** A lock that a lost member of the domain holds directly. */
static void case_lost_holder(void)
{
    tap_case("losses: a lock that was taken directly");
    world_begin(MPI_WIN_FLAVOR_CREATE, 7, 1 << 20);
    TAP_CHECK(epwin_lock_try(&mca_osc_epwin_control(&world.module[1], 1)->lock, EPWIN_GROUP_ALONE),
              "free");
    TAP_EQ(MPI_SUCCESS, mca_osc_epwin_am_lock(&world.module[3], 1, EPWIN_HOLD_SHARED, false));
    world.is_lost[2] = true;
    TAP_EQ(MPI_ERR_PROC_FAILED,
           mca_osc_epwin_am_unlock(&world.module[3], 1, EPWIN_HOLD_SHARED, false));
    world_end(false);
    tap_case_done();
}

/* ---- nonsense --------------------------------------------------------------------------------- */

/** Change some bytes of a message, or its length. */
static void packet_change(packet_t *packet)
{
    const uint64_t changes = 1 + tap_below(&world.random, 4);

    for (uint64_t i = 0; i < changes && 0 < packet->size; ++i) {
        const size_t at = tap_below(&world.random, packet->size);

        switch (tap_below(&world.random, 4)) {
        case 0:
            packet->data[at] ^= (unsigned char) (1U << tap_below(&world.random, 8));
            break;
        case 1:
            packet->data[at] = (unsigned char) tap_random(&world.random);
            break;
        case 2: /* a head's fields, most likely */
            packet->data[at & ~(size_t) 7] = (unsigned char) tap_below(&world.random, 70);
            break;
        default:
            packet->size = 0 == tap_below(&world.random, 4) ? at : packet->size;
            break;
        }
    }
}

static void case_nonsense(void)
{
    unsigned char margins[MEMBERS][2 * MARGIN], lines[8192];
    size_t refused = 0;

    tap_case("random changes of messages write nothing outside of the window");
    for (int i = 0; i < FUZZ && !tap_case_failed(); ++i) {
        if (0 == i % 20) {
            world_begin(MPI_WIN_FLAVOR_CREATE, 1000 + (uint64_t) i, 1 << 20);
            world.is_short = false;
            world.patience = 200; /* answers are lost */
            for (int j = 0; j < MEMBERS; ++j) {
                memcpy(margins[j], world.memory[j], MARGIN);
                memcpy(margins[j] + MARGIN, world_base(j) + WINDOW, MARGIN);
            }
        }
        for (int j = 0; j < 3; ++j) { /* operations, whatever their links say by now */
            const kind_t *kind = &kinds[tap_below(&world.random, (uint64_t) kind_count)];
            const mca_osc_epwin_buffer_t buffer = {.address = lines,
                                                   .count = tap_below(&world.random, 5),
                                                   .type = kind->type};
            const mca_osc_epwin_place_t place = {.target = 1,
                                                 .at = (ptrdiff_t) tap_below(&world.random,
                                                                             WINDOW / 2),
                                                 .count = buffer.count,
                                                 .type = kind->type};

            switch (tap_below(&world.random, 4)) {
            case 0:
                (void) mca_osc_epwin_am_put(&world.module[0], &buffer, &place, true);
                break;
            case 1:
                (void) mca_osc_epwin_am_get(&world.module[0], &buffer, &place, NULL);
                break;
            case 2:
                (void) mca_osc_epwin_am_accumulate(&world.module[0], &buffer, &buffer, &place,
                                                   kind->basic, kind_op(kind), NULL);
                break;
            default:
                (void) mca_osc_epwin_am_lock(&world.module[0], 1,
                                             (mca_osc_epwin_hold_t) tap_below(&world.random, 3),
                                             true); /* false may wait for a lost answer */
                break;
            }
        }
        if (NULL != world.module[0].origin) {
            (void) links_do(&world.module[0], link_flush_begin, mca_osc_epwin_am_send);
        }
        for (int pair = 0; pair < MEMBERS * MEMBERS; ++pair) {
            packet_t *packet = world.first[pair / MEMBERS][pair % MEMBERS];

            if (NULL != packet && 0 != tap_below(&world.random, 3)) {
                packet_change(packet);
            }
        }
        world_settle(3);
        if (19 == i % 20) {
            for (int j = 0; j < MEMBERS; ++j) {
                TAP_CHECK(0 == memcmp(margins[j], world.memory[j], MARGIN)
                              && 0 == memcmp(margins[j] + MARGIN, world_base(j) + WINDOW, MARGIN),
                          "bytes outside of the window of member %d were written", j);
            }
            refused += world.nonsense;
            world_end(false);
        }
    }
    TAP_CHECK(FUZZ / 20 < refused, "%zu were refused", refused);
    tap_case_done();
}

int main(int argc, char **argv)
{
    world_init(argc, argv, "test_epwin_am");
    case_messages();
    case_locks();
    case_accumulate_lock();
    case_accumulate_lost();
    case_range();
    case_at_once();
    case_no_memory();
    case_lost();
    case_lost_other();
    case_lost_origin();
    case_lost_holder();
    case_nonsense();
    return world_exit();
}
