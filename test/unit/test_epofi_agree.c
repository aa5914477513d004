/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Which network the processes of a job take (btl_epofi_agree.c), with nodes that the test makes up;
 * and lists of interfaces and networks (common_ep_net.h).
 *
 * Guards: common_ep_net.h, btl_epofi_agree.c
 */

#include "opal/mca/btl/epofi/fabric/btl_epofi_agree.c"

#include "tap.h"

#include <stdarg.h>

enum { NODES = 6 };

static ep_net_node_t nodes[NODES], *places[NODES];
static size_t count;

static void set_address(void *sockaddr, const char *text)
{
    struct sockaddr_in *in = sockaddr;
    struct sockaddr_in6 *in6 = sockaddr;

    if (NULL != strchr(text, ':')) {
        in6->sin6_family = AF_INET6;
        TAP_EQ(1, inet_pton(AF_INET6, text, &in6->sin6_addr));
    } else {
        in->sin_family = AF_INET;
        TAP_EQ(1, inet_pton(AF_INET, text, &in->sin_addr));
    }
}

static void begin(size_t number)
{
    memset(nodes, 0, sizeof(nodes));
    count = number;
    for (size_t i = 0; i < count; ++i) {
        places[i] = &nodes[i];
    }
}

/** Give a node an address. */
static void give(size_t node, const char *name, const char *text, uint16_t prefix, uint32_t speed)
{
    ep_net_address_t *address = &nodes[node].addresses[nodes[node].count++];
    struct sockaddr_in6 sockaddr;
    uint16_t bits;

    memset(&sockaddr, 0, sizeof(sockaddr));
    set_address(&sockaddr, text);
    TAP_CHECK(ep_net_bytes(&sockaddr, address->bytes, &bits), "no address: %s", text);
    (void) snprintf(address->name, sizeof(address->name), "%s", name);
    address->family = ((struct sockaddr *) &sockaddr)->sa_family;
    address->prefix = prefix;
    address->speed = speed;
}

/** What each node chooses, in its own place; "-": nothing. */
static void expect(const char *what, ...)
{
    va_list wanted;

    va_start(wanted, what);
    for (size_t i = 0; i < count; ++i) {
        const char *text = va_arg(wanted, const char *), *why;
        const ep_net_address_t *chosen = mca_btl_epofi_agree(places, count, i, &why);
        char got[INET6_ADDRSTRLEN] = "-";

        if (NULL != chosen) {
            TAP_CHECK(NULL != inet_ntop(chosen->family, chosen->bytes, got, sizeof(got)), "bad");
        }
        TAP_CHECK(0 == strcmp(text, got), "%s, node %zu: %s instead of %s (%s)", what, i, got, text,
                  why);
    }
    va_end(wanted);
}

static void case_common(void)
{
    tap_case("a network that all nodes have, each with an address of its own");
    begin(3);
    for (size_t i = 0; i < 3; ++i) {
        char own[32];

        (void) snprintf(own, sizeof(own), "10.1.0.%zu", i + 1);
        give(i, "docker0", "172.17.0.1", 16, 100000);
        give(i, "virbr0", "192.168.122.1", 24, 0);
        give(i, "eth0", own, 24, 1000);
    }
    expect("docker", "10.1.0.1", "10.1.0.2", "10.1.0.3");

    begin(3);
    give(0, "ens3", "10.1.0.1", 24, 10000);
    give(0, "ens4", "10.2.15.1", 20, 10000);
    give(1, "ens3", "10.1.0.2", 24, 10000);
    give(1, "ens4", "10.2.0.2", 20, 10000);
    give(2, "eno1", "10.2.7.3", 20, 10000);
    expect("other names", "10.2.15.1", "10.2.0.2", "10.2.7.3");

    begin(2);
    give(0, "eth0", "10.2.15.1", 20, 10000);
    give(0, "eth1", "10.9.0.1", 24, 10);
    give(1, "eth0", "10.2.16.1", 20, 10000);
    give(1, "eth1", "10.9.0.2", 24, 10);
    expect("almost the same network", "10.9.0.1", "10.9.0.2");
    tap_case_done();
}

