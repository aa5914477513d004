/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The blocks of a call of which each is one message, out of libmpi's arguments.
 */

#ifndef MCA_COLL_EPCOLL_BLOCKS_H
#define MCA_COLL_EPCOLL_BLOCKS_H

#include "ompi_config.h"

#include "../base/base.h"
#include "../data/data.h"

BEGIN_C_DECLS

/** The blocks that a member sends, or receives, by peer. */
typedef struct mca_coll_epcoll_blocks_t {
    void *address;
    bool is_one;                   /**< the same block for all */
    size_t count;                  /**< of each block, where there are no counts */
    ompi_datatype_t *type;         /**< likewise, where there are no types */
    ompi_datatype_t *const *types; /**< of w forms, whose displacements are bytes */
    mca_coll_epcoll_counts_t counts;
    mca_coll_epcoll_disps_t disps;
    mca_coll_epcoll_aints_t aints; /**< in place of disps */
} mca_coll_epcoll_blocks_t;

/** Block i. */
static inline mca_coll_epcoll_buffer_t mca_coll_epcoll_blocks_get(
    const mca_coll_epcoll_blocks_t *blocks, uint32_t i)
{
    ompi_datatype_t *type = NULL == blocks->types ? blocks->type : blocks->types[i];
    const ptrdiff_t unit = NULL == blocks->types ? mca_coll_epcoll_extent(type) : 1;
    ptrdiff_t place = blocks->is_one ? 0 : (ptrdiff_t) (i * blocks->count);

    if (EPCOLL_HAS_DISPS(blocks->disps)) {
        place = EPCOLL_DISP(blocks->disps, i);
    } else if (EPCOLL_HAS_AINTS(blocks->aints)) {
        place = EPCOLL_AINT(blocks->aints, i);
    }
    return (mca_coll_epcoll_buffer_t){
        .address = mca_coll_epcoll_away(blocks->address, place * unit),
        .count = EPCOLL_HAS_COUNTS(blocks->counts) ? EPCOLL_COUNT(blocks->counts, i)
                                                   : blocks->count,
        .type = type};
}

/* ---- of libmpi's arguments ------------------------------------------------------------------- */

static inline mca_coll_epcoll_blocks_t mca_coll_epcoll_blocks_equal(const void *address,
                                                                    mca_coll_epcoll_count_t count,
                                                                    ompi_datatype_t *type)
{
    return (mca_coll_epcoll_blocks_t){.address = (void *) (uintptr_t) address,
                                      .count = (size_t) count,
                                      .type = type};
}

static inline mca_coll_epcoll_blocks_t mca_coll_epcoll_blocks_one(const void *address,
                                                                  mca_coll_epcoll_count_t count,
                                                                  ompi_datatype_t *type)
{
    mca_coll_epcoll_blocks_t blocks = mca_coll_epcoll_blocks_equal(address, count, type);

    blocks.is_one = true;
    return blocks;
}

static inline mca_coll_epcoll_blocks_t mca_coll_epcoll_blocks_v(const void *address,
                                                                mca_coll_epcoll_counts_t counts,
                                                                mca_coll_epcoll_disps_t disps,
                                                                ompi_datatype_t *type)
{
    return (mca_coll_epcoll_blocks_t){
        .address = (void *) (uintptr_t) address, .type = type, .counts = counts, .disps = disps};
}

static inline mca_coll_epcoll_blocks_t mca_coll_epcoll_blocks_w(const void *address,
                                                                mca_coll_epcoll_counts_t counts,
                                                                mca_coll_epcoll_disps_t disps,
                                                                ompi_datatype_t *const *types)
{
    return (mca_coll_epcoll_blocks_t){
        .address = (void *) (uintptr_t) address, .types = types, .counts = counts, .disps = disps};
}

static inline mca_coll_epcoll_blocks_t mca_coll_epcoll_blocks_far(const void *address,
                                                                  mca_coll_epcoll_counts_t counts,
                                                                  mca_coll_epcoll_aints_t aints,
                                                                  ompi_datatype_t *const *types)
{
    return (mca_coll_epcoll_blocks_t){
        .address = (void *) (uintptr_t) address, .types = types, .counts = counts, .aints = aints};
}

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_BLOCKS_H */
