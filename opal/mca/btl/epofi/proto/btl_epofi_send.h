/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Sending.
 */

#ifndef MCA_BTL_EPOFI_SEND_H
#define MCA_BTL_EPOFI_SEND_H

#include "opal_config.h"

#include "../object/object.h"

BEGIN_C_DECLS

int mca_btl_epofi_ep_send(mca_btl_ep_module_t *module, struct mca_btl_base_endpoint_t *endpoint,
                          const void *header, size_t header_size, const void *payload,
                          size_t payload_size, mca_btl_base_tag_t tag);
int mca_btl_epofi_sendi(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                        struct opal_convertor_t *convertor, void *header, size_t header_size,
                        size_t payload_size, uint8_t order, uint32_t flags, mca_btl_base_tag_t tag,
                        mca_btl_base_descriptor_t **descriptor);
int mca_btl_epofi_send(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                       mca_btl_base_descriptor_t *descriptor, mca_btl_base_tag_t tag);

/** See mca_btl_ep_answer_fn_t. */
int mca_btl_epofi_ep_answer(mca_btl_ep_module_t *module, const void *address, size_t length,
                            const void *message, size_t size, mca_btl_base_tag_t tag);

/** Completion of injected sends. */
void mca_btl_epofi_inject_complete(mca_btl_epofi_module_t *module, mca_btl_epofi_op_t *op,
                                   size_t length, int status);

/** Completion of a fragment that only this module knows of. */
void mca_btl_epofi_frag_complete(mca_btl_epofi_module_t *module, mca_btl_epofi_op_t *op,
                                 size_t length, int status);

END_C_DECLS

#endif /* MCA_BTL_EPOFI_SEND_H */
