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
 * gets through to it before the connecting process has proved that it has the listener's address
 * with the secret.
 *
 *      connector                                  listener
 *      connect ---------------------------------> accept: held, unknown to libfabric
 *      stands: hello  ------ 32 bytes -------> right? then libfabric gets it, ...
 *      libfabric's request ---------------------> (waits in the socket)
 *      right? then libfabric goes on <- 16 bytes  ... behind our answer
 *
 * The answer proves that the listener itself has received the hello, not another process that
 * has got its port.  Whatever is wrong or cut short ends the connection.  Neither takes a round
 * trip of its own: each is sent together with libfabric's own data.
 *
 * A connection that has authenticated is libfabric's, and never closed here.  Those that have not are
 * bounded in number: when there are too many the oldest is closed.  That loses nothing if it is of
 * the job, since libfabric sends no message before it has got the answer: it connects again.
 *
 * A acceptor is a module's part in this: its listener with the connections that are held, and the
 * secrets of the peers that it may connect to.  All calls within libfabric come from
 * btl_epofi_calls.c, which knows the module of each socket.  The thread that drives the module uses
 * its acceptor, one call at a time.  docs/security.md describes the purpose.
 *
 * Tests: unit/test_epofi_handshake, strangers_net, fault (silent)
 */

#include "opal_config.h"

#include "../base/base.h"
#include "btl_epofi_handshake.h"
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

/** A acceptor holds so many connections at most, and so many however many others hold; the rest
 * waits in the kernel meanwhile. */
#define HELD_MOST EPOFI_UNPROVEN_MOST
#define HELD_LEAST 8

/** When there are too many, the oldest is closed that has had so long to authenticate. */
#define HASTE_NS (UINT64_C(1) * 1000000000)

/** ... and then they are all looked at so often at most, while nothing is said on any of them:
 * others that wait have libfabric ask at each call, and a look is a system call over all. */
#define FULL_LOOK_NS (UINT64_C(1) * 1000000)

/** A connection that libfabric does not know of yet. */
typedef struct held_t {
    int fd;
    uint32_t got; /**< bytes of the hello */
    uint64_t since_ns;
    mca_btl_epofi_hello_t hello;
} held_t;

