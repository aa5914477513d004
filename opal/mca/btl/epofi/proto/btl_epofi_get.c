/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Bulk data: btl_get over fi_read.
 *
 * A get that is longer than one read may be becomes a chain of reads, a few of them at a time.
 *
 * Tests: unit/test_epofi, unit/test_epofi_keys, p2p_sizes, fault, random_traffic (narrow_busy)
 */

#include "opal_config.h"

#include "../peer/peer.h"
#include "../object/object.h"
#include "../base/base.h"
#include "btl_epofi_get.h"

#include "opal/util/proc.h"
#include "opal/util/show_help.h"

#include <stdlib.h>
#include <string.h>

/** Start the next read of a get, which has one to start and room for it.  @return of fi_read */
static ssize_t read_next(mca_btl_epofi_module_t *module, mca_btl_epofi_get_t *get)
{
    const size_t chunk = module->fabric->get_chunk;
    const size_t size = get->left < chunk ? get->left : chunk;
    mca_btl_epofi_read_t *read = get->idle;
    ssize_t result = fi_read(module->fi.ep, get->local, size, get->desc, get->endpoint->address,
                             get->remote, get->key, &read->op.context);

    if (0 == result) {
        get->idle = read->next;
        ++get->active;
        get->left -= size;
        get->local += size;
        get->remote += size;
        mca_btl_epofi_op_started(module, get->endpoint);
    }
    return result;
}

static void get_wait(mca_btl_epofi_module_t *module, mca_btl_epofi_get_t *get)
{
    get->next = NULL;
    *module->waiting_gets_tail = get;
    module->waiting_gets_tail = &get->next;
}

static void get_put_back(mca_btl_epofi_module_t *module, mca_btl_epofi_get_t *get)
{
    get->next = module->free_gets;
    module->free_gets = get;
}

/** Tell the caller, unless it knows, and forget the get. */
static void get_finish(mca_btl_epofi_module_t *module, mca_btl_epofi_get_t *get)
{
    struct mca_btl_base_endpoint_t *endpoint = get->endpoint;
    void *local_address = get->local_address;
    struct mca_btl_base_registration_handle_t *local_handle = get->local_handle;
    mca_btl_base_rdma_completion_fn_t callback = get->callback;
    void *context = get->callback_context;
    void *data = get->callback_data;
    const int status = get->status;
    const bool reported = get->reported;

    /* Before the callback, which may start the next one. */
    get_put_back(module, get);
    if (!module->closing && !reported) {
        callback(&module->super.super, endpoint, local_address, local_handle, context, data,
                 status);
    }
}

/** Start as many reads as may be; wait if none is under way and none can be; finish if all is
 * done. */
static void get_continue(mca_btl_epofi_module_t *module, mca_btl_epofi_get_t *get)
{
    if (OPAL_UNLIKELY(get->endpoint->failed && OPAL_SUCCESS == get->status && 0 < get->left)) {
        get->status = OPAL_ERR_UNREACH;
    }
    while (0 < get->left && NULL != get->idle && OPAL_SUCCESS == get->status && !module->closing) {
        ssize_t result = read_next(module, get);
        int rc;

        if (0 == result) {
            continue;
        }
        rc = mca_btl_epofi_endpoint_refused(get->endpoint, result);
        if (OPAL_ERR_OUT_OF_RESOURCE != rc) {
            get->status = rc;
        } else if (0 == get->active) {
            get_wait(module, get);
            return;
        } else {
            return; /* a read that ends brings us here again */
        }
    }
    if (0 == get->active) {
        get_finish(module, get);
    }
}

/** The peer is there, but its data cannot be read: say why, the first time. */
static void say_unread(mca_btl_epofi_module_t *module, struct mca_btl_base_endpoint_t *endpoint)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    char peer[EPOFI_DESCRIBE];

    if (!module->closing && !endpoint->failed && mca_btl_epofi_first_time(&said)) {
        EPOFI_SHOW_HELP("read failed", true, opal_process_info.nodename,
                        mca_btl_epofi_describe(module, endpoint, NULL, peer, sizeof(peer)),
                        module->fabric->info->fabric_attr->prov_name, fi_strerror(module->error),
                        module->error_detail);
    }
}

