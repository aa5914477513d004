/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The module of one endpoint: its function table, its beginning and its end.
 *
 * Tests: unit/test_epshm_spsc_rings, create_many, create_loop
 */

#include "opal_config.h"

#include "../base/base.h"
#include "btl_epshm_types.h"

static int connect_peer(mca_btl_ep_module_t *module, const void *address, size_t length,
                        struct mca_btl_base_endpoint_t **endpoint_p)
{
    mca_btl_epshm_address_t blob;
    struct mca_btl_base_endpoint_t *endpoint;

    (void) module;
    if (sizeof(blob) != length) {
        return OPAL_ERR_BAD_PARAM;
    }
    memcpy(&blob, address, sizeof(blob));
    endpoint = mca_btl_epshm_recv_queue_find(&blob);
    if (NULL == endpoint) {
        return OPAL_ERR_UNREACH;
    }
    *endpoint_p = endpoint;
    return OPAL_SUCCESS;
}

static void disconnect_peer(mca_btl_ep_module_t *module, struct mca_btl_base_endpoint_t *endpoint)
{
    (void) module;
    mca_btl_epshm_recv_queue_release(endpoint);
}

static int module_finalize(mca_btl_base_module_t *btl)
{
    mca_btl_epshm_module_t *module = (mca_btl_epshm_module_t *) btl;

    mca_btl_epshm_spsc_rings_leave(module);
    mca_btl_epshm_recv_queue_close(module->recv_queue);
    mca_btl_epshm_pool_abandon(module->pool);
    free(module);
    return OPAL_SUCCESS;
}

static const mca_btl_ep_module_t module_template = {
    .super = {
        .btl_component = &mca_btl_epshm_component.super.super,
        .btl_exclusivity = MCA_BTL_EXCLUSIVITY_DEFAULT,
        .btl_flags = MCA_BTL_FLAGS_SEND | MCA_BTL_FLAGS_SEND_INPLACE | MCA_BTL_FLAGS_GET,
        .btl_get_limit = SIZE_MAX,
        .btl_get_alignment = 0,
        .btl_finalize = module_finalize,
        .btl_alloc = mca_btl_epshm_alloc,
        .btl_free = mca_btl_epshm_free,
        .btl_prepare_src = mca_btl_epshm_prepare_src,
        .btl_send = mca_btl_epshm_send,
        .btl_sendi = mca_btl_epshm_sendi,
        .btl_get = mca_btl_epshm_get,
    },
    .ep_progress = mca_btl_epshm_progress,
    .ep_pending = mca_btl_epshm_pending,
    .ep_connect = connect_peer,
    .ep_disconnect = disconnect_peer,
    .ep_send = mca_btl_epshm_ep_send,
    .ep_count = mca_btl_epshm_count,
    .ep_address_length = sizeof(mca_btl_epshm_address_t),
};

int mca_btl_epshm_module_create(void *context, uint32_t flags, mca_btl_ep_module_t **module_p)
{
    mca_btl_epshm_module_t *module = malloc(sizeof(*module));
    mca_btl_epshm_address_t address;

    (void) flags;
    if (NULL == module) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    module->super = module_template;
    module->super.ep_context = context;
    module->super.super.btl_eager_limit = mca_btl_epshm_component.eager_limit;
    module->super.super.btl_rndv_eager_limit = mca_btl_epshm_component.eager_limit;
    module->super.super.btl_max_send_size = mca_btl_epshm_component.max_send_size;
    if (epshm_zcopy_setup()) {
        module->super.ep_send_zcopy = mca_btl_epshm_ep_send_zcopy;
        module->super.ep_zcopy_min = mca_btl_epshm_component.zcopy_min;
        module->super.ep_zcopy_max = mca_btl_epshm_component.zcopy_max;
        if (module->super.ep_zcopy_max > mca_btl_epshm_component.max_send_size) {
            module->super.ep_zcopy_max = mca_btl_epshm_component.max_send_size;
        }
    }
    module->burst = 0;
    module->other = (epshm_other_counts_t){0, 0};
    module->zcopy_calls = 0;
    module->zcopy_start = 0;
    module->collected = false;
    atomic_init(&module->zcopy_on, 0);
    /* Relaxed: there is no SPSC ring yet. */
    atomic_init(&module->closed_seen,
                atomic_load_explicit(&mca_btl_epshm_recv_queues_closed, memory_order_relaxed));
    memset(module->place, 0, sizeof(module->place));
    memset(module->copies, 0, sizeof(module->copies));

    module->recv_queue = mca_btl_epshm_recv_queue_create(mca_btl_epshm_component.ring_cells);
    if (NULL == module->recv_queue) {
        goto err_free_module;
    }
    module->pool = mca_btl_epshm_pool_create();
    if (NULL == module->pool) {
        goto err_close_recv_queue;
    }
    mca_btl_epshm_recv_queue_address(module->recv_queue, &address);
    memcpy(module->super.ep_address, &address, sizeof(address));
    *module_p = &module->super;
    return OPAL_SUCCESS;

err_close_recv_queue:
    mca_btl_epshm_recv_queue_close(module->recv_queue);
err_free_module:
    free(module);
    return OPAL_ERR_OUT_OF_RESOURCE;
}
