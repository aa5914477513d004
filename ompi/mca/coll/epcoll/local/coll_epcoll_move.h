/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Which buffers of a call are whose: of those kinds that move blocks from member to member, within
 * a process and between processes.
 */

#ifndef MCA_COLL_EPCOLL_MOVE_H
#define MCA_COLL_EPCOLL_MOVE_H

#include "ompi_config.h"

#include "../base/base.h"
#include "../data/data.h"

BEGIN_C_DECLS

/** Where a member receives what another sends to it.  @param from  its rank */
mca_coll_epcoll_buffer_t mca_coll_epcoll_received(const mca_coll_epcoll_call_t *call,
                                                  uint32_t from);

/** Where what a member sends to another one is.  @param own, to  ranks */
mca_coll_epcoll_buffer_t mca_coll_epcoll_sent(const mca_coll_epcoll_call_t *call, uint32_t own,
                                              uint32_t to);

/** The rank in the call of a member, by its index in the segment. */
static inline uint32_t mca_coll_epcoll_rank_of(const mca_coll_epcoll_call_t *call, uint32_t index)
{
    return NULL == call->ranks ? index : call->ranks[index];
}

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_MOVE_H */
