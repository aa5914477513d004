/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The static endpoints of this process: process.c.
 */

#ifndef MPIEXT_ENDPOINTS_PROCESS_H
#define MPIEXT_ENDPOINTS_PROCESS_H

#include "ompi_config.h"

#include <stdatomic.h>

#include "../base/base.h"

#include "ompi/runtime/mpiruntime.h"

BEGIN_C_DECLS

/** Of attributes.c. */
typedef struct mpix_endpoint_attribute_t mpix_endpoint_attribute_t;

/** What a user has an MPIX_Endpoint of.  A cache line of its own: threads of different endpoints
 * come and go without touching another's. */
typedef struct mpix_endpoint_t {
    _Alignas(64) ompi_communicator_t *endpoints; /**< MPIX_COMM_ENDPOINTS, as this one's handle */
    ompi_communicator_t *process;                /**< MPIX_COMM_PROCESS */
    ompi_communicator_t *self;                   /**< MPIX_COMM_SELF */
    _Atomic int attached; /**< MPIX_ENDPOINTS_ONE_THREAD for each thread that has been attached by a
                             call, or been given the endpoint, and their level */
    int index;            /**< its number in the process */
    int level;    /**< MPI_THREAD_SINGLE to _MULTIPLE: the most that an attachment can have */
    bool is_over; /**< its main thread has called MPI_Finalize; under the lock of attached.c */
    mpix_endpoint_attribute_t *attributes; /**< under the lock of attributes.c */
    _Atomic(ompi_communicator_t *) parent; /**< of parent.c */
    _Atomic(const void *) main; /**< its main thread, or NULL; where threads belong to endpoints */
} mpix_endpoint_t;
_Static_assert(64 == sizeof(mpix_endpoint_t), "one cache line");

enum { MPIX_ENDPOINTS_ONE_THREAD = 4, MPIX_ENDPOINTS_LEVEL_MASK = 3 };
_Static_assert(MPIX_ENDPOINTS_LEVEL_MASK >= (int) MPI_THREAD_MULTIPLE, "a level has room");

/** The level that the endpoint's threads have attached with; -1: none has, by a call. */
static inline int mpix_endpoints_endpoint_level(const mpix_endpoint_t *endpoint)
{
    /* Relaxed: it says what has been, and orders nothing. */
    const int now = atomic_load_explicit(&endpoint->attached, memory_order_relaxed);

    return MPIX_ENDPOINTS_ONE_THREAD > now ? -1 : now & MPIX_ENDPOINTS_LEVEL_MASK;
}

/** To which endpoint a thread belongs.  In this order: from MPIX_ENDPOINTS_ASSIGNED on the rules of
 * chapter 12's draft for MPI 3 hold. */
typedef enum mpix_endpoints_rule_t {
    MPIX_ENDPOINTS_FREE,     /**< to the first, until it says otherwise (proposals of 2010, 2011) */
    MPIX_ENDPOINTS_PENDING,  /**< not known yet: MPI is beginning, and will have one of the next */
    MPIX_ENDPOINTS_ASSIGNED, /**< to one that it is given at its first call, for life */
    MPIX_ENDPOINTS_ATTACH,   /**< to none, until it attaches to one, once */
    MPIX_ENDPOINTS_REATTACH  /**< to none, until it attaches to one, any time */
} mpix_endpoints_rule_t;

/** Any thread, any time. */
mpix_endpoints_rule_t mpix_endpoints_process_rule(void);

/** It holds from now on.  By the thread that begins MPI, behind what has made the endpoints, but for
 * MPIX_ENDPOINTS_PENDING, and MPIX_ENDPOINTS_FREE after an error.
 *
 * @param[in] level   that MPI_Query_thread tells; the rule may be one of a process without static
 *                    endpoints
 * @param[in] is_asp  have the endpoints been made because the launcher has said so? */
void mpix_endpoints_process_set_rule(mpix_endpoints_rule_t rule, int level, bool is_asp);

