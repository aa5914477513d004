/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The network of the process's fabric, among those that the nodes of the job have: what each node
 * has published is read here, and btl_epofi_agree.c chooses.
 *
 * Under the component's lock, when the fabric is opened.
 *
 * Tests: cluster
 */

#include "opal_config.h"

#include "btl_epofi_agree.h"
#include "btl_epofi_net.h"

#include "opal/mca/btl/base/base.h"
#include "opal/mca/pmix/pmix-internal.h"
#include "opal/util/output.h"
#include "opal/util/proc.h"

#include <stdlib.h>
#include <string.h>

/** So long a node's list may take to come, in s: it is there since MPI_Init, mostly here. */
#define PATIENCE 10

/** What the launcher, or a process, says under a key.
 * @param[in] here  it is known on this node, if at all
 * @return the value, to be released, or NULL */
static pmix_value_t *net_get(pmix_rank_t rank, const char *key, bool here)
{
    int patience = PATIENCE;
    pmix_value_t *value = NULL;
    pmix_proc_t proc;
    pmix_info_t info;
    int rc;

    PMIX_LOAD_PROCID(&proc, opal_process_info.myprocid.nspace, rank);
    if (here) {
        PMIX_INFO_LOAD(&info, PMIX_OPTIONAL, NULL, PMIX_BOOL);
    } else {
        PMIX_INFO_LOAD(&info, PMIX_TIMEOUT, &patience, PMIX_INT);
    }
    rc = PMIx_Get(&proc, key, &info, 1, &value);
    PMIX_INFO_DESTRUCT(&info);
    return PMIX_SUCCESS == rc ? value : NULL;
}

/** Does this process speak for its node? */
static bool is_speaker(pmix_rank_t rank)
{
    pmix_value_t *value = net_get(rank, PMIX_LOCAL_RANK, true);
    bool is = false;

    if (NULL != value) {
        is = PMIX_UINT16 == value->type && 0 == value->data.uint16;
        PMIX_VALUE_RELEASE(value);
    }
    return is;
}

/** The process that publishes for this node.  @return PMIX_RANK_INVALID: not known */
static pmix_rank_t own_speaker(void)
{
    pmix_rank_t speaker = PMIX_RANK_INVALID;
    pmix_value_t *value;

    if (0 == opal_process_info.my_local_rank) {
        return opal_process_info.myprocid.rank;
    }
    value = net_get(PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS, true);
    if (NULL == value) {
        return speaker;
    }
    /* "0,3,6" */
    for (char *at = PMIX_STRING == value->type ? value->data.string : NULL;
         NULL != at && '\0' != *at && PMIX_RANK_INVALID == speaker; at += ',' == *at) {
        char *end;
        const pmix_rank_t rank = (pmix_rank_t) strtoul(at, &end, 10);

        if (end == at) {
            break;
        }
        at = end;
        if (is_speaker(rank)) {
            speaker = rank;
        }
    }
    PMIX_VALUE_RELEASE(value);
    return speaker;
}

/** What a node has published.  @return NULL: nothing, or nothing that makes sense; or no memory */
static ep_net_node_t *read_node(pmix_rank_t speaker)
{
    pmix_value_t *value = net_get(speaker, EP_NET_KEY, false);
    ep_net_node_t *node = calloc(1, sizeof(*node));
    bool good = false;

    if (NULL != value && NULL != node && PMIX_BYTE_OBJECT == value->type
        && offsetof(ep_net_node_t, addresses) <= value->data.bo.size
        && sizeof(*node) >= value->data.bo.size) {
        memcpy(node, value->data.bo.bytes, value->data.bo.size);
        good = EP_NET_MOST >= node->count && ep_net_size(node) == value->data.bo.size;
    }
    for (uint32_t i = 0; good && i < node->count; ++i) {
        good = node->addresses[i].prefix <= (AF_INET == node->addresses[i].family ? 32 : 128);
    }
    if (NULL != value) {
        PMIX_VALUE_RELEASE(value);
    }
    if (!good) {
        free(node);
        node = NULL;
    }
    return node;
}

