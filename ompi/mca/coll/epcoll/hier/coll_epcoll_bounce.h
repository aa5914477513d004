/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Bounce buffers: memory of the node, in sections that are used in turn, into which a member copies
 * what others read.  For data that do not fit in a slot, where all members are on one node.  Two
 * copies by the cores, through their caches, take less time than one by the kernel, which looks up
 * each page, and no message is sent.
 *
 * A section belongs to a slot of a segment of all members, which publishes it.  So it is reused
 * when all its readers have completed that slot's operation (coll_epcoll_reuse.h): all members, or,
 * in a chain (coll_epcoll_bounce_chain.c), the next one.  A call has one sequence number for each
 * round; a chain has one before these, where members compare their signatures.  A member that only
 * sends may be EPCOLL_WINDOW rounds ahead.
 */

#ifndef MCA_COLL_EPCOLL_BOUNCE_H
#define MCA_COLL_EPCOLL_BOUNCE_H

#include "ompi_config.h"

#include "../local/local.h"

BEGIN_C_DECLS

/** Could a call go by bounce buffers, if there are any?  The same answer at all members. */
bool mca_coll_epcoll_bounce_fits(const mca_coll_epcoll_handle_t *handle,
                                 const mca_coll_epcoll_call_t *call);

/** Make the bounce buffers, in a call of all members: first the memory, which may fail; then, after
 * a barrier, check whether all have it.  Once in the life of a handle. */
void mca_coll_epcoll_bounce_begin(mca_coll_epcoll_hier_t *hier);
void mca_coll_epcoll_bounce_made(mca_coll_epcoll_hier_t *hier);

/** No bounce buffers any more. */
void mca_coll_epcoll_bounce_put(mca_coll_epcoll_hier_t *hier);

/** All of a call that fits; there are bounce buffers.  Waits until others have put what we take, or
 * have room for what we put.  @return MPI_SUCCESS or an error code */
int mca_coll_epcoll_bounce_run(mca_coll_epcoll_hier_t *hier, const mca_coll_epcoll_call_t *call);

/* ---- between the files ----------------------------------------------------------------------- */

/** Does a scan or exscan that fits go from each member to the next?  The same answer at all
 * members. */
bool mca_coll_epcoll_bounce_is_chain(const mca_coll_epcoll_handle_t *handle,
                                     const mca_coll_epcoll_call_t *call);

/** All of such a call.  @return MPI_SUCCESS or an error code */
int mca_coll_epcoll_bounce_chain(mca_coll_epcoll_hier_t *hier, const mca_coll_epcoll_call_t *call);

/** Members of a scan, at most: of one that goes no such way each puts together all that are before
 * it, by itself. */
#define BOUNCE_SCAN_MEMBERS 8

/** Members whose bounce buffers have full size.  Those of more members have as much in all as those
 * of so many. */
#define BOUNCE_FULL 16

/** Bytes of a section, of that many members. */
static inline size_t mca_coll_epcoll_bounce_section(uint32_t members)
{
    const size_t size = mca_coll_epcoll_component.bounce_size;
    const size_t each = BOUNCE_FULL >= members ? size : size / members * BOUNCE_FULL;

    return each / EPCOLL_WINDOW & ~(size_t) 63;
}

/** A member's section for a number. */
char *mca_coll_epcoll_bounce_at(const epcoll_member_t *member, uint32_t index, uint64_t seq);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_BOUNCE_H */
