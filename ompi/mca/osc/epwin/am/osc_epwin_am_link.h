/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Links: what a handle keeps as origin for each target that it has addressed.
 *
 * The records to a target are a stream of bytes.  A *position* is a number of bytes since its
 * beginning.  A record can ask for an ACK, which says that all records up to its end have been
 * executed.  ACKs come in the order in which they are asked for, so they carry no number.
 *
 * Threads: the one that has the handle's lock, which appends and waits, and any thread in the engine's
 * handler, which passes answers on.  Each field has one of them as its writer.  The lock is not held
 * while a thread waits, so each function that waits says so, and its callers read again what other
 * threads of the handle may have changed.  A record and the result that it asks for are appended
 * without a wait in between, as results come in the order of records.
 *
 * All functions, but those of any thread: under the handle's lock.
 *
 * Layer am only.
 */

#ifndef MCA_OSC_EPWIN_AM_LINK_H
#define MCA_OSC_EPWIN_AM_LINK_H

#include "ompi_config.h"

#include "../target/target.h"
#include "osc_epwin_am.h"
#include "osc_epwin_am_inbox.h"
#include "osc_epwin_am_wire.h"

BEGIN_C_DECLS

struct epwin_am_link_t;

/** Long data under way, at most. */
#define EPWIN_AM_LONGS 8

/** ACKs under way, at most. */
#define EPWIN_AM_ASKS 8

/** A result: the bytes that one record asks for.  Those of an operation of several records all name
 * the last one, which has what belongs to the operation. */
typedef struct epwin_am_result_t {
    epwin_am_item_t item; /**< first; of those with a request: of the origin's requests */
    struct epwin_am_result_t *_Atomic next; /**< later one of the link */
    uint64_t size, had;                     /**< bytes; that have arrived (the handler) */
    struct epwin_am_result_t *last;         /**< of the operation: itself, or a later one */
    char *address;                          /**< of contiguous memory; NULL: pack of last */
    mca_osc_epwin_pack_t *pack;             /**< or NULL */
    ompi_datatype_t *type;                  /**< retained; NULL: none */
    _Atomic bool is_complete;               /**< the handler is done with it */
    uint8_t error; /**< (the handler) of last: class; what follows of the operation is dropped */
    /* of a request, otherwise MPI_REQUEST_NULL */
    ompi_request_t *request;
    _Atomic bool is_done; /**< the request has been completed (its step), or there is none */
    struct epwin_am_link_t *link;
} epwin_am_result_t;

typedef struct epwin_am_link_t {
    int rank;
    bool has_domain_lock; /**< DOMAIN_LOCK is sent, DOMAIN_UNLOCK is not */

    uint64_t position;          /**< of the stream's end */
    uint64_t operated;          /**< of the end of the last operation */
    uint64_t results;           /**< bytes of results asked for */
    uint64_t requested;         /**< the largest position that an ACK is asked for */
    _Atomic uint64_t asks;      /**< ACKs that have been asked for */
    uint64_t asked[EPWIN_AM_ASKS]; /**< positions that the last ones are for, by their numbers */
    epwin_am_result_t *last;    /**< of all results */
    epwin_am_result_t *oldest;  /**< that is not freed; a stub at first */

    ompi_request_t *longs[EPWIN_AM_LONGS]; /**< of long data, by their numbers */
    uint32_t longs_first, longs_end;       /**< numbers that are under way; they wrap */

    /* of the step that completes requests */
    epwin_am_item_t *first_request, *last_request; /**< results with a request, in order */
    struct epwin_am_link_t *next_waiting;

    /* written by the handler */
    alignas(EPWIN_LINE) _Atomic uint64_t acked; /**< position */
    _Atomic uint64_t acks;                      /**< that have arrived */
    _Atomic uint64_t results_had;               /**< bytes */
    _Atomic int error;          /**< of operations at the target since the last flush; the flush
                                * takes it */
    _Atomic int failed;         /**< MPI_SUCCESS, or for good: an error class; by both threads */
    epwin_am_result_t *current; /**< that DATA is for, or the one before it */

    size_t used, room; /**< of message, in bytes */
    size_t last_at;    /**< offset of its last record; undefined while used is 0 */
    alignas(8) unsigned char message[];
} epwin_am_link_t;

/** A table of links by rank: open addressing, at most half full. */
typedef struct epwin_am_table_t {
    struct epwin_am_table_t *older; /**< a smaller one, that a handler may still be reading */
    uint32_t size;                  /**< a power of two */
    epwin_am_link_t *_Atomic slots[];
} epwin_am_table_t;

/** A handle as origin. */
typedef struct mca_osc_epwin_origin_t {
    epwin_am_table_t *_Atomic table;
    uint32_t count;
    epwin_am_result_t *unused; /**< results for reuse */

    /* requests: a step completes them */
    mpix_endpoints_work_t work;
    mca_osc_epwin_module_t *module;
    epwin_am_inbox_t requests; /**< new results with a request */
    epwin_am_link_t *waiting;  /**< links with some that the step has taken over */
    uint32_t idle;             /**< its unsuccessful calls */
} epwin_am_origin_t;

