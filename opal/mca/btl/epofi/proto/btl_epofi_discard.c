/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Messages that are not to be used: of another protocol, of strangers, that have come before, or
 * after one that is lost; and what a loss means for the pair (btl_epofi_pair.c has the rules).
 *
 * Tests: unit/test_epofi_pair, fault
 */

#include "opal_config.h"

#include "../peer/peer.h"
#include "../object/object.h"
#include "../base/base.h"
#include "btl_epofi_liveness.h"
#include "btl_epofi_discard.h"

#include "opal/util/proc.h"
#include "opal/util/show_help.h"

#include <stdio.h>

void mca_btl_epofi_drop(mca_btl_epofi_module_t *module, const char *why)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;

    ++module->dropped;
    if (!module->closing && mca_btl_epofi_first_time(&said)) {
        EPOFI_SHOW_HELP("bad message", true, opal_process_info.nodename,
                        module->fabric->info->fabric_attr->prov_name, why);
    }
}

/** Count the message of a sender that does not belong to the job, and report the first one. */
static void drop_strangers(mca_btl_epofi_module_t *module)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;

    ++module->dropped;
    if (!module->closing && mca_btl_epofi_first_time(&said)) {
        EPOFI_SHOW_HELP("stranger", true, opal_process_info.nodename,
                        module->fabric->info->fabric_attr->prov_name);
    }
}

mca_btl_epofi_pair_t *mca_btl_epofi_pair_meet(mca_btl_epofi_module_t *module,
                                              const mca_btl_epofi_wire_t *wire)
{
    const mca_btl_epofi_address_t *own = (const mca_btl_epofi_address_t *) module->super.ep_address;
    mca_btl_epofi_pair_t *pair = NULL;

    /* A sender that is known has had its proof compared, in vain. */
    if (NULL != mca_btl_epofi_pair_find(module, wire->sender)
        || mca_btl_epofi_pair_mac(own, wire->sender) != wire->proof) {
        drop_strangers(module);
        return NULL;
    }
    pair = mca_btl_epofi_pair_new(module, wire->sender);
    if (NULL == pair) {
        mca_btl_epofi_drop(module, "there is no memory to remember its sender");
    }
    return pair;
}

void mca_btl_epofi_pair_lose(mca_btl_epofi_module_t *module, mca_btl_epofi_pair_t *pair,
                             const char *detail)
{
    struct mca_btl_base_endpoint_t *endpoint;

    if (pair->lost) {
        return;
    }
    endpoint = mca_btl_epofi_pair_endpoint(module, pair); /* we may only have listened so far */
    pair->lost = true;
    module->super.ep_worn = true;
    if (NULL != endpoint) {
        mca_btl_epofi_endpoint_fail(endpoint, FI_ECONNABORTED, detail);
    }
}

void mca_btl_epofi_pair_discard(mca_btl_epofi_module_t *module, mca_btl_epofi_pair_t *pair,
                                const mca_btl_epofi_wire_t *wire)
{
    char detail[128];

    if (0 == pair->expected) {
        ++module->dropped; /* what follows what is lost */
        if (EPOFI_TAG_LIVENESS == wire->tag) {
            mca_btl_epofi_liveness_answer(module, pair);
        }
        return;
    }
    if (wire->sequence < pair->expected) {
        mca_btl_epofi_drop(module, "it came before");
        return;
    }
    (void) snprintf(detail, sizeof(detail),
                    "messages of it are lost: number %llu came after number %llu",
                    (unsigned long long) wire->sequence, (unsigned long long) pair->expected - 1);
    ++module->dropped;
    pair->expected = 0;
    mca_btl_epofi_pair_lose(module, pair, detail);
}
