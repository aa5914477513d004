/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The sockets that libfabric opens for us, looked after.
 *
 *   - They do not survive into programs that the user's program runs (FD_CLOEXEC from the start),
 *     and the child of a fork closes its copies: a connection ends with the process whose it is,
 *     and not with the last child that happens to have been born while it was open.
 *   - That descriptors have run out is said at once, in the process that has none left.  libfabric
 *     says nothing there, and the peer is left to wait.  If it goes on, connections are
 *     refused, so that the peer learns of it.
 *   - Idle connections are kept alive.  None is ever closed here: silence is no reason to, however
 *     long it lasts.
 *
 * Called from within libfabric (btl_epofi_calls.c), by the threads that drive modules, so by
 * several at a time.
 *
 * Tests: cut (files), death (child_), strangers_net, strangers, cluster
 */

#define _GNU_SOURCE

#include "opal_config.h"

#include "../base/base.h"
#include "btl_epofi_socket.h"
#include "btl_epofi_sockets.h"

#include "opal/util/proc.h"
#include "opal/util/show_help.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- words --------------------------------------------------------------------------------------
 *  */

const char *mca_btl_epofi_sockets_peer(int fd, char text[EPOFI_HOST_TEXT])
{
    struct sockaddr_storage peer;
    socklen_t size = sizeof(peer);

    strcpy(text, "unknown");
    if (0 == getpeername(fd, (struct sockaddr *) &peer, &size)) {
        (void) inet_ntop(peer.ss_family,
                         AF_INET == peer.ss_family
                             ? (const void *) &((struct sockaddr_in *) &peer)->sin_addr
                             : (const void *) &((struct sockaddr_in6 *) &peer)->sin6_addr,
                         text, EPOFI_HOST_TEXT);
    }
    return text;
}

_Atomic uint32_t mca_btl_epofi_sockets_held;

/* ---- no answer ------------------------------------------------------------------------------- */

/** Has the other kernel acknowledged nothing for so long, though there is something to?  (One whose
 * process does not receive acknowledges.) */
static bool is_unanswered(int fd, uint64_t ms)
{
    struct tcp_info info = {0};
    socklen_t size = sizeof(info);

    return 0 == getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) && 0 < info.tcpi_unacked
           && 0 < info.tcpi_retransmits && ms <= info.tcpi_last_ack_recv;
}

bool mca_btl_epofi_sockets_unanswered(struct sockaddr_storage *peer)
{
    static _Atomic uint64_t next_ns;
    const uint64_t ms = (uint64_t) mca_btl_epofi_component.unanswered * 1000u;
    const uint64_t now = mca_btl_epofi_now();
    uint64_t next = atomic_load_explicit(&next_ns, memory_order_relaxed);

    /* One thread at a time, and no thread waits for it: relaxed. */
    if (0 == ms || now < next
        || !atomic_compare_exchange_strong_explicit(&next_ns, &next, now + 1000000u * ms / 2,
                                                    memory_order_relaxed, memory_order_relaxed)) {
        return false;
    }
    for (int fd = 0; NULL != mca_btl_epofi_socket_next(&fd); ++fd) {
        socklen_t size = sizeof(*peer);

        if (is_unanswered(fd, ms) && 0 == getpeername(fd, (struct sockaddr *) peer, &size)) {
            return true;
        }
    }
    return false;
}

/* ---- no descriptors -------------------------------------------------------------------------- */

static _Atomic uint64_t none_since_ns; /**< since when none can be had; 0: they can */
static _Atomic int spare = -1;         /**< a descriptor, to refuse connections with; -1: none */

static void spare_take(void)
{
    int none = -1;
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (0 <= fd
        && !atomic_compare_exchange_strong_explicit(&spare, &none, fd, memory_order_relaxed,
                                                    memory_order_relaxed)) {
        (void) close(fd);
    }
}

bool mca_btl_epofi_sockets_none_left(int error, const char *what)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    const uint64_t now = mca_btl_epofi_now();
    uint64_t since = 0;
    struct rlimit limit;

    if (atomic_compare_exchange_strong_explicit(&none_since_ns, &since, now, memory_order_relaxed,
                                                memory_order_relaxed)) {
        since = now;
    }
    if (mca_btl_epofi_first_time(&said)) {
        (void) getrlimit(RLIMIT_NOFILE, &limit);
        EPOFI_SHOW_HELP("no descriptors", true, opal_process_info.nodename, (int) getpid(), what,
                        strerror(error), (size_t) limit.rlim_cur,
                        atomic_load_explicit(&mca_btl_epofi_sockets_held, memory_order_relaxed),
                        mca_btl_epofi_component.descriptor_wait);
    }
    return now - since > (uint64_t) mca_btl_epofi_component.descriptor_wait * 1000000u;
}

/** A descriptor could be had. */
static void some_left(void)
{
    if (0 != atomic_load_explicit(&none_since_ns, memory_order_relaxed)) {
        atomic_store_explicit(&none_since_ns, 0, memory_order_relaxed);
    }
    if (-1 == atomic_load_explicit(&spare, memory_order_relaxed)) {
        spare_take();
    }
}

static bool is_none_left(int error)
{
    return EMFILE == error || ENFILE == error;
}

/** Accept the connection that waits, and close it: its initiator gets an error. */
static void refuse_next(int listener)
{
    const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    int fd = atomic_exchange_explicit(&spare, -1, memory_order_relaxed);

    if (0 > fd) {
        return;
    }
    (void) close(fd);
    fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (0 <= fd) {
        (void) setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
        (void) close(fd);
    }
    spare_take();
}

/* ---- new ones -------------------------------------------------------------------------------- */

/** Keepalive probes without an answer, the most that the kernel counts, and seconds between two of
 * them at least: longer than it retransmits data (net.ipv4.tcp_retries2), so that an idle
 * connection survives whatever a busy one survives. */
#define KEEPALIVE_PROBES 127
#define KEEPALIVE_INTERVAL 10

/** Keepalive is for what stands between the two hosts and forgets idle connections without telling.
 * (No limit on how long data may stay unacknowledged: the kernel's own is the right one.) */
static void keep_alive(int fd)
{
    const int idle = (int) mca_btl_epofi_component.keepalive, on = 1, count = KEEPALIVE_PROBES;
    const int interval = KEEPALIVE_INTERVAL < idle ? idle : KEEPALIVE_INTERVAL;

    if (0 < idle && 0 == setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on))) {
        (void) setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
        (void) setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
        (void) setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
    }
}

void mca_btl_epofi_sockets_made(int fd)
{
    mca_btl_epofi_socket_enter(fd);
    keep_alive(fd);
    some_left();
}

int mca_btl_epofi_sockets_accept(int listener)
{
    const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    const int error = errno;

    if (0 <= fd) {
        mca_btl_epofi_socket_enter(fd);
        keep_alive(fd);
        some_left();
    } else if (is_none_left(error)
               && mca_btl_epofi_sockets_none_left(error, "to accept a connection with")) {
        refuse_next(listener);
    }
    errno = error;
    return fd;
}

void mca_btl_epofi_sockets_begin(void)
{
    spare_take();
    (void) pthread_atfork(NULL, NULL, mca_btl_epofi_sockets_on_fork_child);
}