/** Steps without success between checks for losses. */
#define EPWIN_AM_LIVENESS 64

/** The link to a target; made at first use.
 * @return MPI_SUCCESS; MPI_ERR_NO_MEM; the error by which it has failed */
int mca_osc_epwin_am_link(mca_osc_epwin_module_t *module, int target, epwin_am_link_t **link_p);

/** The link that an answer of a rank is for, or NULL; any thread. */
epwin_am_link_t *mca_osc_epwin_am_link_find(const mca_osc_epwin_module_t *module, int rank);

/** The next link of a loop over all, or NULL; any thread.  @param[in,out] index  0 at first */
epwin_am_link_t *mca_osc_epwin_am_link_next(const mca_osc_epwin_module_t *module, uint32_t *index);

/** Nothing is sent on a link any more, and calls for it return an error.  @return error */
int mca_osc_epwin_am_link_fail(epwin_am_link_t *link, int error);

/** After a loss in the window: nothing that still arrives from the target is written to the user's
 * memory when this returns.  Any thread. */
void mca_osc_epwin_am_link_close(const mca_osc_epwin_module_t *module, epwin_am_link_t *link);

/** Send the message, if it is not empty.  Without memory it waits for some progress.
 * @return MPI_SUCCESS; MPI_ERR_NO_MEM: it is kept; MPI_ERR_PROC_FAILED */
int mca_osc_epwin_am_send(mca_osc_epwin_module_t *module, epwin_am_link_t *link);

/**
 * Room for a record, after sending the message if need be, and after the domain's lock in an epoch
 * of MPI_Win_lock_all.
 *
 * @param[in]  least     bytes
 * @param[in]  most      bytes that the caller can use
 * @param[out] room_p    bytes there are: a multiple of 8, at least least
 * @param[out] record_p  zeroed head
 * @return as mca_osc_epwin_am_send
 */
int mca_osc_epwin_am_room(mca_osc_epwin_module_t *module, epwin_am_link_t *link, size_t least,
                          size_t most, size_t *room_p, epwin_am_record_t **record_p);

/** Append the record that has been written into the room: its size is set. */
static inline void mca_osc_epwin_am_append(epwin_am_link_t *link, const epwin_am_record_t *record)
{
    link->last_at = link->used;
    link->used += epwin_am_length(record);
    link->position += epwin_am_length(record);
}

/** The same, of an operation. */
static inline void mca_osc_epwin_am_append_operation(epwin_am_link_t *link,
                                                     const epwin_am_record_t *record)
{
    mca_osc_epwin_am_append(link, record);
    link->operated = link->position;
}

/** Append a record that is a head. */
int mca_osc_epwin_am_append_head(mca_osc_epwin_module_t *module, epwin_am_link_t *link,
                                 const epwin_am_record_t *head);

/** Ask for an ACK of all records so far, unless that is done: by a flag of the last one if it is not
 * sent.  Not sent here.  Waits if too many are under way. */
int mca_osc_epwin_am_append_flush(mca_osc_epwin_module_t *module, epwin_am_link_t *link);

/** Wait until records up to a position are executed, for which an ACK is asked. */
int mca_osc_epwin_am_wait_acked(mca_osc_epwin_module_t *module, epwin_am_link_t *link,
                                uint64_t position);

/** Wait until so many bytes of results, since the beginning, have arrived. */
int mca_osc_epwin_am_wait_results(mca_osc_epwin_module_t *module, epwin_am_link_t *link,
                                  uint64_t bytes);

/** After operations: bound what is under way.  Sends, asks for ACKs, and waits if need be. */
int mca_osc_epwin_am_bound(mca_osc_epwin_module_t *module, epwin_am_link_t *link);

/**
 * The result of an operation: the last one, which is not awaited so far.
 *
 * @param[out] request_p  NULL, or its request
 * @param[out] result_p   passed to mca_osc_epwin_am_await for each record
 * @return MPI_SUCCESS, MPI_ERR_NO_MEM
 */
int mca_osc_epwin_am_result(mca_osc_epwin_module_t *module, epwin_am_link_t *link,
                            const mca_osc_epwin_buffer_t *buffer, ompi_request_t **request_p,
                            epwin_am_result_t **result_p);

/**
 * Await bytes of a result, for a record that is appended next.
 *
 * @param[in] is_last  it is the last record of the operation
 * @return MPI_SUCCESS; MPI_ERR_NO_MEM, not if is_last
 */
int mca_osc_epwin_am_await(mca_osc_epwin_module_t *module, epwin_am_link_t *link,
                           epwin_am_result_t *result, size_t size, bool is_last);

/** The handler, for a message that has been checked.  @return false: nonsense */
bool mca_osc_epwin_am_answer(mca_osc_epwin_module_t *module, int rank, const void *data,
                             size_t size);

/** Free a module's origin. */
void mca_osc_epwin_am_origin_free(mca_osc_epwin_module_t *module);

END_C_DECLS

#endif /* MCA_OSC_EPWIN_AM_LINK_H */
