/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The hash FNV-1a (Fowler, Noll, Vo), for names of hosts, ports, providers and groups.
 *
 * Processes of different builds compare these values (addresses of endpoints, tags of connections,
 * keys of groups): they must stay what they are.  No protection against chosen input; for that
 * there is common_ep_keyed.h.
 *
 * Pure functions, for any thread.  Standalone.
 *
 * Tests: unit/test_ep_hash
 */

#ifndef OPAL_COMMON_EP_HASH_H
#define OPAL_COMMON_EP_HASH_H

#include <stddef.h>
#include <stdint.h>

/** The 64-bit hash of no bytes: where ep_hash64 begins. */
#define EP_HASH64_BEGIN UINT64_C(0xcbf29ce484222325)

/** The 32-bit hash of a text, without its final zero.  May be 0. */
static inline uint32_t ep_hash32(const char *text)
{
    uint32_t hash = UINT32_C(0x811c9dc5);

    for (; '\0' != *text; ++text) {
        hash = (hash ^ (unsigned char) *text) * UINT32_C(0x01000193);
    }
    return hash;
}

/**
 * The 64-bit hash of some bytes.
 *
 * @param[in] so_far  EP_HASH64_BEGIN, or the hash of the bytes before these
 * @param[in] data    may be NULL if size is 0
 * @param[in] size    in bytes
 */
static inline uint64_t ep_hash64(uint64_t so_far, const void *data, size_t size)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < size; ++i) {
        so_far = (so_far ^ bytes[i]) * UINT64_C(0x100000001b3);
    }
    return so_far;
}

#endif /* OPAL_COMMON_EP_HASH_H */
