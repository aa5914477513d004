/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Which peer may send to a module of btl/epofi, and which message is the next: forged, repeated and
 * missing messages, questions and answers, buffers that are held.  Two processes over tcp on the
 * loopback interface.  What a stranger could send is sent by the other process past btl/epofi.
 *
 * Guards: btl/epofi
 */

#include "test_epofi.h"

#include "opal/mca/btl/epofi/sockets/btl_epofi_handshake.h"

#include "../lib/tcp_hello.h"

#include <arpa/inet.h>
#include <sys/socket.h>

static name_t met; /**< the peers that ep_meet knows */
static int meetings;

static void meet(mca_btl_ep_module_t *module, uint64_t source)
{
    test_ep_t *ep = module->ep_context;

    TAP_CHECK(0 == memcmp(&source, met.bytes, sizeof(source)), "somebody else is met");
    TAP_EQ(OPAL_SUCCESS, module->ep_connect(module, met.bytes, met.length, &ep->peer));
    ++meetings;
}

static mca_btl_epofi_pair_t *pair_of(const test_ep_t *ep)
{
    return ep->peer->pair;
}

/** Send 8 bytes with this header past btl/epofi. */
static void send_raw(test_ep_t *ep, const mca_btl_epofi_wire_t *wire)
{
    mca_btl_epofi_module_t *module = module_of(ep);
    unsigned char bytes[sizeof(*wire) + 8] = {0};

    memcpy(bytes, wire, sizeof(*wire));
    while (-FI_EAGAIN
           == fi_inject(module->fi.ep, bytes, sizeof(*wire) + wire->length, ep->peer->address)) {
        (void) test_ep_progress(ep);
    }
}

/** As if the next message had been lost on its way. */
static void skip(test_ep_t *ep)
{
    ++pair_of(ep)->out.sequence;
}

static void end(test_ep_t *ep)
{
    if (NULL != ep->peer) {
        test_ep_disconnect(ep);
    }
    test_ep_close(ep);
}

/** Headers that are right but for their origin, with each of the tags that do something. */
static uint64_t forge(test_ep_t *ep)
{
    const uint8_t tags[] = {MCA_BTL_EP_TAG, EPOFI_TAG_GONE, EPOFI_TAG_LIVENESS, EPOFI_TAG_HERE};
    mca_btl_epofi_wire_t good, bad;
    uint64_t count = 0;

    for (size_t i = 0; i < sizeof(tags); ++i) {
        mca_btl_epofi_wire_init(pair_of(ep), &good, tags[i], 8);
        bad = good;
        bad.proof ^= 1; /* nearly */
        send_raw(ep, &bad);
        bad.proof = 0;
        send_raw(ep, &bad);
        bad = good;
        bad.sender += 1; /* somebody else, with a member's proof */
        send_raw(ep, &bad);
        bad.sender = 0;
        bad.proof = 0;
        bad.sequence = 1;
        send_raw(ep, &bad);
        count += 4;
    }
    return count;
}

/** A stranger's messages take no memory, have no effect and are counted; the member's go on. */
static void case_forged(const pair_t *pair)
{
    uint64_t next = 0;
    uint64_t mine = 0;
    uint64_t theirs;
    test_ep_t ep = {.on_message = expect_next, .state = &next};

    start(pair, &ep);
    send_number(&ep, 0);
    test_ep_wait(&ep, 1);
    if (0 == pair->rank) {
        mine = forge(&ep);
    }
    send_number(&ep, 1);
    test_ep_wait(&ep, 2);
    pair_exchange(pair, &ep, &mine, &theirs, sizeof(mine));
    TAP_EQ(theirs, mca_btl_epofi_dropped(ep.module));
    TAP_EQ(1, module_of(&ep)->pairs.used);
    TAP_EQ(0, losses);
    end(&ep);
}

