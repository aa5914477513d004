/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Choose the address of a process so that all processes of the job are in one network.  All
 * processes have the addresses of all nodes, so each comes to the same result without
 * communication.
 *
 *   1. A network that all nodes have an address in, each its own.  An address that another node has
 *      as well (docker0, virbr0) is no way to that node.
 *   2. If there is none (each node has a network of its own, and routers between them): an
 *      interface that has the same name on all nodes, and each its own address.
 *   3. If there is none either: an address that no other node has.  No agreement, but a chance.
 *
 * Of several, the one whose slowest node is the fastest; then IPv4, which is simpler; then the
 * first of the first node.
 *
 * Standalone.
 *
 * Tests: unit/test_epofi_agree, cluster
 */

#include "btl_epofi_agree.h"

#include <stdlib.h>
#include <string.h>

/** What comes first in a comparison of candidates is what counts most. */
typedef struct candidate_t {
    bool usable;
    uint32_t speed; /**< of the slowest node */
    uint16_t family;
    uint32_t own; /**< which of the own node's addresses */
} candidate_t;

static bool is_better(const candidate_t *a, const candidate_t *b)
{
    if (a->usable != b->usable) {
        return a->usable;
    }
    if (a->speed != b->speed) {
        return a->speed > b->speed;
    }
    return AF_INET == a->family && AF_INET != b->family;
}

typedef bool (*matches_fn_t)(const ep_net_address_t *a, const ep_net_address_t *b);

static bool is_same_network(const ep_net_address_t *a, const ep_net_address_t *b)
{
    return a->family == b->family && a->prefix == b->prefix
           && ep_net_same(a->bytes, b->bytes, a->prefix);
}

static bool is_same_name(const ep_net_address_t *a, const ep_net_address_t *b)
{
    return a->family == b->family && 0 == strncmp(a->name, b->name, sizeof(a->name));
}

/** A node's fastest address that matches.  @return its place, or the node's count: it has none */
static uint32_t fastest_of(const ep_net_node_t *node, const ep_net_address_t *wanted,
                           matches_fn_t matches)
{
    uint32_t best = node->count;

    for (uint32_t i = 0; i < node->count; ++i) {
        const ep_net_address_t *address = &node->addresses[i];

        if (matches(address, wanted)
            && (node->count == best || node->addresses[best].speed < address->speed)) {
            best = i;
        }
    }
    return best;
}

static int compare_bytes(const void *a, const void *b)
{
    return memcmp(a, b, 16);
}

/** Can all nodes use what this address of the first node stands for?
 * @param[out] scratch  room for 16 bytes of each node */
static candidate_t agree_try(ep_net_node_t *const *nodes, size_t count, size_t own,
                             const ep_net_address_t *wanted, matches_fn_t matches,
                             uint8_t (*scratch)[16])
{
    candidate_t candidate = {.usable = false, .speed = UINT32_MAX, .family = wanted->family};

    for (size_t i = 0; i < count; ++i) {
        const uint32_t place = fastest_of(nodes[i], wanted, matches);

        if (nodes[i]->count == place) {
            return candidate;
        }
        memcpy(scratch[i], nodes[i]->addresses[place].bytes, 16);
        if (candidate.speed > nodes[i]->addresses[place].speed) {
            candidate.speed = nodes[i]->addresses[place].speed;
        }
        if (i == own) {
            candidate.own = place;
        }
    }
    qsort(scratch, count, sizeof(scratch[0]), compare_bytes);
    for (size_t i = 1; i < count; ++i) {
        if (0 == memcmp(scratch[i - 1], scratch[i], 16)) {
            return candidate;
        }
    }
    candidate.usable = true;
    return candidate;
}

static candidate_t best_of_all(ep_net_node_t *const *nodes, size_t count, size_t own,
                               matches_fn_t matches, uint8_t (*scratch)[16])
{
    candidate_t best = {.usable = false};

    for (uint32_t i = 0; i < nodes[0]->count; ++i) {
        const candidate_t candidate = agree_try(nodes, count, own, &nodes[0]->addresses[i], matches,
                                                scratch);

        if (candidate.usable && is_better(&candidate, &best)) {
            best = candidate;
        }
    }
    return best;
}

static bool has_address(const ep_net_node_t *node, const ep_net_address_t *wanted)
{
    for (uint32_t i = 0; i < node->count; ++i) {
        if (wanted->family == node->addresses[i].family
            && 0 == memcmp(wanted->bytes, node->addresses[i].bytes, 16)) {
            return true;
        }
    }
    return false;
}

/** The best network of this node that no other node has. */
static candidate_t best_of_own(ep_net_node_t *const *nodes, size_t count, size_t own)
{
    candidate_t best = {.usable = false};

    for (uint32_t i = 0; i < nodes[own]->count; ++i) {
        const ep_net_address_t *address = &nodes[own]->addresses[i];
        candidate_t candidate = {
            .usable = true, .speed = address->speed, .family = address->family, .own = i};

        for (size_t j = 0; j < count && candidate.usable; ++j) {
            candidate.usable = j == own || !has_address(nodes[j], address);
        }
        if (candidate.usable && is_better(&candidate, &best)) {
            best = candidate;
        }
    }
    return best;
}

const ep_net_address_t *mca_btl_epofi_agree(ep_net_node_t *const *nodes, size_t count, size_t own,
                                            const char **why_p)
{
    uint8_t(*scratch)[16] = calloc(count, sizeof(*scratch));
    candidate_t best = {.usable = false};

    *why_p = "there is no memory to choose";
    if (NULL == scratch) {
        return NULL;
    }
    *why_p = "all nodes are in this network";
    best = best_of_all(nodes, count, own, is_same_network, scratch);
    if (!best.usable) {
        *why_p = "the nodes have no network in common, but this interface";
        best = best_of_all(nodes, count, own, is_same_name, scratch);
    }
    if (!best.usable) {
        *why_p = "the nodes have no network in common, but no other node has this address";
        best = best_of_own(nodes, count, own);
    }
    free(scratch);
    if (!best.usable) {
        *why_p = "the nodes have no network in common, and this node no address of its own";
        return NULL;
    }
    return &nodes[own]->addresses[best.own];
}

const char *mca_btl_epofi_agree_why_not(ep_net_node_t *const *nodes, size_t count, size_t own,
                                        const ep_net_address_t *address,
                                        const ep_net_address_t *chosen)
{
    uint8_t(*scratch)[16] = calloc(count, sizeof(*scratch));
    candidate_t passed, taken;

    for (size_t i = 0; i < count; ++i) {
        if (i != own && has_address(nodes[i], address)) {
            free(scratch);
            return "another node has the same";
        }
    }
    if (NULL == scratch) {
        return "no memory to say why";
    }
    passed = agree_try(nodes, count, own, address, is_same_network, scratch);
    taken = agree_try(nodes, count, own, chosen, is_same_network, scratch);
    free(scratch);
    if (!passed.usable) {
        return "not all nodes are in its network";
    }
    if (passed.speed < taken.speed || address->speed < chosen->speed) {
        return "slower";
    }
    return chosen->family != address->family ? "IPv4 comes first" : "no faster";
}
