/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Collectives of a partners: of a member of each process, by messages.  What they work on is the
 * partners's own; which member has which part of a call, they do not know.
 */

#ifndef MCA_COLL_EPCOLL_PARTNERS_H
#define MCA_COLL_EPCOLL_PARTNERS_H

#include "ompi_config.h"

#include "coll_epcoll_exchange.h"

BEGIN_C_DECLS

/** Bytes up to which each has all of a vector sent to it, in fewer steps. */
#define EPCOLL_WHOLE_MOST ((size_t) 16 * 1024)

/** Does an allreduce exchange whole vectors, or go in a ring? */
static inline bool mca_coll_epcoll_is_whole(const mca_coll_epcoll_vector_t *vector,
                                            uint32_t processes, ompi_op_t *op)
{
    return !ompi_op_is_commute(op) || vector->count < processes
           || vector->count * vector->type->super.size <= EPCOLL_WHOLE_MOST;
}

/** The process at a place in recursive doubling: the first ones are in pairs, so that a power of
 * two is left.  The upper one of a pair takes part for both. */
static inline uint32_t mca_coll_epcoll_process_at(uint32_t place, uint32_t pairs)
{
    return place < pairs ? 2 * place + 1 : place + pairs;
}

/** The process that a call's trees lead to: the root's, but where the order of processes matters.
 * @param op  that puts vectors together, or NULL */
static inline uint32_t mca_coll_epcoll_partners_top(const mca_coll_epcoll_partners_t *partners,
                                                    ompi_op_t *op)
{
    return NULL == op || ompi_op_is_commute(op) ? partners->root_process : 0;
}

/** The first index of a process's members whose blocks are in a slice. */
static inline uint32_t mca_coll_epcoll_slice_begin(uint32_t members, uint32_t slices,
                                                   uint32_t slice)
{
    return (uint32_t) ((uint64_t) members * slice / slices);
}

/** The slice that has a member's block. */
static inline uint32_t mca_coll_epcoll_slice_of(uint32_t members, uint32_t slices, uint32_t index)
{
    return (uint32_t) ((((uint64_t) index + 1) * slices - 1) / members);
}

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_PARTNERS_H */
