/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * A fabric with few contexts: preloaded in front of libfabric by tests (LD_PRELOAD).
 *
 * EPT_CONTEXTS=N: providers say that they have N endpoints, and this process gets no more at a time:
 * who opens one more than that gets -FI_EBUSY, and the process says so at its end, as it should
 * have known.
 *
 * EPT-LIBS: -lfabric -ldl
 */

#define _GNU_SOURCE

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static _Atomic int open_now, refused;

/* The provider's functions; there is one provider in a test. */
static struct fi_ops_fabric fabric_ops;
static struct fi_ops_domain domain_ops;
static struct fi_ops ep_ops;

static int most(void)
{
    const char *text = getenv("EPT_CONTEXTS");

    return NULL == text ? 1 : atoi(text);
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
        result = domain_ops.endpoint(domain, info, ep, context);
    }
    if (0 != result) {
        atomic_fetch_sub(&open_now, 1);
        return result;
    }
    ep_ops = *(*ep)->fid.ops;
    ops = ep_ops;
    ops.close = few_close;
    (*ep)->fid.ops = &ops;
    return 0;
}

static int few_domain(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain,
                      void *context)
{
    static struct fi_ops_domain ops;
    int result = fabric_ops.domain(fabric, info, domain, context);

    if (0 == result) {
        domain_ops = *(*domain)->ops;
        ops = domain_ops;
        ops.endpoint = few_endpoint;
        (*domain)->ops = &ops;
    }
    return result;
}

__attribute__((visibility("default"))) int fi_fabric(struct fi_fabric_attr *attr,
                                                     struct fid_fabric **fabric, void *context)
{
    static struct fi_ops_fabric ops;
    int (*next)(struct fi_fabric_attr *, struct fid_fabric **, void *) = dlsym(RTLD_NEXT,
                                                                               "fi_fabric");
    int result = next(attr, fabric, context);

    if (0 == result) {
        fabric_ops = *(*fabric)->ops;
        ops = fabric_ops;
        ops.domain = few_domain;
        (*fabric)->ops = &ops;
    }
    return result;
}

__attribute__((visibility("default"))) int fi_getinfo(uint32_t version, const char *node,
                                                      const char *service, uint64_t flags,
                                                      const struct fi_info *hints,
                                                      struct fi_info **list)
{
    int (*next)(uint32_t, const char *, const char *, uint64_t, const struct fi_info *,
                struct fi_info **)
        = dlsym(RTLD_NEXT, "fi_getinfo");
    int result = next(version, node, service, flags, hints, list);

    if (0 == result && 0 == (flags & FI_PROV_ATTR_ONLY)) {
        for (struct fi_info *info = *list; NULL != info; info = info->next) {
            info->domain_attr->ep_cnt = (size_t) most();
        }
    }
    return result;
}

static __attribute__((destructor)) void say(void)
{
    if (0 < refused) {
        fprintf(stderr, "few_contexts: %d times one more than %d\n", refused, most());
    }
}
