/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The addresses of a node that endpoints may use: what one process of each node publishes when MPI
 * starts (pml_epml_net.c), and what all processes of the job read when they choose a network
 * (btl_epofi_net.c).  Published by the PML and not by btl/epofi, which is not opened, nor
 * libfabric, before there are endpoints.
 *
 * Standalone.
 *
 * Tests: unit/test_epofi_agree
 */

#ifndef OPAL_COMMON_EP_NET_H
#define OPAL_COMMON_EP_NET_H

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/** Under this key, by the process of lowest rank on each host. */
#define EP_NET_KEY "epml.net.1"

/** A node has no more addresses than that; of those that have, the first ones are taken. */
#define EP_NET_MOST 32

/** An address of a node. */
typedef struct ep_net_address_t {
    char name[IFNAMSIZ]; /**< of its interface */
    uint32_t speed;      /**< of the interface, in Mbit/s; 0: it does not say */
    uint16_t family;     /**< AF_INET or AF_INET6 */
    uint16_t prefix;     /**< how many of its bits name its network */
    uint8_t bytes[16];   /**< 4 of them are used by AF_INET, the others are 0 */
} ep_net_address_t;

/** The addresses of a node.  Only the first ep_net_size bytes are published. */
typedef struct ep_net_node_t {
    uint64_t host; /**< the same for two that share one network stack (a container each, say) */
    uint32_t count;
    uint32_t unused; /**< 0 */
    ep_net_address_t addresses[EP_NET_MOST];
} ep_net_node_t;

_Static_assert(40 == sizeof(ep_net_address_t), "no padding: compared, and sent, as bytes");
_Static_assert(16 == offsetof(ep_net_node_t, addresses), "likewise");

static inline size_t ep_net_size(const ep_net_node_t *node)
{
    return offsetof(ep_net_node_t, addresses) + node->count * sizeof(node->addresses[0]);
}

/** The bytes of an address, and how many bits they have.  @return false: it is of another family */
static inline bool ep_net_bytes(const void *sockaddr, uint8_t bytes[16], uint16_t *bits_p)
{
    const struct sockaddr *address = sockaddr;

    memset(bytes, 0, 16);
    if (AF_INET == address->sa_family) {
        memcpy(bytes, &((const struct sockaddr_in *) sockaddr)->sin_addr, 4);
        *bits_p = 32;
    } else if (AF_INET6 == address->sa_family) {
        memcpy(bytes, &((const struct sockaddr_in6 *) sockaddr)->sin6_addr, 16);
        *bits_p = 128;
    } else {
        return false;
    }
    return true;
}

/** Do two addresses have the first bits in common? */
static inline bool ep_net_same(const uint8_t a[16], const uint8_t b[16], uint16_t bits)
{
    const uint16_t whole = bits / 8;
    const uint8_t mask = (uint8_t) (0xFF00 >> bits % 8);

    return 0 == memcmp(a, b, whole) && (0 == bits % 8 || (a[whole] & mask) == (b[whole] & mask));
}

/** Is an address in a network, written as 10.1.0.0/16 or fd00::/8?  @return false also where the
 * text is none of that */
static inline bool ep_net_inside(const char *network, const void *sockaddr)
{
    const struct sockaddr *address = sockaddr;
    uint8_t bytes[16], wanted[16] = {0};
    const char *slash = strchr(network, '/');
    char text[INET6_ADDRSTRLEN] = "", *end;
    uint16_t bits;
    long prefix;

    if (NULL == slash || sizeof(text) <= (size_t) (slash - network)
        || !ep_net_bytes(sockaddr, bytes, &bits)) {
        return false;
    }
    memcpy(text, network, (size_t) (slash - network));
    prefix = strtol(slash + 1, &end, 10);
    return '\0' != slash[1] && '\0' == *end && 0 <= prefix && bits >= prefix
           && 1 == inet_pton(address->sa_family, text, wanted)
           && ep_net_same(bytes, wanted, (uint16_t) prefix);
}

/**
 * Is an interface in a list "eth0,10.1.0.0/16" of names and networks?
 *
 * @param[in] sockaddr  its address, or NULL
 * @param[in] begins    a name in the list stands for all that begin with it
 */
static inline bool ep_net_listed(const char *list, const char *name, const void *sockaddr,
                                 bool begins)
{
    while ('\0' != *list) {
        const size_t length = strcspn(list, ",");
        char item[128];

        if (length < sizeof(item)) {
            memcpy(item, list, length);
            item[length] = '\0';
            if (NULL != strchr(item, '/')
                    ? NULL != sockaddr && ep_net_inside(item, sockaddr)
                    : NULL != name && 0 < length
                          && 0 == strncmp(item, name, length + (begins ? 0 : 1))) {
                return true;
            }
        }
        list += length;
        list += ',' == *list;
    }
    return false;
}

#endif /* OPAL_COMMON_EP_NET_H */
