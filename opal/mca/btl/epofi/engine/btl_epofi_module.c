/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Life of a module.
 *
 * Creation runs under the component's lock; what follows belongs to the module's owner until
 * finalize takes the lock again.
 *
 * Tests: unit/test_epofi_life, create_loop, create_many
 */

#include "opal_config.h"

#include "../proto/proto.h"
#include "../peer/peer.h"
#include "../object/object.h"
#include "../share/share.h"
#include "../fabric/fabric.h"
#include "../base/base.h"
#include "btl_epofi_module.h"
#include "btl_epofi_progress.h"

#include "opal/mca/btl/base/base.h"
#include "opal/mca/pmix/pmix-internal.h"
#include "opal/util/output.h"
#include "opal/util/proc.h"
#include "opal/util/show_help.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Bound of the inject buffer: above it the copy costs more than a send buffer does. */
#define INJECT_MAX 4096

/** Polls between two looks at the clock, and two chances for others, while finalize waits. */
#define LINGER_POLLS 64

uint64_t mca_btl_epofi_dropped(const mca_btl_ep_module_t *ep_module)
{
    return ((const mca_btl_epofi_module_t *) ep_module)->dropped;
}

/** Free everything of a module whose context is closed or kept open. */
static void module_free(mca_btl_epofi_module_t *module)
{
    mca_btl_epofi_endpoint_free_all(module);
    mca_btl_epofi_pairs_fini(module);
    mca_btl_epofi_recv_stop(module);
    mca_btl_epofi_pool_fini(&module->eager_pool);
    mca_btl_epofi_pool_fini(&module->max_pool);
    free(module->inject_buffer);
    free(module);
}

/** Regions that are bound to an endpoint go before it, all others after it, when nothing can write
 * to them any more; closing a domain takes both gone. */
static void close_regions(mca_btl_epofi_module_t *module)
{
    mca_btl_epofi_slab_t *slab;

    mca_btl_epofi_regions_stop(module);
    mca_btl_epofi_get_stop(module);
    for (mca_btl_epofi_recvs_t *recvs = module->recvs; NULL != recvs; recvs = recvs->next) {
        if (NULL != recvs->mr) {
            (void) fi_close(&recvs->mr->fid);
            recvs->mr = NULL;
        }
    }
    for (int i = 0; i < 2; ++i) {
        slab = 0 == i ? module->eager_pool.slabs : module->max_pool.slabs;
        for (; NULL != slab; slab = slab->next) {
            if (NULL != slab->mr) {
                (void) fi_close(&slab->mr->fid);
                slab->mr = NULL;
            }
        }
    }
}

static void close_endpoint(mca_btl_epofi_module_t *module)
{
    if (!module->fabric->mr_endpoint) {
        (void) fi_close(&module->fi.ep->fid);
        module->fi.ep = NULL;
    }
    close_regions(module);
}

/** Of a module that shared its context, when nothing of it is in there any more. */
static void module_release(void *object)
{
    mca_btl_epofi_module_t *module = object;

    close_regions(module);
    module_free(module);
}

/** Give back the context, which others may go on with.  The provider may have operations that it
 * never ends, to peers that are gone, and with them our memory: then that stays as long as the
 * context does. */
static void leave_shared(mca_btl_epofi_module_t *module)
{
    const bool is_over = mca_btl_epofi_context_drop(&module->fi);

    mca_btl_epofi_endpoint_leave_all(module, is_over);
    if (is_over) {
        close_regions(module); /* which the context has, and it may go now */
        mca_btl_epofi_deferred_close_leave(module);
        module_free(module);
        return;
    }
    mca_btl_epofi_regions_stop(module); /* the user's memory is not ours to keep */
    mca_btl_epofi_context_keep(&module->fi, module_release, module);
    mca_btl_epofi_deferred_close_leave(module); /* the last one buries all */
}

/** Close a module's own context, or park it. */
static void leave_own(mca_btl_epofi_module_t *module)
{
    if (!module->entangled) {
        close_endpoint(module);
    } else {
        close_regions(module);
    }
    mca_btl_epofi_deferred_close_leave(module);
    module_free(module);
}

/** Wait until the provider has got rid of everything that was sent, so that no message is lost with
 * the queue it stands in. */
