/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The process's fabric: its requirements, and its reference count.
 *
 * Chosen (btl_epofi_choose.c) and opened when the first module is made, so that a process that
 * needs no network opens none.  All functions run under the component's lock.
 *
 * Tests: unit/test_epofi_life, create_errors, cluster
 */

#include "opal_config.h"

#include "../sockets/sockets.h"
#include "../base/base.h"
#include "btl_epofi_choose.h"
#include "btl_epofi_fabric.h"
#include "btl_epofi_net.h"

#include "opal/mca/btl/base/base.h"
#include "opal/mca/common/ep/common_ep_hash.h"
#include "opal/util/output.h"
#include "opal/util/proc.h"
#include "opal/util/show_help.h"

#include <stdlib.h>
#include <string.h>

static struct {
    mca_btl_epofi_fabric_t fabric;
    mca_btl_epofi_net_t net; /**< of the job; found out when the fabric is opened */
    uint32_t users;          /**< modules */
    int opens;               /**< of the component */
    int failure;             /**< OPAL_SUCCESS, or why there is no fabric; said already */
} shared;

/** What goes at once over tcp: 128 KiB, and any header. */
#define TCP_EAGER 132096

static bool is_tcp(const struct fi_info *info)
{
    return 0 == strcmp(info->fabric_attr->prov_name, "tcp");
}

/** The largest message that is sent in one, which is what a receive buffer has room for. */
static size_t max_send_size(const struct fi_info *info)
{
    const size_t wanted = mca_btl_epofi_component.max_send_size;
    const size_t size = 0 != wanted ? wanted : is_tcp(info) ? TCP_EAGER : 65536;
    const size_t eager = mca_btl_epofi_component.eager_limit;

    return size > eager ? size : eager;
}

/**
 * Up to where a message is better sent at once than offered and fetched.
 *
 * Measured one way, on a loopback: over tcp 64 KiB take 11 us sent at once and 22 us offered and
 * fetched, 128 KiB 18 and 27 us, 256 KiB 35 us either way, and a real network's round trip only
 * adds to the latter.  A stream is as fast either way.  shm takes 0.3 us for what it copies itself
 * (4 KiB), but 2.1 us for anything larger, which is what offering and fetching takes too, without
 * our copies.
 *
 * @param[in] most  bytes of a receive buffer
 */
static size_t eager_limit(const struct fi_info *info, size_t most)
{
    const size_t injected = info->tx_attr->inject_size - sizeof(mca_btl_epofi_wire_t);
    size_t limit = 16384;

    if (0 != mca_btl_epofi_component.eager_limit) {
        return mca_btl_epofi_component.eager_limit;
    }
    if (is_tcp(info)) {
        limit = TCP_EAGER;
    } else if (0 == strcmp(info->fabric_attr->prov_name, "shm") && 1024 < injected
               && injected < limit) {
        limit = injected;
    }
    return limit < most ? limit : most;
}

/** How much one read fetches.  Over tcp more than fits between the two sockets makes the two
 * processes take turns: 4 MiB over a loopback take 360 us in pieces of 512 KiB, 560 to 1200 us in
 * one. */
static size_t get_chunk(const struct fi_info *info)
{
    const size_t most = info->ep_attr->max_msg_size;
    size_t chunk = mca_btl_epofi_component.get_chunk;

    if (0 == chunk) {
        chunk = is_tcp(info) ? 524288 : most;
    }
    return chunk < most ? chunk : most;
}

