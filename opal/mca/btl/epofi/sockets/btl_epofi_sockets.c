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
 * The sockets that libfabric opens for us: it makes and accepts them where we do not see it, so the
 * calls by which it does are led here (btl_epofi_slots.c).
 *
 *   - They do not survive into programs that the user's program runs (FD_CLOEXEC from the start),
 *     and the child of a fork closes its copies: a connection ends with the process whose it is,
 *     and not with the last child that happens to have been born while it was open.
 *   - That descriptors have run out is said at once, on the side that has none left.  libfabric
 *     says nothing there, and the other side is left to wait.  If it goes on, connections are
 *     refused, so that the other side learns of it.
 *   - Connections on which nobody begins to talk are closed after a while; idle ones are kept
 *     alive.
 *   - Connections of our modules, and to them, begin with greetings, of which libfabric knows
 *     nothing (btl_epofi_greet.c).  Those of other users of libfabric in the process do not.
 *
 * Called from within libfabric, by whoever drives a module, so by several threads at a time.
 *
 * Tests: cut (files, silent), death (child_), strangers_net
 */

#define _GNU_SOURCE

#include "opal_config.h"

#include "../base/base.h"
#include "btl_epofi_greet.h"
#include "btl_epofi_slots.h"
#include "btl_epofi_sockets.h"

#include "opal/util/proc.h"
#include "opal/util/show_help.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h> /* glibc's has no tcpi_bytes_received */
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what there is --------------------------------------------------------------------------- */

/**
 * A socket of libfabric's, in the table by its number; or an epoll set.
 *
 * Who looks at all of them (sweep, on_fork_child) may come when one has been closed and its number
 * is somebody else's: then the inode is another one.  The rest is for who uses the descriptor,
 * which is one thread at a time, and a number goes from one to the next through the kernel.
 */
typedef struct entry_t {
    _Atomic uint64_t inode; /**< 0: none */
    /** When it was accepted, if its peer has not been heard of since; else 0. */
    _Atomic uint64_t waits_ns;
    _Atomic uint32_t greeting; /**< bytes that are said on it before libfabric's */
    /** What is to be said and heard on it before libfabric hears anything; NULL: nothing. */
    _Atomic(mca_btl_epofi_caller_t *) caller;
    _Atomic(mca_btl_epofi_gate_t *) gate; /**< of a listener, and of its module's epoll set */
} entry_t;

#define CHUNK 1024  /**< entries that are made together */
#define CHUNKS 1024 /**< so many chunks; numbers above are not kept */

/** Chunks are added and never removed: a child of a fork may look at any moment. */
static _Atomic(entry_t *) chunks[CHUNKS];

static entry_t *entry_of(int fd, bool make)
{
    _Atomic(entry_t *) *place = &chunks[(unsigned int) fd / CHUNK % CHUNKS];
    entry_t *chunk, *none = NULL;

    if (0 > fd || CHUNK * CHUNKS <= fd) {
        return NULL;
    }
    /* Acquire: orders the pointer before what is in it; partner: the exchange below. */
    chunk = atomic_load_explicit(place, memory_order_acquire);
    if (NULL == chunk && make) {
        chunk = calloc(CHUNK, sizeof(*chunk));
        if (NULL != chunk
            && !atomic_compare_exchange_strong_explicit(place, &none, chunk, memory_order_acq_rel,
                                                        memory_order_acquire)) {
            free(chunk);
            chunk = none;
        }
    }
    return NULL == chunk ? NULL : &chunk[fd % CHUNK];
}

/** The inode of a socket, which is its own until it is closed; 0 if this is none. */
static uint64_t inode_of(int fd)
{
    struct stat stat;

    return 0 == fstat(fd, &stat) && S_ISSOCK(stat.st_mode) ? (uint64_t) stat.st_ino : 0;
}

/** Callers that have greeted and wait for the answer.  Relaxed, everywhere: who waits on a descriptor
 * has counted it, or has it from who did. */
static _Atomic uint32_t awaited;

static void forget_caller(entry_t *entry)
{
    mca_btl_epofi_caller_t *caller = atomic_exchange_explicit(&entry->caller, NULL,
                                                              memory_order_relaxed);

    if (NULL != caller && mca_btl_epofi_caller_awaits(caller)) {
        (void) atomic_fetch_sub_explicit(&awaited, 1, memory_order_relaxed);
    }
    free(caller);
}

/** A number is nobody's any more, ... */
static void leave(entry_t *entry)
{
    atomic_store_explicit(&entry->inode, 0, memory_order_relaxed);
    atomic_store_explicit(&entry->waits_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&entry->gate, NULL, memory_order_relaxed);
    forget_caller(entry);
}