/** A member cannot pass for another one: two modules of one process, each with the other's id. */
static void case_mistaken(const pair_t *pair)
{
    uint64_t next[2] = {0, 0};
    test_ep_t ep = {.on_message = expect_next, .state = &next[0]};
    test_ep_t other = {.on_message = expect_next, .state = &next[1]};
    mca_btl_epofi_wire_t wire;

    start(pair, &ep);
    test_ep_open(&other);
    test_ep_connect(pair, &other);
    for (uint64_t i = 0; i < 2; ++i) {
        send_number(&ep, i);
        send_number(&other, i);
        while (i == ep.received || i == other.received) {
            (void) test_ep_progress(&ep);
            (void) test_ep_progress(&other);
        }
        TAP_EQ(pair_of(&ep)->id, ep.module->ep_source);
        TAP_EQ(pair_of(&other)->id, other.module->ep_source);
        if (0 == pair->rank && 0 == i) {
            mca_btl_epofi_wire_init(pair_of(&ep), &wire, MCA_BTL_EP_TAG, 8);
            wire.sender = pair_of(&other)->out.sender; /* "I am the other one", ... */
            wire.sequence = 1;                         /* ... "and new here" */
            send_raw(&ep, &wire);
        }
    }
    pair_barrier(pair, &ep);
    TAP_EQ(0 == pair->rank ? 0 : 1, mca_btl_epofi_dropped(ep.module));
    end(&other);
    end(&ep);
}

/** What comes again is dropped. */
static void case_repeated(const pair_t *pair)
{
    uint64_t next = 0;
    test_ep_t ep = {.on_message = expect_next, .state = &next};
    mca_btl_epofi_wire_t first;

    start(pair, &ep);
    mca_btl_epofi_wire_init(pair_of(&ep), &first, MCA_BTL_EP_TAG, 8);
    send_number(&ep, 0);
    send_number(&ep, 1);
    if (0 == pair->rank) {
        send_raw(&ep, &first);
        first.sequence = 2;
        send_raw(&ep, &first);
        first.sequence = 0;
        send_raw(&ep, &first);
    }
    send_number(&ep, 2);
    test_ep_wait(&ep, 3);
    pair_barrier(pair, &ep);
    TAP_EQ(0 == pair->rank ? 0 : 3, mca_btl_epofi_dropped(ep.module));
    TAP_EQ(0, losses);
    end(&ep);
}

/** Both endpoints learn that something is lost; nothing that came after it is delivered. */
static void expect_loss(const pair_t *pair, test_ep_t *ep, uint64_t received)
{
    uint64_t number = 0;

    while (0 == losses) {
        (void) test_ep_progress(ep);
    }
    /* The rest of it, a turn each way: once, and no more. */
    for (int i = 0; i < 3; ++i) {
        pair_barrier(pair, ep);
        (void) test_ep_progress(ep);
    }
    TAP_EQ(received, ep->received);
    TAP_EQ(1, losses);
    TAP_CHECK(ep->module->ep_worn, "the module would be used again");
    TAP_EQ(OPAL_ERR_UNREACH, ep->module->ep_send(ep->module, ep->peer, &number, sizeof(number),
                                                 NULL, 0, MCA_BTL_EP_TAG));
    pair_barrier(pair, ep);
}

/** A message is missing, as the next one tells.  It is not welcome any more when it comes late. */
static void case_missing(const pair_t *pair)
{
    uint64_t next = 0;
    test_ep_t ep = {.on_message = expect_next, .state = &next};
    mca_btl_epofi_wire_t late;

    start(pair, &ep);
    send_number(&ep, 0);
    test_ep_wait(&ep, 1);
    mca_btl_epofi_wire_init(pair_of(&ep), &late, MCA_BTL_EP_TAG, 8);
    if (0 == pair->rank) {
        skip(&ep);
        send_number(&ep, 2);
    }
    expect_loss(pair, &ep, 1);
    if (0 == pair->rank) {
        send_raw(&ep, &late);
    }
    for (int i = 0; i < 3; ++i) {
        pair_barrier(pair, &ep);
        (void) test_ep_progress(&ep);
    }
    TAP_EQ(1, ep.received);
    end(&ep);
}

