/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Contexts that outlive their modules.
 */

#ifndef MCA_BTL_EPOFI_DEFERRED_CLOSE_H
#define MCA_BTL_EPOFI_DEFERRED_CLOSE_H

#include "opal_config.h"

#include "btl_epofi_types.h"

BEGIN_C_DECLS

/** Module is about to get the peer's address: note it if the peer is of this process. */
void mca_btl_epofi_deferred_close_connect(mca_btl_epofi_module_t *module,
                                          const unsigned char *address, size_t length);

/** Add to the list of live modules.  The caller holds the lock. */
void mca_btl_epofi_deferred_close_enter(mca_btl_epofi_module_t *module);

/** Take off the list and close the module's context, now or when it is safe.  The caller holds the
 * lock. */
void mca_btl_epofi_deferred_close_leave(mca_btl_epofi_module_t *module);

END_C_DECLS

#endif /* MCA_BTL_EPOFI_DEFERRED_CLOSE_H */