/** ... or that of a new socket. */
static void enter(int fd, uint64_t waits_ns, uint32_t greeting)
{
    entry_t *entry = entry_of(fd, true);

    if (NULL != entry) {
        leave(entry); /* it should have */
        atomic_store_explicit(&entry->greeting, greeting, memory_order_relaxed);
        atomic_store_explicit(&entry->waits_ns, waits_ns, memory_order_relaxed);
        atomic_store_explicit(&entry->inode, inode_of(fd), memory_order_relaxed);
    }
}

int mca_btl_epofi_sockets_close(int fd)
{
    entry_t *entry = entry_of(fd, false);

    if (NULL != entry) {
        leave(entry);
    }
    return close(fd);
}

static mca_btl_epofi_gate_t *gate_of(int fd)
{
    entry_t *entry = entry_of(fd, false);

    return NULL == entry ? NULL : atomic_load_explicit(&entry->gate, memory_order_relaxed);
}

static mca_btl_epofi_caller_t *caller_of(int fd)
{
    entry_t *entry = entry_of(fd, false);

    return NULL == entry ? NULL : atomic_load_explicit(&entry->caller, memory_order_relaxed);
}

static void set_gate(int fd, mca_btl_epofi_gate_t *gate)
{
    entry_t *entry = entry_of(fd, true);

    if (NULL != entry) {
        atomic_store_explicit(&entry->gate, gate, memory_order_relaxed);
    }
}

void mca_btl_epofi_sockets_forget(mca_btl_epofi_gate_t *gate, int listener, int set)
{
    if (gate == gate_of(listener)) {
        set_gate(listener, NULL);
    }
    if (gate == gate_of(set)) {
        set_gate(set, NULL);
    }
}

/** In the child of a fork.  Nothing but system calls: other threads may have held any lock. */
static void on_fork_child(void)
{
    const int saved = errno;

    for (int fd = 0; fd < CHUNK * CHUNKS; ++fd) {
        entry_t *entry = entry_of(fd, false);
        uint64_t inode;

        if (NULL == entry) {
            fd += CHUNK - 1;
            continue;
        }
        inode = atomic_load_explicit(&entry->inode, memory_order_relaxed);
        if (0 != inode && inode_of(fd) == inode) {
            /* The parent's goes on: nothing is sent, and its epoll sets keep it. */
            (void) close(fd);
        }
    }
    errno = saved;
}

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
           || 0 != info.tcpi_unacked
           || 0 != info.tcpi_notsent_bytes;
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
 * become another connection's between the look and the end, as the descriptor can if libfabric closes
 * it in another thread.  Where there is none for a copy, it has to do itself. */
