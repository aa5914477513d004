/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Where the next message comes from.
 *
 * What libfabric gets to know is nothing that the kernel might not have said: that there may be
 * something to receive, on a connection that the set watches for just that, and that has received
 * before.  Once in a few looks the kernel is asked all the same, for all others and for errors.
 *
 * After messages of several segments there is one prediction after each receive, and then the kernel
 * is asked until something has come: receives in vain take the socket's lock from the segments that
 * arrive, and find such messages in parts.
 *
 * Called by btl_epofi_calls.c, from within libfabric.
 *
 * Tests: unit/test_epofi_predict
 */

#include "opal_config.h"

#include "btl_epofi_predict.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

/** Receives in a row on one connection before it is predicted. */
#define ROW 8

/** One look in so many asks the kernel. */
#define ASK 8

/** Predictions in vain, one after the other, before the kernel is asked until something comes. */
#define VAIN 256

/** Bytes of a segment; those of what has none pass as one. */
static uint32_t predict_segment(int fd)
{
    uint32_t size;
    socklen_t length = sizeof(size);

    return 0 == getsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &size, &length) && 0 < size ? size
                                                                                    : UINT32_MAX;
}

void mca_btl_epofi_predict_watched(int set, int fd, const struct epoll_event *event)
{
    mca_btl_epofi_socket_t *entry = mca_btl_epofi_socket_at(fd, false);

    if (NULL != entry) {
        entry->watched.segment = entry->watched.is ? entry->watched.segment : 0;
        entry->watched.set = set;
        entry->watched.event = *event;
        entry->watched.is = true;
    }
}

void mca_btl_epofi_predict_unwatched(int fd)
{
    mca_btl_epofi_socket_t *entry = mca_btl_epofi_socket_at(fd, false);

    if (NULL != entry) {
        mca_btl_epofi_socket_unwatch(entry);
    }
}

bool mca_btl_epofi_predict_make(int set, struct epoll_event *event)
{
    mca_btl_epofi_socket_t *entry = mca_btl_epofi_socket_at(set, false), *last;

    if (NULL == entry || ROW > entry->last.row || 0 == ++entry->last.looks % ASK) {
        return false;
    }
    if (entry->last.most <= entry->last.vain) {
        return false;
    }
    ++entry->last.vain;
    last = mca_btl_epofi_socket_at(entry->last.fd, false);
    if (NULL == last || !last->watched.is || set != last->watched.set
        || EPOLLIN != (last->watched.event.events & (EPOLLIN | EPOLLOUT))) {
        return false;
    }
    *event = (struct epoll_event){.events = EPOLLIN, .data = last->watched.event.data};
    return true;
}

void mca_btl_epofi_predict_came(int fd, size_t size)
{
    mca_btl_epofi_socket_t *entry = mca_btl_epofi_socket_at(fd, false), *set;

    if (NULL == entry || !entry->watched.is) {
        return;
    }
    set = mca_btl_epofi_socket_at(entry->watched.set, false);
    if (NULL == set) {
        return;
    }
    if (OPAL_UNLIKELY(0 == entry->watched.segment)) {
        entry->watched.segment = predict_segment(fd);
    }
    if (fd != set->last.fd) {
        set->last.fd = fd;
        set->last.row = 0;
    }
    set->last.row += ROW > set->last.row ? 1 : 0;
    set->last.vain = 0;
    set->last.most = size <= entry->watched.segment ? VAIN : 1;
}
