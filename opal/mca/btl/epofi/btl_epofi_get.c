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
 * Bulk data: registration of memory, and btl_get over fi_read.
 *
 * Registrations are not cached here: providers whose registration is dear cache it themselves.  A
 * get that is longer than one read may be becomes a chain of reads, one at a time.
 */

#include "opal_config.h"

#include "btl_epofi_types.h"

#include <stdlib.h>
#include <string.h>

int mca_btl_epofi_mr_open(mca_btl_epofi_module_t *module, void *base, size_t size, uint64_t access,
                          struct fid_mr **mr_p)
{
    const mca_btl_epofi_fabric_t *fabric = module->fabric;
    struct fid_mr *mr;
    /* A key is unique within the domain; where the provider makes them, ours is ignored. */
    uint64_t key = fabric->mr_prov_key ? 0 : ++module->next_key;
    int result = fi_mr_reg(module->fi.domain, base, size, access, 0, key, 0, &mr, NULL);

    if (0 != result) {
        return mca_btl_epofi_status(-result);
    }
    if (fabric->mr_endpoint) {
        result = fi_mr_bind(mr, &module->fi.ep->fid, 0);
        if (0 == result) {
            result = fi_mr_enable(mr);
        }
        if (0 != result) {
            (void) fi_close(&mr->fid);
            return mca_btl_epofi_status(-result);
        }
    }
    *mr_p = mr;
    return OPAL_SUCCESS;
}

struct mca_btl_base_registration_handle_t *
mca_btl_epofi_register_mem(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                           void *base, size_t size, uint32_t flags)
{
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
    mca_btl_epofi_module_t *module = (mca_btl_epofi_module_t *) btl;
    mca_btl_epofi_region_t *region = EPOFI_CONTAINER(handle, mca_btl_epofi_region_t, handle);
    int result = fi_close(&region->mr->fid);

    region->previous->next = region->next;
    region->next->previous = region->previous;
    region->next = module->free_regions;
    module->free_regions = region;
    return mca_btl_epofi_status(-result);
}

static void get_put_back(mca_btl_epofi_module_t *module, mca_btl_epofi_get_t *get)
{
    get->next = module->free_gets;
    module->free_gets = get;
}

/** Start the next read of a get.  @return of fi_read */
static ssize_t read_next(mca_btl_epofi_module_t *module, mca_btl_epofi_get_t *get)
{
    ssize_t result;

    get->reading = get->left < module->get_chunk ? get->left : module->get_chunk;
    result = fi_read(module->fi.ep, get->local, get->reading, get->desc, get->endpoint->address,
                     get->remote, get->key, &get->op.context);
    if (0 == result) {
        mca_btl_epofi_op_started(module, get->endpoint);
    }
    return result;
}

static void stall(mca_btl_epofi_module_t *module, mca_btl_epofi_get_t *get)
{
    get->next = NULL;
    *module->stalled_tail = get;
    module->stalled_tail = &get->next;
}

/** Tell the caller and forget the get. */
static void get_finish(mca_btl_epofi_module_t *module, mca_btl_epofi_get_t *get, int status)
{
    const mca_btl_epofi_get_t done = *get;

    get_put_back(module, get);
    if (!module->closing) {
        done.callback(&module->super.super, done.endpoint, done.local_address, done.local_handle,
                      done.callback_context, done.callback_data, status);
    }
}

/** Read on, or wait for room, or give up. */
static void get_continue(mca_btl_epofi_module_t *module, mca_btl_epofi_get_t *get)
{
    ssize_t result = read_next(module, get);
    int rc;

    if (0 == result) {
        return;
    }
    rc = mca_btl_epofi_endpoint_refused(get->endpoint, result);
    if (OPAL_ERR_OUT_OF_RESOURCE == rc) {
        stall(module, get);
    } else {
        get_finish(module, get, rc);
    }
}

