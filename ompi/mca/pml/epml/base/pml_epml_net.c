/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The networks that this node has, for the choice of one when there are endpoints
 * (btl_epofi_net.c): published when MPI starts, by one process of each node, while that costs no
 * message of its own.
 *
 * Tests: cluster, schedulers/slurm
 */

#include "ompi_config.h"

#include "pml_epml_net.h"

#include "ompi/constants.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/mca/common/ep/common_ep_hash.h"
#include "opal/mca/common/ep/common_ep_net.h"
#include "opal/mca/pmix/pmix-internal.h"
#include "opal/util/proc.h"

#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/** A text parameter of a BTL, which need not be open; "" if it is not set. */
static const char *net_parameter(const char *component, const char *name, const char *variable)
{
    const int index = mca_base_var_find("opal", "btl", component, name);
    const char *const *value = NULL;
    const char *text = getenv(variable);

    if (0 <= index && OPAL_SUCCESS == mca_base_var_get_value(index, &value, NULL, NULL)
        && NULL != value) {
        text = *value;
    }
    return NULL == text ? "" : text;
}

/** May endpoints use an interface, by the parameters of the user or the site? */
static bool may_use(const struct ifaddrs *interface)
{
    const char *wanted = net_parameter("epofi", "interface", "OMPI_MCA_btl_epofi_interface");
    const char *include = net_parameter("tcp", "if_include", "OMPI_MCA_btl_tcp_if_include");
    const char *exclude = net_parameter("tcp", "if_exclude", "OMPI_MCA_btl_tcp_if_exclude");

    if ('\0' == *wanted) {
        wanted = include;
    }
    if ('\0' != *wanted) {
        return ep_net_listed(wanted, interface->ifa_name, interface->ifa_addr, false);
    }
    /* "docker" excludes docker0: so it is in btl/tcp. */
    return 0 == (interface->ifa_flags & IFF_LOOPBACK)
           && !ep_net_listed(exclude, interface->ifa_name, interface->ifa_addr, true);
}

/** Is it up, and an address that others can connect to? */
static bool is_usable(const struct ifaddrs *interface)
{
    if (NULL == interface->ifa_addr || NULL == interface->ifa_netmask
        || 0 == (interface->ifa_flags & IFF_UP) || 0 == (interface->ifa_flags & IFF_RUNNING)) {
        return false;
    }
    return AF_INET == interface->ifa_addr->sa_family
           || (AF_INET6 == interface->ifa_addr->sa_family
               && !IN6_IS_ADDR_LINKLOCAL(
                   &((const struct sockaddr_in6 *) interface->ifa_addr)->sin6_addr));
}

/** In Mbit/s, or 0. */
static uint32_t speed_of(const char *name)
{
    char path[64 + IFNAMSIZ];
    long speed = 0;
    FILE *file;

    (void) snprintf(path, sizeof(path), "/sys/class/net/%s/speed", name);
    file = fopen(path, "re");
    if (NULL != file) {
        if (1 != fscanf(file, "%ld", &speed)) {
            speed = 0;
        }
        (void) fclose(file);
    }
    return 0 < speed && UINT32_MAX > speed ? (uint32_t) speed : 0;
}

static void add_interface(const struct ifaddrs *interface, ep_net_node_t *node)
{
    ep_net_address_t *address = &node->addresses[node->count];
    uint8_t mask[16];
    uint16_t bits;

    if (!ep_net_bytes(interface->ifa_addr, address->bytes, &bits)
        || !ep_net_bytes(interface->ifa_netmask, mask, &bits)) {
        return;
    }
    while (address->prefix < bits
           && 0 != (mask[address->prefix / 8] & 0x80 >> address->prefix % 8)) {
        ++address->prefix;
    }
    address->family = interface->ifa_addr->sa_family;
    address->speed = speed_of(interface->ifa_name);
    (void) snprintf(address->name, sizeof(address->name), "%s", interface->ifa_name);
    ++node->count;
}

static uint64_t net_hash(const char *text)
{
    return ep_hash64(EP_HASH64_BEGIN, text, strlen(text));
}

/** Of this machine, since it was started, and of the network stack that this process sees. */
static uint64_t host_of_this(void)
{
    char boot[64] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    struct stat stack;

    if (NULL != file) {
        if (NULL == fgets(boot, sizeof(boot), file)) {
            boot[0] = '\0';
        }
        (void) fclose(file);
    }
    if ('\0' == boot[0] || 0 != stat("/proc/self/ns/net", &stack)) {
        return net_hash(opal_process_info.nodename);
    }
    return net_hash(boot) ^ (uint64_t) stack.st_ino;
}

/** Is this the process of lowest rank on its host, by the launcher?  Its local rank need not be 0, with a rank file.
 * Without a launcher it is. */
static bool is_first_on_host(void)
{
    bool is_first = 0 == opal_process_info.my_local_rank;
    pmix_value_t *value = NULL;
    pmix_proc_t job;
    pmix_info_t info;

    PMIX_LOAD_PROCID(&job, opal_process_info.myprocid.nspace, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&info, PMIX_OPTIONAL, NULL, PMIX_BOOL);
    if (PMIX_SUCCESS == PMIx_Get(&job, PMIX_LOCALLDR, &info, 1, &value)) {
        if (PMIX_PROC_RANK == value->type) {
            is_first = opal_process_info.myprocid.rank == value->data.rank;
        } else if (PMIX_UINT32 == value->type) { /* Slurm's */
            is_first = opal_process_info.myprocid.rank == value->data.uint32;
        }
        PMIX_VALUE_RELEASE(value);
    }
    PMIX_INFO_DESTRUCT(&info);
    return is_first;
}

void mca_pml_epml_net_publish(void)
{
    ep_net_node_t node;
    struct ifaddrs *list;
    pmix_value_t value;

    if (!is_first_on_host()) {
        return;
    }
    memset(&node, 0, sizeof(node));
    node.host = host_of_this();
    if (0 == getifaddrs(&list)) {
        for (const struct ifaddrs *one = list; NULL != one && EP_NET_MOST > node.count;
             one = one->ifa_next) {
            if (is_usable(one) && may_use(one)) {
                add_interface(one, &node);
            }
        }
        freeifaddrs(list);
    }
    memset(&value, 0, sizeof(value));
    value.type = PMIX_BYTE_OBJECT;
    value.data.bo.bytes = (char *) &node;
    value.data.bo.size = ep_net_size(&node);
    /* If it fails there is no agreement on a network, and each process takes the first one. */
    (void) PMIx_Put(PMIX_GLOBAL, EP_NET_KEY, &value);
}
