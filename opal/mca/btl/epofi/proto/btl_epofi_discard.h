/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Messages that are not to be used, and what a loss means.
 */

#ifndef MCA_BTL_EPOFI_DISCARD_H
#define MCA_BTL_EPOFI_DISCARD_H

#include "opal_config.h"

#include "../object/object.h"

BEGIN_C_DECLS

/** Count a message that is thrown away, and tell the first time. */
void mca_btl_epofi_drop(mca_btl_epofi_module_t *module, const char *why);

/** The pair of a header whose sender is not known yet: entered, if its proof is right.  Slow path.
 * @return NULL: a stranger's, or no memory; counted, and said once */
mca_btl_epofi_pair_t *mca_btl_epofi_pair_meet(mca_btl_epofi_module_t *module,
                                              const mca_btl_epofi_wire_t *wire);

/** A message of a pair that is not the next one.  Slow path; the message is not to be used. */
void mca_btl_epofi_pair_discard(mca_btl_epofi_module_t *module, mca_btl_epofi_pair_t *pair,
                                const mca_btl_epofi_wire_t *wire);

/** Messages of a pair are lost, of either direction: tell the owner, the user and the peer. */
void mca_btl_epofi_pair_lose(mca_btl_epofi_module_t *module, mca_btl_epofi_pair_t *pair,
                             const char *detail);

END_C_DECLS

#endif /* MCA_BTL_EPOFI_DISCARD_H */
