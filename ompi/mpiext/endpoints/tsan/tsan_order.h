/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * libmpix_endpoints_tsan.a, an archive for programs under ThreadSanitizer: the order between threads
 * that MPI promises, said to ThreadSanitizer, which sees neither libmpi nor our components.
 *
 * An order is a release by the thread that comes first and an acquire by the one that comes after,
 * both of one key.  Keys are made of names of endpoints and processes, which are the same whatever
 * handle they are taken from.  Different keys may share a slot: then a race may be missed, but none
 * is made up.
 *
 * Everything here may be called by any thread.
 */

#ifndef MPIX_ENDPOINTS_TSAN_ORDER_H
#define MPIX_ENDPOINTS_TSAN_ORDER_H

#include <stdbool.h>

#include "mpi.h"

/** The members of a communicator that a blocking collective puts in an order. */
typedef enum mpix_tsan_shape_t {
    MPIX_TSAN_ALL,  /**< every member's call begins before any other's ends */
    MPIX_TSAN_FROM, /**< the root's call begins before the others' end */
    MPIX_TSAN_TO    /**< the others' calls begin before the root's ends */
} mpix_tsan_shape_t;

/** What the end of a request is ordered behind; taken before the call that may free the request. */
typedef struct mpix_tsan_end_t {
    void *inbox, *started, *collective, *posted, *window;
    bool is_completed; /**< a generalized request: see mpix_tsan_grequest_completed */
    bool is_any;       /**< its communicator is not known: behind everything */
} mpix_tsan_end_t;

/** What this thread did before is ordered before what others do after they have acquired the same
 * key.  Only the key's address is used; NULL: nothing is done. */
void mpix_tsan_release(void *key);
void mpix_tsan_acquire(void *key);

/** The thread enters a call of MPI's: accesses to memory and locks of libraries, and of the user's
 * functions that they call, are not looked at until mpix_tsan_leave.  Calls may be nested. */
void mpix_tsan_enter(void);
void mpix_tsan_leave(void);

/** Before a message is sent to a rank of comm.  Invalid ranks and communicators are passed over,
 * here and below: MPI reports them. */
void mpix_tsan_sends(MPI_Comm comm, int rank);

/** Likewise before a synchronous one that is waited for later; mpix_tsan_sent_synchronously: after
 * the end of a blocking one. */
void mpix_tsan_sends_synchronously(MPI_Comm comm, int rank);
void mpix_tsan_sent_synchronously(MPI_Comm comm);

/** Before a receive is posted; after a message has been received, or a probe has seen one. */
void mpix_tsan_posts(MPI_Comm comm);
void mpix_tsan_received(MPI_Comm comm);

/** Before a persistent request is started, or a partition is said to be ready. */
void mpix_tsan_starts(MPI_Request request);

/** Before a blocking collective.  root: of MPIX_TSAN_ALL, none.  @return its number, the same with
 * all members */
unsigned int mpix_tsan_collective_begins(MPI_Comm comm, mpix_tsan_shape_t shape, int root);

/** After it. */
void mpix_tsan_collective_ends(MPI_Comm comm, mpix_tsan_shape_t shape, int root,
                               unsigned int number);

/** Before a nonblocking one. */
void mpix_tsan_collective_starts(MPI_Comm comm, mpix_tsan_shape_t shape, int root);

/** After it has begun: it may have ended at once, which only its request shows. */
void mpix_tsan_collective_started(MPI_Comm comm, mpix_tsan_shape_t shape, int root,
                                  const MPI_Request *request);

/**
 * Before a call on a window by which others may hear of this thread: operations, and what ends or
 * exposes.
 *
 * @return a key for mpix_tsan_window_hears, which the window's end does not end; NULL: no window
 */
void *mpix_tsan_window_says(MPI_Win win);

/** After one by which this thread may have heard of others.  @param[in] key  of the window */
void mpix_tsan_window_hears(void *key);

/** After an operation with a request has begun: it may have ended at once, which only its request
 * shows. */
void mpix_tsan_window_started(void *key, const MPI_Request *request);

/** The key of a window, or NULL. */
void *mpix_tsan_window_key(MPI_Win win);

/** What a request's end is ordered behind. */
mpix_tsan_end_t mpix_tsan_end_of(MPI_Request request);

/** A request has ended, or a partition has arrived. */
void mpix_tsan_ended(const mpix_tsan_end_t *end);

/** Before MPI_Grequest_complete. */
void mpix_tsan_grequest_completes(void);

/** Of a message that a matched probe has taken: its communicator, or MPI_COMM_NULL. */
MPI_Comm mpix_tsan_message_comm(MPI_Message message);

#endif /* MPIX_ENDPOINTS_TSAN_ORDER_H */
