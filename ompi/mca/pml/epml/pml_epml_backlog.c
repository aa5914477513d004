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
 * Backlogs: what could not be sent at once, peer by peer, in order.
 */

#include "ompi_config.h"

#include "pml_epml_request.h"

#include "ompi/constants.h"

static mca_pml_epml_backlog_t *find(const mca_pml_epml_ep_t *ep, const mca_pml_epml_peer_t *peer)
{
    mca_pml_epml_backlog_t *backlog = ep->backlogs;

    while (NULL != backlog && peer != backlog->peer) {
        backlog = backlog->next;
    }
    return backlog;
}

bool mca_pml_epml_backlog_has(const mca_pml_epml_ep_t *ep, const mca_pml_epml_peer_t *peer)
{
    return OPAL_UNLIKELY(NULL != ep->backlogs) && NULL != find(ep, peer);
}

/** Append to the peer's backlog, which is made if need be. */
static int append(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer, mca_pml_epml_pending_t *pending)
{
    mca_pml_epml_backlog_t *backlog = find(ep, peer);
    mca_pml_epml_backlog_t **link = &ep->backlogs;

    if (NULL == backlog) {
        backlog = calloc(1, sizeof(*backlog));
        if (NULL == backlog) {
            return OMPI_ERR_OUT_OF_RESOURCE;
        }
        backlog->peer = peer;
        mca_pml_epml_peer_retain(peer);
        /* At the end: mca_pml_epml_backlog_progress may be on its way through the list. */
        while (NULL != *link) {
            link = &(*link)->next;
        }
        *link = backlog;
        /* Relaxed: a hint to the threads that turn the endpoint. */
        atomic_store_explicit(&ep->busy, true, memory_order_relaxed);
    }
    pending->next = NULL;
    if (NULL == backlog->first) {
        backlog->first = pending;
    } else {
        backlog->last->next = pending;
    }
    backlog->last = pending;
    return OMPI_SUCCESS;
}

/** @return a pending thing with a copy of size bytes of message, appended; or an error */
static int append_new(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer,
                      mca_pml_epml_request_t *request, const void *message, size_t size)
{
    mca_pml_epml_pending_t *pending = malloc(sizeof(*pending) + size);
    int rc;

    if (NULL == pending) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    pending->request = request;
    pending->size = size;
    if (0 < size) {
        memcpy(pending->message, message, size);
    }
    rc = append(ep, peer, pending);
    if (OMPI_SUCCESS != rc) {
        free(pending);
    }
    return rc;
}

int mca_pml_epml_backlog_request(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer,
                                 mca_pml_epml_request_t *request)
{
    return append_new(ep, peer, request, NULL, 0);
}

int mca_pml_epml_send_control(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer, const void *message,
                              size_t size)
{
    int rc = OMPI_ERR_OUT_OF_RESOURCE;

    if (!mca_pml_epml_backlog_has(ep, peer)) {
        rc = mca_pml_epml_transmit(ep, peer, message, size, NULL, 0);
    }
    return OMPI_ERR_OUT_OF_RESOURCE == rc ? append_new(ep, peer, NULL, message, size) : rc;
}

/** Send the first thing.  @return OMPI_ERR_OUT_OF_RESOURCE if it must stay */
static int send_first(mca_pml_epml_ep_t *ep, mca_pml_epml_backlog_t *backlog)
{
    mca_pml_epml_pending_t *pending = backlog->first;

    if (NULL != pending->request) {
        return mca_pml_epml_request_continue(pending->request);
    }
    return mca_pml_epml_transmit(ep, backlog->peer, pending->message, pending->size, NULL, 0);
}

static void drop_first(mca_pml_epml_backlog_t *backlog)
{
    mca_pml_epml_pending_t *pending = backlog->first;

    backlog->first = pending->next;
    free(pending);
}

void mca_pml_epml_backlog_lost(mca_pml_epml_ep_t *ep, const mca_pml_epml_peer_t *peer)
{
    mca_pml_epml_backlog_t *backlog = find(ep, peer);

    while (NULL != backlog && NULL != backlog->first) {
        mca_pml_epml_pending_t *pending = backlog->first;

        backlog->first = pending->next;
        if (NULL == pending->request) {
            /* An answer that nobody waits for any more. */
        } else if (EPML_REQUEST_SEND == pending->request->kind) {
            mca_pml_epml_send_fail(pending->request, MPI_ERR_PROC_FAILED);
        } else {
            (void) mca_pml_epml_request_continue(pending->request); /* finds that it cannot */
        }
        free(pending);
    }
}

/** A send of which nothing has been sent, and that nobody needs any more? */
static bool is_unheard_in_vain(const mca_pml_epml_request_t *request)
{
    return NULL != request && EPML_REQUEST_SEND == request->kind
           && EPML_SEND_START == request->state && mca_pml_epml_send_is_in_vain(request);
}

void mca_pml_epml_backlog_end_in_vain(mca_pml_epml_ep_t *ep)
{
    for (mca_pml_epml_backlog_t *backlog = ep->backlogs; NULL != backlog;
         backlog = backlog->next) {
        mca_pml_epml_pending_t **link = &backlog->first;

        while (NULL != *link) {
            mca_pml_epml_pending_t *pending = *link;

            if (is_unheard_in_vain(pending->request)) {
                *link = pending->next;
                mca_pml_epml_send_fail(pending->request, MPI_ERR_PROC_FAILED);
                free(pending);
            } else {
                backlog->last = pending;
                link = &pending->next;
            }
        }
    }
}

int mca_pml_epml_backlog_progress(mca_pml_epml_ep_t *ep)
{
    mca_pml_epml_backlog_t **link = &ep->backlogs;
    int events = 0;

    while (NULL != *link) {
        mca_pml_epml_backlog_t *backlog = *link;

        while (NULL != backlog->first
               && OMPI_ERR_OUT_OF_RESOURCE != send_first(ep, backlog)) {
            drop_first(backlog);
            ++events;
        }
        if (NULL != backlog->first) {
            link = &backlog->next;
            continue;
        }
        *link = backlog->next;
        mca_pml_epml_peer_release(backlog->peer);
        free(backlog);
    }
    atomic_store_explicit(&ep->busy, mca_pml_epml_ep_has_links(ep) || NULL != ep->backlogs,
                          memory_order_relaxed);
    return events;
}

void mca_pml_epml_backlog_clear(mca_pml_epml_ep_t *ep)
{
    while (NULL != ep->backlogs) {
        mca_pml_epml_backlog_t *backlog = ep->backlogs;

        ep->backlogs = backlog->next;
        while (NULL != backlog->first) {
            drop_first(backlog);
        }
        mca_pml_epml_peer_release(backlog->peer);
        free(backlog);
    }
}
