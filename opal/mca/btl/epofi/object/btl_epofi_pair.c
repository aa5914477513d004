/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Pairs: which peers may send to a module, and which message is the next.
 *
 * A module has a random id and a random secret, both in its address.  Only processes of the job get
 * addresses.  A sender makes a proof of the receiver's secret and its own id, and puts it into the
 * headers of all its messages.  A process without the secret cannot make it, and a sender cannot
 * use the proof of another id.  Modules that share a context have one secret, as they have one
 * listener: the proof of a message to one of them also covers its id, so it is valid for no other
 * module, nor for a later one with the same number.  Only an observer of the network can learn a
 * proof; docs/security.md says what follows.  A message without proof takes no memory and has no
 * effect.
 *
 * The messages of a pair are numbered, each direction for itself, and a provider delivers them in
 * the order in which they were sent.  So a number that is too high says that messages are lost: the
 * provider has made a connection again, without telling, that broke between two that live.  A
 * number that has been there is a message that came twice.  The numbers outlive endpoints: the next
 * owner of the module continues where the last one ended.
 *
 * What becomes of messages that are not the next one: btl_epofi_discard.c.  Called by the module's
 * owner and from within its progress.
 *
 * Tests: unit/test_epofi_pair, cut, fault
 */

#include "opal_config.h"

#include "../base/base.h"
#include "btl_epofi_pair.h"
#include "btl_epofi_types.h"

#include "opal/util/proc.h"
#include "opal/util/show_help.h"

#include <stdlib.h>

#define SLOTS_FIRST 64

/** Pairs that were made in this process: of two with one host and port the later one is right. */
static _Atomic uint32_t made;
#define LINE 64

_Static_assert(LINE == offsetof(mca_btl_epofi_pair_t, lost), "what a message needs is one line");

/* ---- the table ------------------------------------------------------------------------------- */

static void pair_enter(mca_btl_epofi_pairs_t *pairs, mca_btl_epofi_pair_t *pair)
{
    uint32_t at = (uint32_t) pair->id & pairs->mask;

    while (NULL != pairs->slots[at].pair) {
        at = (at + 1) & pairs->mask;
    }
    pairs->slots[at].id = pair->id;
    pairs->slots[at].pair = pair;
}

/** Make sure that one more keeps the table at most half full. */
static int pair_grow(mca_btl_epofi_pairs_t *pairs)
{
    mca_btl_epofi_pairs_t old = *pairs;

    if (2 * (pairs->used + 1) <= pairs->mask + 1) {
        return OPAL_SUCCESS;
    }
    pairs->slots = calloc(2 * ((size_t) old.mask + 1), sizeof(*pairs->slots));
    if (NULL == pairs->slots) {
        pairs->slots = old.slots;
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    pairs->mask = 2 * old.mask + 1;
    for (uint32_t i = 0; i <= old.mask; ++i) {
        if (NULL != old.slots[i].pair) {
            pair_enter(pairs, old.slots[i].pair);
        }
    }
    free(old.slots);
    return OPAL_SUCCESS;
}

uint64_t mca_btl_epofi_pair_mac(const mca_btl_epofi_address_t *address, uint64_t sender)
{
    const uint64_t words[2] = {sender, address->id};

    return mca_btl_epofi_keyed_words(&address->secret, words, 0 == address->number ? 1 : 2);
}

mca_btl_epofi_pair_t *mca_btl_epofi_pair_new(mca_btl_epofi_module_t *module, uint64_t id)
{
    const mca_btl_epofi_address_t *own = (const mca_btl_epofi_address_t *) module->super.ep_address;
    mca_btl_epofi_pair_t *pair;
    void *memory;

    if (OPAL_SUCCESS != pair_grow(&module->pairs)
        || 0 != posix_memalign(&memory, LINE, sizeof(*pair))) {
        return NULL;
    }
    pair = memory;
    *pair = (mca_btl_epofi_pair_t){
        .id = id,
        .proof = mca_btl_epofi_pair_mac(own, id),
        .expected = 1,
        /* Relaxed: it counts, and orders nothing. */
        .order = atomic_fetch_add_explicit(&made, 1, memory_order_relaxed),
        .out = {.magic = EPOFI_WIRE_MAGIC, .version = EPOFI_WIRE_VERSION, .sender = own->id},
    };
    pair_enter(&module->pairs, pair);
    ++module->pairs.used;
    return pair;
}

int mca_btl_epofi_pairs_init(mca_btl_epofi_module_t *module)
{
    mca_btl_epofi_address_t *own = (mca_btl_epofi_address_t *) module->super.ep_address;

    module->pairs.mask = SLOTS_FIRST - 1;
    module->pairs.slots = calloc(SLOTS_FIRST, sizeof(*module->pairs.slots));
    if (NULL == module->pairs.slots) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    if (OPAL_SUCCESS != mca_btl_epofi_random(&own->id, sizeof(own->id))
        || (0 == own->number
            && OPAL_SUCCESS != mca_btl_epofi_random(&own->secret, sizeof(own->secret)))
        || OPAL_SUCCESS != mca_btl_epofi_random(&module->key_secret, sizeof(module->key_secret))) {
        EPOFI_SHOW_HELP("no random numbers", true, opal_process_info.nodename, strerror(errno));
        return OPAL_ERR_NOT_AVAILABLE;
    }
    return OPAL_SUCCESS;
}

void mca_btl_epofi_pairs_fini(mca_btl_epofi_module_t *module)
{
    for (uint32_t i = 0; NULL != module->pairs.slots && i <= module->pairs.mask; ++i) {
        if (NULL != module->pairs.slots[i].pair) {
            free(module->pairs.slots[i].pair->address);
            free(module->pairs.slots[i].pair);
        }
    }
    free(module->pairs.slots);
    module->pairs.slots = NULL;
}

/* ---- proofs
 * ------------------------------------------------------------------------------------ */

mca_btl_epofi_pair_t *mca_btl_epofi_pair_get(mca_btl_epofi_module_t *module,
                                             const mca_btl_epofi_address_t *address)
{
    const mca_btl_epofi_address_t *own = (const mca_btl_epofi_address_t *) module->super.ep_address;
    mca_btl_epofi_pair_t *pair = mca_btl_epofi_pair_find(module, address->id);

    if (NULL == pair) {
        pair = mca_btl_epofi_pair_new(module, address->id);
    }
    if (NULL == pair || NULL != pair->address) {
        return pair;
    }
    pair->address_length = EPOFI_ADDRESS_FIXED + address->length;
    pair->address = malloc(pair->address_length);
    if (NULL == pair->address) {
        return NULL; /* the pair stays for the next time */
    }
    memcpy(pair->address, address, pair->address_length);
    pair->out.proof = mca_btl_epofi_pair_mac(address, own->id);
    pair->out.magic = (uint16_t) (EPOFI_WIRE_MAGIC + address->number);
    return pair;
}

struct mca_btl_base_endpoint_t *mca_btl_epofi_pair_endpoint(mca_btl_epofi_module_t *module,
                                                            const mca_btl_epofi_pair_t *pair)
{
    if (NULL == pair->endpoint && NULL != module->super.ep_meet && !module->closing) {
        module->super.ep_meet(&module->super, pair->id);
    }
    return pair->endpoint;
}
