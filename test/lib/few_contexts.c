/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A fabric with few contexts: preloaded in front of libfabric by tests (LD_PRELOAD).
 *
 * EPT_CONTEXTS=N: providers say that they have N endpoints, and this process gets no more at a
 * time: an open of one more than that gets -FI_EBUSY, and the process says so at its end, as it
 * should have known.  EPT_CONTEXTS_SAID=M: they say that they have M, as if others had taken the
 * rest meanwhile.
 *
 * EPT-PARTS: front_fabric.c
 * EPT-LIBS: -lfabric -ldl
 */

#include "front_fabric.h"

#include <rdma/fi_errno.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static _Atomic int open_now, refused;

static struct fi_ops ep_ops; /* the provider's */

static int most(void)
{
    const char *text = getenv("EPT_CONTEXTS");

    return NULL == text ? 1 : atoi(text);
}

static int said(void)
{
    const char *text = getenv("EPT_CONTEXTS_SAID");

    return NULL == text ? most() : atoi(text);
}

static int few_close(struct fid *fid)
{
    atomic_fetch_sub(&open_now, 1);
    return ep_ops.close(fid);
}

static int few_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
                        void *context)
{
    static struct fi_ops ops;
    int result = -FI_EBUSY;

    if (most() <= atomic_fetch_add(&open_now, 1)) {
        atomic_fetch_add(&refused, 1);
    } else {
        result = front_fabric_endpoint(domain, info, ep, context);
    }
    if (0 != result) {
        atomic_fetch_sub(&open_now, 1);
        return result;
    }
    FRONT_TABLE((*ep)->fid.ops, ep_ops, ops);
    ops.close = few_close;
    return 0;
}

static void few_domain(struct fid_domain *domain, struct fi_ops_domain *ops)
{
    (void) domain;
    ops->endpoint = few_endpoint;
}

static void few_info(struct fi_info *info)
{
    info->domain_attr->ep_cnt = (size_t) said();
}

const front_fabric_t front_fabric = {.info = few_info, .domain = few_domain};

static __attribute__((destructor)) void say(void)
{
    if (0 < refused) {
        fprintf(stderr, "few_contexts: %d times one more than %d\n", refused, most());
    }
}
