/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The authentication handshake.  libfabric's tcp accepts all connections, believes the identity
 * that a peer claims, and can be made to crash by data behind its own handshake.  So no connection
 * gets through to it before the connecting side has proved that it has the listener's address with
 * the secret.
 *
 *      connector                                  listener
 *      connect ---------------------------------> accept: held, unknown to libfabric
 *      stands: greeting  ------ 32 bytes -------> right? then libfabric gets it, ...
 *      libfabric's request ---------------------> (waits in the socket)
 *      right? then libfabric goes on <- 16 bytes  ... behind our answer
 *
 * The answer proves that the listener itself has received the greeting, not another process that
 * has got its port.  Whatever is wrong or cut short ends the connection.  Neither takes a round
 * trip of its own: each is sent together with libfabric's own data.
 *
 * A connection that has greeted is libfabric's, and never closed here.  Those that have not are
 * bounded in number: when there are too many the oldest is closed.  That loses nothing if it is of
 * the job, since libfabric sends no message before it has got the answer: it connects again.
 *
 * A gate is a module's part in this: its listener with the connections that are held, and the
 * secrets of the peers that it may connect to.  All calls within libfabric come from
 * btl_epofi_calls.c, which knows the module of each socket.  The thread that drives the module uses
 * its gate, one call at a time.  docs/security.md describes the purpose.
 *
 * Tests: unit/test_epofi_greet, strangers_net, fault (silent)
 */

#include "opal_config.h"

#include "../base/base.h"
#include "btl_epofi_greet.h"
#include "btl_epofi_listener.h"
#include "btl_epofi_sockets.h"

#include "opal/class/opal_hash_table.h"
#include "opal/mca/btl/base/base.h"
#include "opal/util/output.h"
#include "opal/util/proc.h"
#include "opal/util/show_help.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

/** A gate holds so many connections at most, and so many however many others hold; the rest waits
 * in the kernel meanwhile. */
#define HELD_MOST EPOFI_UNPROVEN_MOST
#define HELD_LEAST 8

/** When there are too many, the oldest is closed that has had so long to greet. */
#define HASTE_NS (UINT64_C(1) * 1000000000)

/** ... and then they are all looked at so often at most, while nothing is said on any of them:
 * others that wait have libfabric ask at each call, and a look is a system call over all. */
#define FULL_LOOK_NS (UINT64_C(1) * 1000000)

/** A connection that libfabric does not know of yet. */
typedef struct held_t {
    int fd;
    uint32_t got; /**< bytes of the greeting */
    uint64_t since_ns;
    mca_btl_epofi_greeting_t greeting;
} held_t;

struct mca_btl_epofi_gate_t {
    const mca_btl_epofi_address_t *own; /**< its secret is there before a peer can connect */
    int listener;                       /**< -1: not known, or not any more, */
    int set;                            /**< ... the epoll set by which libfabric watches it, ... */
    struct epoll_event event;           /**< ... and with what */
    held_t *held;                       /**< the oldest first */
    uint32_t count;
    uint32_t room;
    uint64_t refused;
    _Atomic uint32_t refusals; /**< of others; a count, relaxed */
    uint64_t next_look_ns;     /**< when there are too many: not before */
    opal_hash_table_t callees; /**< by mca_btl_epofi_listener_t */
};

/* ---- the gate -------------------------------------------------------------------------------- */

static _Thread_local mca_btl_epofi_gate_t *opening; /**< the gate that this thread is opening */