static void get_complete(mca_btl_epofi_module_t *module, mca_btl_epofi_op_t *op, size_t length,
                         int status)
{
    mca_btl_epofi_get_t *get = EPOFI_CONTAINER(op, mca_btl_epofi_get_t, op);
    struct mca_btl_base_endpoint_t *endpoint = get->endpoint;

    (void) length;
    if (OPAL_LIKELY(OPAL_SUCCESS == status)) {
        get->left -= get->reading;
        get->local += get->reading;
        get->remote += get->reading;
    }
    if (OPAL_UNLIKELY(OPAL_ERR_UNREACH == status)) {
        mca_btl_epofi_endpoint_fail(endpoint, module->error, module->error_detail);
    }
    if (OPAL_SUCCESS != status || 0 == get->left || module->closing) {
        get_finish(module, get, status);
    } else {
        get_continue(module, get);
    }
    mca_btl_epofi_op_ended(module, endpoint);
}

void mca_btl_epofi_get_resume(mca_btl_epofi_module_t *module)
{
    mca_btl_epofi_get_t *list = module->stalled;

    module->stalled = NULL;
    module->stalled_tail = &module->stalled;
    while (NULL != list) {
        mca_btl_epofi_get_t *next = list->next;

        get_continue(module, list);
        list = next;
    }
}

int mca_btl_epofi_get(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                      void *local_address, uint64_t remote_address,
                      struct mca_btl_base_registration_handle_t *local_handle,
                      struct mca_btl_base_registration_handle_t *remote_handle, size_t size,
                      int flags, int order, mca_btl_base_rdma_completion_fn_t cbfunc,
                      void *cbcontext, void *cbdata)
{
    mca_btl_epofi_module_t *module = (mca_btl_epofi_module_t *) btl;
    struct mca_btl_base_registration_handle_t remote;
    mca_btl_epofi_get_t *get = module->free_gets;
    ssize_t result;

    (void) flags;
    (void) order;
    if (OPAL_UNLIKELY(endpoint->failed)) {
        return OPAL_ERR_UNREACH;
    }
    if (OPAL_UNLIKELY(endpoint->inflight >= module->peer_queue)) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    if (NULL == get) {
        get = calloc(1, sizeof(*get));
        if (NULL == get) {
            return OPAL_ERR_OUT_OF_RESOURCE;
        }
        get->made = module->gets;
        module->gets = get;
    } else {
        module->free_gets = get->next;
    }
    /* The handle comes out of a message and need not be aligned. */
    memcpy(&remote, remote_handle, sizeof(remote));
    get->op.complete = get_complete;
    get->endpoint = endpoint;
    get->local = local_address;
    get->remote = remote_address - remote.base;
    get->key = remote.key;
    get->desc = NULL;
    if (NULL != local_handle) {
        get->desc = fi_mr_desc(
            EPOFI_CONTAINER(local_handle, mca_btl_epofi_region_t, handle)->mr);
    }
    get->left = size;
    get->local_address = local_address;
    get->local_handle = local_handle;
    get->callback = cbfunc;
    get->callback_context = cbcontext;
    get->callback_data = cbdata;

    result = read_next(module, get);
    if (OPAL_UNLIKELY(0 != result)) {
        get_put_back(module, get);
        return mca_btl_epofi_endpoint_refused(endpoint, result);
    }
    return OPAL_SUCCESS;
}

void mca_btl_epofi_get_stop(mca_btl_epofi_module_t *module)
{
    while (module->regions.next != &module->regions) {
        (void) mca_btl_epofi_deregister_mem(&module->super.super, &module->regions.next->handle);
    }
    while (NULL != module->free_regions) {
        mca_btl_epofi_region_t *next = module->free_regions->next;

        free(module->free_regions);
        module->free_regions = next;
    }
    while (NULL != module->gets) {
        mca_btl_epofi_get_t *next = module->gets->made;

        free(module->gets);
        module->gets = next;
    }
    module->free_gets = NULL;
    module->stalled = NULL;
    module->stalled_tail = &module->stalled;
}
