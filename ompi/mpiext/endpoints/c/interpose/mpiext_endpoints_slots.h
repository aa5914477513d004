/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The call slots of libmpi's libraries through which the hooks' functions are called.  By one
 * thread at a time.
 */

#ifndef MPIEXT_ENDPOINTS_SLOTS_H
#define MPIEXT_ENDPOINTS_SLOTS_H

#include "ompi_config.h"

#include <stdbool.h>

#include "mpiext_endpoints_libraries.h"
#include "mpiext_endpoints_originals.h"

#include "opal/mca/common/ep/common_ep_slots.h"

BEGIN_C_DECLS

/** Look for them. */
void mpix_endpoints_slots_find(const mpix_endpoints_libraries_t *libraries);

/** Has a hook a slot, in the library at this address, or (0) in any? */
bool mpix_endpoints_slots_have(mpix_endpoints_hook_t hook, ElfW(Addr) base);

/**
 * Rewrite the slots that do not lead here.
 *
 * @param[in] linked   the linker leads calls here: then empty slots will be filled in rightly, and
 *                     those that lead out of Open MPI belong to a library that calls us in turn;
 *                     what remains was filled in before this library was there
 * @param[in] entered  by hook: nothing to be done for it
 *
 * @return false: they cannot be written to
 */
bool mpix_endpoints_slots_patch(const mpix_endpoints_libraries_t *libraries, bool linked,
                                const bool entered[]);

/** A first call under way while its slot was rewritten may have made the linker undo that: do it
 * again.  @return as mpix_endpoints_slots_patch */
bool mpix_endpoints_slots_keep(void);

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_SLOTS_H */
