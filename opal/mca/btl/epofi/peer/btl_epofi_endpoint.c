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
 * Peers: addresses, connecting and disconnecting, and what happens when a peer is gone.
 *
 * A peer is known by the id in its address.  Connecting twice gives the same endpoint
 * with one more reference; an endpoint without references stays until the provider is done with
 * what was sent to it.
 *
 * Tests: unit/test_epofi, unit/test_epofi_life, cut, fault
 */

#include "opal_config.h"

#include "../object/object.h"
#include "../sockets/sockets.h"
#include "../base/base.h"
#include "btl_epofi_endpoint.h"

#include "opal/util/proc.h"
#include "opal/util/show_help.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Bytes of the text for one's own side. */
#define EPOFI_OWN_TEXT 256

/** Interface and address of a module, for people: "eth0, fi_sockaddr_in://10.1.0.3:4711".
 * @return text */
static const char *own_text(const mca_btl_epofi_module_t *module, char text[EPOFI_OWN_TEXT])
{
    const mca_btl_epofi_address_t *own = (const mca_btl_epofi_address_t *) module->super.ep_address;
    const char *name = module->fabric->info->domain_attr->name;
    size_t used, length;

    (void) snprintf(text, EPOFI_OWN_TEXT / 2, "%s, ", NULL != name ? name : "?");
    used = strlen(text);
    length = EPOFI_OWN_TEXT - used;
    (void) fi_av_straddr(module->fi.av, own->bytes, text + used, &length);
    text[EPOFI_OWN_TEXT - 1] = '\0';
    return text;
}

int mca_btl_epofi_address_publish(mca_btl_epofi_module_t *module)
{
    mca_btl_epofi_address_t *address = (mca_btl_epofi_address_t *) module->super.ep_address;
    size_t length = sizeof(address->bytes);
    int result = fi_getname(&module->fi.ep->fid, address->bytes, &length);

    if (0 != result || length > sizeof(address->bytes)) {
        EPOFI_SHOW_HELP("cannot open", true, opal_process_info.nodename,
                        module->fabric->info->fabric_attr->prov_name, "address of an endpoint",
                        module->fabric->info->domain_attr->name,
                        0 != result ? fi_strerror(-result) : "it is too long");
        return OPAL_ERR_NOT_AVAILABLE;
    }
    address->magic = EPOFI_ADDRESS_MAGIC;
    address->version = EPOFI_ADDRESS_VERSION;
    address->flags = NULL != module->fi.gate ? EPOFI_ADDRESS_GREETED : 0;
    address->format = module->fabric->info->addr_format;
    address->provider = module->fabric->provider_hash;
    address->length = (uint16_t) length;
    module->super.ep_address_length = EPOFI_ADDRESS_FIXED + length;
    return mca_btl_epofi_pairs_init(module);
}

/** Check an address that somebody sent us, as far as that can be done without using it. */
static int address_check(const mca_btl_epofi_module_t *module, const void *blob, size_t length,
                         mca_btl_epofi_address_t *address)
{
    const mca_btl_epofi_address_t *own = (const mca_btl_epofi_address_t *) module->super.ep_address;
    static atomic_flag said = ATOMIC_FLAG_INIT;
    static atomic_flag said_greeting = ATOMIC_FLAG_INIT;

    memset(address, 0, sizeof(*address));
    if (length <= EPOFI_ADDRESS_FIXED || length > sizeof(*address)) {
        return OPAL_ERR_BAD_PARAM;
    }
    memcpy(address, blob, length);
    if (EPOFI_ADDRESS_MAGIC != address->magic || EPOFI_ADDRESS_VERSION != address->version
        || 0 != (address->flags & ~EPOFI_ADDRESS_GREETED)
        || (size_t) EPOFI_ADDRESS_FIXED + address->length != length) {
        return OPAL_ERR_BAD_PARAM;
    }
    if (own->provider != address->provider || own->format != address->format) {
        if (mca_btl_epofi_first_time(&said)) {
            char own[EPOFI_OWN_TEXT];

            EPOFI_SHOW_HELP("other provider", true, opal_process_info.nodename,
                            module->fabric->info->fabric_attr->prov_name,
                            own_text(module, own));
        }
        return OPAL_ERR_UNREACH;
    }
    if (address->flags != own->flags) {
        if (mca_btl_epofi_first_time(&said_greeting)) {
            EPOFI_SHOW_HELP("other greeting", true, opal_process_info.nodename,
                            0 != own->flags ? "does" : "does not");
        }
        return OPAL_ERR_UNREACH;
    }
    switch (address->format) {
    case FI_ADDR_STR:
        /* A string that ends where it says it ends, and nowhere else. */
        if (strnlen((const char *) address->bytes, address->length) + 1u != address->length) {
            return OPAL_ERR_BAD_PARAM;
        }
        break;
    case FI_SOCKADDR_IN:
    case FI_SOCKADDR_IN6:
        if (0 != memcmp(address->bytes, own->bytes, sizeof(sa_family_t))) {
            return OPAL_ERR_BAD_PARAM;
        }
        /* fall through */
    default:
        if (own->length != address->length) {
            return OPAL_ERR_BAD_PARAM;
        }
    }
    return OPAL_SUCCESS;
}

