/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Listeners, as acceptors and callers know them.
 */

#ifndef MCA_BTL_EPOFI_LISTENER_H
#define MCA_BTL_EPOFI_LISTENER_H

#include "opal_config.h"

#include "btl_epofi_handshake.h"

#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

BEGIN_C_DECLS

/** What makes a listener, of an address: no more of it is compared. */
typedef struct mca_btl_epofi_listener_t {
    uint16_t family;
    uint16_t port; /**< in the network's order */
    unsigned char host[16];
} mca_btl_epofi_listener_t;

_Static_assert(20 == sizeof(mca_btl_epofi_listener_t), "compared as bytes");

/** The listener of an address of IP.  @param[in] bytes  a sockaddr */
static inline void mca_btl_epofi_listener_of(const void *bytes, mca_btl_epofi_listener_t *key)
{
    const struct sockaddr *address = bytes;

    memset(key, 0, sizeof(*key));
    key->family = address->sa_family;
    if (AF_INET == address->sa_family) {
        key->port = ((const struct sockaddr_in *) bytes)->sin_port;
        memcpy(key->host, &((const struct sockaddr_in *) bytes)->sin_addr, sizeof(struct in_addr));
    } else if (AF_INET6 == address->sa_family) {
        key->port = ((const struct sockaddr_in6 *) bytes)->sin6_port;
        memcpy(key->host, &((const struct sockaddr_in6 *) bytes)->sin6_addr,
               sizeof(struct in6_addr));
    }
}

/** The peer that a acceptor knows by this listener.  @return NULL: none */
const mca_btl_epofi_callee_t *mca_btl_epofi_acceptor_callee(
    mca_btl_epofi_acceptor_t *acceptor, const mca_btl_epofi_listener_t *listener);

END_C_DECLS

#endif /* MCA_BTL_EPOFI_LISTENER_H */
