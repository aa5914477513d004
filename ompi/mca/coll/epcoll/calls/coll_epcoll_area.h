/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The buffers of a call as libmpi's arguments have them, whatever its kind: for what may have to be
 * copied (coll_epcoll_staging.c).
 */

#ifndef MCA_COLL_EPCOLL_AREA_H
#define MCA_COLL_EPCOLL_AREA_H

#include "ompi_config.h"

#include "../direct/direct.h"
#include "coll_epcoll_forms.h"

BEGIN_C_DECLS

/** A buffer of a call: blocks, as this member has them. */
typedef struct mca_coll_epcoll_area_t {
    void **argument;                      /**< libmpi's, by which the call finds the buffer */
    mca_coll_epcoll_blocks_t blocks;      /**< from *argument on */
    uint32_t count;                       /**< of blocks; 0: the call does not use it here */
    const mca_coll_epcoll_peers_t *peers; /**< of neighbours, the destinations or sources of the
                                               blocks; blocks of MPI_PROC_NULL are not used.  NULL:
                                               all are */
    bool is_sent;                         /**< they are for neighbours */
    bool is_read, is_written;             /**< by the call */
} mca_coll_epcoll_area_t;

/** What a call sends, and what it receives; of MPI_Bcast the first one is both. */
typedef struct mca_coll_epcoll_areas_t {
    mca_coll_epcoll_area_t area[2];
} mca_coll_epcoll_areas_t;

/** @param[in] argument  libmpi's; MPI_IN_PLACE: it is no buffer
 * @param[in] count      of blocks; 0: not used */
static inline mca_coll_epcoll_area_t mca_coll_epcoll_area(const void *argument, mca_coll_epcoll_blocks_t blocks,
                                         uint32_t count, bool is_read, bool is_written)
{
    void **buffer_p = (void **) (uintptr_t) argument;

    return (mca_coll_epcoll_area_t){.argument = buffer_p,
                                    .blocks = blocks,
                                    .count = EPCOLL_IN_PLACE(*buffer_p) ? 0 : count,
                                    .is_read = is_read,
                                    .is_written = is_written};
}

/** Elements that are sent, if the condition holds. */
static inline mca_coll_epcoll_area_t mca_coll_epcoll_area_sent(const void *argument, size_t count, ompi_datatype_t *type,
                                         bool is_used)
{
    mca_coll_epcoll_blocks_t blocks = mca_coll_epcoll_blocks_equal(*(void *const *) argument, 0,
                                                                   type);

    blocks.count = count;
    return mca_coll_epcoll_area(argument, blocks, is_used ? 1 : 0, true, false);
}

/** Likewise, received.  @param[in] send  MPI_IN_PLACE: sent from there, too */
static inline mca_coll_epcoll_area_t mca_coll_epcoll_area_received(const void *argument, size_t count,
                                             ompi_datatype_t *type, const void *send, bool is_used)
{
    mca_coll_epcoll_area_t area = mca_coll_epcoll_area_sent(argument, count, type, is_used);

    area.is_read = EPCOLL_IN_PLACE(send);
    area.is_written = true;
    return area;
}

/** A neighbour's each. */
static inline mca_coll_epcoll_area_t mca_coll_epcoll_area_neighbor(
    const void *argument, mca_coll_epcoll_blocks_t blocks, const mca_coll_epcoll_peers_t *peers,
    bool is_sent)
{
    mca_coll_epcoll_area_t area = mca_coll_epcoll_area(argument, blocks,
                                             is_sent ? peers->targets : peers->sources, is_sent,
                                             !is_sent);

    area.peers = peers;
    area.is_sent = is_sent;
    return area;
}

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_AREA_H */