/** Say why a peer's address cannot be used, the first time. */
static void cannot_connect(mca_btl_epofi_module_t *module, const mca_btl_epofi_address_t *address,
                           int result)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    char peer[EPOFI_DESCRIBE], own[EPOFI_OWN_TEXT];

    if (mca_btl_epofi_first_time(&said)) {
        EPOFI_SHOW_HELP("cannot connect", true, opal_process_info.nodename,
                        mca_btl_epofi_describe(module, NULL, address->bytes, peer, sizeof(peer)),
                        module->fabric->info->fabric_attr->prov_name, own_text(module, own),
                        0 > result ? fi_strerror(-result) : "the address is not accepted");
    }
}

/** Let provider and gate know the endpoint's address.  @return OPAL_SUCCESS;
 * OPAL_ERR_OUT_OF_RESOURCE; OPAL_ERR_UNREACH, which has been said */
static int address_enter(mca_btl_epofi_module_t *module, struct mca_btl_base_endpoint_t *endpoint)
{
    int rc = OPAL_SUCCESS;
    int result;

    mca_btl_epofi_packets_hold(module);
    result = fi_av_insert(module->fi.av, endpoint->callee.name.bytes, 1, &endpoint->address, 0,
                          NULL);
    if (1 == result) {
        rc = mca_btl_epofi_gate_add(module->fi.gate, &endpoint->callee);
        if (OPAL_SUCCESS != rc) {
            rc = OPAL_ERR_OUT_OF_RESOURCE;
            (void) fi_av_remove(module->fi.av, &endpoint->address, 1, 0);
        }
    }
    mca_btl_epofi_packets_release(module);
    if (1 != result) {
        cannot_connect(module, &endpoint->callee.name, result);
        return -FI_ENOMEM == result ? OPAL_ERR_OUT_OF_RESOURCE : OPAL_ERR_UNREACH;
    }
    return rc;
}