static void read_complete(mca_btl_epofi_module_t *module, mca_btl_epofi_op_t *op, size_t length,
                          int status)
{
    mca_btl_epofi_read_t *read = EPOFI_CONTAINER(op, mca_btl_epofi_read_t, op);
    mca_btl_epofi_get_t *get = read->get;
    struct mca_btl_base_endpoint_t *endpoint = get->endpoint;

    (void) length;
    read->next = get->idle;
    get->idle = read;
    --get->active;
    if (OPAL_UNLIKELY(OPAL_SUCCESS != status)) {
        get->status = status;
        if (OPAL_ERR_UNREACH == status) {
            mca_btl_epofi_endpoint_fail(endpoint, module->error, module->error_detail);
        } else {
            say_unread(module, endpoint);
        }
    }
    get_continue(module, get);
    mca_btl_epofi_op_ended(module, endpoint);
}

void mca_btl_epofi_get_resume(mca_btl_epofi_module_t *module)
{
    mca_btl_epofi_get_t *list = module->waiting_gets;

    module->waiting_gets = NULL;
    module->waiting_gets_tail = &module->waiting_gets;
    while (NULL != list) {
        mca_btl_epofi_get_t *next = list->next;

        get_continue(module, list);
        list = next;
    }
}

void mca_btl_epofi_get_abandon(mca_btl_epofi_module_t *module,
                               const struct mca_btl_base_endpoint_t *endpoint)
{
    for (mca_btl_epofi_get_t *get = module->gets; NULL != get; get = get->made) {
        if (endpoint != get->endpoint || 0 == get->active || get->reported) {
            continue;
        }
        /* The object stays with the provider until its reads have come back. */
        get->status = OPAL_ERR_UNREACH;
        get->reported = true;
        get->callback(&module->super.super, get->endpoint, get->local_address, get->local_handle,
                      get->callback_context, get->callback_data, get->status);
    }
}

/** A get that is not in use; NULL if there is no memory. */
static mca_btl_epofi_get_t *get_take(mca_btl_epofi_module_t *module)
{
    mca_btl_epofi_get_t *get = module->free_gets;

    if (OPAL_LIKELY(NULL != get)) {
        module->free_gets = get->next;
        return get;
    }
    get = calloc(1, sizeof(*get));
    if (NULL == get) {
        return NULL;
    }
    for (unsigned int i = 0; i < mca_btl_epofi_component.get_depth; ++i) {
        get->reads[i].op.complete = read_complete;
        get->reads[i].get = get;
        get->reads[i].next = get->idle;
        get->idle = &get->reads[i];
    }
    get->made = module->gets;
    module->gets = get;
    return get;
}

int mca_btl_epofi_get(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                      void *local_address, uint64_t remote_address,
                      struct mca_btl_base_registration_handle_t *local_handle,
                      struct mca_btl_base_registration_handle_t *remote_handle, size_t size,
                      int flags, int order, mca_btl_base_rdma_completion_fn_t cbfunc,
                      void *cbcontext, void *cbdata)
{
    MCA_BTL_EP_HOLD_CANCEL();
    mca_btl_epofi_module_t *module = (mca_btl_epofi_module_t *) btl;
    struct mca_btl_base_registration_handle_t remote;
    mca_btl_epofi_get_t *get;
    ssize_t result;

    (void) flags;
    (void) order;
    if (OPAL_UNLIKELY(endpoint->failed)) {
        return OPAL_ERR_UNREACH;
    }
    if (OPAL_UNLIKELY(endpoint->inflight >= module->peer_queue)) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    get = get_take(module);
    if (OPAL_UNLIKELY(NULL == get)) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    /* The handle comes out of a message and need not be aligned. */
    memcpy(&remote, remote_handle, sizeof(remote));
    get->endpoint = endpoint;
    get->local = local_address;
    get->remote = remote_address - remote.base;
    get->key = remote.key;
    get->desc = NULL;
    if (NULL != local_handle) {
        get->desc = fi_mr_desc(EPOFI_CONTAINER(local_handle, mca_btl_epofi_region_t, handle)->mr);
    }
    get->left = size;
    get->status = OPAL_SUCCESS;
    get->reported = false;
    get->local_address = local_address;
    get->local_handle = local_handle;
    get->callback = cbfunc;
    get->callback_context = cbcontext;
    get->callback_data = cbdata;

    /* The first read decides: without it nothing has happened. */
    result = read_next(module, get);
    if (OPAL_UNLIKELY(0 != result)) {
        get_put_back(module, get);
        return mca_btl_epofi_endpoint_refused(endpoint, result);
    }
    if (0 < get->left) {
        get_continue(module, get);
    }
    return OPAL_SUCCESS;
}

void mca_btl_epofi_get_stop(mca_btl_epofi_module_t *module)
{
    while (NULL != module->gets) {
        mca_btl_epofi_get_t *next = module->gets->made;

        free(module->gets);
        module->gets = next;
    }
    module->free_gets = NULL;
    module->waiting_gets = NULL;
    module->waiting_gets_tail = &module->waiting_gets;
}
