/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A fabric whose memory must be registered, also where it is only used locally (FI_MR_LOCAL), in
 * regions that are bound to an endpoint and then enabled (FI_MR_ENDPOINT): preloaded in front of
 * libfabric by tests (LD_PRELOAD).
 *
 * Each buffer that is sent, received into or read into must lie within a region whose descriptor is
 * given with it, which is open, enabled, for that endpoint and for that use; injected ones need
 * none. Keys are there when the region is enabled, and an endpoint is closed after its regions.
 * What is wrong is refused with -FI_EINVAL and said.  At its end a process says what was checked:
 * "all three ways" if there were sends, receives and reads, or else which were missing.
 *
 * The provider underneath sees neither descriptors nor the two demands.
 *
 * EPT-PARTS: front_fabric.c
 * EPT-LIBS: -lfabric -ldl -pthread
 */

#include "front_fabric.h"

#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/** An open region.  Its address is the descriptor: it is looked for, never followed. */
typedef struct region_t {
    struct region_t *next;
    struct fid_mr *mr;
    uintptr_t base;
    size_t size;
    uint64_t access;
    const struct fid *ep; /**< NULL: not bound */
    bool enabled;
    void *desc;   /**< the provider's */
    uint64_t key; /**< the provider's */
} region_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static region_t *regions; /* under the lock */

static _Atomic int sends, receives, reads, wrong;

/* The provider's functions. */
static struct fi_ops_mr mr_ops;
static struct fi_ops region_ops;
static struct fi_ops ep_ops;
static struct fi_ops_msg msg_ops;
static struct fi_ops_rma rma_ops;

static int refuse(const char *what)
{
    atomic_fetch_add(&wrong, 1);
    fprintf(stderr, "registering_fabric: %s\n", what);
    return -FI_EINVAL;
}

/* ---- regions --------------------------------------------------------------------------------- */

/** The link to a region, or the one at the end.  Under the lock. */
static region_t **find(const struct fid *fid)
{
    region_t **link = &regions;

    while (NULL != *link && fid != &(*link)->mr->fid) {
        link = &(*link)->next;
    }
    return link;
}

static int region_close(struct fid *fid)
{
    region_t **link, *region;

    pthread_mutex_lock(&lock);
    link = find(fid);
    region = *link;
    if (NULL != region) {
        *link = region->next;
        region->mr->mem_desc = region->desc;
        region->mr->key = region->key;
    }
    pthread_mutex_unlock(&lock);
    free(region);
    return region_ops.close(fid);
}

static int region_bind(struct fid *fid, struct fid *ep, uint64_t flags)
{
    region_t *region;

    (void) flags;
    pthread_mutex_lock(&lock);
    region = *find(fid);
    if (NULL != region) {
        region->ep = ep;
    }
    pthread_mutex_unlock(&lock);
    return NULL == region ? refuse("what is no region is bound") : 0;
}

/** fi_mr_enable */
static int region_control(struct fid *fid, int command, void *argument)
{
    bool bound = false;
    region_t *region;

    (void) argument;
    if (FI_ENABLE != command) {
        return -FI_ENOSYS;
    }
    pthread_mutex_lock(&lock);
    region = *find(fid);
    if (NULL != region && NULL != region->ep) {
        bound = region->enabled = true;
        region->mr->mem_desc = region;
        region->mr->key = region->key;
    }
    pthread_mutex_unlock(&lock);
    return bound ? 0 : refuse("a region is enabled that is not bound");
}

static int region_reg(struct fid *fid, const void *base, size_t size, uint64_t access,
                      uint64_t offset, uint64_t key, uint64_t flags, struct fid_mr **mr_p,
                      void *context)
{
    static struct fi_ops ops;
    region_t *region = malloc(sizeof(*region));
    int result = -FI_ENOMEM;

    if (NULL == region) {
        return result;
    }
    result = mr_ops.reg(fid, base, size, access, offset, key, flags, mr_p, context);
    if (0 != result) {
        free(region);
        return result;
    }
    *region = (region_t){.mr = *mr_p,
                         .base = (uintptr_t) base,
                         .size = size,
                         .access = access,
                         .desc = (*mr_p)->mem_desc,
                         .key = (*mr_p)->key};
    (*mr_p)->mem_desc = NULL;
    (*mr_p)->key = FI_KEY_NOTAVAIL;
    pthread_mutex_lock(&lock);
    FRONT_TABLE((*mr_p)->fid.ops, region_ops, ops);
    ops.close = region_close;
    ops.bind = region_bind;
    ops.control = region_control;
    region->next = regions;
    regions = region;
    pthread_mutex_unlock(&lock);
    return 0;
}

