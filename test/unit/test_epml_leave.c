/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Test of ompi/mca/pml/epml/loss/pml_epml_leave.c: the members that are notified that a
 * communicator has been left, each once, whenever the memory ends; that it is revoked; what is said
 * of one that is not here yet; an endpoint whose turns look at no losses looks at once.
 *
 * Guards: pml_epml_leave.c, pml_epml_left.c
 */

#include "tap.h"

#include "ompi/mca/pml/epml/loss/pml_epml_leave.c"
#include "ompi/mca/pml/epml/loss/pml_epml_left.c"

#define MEMBERS 21
#define UID 100 /* of the first member */

static mca_pml_epml_ep_t ep;
static mca_pml_epml_peer_t members[2 * MEMBERS];
static mca_pml_epml_peers_t *side[2];
static mca_pml_epml_comm_t comm;

static int notified[2 * MEMBERS];
static int room;         /**< how many can be notified until the memory ends */
static const void *lost; /**< a member, or NULL */
static bool is_here;     /**< the communicator */
static int looks;        /**< at losses, not by a turn */

/* ---- what is below --------------------------------------------------------------------------- */

bool mca_pml_epml_may_bias;
_Atomic uint64_t epml_lock_endings_until;

void mca_pml_epml_run_deferred(mca_pml_epml_request_t *deferred)
{
    TAP_CHECK(NULL == deferred, "something was deferred");
}

bool mca_pml_epml_lost_is(const mca_pml_epml_ep_t *where, const mca_pml_epml_peer_t *peer)
{
    TAP_CHECK(&ep == where, "another endpoint");
    return lost == peer;
}

int mca_pml_epml_send_control(mca_pml_epml_ep_t *from, mca_pml_epml_peer_t *peer,
                              const void *message, size_t size)
{
    const mca_pml_epml_hdr_left_t *hdr = message;

    TAP_CHECK(&ep == from && sizeof(*hdr) == size && EPML_HDR_LEFT == hdr->common.kind
                  && comm.context == hdr->context && ep.life.uid == hdr->uid,
              "another message");
    if (0 == room) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    --room;
    ++notified[peer - members];
    return OMPI_SUCCESS;
}

void mca_pml_epml_lost_look(mca_pml_epml_ep_t *where)
{
    TAP_CHECK(&ep == where && (comm.loss.left || comm.loss.revoked),
              "not of a communicator that has been left");
    ++looks;
}

mca_pml_epml_comm_t *mca_pml_epml_comm_find(mca_pml_epml_ep_t *where, uint64_t context)
{
    TAP_CHECK(&ep == where, "another endpoint");
    return is_here && context == comm.context ? &comm : NULL;
}

/* ---- the test -------------------------------------------------------------------------------- */

/** A new communicator of member 3, between two groups or of one. */
static void begin(bool is_inter)
{
    static uint64_t context = 1000;

    comm = (mca_pml_epml_comm_t){.ep = &ep,
                                 .context = ++context,
                                 .rank = 3,
                                 .is_inter = is_inter,
                                 .peers = side[is_inter],
                                 .local = side[0],
                                 .loss = {.rank = -1}};
    memset(notified, 0, sizeof(notified));
    ep.loss.ask_soon = false;
    ep.wire.lost_seen = 0;
    lost = NULL;
    is_here = false;
}

/** The 1st, 2nd, 4th, ... of the living behind one. */
static bool is_next(int living)
{
    return 0 < living && 0 == (living & (living - 1));
}

/** All in turn are notified once, however often it takes. */
static void test_tell(bool is_inter, int step)
{
    int calls = 0, wrong = 0, sum = 0;

    begin(is_inter);
    lost = &members[3 + 4];
    while (!comm.loss.passing[0].over && 100 > calls++) {
        room = step;
        mca_pml_epml_leave_tell(&comm, EPML_NOTICE_LEFT);
    }
    for (int i = 0; i < MEMBERS; ++i) {
        const int behind = (i - 3 + MEMBERS) % MEMBERS;

        wrong += (4 != behind && is_next(behind - (4 < behind)) ? 1 : 0) != notified[i];
        wrong += (is_inter && (is_next(behind) || 0 == behind) ? 1 : 0) != notified[MEMBERS + i];
        sum += notified[i] + notified[MEMBERS + i];
    }
    TAP_CHECK(0 == wrong, "%d of %d members are notified, or not, as they should not be", wrong,
              2 * MEMBERS);
    TAP_EQ(is_inter ? 11 : 5, sum);
    TAP_CHECK(comm.loss.passing[0].over && calls == (sum + step - 1) / step, "%d calls", calls);
    room = 100;
    mca_pml_epml_leave_tell(&comm, EPML_NOTICE_LEFT);
    TAP_EQ(100, room);
}

static void arrive_as(uint64_t context, uint64_t uid, uint8_t flags)
{
    const mca_pml_epml_hdr_left_t hdr = {.common = {.kind = EPML_HDR_LEFT, .flags = flags},
                                         .context = context,
                                         .uid = uid};

    TAP_CHECK(mca_pml_epml_left_kind.arrived(&ep, &(const mca_pml_epml_message_t){.hdr = &hdr}),
              "it makes no sense");
}

static void arrive(uint64_t context, uint64_t uid)
{
    arrive_as(context, uid, 0);
}

static void check_left(bool expected, const char *what)
{
    TAP_CHECK(expected == comm.loss.left && expected == ep.loss.ask_soon
                  && (expected ? EPML_LOST_LOOK : 0) == ep.wire.lost_seen,
              "%s: left %d", what, comm.loss.left);
}

