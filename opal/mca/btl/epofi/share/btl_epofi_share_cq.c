/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What a module that shares a context has for a completion queue.
 *
 * A member that finds its own queue empty polls the real one for all members, and puts each
 * completion into its owner's queue.  So a member that computes holds up no other, and what it has
 * sent goes on.  Only one member polls at a time; the others do not wait for the lock, and find
 * their completions in their queues the next time.  A completion is delivered only within its
 * owner's call.
 *
 * Called in place of the provider by fi_cq_read and its relatives, by the modules' owners.
 *
 * Tests: unit/test_epofi_share
 */

#include "opal_config.h"

#include "btl_epofi_share_types.h"

#include "opal/util/string_copy.h"

#include <string.h>

/** Completions read at once. */
#define BATCH 64

static mca_btl_epofi_member_t *member_of(struct fid_cq *cq)
{
    return EPOFI_CONTAINER(cq, mca_btl_epofi_member_t, cq);
}

/* ---- the real queue, for all ----------------------------------------------------------------- */

/** The provider is through with a slot. */
static void slot_ended(mca_btl_epofi_slot_t *slot)
{
    mca_btl_epofi_member_t *member = slot->member;

    --member->under_way;
    if (OPAL_UNLIKELY(member->left)) {
        mca_btl_epofi_slot_put(member->share, slot);
    } else {
        mca_btl_epofi_slot_ready(slot);
    }
}

static inline void share_cq_ended(mca_btl_epofi_member_t *looking,
                                  const struct fi_cq_msg_entry *entry)
{
    mca_btl_epofi_given_t *given = EPOFI_CONTAINER(entry->op_context, mca_btl_epofi_given_t,
                                                   context);
    mca_btl_epofi_slot_t *slot;

    if (given->is_buffer) {
        mca_btl_epofi_buffer_ended(looking, EPOFI_CONTAINER(given, mca_btl_epofi_buffer_t, given),
                                   entry->len, 0);
        return;
    }
    slot = EPOFI_CONTAINER(given, mca_btl_epofi_slot_t, given);
    slot->flags = entry->flags;
    slot->length = entry->len;
    slot_ended(slot);
}

/** A receive has failed, and its sender is unknown: the polling member is notified. */
static void buffer_failed(mca_btl_epofi_member_t *looking, mca_btl_epofi_buffer_t *buffer,
                          const struct fi_cq_err_entry *entry)
{
    mca_btl_epofi_slot_t *slot = FI_ECANCELED == entry->err
                                     ? NULL
                                     : mca_btl_epofi_slots_pop(&looking->posted);

    if (NULL != slot) {
        slot->flags = FI_MSG | FI_RECV;
        slot->length = 0;
        slot->error = 0 == entry->err ? FI_EOTHER : entry->err;
        slot->provider_error = entry->prov_errno;
        mca_btl_epofi_slot_ready(slot);
    }
    mca_btl_epofi_buffer_ended(looking, buffer, 0, entry->err);
}

/** An operation has ended with an error.  @return 0, or libfabric's error: the queue is broken */
static ssize_t share_cq_failed(mca_btl_epofi_member_t *looking)
{
    mca_btl_epofi_share_t *share = looking->share;
    struct fi_cq_err_entry entry;
    mca_btl_epofi_given_t *given;
    mca_btl_epofi_slot_t *slot;
    const char *detail;
    ssize_t result;

    memset(&entry, 0, sizeof(entry));
    result = fi_cq_readerr(share->fi.cq, &entry, 0);
    if (1 != result) {
        return -FI_EAGAIN == result ? 0 : result;
    }
    if (NULL == entry.op_context) {
        return 0;
    }
    given = EPOFI_CONTAINER(entry.op_context, mca_btl_epofi_given_t, context);
    if (given->is_buffer) {
        buffer_failed(looking, EPOFI_CONTAINER(given, mca_btl_epofi_buffer_t, given), &entry);
        return 0;
    }
    slot = EPOFI_CONTAINER(given, mca_btl_epofi_slot_t, given);
    detail = fi_cq_strerror(share->fi.cq, entry.prov_errno, entry.err_data, NULL, 0);
    slot->flags = entry.flags;
    slot->length = 0;
    slot->error = 0 == entry.err ? FI_EOTHER : entry.err;
    slot->provider_error = entry.prov_errno;
    slot->detail = NULL == detail ? NULL : strdup(detail);
    slot_ended(slot);
    return 0;
}

