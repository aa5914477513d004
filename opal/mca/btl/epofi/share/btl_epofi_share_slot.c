/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Slots: the operations of modules that share a context.
 *
 * Called with the context's lock.
 *
 * Tests: unit/test_epofi_share
 */

#include "opal_config.h"

#include "btl_epofi_share_types.h"

#include <stdlib.h>

/** Slots that are made at once. */
#define BLOCK 64

void mca_btl_epofi_slots_init(mca_btl_epofi_slots_t *slots)
{
    slots->head = NULL;
    slots->tail = &slots->head;
}

void mca_btl_epofi_slots_push(mca_btl_epofi_slots_t *slots, mca_btl_epofi_slot_t *slot)
{
    slot->next = NULL;
    *slots->tail = slot;
    slots->tail = &slot->next;
}

mca_btl_epofi_slot_t *mca_btl_epofi_slots_pop(mca_btl_epofi_slots_t *slots)
{
    mca_btl_epofi_slot_t *slot = slots->head;

    if (NULL != slot) {
        slots->head = slot->next;
        if (NULL == slots->head) {
            slots->tail = &slots->head;
        }
    }
    return slot;
}

static bool make_block(mca_btl_epofi_share_t *share)
{
    mca_btl_epofi_block_t *block = calloc(1, sizeof(*block) + BLOCK * sizeof(block->slots[0]));

    if (NULL == block) {
        return false;
    }
    block->next = share->blocks;
    share->blocks = block;
    for (int i = 0; i < BLOCK; ++i) {
        block->slots[i].next = share->free;
        share->free = &block->slots[i];
    }
    return true;
}

mca_btl_epofi_slot_t *mca_btl_epofi_slot_get(mca_btl_epofi_member_t *member, void *user)
{
    mca_btl_epofi_share_t *share = member->share;
    mca_btl_epofi_slot_t *slot;

    if (OPAL_UNLIKELY(NULL == share->free) && !make_block(share)) {
        return NULL;
    }
    slot = share->free;
    share->free = slot->next;
    slot->member = member;
    slot->user = user;
    slot->memory = NULL;
    slot->error = 0;
    slot->detail = NULL;
    return slot;
}

void mca_btl_epofi_slot_put(mca_btl_epofi_share_t *share, mca_btl_epofi_slot_t *slot)
{
    free(slot->detail);
    slot->detail = NULL;
    slot->next = share->free;
    share->free = slot;
}

void mca_btl_epofi_slot_ready(mca_btl_epofi_slot_t *slot)
{
    mca_btl_epofi_member_t *member = slot->member;

    mca_btl_epofi_slots_push(&member->ready, slot);
    /* Relaxed: a hint; what it is about is read under the lock. */
    atomic_fetch_add_explicit(&member->ready_count, 1, memory_order_relaxed);
}

void mca_btl_epofi_slots_free(mca_btl_epofi_share_t *share)
{
    while (NULL != share->blocks) {
        mca_btl_epofi_block_t *next = share->blocks->next;

        for (int i = 0; i < BLOCK; ++i) {
            free(share->blocks->slots[i].detail);
        }
        free(share->blocks);
        share->blocks = next;
    }
    share->free = NULL;
}
