/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What a handle keeps as target: messages whose records wait for the step, and the state of each
 * origin.
 *
 * Threads: the engine's handler, one at a time, pushes to the inbox.  All else is the step's, which
 * is executed by one thread at a time.  While the step is not active, the handler does what it does.
 *
 * Layer am only.
 */

#ifndef MCA_OSC_EPWIN_AM_QUEUE_H
#define MCA_OSC_EPWIN_AM_QUEUE_H

#include "ompi_config.h"

#include "../target/target.h"
#include "osc_epwin_am.h"
#include "osc_epwin_am_check.h"
#include "osc_epwin_am_inbox.h"
#include "osc_epwin_am_wire.h"

BEGIN_C_DECLS

/** A copy of a message, or of the rest of one. */
typedef struct epwin_am_message_t {
    epwin_am_item_t item;     /**< first */
    int rank;                 /**< of the origin */
    uint32_t at, size;        /**< bytes that have been executed; all */
    epwin_am_cursor_t cursor; /**< in the record at at */
    bool is_executed;         /**< the record at at is: its answer is not */
    alignas(8) unsigned char data[];
} epwin_am_message_t;

/** Bytes of a message that is not copied to memory of its own. */
#define EPWIN_AM_SHORT 64

/** An origin that the step knows. */
typedef struct epwin_am_peer_t {
    struct epwin_am_peer_t *next_busy; /**< of those with messages */
    epwin_am_message_t *first, *last;  /**< in their order */
    int rank;
    uint8_t error;    /**< of its operations since the last ACK, which tells it */
    uint8_t hold;     /**< of the member's lock: mca_osc_epwin_hold_t */
    bool has_domain;  /**< it has taken the domain's lock, with an exclusive one */
    bool has_all;     /**< it has taken the domain's lock, of MPI_Win_lock_all */
    bool is_second;   /**< of a LOCK under way: the domain's lock is taken */
    ompi_request_t *request; /**< of its record of long data; NULL: none is under way */
    uint32_t polls;   /**< unsuccessful ones, of its record that waits */
    epwin_lock_wait_t wait;
} epwin_am_peer_t;

typedef struct mca_osc_epwin_queue_t {
    mpix_endpoints_work_t work;
    epwin_am_inbox_t inbox;
    mca_osc_epwin_module_t *module;

    /** There was no memory for a message: none is executed any more, and the origins are
     * notified. */
    _Atomic bool is_broken;
    _Atomic bool is_telling; /**< tell is in the inbox, or the step has it */
    epwin_am_item_t tell;

    /** For the message that begins the step's work, if it is short: no other is in use then. */
    union {
        epwin_am_message_t message;
        unsigned char bytes[sizeof(epwin_am_message_t) + EPWIN_AM_SHORT];
    } first;

    /* the step */
    epwin_am_peer_t **peers; /**< by rank: open addressing, at most half full */
    uint32_t size, count;    /**< of peers: slots, a power of two, or 0; used */
    epwin_am_peer_t *busy;
    int notified; /**< ranks that have been notified; -1: no notice is to be sent */

    unsigned char *reply; /**< answers that are not sent, of EPWIN_AM_REPLY_MAX; NULL: none yet */
    size_t reply_used, reply_room;
    size_t reply_last; /**< of reply_used: before the last answer */
    int reply_rank;    /**< that reply is for; undefined while reply_used is 0 */
    bool is_in_handler; /**< and not in the step: few functions of the engine may be called */
} epwin_am_queue_t;

#define EPWIN_AM_REPLY_MAX MPIX_ENDPOINTS_AM_LIMIT

/** Bytes that a step copies, at most, before it returns; and the handler, which holds a lock. */
#define EPWIN_AM_STEP_MAX 65536
#define EPWIN_AM_HANDLER_MAX 8192

/** What has become of a record. */
typedef enum epwin_am_outcome_t {
    EPWIN_AM_EXECUTED,
    EPWIN_AM_WAITS,  /**< for a lock, for long data, or for the step */
    EPWIN_AM_MORE,   /**< the budget is used up */
    EPWIN_AM_NO_ROOM /**< an answer cannot be sent so far */
} epwin_am_outcome_t;

/* osc_epwin_am_reply.c */

/**
 * Room for an answer.
 *
 * @param[in]  least   bytes
 * @param[out] room_p  there are; NULL: not asked for
 * @return the zeroed head; NULL: try again later
 */
epwin_am_record_t *mca_osc_epwin_am_reply(epwin_am_queue_t *queue, int rank, size_t least,
                                          size_t *room_p);

/** Append the answer in the room: its size is set. */
static inline void mca_osc_epwin_am_reply_append(epwin_am_queue_t *queue,
                                                 const epwin_am_record_t *record)
{
    queue->reply_last = queue->reply_used;
    queue->reply_used += epwin_am_length(record);
}

/** Answer a record that asks for it: by a flag of the last answer, or one of its own.  @return
 * false: try again later */
bool mca_osc_epwin_am_reply_ack(epwin_am_queue_t *queue, epwin_am_peer_t *peer);

/** Send what has been appended.  @return false: try again later */
bool mca_osc_epwin_am_reply_send(epwin_am_queue_t *queue);

/** Tell all members that no record is executed here.  @return false: try again later */
bool mca_osc_epwin_am_reply_broken(epwin_am_queue_t *queue);

/* osc_epwin_am_execute.c */

/**
 * Execute a record, or a part of it.
 *
 * @param[in]     peer    the origin
 * @param[in,out] cursor  in the record's runs; all 0 at first
 * @param[in,out] budget  bytes to copy at most
 */
epwin_am_outcome_t mca_osc_epwin_am_execute(epwin_am_queue_t *queue, epwin_am_peer_t *peer,
                                            const epwin_am_record_t *record,
                                            epwin_am_cursor_t *cursor, size_t *budget);

/* osc_epwin_am_hold.c: records of locks */

epwin_am_outcome_t mca_osc_epwin_am_hold(epwin_am_queue_t *queue, epwin_am_peer_t *peer,
                                         const epwin_am_record_t *record);

END_C_DECLS

#endif /* MCA_OSC_EPWIN_AM_QUEUE_H */
