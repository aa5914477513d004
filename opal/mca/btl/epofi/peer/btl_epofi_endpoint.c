/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Peers: connecting and disconnecting.
 *
 * A peer is known by the id in its address.  Connecting twice gives the same endpoint with one more
 * reference; an endpoint without references stays until the provider is done with what was sent to
 * it.
 *
 * Tests: unit/test_epofi, unit/test_epofi_life, cut, fault
 */

#include "opal_config.h"

#include "../object/object.h"
#include "../sockets/sockets.h"
#include "../base/base.h"
#include "btl_epofi_address.h"
#include "btl_epofi_endpoint.h"

#include "opal/util/proc.h"
#include "opal/util/show_help.h"

#include <stdlib.h>
#include <string.h>

/** Say why a peer's address cannot be used, the first time. */
static void cannot_connect(mca_btl_epofi_module_t *module, const mca_btl_epofi_address_t *address,
                           int result)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    char peer[EPOFI_DESCRIBE], own[EPOFI_OWN_TEXT];

    if (mca_btl_epofi_first_time(&said)) {
        EPOFI_SHOW_HELP("cannot connect", true, opal_process_info.nodename,
                        mca_btl_epofi_describe(module, NULL, address->bytes, peer, sizeof(peer)),
                        module->fabric->info->fabric_attr->prov_name,
                        mca_btl_epofi_describe_own(module, own),
                        0 > result ? fi_strerror(-result) : "the address is not accepted");
    }
}

/** Let provider and acceptor know the endpoint's address.  @return OPAL_SUCCESS;
 * OPAL_ERR_OUT_OF_RESOURCE; OPAL_ERR_UNREACH, which has been said */
static int address_enter(mca_btl_epofi_module_t *module, struct mca_btl_base_endpoint_t *endpoint)
{
    int result;

    mca_btl_epofi_packets_hold(module);
    result = mca_btl_epofi_av_insert(module->fi.av_table, &endpoint->callee, &endpoint->entry);
    mca_btl_epofi_packets_release(module);
    if (1 == result) {
        endpoint->address = endpoint->entry->address;
        return OPAL_SUCCESS;
    }
    cannot_connect(module, &endpoint->callee.name, result);
    return -FI_ENOMEM == result ? OPAL_ERR_OUT_OF_RESOURCE : OPAL_ERR_UNREACH;
}

static void address_leave(mca_btl_epofi_module_t *module, struct mca_btl_base_endpoint_t *endpoint)
{
    mca_btl_epofi_packets_hold(module);
    mca_btl_epofi_av_remove(module->fi.av_table, endpoint->entry);
    mca_btl_epofi_packets_release(module);
}

static struct mca_btl_base_endpoint_t *endpoint_new(mca_btl_epofi_module_t *module,
                                                    const mca_btl_epofi_address_t *address,
                                                    int *rc_p)
{
    struct mca_btl_base_endpoint_t *endpoint = calloc(1, sizeof(*endpoint));

    *rc_p = OPAL_ERR_OUT_OF_RESOURCE;
    if (NULL == endpoint) {
        return NULL;
    }
    endpoint->module = module;
    endpoint->callee.name = *address;
    endpoint->pair = mca_btl_epofi_pair_get(module, address);
    if (NULL == endpoint->pair) {
        goto err_free_endpoint;
    }
    endpoint->callee.order = endpoint->pair->order;
    endpoint->failed = endpoint->pair->lost;
    module->upcalls->start(endpoint);
    *rc_p = address_enter(module, endpoint);
    if (OPAL_SUCCESS != *rc_p) {
        goto err_free_endpoint;
    }
    endpoint->pair->endpoint = endpoint;
    endpoint->next = module->endpoint_list;
    module->endpoint_list = endpoint;
    return endpoint;

err_free_endpoint:
    free(endpoint);
    return NULL;
}

struct mca_btl_base_endpoint_t *mca_btl_epofi_endpoint_again(mca_btl_epofi_module_t *module,
                                                             const mca_btl_epofi_pair_t *pair)
{
    mca_btl_epofi_address_t address = {0};
    int rc;

    memcpy(&address, pair->address, pair->address_length);
    return endpoint_new(module, &address, &rc);
}

