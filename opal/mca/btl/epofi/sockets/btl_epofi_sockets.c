/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * The sockets that libfabric opens for us, looked after.
 *
 *   - They do not survive into programs that the user's program runs (FD_CLOEXEC from the start),
 *     and the child of a fork closes its copies: a connection ends with the process whose it is,
 *     and not with the last child that happens to have been born while it was open.
 *   - That descriptors have run out is said at once, on the side that has none left.  libfabric
 *     says nothing there, and the other side is left to wait.  If it goes on, connections are
 *     refused, so that the other side learns of it.
 *   - Connections on which nobody begins to talk are closed after a while; idle ones are kept
 *     alive.
 *
 * Called from within libfabric (btl_epofi_calls.c), by whoever drives a module, so by several
 * threads at a time.
 *
 * Tests: cut (files, silent), death (child_), strangers_net, strangers
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
#include <linux/tcp.h> /* glibc's has no tcpi_bytes_received */
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- connections on which nobody talks ------------------------------------------------------- */

/** What each side of libfabric's tcp says before anything else, in bytes, and the shortest message
 * that may follow.  (Where we say something before that, messages are longer than both.) */
#define GREETING 40
#define SHORTEST 16

/** When descriptors have run out, silence is borne for so long only. */
#define HASTE_NS (UINT64_C(1) * 1000000000)

/** Between looks at all connections. */
#define SWEEP_NS (UINT64_C(1) * 1000000000)

static _Atomic uint64_t next_sweep_ns;
static _Atomic uint32_t silent_count; /**< accepted, and not heard of at the last look */

/** Has anything but greetings come or gone on a connection?  One on which it has not can be closed
 * without loss: whoever wants it makes it again. */
static bool has_spoken(int fd, uint32_t greeting)
{
    const uint32_t least = greeting + GREETING + SHORTEST;
    struct tcp_info info;
    socklen_t size = sizeof(info);

    memset(&info, 0, sizeof(info));
    return 0 != getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size)
           || size < offsetof(struct tcp_info, tcpi_notsent_bytes) + sizeof(info.tcpi_notsent_bytes)
           || least <= info.tcpi_bytes_received || least <= info.tcpi_bytes_acked
           || 0 != info.tcpi_unacked || 0 != info.tcpi_notsent_bytes;
}

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

void mca_btl_epofi_sockets_say_silent(int fd, uint64_t ms)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    char text[EPOFI_HOST_TEXT];

    if (mca_btl_epofi_first_time(&said)) {
        EPOFI_SHOW_HELP("silent connection", true, opal_process_info.nodename,
                        mca_btl_epofi_sockets_peer(fd, text), (size_t) ms,
                        mca_btl_epofi_component.silence);
    }
}

/** End a connection that has been silent for so long.  By a copy of its descriptor, which cannot
 * become another connection's between the look and the end, as the descriptor can if libfabric
 * closes it in another thread.  Where there is none for a copy, it has to do itself. */
static void end_silent(int fd, const mca_btl_epofi_socket_t *entry, uint64_t ms)
{
    const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    const int one = 0 > copy ? fd : copy;

    if (atomic_load_explicit(&entry->inode, memory_order_relaxed) == mca_btl_epofi_socket_inode(one)
        && !has_spoken(one, atomic_load_explicit(&entry->greeting, memory_order_relaxed))) {
        mca_btl_epofi_sockets_say_silent(one, ms);
        /* libfabric, or the gate, sees that it has ended, and closes it. */
        (void) shutdown(one, SHUT_RDWR);
    }
    if (0 <= copy) {
        (void) close(copy);
    }
}

