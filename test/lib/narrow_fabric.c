/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A fabric as hardware has it, with small sizes, that is often busy: preloaded in front of libfabric by tests
 * (LD_PRELOAD).
 *
 * EPT_INJECT=N: at most N bytes can be injected.  EPT_MESSAGE=N: a message, or a read, has at most N bytes.  These and
 * an iov_limit of 1 are what fi_getinfo says; a call that goes beyond is refused with -FI_EINVAL, and said.
 * EPT_BUSY=N: of N calls that start an operation all but the last return -FI_EAGAIN, those of a receive, too.
 * EPT_LATE=N: of N calls of fi_cq_read all but the last find nothing.
 *
 * At its end a process says whether all was within the limits, or else what was not.
 *
 * EPT-PARTS: front_fabric.c
 * EPT-LIBS: -lfabric -ldl
 */

#include "front_fabric.h"

#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static _Atomic unsigned long sends, receives, reads, wrong, busy, looks;

/* The provider's functions. */
static struct fi_ops_msg msg_ops;
static struct fi_ops_rma rma_ops;
static struct fi_ops_cq cq_ops;

/** A number of the environment; otherwise: the number that limits nothing. */
static size_t limit(const char *name, size_t otherwise)
{
    const char *text = getenv(name);

    return NULL == text ? otherwise : strtoull(text, NULL, 10);
}

static ssize_t refuse(const char *what, size_t size)
{
    atomic_fetch_add(&wrong, 1);
    fprintf(stderr, "narrow_fabric: %s of %zu bytes\n", what, size);
    return -FI_EINVAL;
}

/** Counts a call that starts an operation.  @return -FI_EAGAIN: it is not its turn */
static ssize_t start(_Atomic unsigned long *count)
{
    const size_t of = limit("EPT_BUSY", 1);

    if (0 != (atomic_fetch_add(&busy, 1) + 1) % of) {
        return -FI_EAGAIN;
    }
    atomic_fetch_add(count, 1);
    return 0;
}

/* ---- operations ------------------------------------------------------------------------------ */

static ssize_t narrow_send(struct fid_ep *ep, const void *buffer, size_t size, void *desc, fi_addr_t to, void *context)
{
    ssize_t result;

    if (size > limit("EPT_MESSAGE", SIZE_MAX)) {
        return refuse("a message", size);
    }
    result = start(&sends);
    return 0 != result ? result : msg_ops.send(ep, buffer, size, desc, to, context);
}

static ssize_t narrow_inject(struct fid_ep *ep, const void *buffer, size_t size, fi_addr_t to)
{
    ssize_t result;

    if (size > limit("EPT_INJECT", SIZE_MAX)) {
        return refuse("an injected message", size);
    }
    result = start(&sends);
    return 0 != result ? result : msg_ops.inject(ep, buffer, size, to);
}

static ssize_t narrow_sendmsg(struct fid_ep *ep, const struct fi_msg *message, uint64_t flags)
{
    const size_t size = message->msg_iov[0].iov_len;
    ssize_t result;

    if (1 != message->iov_count) {
        return refuse("a message in several pieces, the first", size);
    }
    if (size > limit(0 != (flags & FI_INJECT) ? "EPT_INJECT" : "EPT_MESSAGE", SIZE_MAX)) {
        return refuse("a message", size);
    }
    result = start(&sends);
    return 0 != result ? result : msg_ops.sendmsg(ep, message, flags);
}

static ssize_t narrow_recv(struct fid_ep *ep, void *buffer, size_t size, void *desc, fi_addr_t from, void *context)
{
    const ssize_t result = start(&receives);

    return 0 != result ? result : msg_ops.recv(ep, buffer, size, desc, from, context);
}

static ssize_t narrow_read(struct fid_ep *ep, void *buffer, size_t size, void *desc, fi_addr_t from, uint64_t address,
                           uint64_t key, void *context)
{
    ssize_t result;

    if (size > limit("EPT_MESSAGE", SIZE_MAX)) {
        return refuse("a read", size);
    }
    result = start(&reads);
    return 0 != result ? result : rma_ops.read(ep, buffer, size, desc, from, address, key, context);
}

static ssize_t narrow_cq_read(struct fid_cq *cq, void *buffer, size_t count)
{
    return 0 != (atomic_fetch_add(&looks, 1) + 1) % limit("EPT_LATE", 1) ? -FI_EAGAIN
                                                                         : cq_ops.read(cq, buffer, count);
}

/* ---- objects --------------------------------------------------------------------------------- */

static int narrow_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep, void *context)
{
    static struct fi_ops_msg msg;
    static struct fi_ops_rma rma;
    const int result = front_fabric_endpoint(domain, info, ep, context);

    if (0 == result) {
        FRONT_TABLE((*ep)->msg, msg_ops, msg);
        msg.send = narrow_send;
        msg.inject = narrow_inject;
        msg.sendmsg = narrow_sendmsg;
        msg.recv = narrow_recv;
        if (NULL != (*ep)->rma) { /* sm2 has none */
            FRONT_TABLE((*ep)->rma, rma_ops, rma);
            rma.read = narrow_read;
        }
    }
    return result;
}

static int narrow_cq(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq, void *context)
{
    static struct fi_ops_cq ops;
    const int result = front_domain_ops.cq_open(domain, attr, cq, context);

    if (0 == result) {
        FRONT_TABLE((*cq)->ops, cq_ops, ops);
        ops.read = narrow_cq_read;
    }
    return result;
}

static void narrow_domain(struct fid_domain *domain, struct fi_ops_domain *ops)
{
    (void) domain;
    ops->endpoint = narrow_endpoint;
    ops->cq_open = narrow_cq;
}

static void narrow_info(struct fi_info *info)
{
    const size_t inject = limit("EPT_INJECT", SIZE_MAX), message = limit("EPT_MESSAGE", SIZE_MAX);

    if (NULL != info->tx_attr) {
        info->tx_attr->inject_size = inject < info->tx_attr->inject_size ? inject : info->tx_attr->inject_size;
        info->tx_attr->iov_limit = info->tx_attr->rma_iov_limit = 1;
    }
    if (NULL != info->rx_attr) {
        info->rx_attr->iov_limit = 1;
    }
    if (NULL != info->ep_attr) {
        info->ep_attr->max_msg_size = message < info->ep_attr->max_msg_size ? message : info->ep_attr->max_msg_size;
    }
}

const front_fabric_t front_fabric = {.info = narrow_info, .domain = narrow_domain};

static __attribute__((destructor)) void say(void)
{
    front_fabric_say("narrow_fabric", "all within its limits", sends, receives, reads, wrong);
}
