/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The order in which members of several processes are combined, for a member that has the vectors
 * of all of them: that of the messages which the layer hier sends, association by association. 
 * A communicator goes over from messages to the node's memory while it is in use, and the same call
 * is to have the same bits before and behind.
 */

#ifndef MCA_COLL_EPCOLL_ORDER_H
#define MCA_COLL_EPCOLL_ORDER_H

#include "ompi_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

/** Bytes of an element, at most. */
#define EPCOLL_ORDER_ELEMENT ((size_t) 1024)

/** Vectors of members, EPCOLL_FANOUT at most.  They are dense.  The result is none of them, but
 * that
 * it may be the last one's in a scan that is not small. */
typedef struct mca_coll_epcoll_order_t {
    const mca_coll_epcoll_layout_t *layout;
    uint32_t rank;                /**< ours */
    bool is_small; /**< what fits in a slot is combined in another order by messages, too */
    size_t count; /**< elements: all, or, of a call that scatters, those of our block */
    const void
        *vector[EPCOLL_FANOUT]; /**< by rank: where they begin, of those members that we need */
} mca_coll_epcoll_order_t;

/**
 * Does it show in the result of a call in which order members have been put together?  It does not
 * where any order gives the same: sums of whole numbers, maxima, what is done with bits.
 */
bool mca_coll_epcoll_order_matters(const mca_coll_epcoll_call_t *call);

/** May it be combined here, with that layout?  If not, each such call uses another path. */
bool mca_coll_epcoll_order_serves(const mca_coll_epcoll_layout_t *layout,
                                  const mca_coll_epcoll_call_t *call);

/** Is the order of scans that are not small that of ranks, from the first on, one at a time?  It is
 * with two processes: before the second there is the first, which puts its two members together. */
static inline bool mca_coll_epcoll_order_is_chain(const mca_coll_epcoll_layout_t *layout)
{
    return layout->is_ordered && 2 == layout->processes
           && 2 >= mca_coll_epcoll_layout_count(layout, 0);
}

/** Put together what a call is about.  Nothing is allocated, and nothing can fail. */
void mca_coll_epcoll_order_run(const mca_coll_epcoll_order_t *order,
                               const mca_coll_epcoll_call_t *call, void *result);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_ORDER_H */
