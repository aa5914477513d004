/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Random numbers, and numbers that can be made only with a secret: the proofs in wire headers and
 * handshakes, and the keys of registered memory.  docs/security.md describes their use.
 *
 * Tests: unit/test_epofi_keys, unit/test_epofi_handshake
 */

#ifndef MCA_BTL_EPOFI_KEYED_H
#define MCA_BTL_EPOFI_KEYED_H

#include "opal_config.h"

#include "opal/constants.h"
#include "opal/mca/common/ep/common_ep_keyed.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/random.h>

/** The key of mca_btl_epofi_keyed. */
typedef ep_secret_t mca_btl_epofi_secret_t;

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

/** Some numbers as one that only those with the secret can make: see ep_keyed_words. */
static inline uint64_t mca_btl_epofi_keyed_words(const mca_btl_epofi_secret_t *secret,
                                                 const uint64_t *words, size_t count)
{
    return ep_keyed_words(secret, words, count);
}

/** Likewise, of one number. */
static inline uint64_t mca_btl_epofi_keyed(const mca_btl_epofi_secret_t *secret, uint64_t number)
{
    return mca_btl_epofi_keyed_words(secret, &number, 1);
}

#endif /* MCA_BTL_EPOFI_KEYED_H */
