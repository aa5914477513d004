/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Addresses.
 */

#ifndef MCA_BTL_EPOFI_ADDRESS_H
#define MCA_BTL_EPOFI_ADDRESS_H

#include "opal_config.h"

#include "../object/object.h"

BEGIN_C_DECLS

/** Fill in the module's ep_address from its enabled libfabric endpoint. */
int mca_btl_epofi_address_publish(mca_btl_epofi_module_t *module);

/** Check an address that a peer has sent, as far as that can be done without using it.
 * @param[out] address  a copy, with zeros behind it
 * @return OPAL_SUCCESS; OPAL_ERR_BAD_PARAM; OPAL_ERR_UNREACH, said why */
int mca_btl_epofi_address_check(const mca_btl_epofi_module_t *module, const void *blob,
                                size_t length, mca_btl_epofi_address_t *address);

/** The peer and its address as text, for messages to the user.
 * @param[in]  endpoint  NULL: the one that is being connected to, at address
 * @return text */
const char *mca_btl_epofi_describe(mca_btl_epofi_module_t *module,
                                   struct mca_btl_base_endpoint_t *endpoint, const void *address,
                                   char *text, size_t size);

/** Bytes of such a text. */
#define EPOFI_DESCRIBE 512

/** Bytes of the text for the own address. */
#define EPOFI_OWN_TEXT 256

/** Interface and address of a module, for people: "eth0, fi_sockaddr_in://10.1.0.3:4711".
 * @return text */
const char *mca_btl_epofi_describe_own(const mca_btl_epofi_module_t *module,
                                       char text[EPOFI_OWN_TEXT]);

END_C_DECLS

#endif /* MCA_BTL_EPOFI_ADDRESS_H */