/** Close connections that were accepted before a moment and have not been talked on since. */
static void sweep(uint64_t now, uint64_t patience_ns)
{
    uint32_t count = 0;

    for (int fd = 0; fd < EPOFI_SOCKET_CHUNK * EPOFI_SOCKET_CHUNKS; ++fd) {
        mca_btl_epofi_socket_t *entry = mca_btl_epofi_socket_at(fd, false);
        uint64_t since;

        if (NULL == entry) {
            fd += EPOFI_SOCKET_CHUNK - 1;
            continue;
        }
        since = atomic_load_explicit(&entry->waits_ns, memory_order_relaxed);
        if (0 == since) {
            continue;
        }
        if (atomic_load_explicit(&entry->inode, memory_order_relaxed)
                != mca_btl_epofi_socket_inode(fd)
            || has_spoken(fd, atomic_load_explicit(&entry->greeting, memory_order_relaxed))) {
            /* It may have been given to a new connection meanwhile: that one is kept. */
            (void) atomic_compare_exchange_strong_explicit(&entry->waits_ns, &since, 0,
                                                           memory_order_relaxed,
                                                           memory_order_relaxed);
        } else if (now - since > patience_ns) {
            end_silent(fd, entry, (now - since) / 1000000u);
        } else {
            ++count;
        }
    }
    atomic_store_explicit(&silent_count, count, memory_order_relaxed);
}

void mca_btl_epofi_sockets_look(void)
{
    const uint64_t now = mca_btl_epofi_now();
    uint64_t next = atomic_load_explicit(&next_sweep_ns, memory_order_relaxed);

    /* One thread at a time, and nobody waits for it: relaxed. */
    if (0 == mca_btl_epofi_component.silence || 0 == next || now < next
        || !atomic_compare_exchange_strong_explicit(&next_sweep_ns, &next, now + SWEEP_NS,
                                                    memory_order_relaxed, memory_order_relaxed)) {
        return;
    }
    sweep(now, (uint64_t) mca_btl_epofi_component.silence * 1000000000u);
}

/* ---- no descriptors -------------------------------------------------------------------------- */

static _Atomic uint64_t none_since_ns; /**< since when none can be had; 0: they can */
static _Atomic uint64_t next_haste_ns; /**< not before: look for silent ones again */
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
    if (now > atomic_load_explicit(&next_haste_ns, memory_order_relaxed)) {
        atomic_store_explicit(&next_haste_ns, now + HASTE_NS / 10, memory_order_relaxed);
        sweep(now, HASTE_NS);
    }
    if (mca_btl_epofi_first_time(&said)) {
        (void) getrlimit(RLIMIT_NOFILE, &limit);
        EPOFI_SHOW_HELP("no descriptors", true, opal_process_info.nodename, (int) getpid(), what,
                        strerror(error), (size_t) limit.rlim_cur,
                        atomic_load_explicit(&silent_count, memory_order_relaxed),
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

/** Take the connection that waits, and end it: who wants it learns that it cannot be had. */
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

/**
 * An idle connection is kept alive: what stands between the two may forget it otherwise, without
 * telling, and a host that is gone is noticed though nothing is sent to it.  (Not how long data may
 * stay unacknowledged: that would end connections to peers that do not receive for long.)
 */
static void keep_alive(int fd)
{
    const int on = 1, idle = (int) mca_btl_epofi_component.keepalive, interval = 10, count = 6;

    if (0 < idle && 0 == setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on))) {
        (void) setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
        (void) setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
        (void) setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
    }
}

void mca_btl_epofi_sockets_made(int fd)
{
    mca_btl_epofi_socket_enter(fd, 0, 0);
    keep_alive(fd);
    some_left();
}

int mca_btl_epofi_sockets_accept(int listener, uint32_t greeting)
{
    const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    const int error = errno;

    if (0 <= fd) {
        const uint64_t now = mca_btl_epofi_now();
        uint64_t none = 0;

        mca_btl_epofi_socket_enter(fd, now, greeting);
        keep_alive(fd);
        (void) atomic_compare_exchange_strong_explicit(&next_sweep_ns, &none, now + SWEEP_NS,
                                                       memory_order_relaxed, memory_order_relaxed);
        some_left();
    } else if (is_none_left(error)) {
        if (mca_btl_epofi_sockets_none_left(error, "to accept a connection with")) {
            refuse_next(listener);
        }
    }
    errno = error;
    return fd;
}

void mca_btl_epofi_sockets_begin(void)
{
    spare_take();
    (void) pthread_atfork(NULL, NULL, mca_btl_epofi_sockets_on_fork_child);
}
