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
 * Tests: cluster, schedulers/slurm
 */

#include "opal_config.h"

#include "btl_epofi_agree.h"
#include "btl_epofi_net.h"

#include "opal/class/opal_hash_table.h"
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

/** The host of a process, as the launcher calls it.
 * @return a string, to be freed, or NULL: not known */
static char *net_host_of(pmix_rank_t rank)
{
    pmix_value_t *value = net_get(rank, PMIX_HOSTNAME, true);
    char *host = NULL;

    if (NULL != value) {
        host = PMIX_STRING == value->type && NULL != value->data.string ? strdup(value->data.string)
                                                                        : NULL;
        PMIX_VALUE_RELEASE(value);
    }
    return host;
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

/** Read what the process of one host has published that is the first one there.
 * @param[in,out] own_p  the place of our own; SIZE_MAX: not found yet
 * @return false: it cannot be had */
static bool read_host(nodes_t *nodes, pmix_rank_t first, bool is_own, size_t *own_p)
{
    ep_net_node_t *node = read_node(first);
    const size_t place = NULL == node ? SIZE_MAX : net_add(nodes, node);

    if (is_own) {
        *own_p = place;
    }
    return SIZE_MAX != place;
}

/** Read what all nodes have published: the process of lowest rank on each host has (pml_epml_net.c).  Some
 * launchers name the hosts of all processes, and give local ranks on the own host only (Slurm's).
 * @param[in] own_host  of this process
 * @param[out] own_p    the place of our own
 * @return false: not all can be had, and so no agreement */
static bool read_all(nodes_t *nodes, const char *own_host, size_t *own_p)
{
    opal_hash_table_t seen; /* the names of hosts */
    bool good;

    *own_p = SIZE_MAX;
    OBJ_CONSTRUCT(&seen, opal_hash_table_t);
    good = OPAL_SUCCESS == opal_hash_table_init(&seen, 64);
    for (pmix_rank_t rank = 0; good && rank < opal_process_info.num_procs; ++rank) {
        char *host = net_host_of(rank);
        void *unused;

        good = NULL != host;
        if (good
            && OPAL_SUCCESS != opal_hash_table_get_value_ptr(&seen, host, strlen(host), &unused)) {
            good = OPAL_SUCCESS == opal_hash_table_set_value_ptr(&seen, host, strlen(host), nodes)
                   && read_host(nodes, rank, 0 == strcmp(own_host, host), own_p);
        }
        free(host);
    }
    OBJ_DESTRUCT(&seen);
    return good && SIZE_MAX != *own_p;
}

void mca_btl_epofi_net_choose(mca_btl_epofi_net_t *net)
{
    nodes_t nodes = {.nodes = NULL};
    const ep_net_address_t *address = NULL;
    char *own_host;
    size_t own;

    memset(net, 0, sizeof(*net));
    net->why = "the nodes have not said what networks they have";
    if (!PMIx_Initialized()) {
        return; /* a test without MPI */
    }
    own_host = net_host_of(opal_process_info.myprocid.rank);
    if (NULL != own_host && read_all(&nodes, own_host, &own)) {
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
    free(own_host);
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
