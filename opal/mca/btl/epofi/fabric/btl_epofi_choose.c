/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Which provider and which interface: the best of what libfabric offers that is allowed here.
 *
 * Tests: create_errors (rxd, linked, provider), epinfo, p2p_order (few_common, few_each)
 */

#include "opal_config.h"

#include "../base/base.h"
#include "btl_epofi_choose.h"
#include "btl_epofi_net.h"

#include "opal/util/proc.h"
#include "opal/util/show_help.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

/** The oldest libfabric interface that has all we use: tcp offers FI_EP_RDM itself since 1.18. */
#define EPOFI_FI_VERSION FI_VERSION(1, 18)

/** Ranks of candidates; the lowest wins, and the first among equals. */
enum {
    RANK_NEVER = -1,
    RANK_LAYERED = 1000,  /**< a core provider under a datagram or message utility provider */
    RANK_TCP = 400,       /**< the one that is everywhere, after all that is hardware */
    RANK_LOOPBACK = 100,  /**< reaches no other node */
    RANK_OTHER_NET = 50,  /**< not in the network that all nodes take */
    RANK_LINK_LOCAL = 20, /**< reaches hosts of one link */
    RANK_IPV6 = 10        /**< where the same interface has an IPv4 address, that one is simpler */
};

/** Providers that are never chosen unless asked for: they stay within a node, are there for tests,
 * or only make sense together with others. */
static bool is_special(const char *name)
{
    static const char *const special[] = {"shm", "sm2",      "sockets",   "udp",
                                          "net", "off_coll", "ofi_mrail", "lpp"};

    for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); ++i) {
        size_t length = strlen(special[i]);

        if (0 == strncmp(name, special[i], length)
            && ('\0' == name[length] || ';' == name[length])) {
            return true;
        }
    }
    return NULL != strstr(name, "ofi_hook");
}

/** Providers that do not do what they say.  ofi_rxd completes what was injected without telling
 * which operation it was.  lnx, which names what it links in front ("shm+cxi:lnx"), has no
 * fi_mr_reg, and its domains open only while the list of fi_getinfo exists. */
static bool is_unfit(const char *name)
{
    return NULL != strstr(name, "ofi_rxd") || NULL != strstr(name, ":lnx");
}

/** Does the provider's name answer to what the user wrote: all of it, or the part before ';'? */
static bool name_matches(const char *name, const char *wanted)
{
    size_t length = strlen(wanted);

    return 0 == strncmp(name, wanted, length) && ('\0' == name[length] || ';' == name[length]);
}

static bool interface_matches(const struct fi_info *info, const char *wanted)
{
    if (ep_net_listed(wanted, info->domain_attr->name, mca_btl_epofi_ip_address(info), false)) {
        return true;
    }
    return NULL != info->nic && NULL != info->nic->device_attr
           && ep_net_listed(wanted, info->nic->device_attr->name, NULL, false);
}

/** May it be used, where the user has named no interface? */
static bool is_allowed(const struct fi_info *info, const mca_btl_epofi_net_t *net)
{
    const void *address = mca_btl_epofi_ip_address(info);

    if (name_matches(info->fabric_attr->prov_name, "tcp") && NULL != address
        && 0 < net->node.count) {
        /* The node's list has nothing that Open MPI's own btl/tcp may not use. */
        return mca_btl_epofi_net_may_use(net, address);
    }
    /* A loopback, and a provider that stays within a node, are chosen only if they are named. */
    return mca_btl_epofi_is_set(mca_btl_epofi_component.provider)
           || 0 != (info->caps & FI_REMOTE_COMM);
}

static int rank_network(const struct fi_info *info, const mca_btl_epofi_net_t *net)
{
    const void *address = mca_btl_epofi_ip_address(info);

    return NULL == address || AF_UNSPEC == net->chosen.family
                   || mca_btl_epofi_net_is_chosen(net, address)
               ? 0
               : RANK_OTHER_NET;
}

