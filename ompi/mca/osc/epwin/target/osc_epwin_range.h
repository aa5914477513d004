/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Which bytes of a target an operation accesses, and whether they are in the window.
 */

#ifndef MCA_OSC_EPWIN_RANGE_H
#define MCA_OSC_EPWIN_RANGE_H

#include "ompi_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

/** Is a type predefined and without gaps?  Then count elements are count * size bytes.  (The flag is
 * of the layer below ompi: pairs like MPI_DOUBLE_INT have it not.) */
static inline bool mca_osc_epwin_is_plain(const ompi_datatype_t *type)
{
    return 0 != (type->super.flags & OPAL_DATATYPE_FLAG_PREDEFINED);
}

/**
 * The bytes that elements of a type occupy, relative to the address of the buffer.
 *
 * @param[out] low_p   of the first byte; may be negative
 * @param[out] size_p  bytes from there to the last one; 0: none
 * @return false: the numbers overflow
 */
bool mca_osc_epwin_span(const ompi_datatype_t *type, size_t count, ptrdiff_t *low_p,
                        size_t *size_p);

/**
 * Check an access of elements of any type to a window that is not dynamic.
 *
 * @param[in]  disp  in units of the target
 * @param[out] at_p  byte displacement of the buffer in the target's memory
 * @return MPI_SUCCESS, MPI_ERR_RMA_RANGE
 */
int mca_osc_epwin_range(const mca_osc_epwin_peer_t *peer, ptrdiff_t disp, size_t count,
                        const ompi_datatype_t *type, ptrdiff_t *at_p);

END_C_DECLS

#endif /* MCA_OSC_EPWIN_RANGE_H */
