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
 * What was chosen, in words: provider, interface, and who may connect.
 */

#include "opal_config.h"

#include "btl_epofi_types.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>

static bool is_set(const char *text)
{
    return NULL != text && '\0' != *text;
}

/** " (10.0.0.1)", or nothing where addresses are of another kind. */
static void address_text(const struct fi_info *info, char *text, size_t size)
{
    char address[INET6_ADDRSTRLEN] = "";

    if (NULL != info->src_addr && FI_SOCKADDR_IN == info->addr_format) {
        (void) inet_ntop(AF_INET, &((const struct sockaddr_in *) info->src_addr)->sin_addr, address,
                         sizeof(address));
    } else if (NULL != info->src_addr && FI_SOCKADDR_IN6 == info->addr_format) {
        (void) inet_ntop(AF_INET6, &((const struct sockaddr_in6 *) info->src_addr)->sin6_addr,
                         address, sizeof(address));
    }
    snprintf(text, size, is_set(address) ? " (%s)" : "%s", address);
}

static void report_fabric(const mca_btl_epofi_fabric_t *fabric, mca_btl_ep_tell_fn_t tell,
                          void *context)
{
    const struct fi_info *info = fabric->info;
    const char *interface = info->domain_attr->name;
    char text[512], address[INET6_ADDRSTRLEN + 8];

    snprintf(text, sizeof(text), "libfabric's %s (%s); up to %zu bytes go at once, larger ones %s",
             info->fabric_attr->prov_name,
             is_set(mca_btl_epofi_component.provider) ? "as btl_epofi_provider says"
                                                      : "the best that there is here",
             fabric->eager_limit, fabric->rma ? "are read" : "in pieces");
    tell(context, "network", text);
    address_text(info, address, sizeof(address));
    snprintf(text, sizeof(text), "%s%s: %s", is_set(interface) ? interface : "?", address,
             fabric->interface_why);
    tell(context, "interface", text);
    tell(context, "greeting",
         0 == mca_btl_epofi_component.greeting ? "none: btl_epofi_greeting is 0"
         : fabric->recv_watched /* tcp */ && mca_btl_epofi_sockets_can_greet()
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
