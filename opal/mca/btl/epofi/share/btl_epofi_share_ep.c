/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What a module that shares a context has for an endpoint: each call is made on the real one, under
 * the context's lock, with a slot in place of the module's own context.
 *
 * Called in place of the provider by fi_send and its relatives, so by the module's owner, and by
 * the packet thread.
 *
 * Tests: unit/test_epofi_share
 */

#include "opal_config.h"

#include "btl_epofi_share_types.h"

static mca_btl_epofi_member_t *member_of(struct fid_ep *ep)
{
    return EPOFI_CONTAINER(ep, mca_btl_epofi_member_t, ep);
}

/** The real endpoint has been called with a slot.  @param[in] result  0: it has taken it */
static ssize_t share_ep_started(mca_btl_epofi_slot_t *slot, ssize_t result)
{
    if (OPAL_LIKELY(0 == result)) {
        ++slot->member->under_way;
    } else {
        mca_btl_epofi_slot_put(slot->member->share, slot);
    }
    return result;
}

static ssize_t member_send(struct fid_ep *ep, const void *bytes, size_t size, void *desc,
                           fi_addr_t to, void *user)
{
    mca_btl_epofi_member_t *member = member_of(ep);
    mca_btl_epofi_share_t *share = member->share;
    mca_btl_epofi_slot_t *slot;
    ssize_t result = -FI_EAGAIN;

    opal_mutex_lock(&share->lock);
    slot = mca_btl_epofi_slot_get(member, user);
    if (OPAL_LIKELY(NULL != slot)) {
        result = share_ep_started(slot, fi_send(share->fi.ep, bytes, size, desc, to,
                                                &slot->given.context));
    }
    opal_mutex_unlock(&share->lock);
    return result;
}

static ssize_t member_sendmsg(struct fid_ep *ep, const struct fi_msg *message, uint64_t flags)
{
    mca_btl_epofi_member_t *member = member_of(ep);
    mca_btl_epofi_share_t *share = member->share;
    struct fi_msg own = *message;
    mca_btl_epofi_slot_t *slot;
    ssize_t result = -FI_EAGAIN;

    opal_mutex_lock(&share->lock);
    slot = mca_btl_epofi_slot_get(member, message->context);
    if (OPAL_LIKELY(NULL != slot)) {
        own.context = &slot->given.context;
        result = share_ep_started(slot, fi_sendmsg(share->fi.ep, &own, flags));
    }
    opal_mutex_unlock(&share->lock);
    return result;
}

static ssize_t member_inject(struct fid_ep *ep, const void *bytes, size_t size, fi_addr_t to)
{
    mca_btl_epofi_share_t *share = member_of(ep)->share;
    ssize_t result;

    opal_mutex_lock(&share->lock);
    result = fi_inject(share->fi.ep, bytes, size, to);
    opal_mutex_unlock(&share->lock);
    return result;
}

static ssize_t member_read(struct fid_ep *ep, void *bytes, size_t size, void *desc, fi_addr_t from,
                           uint64_t address, uint64_t key, void *user)
{
    mca_btl_epofi_member_t *member = member_of(ep);
    mca_btl_epofi_share_t *share = member->share;
    mca_btl_epofi_slot_t *slot;
    ssize_t result = -FI_EAGAIN;

    opal_mutex_lock(&share->lock);
    slot = mca_btl_epofi_slot_get(member, user);
    if (OPAL_LIKELY(NULL != slot)) {
        result = share_ep_started(slot, fi_read(share->fi.ep, bytes, size, desc, from, address, key,
                                                &slot->given.context));
    }
    opal_mutex_unlock(&share->lock);
    return result;
}

static ssize_t member_recv(struct fid_ep *ep, void *bytes, size_t size, void *desc, fi_addr_t from,
                           void *user)
{
    mca_btl_epofi_member_t *member = member_of(ep);
    mca_btl_epofi_share_t *share = member->share;
    mca_btl_epofi_slot_t *slot;
    ssize_t result;

    (void) desc; /* the provider does not see it */
    (void) from; /* any source, always */
    opal_mutex_lock(&share->lock);
    result = mca_btl_epofi_buffers_supply(share, member->receives + 1, size);
    slot = OPAL_LIKELY(0 == result) ? mca_btl_epofi_slot_get(member, user) : NULL;
    if (OPAL_LIKELY(NULL != slot)) {
        ++member->receives;
        slot->memory = bytes;
        slot->size = size;
        mca_btl_epofi_receive_post(slot);
    } else if (0 == result) {
        result = -FI_EAGAIN;
    }
    opal_mutex_unlock(&share->lock);
    return result;
}

static ssize_t member_cancel(fid_t fid, void *user)
{
    mca_btl_epofi_member_t *member = EPOFI_CONTAINER(fid, mca_btl_epofi_member_t, ep.fid);
    mca_btl_epofi_share_t *share = member->share;

    opal_mutex_lock(&share->lock);
    mca_btl_epofi_receive_probe(member, user);
    opal_mutex_unlock(&share->lock);
    return 0;
}

static int member_getname(fid_t fid, void *address, size_t *size)
{
    mca_btl_epofi_share_t *share = EPOFI_CONTAINER(fid, mca_btl_epofi_member_t, ep.fid)->share;
    int result;

    opal_mutex_lock(&share->lock);
    result = fi_getname(&share->fi.ep->fid, address, size);
    opal_mutex_unlock(&share->lock);
    return result;
}

/* What btl/epofi calls; libfabric itself never sees these objects. */
static struct fi_ops_ep ep_ops = {.size = sizeof(ep_ops), .cancel = member_cancel};
static struct fi_ops_cm cm_ops = {.size = sizeof(cm_ops), .getname = member_getname};
static struct fi_ops_rma rma_ops = {.size = sizeof(rma_ops), .read = member_read};
static struct fi_ops_msg msg_ops = {.size = sizeof(msg_ops),
                                    .recv = member_recv,
                                    .send = member_send,
                                    .sendmsg = member_sendmsg,
                                    .inject = member_inject};

void mca_btl_epofi_share_ep_init(mca_btl_epofi_member_t *member)
{
    member->ep.fid.fclass = FI_CLASS_EP;
    member->ep.ops = &ep_ops;
    member->ep.cm = &cm_ops;
    member->ep.msg = &msg_ops;
    member->ep.rma = &rma_ops;
}
