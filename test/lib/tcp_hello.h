/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What libfabric's tcp (2.1) says first on a connection, for tests that speak its protocol
 * themselves.
 */

#ifndef EP_TEST_LIB_TCP_HELLO_H
#define EP_TEST_LIB_TCP_HELLO_H

#include <arpa/inet.h>
#include <stdint.h>

typedef struct tcp_hello_t {
    uint8_t version, type;
    uint16_t size;
    uint32_t unused[5];
    uint64_t order;
    uint8_t rdm_version, rdm_unused;
    uint16_t rdm_port; /**< the connection is known by it */
    uint32_t rdm_pid;
} tcp_hello_t;

_Static_assert(40 == sizeof(tcp_hello_t), "as it travels");

/** "I am the listener on that port." */
static inline tcp_hello_t tcp_hello(uint16_t port)
{
    return (tcp_hello_t){.version = 3,
                         .size = htons(8),
                         .order = 1,
                         .rdm_version = 1,
                         .rdm_port = htons(port),
                         .rdm_pid = htonl(1)};
}

#endif /* EP_TEST_LIB_TCP_HELLO_H */
