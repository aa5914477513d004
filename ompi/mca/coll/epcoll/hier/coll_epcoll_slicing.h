/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Slices (multi-leader): a long vector is divided, and some members of each process own a slice
 * each and exchange messages with the owners of the same slice in other processes.  A slice of a
 * vector, or the blocks of some members.
 */

#ifndef MCA_COLL_EPCOLL_SLICING_H
#define MCA_COLL_EPCOLL_SLICING_H

#include "ompi_config.h"

#include "../local/local.h"
#include "coll_epcoll_partners.h"

BEGIN_C_DECLS

/** A call, as a member has it. */
typedef struct mca_coll_epcoll_slicing_t {
    mca_coll_epcoll_handle_t *handle;
    const mca_coll_epcoll_call_t *call;
    uint32_t slices;
    mca_coll_epcoll_partners_t partners; /**< our slice's */
    uint32_t leader;                     /**< of our process */
    bool has_slice;                      /**< we are one */
} mca_coll_epcoll_slicing_t;

/** @param bytes  that are to be divided: how many slices that is worth */
void mca_coll_epcoll_slicing_begin(mca_coll_epcoll_slicing_t *slices,
                                   mca_coll_epcoll_handle_t *handle,
                                   const mca_coll_epcoll_call_t *call, uint64_t bytes);

/** A vector in slices: its family copies from each slice what that has. */
mca_coll_epcoll_plan_t mca_coll_epcoll_slicing_plan(const mca_coll_epcoll_slicing_t *slices,
                                                    size_t unit, size_t units);

/** Our slice of a vector. */
mca_coll_epcoll_vector_t mca_coll_epcoll_own_slice(const mca_coll_epcoll_slicing_t *slices,
                                                   const mca_coll_epcoll_plan_t *plan,
                                                   void *address, ompi_datatype_t *type);

/** Of an allgather: each owner of a slice copies the blocks of its members. */
mca_coll_epcoll_plan_t mca_coll_epcoll_slicing_collect(const mca_coll_epcoll_slicing_t *slices);

/** Likewise, in the end: all copy what they have not from the slices. */
mca_coll_epcoll_plan_t mca_coll_epcoll_slicing_spread(const mca_coll_epcoll_slicing_t *slices);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_SLICING_H */