/** May this endpoint use the buffer so?  @return 0, or -FI_EINVAL, which has been said */
static int check(const struct fid_ep *ep, const void *buffer, size_t size, const void *desc,
                 uint64_t access, _Atomic int *checked)
{
    const uintptr_t at = (uintptr_t) buffer;
    const char *what = "a buffer has no region that is open";
    const region_t *region;

    atomic_fetch_add(checked, 1);
    pthread_mutex_lock(&lock);
    for (region = regions; NULL != region && desc != region; region = region->next) {
    }
    if (NULL != region) {
        what = !region->enabled                      ? "a region is not enabled"
               : &ep->fid != region->ep              ? "a region is another endpoint's"
               : access != (access & region->access) ? "a region is for another use"
               : at < region->base || region->size < size || at - region->base > region->size - size
                   ? "a buffer is not within its region"
                   : NULL;
    }
    pthread_mutex_unlock(&lock);
    return NULL == what ? 0 : refuse(what);
}

/* ---- data calls ------------------------------------------------------------------------------ */

static ssize_t checked_send(struct fid_ep *ep, const void *buf, size_t len, void *desc,
                            fi_addr_t dest, void *context)
{
    const int error = check(ep, buf, len, desc, FI_SEND, &sends);

    return 0 != error ? error : msg_ops.send(ep, buf, len, NULL, dest, context);
}

static ssize_t checked_sendmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
    struct fi_msg plain = *msg;
    int error = 0;

    for (size_t i = 0; i < msg->iov_count && 0 == error && 0 == (flags & FI_INJECT); ++i) {
        error = check(ep, msg->msg_iov[i].iov_base, msg->msg_iov[i].iov_len,
                      NULL == msg->desc ? NULL : msg->desc[i], FI_SEND, &sends);
    }
    plain.desc = NULL;
    return 0 != error ? error : msg_ops.sendmsg(ep, &plain, flags);
}

static ssize_t checked_recv(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t from,
                            void *context)
{
    const int error = check(ep, buf, len, desc, FI_RECV, &receives);

    return 0 != error ? error : msg_ops.recv(ep, buf, len, NULL, from, context);
}

static ssize_t checked_read(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t from,
                            uint64_t addr, uint64_t key, void *context)
{
    const int error = check(ep, buf, len, desc, FI_READ, &reads);

    return 0 != error ? error : rma_ops.read(ep, buf, len, NULL, from, addr, key, context);
}

/* ---- making objects -------------------------------------------------------------------------- */

static int checked_close(struct fid *fid)
{
    const region_t *region;

    pthread_mutex_lock(&lock);
    for (region = regions; NULL != region && fid != region->ep; region = region->next) {
    }
    pthread_mutex_unlock(&lock);
    if (NULL != region) {
        (void) refuse("an endpoint is closed before a region of its");
        return -FI_EBUSY;
    }
    return ep_ops.close(fid);
}

static int checked_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
                            void *context)
{
    static struct fi_ops fid;
    static struct fi_ops_msg msg;
    static struct fi_ops_rma rma;
    int result = front_fabric_endpoint(domain, info, ep, context);

    if (0 == result) {
        FRONT_TABLE((*ep)->fid.ops, ep_ops, fid);
        fid.close = checked_close;
        FRONT_TABLE((*ep)->msg, msg_ops, msg);
        msg.send = checked_send;
        msg.sendmsg = checked_sendmsg;
        msg.recv = checked_recv;
        if (NULL != (*ep)->rma) { /* sm2 has none */
            FRONT_TABLE((*ep)->rma, rma_ops, rma);
            rma.read = checked_read;
        }
    }
    return result;
}

static void checked_domain(struct fid_domain *domain, struct fi_ops_domain *ops)
{
    static struct fi_ops_mr mr;

    ops->endpoint = checked_endpoint;
    FRONT_TABLE(domain->mr, mr_ops, mr);
    mr.reg = region_reg;
}

const front_fabric_t front_fabric = {.mr_mode = FI_MR_LOCAL | FI_MR_ENDPOINT,
                                     .domain = checked_domain};

static __attribute__((destructor)) void say(void)
{
    front_fabric_say("registering_fabric", "all three ways", sends, receives, reads, wrong);
}
