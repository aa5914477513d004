/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The active messages between the representatives of an agreement: coll_epcoll_agreement_messages.c.
 */

#ifndef COLL_EPCOLL_AGREEMENT_MESSAGES_H
#define COLL_EPCOLL_AGREEMENT_MESSAGES_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coll_epcoll_consensus.h"
#include "coll_epcoll_participants.h"

#include "ompi/communicator/communicator.h"

/** A list of messages, in order. */
typedef struct epcoll_agreement_list_t {
    struct epcoll_agreement_message_t *first, *last;
} epcoll_agreement_list_t;

/** Messages received on a handle, until a step processes them: of its own agreements, or of those
 * of the intercommunicator whose local communicator it is. */
typedef struct epcoll_agreement_queue_t epcoll_agreement_queue_t;

/** Of a handle.  All but the queues is for the representative's steps, one thread at a time. */
typedef struct epcoll_agreement_messages_t {
    ompi_communicator_t *comm;
    const epcoll_participants_t *participants;
    int client; /**< under whose number messages are sent */
    epcoll_agreement_queue_t *queue;
    epcoll_agreement_queue_t *local_queue; /**< of an intercommunicator: its local communicator's */
    epcoll_agreement_list_t waiting;       /**< to be sent when there is memory */
    bool too_long;                         /**< a message that cannot be sent */
    bool no_memory;                        /**< for a received message */
} epcoll_agreement_messages_t;

/**
 * @param[in] participants  the caller's, until epcoll_agreement_messages_free
 * @param[in] client        number of the client of the engine that receives the messages
 * @param[in] local         NULL, or of an intercommunicator: those of its local communicator, whose
 *                          queue is used, too
 * @return MPI_SUCCESS; MPI_ERR_NO_MEM, with nothing to free
 */
int epcoll_agreement_messages_make(epcoll_agreement_messages_t *messages, ompi_communicator_t *comm,
                                   const epcoll_participants_t *participants, int client,
                                   const epcoll_agreement_messages_t *local);

/** May be all zeros. */
void epcoll_agreement_messages_free(epcoll_agreement_messages_t *messages);

/** Send a message to a participant, or keep a copy until there is memory to send it. */
void epcoll_agreement_messages_send(epcoll_agreement_messages_t *messages, uint32_t to,
                                    const epcoll_consensus_message_t *message, size_t bytes);

/** Send the messages that have been kept, in order, as far as there is memory. */
void epcoll_agreement_messages_send_waiting(epcoll_agreement_messages_t *messages);

/** A message has arrived on the handle: put it in the queue.  Any thread.  On the local
 * communicator of an intercommunicator it is of the latter's agreements, so of more participants.
 * @return false: no representative has sent it */
bool epcoll_agreement_messages_arrived(const epcoll_agreement_messages_t *messages, int rank,
                                       const void *data, size_t size);

/** Give the received messages to the agreement of processes.  @return was there any? */
bool epcoll_agreement_messages_take(epcoll_agreement_messages_t *messages,
                                    epcoll_consensus_t *consensus);

#endif /* COLL_EPCOLL_AGREEMENT_MESSAGES_H */