struct mca_btl_epofi_acceptor_t {
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

/* ---- the acceptor -------------------------------------------------------------------------------- */

static _Thread_local mca_btl_epofi_acceptor_t
    *opening; /**< the acceptor that this thread is opening */

int mca_btl_epofi_acceptor_open(const mca_btl_epofi_address_t *own,
                                mca_btl_epofi_acceptor_t **acceptor_p)
{
    mca_btl_epofi_acceptor_t *acceptor;

    *acceptor_p = NULL;
    if (0 == mca_btl_epofi_component.hello) {
        return OPAL_SUCCESS;
    }
    acceptor = calloc(1, sizeof(*acceptor));
    if (NULL == acceptor) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    OBJ_CONSTRUCT(&acceptor->callees, opal_hash_table_t);
    if (OPAL_SUCCESS != opal_hash_table_init(&acceptor->callees, 16)) {
        OBJ_DESTRUCT(&acceptor->callees);
        free(acceptor);
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    acceptor->own = own;
    acceptor->listener = -1;
    acceptor->set = -1;
    opening = acceptor;
    *acceptor_p = acceptor;
    return OPAL_SUCCESS;
}

bool mca_btl_epofi_acceptor_stands(const mca_btl_epofi_acceptor_t *acceptor)
{
    const bool stands = NULL != acceptor && 0 <= acceptor->listener && 0 <= acceptor->set;

    opening = NULL; /* should libfabric have listened otherwise */
    opal_output_verbose(10, opal_btl_base_framework.framework_output,
                        "btl:epofi: connections are %sgreeted", stands ? "" : "not ");
    return stands;
}

mca_btl_epofi_acceptor_t *mca_btl_epofi_acceptor_listens(int listener)
{
    mca_btl_epofi_acceptor_t *acceptor = opening;

    opening = NULL;
    if (NULL != acceptor) {
        acceptor->listener = listener;
    }
    return acceptor;
}

void mca_btl_epofi_acceptor_watched(mca_btl_epofi_acceptor_t *acceptor, int set,
                                    const struct epoll_event *event)
{
    acceptor->set = set;
    acceptor->event = *event;
}

/** Take one off the list.  It stays open. */
static int let_go(mca_btl_epofi_acceptor_t *acceptor, uint32_t at)
{
    const int fd = acceptor->held[at].fd;

    (void) epoll_ctl(acceptor->set, EPOLL_CTL_DEL, fd, NULL);
    --acceptor->count;
    (void) atomic_fetch_sub_explicit(&mca_btl_epofi_sockets_held, 1, memory_order_relaxed);
    memmove(&acceptor->held[at], &acceptor->held[at + 1],
            (acceptor->count - at) * sizeof(*acceptor->held));
    return fd;
}

void mca_btl_epofi_acceptor_unwatched(mca_btl_epofi_acceptor_t *acceptor)
{
    while (0 < acceptor->count) {
        mca_btl_epofi_sockets_close(let_go(acceptor, acceptor->count - 1));
    }
    acceptor->set = -1;
}

void mca_btl_epofi_acceptor_close(mca_btl_epofi_acceptor_t *acceptor)
{
    opening = NULL;
    if (NULL == acceptor) {
        return;
    }
    mca_btl_epofi_sockets_forget(acceptor, acceptor->listener, acceptor->set);
    mca_btl_epofi_acceptor_unwatched(acceptor);
    OBJ_DESTRUCT(&acceptor->callees);
    free(acceptor->held);
    free(acceptor);
}

uint64_t mca_btl_epofi_acceptor_refused(const mca_btl_epofi_acceptor_t *acceptor)
{
    return acceptor->refused;
}

uint32_t mca_btl_epofi_acceptor_refusals(const mca_btl_epofi_acceptor_t *acceptor)
{
    return NULL == acceptor ? 0 : atomic_load_explicit(&acceptor->refusals, memory_order_relaxed);
}

void mca_btl_epofi_acceptor_note_refusal(mca_btl_epofi_acceptor_t *acceptor)
{
    (void) atomic_fetch_add_explicit(&acceptor->refusals, 1, memory_order_relaxed);
}

/* ---- known peers
 * ------------------------------------------------------------------------------- */

const mca_btl_epofi_callee_t *mca_btl_epofi_acceptor_callee(
    mca_btl_epofi_acceptor_t *acceptor, const mca_btl_epofi_listener_t *listener)
{
    void *callee;

    return OPAL_SUCCESS
                   == opal_hash_table_get_value_ptr(&acceptor->callees, listener, sizeof(*listener),
                                                    &callee)
               ? callee
               : NULL;
}

int mca_btl_epofi_acceptor_add(mca_btl_epofi_acceptor_t *acceptor,
                               const mca_btl_epofi_callee_t *callee)
{
    const mca_btl_epofi_callee_t *other;
    mca_btl_epofi_listener_t key;

    if (NULL == acceptor) {
        return OPAL_SUCCESS;
    }
    mca_btl_epofi_listener_of(callee->name.bytes, &key);
    other = mca_btl_epofi_acceptor_callee(acceptor, &key);
    if (NULL != other && other->order > callee->order) {
        return OPAL_SUCCESS; /* gone, but to be notified that it was given up */
    }
    return opal_hash_table_set_value_ptr(&acceptor->callees, &key, sizeof(key), (void *) callee);
}

void mca_btl_epofi_acceptor_remove(mca_btl_epofi_acceptor_t *acceptor,
                                   const mca_btl_epofi_callee_t *callee)
{
    mca_btl_epofi_listener_t key;

    if (NULL == acceptor) {
        return;
    }
    mca_btl_epofi_listener_of(callee->name.bytes, &key);
    if (callee == mca_btl_epofi_acceptor_callee(acceptor, &key)) {
        (void) opal_hash_table_remove_value_ptr(&acceptor->callees, &key, sizeof(key));
    }
}

/* ---- connections that arrive
 * ------------------------------------------------------------------- */

/** Count one that is refused, and say so the first time. */
static void refuse_held(mca_btl_epofi_acceptor_t *acceptor, int fd, const char *why)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    char text[EPOFI_HOST_TEXT];

    ++acceptor->refused;
    if (mca_btl_epofi_first_time(&said)) {
        EPOFI_SHOW_HELP("stranger connects", true, opal_process_info.nodename,
                        mca_btl_epofi_sockets_peer(fd, text), why);
    }
}

static bool is_full(const mca_btl_epofi_acceptor_t *acceptor)
{
    return HELD_MOST <= acceptor->count
           || (HELD_LEAST <= acceptor->count
               && mca_btl_epofi_component.unproven
                      <= atomic_load_explicit(&mca_btl_epofi_sockets_held, memory_order_relaxed));
}

/** There are too many: close the oldest, unless it is new itself.  If it has said nothing it may be
 * of the job: a process that computes after it has begun to connect.  @return has one been? */
static bool drop_oldest(mca_btl_epofi_acceptor_t *acceptor)
{
    const held_t *oldest = &acceptor->held[0];

    if (0 == acceptor->count || mca_btl_epofi_now() - oldest->since_ns < HASTE_NS) {
        return false;
    }
    if (0 < oldest->got) {
        refuse_held(acceptor, oldest->fd, "there are too many that say half a hello, and no more");
    }
    mca_btl_epofi_sockets_close(let_go(acceptor, 0));
    return true;
}

/** Is there room for one more? */
static bool make_room(mca_btl_epofi_acceptor_t *acceptor)
{
    uint32_t room = 0 == acceptor->room ? HELD_LEAST : 2 * acceptor->room;
    held_t *held;

    if (is_full(acceptor) && !drop_oldest(acceptor)) {
        return false;
    }
    if (acceptor->count < acceptor->room) {
        return true;
    }
    held = realloc(acceptor->held, room * sizeof(*held));
    if (NULL == held) {
        return false;
    }
    acceptor->held = held;
    acceptor->room = room;
    return true;
}

/** A connection has come: libfabric comes back here when something is said on it. */
static void acceptor_hold(mca_btl_epofi_acceptor_t *acceptor, int fd)
{
    if (0 != epoll_ctl(acceptor->set, EPOLL_CTL_ADD, fd, &acceptor->event)) {
        mca_btl_epofi_sockets_close(fd); /* no memory; made again when needed */
        return;
    }
    (void) atomic_fetch_add_explicit(&mca_btl_epofi_sockets_held, 1, memory_order_relaxed);
    acceptor->held[acceptor->count++] = (held_t){.fd = fd, .since_ns = mca_btl_epofi_now()};
}

/** @return 1: it has authenticated; 0: wait; -1: close it, and count it if there is a why */
static int listen_to(mca_btl_epofi_acceptor_t *acceptor, held_t *held, const char **why_p)
{
    mca_btl_epofi_hello_t *hello = &held->hello;
    const ssize_t got = recv(held->fd, (char *) hello + held->got, sizeof(*hello) - held->got,
                             MSG_DONTWAIT);

    *why_p = NULL;
    if (0 >= got) {
        if (0 > got && (EAGAIN == errno || EINTR == errno)) {
            return 0;
        }
        /* One that has said nothing may be of the job: a connection that was given up. */
        *why_p = 0 == held->got ? NULL : "it ended in the middle of the hello";
        return -1;
    }
    held->got += (uint32_t) got;
    if (!mca_btl_epofi_hello_begins(hello, held->got)) {
        *why_p = "what it says is no hello";
        return -1;
    }
    if (sizeof(*hello) > held->got) {
        return 0;
    }
    if (!mca_btl_epofi_hello_is_right(&acceptor->own->secret, hello)) {
        *why_p = "its hello does not prove that it belongs to this job";
        return -1;
    }
    return 1;
}

/** Answer one that has authenticated.  @return false: it has ended */
static bool acceptor_answer(const mca_btl_epofi_acceptor_t *acceptor, const held_t *held)
{
    const mca_btl_epofi_answer_t words = mca_btl_epofi_answer_make(&acceptor->own->secret,
                                                                   held->hello.nonce);

    /* It has sent nothing yet, so there is room.  It goes with what libfabric says next. */
    return sizeof(words)
           == send(held->fd, &words, sizeof(words), MSG_NOSIGNAL | MSG_DONTWAIT | MSG_MORE);
}

/** Look at those that are held.  @return one that has authenticated, which is held no more; -1:
 * none */
static int look_at_all(mca_btl_epofi_acceptor_t *acceptor)
{
    struct pollfd polls[HELD_MOST];
    const uint32_t count = acceptor->count;
    const char *why;

    for (uint32_t i = 0; i < count; ++i) {
        polls[i] = (struct pollfd){.fd = acceptor->held[i].fd, .events = POLLIN};
    }
    if (0 >= poll(polls, count, 0)) {
        return -1;
    }
    /* From the last one, so that those before it stay where they are. */
    for (uint32_t i = count; 0 < i--;) {
        held_t *held = &acceptor->held[i];
        int result = 0 == polls[i].revents ? 0 : listen_to(acceptor, held, &why);

        if (1 == result && acceptor_answer(acceptor, held)) {
            return let_go(acceptor, i);
        }
        if (0 != result) {
            if (NULL != why) {
                refuse_held(acceptor, held->fd, why);
            }
            mca_btl_epofi_sockets_close(let_go(acceptor, i));
        }
    }
    return -1;
}

static int acceptor_look(mca_btl_epofi_acceptor_t *acceptor)
{
    const bool full = is_full(acceptor);
    const uint64_t now = full ? mca_btl_epofi_now() : 0;
    int fd;

    if (full && now < acceptor->next_look_ns) {
        return -1;
    }
    fd = look_at_all(acceptor);
    acceptor->next_look_ns = full && 0 > fd ? now + FULL_LOOK_NS : 0;
    return fd;
}

int mca_btl_epofi_acceptor_accept(mca_btl_epofi_acceptor_t *acceptor)
{
    int error = EAGAIN;
    int fd;

    while (make_room(acceptor)) {
        fd = mca_btl_epofi_sockets_accept(acceptor->listener);
        if (0 <= fd) {
            acceptor_hold(acceptor, fd);
            continue;
        }
        error = errno;
        if ((EMFILE != error && ENFILE != error) || !drop_oldest(acceptor)) {
            break;
        }
    }
    fd = acceptor_look(acceptor);
    errno = error;
    return fd;
}
