/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Two-phase I/O: a collective read or write of small pieces by few members, to which the others
 * send their pieces.
 */

#ifndef MPIEXT_ENDPOINTS_TWO_PHASE_H
#define MPIEXT_ENDPOINTS_TWO_PHASE_H

#include "ompi_config.h"

#include "../../base/base.h"
#include "../fbtl/fbtl.h"
#include "../members/members.h"

#if MPIX_ENDPOINTS_FILES

BEGIN_C_DECLS

/**
 * Move the pieces that all members have published.  Collective.  The memory of the local group is
 * used until its barrier.
 *
 * @param[in]     extent      begun
 * @param[in]     start, end  of all pieces of all members; the same at all
 * @return OMPI_SUCCESS or an error, of this member; that of a call of the system is in extent
 */
int mpix_endpoints_two_phase(ompio_file_t *file, const mpix_endpoints_local_view_t *view,
                             mpix_endpoints_extent_t *extent, int64_t start, int64_t end);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_TWO_PHASE_H */