int mca_btl_epofi_endpoint_at(mca_btl_epofi_module_t *module, const void *blob, size_t length,
                              struct mca_btl_base_endpoint_t **endpoint_p)
{
    const mca_btl_epofi_pair_t *pair;
    mca_btl_epofi_address_t address;
    int rc = mca_btl_epofi_address_check(module, blob, length, &address);

    if (OPAL_SUCCESS != rc) {
        return rc;
    }
    pair = mca_btl_epofi_pair_find(module, address.id);
    if (NULL != pair && NULL != pair->endpoint) {
        *endpoint_p = pair->endpoint;
        return OPAL_SUCCESS;
    }
    mca_btl_epofi_deferred_close_connect(module, blob, length);
    *endpoint_p = endpoint_new(module, &address, &rc);
    return rc;
}

int mca_btl_epofi_connect(mca_btl_ep_module_t *ep_module, const void *blob, size_t length,
                          struct mca_btl_base_endpoint_t **endpoint_p)
{
    MCA_BTL_EP_HOLD_CANCEL();
    struct mca_btl_base_endpoint_t *endpoint;
    int rc = mca_btl_epofi_endpoint_at((mca_btl_epofi_module_t *) ep_module, blob, length,
                                       &endpoint);

    if (OPAL_SUCCESS != rc) {
        return rc;
    }
    if (0 == endpoint->references++) {
        endpoint->pair->given_up = false; /* by the module's owner before this one */
    }
    *endpoint_p = endpoint;
    return OPAL_SUCCESS;
}

/** Endpoints that are connected for nothing but questions.  Relaxed, everywhere: a count. */
static _Atomic uint32_t quiet_count;

bool mca_btl_epofi_endpoint_may_check_liveness(struct mca_btl_base_endpoint_t *endpoint,
                                               bool connect)
{
    if (endpoint->quiet || mca_btl_epofi_pair_is_used(endpoint->pair)) {
        return true;
    }
    if (!connect) {
        return false;
    }
    if (mca_btl_epofi_component.quiet
        <= atomic_fetch_add_explicit(&quiet_count, 1, memory_order_relaxed)) {
        (void) atomic_fetch_sub_explicit(&quiet_count, 1, memory_order_relaxed);
        return false;
    }
    endpoint->quiet = true;
    return true;
}

static void endpoint_free(struct mca_btl_base_endpoint_t *endpoint)
{
    if (endpoint->quiet) {
        (void) atomic_fetch_sub_explicit(&quiet_count, 1, memory_order_relaxed);
    }
    free(endpoint);
}

void mca_btl_epofi_endpoint_retire(struct mca_btl_base_endpoint_t *endpoint)
{
    mca_btl_epofi_module_t *module = endpoint->module;
    struct mca_btl_base_endpoint_t **link = &module->endpoint_list;

    if (0 < endpoint->inflight) {
        return;
    }
    while (*link != endpoint) {
        link = &(*link)->next;
    }
    *link = endpoint->next;
    endpoint->pair->endpoint = NULL;
    endpoint->pair->given_up |= endpoint->failed;
    address_leave(module, endpoint);
    endpoint_free(endpoint);
}

void mca_btl_epofi_disconnect(mca_btl_ep_module_t *ep_module,
                              struct mca_btl_base_endpoint_t *endpoint)
{
    MCA_BTL_EP_HOLD_CANCEL();
    (void) ep_module;
    if (0 == --endpoint->references) {
        mca_btl_epofi_endpoint_retire(endpoint);
    }
}

void mca_btl_epofi_endpoint_leave_all(mca_btl_epofi_module_t *module, bool is_over)
{
    struct mca_btl_base_endpoint_t *endpoint;

    for (endpoint = module->endpoint_list; NULL != endpoint; endpoint = endpoint->next) {
        /* The provider knows the address of an endpoint with operations under way. */
        if (is_over || 0 == endpoint->inflight) {
            address_leave(module, endpoint);
            endpoint->entry = NULL;
        }
    }
}

void mca_btl_epofi_endpoint_free_all(mca_btl_epofi_module_t *module)
{
    while (NULL != module->endpoint_list) {
        struct mca_btl_base_endpoint_t *next = module->endpoint_list->next;

        endpoint_free(module->endpoint_list);
        module->endpoint_list = next;
    }
}