/** Likewise the first one, at an endpoint that has only listened: it must learn of the loss, and report it. */
static void case_missing_unmet(const pair_t *pair)
{
    test_ep_t ep = {0};
    name_t mine;

    losses = 0;
    meetings = 0;
    test_ep_open(&ep);
    ep.module->ep_lost = count_loss;
    ep.module->ep_meet = meet;
    name_of(&ep, &mine);
    pair_exchange(pair, NULL, &mine, &met, sizeof(mine));
    if (0 == pair->rank) {
        meet(ep.module, *(const uint64_t *) met.bytes);
        skip(&ep);
        send_number(&ep, 1);
    }
    expect_loss(pair, &ep, 0);
    TAP_EQ(1, meetings);
    end(&ep);
}

/** The last one is missing: the waiting endpoint asks, and the answer tells; also if the sender's owner
 * has forgotten the peer by then. */
static void last_missing(const pair_t *pair, bool forgotten)
{
    uint64_t next = 0;
    test_ep_t ep = {.on_message = expect_next, .state = &next};

    mca_btl_epofi_component.confirm = 0;
    start(pair, &ep);
    send_number(&ep, 0);
    test_ep_wait(&ep, 1);
    pair_barrier(pair, &ep);
    if (0 == pair->rank) {
        skip(&ep);
        if (forgotten) {
            test_ep_disconnect(&ep);
        }
    }
    pair_barrier(pair, &ep);
    if (1 == pair->rank) {
        ep.module->ep_check_liveness(ep.module, ep.peer, true);
        while (0 == losses) {
            (void) test_ep_progress(&ep);
        }
    }
    if (forgotten) {
        pair_barrier(pair, &ep);
    } else {
        expect_loss(pair, &ep, 1);
    }
    end(&ep);
}

static void case_last_missing(const pair_t *pair)
{
    last_missing(pair, false);
}

static void case_last_forgotten(const pair_t *pair)
{
    last_missing(pair, true);
}

/** Say something to a peer that is not connected to. */
static void answer(test_ep_t *ep, const mca_btl_epofi_pair_t *known)
{
    const uint64_t before = known->out.sequence;

    while (before == known->out.sequence) {
        TAP_EQ(OPAL_SUCCESS,
               ep->module->ep_answer(ep->module, known->address, known->address_length, "12345678",
                                     8, MCA_BTL_EP_TAG));
        (void) test_ep_progress(ep);
    }
    while (0 < module_of(ep)->inflight) {
        (void) test_ep_progress(ep);
    }
    TAP_CHECK(NULL == known->endpoint, "it is connected to");
}

/** A peer has been given up, and then forgotten; nothing is lost on the way, and the peer could not
 * be notified.  It learns of it when it asks, also if it has been answered something before. */
static void given_up(const pair_t *pair, bool answered)
{
    test_ep_t ep = {0};
    const mca_btl_epofi_pair_t *known;

    mca_btl_epofi_component.confirm = 0;
    start(pair, &ep);
    known = pair_of(&ep);
    pair_barrier(pair, &ep);
    if (0 == pair->rank) {
        ep.module->ep_abandon(ep.module, ep.peer);
        test_ep_disconnect(&ep);
        if (answered) {
            answer(&ep, known);
        }
    }
    pair_barrier(pair, &ep);
    if (1 == pair->rank && answered) {
        test_ep_wait(&ep, 1);
    }
    if (1 == pair->rank) {
        while (0 == losses) {
            ep.module->ep_check_liveness(ep.module, ep.peer, true); /* again: the way back is new */
            (void) test_ep_progress(&ep);
        }
        TAP_EQ(1, losses);
        TAP_CHECK(ep.module->ep_worn, "the module would be used again");
    }
    pair_barrier(pair, &ep);
    if (0 == pair->rank) {
        TAP_EQ(0, losses);
        while (!ep.module->ep_worn) {     /* or the module would be used again */
            (void) test_ep_progress(&ep); /* its word may arrive before the send has ended here */
        }
    }
    end(&ep);
}

