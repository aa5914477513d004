/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Operations and synchronization by active messages, from the origin: for targets whose memory is
 * not mapped, and for control words of other domains.
 *
 * Operations are records that are collected in one message per target, which is sent when it is
 * full, when an answer is needed, or when the handle synchronizes.  Messages of a pair are in
 * order, and the target executes their records in order.  So a flush is one round trip, and no
 * operation is acknowledged.
 *
 * All functions: any thread, also one that has the handle's lock.  They take that lock, and give it
 * back, all of it, while they wait.  Origin buffers are copied before they return (local completion),
 * except long ones; results arrive during waits.  Byte displacements: at, as from mca_osc_epwin_range;
 * in a dynamic window an address.
 */

#ifndef MCA_OSC_EPWIN_AM_H
#define MCA_OSC_EPWIN_AM_H

#include "ompi_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

/** A buffer of the origin. */
typedef struct mca_osc_epwin_buffer_t {
    void *address; /**< NULL where there is none (MPI_NO_OP) */
    size_t count;
    ompi_datatype_t *type;
    bool on_device; /**< some of it may be in device memory */
} mca_osc_epwin_buffer_t;

/** Memory of a target. */
typedef struct mca_osc_epwin_place_t {
    int target;
    ptrdiff_t at;
    size_t count;
    ompi_datatype_t *type;
    bool on_device; /**< of a target in this process: some of it may be in device memory */
} mca_osc_epwin_place_t;

/** @param[in] may_defer  the buffer may be in use until the next flush, also a local one
 * @return MPI_SUCCESS; MPI_ERR_NO_MEM; MPI_ERR_PROC_FAILED.  Errors of the target, as
 * MPI_ERR_RMA_RANGE of a dynamic window, are returned by the flush. */
int mca_osc_epwin_am_put(mca_osc_epwin_module_t *module, const mca_osc_epwin_buffer_t *origin,
                         const mca_osc_epwin_place_t *place, bool may_defer);

/** @param[out] request_p  NULL, or a request that is complete when the result is there */
int mca_osc_epwin_am_get(mca_osc_epwin_module_t *module, const mca_osc_epwin_buffer_t *result,
                         const mca_osc_epwin_place_t *place, ompi_request_t **request_p);

/** MPI_Accumulate; with result (not NULL) MPI_Get_accumulate and MPI_Fetch_and_op.
 * @param[in]  basic      of the place's type
 * @param[out] request_p  as above; only with result */
int mca_osc_epwin_am_accumulate(mca_osc_epwin_module_t *module,
                                const mca_osc_epwin_buffer_t *origin,
                                const mca_osc_epwin_buffer_t *result,
                                const mca_osc_epwin_place_t *place, ompi_datatype_t *basic,
                                ompi_op_t *op, ompi_request_t **request_p);

/** MPI_Compare_and_swap, of one element of a predefined type.
 * @param[in] origin, compare  in host memory */
int mca_osc_epwin_am_swap(mca_osc_epwin_module_t *module, const void *origin, const void *compare,
                          const mca_osc_epwin_buffer_t *result, const mca_osc_epwin_place_t *place);

/**
 * Complete all operations to a target there.
 *
 * @param[in] target  or MPIX_ENDPOINTS_ANY_RANK: all targets
 * @return MPI_SUCCESS; the first error of an operation since the last flush; MPI_ERR_PROC_FAILED
 */
int mca_osc_epwin_am_flush(mca_osc_epwin_module_t *module, int target);

/** Complete them here: results have arrived. */
int mca_osc_epwin_am_flush_local(mca_osc_epwin_module_t *module, int target);

/**
 * Take the lock of a member of another domain.  Not waited for: the target executes the records of
 * this origin that follow when it is held.  So lock, operations and unlock are one round trip.
 *
 * @param[in] with_domain  the target also takes its domain's lock (of the group of exclusive
 *                         holders); for the first exclusive lock of this origin in that domain
 * @return MPI_SUCCESS; MPI_ERR_NO_MEM; MPI_ERR_PROC_FAILED
 */
int mca_osc_epwin_am_lock(mca_osc_epwin_module_t *module, int target, mca_osc_epwin_hold_t hold,
                          bool with_domain);

/** Complete all operations at the target, and release its lock, in one round trip.
 * @return as mca_osc_epwin_am_flush */
int mca_osc_epwin_am_unlock(mca_osc_epwin_module_t *module, int target, mca_osc_epwin_hold_t hold,
                            bool with_domain);

/** MPI_Win_unlock_all: complete all operations at all targets, and release the locks of other
 * domains.  MPI_Win_lock_all sends nothing: in an epoch of EPWIN_ACCESS_LOCK_ALL (unless
 * is_all_nocheck) the first record to a target of another domain is preceded by one that takes the
 * domain's lock there.
 * @return as mca_osc_epwin_am_flush */
int mca_osc_epwin_am_unlock_all(mca_osc_epwin_module_t *module);

/** MPI_Win_post for an origin of another domain: sets the bit in its post row. */
int mca_osc_epwin_am_post(mca_osc_epwin_module_t *module, int origin);

/** MPI_Win_complete for a target of another domain: after the operations to it, counts in its
 * control.  Not waited for. */
int mca_osc_epwin_am_complete(mca_osc_epwin_module_t *module, int target);

/** Free what the module has for messages.  No message arrives any more. */
void mca_osc_epwin_am_free(mca_osc_epwin_module_t *module);

/** The queue of a handle that is being made.  @return MPI_SUCCESS, MPI_ERR_NO_MEM */
int mca_osc_epwin_am_init(mca_osc_epwin_module_t *module);

/** The client's describe; object is a module. */
void mca_osc_epwin_describe(void *object, char *text, size_t size);

/** The client's am_handler; object is a module. */
bool mca_osc_epwin_am_handler(void *object, int rank, const void *data, size_t size);

END_C_DECLS

#endif /* MCA_OSC_EPWIN_AM_H */