static void case_speed(void)
{
    tap_case("the fastest, by its slowest node; then IPv4; then the first");
    begin(2);
    give(0, "eth0", "10.1.0.1", 24, 1000);
    give(0, "ib0", "10.2.0.1", 24, 100000);
    give(1, "ib0", "10.2.0.2", 24, 100000);
    give(1, "eth0", "10.1.0.2", 24, 1000);
    expect("faster", "10.2.0.1", "10.2.0.2");
    nodes[1].addresses[0].speed = 10;
    expect("slow at one end", "10.1.0.1", "10.1.0.2");
    nodes[1].addresses[0].speed = 0;
    expect("unknown at one end", "10.1.0.1", "10.1.0.2");

    begin(2);
    for (size_t i = 0; i < 2; ++i) {
        give(i, "eth0", 0 == i ? "fd00::1" : "fd00::2", 64, 1000);
        give(i, "eth0", 0 == i ? "10.1.0.1" : "10.1.0.2", 24, 1000);
        give(i, "eth1", 0 == i ? "10.2.0.1" : "10.2.0.2", 24, 1000);
    }
    expect("equally fast", "10.1.0.1", "10.1.0.2");
    nodes[0].addresses[0].speed = nodes[1].addresses[0].speed = 2000;
    expect("IPv6 is faster", "fd00::1", "fd00::2");

    begin(2);
    give(0, "eth0", "10.1.0.1", 24, 1000);
    give(0, "eth1", "10.1.0.7", 24, 10000);
    give(1, "eth0", "10.1.0.2", 24, 10000);
    expect("two in one network", "10.1.0.7", "10.1.0.2");
    tap_case_done();
}

static void case_ipv6(void)
{
    tap_case("IPv6 alone");
    begin(3);
    give(0, "eth0", "fd00:1::1", 64, 0);
    give(1, "eth0", "fd00:1::2", 64, 0);
    give(2, "eth0", "fd00:1::3", 64, 0);
    expect("IPv6", "fd00:1::1", "fd00:1::2", "fd00:1::3");
    tap_case_done();
}

static void case_routed(void)
{
    tap_case("no network in common: a name, or what nobody else has");
    begin(3);
    for (size_t i = 0; i < 3; ++i) {
        char own[32];

        (void) snprintf(own, sizeof(own), "10.1.%zu.1", i);
        give(i, "docker0", "172.17.0.1", 16, 100000);
        give(i, "eth0", own, 24, 1000);
    }
    expect("one name", "10.1.0.1", "10.1.1.1", "10.1.2.1");

    begin(2);
    give(0, "docker0", "172.17.0.1", 16, 100000);
    give(0, "eth0", "10.1.0.1", 24, 1000);
    give(1, "docker0", "172.17.0.1", 16, 100000);
    give(1, "ens3", "10.2.0.1", 24, 1000);
    give(1, "ens4", "10.3.0.1", 24, 2000);
    expect("no name", "10.1.0.1", "10.3.0.1");

    begin(2);
    give(0, "docker0", "172.17.0.1", 16, 100000);
    give(1, "docker0", "172.17.0.1", 16, 100000);
    expect("no address", "-", "-");
    begin(2);
    give(0, "eth0", "10.1.0.1", 24, 1000);
    expect("one that has none", "10.1.0.1", "-");
    tap_case_done();
}

/** Why a node has not taken an address of its own. */
static void expect_passed(size_t node, uint32_t place, const char *wanted)
{
    const char *why, *got;
    const ep_net_address_t *chosen = mca_btl_epofi_agree(places, count, node, &why);

    TAP_CHECK(NULL != chosen && chosen != &nodes[node].addresses[place], "it was taken");
    got = mca_btl_epofi_agree_why_not(places, count, node, &nodes[node].addresses[place], chosen);
    TAP_CHECK(0 == strcmp(wanted, got), "node %zu, %s: \"%s\" instead of \"%s\"", node,
              nodes[node].addresses[place].name, got, wanted);
}

static void case_passed(void)
{
    tap_case("why others were passed over");
    begin(2);
    give(0, "docker0", "172.17.0.1", 16, 100000);
    give(0, "eth0", "10.1.0.1", 24, 1000);
    give(0, "eth1", "10.2.0.1", 24, 10000);
    give(0, "eth2", "10.3.0.1", 24, 100000);
    give(0, "eth1", "fd00::1", 64, 10000);
    give(0, "eth3", "10.4.0.1", 24, 10000);
    give(0, "eth4", "10.2.0.7", 24, 100);
    give(1, "docker0", "172.17.0.1", 16, 100000);
    give(1, "eth0", "10.1.0.2", 24, 100000);
    give(1, "eth1", "10.2.0.2", 24, 10000);
    give(1, "eth1", "fd00::2", 64, 10000);
    give(1, "eth3", "10.4.0.2", 24, 10000);
    expect("the second of three", "10.2.0.1", "10.2.0.2");
    expect_passed(0, 0, "another node has the same");
    expect_passed(0, 1, "slower");
    expect_passed(0, 3, "not all nodes are in its network");
    expect_passed(0, 4, "IPv4 comes first");
    expect_passed(0, 5, "no faster");
    expect_passed(0, 6, "slower");
    expect_passed(1, 1, "slower"); /* at the other end */
    tap_case_done();
}

