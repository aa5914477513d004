/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * How an operation of a segment waits, and ends.
 */

#ifndef MCA_COLL_EPCOLL_WAIT_H
#define MCA_COLL_EPCOLL_WAIT_H

#include "ompi_config.h"

#include "coll_epcoll.h"

#include "mpi.h"

BEGIN_C_DECLS

/* The segment's callback is here: mca_coll_epcoll_progress, for mca_coll_epcoll_view_t. */

/** Progress the engine while a blocking call waits for something: until mca_coll_epcoll_ended.
 * @return MPI_SUCCESS or an error code */
int mca_coll_epcoll_wait_progress(mca_coll_epcoll_view_t *view);

/** An operation has failed, with EPCOLL_MISMATCH or an MPI error code: break the segment.
 * @param member  the one with its number
 * @return the MPI error code */
int mca_coll_epcoll_failed(ompi_communicator_t *comm, epcoll_member_t *member, int rc);

/** Break a handle: the segment of its process and the node's; other processes are notified, except
 * of losses, which the engine reports.  Any thread. */
void mca_coll_epcoll_break_all(mca_coll_epcoll_handle_t *handle, int why);

/** Memory of the node has been made, and can be found in the handle: breaks if ours is broken. */
void mca_coll_epcoll_break_late(const mca_coll_epcoll_handle_t *handle,
                                mca_coll_epcoll_view_t *made);

/**
 * Does an operation of a handle, not a blocking one, wait for members that may not come?  Members
 * that have seen an error, or a revocation, need not call any more, and in memory no other layer
 * notices that one is lost.
 *
 * @param[in] look  at losses as well: takes the endpoint's lock
 *
 * @return 0, or the MPI error code with which to end
 */
int mca_coll_epcoll_waiting_error(const mca_coll_epcoll_handle_t *handle, bool look);

/** The client's active-message handler: another process reports that it has failed. */
bool mca_coll_epcoll_am_handler(void *object, int rank, const void *data, size_t size);

/** The error of a call as libmpi is to have it: of a revoked communicator it is no loss. */
static inline int mca_coll_epcoll_loss_error(const ompi_communicator_t *comm, int rc)
{
#if OPAL_ENABLE_FT_MPI
    /* Relaxed: what has ended the call has been seen before. */
    return MPI_ERR_PROC_FAILED == rc && __atomic_load_n(&comm->comm_revoked, __ATOMIC_RELAXED)
               ? MPI_ERR_REVOKED
               : rc;
#else
    (void) comm;
    return rc;
#endif
}

/** The slow path of mca_coll_epcoll_ended. */
int mca_coll_epcoll_ended_slow(mca_coll_epcoll_view_t *view, int rc);

/** An operation of a view has ended: with 0, EPCOLL_MISMATCH, or an MPI error code, which breaks
 * the segment, and the handle if it is a handle's.  @return MPI_SUCCESS or an error code */
static inline int mca_coll_epcoll_ended(mca_coll_epcoll_view_t *view, int rc)
{
    return OPAL_LIKELY(0 == rc && !view->has_progressed) ? MPI_SUCCESS
                                                         : mca_coll_epcoll_ended_slow(view, rc);
}

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_WAIT_H */