static void module_linger(mca_btl_epofi_module_t *module)
{
    const uint64_t limit = (uint64_t) mca_btl_epofi_component.linger * 1000000u;
    uint64_t start = 0;

    /* Once more than it seems to need: the provider may have a buffer of its own to empty. */
    for (unsigned int polls = 1; 0 <= mca_btl_epofi_progress(&module->super); ++polls) {
        if (0 == module->inflight) {
            return;
        }
        if (0 != polls % LINGER_POLLS) {
            continue;
        }
        if (0 == mca_btl_epofi_endpoint_awaited(module)) {
            return; /* the rest is for peers that are gone */
        }
        if (0 == start) {
            start = mca_btl_epofi_now();
        } else if (mca_btl_epofi_now() - start > limit) {
            EPOFI_SHOW_HELP("lingered", true, opal_process_info.nodename,
                            module->fabric->info->fabric_attr->prov_name, module->inflight,
                            mca_btl_epofi_component.linger);
            return;
        }
        (void) sched_yield();
    }
}

static int module_finalize(mca_btl_base_module_t *btl)
{
    MCA_BTL_EP_HOLD_CANCEL();
    mca_btl_epofi_module_t *module = (mca_btl_epofi_module_t *) btl;

    module->closing = true;
    module_linger(module);
    mca_btl_epofi_packet_thread_leave(module);
    if (0 < module->dropped) {
        opal_output_verbose(1, opal_btl_base_framework.framework_output,
                            "btl:epofi: an endpoint dropped %llu messages",
                            (unsigned long long) module->dropped);
    }
    opal_mutex_lock(&mca_btl_epofi_lock);
    if (NULL != module->fi.member) {
        leave_shared(module);
    } else {
        leave_own(module);
    }
    mca_btl_epofi_fabric_release();
    opal_mutex_unlock(&mca_btl_epofi_lock);
    return OPAL_SUCCESS;
}

static void module_count(const mca_btl_ep_module_t *ep_module, mca_btl_ep_counts_t *counts)
{
    MCA_BTL_EP_HOLD_CANCEL();
    const mca_btl_epofi_module_t *module = (const mca_btl_epofi_module_t *) ep_module;
    const mca_btl_epofi_pairs_t *pairs = &module->pairs;

    *counts = (mca_btl_ep_counts_t){.dropped = module->dropped};
    for (uint32_t i = 0; i <= pairs->mask; ++i) {
        if (NULL != pairs->slots[i].pair) {
            counts->messages += pairs->slots[i].pair->out.sequence + pairs->slots[i].pair->packed;
            counts->bytes += pairs->slots[i].pair->sent_bytes;
        }
    }
    mca_btl_epofi_packets_count(module, counts);
}

static void fill_in(mca_btl_epofi_module_t *module, void *context)
{
    const mca_btl_epofi_fabric_t *fabric = module->fabric;
    mca_btl_base_module_t *btl = &module->super.super;

    btl->btl_component = &mca_btl_epofi_component.super.super;
    btl->btl_eager_limit = module->eager_pool.size;
    btl->btl_rndv_eager_limit = btl->btl_eager_limit;
    btl->btl_max_send_size = module->max_pool.size;
    btl->btl_flags = MCA_BTL_FLAGS_SEND;
    btl->btl_finalize = module_finalize;
    btl->btl_alloc = mca_btl_epofi_alloc;
    btl->btl_free = mca_btl_epofi_free;
    btl->btl_prepare_src = mca_btl_epofi_prepare_src;
    btl->btl_send = mca_btl_epofi_send;
    btl->btl_sendi = mca_btl_epofi_sendi;
    if (fabric->rma) {
        btl->btl_flags |= MCA_BTL_FLAGS_GET;
        btl->btl_get = mca_btl_epofi_get;
        btl->btl_get_limit = SIZE_MAX;
        btl->btl_get_alignment = 0;
        btl->btl_get_local_registration_threshold = fabric->mr_local ? 0 : SIZE_MAX;
        btl->btl_register_mem = mca_btl_epofi_register_mem;
        btl->btl_deregister_mem = mca_btl_epofi_deregister_mem;
        btl->btl_registration_handle_size = sizeof(struct mca_btl_base_registration_handle_t);
    }

    module->super.ep_context = context;
    module->super.ep_progress = mca_btl_epofi_progress;
    module->super.ep_pending = mca_btl_epofi_pending;
    module->super.ep_connect = mca_btl_epofi_connect;
    module->super.ep_disconnect = mca_btl_epofi_disconnect;
    module->super.ep_send = mca_btl_epofi_ep_send;
    module->super.ep_answer = mca_btl_epofi_ep_answer;
    module->super.ep_check_liveness = mca_btl_epofi_liveness_check;
    module->super.ep_count = module_count;
    module->super.ep_abandon = mca_btl_epofi_abandon;
}

