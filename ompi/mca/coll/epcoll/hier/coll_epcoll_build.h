/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Schedules of the kinds that there are no other ways for between processes, and what their
 * builders have in common.
 */

#ifndef MCA_COLL_EPCOLL_BUILD_H
#define MCA_COLL_EPCOLL_BUILD_H

#include "ompi_config.h"

#include "coll_epcoll_schedule.h"

BEGIN_C_DECLS

/** Builders; with v and w. */
extern const mca_coll_epcoll_builder_t mca_coll_epcoll_build_allgatherv,
    mca_coll_epcoll_build_alltoall, mca_coll_epcoll_build_gather,
    mca_coll_epcoll_build_reduce_scatter, mca_coll_epcoll_build_scan, mca_coll_epcoll_build_scatter;

/** Moves blocks of different lengths among the members of a process
 * (coll_epcoll_build_gatherv.c). */
extern const mca_coll_epcoll_chunk_ops_t mca_coll_epcoll_copy_blocks_ops;

static inline mca_coll_epcoll_vector_t mca_coll_epcoll_vector_of(
    const mca_coll_epcoll_buffer_t *buffer)
{
    return (mca_coll_epcoll_vector_t){.address = buffer->address,
                                      .count = buffer->count,
                                      .type = buffer->type};
}

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_BUILD_H */
