/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Active operations of a handle: nonblocking and persistent ones.
 *
 * Each has its own view of a segment, with its own sequence number.  Nonblocking ones share a
 * segment, where their numbers follow the order of the calls; a persistent one has its own, because
 * members may start several in different orders.  At most EPCOLL_WINDOW are active in a segment;
 * later ones wait in the handle's list.  They may complete in any order: a member has completed a
 * number when all up to it are complete.
 *
 * To the engine all active operations of a handle are one item of work.  The thread that progresses
 * the endpoint executes it, one thread at a time: it holds the handle's lock.  A thread that begins
 * an operation while another one holds the lock enqueues it, and the holder takes it from the
 * queue.
 *
 * Where members live in several processes, an operation executes its schedule (layer hier), whose
 * LOCAL steps have consecutive sequence numbers of the segment.  Operations through the node's
 * memory are executed as if all members were in one process, in segments of their own there.
 *
 * Once the last member has started an operation, any member can complete all members' parts of it;
 * but its request ends in a step of its own handle, when its thread is in MPI, or by a helper.
 */

#ifndef MCA_COLL_EPCOLL_PENDING_H
#define MCA_COLL_EPCOLL_PENDING_H

#include "ompi_config.h"

#include "../hier/hier.h"
#include "coll_epcoll_arrays.h"
#include "coll_epcoll_segment_pool.h"
#include "coll_epcoll_op_segment.h"

#include "ompi/request/request.h"

BEGIN_C_DECLS

/** Keys of memory that is got from the engine; that of the communicator's first block is 0. */
enum {
    EPCOLL_KEY_NONBLOCKING = EPCOLL_KEY_DOUBLE_BUFFERS + 1,
    EPCOLL_KEY_PERSISTENT /* and above */
};

/** An operation. */
typedef struct mca_coll_epcoll_operation_t mca_coll_epcoll_operation_t;
struct mca_coll_epcoll_operation_t {
    mca_coll_epcoll_operation_t *next; /**< in whichever list it is */
    mca_coll_epcoll_sequence_t *sequence;
    epcoll_member_t member; /**< its view of the sequence's block */
    mca_coll_epcoll_running_t running;
    mca_coll_epcoll_call_t call;
    void *arrays; /**< what has the copies of the call's arrays; NULL: it has none */
    mca_coll_epcoll_schedule_t
        *schedule;                      /**< of members in several processes; NULL: all are here */
    bool steps;                         /**< it goes through its schedule */
    ompi_request_t *request;            /**< NULL: none yet */
    bool has_seq;                       /**< it has its number before the lock is taken */
    bool is_published;                  /**< else it waits until its slot may be written */
};

typedef struct mca_coll_epcoll_pending_t {
    mpix_endpoints_work_t work; /**< for the engine; first, see step */
    mca_coll_epcoll_handle_t *handle;
    /** 0, or 1 if a thread holds it: then also the address of the last operation left there. */
    _Atomic uintptr_t lock;

    /* under the lock */
    atomic_bool is_working; /**< the engine has the work; others read it as a hint */
    mca_coll_epcoll_operation_t *first, **last; /**< begun and not over, the oldest first */
    mca_coll_epcoll_operation_t *unused;
    uint32_t waiting; /**< of the nonblocking sequence, those that are not shown */
    mca_coll_epcoll_sequence_t nonblocking;
    mca_coll_epcoll_op_segment_t *segment; /**< its block */
    mca_coll_epcoll_sequence_t
        node_sequence; /**< likewise in the node's memory; block NULL: not yet */

    mca_coll_epcoll_deferred_t deferred;
    /* the thread of the handle; the same at all members */
    uint32_t calls; /**< of nonblocking ones that have schedules */
    uint32_t inits; /**< of persistent ones */
    mca_coll_epcoll_pools_t pools;
} mca_coll_epcoll_pending_t;