int mca_btl_epofi_gate_open(const mca_btl_epofi_address_t *own, mca_btl_epofi_gate_t **gate_p)
{
    mca_btl_epofi_gate_t *gate;

    *gate_p = NULL;
    if (0 == mca_btl_epofi_component.greeting) {
        return OPAL_SUCCESS;
    }
    gate = calloc(1, sizeof(*gate));
    if (NULL == gate) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    OBJ_CONSTRUCT(&gate->callees, opal_hash_table_t);
    if (OPAL_SUCCESS != opal_hash_table_init(&gate->callees, 16)) {
        OBJ_DESTRUCT(&gate->callees);
        free(gate);
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    gate->own = own;
    gate->listener = -1;
    gate->set = -1;
    opening = gate;
    *gate_p = gate;
    return OPAL_SUCCESS;
}

bool mca_btl_epofi_gate_stands(const mca_btl_epofi_gate_t *gate)
{
    const bool stands = NULL != gate && 0 <= gate->listener && 0 <= gate->set;

    opening = NULL; /* should libfabric have listened otherwise */
    opal_output_verbose(10, opal_btl_base_framework.framework_output,
                        "btl:epofi: connections are %sgreeted", stands ? "" : "not ");
    return stands;
}

mca_btl_epofi_gate_t *mca_btl_epofi_gate_listens(int listener)
{
    mca_btl_epofi_gate_t *gate = opening;

    opening = NULL;
    if (NULL != gate) {
        gate->listener = listener;
    }
    return gate;
}

void mca_btl_epofi_gate_watched(mca_btl_epofi_gate_t *gate, int set,
                                const struct epoll_event *event)
{
    gate->set = set;
    gate->event = *event;
}

/** Take one off the list.  It stays open. */
static int let_go(mca_btl_epofi_gate_t *gate, uint32_t at)
{
    const int fd = gate->held[at].fd;

    (void) epoll_ctl(gate->set, EPOLL_CTL_DEL, fd, NULL);
    --gate->count;
    (void) atomic_fetch_sub_explicit(&mca_btl_epofi_sockets_held, 1, memory_order_relaxed);
    memmove(&gate->held[at], &gate->held[at + 1], (gate->count - at) * sizeof(*gate->held));
    return fd;
}

void mca_btl_epofi_gate_unwatched(mca_btl_epofi_gate_t *gate)
{
    while (0 < gate->count) {
        mca_btl_epofi_sockets_close(let_go(gate, gate->count - 1));
    }
    gate->set = -1;
}

void mca_btl_epofi_gate_close(mca_btl_epofi_gate_t *gate)
{
    opening = NULL;
    if (NULL == gate) {
        return;
    }
    mca_btl_epofi_sockets_forget(gate, gate->listener, gate->set);
    mca_btl_epofi_gate_unwatched(gate);
    OBJ_DESTRUCT(&gate->callees);
    free(gate->held);
    free(gate);
}

uint64_t mca_btl_epofi_gate_refused(const mca_btl_epofi_gate_t *gate)
{
    return gate->refused;
}

uint32_t mca_btl_epofi_gate_refusals(const mca_btl_epofi_gate_t *gate)
{
    return NULL == gate ? 0 : atomic_load_explicit(&gate->refusals, memory_order_relaxed);
}

void mca_btl_epofi_gate_note_refusal(mca_btl_epofi_gate_t *gate)
{
    (void) atomic_fetch_add_explicit(&gate->refusals, 1, memory_order_relaxed);
}

/* ---- known peers
 * ------------------------------------------------------------------------------- */

const mca_btl_epofi_callee_t *mca_btl_epofi_gate_callee(mca_btl_epofi_gate_t *gate,
                                                        const mca_btl_epofi_listener_t *listener)
{
    void *callee;

    return OPAL_SUCCESS
                   == opal_hash_table_get_value_ptr(&gate->callees, listener, sizeof(*listener),
                                                    &callee)
               ? callee
               : NULL;
}

int mca_btl_epofi_gate_add(mca_btl_epofi_gate_t *gate, const mca_btl_epofi_callee_t *callee)
{
    const mca_btl_epofi_callee_t *other;
    mca_btl_epofi_listener_t key;

    if (NULL == gate) {
        return OPAL_SUCCESS;
    }
    mca_btl_epofi_listener_of(callee->name.bytes, &key);
    other = mca_btl_epofi_gate_callee(gate, &key);
    if (NULL != other && other->order > callee->order) {
        return OPAL_SUCCESS; /* gone, but to be told that it was given up */
    }
    return opal_hash_table_set_value_ptr(&gate->callees, &key, sizeof(key), (void *) callee);
}

void mca_btl_epofi_gate_remove(mca_btl_epofi_gate_t *gate, const mca_btl_epofi_callee_t *callee)
{
    mca_btl_epofi_listener_t key;

    if (NULL == gate) {
        return;
    }
    mca_btl_epofi_listener_of(callee->name.bytes, &key);
    if (callee == mca_btl_epofi_gate_callee(gate, &key)) {
        (void) opal_hash_table_remove_value_ptr(&gate->callees, &key, sizeof(key));
    }
}

/* ---- connections that arrive
 * ------------------------------------------------------------------- */

/** Count one that is refused, and say so the first time. */
static void refuse_held(mca_btl_epofi_gate_t *gate, int fd, const char *why)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    char text[EPOFI_HOST_TEXT];

    ++gate->refused;
    if (mca_btl_epofi_first_time(&said)) {
        EPOFI_SHOW_HELP("stranger connects", true, opal_process_info.nodename,
                        mca_btl_epofi_sockets_peer(fd, text), why);
    }
}

static bool is_full(const mca_btl_epofi_gate_t *gate)
{
    return HELD_MOST <= gate->count
           || (HELD_LEAST <= gate->count
               && mca_btl_epofi_component.unproven
                      <= atomic_load_explicit(&mca_btl_epofi_sockets_held, memory_order_relaxed));
}

/** There are too many: close the oldest, unless it is new itself.  If it has said nothing it may be
 * of the job: a process that computes after it has begun to connect.  @return has one been? */
static bool drop_oldest(mca_btl_epofi_gate_t *gate)
{
    const held_t *oldest = &gate->held[0];

    if (0 == gate->count || mca_btl_epofi_now() - oldest->since_ns < HASTE_NS) {
        return false;
    }
    if (0 < oldest->got) {
        refuse_held(gate, oldest->fd, "there are too many that say half a greeting, and no more");
    }
    mca_btl_epofi_sockets_close(let_go(gate, 0));
    return true;
}

