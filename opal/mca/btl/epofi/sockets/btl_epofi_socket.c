/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The table of what libfabric has open: see btl_epofi_socket.h.
 *
 * Tests: cut, strangers
 */

#include "opal_config.h"

#include "../base/base.h"
#include "btl_epofi_handshake.h"
#include "btl_epofi_socket.h"
#include "btl_epofi_sockets.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/** Chunks are added and never removed: a child of a fork may look at any moment. */
static _Atomic(mca_btl_epofi_socket_t *) chunks[EPOFI_SOCKET_CHUNKS];

mca_btl_epofi_socket_t *mca_btl_epofi_socket_at(int fd, bool make)
{
    _Atomic(mca_btl_epofi_socket_t *) *place
        = &chunks[(unsigned int) fd / EPOFI_SOCKET_CHUNK % EPOFI_SOCKET_CHUNKS];
    mca_btl_epofi_socket_t *chunk, *none = NULL;

    if (0 > fd || EPOFI_SOCKET_CHUNK * EPOFI_SOCKET_CHUNKS <= fd) {
        return NULL;
    }
    /* Acquire: orders the pointer before what is in it; partner: the exchange below. */
    chunk = atomic_load_explicit(place, memory_order_acquire);
    if (NULL == chunk && make) {
        chunk = calloc(EPOFI_SOCKET_CHUNK, sizeof(*chunk));
        if (NULL != chunk
            && !atomic_compare_exchange_strong_explicit(place, &none, chunk, memory_order_acq_rel,
                                                        memory_order_acquire)) {
            free(chunk);
            chunk = none;
        }
    }
    return NULL == chunk ? NULL : &chunk[fd % EPOFI_SOCKET_CHUNK];
}

uint64_t mca_btl_epofi_socket_inode(int fd)
{
    struct stat stat;

    return 0 == fstat(fd, &stat) && S_ISSOCK(stat.st_mode) ? (uint64_t) stat.st_ino : 0;
}

_Atomic uint32_t mca_btl_epofi_sockets_awaited;

void mca_btl_epofi_socket_forget_connector(mca_btl_epofi_socket_t *entry)
{
    mca_btl_epofi_connector_t *connector = atomic_exchange_explicit(&entry->connector, NULL,
                                                                    memory_order_relaxed);

    if (atomic_exchange_explicit(&entry->is_awaited, false, memory_order_relaxed)) {
        (void) atomic_fetch_sub_explicit(&mca_btl_epofi_sockets_awaited, 1, memory_order_relaxed);
    }
    free(connector);
}

void mca_btl_epofi_socket_await(mca_btl_epofi_socket_t *entry)
{
    atomic_store_explicit(&entry->is_awaited, true, memory_order_relaxed);
    (void) atomic_fetch_add_explicit(&mca_btl_epofi_sockets_awaited, 1, memory_order_relaxed);
}

void mca_btl_epofi_socket_unwatch(mca_btl_epofi_socket_t *entry)
{
    mca_btl_epofi_socket_t *set = entry->watched.is
                                      ? mca_btl_epofi_socket_at(entry->watched.set, false)
                                      : NULL;

    if (NULL != set && entry == mca_btl_epofi_socket_at(set->last.fd, false)) {
        set->last.row = 0;
    }
    entry->watched.is = false;
    entry->last.row = 0; /* if it was a set */
}

/** A number has no entry any more. */
static void socket_leave(mca_btl_epofi_socket_t *entry)
{
    atomic_store_explicit(&entry->inode, 0, memory_order_relaxed);
    atomic_store_explicit(&entry->acceptor, NULL, memory_order_relaxed);
    mca_btl_epofi_socket_unwatch(entry);
    mca_btl_epofi_socket_forget_connector(entry);
}

void mca_btl_epofi_socket_enter(int fd)
{
    mca_btl_epofi_socket_t *entry = mca_btl_epofi_socket_at(fd, true);

    if (NULL != entry) {
        socket_leave(entry); /* it should have */
        atomic_store_explicit(&entry->inode, mca_btl_epofi_socket_inode(fd), memory_order_relaxed);
    }
}

int mca_btl_epofi_sockets_close(int fd)
{
    mca_btl_epofi_socket_t *entry = mca_btl_epofi_socket_at(fd, false);

    if (NULL != entry) {
        socket_leave(entry);
    }
    return close(fd);
}

mca_btl_epofi_acceptor_t *mca_btl_epofi_socket_acceptor(int fd)
{
    mca_btl_epofi_socket_t *entry = mca_btl_epofi_socket_at(fd, false);

    return NULL == entry ? NULL : atomic_load_explicit(&entry->acceptor, memory_order_relaxed);
}

mca_btl_epofi_connector_t *mca_btl_epofi_socket_connector(int fd)
{
    mca_btl_epofi_socket_t *entry = mca_btl_epofi_socket_at(fd, false);

    return NULL == entry ? NULL : atomic_load_explicit(&entry->connector, memory_order_relaxed);
}

void mca_btl_epofi_socket_set_acceptor(int fd, mca_btl_epofi_acceptor_t *acceptor)
{
    mca_btl_epofi_socket_t *entry = mca_btl_epofi_socket_at(fd, true);

    if (NULL != entry) {
        atomic_store_explicit(&entry->acceptor, acceptor, memory_order_relaxed);
    }
}

void mca_btl_epofi_sockets_forget(mca_btl_epofi_acceptor_t *acceptor, int listener, int set)
{
    if (acceptor == mca_btl_epofi_socket_acceptor(listener)) {
        mca_btl_epofi_socket_set_acceptor(listener, NULL);
    }
    if (acceptor == mca_btl_epofi_socket_acceptor(set)) {
        mca_btl_epofi_socket_set_acceptor(set, NULL);
    }
}

mca_btl_epofi_socket_t *mca_btl_epofi_socket_next(int *fd)
{
    for (; EPOFI_SOCKET_CHUNK * EPOFI_SOCKET_CHUNKS > *fd; ++*fd) {
        mca_btl_epofi_socket_t *entry = mca_btl_epofi_socket_at(*fd, false);
        uint64_t inode;

        if (NULL == entry) {
            *fd += EPOFI_SOCKET_CHUNK - 1;
            continue;
        }
        inode = atomic_load_explicit(&entry->inode, memory_order_relaxed);
        if (0 != inode && mca_btl_epofi_socket_inode(*fd) == inode) {
            return entry;
        }
    }
    return NULL;
}

void mca_btl_epofi_sockets_on_fork_child(void)
{
    const int saved = errno;

    for (int fd = 0; NULL != mca_btl_epofi_socket_next(&fd); ++fd) {
        /* The parent's goes on: nothing is sent, and its epoll sets keep it. */
        (void) close(fd);
    }
    errno = saved;
}
