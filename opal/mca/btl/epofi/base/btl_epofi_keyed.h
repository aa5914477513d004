/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * Random numbers, and numbers that only those who have a secret can make: the proofs in the wire
 * headers and greetings, and the keys of registered memory.  docs/security.md says what they are good for.
 *
 * Tests: unit/test_epofi_keys, unit/test_epofi_greet
 */

#ifndef MCA_BTL_EPOFI_KEYED_H
#define MCA_BTL_EPOFI_KEYED_H

#include "opal_config.h"

#include "opal/constants.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/random.h>

/** The key of mca_btl_epofi_keyed. */
typedef struct mca_btl_epofi_secret_t {
    uint64_t word[2];
} mca_btl_epofi_secret_t;

/** Random bytes from the kernel, at most 256.  Waits while a machine that has just been started has
 * none.  @return OPAL_SUCCESS or OPAL_ERR_NOT_AVAILABLE */
static inline int mca_btl_epofi_random(void *bytes, size_t size)
{
    ssize_t got;

    do {
        got = getrandom(bytes, size, 0);
    } while (0 > got && EINTR == errno);
    return (ssize_t) size == got ? OPAL_SUCCESS : OPAL_ERR_NOT_AVAILABLE;
}

static inline uint64_t mca_btl_epofi_rotate(uint64_t word, unsigned int bits)
{
    return word << bits | word >> (64 - bits);
}

static inline void mca_btl_epofi_sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = mca_btl_epofi_rotate(v[1], 13) ^ v[0];
    v[3] = mca_btl_epofi_rotate(v[3], 16) ^ v[2];
    v[0] = mca_btl_epofi_rotate(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = mca_btl_epofi_rotate(v[1], 17) ^ v[2];
    v[3] = mca_btl_epofi_rotate(v[3], 21) ^ v[0];
    v[2] = mca_btl_epofi_rotate(v[2], 32);
}

/**
 * SipHash-2-4 (Aumasson and Bernstein, 2012) of some 64-bit numbers, fewer than 32: who does not
 * have the secret cannot tell the result from a random number, whatever results for other numbers,
 * or for more or fewer of them, it has seen.
 */
static inline uint64_t mca_btl_epofi_keyed_words(const mca_btl_epofi_secret_t *secret,
                                                 const uint64_t *words, size_t count)
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
        mca_btl_epofi_sip_round(v);
        mca_btl_epofi_sip_round(v);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    for (int i = 0; i < 4; ++i) {
        mca_btl_epofi_sip_round(v);
    }
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/** Likewise, of one number. */
static inline uint64_t mca_btl_epofi_keyed(const mca_btl_epofi_secret_t *secret, uint64_t number)
{
    return mca_btl_epofi_keyed_words(secret, &number, 1);
}

#endif /* MCA_BTL_EPOFI_KEYED_H */
