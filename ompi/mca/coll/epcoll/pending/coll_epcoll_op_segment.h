/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Segments of the members of a process in addition to their first one: one for nonblocking
 * operations, and one for each persistent one.  They are allocated when they are needed, and break
 * with the first.
 *
 * A member may have completed all that it needs of a segment before another one has got it, as the
 * root of a small broadcast.  What it has published there must stay, so a segment is released when
 * all members have got it.  Until then it is kept in the handle's list of deferred releases, and
 * when the handle is freed in that of the communicator's first segment, until its last handle is
 * freed.
 */

#ifndef MCA_COLL_EPCOLL_OP_SEGMENT_H
#define MCA_COLL_EPCOLL_OP_SEGMENT_H

#include "ompi_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

/** A handle's hold on such a block. */
typedef struct mca_coll_epcoll_op_segment_t mca_coll_epcoll_op_segment_t;
struct mca_coll_epcoll_op_segment_t {
    mpix_endpoints_memory_t *memory;
    mca_coll_epcoll_op_segment_t *next; /**< of those whose release is deferred */
};

/** Segments that a handle keeps. */
typedef struct mca_coll_epcoll_deferred_t {
    mca_coll_epcoll_op_segment_t *_Atomic first; /**< any thread adds some, the last one in front */
    mca_coll_epcoll_op_segment_t *oldest, *newest; /**< the handle's thread: those before them */
} mca_coll_epcoll_deferred_t;

/**
 * Get a segment, and make the member's view of it.
 *
 * @param key  not 0; the same at all members for the same segment, and used once
 *
 * @return MPI_SUCCESS; MPI_ERR_NO_MEM: the other members have to be notified
 */
int mca_coll_epcoll_op_segment_get(mca_coll_epcoll_handle_t *handle, uint32_t key,
                                   epcoll_member_t *member,
                                   mca_coll_epcoll_op_segment_t **segment_p);

/** Put it back, or keep it.  Any thread. */
void mca_coll_epcoll_op_segment_put(mca_coll_epcoll_deferred_t *deferred,
                                    const epcoll_member_t *member,
                                    mca_coll_epcoll_op_segment_t *segment);

/** Release those segments that all members have got meanwhile.  The thread of the handle.
 * @param member  of any segment of the handle's process */
void mca_coll_epcoll_deferred_put(mca_coll_epcoll_deferred_t *deferred,
                                  const epcoll_member_t *member);

/** A handle has its first block. */
void mca_coll_epcoll_deferred_begin(epcoll_member_t *member);

/** A handle is freed, before its first segment is released.  @param deferred  NULL: it has none */
void mca_coll_epcoll_deferred_end(epcoll_member_t *member, mca_coll_epcoll_deferred_t *deferred);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_OP_SEGMENT_H */