/** The smaller of two sizes of payload: what the user wants, and what one message can carry. */
static size_t limit_to_message(const struct fi_info *info, size_t size)
{
    size_t room = info->ep_attr->max_msg_size - sizeof(mca_btl_epofi_wire_t);

    return size < room ? size : room;
}

static mca_btl_epofi_module_t *module_new(const mca_btl_epofi_fabric_t *fabric)
{
    const mca_btl_epofi_component_t *component = &mca_btl_epofi_component;
    const struct fi_info *info = fabric->info;
    mca_btl_epofi_module_t *module = calloc(1, sizeof(*module));

    if (NULL == module) {
        return NULL;
    }
    module->upcalls = &mca_btl_epofi_upcalls;
    module->fabric = fabric;
    module->peer_queue = component->peer_queue;
    module->waiting_gets_tail = &module->waiting_gets;
    module->regions.next = &module->regions;
    module->regions.previous = &module->regions;
    module->inject_size = info->tx_attr->inject_size;
    if (INJECT_MAX < module->inject_size) {
        module->inject_size = INJECT_MAX;
    }
    module->inject_buffer = malloc(INJECT_MAX);
    mca_btl_epofi_pool_init(&module->eager_pool, limit_to_message(info, fabric->eager_limit),
                            component->send_buffers);
    mca_btl_epofi_pool_init(&module->max_pool, limit_to_message(info, fabric->max_send_size),
                            component->max_send_buffers);
    mca_btl_epofi_packets_init(module);
    if (NULL == module->inject_buffer) {
        module_free(module);
        return NULL;
    }
    return module;
}

/** The shm provider has a file in /dev/shm for each context, named by its address.  A process that
 * is killed leaves them; the launcher takes them away. */
static void register_cleanup(const mca_btl_epofi_module_t *module)
{
    static const char scheme[] = "fi_shm://";
    const mca_btl_epofi_address_t *address
        = (const mca_btl_epofi_address_t *) module->super.ep_address;
    const char *name = (const char *) address->bytes;
    char path[sizeof(address->bytes) + 16];

    if (FI_ADDR_STR != address->format || 0 != strncmp(name, scheme, sizeof(scheme) - 1)
        || !PMIx_Initialized()) {
        return;
    }
    (void) snprintf(path, sizeof(path), "/dev/shm/%s", name + sizeof(scheme) - 1);
    (void) opal_pmix_register_cleanup(path, false, false, false);
}

int mca_btl_epofi_module_create(void *context, uint32_t flags, mca_btl_ep_module_t **module_p)
{
    const mca_btl_epofi_fabric_t *fabric;
    mca_btl_epofi_module_t *module;
    int rc = mca_btl_epofi_fabric_acquire(&fabric);

    (void) flags; /* no BTL uses any yet */
    if (OPAL_SUCCESS != rc) {
        return rc;
    }
    module = module_new(fabric);
    if (NULL == module) {
        rc = OPAL_ERR_OUT_OF_RESOURCE;
        goto err_release_fabric;
    }
    rc = mca_btl_epofi_context_get(fabric,
                                   (const mca_btl_epofi_address_t *) module->super.ep_address,
                                   &module->fi);
    if (OPAL_SUCCESS != rc) {
        goto err_free_module;
    }
    rc = mca_btl_epofi_address_publish(module);
    if (OPAL_SUCCESS != rc) {
        goto err_close_context;
    }
    rc = mca_btl_epofi_recv_start(module);
    if (OPAL_SUCCESS != rc) {
        goto err_close_endpoint;
    }
    fill_in(module, context);
    register_cleanup(module);
    mca_btl_epofi_deferred_close_enter(module);
    *module_p = &module->super;
    return OPAL_SUCCESS;

err_close_endpoint:
    if (NULL != module->fi.member) {
        (void) mca_btl_epofi_context_drop(&module->fi);
        close_regions(module);
    } else {
        close_endpoint(module);
    }
err_close_context:
    mca_btl_epofi_context_put(&module->fi);
err_free_module:
    module_free(module);
err_release_fabric:
    mca_btl_epofi_fabric_release();
    return rc;
}
