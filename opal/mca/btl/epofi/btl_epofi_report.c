/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What was chosen, in words: provider, interface, the reason, and which hosts may connect.
 *
 * Tests: epinfo
 */

#include "opal_config.h"

#include "share/share.h"
#include "fabric/fabric.h"
#include "sockets/sockets.h"
#include "base/base.h"
#include "btl_epofi_report.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

/** "eth0 (10.0.0.1)"; the name alone where addresses are of another kind. */
static void interface_text(const char *name, const struct sockaddr *sockaddr, char *text,
                           size_t size)
{
    char address[INET6_ADDRSTRLEN] = "";
    uint8_t bytes[16];
    uint16_t bits;

    if (NULL != sockaddr && ep_net_bytes(sockaddr, bytes, &bits)) {
        (void) inet_ntop(sockaddr->sa_family, bytes, address, sizeof(address));
    }
    snprintf(text, size, mca_btl_epofi_is_set(address) ? "%s (%s)" : "%s%s",
             mca_btl_epofi_is_set(name) ? name : "?", address);
}

/** Which one was taken for the job, and why. */
static void report_interface(const struct fi_info *info, const mca_btl_epofi_net_t *net,
                             mca_btl_ep_tell_fn_t tell, void *context)
{
    const bool asked = mca_btl_epofi_is_set(mca_btl_epofi_component.interface);
    const struct sockaddr *address = mca_btl_epofi_ip_address(info);
    char text[512], interface[INET6_ADDRSTRLEN + IF_NAMESIZE];

    interface_text(info->domain_attr->name, address, interface, sizeof(interface));
    if (NULL == address || 0 != strcmp(info->fabric_attr->prov_name, "tcp")) {
        snprintf(text, sizeof(text), "%s, %s", interface,
                 asked ? "as btl_epofi_interface says" : "the best of the provider's");
    } else if (AF_UNSPEC != net->chosen.family && mca_btl_epofi_net_is_chosen(net, address)) {
        snprintf(text, sizeof(text), "%s%s: %s (%zu hosts)", interface,
                 asked ? ", of those that btl_epofi_interface names" : "", net->why, net->nodes);
    } else {
        snprintf(text, sizeof(text), "%s, the provider's first%s: %s", interface,
                 asked ? " of those that btl_epofi_interface names" : "", net->why);
    }
    tell(context, "interface", text);
}

/** Is this one that others could connect to, but which is not in the node's list? */
static bool is_left_out(const struct ifaddrs *one, const mca_btl_epofi_net_t *net)
{
    const unsigned int wanted = IFF_UP | IFF_RUNNING;

    if (NULL == one->ifa_addr || wanted != (one->ifa_flags & (wanted | IFF_LOOPBACK))) {
        return false;
    }
    if (AF_INET6 == one->ifa_addr->sa_family
        && IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *) one->ifa_addr)->sin6_addr)) {
        return false;
    }
    return (AF_INET == one->ifa_addr->sa_family || AF_INET6 == one->ifa_addr->sa_family)
           && !mca_btl_epofi_net_may_use(net, one->ifa_addr);
}

/** Why one of the node's list was not taken.  @return NULL: it was, or nothing was chosen */
static const char *why_not(const mca_btl_epofi_net_t *net, const struct sockaddr *address)
{
    uint8_t bytes[16];
    uint16_t bits;

    for (uint32_t i = 0; ep_net_bytes(address, bytes, &bits) && i < net->node.count; ++i) {
        if (net->node.addresses[i].family == address->sa_family
            && 0 == memcmp(net->node.addresses[i].bytes, bytes, sizeof(bytes))) {
            return net->why_not[i];
        }
    }
    return NULL;
}

