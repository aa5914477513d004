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
 * Each receive is followed by one prediction.  If that was in vain, a thread that waits looks on by
 * epoll_wait: receives in vain would take the socket's lock from the segments that arrive, and find
 * messages of several segments in parts.
 *
 * Called by btl_epofi_calls.c, from within libfabric.
 *
 * Tests: unit/test_epofi_predict
 */

#include "opal_config.h"

#include "btl_epofi_predict.h"

/** Receives in a row on one connection before it is predicted. */
#define ROW 8

/** One look in so many asks the kernel. */
#define ASK 8

void mca_btl_epofi_predict_watched(int set, int fd, const struct epoll_event *event)
{
    mca_btl_epofi_socket_t *entry = mca_btl_epofi_socket_at(fd, false);

    if (NULL != entry) {
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
    if (entry->last.is_predicted) {
        return false;
    }
    entry->last.is_predicted = true;
    last = mca_btl_epofi_socket_at(entry->last.fd, false);
    if (NULL == last || !last->watched.is || set != last->watched.set
        || EPOLLIN != (last->watched.event.events & (EPOLLIN | EPOLLOUT))) {
        return false;
    }
    *event = (struct epoll_event){.events = EPOLLIN, .data = last->watched.event.data};
    return true;
}

void mca_btl_epofi_predict_came(int fd)
{
    mca_btl_epofi_socket_t *entry = mca_btl_epofi_socket_at(fd, false);

    if (NULL == entry || !entry->watched.is) {
        return;
    }
    entry = mca_btl_epofi_socket_at(entry->watched.set, false);
    if (NULL == entry) {
        return;
    }
    if (fd != entry->last.fd) {
        entry->last.fd = fd;
        entry->last.row = 0;
    }
    entry->last.row += ROW > entry->last.row ? 1 : 0;
    entry->last.is_predicted = false;
}
