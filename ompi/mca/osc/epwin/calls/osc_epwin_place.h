/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What all operations check first.
 */

#ifndef MCA_OSC_EPWIN_PLACE_H
#define MCA_OSC_EPWIN_PLACE_H

#include "ompi_config.h"

#include "../am/am.h"
#include "../target/target.h"
#include "../base/base.h"

BEGIN_C_DECLS

/**
 * Check an operation's target, in the handle's epoch and in the window's range.
 *
 * @param[out] place  of the operation
 * @return MPI_SUCCESS; MPI_ERR_RMA_SYNC; MPI_ERR_RMA_RANGE
 */
int mca_osc_epwin_place_check(mca_osc_epwin_module_t *module, int target, ptrdiff_t disp,
                              size_t count, ompi_datatype_t *type, mca_osc_epwin_place_t *place);

/** Where a target's memory is mapped: its address here, which place->at is relative to.  NULL for a
 * dynamic window, where at is an address. */
static inline char *mca_osc_epwin_memory(const mca_osc_epwin_module_t *module, int target)
{
    return module->peers[target].base;
}

/**
 * The address of data without gaps in mapped memory, if the operation may go there: for the fast path
 * of operations, which calls nothing and so saves no registers.
 *
 * @param[in] bytes  of the data
 * @return NULL: ask mca_osc_epwin_place_check
 */
static inline char *mca_osc_epwin_fast_address(const mca_osc_epwin_module_t *module, int target,
                                               ptrdiff_t disp, size_t bytes)
{
    const mca_osc_epwin_peer_t *peer = &module->peers[target];
    ptrdiff_t at; /* negative: larger than all sizes */

    if (OPAL_UNLIKELY(!mca_osc_epwin_is_open_fast(module, target) || EPWIN_WAY_DIRECT != peer->way
                      || NULL == peer->base
                      || __builtin_mul_overflow(disp, (ptrdiff_t) peer->unit, &at)
                      || (uint64_t) at > peer->size || bytes > peer->size - (uint64_t) at)) {
        return NULL;
    }
    return peer->base + at;
}

END_C_DECLS

#endif /* MCA_OSC_EPWIN_PLACE_H */