/** The nodes of the job, as far as they differ. */
typedef struct nodes_t {
    ep_net_node_t **nodes;
    size_t count;
} nodes_t;

/** Add one, unless it is there: two names of one host are one node.
 * @param[in] node  taken
 * @return its place; SIZE_MAX: no memory */
static size_t net_add(nodes_t *nodes, ep_net_node_t *node)
{
    ep_net_node_t **grown;

    for (size_t i = 0; i < nodes->count; ++i) {
        if (node->host == nodes->nodes[i]->host
            && 0 == memcmp(node, nodes->nodes[i], ep_net_size(node))) {
            free(node);
            return i;
        }
    }
    if (0 == (nodes->count & (nodes->count - 1))) { /* 0 or a power of two: full */
        grown = realloc(nodes->nodes, (0 == nodes->count ? 1 : 2 * nodes->count) * sizeof(*grown));
        if (NULL == grown) {
            free(node);
            return SIZE_MAX;
        }
        nodes->nodes = grown;
    }
    nodes->nodes[nodes->count] = node;
    return nodes->count++;
}

/** Read what all nodes have published.
 * @param[out] own_p  the place of our own
 * @return false: not all can be had, and so no agreement */
static bool read_all(nodes_t *nodes, size_t *own_p)
{
    const pmix_rank_t own = own_speaker();
    bool found = false;

    for (pmix_rank_t rank = 0; rank < opal_process_info.num_procs; ++rank) {
        ep_net_node_t *node;
        size_t place;

        if (!is_speaker(rank)) {
            continue;
        }
        node = read_node(rank);
        place = NULL == node ? SIZE_MAX : net_add(nodes, node);
        if (SIZE_MAX == place) {
            return false;
        }
        if (rank == own) {
            *own_p = place;
            found = true;
        }
    }
    return found;
}

void mca_btl_epofi_net_choose(mca_btl_epofi_net_t *net)
{
    nodes_t nodes = {.nodes = NULL};
    const ep_net_address_t *address = NULL;
    size_t own;

    memset(net, 0, sizeof(*net));
    net->why = "the nodes have not said what networks they have";
    if (!PMIx_Initialized()) {
        return; /* a test without MPI */
    }
    if (read_all(&nodes, &own)) {
        net->node = *nodes.nodes[own];
        net->nodes = nodes.count;
        net->why = "all processes are on this host";
        if (1 < nodes.count) {
            address = mca_btl_epofi_agree(nodes.nodes, nodes.count, own, &net->why);
        }
    }
    if (NULL != address) {
        net->chosen = *address;
        for (uint32_t i = 0; i < net->node.count; ++i) {
            const ep_net_address_t *other = &nodes.nodes[own]->addresses[i];

            net->why_not[i] = other == address
                                  ? NULL
                                  : mca_btl_epofi_agree_why_not(nodes.nodes, nodes.count, own,
                                                                other, address);
        }
    }
    for (size_t i = 0; i < nodes.count; ++i) {
        free(nodes.nodes[i]);
    }
    free(nodes.nodes);
}

bool mca_btl_epofi_net_is_chosen(const mca_btl_epofi_net_t *net, const void *sockaddr)
{
    const struct sockaddr *address = sockaddr;
    uint8_t bytes[16];
    uint16_t bits;

    return ep_net_bytes(sockaddr, bytes, &bits) && net->chosen.family == address->sa_family
           && 0 == memcmp(net->chosen.bytes, bytes, sizeof(bytes));
}

bool mca_btl_epofi_net_may_use(const mca_btl_epofi_net_t *net, const void *sockaddr)
{
    const struct sockaddr *address = sockaddr;
    uint8_t bytes[16];
    uint16_t bits;

    if (!ep_net_bytes(sockaddr, bytes, &bits)) {
        return false;
    }
    for (uint32_t i = 0; i < net->node.count; ++i) {
        if (net->node.addresses[i].family == address->sa_family
            && 0 == memcmp(net->node.addresses[i].bytes, bytes, sizeof(bytes))) {
            return true;
        }
    }
    return false;
}