static int rank_address(const struct fi_info *info)
{
    if (FI_SOCKADDR_IN == info->addr_format && NULL != info->src_addr) {
        const struct sockaddr_in *in = info->src_addr;

        return 127 == ntohl(in->sin_addr.s_addr) >> 24 ? RANK_LOOPBACK : 0;
    }
    if (FI_SOCKADDR_IN6 == info->addr_format && NULL != info->src_addr) {
        const struct sockaddr_in6 *in6 = info->src_addr;

        if (IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr)) {
            return RANK_IPV6 + RANK_LOOPBACK;
        }
        return RANK_IPV6 + (IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr) ? RANK_LINK_LOCAL : 0);
    }
    return 0;
}

static int choose_rank(const struct fi_info *info, const mca_btl_epofi_net_t *net)
{
    const char *name = info->fabric_attr->prov_name;
    const char *wanted = mca_btl_epofi_component.provider;
    const char *interface = mca_btl_epofi_component.interface;
    int points = rank_address(info) + rank_network(info, net);

    if (NULL == name || is_unfit(name)) {
        return RANK_NEVER;
    }
    if (mca_btl_epofi_is_set(interface) && !interface_matches(info, interface)) {
        return RANK_NEVER;
    }
    if (mca_btl_epofi_is_set(wanted)) {
        if (!name_matches(name, wanted)) {
            return RANK_NEVER;
        }
    } else if (is_special(name)) {
        return RANK_NEVER;
    }
    if (!mca_btl_epofi_is_set(interface) && !is_allowed(info, net)) {
        return RANK_NEVER;
    }
    if (name_matches(name, "tcp")) {
        points += RANK_TCP;
    }
    if (0 == strcmp(name, "tcp;ofi_rxm")) {
        points += RANK_LAYERED;
    }
    return points;
}

/** What we need, and which of a provider's wishes we can grant. */
static struct fi_info *make_hints(bool rma)
{
    struct fi_info *hints = fi_allocinfo();

    if (NULL == hints) {
        return NULL;
    }
    hints->caps = FI_MSG | FI_SEND | FI_RECV;
    if (rma) {
        hints->caps |= FI_RMA | FI_READ | FI_REMOTE_READ;
    }
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    /* Our own progress call drives everything: no thread of a provider is needed. */
    hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY
                                  | FI_MR_ENDPOINT;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    /* The messages of a pair arrive in the order in which they were sent. */
    hints->tx_attr->msg_order = FI_ORDER_SAS;
    hints->rx_attr->msg_order = FI_ORDER_SAS;
    hints->tx_attr->size = mca_btl_epofi_component.tx_size;
    hints->rx_attr->size = mca_btl_epofi_component.rx_size;
    return hints;
}

/**
 * ofi_rxm must know the sender of each message, which it tells nobody here.
 *
 * Messages without a posted receive are queued.  fi_av_insert moves those of known senders from the
 * common queue into one for each sender, and the common queue is received from first.  Without
 * FI_SOURCE later messages of the same sender still enter the common queue: they overtake.  Up to
 * libfabric 2.4 fi_av_insert also follows a null pointer where the sender has not been looked up.
 */
static void ask_for_source(struct fi_info *info)
{
    if (NULL != strstr(info->fabric_attr->prov_name, "ofi_rxm")) {
        info->caps |= FI_SOURCE;
        info->rx_attr->caps |= FI_SOURCE;
    }
}

struct fi_info *mca_btl_epofi_choose(const mca_btl_epofi_net_t *net, bool rma, int *result_p)
{
    const char *wanted = mca_btl_epofi_component.provider;
    struct fi_info *hints = make_hints(rma);
    struct fi_info *list = NULL;
    struct fi_info *best = NULL;
    int best_rank = RANK_NEVER;