/** Has this process begun by MPI_Init or MPI_Init_thread with the endpoints that its launcher was
 * told of (epmpirun -asp)?  Any thread, any time. */
bool mpix_endpoints_process_is_asp(void);

/** A place for no endpoint: all three communicators are MPI_COMM_NULL. */
extern mpix_endpoint_t mpix_endpoints_none;

/**
 * Endpoint number 0, to which a thread is attached that has never said otherwise; or
 * mpix_endpoints_none in a process without endpoints, and where threads belong to none before they
 * attach; or NULL where a thread is given one at its first call.  Where nobody asks for endpoints it
 * stands for the process, with duplicates of MPI_COMM_WORLD and MPI_COMM_SELF, or these themselves.
 */
extern mpix_endpoint_t *_Atomic mpix_endpoints_first;

static inline mpix_endpoint_t *mpix_endpoints_process_first(void)
{
    /* Acquire: orders the pointer before the endpoint's contents; partner:
     * mpix_endpoints_process_begin. */
    return atomic_load_explicit(&mpix_endpoints_first, memory_order_acquire);
}

/**
 * These are the process's endpoints from now on: make what each needs besides.  By the thread that
 * begins MPI; local.
 *
 * @param[in]  handles  count, which may be 0, of one communicator; this layer's from now on, on
 *                      success
 * @param[in]  level    MPI_THREAD_...
 *
 * @return OMPI_SUCCESS, or an OMPI error code: nothing has changed
 */
int mpix_endpoints_process_begin(ompi_communicator_t *const handles[], int count, int level);

/** It has been agreed that there are none after all: nobody has used them. */
void mpix_endpoints_process_undo(void);

/** The thread that an endpoint belongs to ends MPI, before the process does: what MPI_Finalize
 * begins with, for this endpoint alone.  Nobody uses it any more. */
void mpix_endpoints_process_end_endpoint(mpix_endpoint_t *endpoint);

/** MPI has ended, and with it all handles. */
void mpix_endpoints_process_end(void);

/** How many there are, and one of them: 0 <= index < count. */
int mpix_endpoints_process_count(void);
mpix_endpoint_t *mpix_endpoints_process_endpoint(int index);

/** The process has begun by MPI_Init or MPI_Init_thread, which has provided this level.  By the
 * thread that begins MPI. */
void mpix_endpoints_process_plain(int level);

/** MPIX_COMM_ENDPOINTS and MPIX_COMM_PROCESS are duplicates from now on.  By the thread that begins
 * MPI, in all processes of the job or in none.  @return OMPI_SUCCESS, or an OMPI error code */
int mpix_endpoints_process_duplicate(void);

/** MPI_THREAD_..., that the process has begun with; -1: not by a function of ours, or not yet.  What
 * libmpi keeps is changed by MPI_T_init_thread. */
int mpix_endpoints_process_level(void);

/** Has MPI begun, and not ended? */
static inline bool mpix_endpoints_process_is_running(void)
{
    const int32_t state = ompi_mpi_state;

    return OMPI_MPI_STATE_INIT_COMPLETED <= state
           && OMPI_MPI_STATE_FINALIZE_PAST_COMM_SELF_DESTRUCT > state;
}

/** Has this process been begun with endpoints? */
bool mpix_endpoints_process_is_static(void);

/** Is this an endpoint of the process?  Any pointer. */
bool mpix_endpoints_process_has(const mpix_endpoint_t *endpoint);

/** The endpoint of this process that a member of a group is, or NULL. */
mpix_endpoint_t *mpix_endpoints_process_member(ompi_group_t *group, int rank);

/** Is this one of the communicators that are there from the beginning, which nobody may free? */
static inline bool mpix_endpoints_process_owns(const ompi_communicator_t *comm)
{
    return 0 != (comm->c_flags & MPIX_ENDPOINTS_COMM_STATIC);
}

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_PROCESS_H */
