/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Calls in slots: up to EPCOLL_INLINE bytes, in the cache line that has the flag.
 */

#ifndef MCA_COLL_EPCOLL_SMALL_H
#define MCA_COLL_EPCOLL_SMALL_H

#include "ompi_config.h"

#include "../base/base.h"
#include "../data/data.h"
#include "coll_epcoll_chunks.h"

#include "mpi.h"

BEGIN_C_DECLS

/** Is it small?  The same answer at all members. */
bool mca_coll_epcoll_is_small(const epcoll_member_t *member, uint32_t limit,
                              const mca_coll_epcoll_call_t *call);

/** All of a small call, by the thread of the member.  @return MPI_SUCCESS or an error code */
int mca_coll_epcoll_small_run(mca_coll_epcoll_view_t *view, const mca_coll_epcoll_call_t *call);

/** Does a call of that many bytes take the fast path, if its kind fits in slots with any number of
 * members?  All members are in this process then, and nothing has failed. */
static inline bool mca_coll_epcoll_fits_slot(const mca_coll_epcoll_handle_t *handle, size_t bytes)
{
    return handle->view.is_local && 0 < bytes && bytes <= mca_coll_epcoll_component.inline_limit;
}

/** The fast path of a bcast of few contiguous bytes.  @param data  the first of them */
int mca_coll_epcoll_small_bcast(mca_coll_epcoll_view_t *view, void *data, size_t bytes, int root);

/** The fast path of a scatter of few contiguous bytes.
 * @param send   the first byte; read at the root only
 * @param bytes  of a block */
int mca_coll_epcoll_small_scatter(mca_coll_epcoll_view_t *view, const void *send, void *recv,
                                  size_t bytes, int root);

/** The fast path of an allreduce of few bytes of a dense type. */
int mca_coll_epcoll_small_allreduce(mca_coll_epcoll_view_t *view, const void *send, void *recv,
                                    size_t count, ompi_datatype_t *type, ompi_op_t *op);

/** Pack a member's part, which is to be that long: at a root, what it sends and what it receives
 * from itself may differ.  @return MPI_SUCCESS or an error code */
static inline int mca_coll_epcoll_small_pack(void *packed, const mca_coll_epcoll_buffer_t *buffer,
                                             size_t size)
{
    return mca_coll_epcoll_bytes(buffer) == size ? mca_coll_epcoll_pack(packed, buffer)
                                                 : MPI_ERR_TRUNCATE;
}

/** Unpack a member's part, call->bytes, to a block of ours: a root's own block of a scatter may
 * have another length, and ends or is filled as a longer one.  @return MPI_SUCCESS or an error
 * code */
static inline int mca_coll_epcoll_small_unpack(const mca_coll_epcoll_call_t *call,
                                               const void *packed, size_t block)
{
    const mca_coll_epcoll_buffer_t received = {
        .address = (char *) call->recv
                   + (ptrdiff_t) (block * call->recv_count)
                         * mca_coll_epcoll_extent(call->recv_type),
        .count = call->recv_count,
        .type = call->recv_type};

    if (OPAL_UNLIKELY(call->bytes != mca_coll_epcoll_bytes(&received))) {
        const mca_coll_epcoll_buffer_t vector = {.address = (void *) (uintptr_t) packed,
                                                 .count = call->bytes,
                                                 .type = MPI_BYTE};

        return mca_coll_epcoll_copy_part(&received, &vector, 0, call->bytes);
    }
    return mca_coll_epcoll_unpack(&received, packed);
}

/** May members be ahead of each other in it, where there are rings?  (coll_epcoll_small_ring.c) */
bool mca_coll_epcoll_small_has_ring(mca_coll_epcoll_kind_t kind);

/** All of a small call of such a kind, in rings.  @return MPI_SUCCESS or an error code */
int mca_coll_epcoll_small_ring_run(mca_coll_epcoll_view_t *view,
                                   const mca_coll_epcoll_call_t *call);

/** As mca_coll_epcoll_chunks_publish and mca_coll_epcoll_chunks_step, of a small call or a
 * barrier. */
void mca_coll_epcoll_small_publish(mca_coll_epcoll_running_t *running, epcoll_member_t *member,
                                   const mca_coll_epcoll_call_t *call);
int mca_coll_epcoll_small_step(mca_coll_epcoll_running_t *running);

/** Of one that has been shown: would a step bring something? */
bool mca_coll_epcoll_small_may_progress(mca_coll_epcoll_running_t *running);

/* Small or not: coll_epcoll_local.c. */

/** Does a call among the members of a block go in slots?  Else in partitions.  The same answer at
 * all members. */
bool mca_coll_epcoll_local_fits(const epcoll_member_t *member, const mca_coll_epcoll_call_t *call);

/** As what it counts: the same for each start of a persistent one. */
mca_coll_epcoll_path_t mca_coll_epcoll_local_path(const mca_coll_epcoll_handle_t *handle,
                                                  const mca_coll_epcoll_call_t *call);

/** All of any call but a barrier. */
int mca_coll_epcoll_local_run(mca_coll_epcoll_handle_t *handle, const mca_coll_epcoll_call_t *call);

/** As mca_coll_epcoll_chunks_publish, mca_coll_epcoll_chunks_step and mca_coll_epcoll_chunks_close,
 * of any call. */
void mca_coll_epcoll_local_publish(mca_coll_epcoll_running_t *running, epcoll_member_t *member,
                                   const mca_coll_epcoll_call_t *call);
int mca_coll_epcoll_local_step(mca_coll_epcoll_running_t *running, uint32_t most);
void mca_coll_epcoll_local_close(mca_coll_epcoll_running_t *running, int why);

/**
 * All of an operation, by the thread of the member, in slots or in chunks.
 *
 * @param[in] in_chunks  the same at all members; slots: mca_coll_epcoll_local_fits
 *
 * @return MPI_SUCCESS or an error code
 */
int mca_coll_epcoll_local_execute(mca_coll_epcoll_handle_t *handle,
                                  const mca_coll_epcoll_call_t *call, bool in_chunks);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_SMALL_H */
