/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Receiving on a context that several modules share.
 *
 * The provider has buffers of the context's, as it does not know to which member a message is
 * addressed.  The number in the header's first two bytes names the member: the message is copied
 * into the receive that this member posted first, and completes it.  If the member has posted none,
 * because its owner is elsewhere, a copy waits for the next one: otherwise members that do not read
 * would hold the buffers, and the others would get nothing.  The number is not checked here; the
 * proof, which the module checks, shows whether the sender may send there.
 *
 * Messages of a pair stay in order: the provider fills buffers in the order of their arrival, and
 * each member's receives are filled in the order in which they were posted, with what waits first.
 *
 * Called with the context's lock.
 *
 * Tests: unit/test_epofi_share
 */

#include "opal_config.h"

#include "btl_epofi_share_types.h"

#include <stdlib.h>
#include <string.h>

/* ---- probes ---------------------------------------------------------------------------------- */

/** Take the receive that is asked to come back out of those that wait.  @return NULL: it waits no
 * more */
static mca_btl_epofi_slot_t *take_probed(mca_btl_epofi_member_t *member)
{
    mca_btl_epofi_slot_t **link = &member->posted.head;
    mca_btl_epofi_slot_t *slot;

    while (NULL != *link && member->probe != (*link)->user) {
        link = &(*link)->next;
    }
    slot = *link;
    if (NULL != slot) {
        *link = slot->next;
        if (NULL == slot->next) {
            member->posted.tail = link;
        }
    }
    member->probe = NULL;
    return slot;
}

/** A buffer has come back, and waits again: so it is with all receives that were asked. */
static void answer_probes(mca_btl_epofi_share_t *share)
{
    share->probing = false;
    for (unsigned int i = 1; i <= EPOFI_NUMBER_MOST; ++i) {
        mca_btl_epofi_member_t *member = share->members[i];
        mca_btl_epofi_slot_t *slot = NULL == member || NULL == member->probe ? NULL
                                                                             : take_probed(member);

        if (NULL != slot) {
            slot->flags = FI_MSG | FI_RECV;
            slot->length = 0;
            slot->error = FI_ECANCELED;
            mca_btl_epofi_slot_ready(slot);
        }
    }
}

void mca_btl_epofi_receive_probe(mca_btl_epofi_member_t *member, void *user)
{
    mca_btl_epofi_share_t *share = member->share;

    member->probe = user;
    if (!share->probing && NULL != share->last_post) {
        share->probing = true;
        (void) fi_cancel(&share->fi.ep->fid, &share->last_post->given.context);
    }
}

/* ---- buffers --------------------------------------------------------------------------------- */

static void share_recv_post(mca_btl_epofi_share_t *share, mca_btl_epofi_buffer_t *buffer)
{
    const ssize_t result = fi_recv(share->fi.ep, buffer->memory, share->buffer_size, buffer->desc,
                                   FI_ADDR_UNSPEC, &buffer->given.context);

    if (OPAL_UNLIKELY(0 != result)) {
        buffer->next = share->unposted;
        share->unposted = buffer;
        return;
    }
    share->last_post = buffer;
    if (OPAL_UNLIKELY(share->probing)) {
        answer_probes(share);
    }
}

void mca_btl_epofi_buffers_repost(mca_btl_epofi_share_t *share)
{
    mca_btl_epofi_buffer_t *list = share->unposted;

    share->unposted = NULL;
    while (NULL != list) {
        mca_btl_epofi_buffer_t *next = list->next;

        share_recv_post(share, list);
        list = next;
    }
}

/** Make so many buffers more, and post them.  @return 0, or libfabric's error */
static int share_recv_add(mca_btl_epofi_share_t *share, unsigned int count)
{
    mca_btl_epofi_buffers_t *buffers = calloc(1, sizeof(*buffers)
                                                     + count * sizeof(buffers->buffer[0]));
    int result = -FI_ENOMEM;
    size_t stride;
    void *memory;

    if (NULL == buffers) {
        return result;
    }
    memory = mca_btl_epofi_buffers_alloc(count, share->buffer_size, &stride);
    if (NULL == memory) {
        goto err_free_buffers;
    }
    buffers->memory = memory;
    if (share->fabric->mr_local) {
        result = mca_btl_epofi_context_register(share->fabric, &share->fi, &share->own.secret,
                                                &share->next_key, memory, count * stride, FI_RECV,
                                                &buffers->mr);
        if (0 != result) {
            goto err_free_memory;
        }
    }
    buffers->next = share->buffers;
    share->buffers = buffers;
    share->buffer_count += count;
    for (unsigned int i = 0; i < count; ++i) {
        mca_btl_epofi_buffer_t *buffer = &buffers->buffer[i];

        buffer->given.is_buffer = true;
        buffer->memory = buffers->memory + i * stride;
        buffer->desc = NULL == buffers->mr ? NULL : fi_mr_desc(buffers->mr);
        share_recv_post(share, buffer);
    }
    return 0;

err_free_memory:
    free(memory);
err_free_buffers:
    free(buffers);
    return result;
}

