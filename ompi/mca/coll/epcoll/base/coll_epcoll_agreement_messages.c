/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The active messages between the representatives of an agreement.  One that arrives is put in a
 * queue, which the representative's step empties: so one thread at a time is at the agreement, and
 * holds no lock when it sends.
 *
 * On an intercommunicator, messages to the own side go by its local communicator, and arrive in
 * that one's queue.
 *
 * Called by coll_epcoll_agreement.c.
 *
 * Tests: ulfm_agree, ulfm_inter, ulfm_stress
 */

#include "ompi_config.h"

#include "coll_epcoll_agreement_messages.h"
#include "coll_epcoll.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#if OPAL_ENABLE_FT_MPI

#    include "opal/mca/threads/mutex.h"

typedef struct epcoll_agreement_message_t {
    struct epcoll_agreement_message_t *next;
    uint32_t participant; /**< for it */
    int rank;             /**< from it */
    size_t bytes;
    epcoll_consensus_message_t message;
} message_t;

struct epcoll_agreement_queue_t {
    _Atomic uint32_t references;
    opal_mutex_t mutex; /**< nothing is called under it */
    epcoll_agreement_list_t received;
    bool lost; /**< there was no memory for a received message */
};

#    define ENGINE mca_coll_epcoll_component.engine

/* ---- lists ----------------------------------------------------------------------------------- */

static void list_append(epcoll_agreement_list_t *list, message_t *message)
{
    message->next = NULL;
    if (NULL == list->first) {
        list->first = message;
    } else {
        list->last->next = message;
    }
    list->last = message;
}

static void list_free(epcoll_agreement_list_t *list)
{
    while (NULL != list->first) {
        message_t *next = list->first->next;

        free(list->first);
        list->first = next;
    }
}

static message_t *message_new(uint32_t participant, int rank,
                              const epcoll_consensus_message_t *message, size_t bytes)
{
    message_t *made = malloc(sizeof(*made) + bytes);

    if (NULL != made) {
        made->participant = participant;
        made->rank = rank;
        made->bytes = bytes;
        memcpy(&made->message, message, bytes);
    }
    return made;
}

/* ---- queues ---------------------------------------------------------------------------------- */

static epcoll_agreement_queue_t *queue_new(void)
{
    epcoll_agreement_queue_t *queue = calloc(1, sizeof(*queue));

    if (NULL != queue) {
        OBJ_CONSTRUCT(&queue->mutex, opal_mutex_t);
        atomic_init(&queue->references, 1);
    }
    return queue;
}

static void queue_release(epcoll_agreement_queue_t *queue)
{
    /* Acquire and release: what the other owner has done to it is over. */
    if (NULL != queue
        && 1 == atomic_fetch_sub_explicit(&queue->references, 1, memory_order_acq_rel)) {
        list_free(&queue->received);
        OBJ_DESTRUCT(&queue->mutex);
        free(queue);
    }
}

int epcoll_agreement_messages_make(epcoll_agreement_messages_t *messages, ompi_communicator_t *comm,
                                   const epcoll_participants_t *participants, int client,
                                   const epcoll_agreement_messages_t *local)
{
    messages->queue = queue_new();
    if (NULL == messages->queue) {
        return MPI_ERR_NO_MEM;
    }
    messages->comm = comm;
    messages->participants = participants;
    messages->client = client;
    if (NULL != local) {
        /* Relaxed: the local communicator's agreement has one. */
        (void) atomic_fetch_add_explicit(&local->queue->references, 1, memory_order_relaxed);
        messages->local_queue = local->queue;
    }
    return MPI_SUCCESS;
}

void epcoll_agreement_messages_free(epcoll_agreement_messages_t *messages)
{
    list_free(&messages->waiting);
    queue_release(messages->queue);
    queue_release(messages->local_queue);
}

/* ---- sent messages --------------------------------------------------------------------------- */

static int deliver(const epcoll_agreement_messages_t *messages, uint32_t to,
                   const epcoll_consensus_message_t *message, size_t bytes)
{
    const epcoll_participants_t *participants = messages->participants;

    return ENGINE->am_send(epcoll_participants_comm(participants, messages->comm, to),
                           messages->client, participants->representative[to].rank, message, bytes);
}

void epcoll_agreement_messages_send(epcoll_agreement_messages_t *messages, uint32_t to,
                                    const epcoll_consensus_message_t *message, size_t bytes)
{
    int rc = MPI_ERR_NO_MEM;

    if (NULL == messages->waiting.first) {
        rc = deliver(messages, to, message, bytes);
    }
    messages->too_long = messages->too_long || MPI_ERR_ARG == rc;
    if (MPI_ERR_NO_MEM == rc) {
        message_t *made = message_new(to, MPI_UNDEFINED, message, bytes);

        messages->too_long = messages->too_long || NULL == made;
        if (NULL != made) {
            list_append(&messages->waiting, made);
        }
    }
}

void epcoll_agreement_messages_send_waiting(epcoll_agreement_messages_t *messages)
{
    while (NULL != messages->waiting.first) {
        message_t *message = messages->waiting.first;
        const int rc = deliver(messages, message->participant, &message->message, message->bytes);

        if (MPI_ERR_NO_MEM == rc) {
            return;
        }
        messages->waiting.first = message->next;
        free(message);
    }
}

/* ---- received messages ----------------------------------------------------------------------- */

bool epcoll_agreement_messages_arrived(const epcoll_agreement_messages_t *messages, int rank,
                                       const void *data, size_t size)
{
    const epcoll_participants_t *participants = messages->participants;
    const uint32_t *participant_of = NULL != participants->remote ? participants->remote
                                                                  : participants->local;
    epcoll_agreement_queue_t *queue = messages->queue;
    message_t *message;

    if (epcoll_consensus_bytes(1) > size
        || rank != participants->representative[participant_of[rank]].rank) {
        return false;
    }
    message = message_new(0, rank, data, size);
    opal_mutex_lock(&queue->mutex);
    if (NULL == message) {
        queue->lost = true;
    } else {
        list_append(&queue->received, message);
    }
    opal_mutex_unlock(&queue->mutex);
    return true;
}

/** @param[in] participant_of  by the sender's rank
 * @return has anything been received? */
static bool take_from(epcoll_agreement_messages_t *messages, epcoll_agreement_queue_t *queue,
                      const uint32_t *participant_of, epcoll_consensus_t *consensus)
{
    epcoll_agreement_list_t received;
    bool lost;

    opal_mutex_lock(&queue->mutex);
    received = queue->received;
    lost = queue->lost;
    queue->received.first = NULL;
    opal_mutex_unlock(&queue->mutex);
    messages->no_memory = messages->no_memory || lost;
    if (NULL == received.first) {
        return false;
    }
    for (message_t *message = received.first; NULL != message; message = message->next) {
        (void) epcoll_consensus_arrived(consensus, participant_of[message->rank], &message->message,
                                        message->bytes);
    }
    list_free(&received);
    return true;
}

bool epcoll_agreement_messages_take(epcoll_agreement_messages_t *messages,
                                    epcoll_consensus_t *consensus)
{
    const epcoll_participants_t *participants = messages->participants;

    if (NULL == messages->local_queue) {
        return take_from(messages, messages->queue, participants->local, consensus);
    }
    return take_from(messages, messages->queue, participants->remote, consensus)
           | take_from(messages, messages->local_queue, participants->local, consensus);
}

#endif