static void fabric_describe(mca_btl_epofi_fabric_t *fabric, struct fi_info *info, bool rma)
{
    fabric->info = info;
    fabric->rma = rma;
    fabric->max_send_size = max_send_size(info);
    fabric->eager_limit = eager_limit(info, fabric->max_send_size);
    fabric->get_chunk = get_chunk(info);
    fabric->provider_hash = ep_hash32(info->fabric_attr->prov_name);
    fabric->mr_local = 0 != (info->domain_attr->mr_mode & FI_MR_LOCAL);
    fabric->mr_virtual = 0 != (info->domain_attr->mr_mode & FI_MR_VIRT_ADDR);
    fabric->mr_prov_key = 0 != (info->domain_attr->mr_mode & FI_MR_PROV_KEY);
    fabric->mr_endpoint = 0 != (info->domain_attr->mr_mode & FI_MR_ENDPOINT);
    fabric->packs = is_tcp(info) && 0 < mca_btl_epofi_component.packet_size && !fabric->mr_local;
    if (fabric->packs) {
        /* the packet thread sends while the owner does something else. */
        info->domain_attr->threading = FI_THREAD_SAFE;
    }
    /* Its queue of receives is first in, first out, and fi_cancel takes out what still waits. */
    fabric->recv_watched = is_tcp(info);
    fabric->wants_context = 0 != (info->mode & (FI_CONTEXT | FI_CONTEXT2));
    fabric->needs_deferred_close = 0 == strcmp(info->fabric_attr->prov_name, "shm");
}

static int fabric_open(void)
{
    mca_btl_epofi_fabric_t *fabric = &shared.fabric;
    bool rma = true;
    struct fi_info *info;
    int result = OPAL_SUCCESS;

    if (!mca_btl_epofi_parameters_right()) {
        return OPAL_ERR_NOT_AVAILABLE;
    }
    mca_btl_epofi_net_choose(&shared.net);
    info = mca_btl_epofi_choose(&shared.net, true, &result);
    if (NULL == info) {
        rma = false;
        info = mca_btl_epofi_choose(&shared.net, false, &result);
    }
    if (NULL == info) {
        mca_btl_epofi_choose_say_nothing(result);
        return OPAL_ERR_NOT_AVAILABLE;
    }
    if (mca_btl_epofi_component.recv_buffers > info->rx_attr->size) {
        EPOFI_SHOW_HELP("too many receive buffers", true, info->fabric_attr->prov_name,
                        mca_btl_epofi_component.recv_buffers, info->rx_attr->size);
        goto err_free_info;
    }
    result = fi_fabric(info->fabric_attr, &fabric->fabric, NULL);
    if (0 != result) {
        EPOFI_SHOW_HELP("cannot open", true, opal_process_info.nodename,
                        info->fabric_attr->prov_name, "fabric", info->fabric_attr->name,
                        fi_strerror(-result));
        goto err_free_info;
    }
    fabric_describe(fabric, info, rma);
    if (is_tcp(info)) {
        mca_btl_epofi_calls_lead(fabric->fabric);
    }
    opal_output_verbose(10, opal_btl_base_framework.framework_output,
                        "btl:epofi: provider %s, interface %s, inject size %zu, %s RMA; %zu hosts: "
                        "%s",
                        info->fabric_attr->prov_name, info->domain_attr->name,
                        info->tx_attr->inject_size, rma ? "with" : "without", shared.net.nodes,
                        mca_btl_epofi_is_set(mca_btl_epofi_component.interface)
                            ? "the interface was asked for"
                            : shared.net.why);
    return OPAL_SUCCESS;

err_free_info:
    fi_freeinfo(info);
    return OPAL_ERR_NOT_AVAILABLE;
}

static void close_if_unused(void)
{
    if (0 < shared.opens || 0 < shared.users) {
        return;
    }
    if (NULL != shared.fabric.fabric) {
        (void) fi_close(&shared.fabric.fabric->fid);
        fi_freeinfo(shared.fabric.info);
        memset(&shared.fabric, 0, sizeof(shared.fabric));
    }
    shared.failure = OPAL_SUCCESS;
}

int mca_btl_epofi_fabric_acquire(const mca_btl_epofi_fabric_t **fabric_p)
{
    if (NULL == shared.fabric.fabric) {
        if (OPAL_SUCCESS == shared.failure) {
            shared.failure = fabric_open();
        }
        if (OPAL_SUCCESS != shared.failure) {
            return shared.failure;
        }
    }
    ++shared.users;
    *fabric_p = &shared.fabric;
    return OPAL_SUCCESS;
}

const mca_btl_epofi_net_t *mca_btl_epofi_fabric_net(void)
{
    return &shared.net;
}

void mca_btl_epofi_fabric_release(void)
{
    --shared.users;
    close_if_unused();
}

void mca_btl_epofi_fabric_hold(int change)
{
    shared.opens += change;
    close_if_unused();
}
