/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Numbers that can be made and guessed only with a secret.  docs/security.md describes their use.
 *
 * Tests: unit/test_epofi_keys, unit/test_epofi_handshake
 */

#ifndef OPAL_COMMON_EP_KEYED_H
#define OPAL_COMMON_EP_KEYED_H

#include <stddef.h>
#include <stdint.h>

/** The key of ep_keyed_words. */
typedef struct ep_secret_t {
    uint64_t word[2];
} ep_secret_t;

static inline uint64_t ep_keyed_rotate(uint64_t word, unsigned int bits)
{
    return word << bits | word >> (64 - bits);
}

static inline void ep_keyed_round(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = ep_keyed_rotate(v[1], 13) ^ v[0];
    v[3] = ep_keyed_rotate(v[3], 16) ^ v[2];
    v[0] = ep_keyed_rotate(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = ep_keyed_rotate(v[1], 17) ^ v[2];
    v[3] = ep_keyed_rotate(v[3], 21) ^ v[0];
    v[2] = ep_keyed_rotate(v[2], 32);
}

/**
 * SipHash-2-4 (Aumasson and Bernstein, 2012) of some 64-bit numbers, fewer than 32: without the
 * secret the result cannot be distinguished from a random number, whatever results for other
 * numbers, or for more or fewer of them, are known.
 */
static inline uint64_t ep_keyed_words(const ep_secret_t *secret, const uint64_t *words,
                                      size_t count)
{
    uint64_t v[4] = {
        secret->word[0] ^ UINT64_C(0x736f6d6570736575),
        secret->word[1] ^ UINT64_C(0x646f72616e646f6d),
        secret->word[0] ^ UINT64_C(0x6c7967656e657261),
        secret->word[1] ^ UINT64_C(0x7465646279746573),
    };

    for (size_t i = 0; i <= count; ++i) {
        /* Last, how many bytes there were. */
        const uint64_t word = i < count ? words[i] : (uint64_t) (count * sizeof(*words)) << 56;

        v[3] ^= word;
        ep_keyed_round(v);
        ep_keyed_round(v);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    for (int i = 0; i < 4; ++i) {
        ep_keyed_round(v);
    }
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#endif /* OPAL_COMMON_EP_KEYED_H */