/** Which ones were not, and why not. */
static void report_others(const mca_btl_epofi_net_t *net, mca_btl_ep_tell_fn_t tell, void *context)
{
    const char *limit = mca_btl_epofi_is_set(mca_btl_epofi_component.interface)
                            ? "btl_epofi_interface"
                            : "btl_tcp_if_include or btl_tcp_if_exclude";
    char text[1024] = "";
    struct ifaddrs *list;
    size_t used = 0;

    if (0 == net->node.count || 0 != getifaddrs(&list)) {
        return;
    }
    for (const struct ifaddrs *one = list; NULL != one && used < sizeof(text);
         one = one->ifa_next) {
        const char *why = NULL != one->ifa_addr ? why_not(net, one->ifa_addr) : NULL;
        char interface[INET6_ADDRSTRLEN + IF_NAMESIZE];

        if (NULL == why && !is_left_out(one, net)) {
            continue;
        }
        interface_text(one->ifa_name, one->ifa_addr, interface, sizeof(interface));
        used += (size_t) snprintf(text + used, sizeof(text) - used, "%s%s: %s%s",
                                  0 < used ? "; " : "", interface,
                                  NULL != why ? why : "ruled out by ", NULL != why ? "" : limit);
    }
    freeifaddrs(list);
    if (0 < used) {
        tell(context, "passed over", text);
    }
}

/** How many there may be, and are. */
static void report_contexts(const mca_btl_epofi_fabric_t *fabric, mca_btl_ep_tell_fn_t tell,
                            void *context)
{
    const unsigned int most = mca_btl_epofi_component.max_contexts;
    unsigned int own, shared, modules;
    epofi_context_limit_plan_t plan;
    const char *says;
    char text[256];

    epofi_context_limit_plan(fabric->info, most, mca_btl_epofi_component.shared_contexts, &plan);
    says = 0 < most && plan.own + plan.shared == most ? "btl_epofi_max_contexts says"
                                                      : "the provider says";
    mca_btl_epofi_context_count(&own, &shared, &modules);
    if (0 == plan.shared) {
        snprintf(text, sizeof(text), "one for each endpoint, now %u", own);
    } else {
        snprintf(text, sizeof(text),
                 "at most %u, as %s; the first %u for one endpoint each, now %u; %u for all "
                 "others, now %u with %u endpoints",
                 plan.own + plan.shared, says, plan.own, own, plan.shared, shared, modules);
    }
    tell(context, "contexts", text);
}

static void report_fabric(const mca_btl_epofi_fabric_t *fabric, mca_btl_ep_tell_fn_t tell,
                          void *context)
{
    const struct fi_info *info = fabric->info;
    char text[512];

    snprintf(text, sizeof(text), "libfabric's %s (%s); up to %zu bytes go at once, larger ones %s",
             info->fabric_attr->prov_name,
             mca_btl_epofi_is_set(mca_btl_epofi_component.provider) ? "as btl_epofi_provider says"
                                                                    : "the best that there is here",
             fabric->eager_limit, fabric->rma ? "are read" : "in pieces");
    tell(context, "network", text);
    report_interface(info, mca_btl_epofi_fabric_net(), tell, context);
    if (0 == strcmp(info->fabric_attr->prov_name, "tcp")) {
        report_others(mca_btl_epofi_fabric_net(), tell, context);
    }
    report_contexts(fabric, tell, context);
    tell(context, "hello",
         0 == mca_btl_epofi_component.hello ? "none: btl_epofi_hello is 0"
         : fabric->recv_watched /* tcp */ && mca_btl_epofi_calls_can_authenticate()
             ? "connections prove that they are the job's"
             : "none: the provider makes its connections alone; messages prove whose they are");
}

void mca_btl_epofi_report(uint32_t flags, mca_btl_ep_tell_fn_t tell, void *context)
{
    const mca_btl_epofi_fabric_t *fabric;

    (void) flags;
    opal_mutex_lock(&mca_btl_epofi_lock);
    if (OPAL_SUCCESS == mca_btl_epofi_fabric_acquire(&fabric)) {
        report_fabric(fabric, tell, context);
        mca_btl_epofi_fabric_release();
    }
    opal_mutex_unlock(&mca_btl_epofi_lock);
}

static void keep_name(char *kept, const char *name)
{
    (void) snprintf(kept, MCA_BTL_EP_NAME_BYTES, "%s", NULL != name ? name : "");
}

int mca_btl_epofi_network(char *provider, char *interface)
{
    const mca_btl_epofi_fabric_t *fabric;
    int rc;

    opal_mutex_lock(&mca_btl_epofi_lock);
    rc = mca_btl_epofi_fabric_acquire(&fabric);
    if (OPAL_SUCCESS == rc) {
        keep_name(provider, fabric->info->fabric_attr->prov_name);
        keep_name(interface, fabric->info->domain_attr->name);
        mca_btl_epofi_fabric_release();
    }
    opal_mutex_unlock(&mca_btl_epofi_lock);
    return rc;
}
