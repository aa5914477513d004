/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Spans of bytes: osc_epwin_range.h.
 *
 * Called by the layers calls and am.
 *
 * Tests: win_errors, win_random
 */

#include "ompi_config.h"

#include "osc_epwin_range.h"

bool mca_osc_epwin_span(const ompi_datatype_t *type, size_t count, ptrdiff_t *low_p,
                        size_t *size_p)
{
    ptrdiff_t low = type->super.true_lb, high = type->super.true_ub, others;

    *low_p = 0;
    *size_p = 0;
    if (0 == count || 0 == type->super.size) {
        return true;
    }
    if (PTRDIFF_MAX < count - 1
        || __builtin_mul_overflow((ptrdiff_t) (count - 1), type->super.ub - type->super.lb,
                                  &others)
        || (0 <= others ? __builtin_add_overflow(high, others, &high)
                        : __builtin_add_overflow(low, others, &low))) {
        return false;
    }
    *low_p = low;
    *size_p = (size_t) (high - low);
    return true;
}

int mca_osc_epwin_range(const mca_osc_epwin_peer_t *peer, ptrdiff_t disp, size_t count,
                        const ompi_datatype_t *type, ptrdiff_t *at_p)
{
    ptrdiff_t low, at;
    size_t size;

    if (__builtin_mul_overflow(disp, (ptrdiff_t) peer->unit, &at)
        || !mca_osc_epwin_span(type, count, &low, &size)) {
        return MPI_ERR_RMA_RANGE;
    }
    *at_p = at;
    if (0 == size) {
        return MPI_SUCCESS;
    }
    if (__builtin_add_overflow(at, low, &low) || 0 > low || (uint64_t) low > peer->size
        || size > peer->size - (uint64_t) low) {
        return MPI_ERR_RMA_RANGE;
    }
    return MPI_SUCCESS;
}