/** What handle->begin and handle->init are. */
int mca_coll_epcoll_pending_begin(mca_coll_epcoll_handle_t *handle,
                                  const mca_coll_epcoll_call_t *call, ompi_request_t **request_p);
int mca_coll_epcoll_pending_init(mca_coll_epcoll_handle_t *handle,
                                 const mca_coll_epcoll_call_t *call, ompi_request_t **request_p);

/** The handle is freed, and nothing is active any more. */
void mca_coll_epcoll_pending_free(mca_coll_epcoll_handle_t *handle);

/* ---- for coll_epcoll_persistent.c ------------------------------------------------------------ */

/** The handle's active operations; made when first needed.  @return NULL: no memory */
mca_coll_epcoll_pending_t *mca_coll_epcoll_pending_of(mca_coll_epcoll_handle_t *handle);

/** A member cannot go on, for want of memory: the others must not wait for it.  @return the
 * error */
int mca_coll_epcoll_pending_no_memory(mca_coll_epcoll_handle_t *handle);

/** Where members live in several processes: what an operation goes through.  @return false: no
 * memory */
bool mca_coll_epcoll_pending_schedule_new(mca_coll_epcoll_pending_t *pending,
                                          mca_coll_epcoll_operation_t *operation);

/** Give that back. */
void mca_coll_epcoll_pending_schedule_free(mca_coll_epcoll_operation_t *operation);

/**
 * Begin an operation whose sequence no other thread uses, before it is visible to others, so
 * without the lock: mostly all that it needs is there, or arrives in a moment.
 *
 * @return true: it is over, without error; else it is to be submitted
 */
bool mca_coll_epcoll_pending_at_once(mca_coll_epcoll_pending_t *pending,
                                     mca_coll_epcoll_operation_t *operation);

/** Begin an operation that has a request. */
void mca_coll_epcoll_pending_submit(mca_coll_epcoll_pending_t *pending,
                                    mca_coll_epcoll_operation_t *operation);

/* ---- for coll_epcoll_nonblocking.c: by the thread inside the lock
 * ------------------------------ */

/** A request that is over, to be completed when the handle is not accessed any more: with the last
 * request the handle may be freed. */
typedef struct mca_coll_epcoll_ended_t {
    ompi_request_t *request;
    int error;
} mca_coll_epcoll_ended_t;

/** Is that how an operation ends? */
static inline bool mca_coll_epcoll_is_over(int rc)
{
    return EPCOLL_NOTHING != rc && EPCOLL_SOME != rc;
}

/** Give it its number, or its schedule's numbers. */
void mca_coll_epcoll_pending_reserve(mca_coll_epcoll_pending_t *pending,
                                     mca_coll_epcoll_operation_t *operation);

/** Go on with one that has been entered.
 * @return EPCOLL_NOTHING or EPCOLL_SOME: it is to be appended; else it is over, with that error */
int mca_coll_epcoll_pending_first_step(mca_coll_epcoll_pending_t *pending,
                                       mca_coll_epcoll_operation_t *operation);

/** Into the list of those that are gone on with. */
void mca_coll_epcoll_pending_append(mca_coll_epcoll_pending_t *pending,
                                    mca_coll_epcoll_operation_t *operation);

/** It is over, and not in the list. */
void mca_coll_epcoll_pending_finish(mca_coll_epcoll_pending_t *pending,
                                    mca_coll_epcoll_operation_t *operation, int error,
                                    mca_coll_epcoll_ended_t *ended);

/** The first step of one that has been entered; then it is over, or in the list. */
void mca_coll_epcoll_pending_start(mca_coll_epcoll_pending_t *pending,
                                   mca_coll_epcoll_operation_t *operation,
                                   mca_coll_epcoll_ended_t *ended);

/** Leave the lock, after a beginning: the engine has the work, if there is any. */
void mca_coll_epcoll_pending_unlock(mca_coll_epcoll_pending_t *pending,
                                    mca_coll_epcoll_ended_t *ended);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_PENDING_H */
