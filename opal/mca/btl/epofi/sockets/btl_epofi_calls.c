/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * In place of libc's: libfabric makes and accepts its sockets where we do not see it, so the calls
 * by which it does are led here (btl_epofi_slots.c).
 *
 * Each does what libfabric wants, and what we want besides (btl_epofi_sockets.c).  Connections of
 * our modules, and to them, begin with hellos, of which libfabric knows nothing
 * (btl_epofi_handshake.c).  Those of other users of libfabric in the process do not.
 *
 * Called from within libfabric, by the threads that drive modules, so by several at a time.
 *
 * Tests: strangers, unit/test_epofi_handshake
 */

#define _GNU_SOURCE

#include "opal_config.h"

#include "../base/base.h"
#include "btl_epofi_calls.h"
#include "btl_epofi_handshake.h"
#include "btl_epofi_predict.h"
#include "btl_epofi_slots.h"
#include "btl_epofi_socket.h"
#include "btl_epofi_sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static int own_socket(int domain, int type, int protocol)
{
    const int fd = socket(domain, type | SOCK_CLOEXEC, protocol);

    if (0 <= fd) {
        mca_btl_epofi_sockets_made(fd);
    }
    return fd;
}

static int own_accept(int listener, struct sockaddr *address, socklen_t *size)
{
    mca_btl_epofi_acceptor_t *acceptor = mca_btl_epofi_socket_acceptor(listener);
    const int fd = NULL == acceptor ? mca_btl_epofi_sockets_accept(listener)
                                    : mca_btl_epofi_acceptor_accept(acceptor);

    if (0 <= fd && NULL != address) {
        (void) getpeername(fd, address, size);
    }
    return fd;
}

static int own_listen(int fd, int backlog)
{
    const int result = listen(fd, backlog);

    if (0 == result) {
        mca_btl_epofi_socket_set_acceptor(fd, mca_btl_epofi_acceptor_listens(fd));
    }
    return result;
}

/** Are there, or have there been, any acceptors? */
static atomic_bool authenticate;

static int own_connect(int fd, const struct sockaddr *address, socklen_t size)
{
    /* Relaxed: a thread that connects from a module has it from the thread that made the module. */
    if (atomic_load_explicit(&authenticate, memory_order_relaxed)) {
        mca_btl_epofi_socket_t *entry = mca_btl_epofi_socket_at(fd, true);
        mca_btl_epofi_connector_t *connector = mca_btl_epofi_connector_new(address);

        if (NULL == entry || NULL == connector) {
            free(connector);
            errno = ENOMEM;
            return -1;
        }
        mca_btl_epofi_socket_forget_connector(entry);
        atomic_store_explicit(&entry->connector, connector, memory_order_relaxed);
    }
    return connect(fd, address, size);
}

/** By this we learn to which module a connection belongs: each has an epoll set of its own, in
 * which its listener is from the beginning. */
static int own_epoll_ctl(int set, int operation, int fd, struct epoll_event *event)
{
    const int result = epoll_ctl(set, operation, fd, event);
    const int error = errno;
    mca_btl_epofi_acceptor_t *acceptor = mca_btl_epofi_socket_acceptor(fd);
    mca_btl_epofi_connector_t *connector = mca_btl_epofi_socket_connector(fd);

    if (0 == result && EPOLL_CTL_ADD == operation) {
        if (NULL != acceptor) {
            mca_btl_epofi_socket_set_acceptor(set, acceptor);
            mca_btl_epofi_acceptor_watched(acceptor, set, event);
            atomic_store_explicit(&authenticate, true, memory_order_relaxed);
        } else if (NULL != connector) {
            mca_btl_epofi_connector_watched(connector, mca_btl_epofi_socket_acceptor(set));
        }
    } else if (NULL != acceptor && EPOLL_CTL_DEL == operation) {
        mca_btl_epofi_acceptor_unwatched(acceptor);
    }
    if (0 == result && EPOLL_CTL_DEL == operation) {
        mca_btl_epofi_predict_unwatched(fd);
    } else if (0 == result && NULL == acceptor && NULL != mca_btl_epofi_socket_acceptor(set)) {
        mca_btl_epofi_predict_watched(set, fd, event);
    }
    errno = error;
    return result;
}

/** Of a module's set mostly a prediction.  (Sets of others never have a row of receives.) */
static int own_epoll_wait(int set, struct epoll_event *events, int most, int timeout)
{
    if (0 == timeout && 0 < most && mca_btl_epofi_predict_make(set, events)) {
        return 1;
    }
    return epoll_wait(set, events, most, timeout);
}

/** libfabric asks whether a connection stands, and sends its request next: greet.
 * @param[in] error  what the kernel says of it
 * @return 0 or an errno */
