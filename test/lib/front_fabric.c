/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * In front of libfabric: fi_getinfo and fi_fabric, from where a fabric of a test takes over
 * (front_fabric.h).
 */

#define _GNU_SOURCE

#include "front_fabric.h"

#include <stdbool.h>
#include <stdio.h>

#include <dlfcn.h>

/** A call is under way in the provider.  A provider that is layered over another one
 * (tcp;ofi_rxm) calls fi_getinfo and fi_fabric for that from there: its own calls lead to the test,
 * those of the one below do not. */
static _Thread_local bool within;

static struct fi_ops_fabric fabric_ops;
struct fi_ops_domain front_domain_ops;

/** Let the provider see, or the user see again, the bits that the fabric of the test demands. */
static void set_mode(struct fi_info *info, int mode)
{
    if (NULL != info && NULL != info->domain_attr) {
        info->domain_attr->mr_mode = mode;
    }
}

static int mode_of(const struct fi_info *info)
{
    return NULL == info || NULL == info->domain_attr ? 0 : info->domain_attr->mr_mode;
}

int front_fabric_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
                          void *context)
{
    const int mode = mode_of(info);
    int result;

    set_mode(info, mode & ~front_fabric.mr_mode);
    result = front_domain_ops.endpoint(domain, info, ep, context);
    set_mode(info, mode);
    return result;
}

static int front_domain(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain,
                        void *context)
{
    static struct fi_ops_domain ops;
    const int mode = mode_of(info);
    int result;

    set_mode(info, mode & ~front_fabric.mr_mode);
    result = fabric_ops.domain(fabric, info, domain, context);
    set_mode(info, mode);
    if (0 == result) {
        FRONT_TABLE((*domain)->ops, front_domain_ops, ops);
        front_fabric.domain(*domain, &ops);
    }
    return result;
}

__attribute__((visibility("default"))) int fi_fabric(struct fi_fabric_attr *attr,
                                                     struct fid_fabric **fabric, void *context)
{
    static struct fi_ops_fabric ops;
    int (*next)(struct fi_fabric_attr *, struct fid_fabric **, void *) = dlsym(RTLD_NEXT,
                                                                               "fi_fabric");
    const bool nested = within;
    int result;

    within = true;
    result = next(attr, fabric, context);
    within = nested;
    if (0 == result && !nested) {
        FRONT_TABLE((*fabric)->ops, fabric_ops, ops);
        ops.domain = front_domain;
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
    const bool nested = within;
    int result;

    within = true;
    result = next(version, node, service, flags, hints, list);
    within = nested;
    if (0 == result && !nested && 0 == (flags & FI_PROV_ATTR_ONLY)) {
        for (struct fi_info *info = *list; NULL != info; info = info->next) {
            set_mode(info, mode_of(info) | front_fabric.mr_mode);
            if (NULL != front_fabric.info) {
                front_fabric.info(info);
            }
        }
    }
    return result;
}

void front_fabric_say(const char *fabric, const char *good, unsigned long sends,
                      unsigned long receives, unsigned long reads, unsigned long wrong)
{
    if (0 == receives) {
        return;
    }
    if (0 < sends && 0 < reads && 0 == wrong) {
        fprintf(stderr, "%s: %s\n", fabric, good);
    } else {
        fprintf(stderr, "%s: %lu sends, %lu receives, %lu reads, %lu wrong\n", fabric, sends,
                receives, reads, wrong);
    }
}