static void end_silent(int fd, const entry_t *entry, uint64_t ms)
{
    const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    const int one = 0 > copy ? fd : copy;

    if (atomic_load_explicit(&entry->inode, memory_order_relaxed) == inode_of(one)
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

    for (int fd = 0; fd < CHUNK * CHUNKS; ++fd) {
        entry_t *entry = entry_of(fd, false);
        uint64_t since;

        if (NULL == entry) {
            fd += CHUNK - 1;
            continue;
        }
        since = atomic_load_explicit(&entry->waits_ns, memory_order_relaxed);
        if (0 == since) {
            continue;
        }
        if (atomic_load_explicit(&entry->inode, memory_order_relaxed) != inode_of(fd)
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
static void refuse(int listener)
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

/* ---- in place of libc's ---------------------------------------------------------------------- */

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

static _Thread_local uint32_t connects;

uint32_t mca_btl_epofi_sockets_connects(void)
{
    return connects;
}

static int own_socket(int domain, int type, int protocol)
{
    const int fd = socket(domain, type | SOCK_CLOEXEC, protocol);

    if (0 <= fd) {
        enter(fd, 0, 0);
        keep_alive(fd);
        some_left();
    }
    return fd;
}

int mca_btl_epofi_sockets_accept(int listener, uint32_t greeting)
{
    const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    const int error = errno;

    if (0 <= fd) {
        const uint64_t now = mca_btl_epofi_now();
        uint64_t none = 0;

        enter(fd, now, greeting);
        keep_alive(fd);
        (void) atomic_compare_exchange_strong_explicit(&next_sweep_ns, &none, now + SWEEP_NS,
                                                       memory_order_relaxed, memory_order_relaxed);
        some_left();
    } else if (is_none_left(error)) {
        if (mca_btl_epofi_sockets_none_left(error, "to accept a connection with")) {
            refuse(listener);
        }
    }
    errno = error;
    return fd;
}

static int own_accept(int listener, struct sockaddr *address, socklen_t *size)
{
    mca_btl_epofi_gate_t *gate = gate_of(listener);
    const int fd = NULL == gate ? mca_btl_epofi_sockets_accept(listener, 0)
                                : mca_btl_epofi_gate_accept(gate);

    if (0 <= fd && NULL != address) {
        (void) getpeername(fd, address, size);
    }
    return fd;
}

static int own_listen(int fd, int backlog)
{
    const int result = listen(fd, backlog);

    if (0 == result) {
        set_gate(fd, mca_btl_epofi_gate_listens(fd));
    }
    return result;
}

/** Are there, or have there been, any gates? */
static atomic_bool greets;

static int own_connect(int fd, const struct sockaddr *address, socklen_t size)
{
    ++connects;
    /* Relaxed: who connects from a module has it from who made the module. */
    if (atomic_load_explicit(&greets, memory_order_relaxed)) {
        entry_t *entry = entry_of(fd, true);
        mca_btl_epofi_caller_t *caller = mca_btl_epofi_caller_new(address);

        if (NULL == entry || NULL == caller) {
            free(caller);
            errno = ENOMEM;
            return -1;
        }
        forget_caller(entry);
        atomic_store_explicit(&entry->caller, caller, memory_order_relaxed);
    }
    return connect(fd, address, size);
}

/** By this we learn to which module a connection belongs: each has an epoll set of its own, in
 * which its listener is from the beginning. */
static int own_epoll_ctl(int set, int operation, int fd, struct epoll_event *event)
{
    const int result = epoll_ctl(set, operation, fd, event);
    const int error = errno;
    mca_btl_epofi_gate_t *gate = gate_of(fd);
    mca_btl_epofi_caller_t *caller = caller_of(fd);

    if (0 == result && EPOLL_CTL_ADD == operation) {
        if (NULL != gate) {
            set_gate(set, gate);
            mca_btl_epofi_gate_watched(gate, set, event);
            atomic_store_explicit(&greets, true, memory_order_relaxed);
        } else if (NULL != caller) {
            mca_btl_epofi_caller_watched(caller, gate_of(set));
        }
    } else if (NULL != gate && EPOLL_CTL_DEL == operation) {
        mca_btl_epofi_gate_unwatched(gate);
    }
    errno = error;
    return result;
}

/** libfabric asks whether a connection stands, and sends its request next: greet.
 * @return 0 or an errno */
static int greet(int fd)
{
    mca_btl_epofi_caller_t *caller = caller_of(fd);
    int error;

    if (NULL == caller || mca_btl_epofi_caller_awaits(caller)) {
        return 0;
    }
    error = mca_btl_epofi_caller_greet(caller, fd);
    if (mca_btl_epofi_caller_awaits(caller)) {
        (void) atomic_fetch_add_explicit(&awaited, 1, memory_order_relaxed);
    } else if (0 > error) {
        forget_caller(entry_of(fd, false)); /* it has nothing to do with us */
    }
    return 0 > error ? 0 : error;
}

static int own_getsockopt(int fd, int level, int name, void *value, socklen_t *size)
{
    const int result = getsockopt(fd, level, name, value, size);

    if (0 == result && SOL_SOCKET == level && SO_ERROR == name && sizeof(int) == *size
        && 0 == *(const int *) value) {
        *(int *) value = greet(fd);
    }
    return result;
}

/** Receive while there are answers to come, on whichever connections.  Slow path. */
static ssize_t recv_awaited(int fd, void *buffer, size_t length, int flags)
{
    mca_btl_epofi_caller_t *caller = caller_of(fd);
    ssize_t got;
    int error;

    if (NULL == caller || !mca_btl_epofi_caller_awaits(caller)) {
        return recv(fd, buffer, length, flags);
    }
    error = mca_btl_epofi_caller_hear(caller, fd);
    if (0 != error) {
        errno = error;
        return -1;
    }
    got = recv(fd, buffer, length, flags);
    if (0 < got) {
        forget_caller(entry_of(fd, false));
    }
    return got;
}

static ssize_t own_recv(int fd, void *buffer, size_t length, int flags)
{
    const ssize_t got = OPAL_LIKELY(0 == atomic_load_explicit(&awaited, memory_order_relaxed))
                            ? recv(fd, buffer, length, flags)
                            : recv_awaited(fd, buffer, length, flags);

    if (OPAL_UNLIKELY(0 == got)) {
        /* Where it reads what is said first, libfabric looks at errno whatever comes back: if that
         * happened to be EAGAIN, it would come back to a new connection no more, nor close it. */
        errno = ECONNRESET;
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

/** The greetings need all but the last REST of them. */
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
};

enum { SLOTS = sizeof(slots) / sizeof(slots[0]), REST = 4 };

bool mca_btl_epofi_sockets_can_greet(void)
{
    bool all = true;

    for (int i = 0; i < SLOTS - REST; ++i) {
        all = all && slots[i].led;
    }
    return all;
}

void mca_btl_epofi_sockets_watch(const struct fid_fabric *fabric)
{
    static bool done; /* under the component's lock */

    if (done || !mca_btl_epofi_slots_lead((const void *) fabric->fid.ops->close, slots, SLOTS)) {
        return;
    }
    done = true;
    spare_take();
    (void) pthread_atfork(NULL, NULL, on_fork_child);
}
