/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Pairs: which peers may send to a module, and which message is the next.
 */

#ifndef MCA_BTL_EPOFI_PAIR_H
#define MCA_BTL_EPOFI_PAIR_H

#include "opal_config.h"

#include "btl_epofi_types.h"

#include <string.h>

BEGIN_C_DECLS

/** A module's id, secret (but for one that shares a context, whose address has it) and table of
 * pairs.  @return OPAL_SUCCESS; OPAL_ERR_OUT_OF_RESOURCE; OPAL_ERR_NOT_AVAILABLE: no random
 * numbers, which has been said */
int mca_btl_epofi_pairs_init(mca_btl_epofi_module_t *module);
void mca_btl_epofi_pairs_fini(mca_btl_epofi_module_t *module);

/** The proof in a sender's messages to the module of this address. */
uint64_t mca_btl_epofi_pair_mac(const mca_btl_epofi_address_t *address, uint64_t sender);

/** A pair with the module of this id, which the table does not have.  @return NULL: no memory */
mca_btl_epofi_pair_t *mca_btl_epofi_pair_new(mca_btl_epofi_module_t *module, uint64_t id);

/** The pair with the module of an address that has been checked, able to send.
 * @return NULL: no memory */
mca_btl_epofi_pair_t *mca_btl_epofi_pair_get(mca_btl_epofi_module_t *module,
                                             const mca_btl_epofi_address_t *address);

/** The peer's endpoint: if there is none at present, the owner is asked for it. */
struct mca_btl_base_endpoint_t *mca_btl_epofi_pair_endpoint(mca_btl_epofi_module_t *module,
                                                            const mca_btl_epofi_pair_t *pair);

/** The pair of an id, or NULL. */
static inline mca_btl_epofi_pair_t *mca_btl_epofi_pair_find(const mca_btl_epofi_module_t *module,
                                                            uint64_t id)
{
    const mca_btl_epofi_pairs_t *pairs = &module->pairs;
    uint32_t at = (uint32_t) id & pairs->mask;

    while (OPAL_UNLIKELY(id != pairs->slots[at].id) && NULL != pairs->slots[at].pair) {
        at = (at + 1) & pairs->mask;
    }
    return pairs->slots[at].pair;
}

/** Write the header of the next message of a pair.  It counts once it is sent. */
static inline void mca_btl_epofi_wire_init(mca_btl_epofi_pair_t *pair, void *buffer,
                                           mca_btl_base_tag_t tag, size_t length)
{
    mca_btl_epofi_wire_t wire;

    pair->out.length = (uint32_t) length;
    wire = pair->out;
    wire.tag = tag;
    ++wire.sequence;
    memcpy(buffer, &wire, sizeof(wire));
}

/** The message whose header was written last has been taken by the provider. */
static inline void mca_btl_epofi_pair_sent(mca_btl_epofi_pair_t *pair)
{
    ++pair->out.sequence;
    pair->sent_bytes += pair->out.length;
}

/** Have messages passed between the two, so that there has been a connection?  Nothing is sent
 * before one stands. */
static inline bool mca_btl_epofi_pair_is_used(const mca_btl_epofi_pair_t *pair)
{
    return 0 != pair->out.sequence || 1 != pair->expected;
}

END_C_DECLS

#endif /* MCA_BTL_EPOFI_PAIR_H */
