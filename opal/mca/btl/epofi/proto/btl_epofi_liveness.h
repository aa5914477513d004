/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Messages of modules to each other, of which no owner knows: is the other one there?
 */

#ifndef MCA_BTL_EPOFI_LIVENESS_H
#define MCA_BTL_EPOFI_LIVENESS_H

#include "opal_config.h"

#include "../object/object.h"

BEGIN_C_DECLS

/** See mca_btl_ep_check_liveness_fn_t. */
void mca_btl_epofi_liveness_check(mca_btl_ep_module_t *module,
                                  struct mca_btl_base_endpoint_t *endpoint, bool connect);

/** Notify a peer that it has been given up, if that is possible. */
void mca_btl_epofi_liveness_disconnect(struct mca_btl_base_endpoint_t *endpoint);

/** A peer asks: answer. */
void mca_btl_epofi_liveness_answer(mca_btl_epofi_module_t *module, mca_btl_epofi_pair_t *pair);

/** A message of these tags has come.
 * @param[in] payload  length bytes, aligned to 8
 * @return false: it is none of these, or not of the right size */
bool mca_btl_epofi_liveness_arrived(mca_btl_epofi_module_t *module, mca_btl_epofi_pair_t *pair,
                                    mca_btl_base_tag_t tag, const void *payload, size_t length);

/** Ask whether what was sent some time ago has arrived.  Slow path, for now and then. */
void mca_btl_epofi_liveness_confirm(mca_btl_epofi_module_t *module);

END_C_DECLS

#endif /* MCA_BTL_EPOFI_LIVENESS_H */
