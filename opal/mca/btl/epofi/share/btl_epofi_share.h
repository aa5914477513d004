/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Which context a module gets: one of its own, or a place in one that it shares.  Under the
 * component's lock, but for mca_btl_epofi_context_name and mca_btl_epofi_context_drop.
 */

#ifndef MCA_BTL_EPOFI_SHARE_H
#define MCA_BTL_EPOFI_SHARE_H

#include "opal_config.h"

#include "../fabric/fabric.h"
#include "../base/base.h"

BEGIN_C_DECLS

/**
 * A context for a module.
 *
 * Of the first ones each has its own; when there are as many as there may be, less those that are
 * for sharing, all others are in these, each in the one with the fewest.
 *
 * @param[in] own  the module's address, which has nothing in it yet
 *
 * @return OPAL_SUCCESS; OPAL_ERR_OUT_OF_RESOURCE, OPAL_ERR_NOT_AVAILABLE, said why
 */
int mca_btl_epofi_context_get(const mca_btl_epofi_fabric_t *fabric,
                              const mca_btl_epofi_address_t *own, mca_btl_epofi_context_t *context);

/** The module gives up its context.  One of its own is closed; a shared one with its last
 * member. */
void mca_btl_epofi_context_put(mca_btl_epofi_context_t *context);

/** Put what others need to know of a shared context into an address: number and secret.  Both are
 * left alone if the context is the module's own. */
void mca_btl_epofi_context_name(const mca_btl_epofi_context_t *context,
                                mca_btl_epofi_address_t *address);

/**
 * The module ends, and its context may go on: from now on nothing is received for it, and no
 * completion is reported.  Not for a context of its own.
 *
 * @return has the provider nothing of the module's any more?
 */
bool mca_btl_epofi_context_drop(mca_btl_epofi_context_t *context);

/** It has: this is called when it has not any more, which is when the context is closed.  Without
 * memory for that, never. */
void mca_btl_epofi_context_keep(mca_btl_epofi_context_t *context, void (*bury)(void *object),
                                void *object);

/** How many contexts there are, for reports.  @param[out] modules  in those that are shared */
void mca_btl_epofi_context_count(unsigned int *own, unsigned int *shared, unsigned int *modules);

END_C_DECLS

#endif /* MCA_BTL_EPOFI_SHARE_H */
