/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What a module that shares a context has for a domain, and for registered memory: as the real
 * ones, under the context's lock.
 *
 * Called in place of the provider by fi_mr_reg and its relatives, by the modules' owners.
 *
 * Tests: unit/test_epofi_share
 */

#include "opal_config.h"

#include "btl_epofi_share_types.h"

#include <stdlib.h>

/** A region of a member's. */
typedef struct region_t {
    struct fid_mr mr; /**< what the module sees */
    struct fid_mr *real;
    mca_btl_epofi_share_t *share;
} region_t;

static region_t *region_of(struct fid *fid)
{
    return EPOFI_CONTAINER(fid, region_t, mr.fid);
}

/** What is in the object itself, which some providers know only when the region is enabled. */
static void copy_names(region_t *region)
{
    region->mr.mem_desc = region->real->mem_desc;
    region->mr.key = region->real->key;
}

static int region_close(struct fid *fid)
{
    region_t *region = region_of(fid);
    mca_btl_epofi_share_t *share = region->share;
    int result;

    opal_mutex_lock(&share->lock);
    result = fi_close(&region->real->fid);
    opal_mutex_unlock(&share->lock);
    free(region);
    return result;
}

/** To the endpoint, which is the member's. */
static int region_bind(struct fid *fid, struct fid *ep, uint64_t flags)
{
    region_t *region = region_of(fid);
    int result;

    (void) ep;
    opal_mutex_lock(&region->share->lock);
    result = fi_mr_bind(region->real, &region->share->fi.ep->fid, flags);
    opal_mutex_unlock(&region->share->lock);
    return result;
}

/** fi_mr_enable */
static int region_control(struct fid *fid, int command, void *argument)
{
    region_t *region = region_of(fid);
    int result;

    opal_mutex_lock(&region->share->lock);
    result = fi_control(&region->real->fid, command, argument);
    copy_names(region);
    opal_mutex_unlock(&region->share->lock);
    return result;
}

static struct fi_ops region_ops = {.size = sizeof(region_ops),
                                   .close = region_close,
                                   .bind = region_bind,
                                   .control = region_control};

static int member_mr_reg(struct fid *fid, const void *base, size_t size, uint64_t access,
                         uint64_t offset, uint64_t key, uint64_t flags, struct fid_mr **mr_p,
                         void *context)
{
    const mca_btl_epofi_member_t *member = EPOFI_CONTAINER(fid, mca_btl_epofi_member_t, domain.fid);
    mca_btl_epofi_share_t *share = member->share;
    region_t *region = calloc(1, sizeof(*region));
    int result;

    if (NULL == region) {
        return -FI_ENOMEM;
    }
    opal_mutex_lock(&share->lock);
    result = fi_mr_reg(share->fi.domain, base, size, access, offset, key, flags, &region->real,
                       context);
    opal_mutex_unlock(&share->lock);
    if (0 != result) {
        free(region);
        return result;
    }
    region->share = share;
    region->mr.fid.fclass = FI_CLASS_MR;
    region->mr.fid.ops = &region_ops;
    copy_names(region);
    *mr_p = &region->mr;
    return 0;
}

static struct fi_ops_mr mr_ops = {.size = sizeof(mr_ops), .reg = member_mr_reg};

void mca_btl_epofi_share_domain_init(mca_btl_epofi_member_t *member)
{
    member->domain.fid.fclass = FI_CLASS_DOMAIN;
    member->domain.mr = &mr_ops;
}