/** Is there room for one more? */
static bool make_room(mca_btl_epofi_gate_t *gate)
{
    uint32_t room = 0 == gate->room ? HELD_LEAST : 2 * gate->room;
    held_t *held;

    if (is_full(gate) && !drop_oldest(gate)) {
        return false;
    }
    if (gate->count < gate->room) {
        return true;
    }
    held = realloc(gate->held, room * sizeof(*held));
    if (NULL == held) {
        return false;
    }
    gate->held = held;
    gate->room = room;
    return true;
}

/** A connection has come: libfabric comes back here when something is said on it. */
static void gate_hold(mca_btl_epofi_gate_t *gate, int fd)
{
    if (0 != epoll_ctl(gate->set, EPOLL_CTL_ADD, fd, &gate->event)) {
        mca_btl_epofi_sockets_close(fd); /* no memory; made again when needed */
        return;
    }
    (void) atomic_fetch_add_explicit(&mca_btl_epofi_sockets_held, 1, memory_order_relaxed);
    gate->held[gate->count++] = (held_t){.fd = fd, .since_ns = mca_btl_epofi_now()};
}

/** @return 1: it has greeted; 0: wait; -1: close it, and count it if there is a why */
static int listen_to(mca_btl_epofi_gate_t *gate, held_t *held, const char **why_p)
{
    mca_btl_epofi_greeting_t *greeting = &held->greeting;
    const ssize_t got = recv(held->fd, (char *) greeting + held->got, sizeof(*greeting) - held->got,
                             MSG_DONTWAIT);

    *why_p = NULL;
    if (0 >= got) {
        if (0 > got && (EAGAIN == errno || EINTR == errno)) {
            return 0;
        }
        /* One that has said nothing may be of the job: a connection that was given up. */
        *why_p = 0 == held->got ? NULL : "it ended in the middle of the greeting";
        return -1;
    }
    held->got += (uint32_t) got;
    if (!mca_btl_epofi_greeting_begins(greeting, held->got)) {
        *why_p = "what it says is no greeting";
        return -1;
    }
    if (sizeof(*greeting) > held->got) {
        return 0;
    }
    if (!mca_btl_epofi_greeting_is_right(&gate->own->secret, greeting)) {
        *why_p = "its greeting does not prove that it belongs to this job";
        return -1;
    }
    return 1;
}

/** Answer one that has greeted.  @return false: it has ended */
static bool gate_answer(const mca_btl_epofi_gate_t *gate, const held_t *held)
{
    const mca_btl_epofi_answer_t words = mca_btl_epofi_answer_make(&gate->own->secret,
                                                                   held->greeting.nonce);

    /* It has sent nothing yet, so there is room.  It goes with what libfabric says next. */
    return sizeof(words)
           == send(held->fd, &words, sizeof(words), MSG_NOSIGNAL | MSG_DONTWAIT | MSG_MORE);
}

/** Look at those that are held.  @return one that has greeted, which is held no more; -1: none */
static int look_at_all(mca_btl_epofi_gate_t *gate)
{
    struct pollfd polls[HELD_MOST];
    const uint32_t count = gate->count;
    const char *why;

    for (uint32_t i = 0; i < count; ++i) {
        polls[i] = (struct pollfd){.fd = gate->held[i].fd, .events = POLLIN};
    }
    if (0 >= poll(polls, count, 0)) {
        return -1;
    }
    /* From the last one, so that those before it stay where they are. */
    for (uint32_t i = count; 0 < i--;) {
        held_t *held = &gate->held[i];
        int result = 0 == polls[i].revents ? 0 : listen_to(gate, held, &why);

        if (1 == result && gate_answer(gate, held)) {
            return let_go(gate, i);
        }
        if (0 != result) {
            if (NULL != why) {
                refuse_held(gate, held->fd, why);
            }
            mca_btl_epofi_sockets_close(let_go(gate, i));
        }
    }
    return -1;
}

static int gate_look(mca_btl_epofi_gate_t *gate)
{
    const bool full = is_full(gate);
    const uint64_t now = full ? mca_btl_epofi_now() : 0;
    int fd;

    if (full && now < gate->next_look_ns) {
        return -1;
    }
    fd = look_at_all(gate);
    gate->next_look_ns = full && 0 > fd ? now + FULL_LOOK_NS : 0;
    return fd;
}

int mca_btl_epofi_gate_accept(mca_btl_epofi_gate_t *gate)
{
    int error = EAGAIN;
    int fd;

    while (make_room(gate)) {
        fd = mca_btl_epofi_sockets_accept(gate->listener);
        if (0 <= fd) {
            gate_hold(gate, fd);
            continue;
        }
        error = errno;
        if ((EMFILE != error && ENFILE != error) || !drop_oldest(gate)) {
            break;
        }
    }
    fd = gate_look(gate);
    errno = error;
    return fd;
}