static void case_given_up(const pair_t *pair)
{
    given_up(pair, false);
}

static void case_given_up_answered(const pair_t *pair)
{
    given_up(pair, true);
}

/** Nobody waits: the sender asks by itself. */
static void case_confirmed(const pair_t *pair)
{
    uint64_t next = 0;
    test_ep_t ep = {.on_message = expect_next, .state = &next};
    const mca_btl_epofi_pair_t *known;

    mca_btl_epofi_component.confirm = 10;
    start(pair, &ep);
    known = pair_of(&ep);
    for (uint64_t i = 0; i < 5; ++i) {
        send_number(&ep, i);
    }
    /* All has arrived: one question each, and then quiet for good. */
    while (5 > ep.received || 5 > known->settled || known->settled != known->out.sequence) {
        (void) test_ep_progress(&ep);
    }
    pair_barrier(pair, &ep);
    for (uint32_t looks = module_of(&ep)->confirm_looks;
         module_of(&ep)->confirm_looks < looks + 10;) {
        (void) test_ep_progress(&ep);
    }
    TAP_CHECK(known->out.sequence <= 5 + 4, "%llu messages to confirm 5",
              (unsigned long long) known->out.sequence);
    pair_barrier(pair, &ep);
    if (0 == pair->rank) {
        skip(&ep);
    }
    expect_loss(pair, &ep, 5);
    end(&ep);
}

/** Nobody waits, and the peer computes: it is asked ever more rarely. */
static void case_unanswered(const pair_t *pair)
{
    uint64_t next = 0;
    test_ep_t ep = {.on_message = expect_next, .state = &next};
    char mine = 'u', theirs;

    mca_btl_epofi_component.confirm = 10;
    start(pair, &ep);
    send_number(&ep, 0);
    test_ep_wait(&ep, 1);
    pair_barrier(pair, &ep);
    if (0 == pair->rank) {
        const uint32_t looks = module_of(&ep)->confirm_looks;
        uint64_t asked = pair_of(&ep)->out.sequence;

        send_number(&ep, 1);
        while (looks + 30 > module_of(&ep)->confirm_looks) {
            (void) test_ep_progress(&ep);
        }
        /* After 1, 2, 4, 8, 16 looks. */
        asked = pair_of(&ep)->out.sequence - asked - 1;
        TAP_CHECK(3 <= asked && 6 >= asked, "%llu questions in 30 looks",
                  (unsigned long long) asked);
    }
    pair_exchange(pair, NULL, &mine, &theirs, 1);
    if (1 == pair->rank) {
        test_ep_wait(&ep, 2);
    }
    pair_barrier(pair, &ep);
    TAP_EQ(0, losses);
    end(&ep);
}

/** Peers that sent something once and never answer, more than have their turn before the first ones
 * are due again: none is forgotten behind the others. */
static void case_many_quiet(const pair_t *pair)
{
    enum { COUNT = 8192, LOOKS = COUNT / 64 + 8 };
    test_ep_t ep = {0};
    const mca_btl_epofi_address_t *own;
    unsigned int never = 0;

    (void) pair;
    mca_btl_epofi_component.confirm = 10;
    test_ep_open(&ep);
    own = (const mca_btl_epofi_address_t *) ep.module->ep_address;
    for (uint64_t id = 1; id <= COUNT; ++id) {
        const mca_btl_epofi_wire_t wire = {.sender = id,
                                           .proof = mca_btl_epofi_keyed(&own->secret, id)};
        mca_btl_epofi_pair_t *quiet = mca_btl_epofi_pair_meet(module_of(&ep), &wire);

        quiet->out.sequence = 1;
        quiet->noticed = 1;
    }
    for (int look = 0; look < LOOKS; ++look) {
        module_of(&ep)->confirm_ns = 0; /* it is time */
        mca_btl_epofi_liveness_confirm(module_of(&ep));
    }
    for (uint64_t id = 1; id <= COUNT; ++id) {
        never += 0 == mca_btl_epofi_pair_find(module_of(&ep), id)->asked;
    }
    TAP_EQ(0, never);
    test_ep_close(&ep);
}

