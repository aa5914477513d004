/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Hierarchical collectives, of communicators that span processes, in three phases: among the
 * members of each process (its segment), between processes by messages of one member each, the
 * leader, or of several, the owners of slices; and among members again.
 *
 * The first member of a process is its leader, or, in the root's process, the root.  Owners of
 * slices are the members from the leader on.  Where all are on one node, data that fit in a slot go
 * through a segment of all members in the node's memory, and long ones through bounce buffers
 * there.  All members choose the same algorithm, by layout, kind, root, packed bytes, and whether
 * the op commutes.
 */

#ifndef MCA_COLL_EPCOLL_HIER_H
#define MCA_COLL_EPCOLL_HIER_H

#include "ompi_config.h"

#include "../local/local.h"

BEGIN_C_DECLS

/** A call of such a kind begins: do we serve it?  The same answer at all members.  If not: the
 * fallback components.  Once in a call. */
bool mca_coll_epcoll_hier_serves(mca_coll_epcoll_handle_t *handle, mca_coll_epcoll_call_t *call);

/** All of a call.  @return MPI_SUCCESS or an error code */
int mca_coll_epcoll_hier_run(mca_coll_epcoll_handle_t *handle, const mca_coll_epcoll_call_t *call);

/* ---- within the layer ------------------------------------------------------------------------ */

/** Can leaders execute it with data in slots? */
bool mca_coll_epcoll_is_hier_small(const mca_coll_epcoll_call_t *call);
/** Likewise in double buffers? */
bool mca_coll_epcoll_is_double_buffered(const mca_coll_epcoll_handle_t *handle,
                                        const mca_coll_epcoll_call_t *call);
/** Release a handle's double buffers. */
void mca_coll_epcoll_double_buffers_put(mca_coll_epcoll_lazy_t *lazy);
int mca_coll_epcoll_hier_small_run(mca_coll_epcoll_handle_t *handle,
                                   const mca_coll_epcoll_call_t *call, bool is_double_buffered);

/** The process of a root. */
static inline uint32_t mca_coll_epcoll_root_process(const mca_coll_epcoll_handle_t *handle,
                                                    const mca_coll_epcoll_call_t *call)
{
    return mca_coll_epcoll_layout(handle)->process_of[call->root];
}

/** The leader of our process. */
static inline uint32_t mca_coll_epcoll_leader(const mca_coll_epcoll_handle_t *handle,
                                              const mca_coll_epcoll_call_t *call)
{
    return mca_coll_epcoll_root_process(handle, call) == mca_coll_epcoll_layout(handle)->own
               ? mca_coll_epcoll_layout(handle)->index_of[call->root]
               : 0;
}

static inline bool mca_coll_epcoll_has_root(mca_coll_epcoll_kind_t kind)
{
    return EPCOLL_BCAST == kind || EPCOLL_REDUCE == kind;
}

/** Moves data as a plan says (coll_epcoll_plan_copy.c). */
extern const mca_coll_epcoll_chunk_ops_t mca_coll_epcoll_plan_copy_ops;

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_HIER_H */
