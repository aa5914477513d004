/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Answers of a target: collected in one message, which is sent when it is full, before those for
 * another origin, and at the end of a step or of the handler.
 *
 * Called by osc_epwin_am_execute.c, osc_epwin_am_hold.c and osc_epwin_am_queue.c.
 *
 * Tests: win_net, unit/test_epwin_am, unit/test_epwin_am_random, fuzz/epwin
 */

#include "ompi_config.h"

#include "osc_epwin_am_queue.h"

#include <stdlib.h>

#define ENGINE mca_osc_epwin_component.engine

bool mca_osc_epwin_am_reply_send(epwin_am_queue_t *queue)
{
    if (0 < queue->reply_used) {
        const int rc = (queue->is_in_handler
                            ? ENGINE->am_answer
                            : ENGINE->am_send)(queue->module->comm, mca_osc_epwin_component.client,
                                               queue->reply_rank, queue->reply, queue->reply_used);

        if (OPAL_UNLIKELY(MPI_ERR_NO_MEM == rc)) {
            return false;
        }
        queue->reply_used = 0; /* or the origin is lost */
    }
    return true;
}

/** Begin a message for another origin. */
static bool reply_begin(epwin_am_queue_t *queue, int rank)
{
    if (!mca_osc_epwin_am_reply_send(queue)) {
        return false;
    }
    if (OPAL_UNLIKELY(NULL == queue->reply)) {
        queue->reply = malloc(EPWIN_AM_REPLY_MAX);
        if (NULL == queue->reply) {
            return false;
        }
    }
    queue->reply_rank = rank;
    queue->reply_room = ENGINE->am_max(queue->module->comm, rank) & ~(size_t) 7;
    if (queue->reply_room > EPWIN_AM_REPLY_MAX) {
        queue->reply_room = EPWIN_AM_REPLY_MAX;
    }
    return true;
}

epwin_am_record_t *mca_osc_epwin_am_reply(epwin_am_queue_t *queue, int rank, size_t least,
                                          size_t *room_p)
{
    epwin_am_record_t *record;

    if (rank != queue->reply_rank && !reply_begin(queue, rank)) {
        return NULL;
    }
    if (queue->reply_used + least > queue->reply_room && !mca_osc_epwin_am_reply_send(queue)) {
        return NULL;
    }
    if (NULL != room_p) {
        *room_p = queue->reply_room - queue->reply_used;
    }
    record = (epwin_am_record_t *) (queue->reply + queue->reply_used);
    *record = (epwin_am_record_t){0};
    return record;
}

bool mca_osc_epwin_am_reply_ack(epwin_am_queue_t *queue, epwin_am_peer_t *peer)
{
    epwin_am_record_t *ack = NULL;

    if (0 < queue->reply_used && peer->rank == queue->reply_rank) {
        ack = (epwin_am_record_t *) (queue->reply + queue->reply_last);
    }
    if (NULL == ack || EPWIN_AM_DATA != ack->kind || 0 != (ack->flags & EPWIN_AM_FLAG_ACK)) {
        ack = mca_osc_epwin_am_reply(queue, peer->rank, sizeof(*ack), NULL);
        if (OPAL_UNLIKELY(NULL == ack)) {
            return false;
        }
        ack->kind = EPWIN_AM_ACK;
        ack->eights = sizeof(*ack) / 8;
        mca_osc_epwin_am_reply_append(queue, ack);
    }
    ack->flags = EPWIN_AM_FLAG_ACK;
    ack->error = peer->error;
    peer->error = MPI_SUCCESS;
    return true;
}

bool mca_osc_epwin_am_reply_broken(epwin_am_queue_t *queue)
{
    const mca_osc_epwin_module_t *module = queue->module;
    const epwin_am_record_t broken = {.kind = EPWIN_AM_BROKEN,
                                      .error = MPI_ERR_NO_MEM,
                                      .eights = sizeof(broken) / 8};

    for (; queue->notified < module->size; ++queue->notified) {
        if (queue->notified != module->rank
            && MPI_ERR_NO_MEM
                   == ENGINE->am_send(module->comm, mca_osc_epwin_component.client, queue->notified,
                                      &broken, sizeof(broken))) {
            return false;
        }
    }
    return true;
}