    if (NULL == hints) {
        *result_p = -FI_ENOMEM;
        return NULL;
    }
    if (mca_btl_epofi_is_set(wanted)) {
        hints->fabric_attr->prov_name = strdup(wanted);
    }
    *result_p = fi_getinfo(EPOFI_FI_VERSION, NULL, NULL, 0, hints, &list);
    fi_freeinfo(hints);
    if (0 != *result_p) {
        return NULL;
    }
    for (struct fi_info *info = list; NULL != info; info = info->next) {
        int points = choose_rank(info, net);

        if (RANK_NEVER != points && (NULL == best || points < best_rank)) {
            best = info;
            best_rank = points;
        }
    }
    if (NULL != best) {
        best = fi_dupinfo(best);
    }
    if (NULL != best) {
        ask_for_source(best);
    }
    fi_freeinfo(list);
    return best;
}

/** Append "name (interface), " unless it is in the text. */
static void append_offer(char *text, size_t size, const struct fi_info *info)
{
    char offer[128];
    size_t used = strlen(text);

    snprintf(offer, sizeof(offer), "%s (%s)", info->fabric_attr->prov_name,
             NULL != info->domain_attr->name ? info->domain_attr->name : "?");
    if (NULL == strstr(text, offer) && used + strlen(offer) + 3 < size) {
        snprintf(text + used, size - used, "%s%s", 0 == used ? "" : ", ", offer);
    }
}

void mca_btl_epofi_choose_say_nothing(int result)
{
    const char *wanted = mca_btl_epofi_component.provider;
    const char *interface = mca_btl_epofi_component.interface;
    struct fi_info *hints = make_hints(false);
    struct fi_info *list = NULL;
    char offers[1024] = "";

    if (NULL != hints) {
        if (0 == fi_getinfo(EPOFI_FI_VERSION, NULL, NULL, 0, hints, &list)) {
            for (struct fi_info *info = list; NULL != info; info = info->next) {
                if (!is_unfit(info->fabric_attr->prov_name)) {
                    append_offer(offers, sizeof(offers), info);
                }
            }
            fi_freeinfo(list);
        }
        fi_freeinfo(hints);
    }
    EPOFI_SHOW_HELP("no provider", true, opal_process_info.nodename,
                    mca_btl_epofi_is_set(wanted) ? wanted : "any",
                    mca_btl_epofi_is_set(interface) ? interface : "any",
                    0 == result             ? "none of them fits"
                    : -FI_ENODATA == result ? "no device here that it could use"
                                            : fi_strerror(-result),
                    '\0' == *offers ? "nothing" : offers);
}

/** Is it a provider of the list?  Of "verbs;ofi_rxm" each part must be. */
static bool is_known(const struct fi_info *list, const char *wanted)
{
    do {
        const size_t length = strcspn(wanted, ";");
        const struct fi_info *info = list;

        while (NULL != info
               && (length != strlen(info->fabric_attr->prov_name)
                   || 0 != strncmp(info->fabric_attr->prov_name, wanted, length))) {
            info = info->next;
        }
        if (NULL == info) {
            return false;
        }
        wanted += length;
    } while (';' == *wanted++);
    return true;
}

int mca_btl_epofi_choose_check(void)
{
    const char *wanted = mca_btl_epofi_component.provider;
    struct fi_info *list = NULL;
    char known[1024] = "";
    bool fine;

    /* Whatever libfabric was built with, whether it can be used here or not. */
    if (!mca_btl_epofi_is_set(wanted)
        || 0 != fi_getinfo(EPOFI_FI_VERSION, NULL, NULL, FI_PROV_ATTR_ONLY, NULL, &list)) {
        return OPAL_SUCCESS;
    }
    fine = is_known(list, wanted);
    if (!fine) {
        for (const struct fi_info *info = list; NULL != info; info = info->next) {
            const size_t used = strlen(known);

            (void) snprintf(known + used, sizeof(known) - used, "%s%s", 0 == used ? "" : ", ",
                            info->fabric_attr->prov_name);
        }
        EPOFI_SHOW_HELP("unknown provider", true, opal_process_info.nodename, wanted, known);
    }
    fi_freeinfo(list);
    return fine ? OPAL_SUCCESS : OPAL_ERR_NOT_AVAILABLE;
}