/** Whatever there is: where all can be in one network, all are. */
static void case_random(void)
{
    uint64_t random = tap_stream(1);
    int common = 0;

    tap_case("any nodes: all in one network, if there is one");
    for (int round = 0; round < 2000; ++round) {
        const ep_net_address_t *first = NULL, *chosen;
        const char *why, *said = NULL;

        begin(2 + tap_below(&random, NODES - 1));
        for (size_t i = 0; i < count; ++i) {
            for (uint64_t j = 1 + tap_below(&random, 5); 0 < j; --j) {
                char name[8], text[32];

                (void) snprintf(name, sizeof(name), "eth%d", (int) tap_below(&random, 4));
                (void) snprintf(text, sizeof(text), "10.%d.0.%d", (int) tap_below(&random, 3),
                                (int) tap_below(&random, 40));
                give(i, name, text, 16, (uint32_t) tap_below(&random, 3));
            }
        }
        for (size_t i = 0; i < count; ++i) {
            chosen = mca_btl_epofi_agree(places, count, i, &why);
            TAP_CHECK(0 == i || 0 == strcmp(said, why), "%s, and %s", said, why);
            said = why;
            if (NULL == strstr(why, "all nodes are in this")) {
                break;
            }
            TAP_CHECK(NULL != chosen, "nothing");
            first = NULL == first ? chosen : first;
            TAP_CHECK(is_same_network(first, chosen), "two networks");
            TAP_CHECK(0 == i || 0 != memcmp(first->bytes, chosen->bytes, 16), "one address twice");
            common += 0 == i;
        }
    }
    TAP_CHECK(200 < common && 1900 > common, "%d of 2000 have one", common);
    tap_case_done();
}

static bool listed(const char *list, const char *name, const char *text, bool begins)
{
    struct sockaddr_in6 sockaddr;

    memset(&sockaddr, 0, sizeof(sockaddr));
    set_address(&sockaddr, text);
    return ep_net_listed(list, name, &sockaddr, begins);
}

static void case_lists(void)
{
    tap_case("lists of interfaces and networks");
    TAP_CHECK(listed("eth0", "eth0", "10.1.0.1", false), "a name");
    TAP_CHECK(!listed("eth0", "eth01", "10.1.0.1", false), "a longer name");
    TAP_CHECK(!listed("eth01", "eth0", "10.1.0.1", false), "a shorter name");
    TAP_CHECK(listed("eth", "eth0", "10.1.0.1", true), "the beginning of a name");
    TAP_CHECK(!listed("", "eth0", "10.1.0.1", true), "nothing");
    TAP_CHECK(!listed(",,", "eth0", "10.1.0.1", true), "commas");
    TAP_CHECK(listed("lo,eth0", "eth0", "10.1.0.1", false), "the second one");
    TAP_CHECK(listed("lo,10.1.0.0/16", "eth0", "10.1.7.1", false), "a network");
    TAP_CHECK(listed("10.1.16.0/20", "eth0", "10.1.31.255", false), "the last address");
    TAP_CHECK(!listed("10.1.16.0/20", "eth0", "10.1.32.0", false), "one more");
    TAP_CHECK(listed("0.0.0.0/0", "eth0", "10.1.32.0", false), "all");
    TAP_CHECK(!listed("0.0.0.0/0", "eth0", "fd00::1", false), "all of the other kind");
    TAP_CHECK(listed("fd00::/8", "eth0", "fd12:3::1", false), "IPv6");
    TAP_CHECK(!listed("10.1.0.0/33", "eth0", "10.1.0.0", false), "too many bits");
    TAP_CHECK(!listed("10.1.0.0/", "eth0", "10.1.0.0", false), "no bits");
    TAP_CHECK(!listed("10.1.0.0/x", "eth0", "10.1.0.0", false), "no number");
    TAP_CHECK(!listed("10.1.0/16", "eth0", "10.1.0.0", false), "no address");
    TAP_CHECK(!ep_net_listed("10.1.0.0/16", "eth0", NULL, false), "an interface without address");
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epofi_agree", 60);
    case_common();
    case_speed();
    case_ipv6();
    case_routed();
    case_passed();
    case_random();
    case_lists();
    return tap_end();
}