static void address_leave(mca_btl_epofi_module_t *module, struct mca_btl_base_endpoint_t *endpoint)
{
    mca_btl_epofi_packets_hold(module);
    mca_btl_epofi_gate_remove(module->fi.gate, &endpoint->callee);
    (void) fi_av_remove(module->fi.av, &endpoint->address, 1, 0);
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
    int rc = address_check(module, blob, length, &address);

    if (OPAL_SUCCESS != rc) {
        return rc;
    }
    pair = mca_btl_epofi_pair_find(module, address.id);
    if (NULL != pair && NULL != pair->endpoint) {
        *endpoint_p = pair->endpoint;
        return OPAL_SUCCESS;
    }
    mca_btl_epofi_parking_connect(module, blob, length);
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
    module->upcalls->stop(endpoint);
    free(endpoint);
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

void mca_btl_epofi_endpoint_free_all(mca_btl_epofi_module_t *module)
{
    while (NULL != module->endpoint_list) {
        struct mca_btl_base_endpoint_t *next = module->endpoint_list->next;

        module->upcalls->stop(module->endpoint_list);
        free(module->endpoint_list);
        module->endpoint_list = next;
    }
}

const char *mca_btl_epofi_describe(mca_btl_epofi_module_t *module,
                                   struct mca_btl_base_endpoint_t *endpoint, const void *address,
                                   char *text, size_t size)
{
    size_t used = 0;
    size_t length;

    text[0] = '\0';
    if (NULL != module->super.ep_describe) {
        module->super.ep_describe(&module->super, endpoint, text, size - EPOFI_ADDRESS_BYTES);
        used = strlen(text);
        used += (size_t) snprintf(text + used, size - used, ", ");
    }
    length = size - used;
    (void) fi_av_straddr(module->fi.av, NULL != endpoint ? endpoint->callee.name.bytes : address,
                         text + used, &length);
    text[size - 1] = '\0';
    return text;
}

/** Tell the owner.  @return must the user be told, too? */
static bool lost(struct mca_btl_base_endpoint_t *endpoint)
{
    mca_btl_ep_module_t *module = &endpoint->module->super;

    return NULL == module->ep_lost || module->ep_lost(module, endpoint);
}

void mca_btl_epofi_endpoint_fail(struct mca_btl_base_endpoint_t *endpoint, int error,
                                 const char *detail)
{
    mca_btl_epofi_module_t *module = endpoint->module;
    char peer[EPOFI_DESCRIBE], own[EPOFI_OWN_TEXT];

    if (module->closing || endpoint->pair->given_up) {
        endpoint->failed = true;
        return; /* a peer that is gone first, when all is over, or of whom the owner knows: nobody
                 * waits for this message */
    }
    if (endpoint->failed) {
        (void) lost(endpoint);
        return;
    }
    endpoint->failed = true;
    if (lost(endpoint)) {
        EPOFI_SHOW_HELP("peer gone", true, opal_process_info.nodename,
                        mca_btl_epofi_describe(module, endpoint, NULL, peer, sizeof(peer)),
                        module->fabric->info->fabric_attr->prov_name, own_text(module, own),
                        fi_strerror(error), detail);
    }
    module->upcalls->farewell(endpoint);
}

/* ---- patience -------------------------------------------------------------------------------- */

/** A peer has taken nothing for so long; warn once if that is long enough. */
static void warn(struct mca_btl_base_endpoint_t *endpoint, uint64_t silent_ns)
{
    const unsigned int limit = mca_btl_epofi_component.stall_warning;
    char peer[EPOFI_DESCRIBE], own[EPOFI_OWN_TEXT];

    if (0 == limit || endpoint->warned || endpoint->failed
        || silent_ns <= (uint64_t) limit * 1000000000u) {
        return;
    }
    endpoint->warned = true;
    EPOFI_SHOW_HELP("peer silent", true, opal_process_info.nodename,
                    mca_btl_epofi_describe(endpoint->module, endpoint, NULL, peer, sizeof(peer)),
                    endpoint->module->fabric->info->fabric_attr->prov_name,
                    own_text(endpoint->module, own), limit);
}

/** The provider takes nothing for a peer.  @return ns for which that has been so */
static uint64_t stalled_for(struct mca_btl_base_endpoint_t *endpoint)
{
    const uint64_t now = mca_btl_epofi_now();

    if (0 == endpoint->stalled_ns) {
        endpoint->stalled_ns = now;
        endpoint->attempts = 0;
    }
    return now - endpoint->stalled_ns;
}

int mca_btl_epofi_endpoint_stalled(struct mca_btl_base_endpoint_t *endpoint)
{
    if (0 == mca_btl_epofi_component.stall_warning || endpoint->warned) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    warn(endpoint, stalled_for(endpoint));
    return OPAL_ERR_OUT_OF_RESOURCE;
}

/** A peer is lost that has ended so many connections before they could be used, ... */
#define REFUSALS_MOST 16
/** ... for so long: it is there, but it has no descriptors left, or nobody listens any more. */
#define REFUSED_NS (UINT64_C(5) * 1000000000)

/**
 * libfabric's tcp connects when there is something to send, and says no more of a connection that
 * could not be made than that the next call has to try again.  How often it does tells.
 *
 * @return does the peer refuse?
 */
static bool is_refusing(struct mca_btl_base_endpoint_t *endpoint)
{
    static _Thread_local uint32_t seen;
    const uint32_t connects = mca_btl_epofi_sockets_connects();

    if (OPAL_LIKELY(seen == connects)) {
        return false;
    }
    seen = connects; /* the last call was for this peer */
    ++endpoint->attempts;
    return REFUSED_NS < stalled_for(endpoint) && REFUSALS_MOST < endpoint->attempts;
}

int mca_btl_epofi_endpoint_refused(struct mca_btl_base_endpoint_t *endpoint, ssize_t result)
{
    if (-FI_EAGAIN == result || -FI_ENOMEM == result) {
        if (!is_refusing(endpoint)) {
            return mca_btl_epofi_endpoint_stalled(endpoint);
        }
        mca_btl_epofi_endpoint_fail(endpoint, FI_ECONNREFUSED,
                                    "it ends every connection at once; it may have no file "
                                    "descriptors left (ulimit -n)");
        return OPAL_ERR_UNREACH;
    }
    if (-FI_EMFILE == result || -ENFILE == result) {
        if (!mca_btl_epofi_sockets_none_left((int) -result, "to connect to a peer with")) {
            return mca_btl_epofi_endpoint_stalled(endpoint);
        }
        mca_btl_epofi_endpoint_fail(endpoint, (int) -result,
                                    "this process has none left to connect with (ulimit -n)");
        return OPAL_ERR_UNREACH;
    }
    mca_btl_epofi_endpoint_fail(endpoint, (int) -result, "-");
    return OPAL_ERR_UNREACH;
}

/** So long the provider may take to end operations towards a peer that is known to be dead.  Some
 * never do (shm, reads that the peer answers), and some still copy what the kernel has of them. */
#define ABANDON_NS (UINT64_C(1) * 1000000000)

void mca_btl_epofi_endpoint_watch(mca_btl_epofi_module_t *module)
{
    const uint64_t now = mca_btl_epofi_now();
    struct mca_btl_base_endpoint_t *endpoint;

    /* The first time since something came: from now on there is nothing. */
    if (module->idle_start >= module->idle || 0 == module->idle_ns) {
        module->idle_ns = now;
    }
    module->idle_start = module->idle;
    for (endpoint = module->endpoint_list; NULL != endpoint; endpoint = endpoint->next) {
        if (0 == endpoint->inflight) {
            continue;
        }
        warn(endpoint, now - module->idle_ns);
    }
}

void mca_btl_epofi_endpoint_end_abandoned(mca_btl_epofi_module_t *module)
{
    const uint64_t now = mca_btl_epofi_now();
    bool left = false;

    for (struct mca_btl_base_endpoint_t *endpoint = module->endpoint_list; NULL != endpoint;
         endpoint = endpoint->next) {
        if (0 == endpoint->abandoned_ns || endpoint->ended) {
            continue;
        }
        if (now - endpoint->abandoned_ns > ABANDON_NS) {
            endpoint->ended = true;
            module->upcalls->abandon(module, endpoint);
        } else {
            left = true;
        }
    }
    module->abandons = left;
}

uint32_t mca_btl_epofi_endpoint_awaited(const mca_btl_epofi_module_t *module)
{
    uint32_t count = 0;

    for (const struct mca_btl_base_endpoint_t *endpoint = module->endpoint_list; NULL != endpoint;
         endpoint = endpoint->next) {
        count += endpoint->failed ? 0 : endpoint->inflight;
    }
    return count;
}

void mca_btl_epofi_abandon(mca_btl_ep_module_t *ep_module,
                           struct mca_btl_base_endpoint_t *endpoint)
{
    endpoint->failed = true;
    if (0 == endpoint->abandoned_ns) {
        endpoint->abandoned_ns = mca_btl_epofi_now();
        ((mca_btl_epofi_module_t *) ep_module)->abandons = true;
    }
}
