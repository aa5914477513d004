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
 * What is said on a connection before libfabric sees any of it: the greeting of who connects, which
 * nobody can make who does not have the listener's secret, and the answer, which only the listener
 * can make.  btl_epofi_greet.c says who says it when.
 *
 * Both are of a fixed size and have no lengths in them: there is nothing to parse.  They are proven
 * over more words than the proof of a message is made of, and begin differently, so that none of
 * the three can be taken for another.
 */

#ifndef MCA_BTL_EPOFI_GREET_H
#define MCA_BTL_EPOFI_GREET_H

#include "opal_config.h"

#include "btl_epofi_keyed.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define EPOFI_GREETING_MAGIC UINT64_C(0x000167705265E90F) /**< its upper half: version 1 */
#define EPOFI_ANSWER_MAGIC   UINT64_C(0x000168657245E90F)

/** Who connects says: */
typedef struct mca_btl_epofi_greeting_t {
    uint64_t magic;    /**< EPOFI_GREETING_MAGIC in its byte order */
    uint64_t nonce[2]; /**< random, new for each connection */
    uint64_t proof;    /**< of the above, by the listener's secret */
} mca_btl_epofi_greeting_t;

/** And the listener: */
typedef struct mca_btl_epofi_answer_t {
    uint64_t magic; /**< EPOFI_ANSWER_MAGIC in its byte order */
    uint64_t proof; /**< of it and the greeting's nonce, by its secret */
} mca_btl_epofi_answer_t;

_Static_assert(32 == sizeof(mca_btl_epofi_greeting_t), "no padding on the wire");
_Static_assert(16 == sizeof(mca_btl_epofi_answer_t), "no padding on the wire");

static inline uint64_t mca_btl_epofi_greet_proof(const mca_btl_epofi_secret_t *secret,
                                                 uint64_t magic, const uint64_t nonce[2])
{
    const uint64_t words[3] = {magic, nonce[0], nonce[1]};

    return mca_btl_epofi_keyed_words(secret, words, 3);
}

/** @return OPAL_SUCCESS, or OPAL_ERR_NOT_AVAILABLE: no random numbers */
static inline int mca_btl_epofi_greeting_make(const mca_btl_epofi_secret_t *secret,
                                              mca_btl_epofi_greeting_t *greeting)
{
    greeting->magic = EPOFI_GREETING_MAGIC;
    if (OPAL_SUCCESS != mca_btl_epofi_random(greeting->nonce, sizeof(greeting->nonce))) {
        return OPAL_ERR_NOT_AVAILABLE;
    }
    greeting->proof = mca_btl_epofi_greet_proof(secret, greeting->magic, greeting->nonce);
    return OPAL_SUCCESS;
}

/** Can these first bytes of what somebody says still become a greeting?  @param[in] got  1 to 32 */
static inline bool mca_btl_epofi_greeting_begins(const mca_btl_epofi_greeting_t *greeting,
                                                 size_t got)
{
    const uint64_t magic = EPOFI_GREETING_MAGIC;

    return 0 == memcmp(&greeting->magic, &magic, got < sizeof(magic) ? got : sizeof(magic));
}

/** One comparison of whole numbers: how long it takes tells nothing. */
static inline bool mca_btl_epofi_greeting_is_right(const mca_btl_epofi_secret_t *secret,
                                                   const mca_btl_epofi_greeting_t *greeting)
{
    return EPOFI_GREETING_MAGIC == greeting->magic
           && mca_btl_epofi_greet_proof(secret, EPOFI_GREETING_MAGIC, greeting->nonce)
                  == greeting->proof;
}

static inline mca_btl_epofi_answer_t mca_btl_epofi_answer_make(const mca_btl_epofi_secret_t *secret,
                                                               const uint64_t nonce[2])
{
    return (mca_btl_epofi_answer_t){
        .magic = EPOFI_ANSWER_MAGIC,
        .proof = mca_btl_epofi_greet_proof(secret, EPOFI_ANSWER_MAGIC, nonce),
    };
}

#endif /* MCA_BTL_EPOFI_GREET_H */