int mca_btl_epofi_buffers_supply(mca_btl_epofi_share_t *share, uint32_t receives, size_t size)
{
    const unsigned int more = mca_btl_epofi_component.recv_buffers;

    share->buffer_size = size; /* the same for all modules of a process */
    /* A module that wants more receives has found that all buffers are being filled. */
    if (OPAL_LIKELY(receives <= share->buffer_count)
        || (0 < share->buffer_count
            && share->buffer_count + more > share->fabric->info->rx_attr->size)) {
        return 0;
    }
    return share_recv_add(share, more);
}

void mca_btl_epofi_buffers_close(mca_btl_epofi_share_t *share)
{
    for (mca_btl_epofi_buffers_t *buffers = share->buffers; NULL != buffers;
         buffers = buffers->next) {
        if (NULL != buffers->mr) {
            (void) fi_close(&buffers->mr->fid);
            buffers->mr = NULL;
        }
    }
}

void mca_btl_epofi_buffers_free(mca_btl_epofi_share_t *share)
{
    while (NULL != share->buffers) {
        mca_btl_epofi_buffers_t *next = share->buffers->next;

        free(share->buffers->memory);
        free(share->buffers);
        share->buffers = next;
    }
}

/* ---- messages -------------------------------------------------------------------------------- */

/** A receive has its message. */
static void share_recv_fill(mca_btl_epofi_slot_t *slot, const unsigned char *bytes, size_t length)
{
    /* All receives have the same room, but what came off the wire is checked all the same. */
    slot->length = length < slot->size ? length : slot->size;
    slot->flags = FI_MSG | FI_RECV;
    memcpy(slot->memory, bytes, slot->length);
    mca_btl_epofi_slot_ready(slot);
}

/** The member has posted no receive: keep a copy.  @return false: no memory */
static bool share_recv_keep(mca_btl_epofi_member_t *member, const unsigned char *bytes,
                            size_t length)
{
    mca_btl_epofi_early_t *early = malloc(sizeof(*early) + length);

    if (NULL == early) {
        return false;
    }
    early->next = NULL;
    early->length = length;
    memcpy(early->bytes, bytes, length);
    *member->early_tail = early;
    member->early_tail = &early->next;
    return true;
}

/**
 * The member that a message is addressed to.  The number is removed from the message, so that the
 * module sees what it would see on a context of its own.
 *
 * @param[in] looking  gets messages that can be no member's, and reports them
 *
 * @return NULL: to a member that has left
 */
static mca_btl_epofi_member_t *share_recv_addressee(mca_btl_epofi_member_t *looking,
                                                    unsigned char *bytes, size_t length)
{
    const uint16_t plain = EPOFI_WIRE_MAGIC, nobodys = 0;
    uint16_t magic = 0, number;

    _Static_assert(0 == offsetof(mca_btl_epofi_wire_t, magic), "in front");
    if (sizeof(mca_btl_epofi_wire_t) <= length) {
        memcpy(&magic, bytes, sizeof(magic));
    }
    number = (uint16_t) (magic - EPOFI_WIRE_MAGIC);
    if (OPAL_LIKELY(0 < number && EPOFI_NUMBER_MOST >= number)) {
        memcpy(bytes, &plain, sizeof(plain));
        return looking->share->members[number];
    }
    memcpy(bytes, &nobodys, sizeof(nobodys)); /* no module takes it, not even the right one */
    return looking;
}

void mca_btl_epofi_buffer_ended(mca_btl_epofi_member_t *looking, mca_btl_epofi_buffer_t *buffer,
                                size_t length, int error)
{
    mca_btl_epofi_share_t *share = looking->share;
    mca_btl_epofi_member_t *member = 0 == error
                                         ? share_recv_addressee(looking, buffer->memory, length)
                                         : NULL;

    if (OPAL_UNLIKELY(NULL == member)) {
        /* To a member that has left; or, with an error, to an unknown one. */
        share->dropped += FI_ECANCELED == error ? 0 : 1;
    } else if (OPAL_LIKELY(NULL != member->posted.head)) { /* so none waits that came before it */
        share_recv_fill(mca_btl_epofi_slots_pop(&member->posted), buffer->memory, length);
    } else if (!share_recv_keep(member, buffer->memory, length)) {
        ++share->dropped; /* the number of the next one tells the pair */
    }
    share_recv_post(share, buffer);
}

void mca_btl_epofi_receive_post(mca_btl_epofi_slot_t *slot)
{
    mca_btl_epofi_member_t *member = slot->member;
    mca_btl_epofi_early_t *early = member->early;

    if (OPAL_LIKELY(NULL == early)) {
        mca_btl_epofi_slots_push(&member->posted, slot);
        return;
    }
    member->early = early->next;
    if (NULL == member->early) {
        member->early_tail = &member->early;
    }
    share_recv_fill(slot, early->bytes, early->length);
    free(early);
}

void mca_btl_epofi_receives_drop(mca_btl_epofi_member_t *member)
{
    mca_btl_epofi_slot_t *slot;

    member->probe = NULL;
    while (NULL != (slot = mca_btl_epofi_slots_pop(&member->posted))) {
        mca_btl_epofi_slot_put(member->share, slot);
    }
    while (NULL != (slot = mca_btl_epofi_slots_pop(&member->ready))) {
        mca_btl_epofi_slot_put(member->share, slot);
    }
    while (NULL != member->early) {
        mca_btl_epofi_early_t *next = member->early->next;

        free(member->early);
        member->early = next;
    }
    member->early_tail = &member->early;
}
