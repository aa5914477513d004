/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Life of the modules of the node side.
 *
 * Tests: unit/test_epshm_node, create_loop
 */

#include "opal_config.h"

#include "btl_epshm_node.h"

#include "opal/util/proc.h"

#define NODE_ADDRESS_MAGIC 0x6e687365u
#define NODE_ADDRESS_VERSION 3u

/** Pipes that lead to a module and elements of its doorbell's list, before it needs more memory. */
#define NODE_IN_FIRST 8
#define NODE_ELEMENTS_FIRST 32

_Static_assert(MCA_BTL_EP_ADDRESS_MAX >= sizeof(epshm_node_address_t), "an address must fit");

bool mca_btl_epshm_node_address_read(const void *blob, size_t length, epshm_node_address_t *address)
{
    if (sizeof(*address) != length) {
        return false;
    }
    memcpy(address, blob, sizeof(*address));
    return NODE_ADDRESS_MAGIC == address->magic && NODE_ADDRESS_VERSION == address->version
           && address->doorbell < address->size && 0 == address->doorbell % EPSHM_PIPE_LINE;
}

void mca_btl_epshm_node_address_write(epshm_node_address_t *address, uint64_t size,
                                      uint64_t doorbell, uint64_t addressee)
{
    *address = (epshm_node_address_t){.magic = NODE_ADDRESS_MAGIC,
                                      .version = NODE_ADDRESS_VERSION,
                                      .process = OPAL_PROC_MY_NAME,
                                      .size = size,
                                      .doorbell = doorbell,
                                      .addressee = addressee};
}

/** What a module has found in its doorbell and whose pipes it has: at once as many as mostly do, so
 * that messages arrive where there is no memory later.  @return false: no memory */
static bool lists_make(epshm_node_module_t *module)
{
    module->in_capacity = NODE_IN_FIRST;
    module->in = calloc(module->in_capacity, sizeof(*module->in));
    module->found_capacity = NODE_ELEMENTS_FIRST;
    module->found = calloc(module->found_capacity, sizeof(*module->found));
    module->pipes_most = mca_btl_epshm_component.pipes;
    module->piped = calloc(module->pipes_most + (size_t) 1, sizeof(*module->piped));
    return NULL != module->in && NULL != module->found && NULL != module->piped;
}

static void lists_free(epshm_node_module_t *module)
{
    free(module->in);
    free(module->found);
    free(module->refused);
    free(module->piped);
}

static int node_module_finalize(mca_btl_base_module_t *btl)
{
    epshm_node_module_t *module = (epshm_node_module_t *) btl;

    mca_btl_epshm_node_leave(module);
    if (!module->broken) { /* otherwise a producer still has to see that it is */
        mca_btl_epshm_segment_put(&module->doorbell_block);
    }
    mca_btl_epshm_node_packets_retire(module, NULL);
    OBJ_DESTRUCT(&module->frag);
    lists_free(module);
    free(module);
    /* Relaxed: only counts; the component is closed after the last creation of a module. */
    atomic_fetch_sub_explicit(&mca_btl_epshm_component.node_modules, 1, memory_order_relaxed);
    return OPAL_SUCCESS;
}

static const mca_btl_ep_module_t module_template = {
    .super = {
        .btl_component = &mca_btl_epshm_component.super.super,
        .btl_exclusivity = MCA_BTL_EXCLUSIVITY_DEFAULT,
        .btl_flags = MCA_BTL_FLAGS_SEND | MCA_BTL_FLAGS_SEND_INPLACE,
        .btl_finalize = node_module_finalize,
        .btl_alloc = mca_btl_epshm_node_alloc,
        .btl_free = mca_btl_epshm_node_free,
        .btl_prepare_src = mca_btl_epshm_node_prepare_src,
        .btl_send = mca_btl_epshm_node_send,
        .btl_sendi = mca_btl_epshm_node_sendi,
    },
    .ep_progress = mca_btl_epshm_node_progress,
    .ep_pending = mca_btl_epshm_node_pending,
    .ep_connect = mca_btl_epshm_node_connect,
    .ep_disconnect = mca_btl_epshm_node_disconnect,
    .ep_reach = mca_btl_epshm_node_reach,
    .ep_send = mca_btl_epshm_node_ep_send,
    .ep_check_liveness = mca_btl_epshm_node_ask,
    .ep_abandon = mca_btl_epshm_node_abandon,
    .ep_refuse = mca_btl_epshm_node_refuse,
    .ep_is_left = mca_btl_epshm_node_is_left,
    .ep_drain = mca_btl_epshm_node_drain,
    .ep_count = mca_btl_epshm_node_count,
    .ep_address_length = sizeof(epshm_node_address_t),
};

static void fill_module(epshm_node_module_t *module, void *context)
{
    const size_t eager = mca_btl_epshm_component.pipe_eager_limit;

    module->super = module_template;
    module->super.ep_context = context;
    module->super.super.btl_eager_limit = eager;
    module->super.super.btl_rndv_eager_limit = eager;
    module->super.super.btl_max_send_size = mca_btl_epshm_node_max_send_size();
    mca_btl_epshm_node_set_get(&module->super.super);
    OBJ_CONSTRUCT(&module->frag, epshm_node_frag_t);
}

int mca_btl_epshm_node_module_create(void *context, mca_btl_ep_module_t **module_p)
{
    /* Counted from the segment's stamp on, which is random: no other module's number, nor 0, except
     * with a probability of 2^-64 each. */
    static _Atomic uint64_t last_addressee = 0;
    epshm_node_address_t address;
    epshm_node_module_t *module;
    uint64_t stamp, size;
    int rc;

    if (!mca_btl_epshm_component.processes) {
        return OPAL_ERR_NOT_AVAILABLE;
    }
    rc = mca_btl_epshm_segment_open(&stamp, &size);
    if (OPAL_SUCCESS != rc) {
        return rc;
    }
    module = calloc(1, sizeof(*module));
    if (NULL == module) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    if (!lists_make(module)
        || !mca_btl_epshm_segment_get(EPSHM_BLOCK_DOORBELL, sizeof(*module->doorbell), 0,
                                      &module->doorbell_block)) {
        lists_free(module);
        free(module);
        return OPAL_ERR_NOT_AVAILABLE;
    }
    fill_module(module, context);
    module->doorbell = (epshm_doorbell_t *) module->doorbell_block.memory;
    /* From now on an endpoint has it; what comes late for the one before has another addressee.
     * Relaxed: the new address is not known yet. */
    if (EPSHM_DOORBELL_LEFT
        == atomic_load_explicit(&module->doorbell->last, memory_order_relaxed)) {
        atomic_store_explicit(&module->doorbell->last, 0, memory_order_relaxed);
    }
    module->addressee = stamp + 1
                        + atomic_fetch_add_explicit(&last_addressee, 1, memory_order_relaxed);
    atomic_store_explicit(&module->doorbell->owner, module->addressee, memory_order_relaxed);
    mca_btl_epshm_node_address_write(&address, size, module->doorbell_block.offset,
                                     module->addressee);
    address.stamp = stamp;
    memcpy(module->super.ep_address, &address, sizeof(address));
    atomic_fetch_add_explicit(&mca_btl_epshm_component.node_modules, 1, memory_order_relaxed);
    *module_p = &module->super;
    return OPAL_SUCCESS;
}