static int calls_authenticate(int fd, int error)
{
    mca_btl_epofi_connector_t *connector = mca_btl_epofi_socket_connector(fd);

    if (NULL == connector || mca_btl_epofi_connector_awaits(connector)) {
        return error;
    }
    if (0 == error) {
        error = mca_btl_epofi_connector_authenticate(connector, fd);
    }
    if (0 < error) {
        mca_btl_epofi_connector_ended(connector, error);
    }
    if (mca_btl_epofi_connector_awaits(connector)) {
        mca_btl_epofi_socket_await(mca_btl_epofi_socket_at(fd, false));
    } else if (0 > error) {
        /* It has nothing to do with us. */
        mca_btl_epofi_socket_forget_connector(mca_btl_epofi_socket_at(fd, false));
    }
    return 0 > error ? 0 : error;
}

static int own_getsockopt(int fd, int level, int name, void *value, socklen_t *size)
{
    const int result = getsockopt(fd, level, name, value, size);

    if (0 == result && SOL_SOCKET == level && SO_ERROR == name && sizeof(int) == *size) {
        *(int *) value = calls_authenticate(fd, *(const int *) value);
    }
    return result;
}

/** Receive while there are answers to come, on whichever connections.  Slow path. */
static ssize_t recv_awaited(int fd, void *buffer, size_t length, int flags)
{
    mca_btl_epofi_connector_t *connector = mca_btl_epofi_socket_connector(fd);
    ssize_t got;
    int error;

    if (NULL == connector || !mca_btl_epofi_connector_awaits(connector)) {
        return recv(fd, buffer, length, flags);
    }
    error = mca_btl_epofi_connector_hear(connector, fd);
    if (0 != error) {
        errno = error;
        return -1;
    }
    got = recv(fd, buffer, length, flags);
    if (0 < got) {
        mca_btl_epofi_socket_forget_connector(mca_btl_epofi_socket_at(fd, false));
    }
    return got;
}

static ssize_t own_recv(int fd, void *buffer, size_t length, int flags)
{
    const bool awaited = OPAL_UNLIKELY(0
                                       != atomic_load_explicit(&mca_btl_epofi_sockets_awaited,
                                                               memory_order_relaxed));
    const ssize_t got = awaited ? recv_awaited(fd, buffer, length, flags)
                                : recv(fd, buffer, length, flags);

    if (OPAL_UNLIKELY(0 == got)) {
        /* Where it reads what is said first, libfabric looks at errno whatever comes back: if that
         * happened to be EAGAIN, it would come back to a new connection no more, nor close it. */
        errno = ECONNRESET;
    } else if (0 < got) {
        mca_btl_epofi_predict_came(fd, (size_t) got);
    }
    return got;
}

/** What recv may have been compiled to. */
static ssize_t own_recv_chk(int fd, void *buffer, size_t length, size_t size, int flags)
{
    return own_recv(fd, buffer, length < size ? length : size, flags);
}

static int own_socketpair(int domain, int type, int protocol, int fds[2])
{
    return socketpair(domain, type | SOCK_CLOEXEC, protocol, fds);
}

static int own_epoll_create(int size)
{
    (void) size;
    return epoll_create1(EPOLL_CLOEXEC);
}

static int own_pipe(int fds[2])
{
    return pipe2(fds, O_CLOEXEC);
}

/** The hellos need all but the last REST of them. */
static mca_btl_epofi_slot_t slots[] = {
    {"accept", (void *) own_accept, false},
    {"listen", (void *) own_listen, false},
    {"connect", (void *) own_connect, false},
    {"epoll_ctl", (void *) own_epoll_ctl, false},
    {"getsockopt", (void *) own_getsockopt, false},
    {"recv", (void *) own_recv, false},
    {"close", (void *) mca_btl_epofi_sockets_close, false},
    {"socket", (void *) own_socket, false},
    {"socketpair", (void *) own_socketpair, false},
    {"epoll_create", (void *) own_epoll_create, false},
    {"pipe", (void *) own_pipe, false},
    {"__recv_chk", (void *) own_recv_chk, false},
    {"epoll_wait", (void *) own_epoll_wait, false},
};

enum { SLOTS = sizeof(slots) / sizeof(slots[0]), REST = 5 };

bool mca_btl_epofi_calls_can_authenticate(void)
{
    bool all = true;

    for (int i = 0; i < SLOTS - REST; ++i) {
        all = all && slots[i].led;
    }
    return all;
}

void mca_btl_epofi_calls_lead(const struct fid_fabric *fabric)
{
    static bool done; /* under the component's lock */

    if (done || !mca_btl_epofi_slots_lead((const void *) fabric->fid.ops->close, slots, SLOTS)) {
        return;
    }
    done = true;
    mca_btl_epofi_sockets_begin();
}