static void attach(void)
{
    mca_pml_epml_leave_attach(&comm);
    is_here = true;
}

/** A word that comes before its communicator. */
static void test_early(void)
{
    begin(false);
    arrive(comm.context, UID + 5);
    attach();
    check_left(true, "a member's word");

    begin(true);
    arrive(comm.context, UID + MEMBERS);
    attach();
    check_left(true, "the word of one of the other group");

    begin(false);
    arrive(comm.context, UID + MEMBERS);
    arrive(comm.context + 100, UID + 5);
    attach();
    check_left(false, "a stranger's, and of another communicator");
    arrive(comm.context, UID + MEMBERS);
    check_left(false, "a stranger's, later");
    arrive(comm.context, UID + 5);
    check_left(true, "a member's, later");

    begin(false);
    arrive(comm.context, UID + MEMBERS);
    arrive(comm.context, UID + 5);
    attach();
    check_left(true, "a member's behind a stranger's");
}

/** How many others may come in between. */
static void test_many(void)
{
    for (int others = EPML_LEFT_EARLY - 1; others <= EPML_LEFT_EARLY; ++others) {
        begin(false);
        arrive(comm.context, UID + 5);
        for (int i = 0; i < 3 * others; ++i) {
            arrive(1u << 20 | (uint32_t) (100 * others + i / 3), UID + 5); /* three times each */
        }
        attach();
        check_left(EPML_LEFT_EARLY > others, "a member's before many others");
    }
}

static int sum_of_told(void)
{
    int sum = 0;

    for (int i = 0; i < 2 * MEMBERS; ++i) {
        sum += notified[i];
    }
    return sum;
}

/** The one that revokes tells all members; those that hear of it some, and after a loss others. */
static void test_revoked(bool is_inter)
{
    ompi_communicator_t handle = {.c_pml_comm = (struct mca_pml_comm_t *) &comm};

    begin(is_inter);
    comm.comm = &handle;
    room = 1000;
    TAP_EQ(OMPI_SUCCESS, mca_pml_epml_revoke(&handle));
    mca_pml_epml_leave_tell(&comm, EPML_NOTICE_REVOKED);
    TAP_EQ((is_inter ? 2 : 1) * MEMBERS - 1, sum_of_told());
    TAP_CHECK(comm.loss.revoked && !comm.loss.left, "it is not revoked");

    begin(is_inter);
    comm.comm = &handle;
    attach();
    arrive_as(comm.context, UID + 5, EPML_HDR_FLAG_REVOKE);
    TAP_CHECK(comm.loss.revoked && !comm.loss.left, "it is not revoked, or left");
    mca_pml_epml_leave_tell(&comm, EPML_NOTICE_REVOKED);
    TAP_EQ(is_inter ? 11 : 5, sum_of_told());
    lost = &members[3 + 1];
    comm.loss.count = 1;
    mca_pml_epml_leave_tell(&comm, EPML_NOTICE_REVOKED);
    TAP_EQ(2, notified[3 + 2]); /* the next one that lives */

    begin(is_inter);
    comm.comm = &handle;
    arrive(comm.context, UID + 5);
    arrive_as(comm.context, UID + 5, EPML_HDR_FLAG_REVOKE);
    attach();
    TAP_CHECK(comm.loss.revoked && comm.loss.left, "both came before it was here");
}

/** Within its process an endpoint loses nobody: its turns do not look. */
static void test_within(void)
{
    mca_btl_ep_module_t *const net = ep.transports.module[EPML_TRANSPORT_NET];

    for (int has_way = 0; has_way < 2; ++has_way) {
        ep.transports.module[EPML_TRANSPORT_NET] = has_way ? net : NULL;
        begin(false);
        attach();
        looks = 0;
        arrive(comm.context, UID + 5);
        arrive(comm.context, UID + 6);
        TAP_EQ(has_way ? 0 : 1, looks);

        begin(false);
        attach();
        looks = 0;
        mca_pml_epml_leave(&comm); /* and nobody may turn it any more */
        TAP_CHECK(comm.loss.left && 0 < looks, "it has not left");
    }
}

int main(int argc, char **argv)
{
    static mca_btl_ep_module_t net;

    tap_begin(argc, argv, "test_epml_leave", 60);
    epml_lock_init(&ep.lock, EPML_LOCK_BIAS_AFTER);
    ep.transports.module[EPML_TRANSPORT_NET] = &net;
    for (int i = 0; i < 2; ++i) {
        side[i] = calloc(1, sizeof(*side[i]) + MEMBERS * sizeof(side[i]->member[0]));
        side[i]->count = MEMBERS;
        for (int j = 0; j < MEMBERS; ++j) {
            members[i * MEMBERS + j].uid = (uint64_t) (UID + i * MEMBERS + j);
            side[i]->member[j] = &members[i * MEMBERS + j];
        }
    }
    ep.life.uid = UID + 3;

    tap_case("each is notified once, wherever the memory ends");
    for (int step = 1; step <= 10; ++step) {
        test_tell(false, step);
        test_tell(true, step);
    }
    tap_case_done();
    tap_case("words that come before their communicator");
    test_early();
    tap_case_done();
    tap_case("how many of them are kept");
    test_many();
    tap_case_done();
    tap_case("a revocation reaches all, and others after a loss");
    test_revoked(false);
    test_revoked(true);
    tap_case_done();
    tap_case("an endpoint without others outside its process");
    test_within();
    tap_case_done();

    free(side[0]);
    free(side[1]);
    return tap_end();
}
