/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Regions of a module: memory that peers may read, and that reads go to.
 *
 * Tests: unit/test_epofi
 */

#include "opal_config.h"

#include "../fabric/fabric.h"
#include "../base/base.h"
#include "btl_epofi_region.h"
#include "btl_epofi_types.h"

#include <stdlib.h>

int mca_btl_epofi_mr_open(mca_btl_epofi_module_t *module, void *base, size_t size, uint64_t access,
                          struct fid_mr **mr_p)
{
    return mca_btl_epofi_status(-mca_btl_epofi_context_register(module->fabric, &module->fi,
                                                                &module->key_secret,
                                                                &module->next_key, base, size,
                                                                access, mr_p));
}

struct mca_btl_base_registration_handle_t *mca_btl_epofi_register_mem(
    mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint, void *base, size_t size,
    uint32_t flags)
{
    MCA_BTL_EP_HOLD_CANCEL();
    mca_btl_epofi_module_t *module = (mca_btl_epofi_module_t *) btl;
    mca_btl_epofi_region_t *region = module->free_regions;
    uint64_t access = 0;

    (void) endpoint; /* a region serves all peers */
    if (0 != (flags & MCA_BTL_REG_FLAG_REMOTE_READ)) {
        access |= FI_REMOTE_READ;
    }
    if (0 != (flags & MCA_BTL_REG_FLAG_LOCAL_WRITE)) {
        access |= FI_READ;
    }
    if (NULL == region) {
        region = calloc(1, sizeof(*region));
        if (NULL == region) {
            return NULL;
        }
    } else {
        module->free_regions = region->next;
    }
    if (OPAL_SUCCESS != mca_btl_epofi_mr_open(module, base, size, access, &region->mr)) {
        region->next = module->free_regions;
        module->free_regions = region;
        return NULL;
    }
    region->handle.key = fi_mr_key(region->mr);
    region->handle.base = module->fabric->mr_virtual ? 0 : (uint64_t) (uintptr_t) base;
    region->previous = &module->regions;
    region->next = module->regions.next;
    region->next->previous = region;
    module->regions.next = region;
    return &region->handle;
}

int mca_btl_epofi_deregister_mem(mca_btl_base_module_t *btl,
                                 struct mca_btl_base_registration_handle_t *handle)
{
    MCA_BTL_EP_HOLD_CANCEL();
    mca_btl_epofi_module_t *module = (mca_btl_epofi_module_t *) btl;
    mca_btl_epofi_region_t *region = EPOFI_CONTAINER(handle, mca_btl_epofi_region_t, handle);
    int result = fi_close(&region->mr->fid);

    region->previous->next = region->next;
    region->next->previous = region->previous;
    region->next = module->free_regions;
    module->free_regions = region;
    return mca_btl_epofi_status(-result);
}

void mca_btl_epofi_regions_stop(mca_btl_epofi_module_t *module)
{
    while (module->regions.next != &module->regions) {
        (void) mca_btl_epofi_deregister_mem(&module->super.super, &module->regions.next->handle);
    }
    while (NULL != module->free_regions) {
        mca_btl_epofi_region_t *next = module->free_regions->next;

        free(module->free_regions);
        module->free_regions = next;
    }
}