/** Look at the real queue, once.  @return 0, or libfabric's error: it is broken */
static ssize_t share_cq_poll(mca_btl_epofi_member_t *looking)
{
    mca_btl_epofi_share_t *share = looking->share;
    struct fi_cq_msg_entry entries[BATCH];
    ssize_t count;

    if (OPAL_UNLIKELY(NULL != share->unposted)) {
        mca_btl_epofi_buffers_repost(share);
    }
    count = fi_cq_read(share->fi.cq, entries, BATCH);
    for (ssize_t i = 0; i < count; ++i) {
        share_cq_ended(looking, &entries[i]);
    }
    if (OPAL_LIKELY(0 <= count || -FI_EAGAIN == count)) {
        return 0;
    }
    return -FI_EAVAIL == count ? share_cq_failed(looking) : count;
}

/* ---- a member's ------------------------------------------------------------------------------ */

/** The next of what is over has been read of. */
static void next_read(mca_btl_epofi_member_t *member)
{
    mca_btl_epofi_slot_t *slot = mca_btl_epofi_slots_pop(&member->ready);

    atomic_fetch_sub_explicit(&member->ready_count, 1, memory_order_relaxed); /* a hint */
    member->receives -= NULL == slot->memory ? 0 : 1;
    mca_btl_epofi_slot_put(member->share, slot);
}

/** @return how many; -FI_EAGAIN: none; -FI_EAVAIL: one with an error comes first */
static ssize_t share_cq_take(mca_btl_epofi_member_t *member, struct fi_cq_msg_entry *entries,
                             size_t room)
{
    const mca_btl_epofi_slot_t *slot;
    size_t count = 0;

    while (count < room && NULL != (slot = member->ready.head) && 0 == slot->error) {
        entries[count++] = (struct fi_cq_msg_entry){.op_context = slot->user,
                                                    .flags = slot->flags,
                                                    .len = slot->length};
        next_read(member);
    }
    if (0 < count) {
        return (ssize_t) count;
    }
    return NULL == member->ready.head ? -FI_EAGAIN : -FI_EAVAIL;
}

static ssize_t member_cq_read(struct fid_cq *cq, void *entries, size_t room)
{
    mca_btl_epofi_member_t *member = member_of(cq);
    mca_btl_epofi_share_t *share = member->share;
    ssize_t result = 0;

    if (0 == atomic_load_explicit(&member->ready_count, memory_order_relaxed) || 0 == room) {
        if (0 != opal_mutex_trylock(&share->lock)) {
            return -FI_EAGAIN; /* its holder polls, or calls the provider */
        }
        result = share_cq_poll(member);
    } else {
        opal_mutex_lock(&share->lock);
    }
    if (OPAL_LIKELY(0 == result) && 0 < room) {
        result = share_cq_take(member, entries, room);
    }
    opal_mutex_unlock(&share->lock);
    return result;
}

static ssize_t member_cq_readerr(struct fid_cq *cq, struct fi_cq_err_entry *entry, uint64_t flags)
{
    mca_btl_epofi_member_t *member = member_of(cq);
    const mca_btl_epofi_slot_t *slot;
    ssize_t result = -FI_EAGAIN;

    (void) flags;
    opal_mutex_lock(&member->share->lock);
    slot = member->ready.head;
    if (NULL != slot && 0 != slot->error) {
        memset(entry, 0, sizeof(*entry));
        entry->op_context = slot->user;
        entry->flags = slot->flags;
        entry->err = slot->error;
        entry->prov_errno = slot->provider_error;
        opal_string_copy(member->detail, NULL == slot->detail ? "-" : slot->detail,
                         sizeof(member->detail));
        next_read(member);
        result = 1;
    }
    opal_mutex_unlock(&member->share->lock);
    return result;
}

/** Of the error that was read last. */
static const char *member_cq_strerror(struct fid_cq *cq, int provider_error, const void *data,
                                      char *text, size_t size)
{
    const mca_btl_epofi_member_t *member = member_of(cq);

    (void) provider_error;
    (void) data;
    if (NULL != text && 0 < size) {
        opal_string_copy(text, member->detail, size);
    }
    return member->detail;
}

static struct fi_ops_cq cq_ops = {.size = sizeof(cq_ops),
                                  .read = member_cq_read,
                                  .readerr = member_cq_readerr,
                                  .strerror = member_cq_strerror};

void mca_btl_epofi_share_cq_init(mca_btl_epofi_member_t *member)
{
    member->cq.fid.fclass = FI_CLASS_CQ;
    member->cq.ops = &cq_ops;
}
