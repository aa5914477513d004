/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Rails: members of each process that each have a part of what is long, and exchange messages with
 * their like.  A slice of a vector, or the blocks of some members.
 */

#ifndef MCA_COLL_EPCOLL_RAILS_H
#define MCA_COLL_EPCOLL_RAILS_H

#include "ompi_config.h"

#include "../local/local.h"
#include "coll_epcoll_party.h"

BEGIN_C_DECLS

/** A call, as a member has it. */
typedef struct mca_coll_epcoll_rails_t {
    mca_coll_epcoll_handle_t *handle;
    const mca_coll_epcoll_call_t *call;
    uint32_t rails;
    mca_coll_epcoll_party_t party; /**< our rail's */
    uint32_t leader;               /**< of our process */
    bool is_rail;                  /**< we are one */
} mca_coll_epcoll_rails_t;

/** @param bytes  that are to be divided: how many rails that is worth */
void mca_coll_epcoll_rails_begin(mca_coll_epcoll_rails_t *rails, mca_coll_epcoll_handle_t *handle,
                                 const mca_coll_epcoll_call_t *call, uint64_t bytes);

/** A vector in slices: its family copies from each rail what that has. */
mca_coll_epcoll_plan_t mca_coll_epcoll_slices(const mca_coll_epcoll_rails_t *rails, size_t unit,
                                              size_t units);

/** Our rail's slice of a vector. */
mca_coll_epcoll_vector_t mca_coll_epcoll_own_slice(const mca_coll_epcoll_rails_t *rails,
                                                   const mca_coll_epcoll_plan_t *plan,
                                                   void *address, ompi_datatype_t *type);

/** Of an allgather: each rail copies the blocks of the members that it stands for. */
mca_coll_epcoll_plan_t mca_coll_epcoll_collect(const mca_coll_epcoll_rails_t *rails);

/** Likewise, in the end: all copy what they have not from the rails. */
mca_coll_epcoll_plan_t mca_coll_epcoll_disperse(const mca_coll_epcoll_rails_t *rails);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_RAILS_H */