/** Connect to a module's port as a member would, with tcp's provider (libfabric 2.1), announce a
 * message, and stop.  @return the socket */
static int begin_message(const mca_btl_epofi_address_t *address, uint16_t port)
{
    const tcp_hello_t hello = tcp_hello(port);
    struct {
        uint8_t version, what, unused[4], size, id;
        uint64_t length;
    } header = {.version = 3, .size = 16, .length = 16 + 200};
    int fd = socket(((const struct sockaddr *) address->bytes)->sa_family, SOCK_STREAM, 0);
    mca_btl_epofi_hello_t own;
    char answer[sizeof(mca_btl_epofi_answer_t) + sizeof(hello)];

    TAP_EQ(16, sizeof(header));
    TAP_EQ(0, connect(fd, (const struct sockaddr *) address->bytes, address->length));
    TAP_EQ(OPAL_SUCCESS, mca_btl_epofi_hello_make(&address->secret, &own));
    TAP_EQ(sizeof(own), send(fd, &own, sizeof(own), 0));
    TAP_EQ(sizeof(hello), send(fd, &hello, sizeof(hello), 0));
    TAP_EQ(sizeof(answer), recv(fd, answer, sizeof(answer), MSG_WAITALL));
    TAP_EQ(sizeof(header), send(fd, &header, sizeof(header), 0));
    return fd;
}

/** Members begin messages and stop, until all receive buffers are taken: more are made, it is
 * said, and a member's message gets through. */
static void case_held(const pair_t *pair)
{
    enum { BUFFERS = 4 };
    uint64_t next = 0;
    test_ep_t ep = {.on_message = expect_next, .state = &next};
    mca_btl_epofi_address_t address = {0};
    int fds[BUFFERS];

    mca_btl_epofi_component.recv_buffers = BUFFERS;
    start(pair, &ep);
    memcpy(&address, pair_of(&ep)->address, pair_of(&ep)->address_length);
    for (int i = 0; i < BUFFERS && 1 == pair->rank; ++i) {
        fds[i] = begin_message(&address, (uint16_t) (i + 1));
    }
    pair_barrier(pair, &ep);
    send_number(&ep, 0);
    test_ep_wait(&ep, 1);
    pair_barrier(pair, &ep);
    if (1 == pair->rank) {
        for (int i = 0; i < BUFFERS; ++i) {
            close(fds[i]);
        }
    } else {
        TAP_EQ(2 * BUFFERS, module_of(&ep)->recv_count);
        while (BUFFERS > mca_btl_epofi_dropped(ep.module)) {
            (void) test_ep_progress(&ep); /* until it knows that nothing will come of them */
        }
    }
    pair_barrier(pair, &ep);
    send_number(&ep, 1);
    test_ep_wait(&ep, 2);
    pair_barrier(pair, &ep);
    TAP_EQ(0, losses);
    end(&ep);
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epofi_pair", 60);
    run_pair("forged messages", case_forged);
    run_pair("the name of another one", case_mistaken);
    run_pair("repeated messages", case_repeated);
    run_pair("a missing message", case_missing);
    run_pair("a missing message to a peer that only listens", case_missing_unmet);
    run_pair("the last message is missing", case_last_missing);
    run_pair("the last message is missing, its sender gone", case_last_forgotten);
    run_pair("given up, and forgotten", case_given_up);
    run_pair("given up, forgotten, and answered", case_given_up_answered);
    run_pair("questions of the sender", case_confirmed);
    run_pair("questions that are not answered", case_unanswered);
    run_single("questions to many that are silent", case_many_quiet);
    run_pair("receive buffers held", case_held);
    return tap_end();
}
