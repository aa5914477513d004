/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Collectives of partners, one member of each process, by messages, appended to a schedule.  Called
 * by builders of members that are among the partners.  Sends may still be active at the end of a
 * phase: call mca_coll_epcoll_schedule_wait before the same memory is used again.
 */

#ifndef MCA_COLL_EPCOLL_PHASE_H
#define MCA_COLL_EPCOLL_PHASE_H

#include "ompi_config.h"

#include "coll_epcoll_partners.h"
#include "coll_epcoll_schedule.h"

BEGIN_C_DECLS

void mca_coll_epcoll_phase_barrier(mca_coll_epcoll_schedule_t *schedule,
                                   const mca_coll_epcoll_partners_t *partners);

/** From the root's process to all. */
void mca_coll_epcoll_phase_bcast(mca_coll_epcoll_schedule_t *schedule,
                                 const mca_coll_epcoll_partners_t *partners,
                                 const mca_coll_epcoll_vector_t *vector);

/**
 * The blocks of all members, by rank; of each process those of our slice.
 *
 * @param count   elements of a block
 * @param slices  how many there are
 */
void mca_coll_epcoll_phase_allgather(mca_coll_epcoll_schedule_t *schedule,
                                     const mca_coll_epcoll_partners_t *partners, void *address,
                                     size_t count, ompi_datatype_t *type, uint32_t slices);

/** The vector is the own part, and becomes the result at all.  The same bits everywhere.
 * @param which  room for as much as that */
void mca_coll_epcoll_phase_allreduce(mca_coll_epcoll_schedule_t *schedule,
                                     const mca_coll_epcoll_partners_t *partners,
                                     const mca_coll_epcoll_vector_t *vector, uint32_t which);

/** Likewise at the root's process; elsewhere it is overwritten. */
void mca_coll_epcoll_phase_reduce(mca_coll_epcoll_schedule_t *schedule,
                                  const mca_coll_epcoll_partners_t *partners,
                                  const mca_coll_epcoll_vector_t *vector, uint32_t which);

/** Copy a result to where it belongs.
 * @param result  of the same elements; the vector's address: nothing to do */
void mca_coll_epcoll_phase_settle(mca_coll_epcoll_schedule_t *schedule, void *result,
                                  const mca_coll_epcoll_vector_t *vector);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_PHASE_H */
