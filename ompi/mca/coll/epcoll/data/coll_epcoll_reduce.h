/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Reductions of what members of one process have in their buffers: any range of elements, over all
 * members, by one thread, into all the buffers that want the result.
 *
 * One order always, whichever thread computes and however the vector is divided: x0 op (x1 op (...
 * op x(n-1))), ranks as they are in the reduction, so ops that do not commute are right, and each
 * element is computed once, so all members have the same bits.  A scan's order is (x0 op x1) op ...
 *
 * What a call reads and writes is worked on in blocks that fit in a core's first cache.  In a block
 * all is read before anything is written over what others have there, so a receiver may be one of
 * the inputs (in place), or lie at a lower address than the input that it overlaps (a
 * reduce-scatter in place, where its result goes to the beginning of the buffer).  Else receivers
 * and inputs are apart.
 *
 * The op may be anybody's, and is called with parts of the vector, in the thread that calls.
 *
 * Tests: unit/test_epcoll_reduce, coll_late
 */

#ifndef COLL_EPCOLL_REDUCE_H
#define COLL_EPCOLL_REDUCE_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/op/op.h"

/** Where a result goes that is not wanted.  (Not NULL: that is MPI_BOTTOM, the address of a vector
 * whose type has absolute displacements.) */
#define EPCOLL_UNWANTED ((void *) UINTPTR_MAX)

/** What is reduced.  Nothing is retained: it all lasts as long as the caller's operation. */
typedef struct mca_coll_epcoll_reduction_t {
    ompi_op_t *op;
    ompi_datatype_t *type;   /**< committed */
    uint32_t count;          /**< members; 1 or more */
    const void *const *send; /**< their vectors, by rank, as MPI has addresses: of element 0 */
} mca_coll_epcoll_reduction_t;

/**
 * Reduce elements first ... first + elements - 1.
 *
 * @param recv  addresses of element 0 of the vectors that get the result; the same elements of them
 *              are written
 *
 * @return OMPI_SUCCESS; MPI_ERR_NO_MEM: nothing more has been written.  Memory is only needed for
 *         elements of more than 8 KiB, if all receivers are inputs as well
 */
int mca_coll_epcoll_reduce_part(const mca_coll_epcoll_reduction_t *reduction, size_t first,
                                size_t elements, void *const *recv, uint32_t receivers);

/**
 * The same range of the prefixes of all members.
 *
 * @param recv       by member: where x0 op ... op x(i) goes, i its own rank, or, exclusive, i - 1;
 *                   or EPCOLL_UNWANTED.  Of member 0 it is not touched if exclusive.  A receiver may
 *                   be its own member's input
 *
 * @return as mca_coll_epcoll_reduce_part; memory is needed for elements of more than 4 KiB, if
 *         exclusive or if a result is not wanted
 */
int mca_coll_epcoll_scan_part(const mca_coll_epcoll_reduction_t *reduction, size_t first,
                              size_t elements, void *const *recv, bool exclusive);

#endif /* COLL_EPCOLL_REDUCE_H */
