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
    _Atomic int attached;                        /**< threads that have been attached by a call */
    int index;            /**< its number in the process */
    int level;            /**< MPI_THREAD_... */
    mpix_endpoint_attribute_t *attributes; /**< under the lock of attributes.c */
} mpix_endpoint_t;

/** A place for no endpoint: all three communicators are MPI_COMM_NULL. */
extern mpix_endpoint_t mpix_endpoints_none;

/**
 * Endpoint number 0, to which a thread is attached that has never said otherwise; or
 * mpix_endpoints_none in a process without endpoints.  Where nobody has used MPIX_Init_endpoint it
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

/** The thread that an endpoint belongs to ends MPI, before the process does: what MPI_Finalize begins
 * with, for this endpoint alone.  Nobody uses it any more. */
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

/** Did the process begin by chapter 12 of the draft for MPI 3 (epmpirun -asp: MPI_Init_thread makes
 * the endpoints, of which MPI_COMM_WORLD consists)? */
bool mpix_endpoints_process_is_asp(void);

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
