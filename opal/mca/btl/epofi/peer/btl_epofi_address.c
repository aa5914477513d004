/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Addresses: one's own, those that others send us, and both in words.
 *
 * Tests: unit/test_epofi, fault (insert)
 */

#include "opal_config.h"

#include "../object/object.h"
#include "../base/base.h"
#include "btl_epofi_address.h"

#include "opal/util/proc.h"
#include "opal/util/show_help.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

const char *mca_btl_epofi_describe_own(const mca_btl_epofi_module_t *module,
                                       char text[EPOFI_OWN_TEXT])
{
    const mca_btl_epofi_address_t *own = (const mca_btl_epofi_address_t *) module->super.ep_address;
    const char *name = module->fabric->info->domain_attr->name;
    size_t used, length;

    (void) snprintf(text, EPOFI_OWN_TEXT / 2, "%s, ", NULL != name ? name : "?");
    used = strlen(text);
    length = EPOFI_OWN_TEXT - used;
    (void) fi_av_straddr(module->fi.av, own->bytes, text + used, &length);
    text[EPOFI_OWN_TEXT - 1] = '\0';
    return text;
}

int mca_btl_epofi_address_publish(mca_btl_epofi_module_t *module)
{
    mca_btl_epofi_address_t *address = (mca_btl_epofi_address_t *) module->super.ep_address;
    size_t length = sizeof(address->bytes);
    int result = fi_getname(&module->fi.ep->fid, address->bytes, &length);

    if (0 != result || length > sizeof(address->bytes)) {
        EPOFI_SHOW_HELP("cannot open", true, opal_process_info.nodename,
                        module->fabric->info->fabric_attr->prov_name, "address of an endpoint",
                        module->fabric->info->domain_attr->name,
                        0 != result ? fi_strerror(-result) : "it is too long");
        return OPAL_ERR_NOT_AVAILABLE;
    }
    address->magic = EPOFI_ADDRESS_MAGIC;
    address->version = EPOFI_ADDRESS_VERSION;
    mca_btl_epofi_context_name(&module->fi, address);
    address->flags = NULL != module->fi.acceptor ? EPOFI_ADDRESS_AUTHENTICATED : 0;
    address->format = module->fabric->info->addr_format;
    address->provider = module->fabric->provider_hash;
    address->length = (uint16_t) length;
    module->super.ep_address_length = EPOFI_ADDRESS_FIXED + length;
    return mca_btl_epofi_pairs_init(module);
}

int mca_btl_epofi_address_check(const mca_btl_epofi_module_t *module, const void *blob,
                                size_t length, mca_btl_epofi_address_t *address)
{
    const mca_btl_epofi_address_t *own = (const mca_btl_epofi_address_t *) module->super.ep_address;
    static atomic_flag said = ATOMIC_FLAG_INIT;
    static atomic_flag said_hello = ATOMIC_FLAG_INIT;

    memset(address, 0, sizeof(*address));
    if (length <= EPOFI_ADDRESS_FIXED || length > sizeof(*address)) {
        return OPAL_ERR_BAD_PARAM;
    }
    memcpy(address, blob, length);
    if (EPOFI_ADDRESS_MAGIC != address->magic || EPOFI_ADDRESS_VERSION != address->version
        || EPOFI_NUMBER_MOST < address->number
        || 0 != (address->flags & ~EPOFI_ADDRESS_AUTHENTICATED)
        || (size_t) EPOFI_ADDRESS_FIXED + address->length != length) {
        return OPAL_ERR_BAD_PARAM;
    }
    if (own->provider != address->provider || own->format != address->format) {
        if (mca_btl_epofi_first_time(&said)) {
            char own[EPOFI_OWN_TEXT];

            EPOFI_SHOW_HELP("other provider", true, opal_process_info.nodename,
                            module->fabric->info->fabric_attr->prov_name,
                            mca_btl_epofi_describe_own(module, own));
        }
        return OPAL_ERR_UNREACH;
    }
    if (address->flags != own->flags) {
        if (mca_btl_epofi_first_time(&said_hello)) {
            EPOFI_SHOW_HELP("other hello", true, opal_process_info.nodename,
                            0 != own->flags ? "does" : "does not");
        }
        return OPAL_ERR_UNREACH;
    }
    switch (address->format) {
    case FI_ADDR_STR:
        /* A string that ends where it says it ends, and nowhere else. */
        if (strnlen((const char *) address->bytes, address->length) + 1u != address->length) {
            return OPAL_ERR_BAD_PARAM;
        }
        break;
    case FI_SOCKADDR_IN:
    case FI_SOCKADDR_IN6:
        if (0 != memcmp(address->bytes, own->bytes, sizeof(sa_family_t))) {
            return OPAL_ERR_BAD_PARAM;
        }
        /* fall through */
    default:
        if (own->length != address->length) {
            return OPAL_ERR_BAD_PARAM;
        }
    }
    return OPAL_SUCCESS;
}

const char *mca_btl_epofi_describe(mca_btl_epofi_module_t *module,
                                   struct mca_btl_base_endpoint_t *endpoint, const void *address,
                                   char *text, size_t size)
{
    size_t used = 0;
    size_t length;

    text[0] = '\0';
    if (NULL != module->super.ep_describe) {
        module->super.ep_describe(&module->super, endpoint, text, size - EPOFI_ADDRESS_BYTES);
        used = strlen(text);
        used += (size_t) snprintf(text + used, size - used, ", ");
    }
    length = size - used;
    (void) fi_av_straddr(module->fi.av, NULL != endpoint ? endpoint->callee.name.bytes : address,
                         text + used, &length);
    text[size - 1] = '\0';
    return text;
}
