/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The handshake on a connection before libfabric sees any of it: the greeting of the connecting
 * side, which needs the listener's secret, and the answer, which only the listener can make.  The
 * sequence is in btl_epofi_greet.c.
 *
 * Both are of a fixed size and have no lengths in them: there is nothing to parse.  They are proven
 * over more words than the proof of a message is made of, and begin differently, so that none of
 * the three can be taken for another.
 */

#ifndef MCA_BTL_EPOFI_GREET_H
#define MCA_BTL_EPOFI_GREET_H

#include "opal_config.h"

#include "../base/base.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define EPOFI_GREETING_MAGIC UINT64_C(0x000167705265E90F) /**< its upper half: version 1 */
#define EPOFI_ANSWER_MAGIC UINT64_C(0x000168657245E90F)

/** The greeting, sent by the connecting side of the handshake. */
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

/** Can these first bytes of what the connecting side sends still become a greeting?  @param[in] got
 * 1 to 32 */
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

/* ---- gates (btl_epofi_greet.c) and callers (btl_epofi_caller.c) ------------------------------ */

struct epoll_event;
struct sockaddr;

/** How connections to a peer have ended before libfabric could use them.  Written within libfabric,
 * by the thread that connects: the module's owner or the postman.  Relaxed, everywhere: each field
 * is looked at by itself. */
typedef struct mca_btl_epofi_attempts_t {
    _Atomic int error; /**< of the last one, an errno; 0: it stands, or none has ended yet */
    _Atomic bool reached;      /**< the other host has said something to the last one, be it no */
    _Atomic uint32_t refusals; /**< that the other host has ended, one after the other, ... */
    _Atomic uint64_t first_ns; /**< ... when the first one of these was, ... */
    _Atomic uint64_t last_ns;  /**< ... and the last one */
} mca_btl_epofi_attempts_t;

/** So long after the last refusal they are counted anew: the kernel of a host that has no room for
 * a connection resets it after a minute. */
#define EPOFI_REFUSED_NS (UINT64_C(5) * 1000000000)

/** One has ended with an errno, or stands (0). */
void mca_btl_epofi_attempts_note(mca_btl_epofi_attempts_t *attempts, int error);

/** A peer to which a module may connect: part of the module's state of that peer, and registered
 * with its gate meanwhile. */
typedef struct mca_btl_epofi_callee_t {
    uint32_t order; /**< so many were met before this one */
    mca_btl_epofi_address_t name;
    mca_btl_epofi_attempts_t *attempts; /**< NULL: not counted */
} mca_btl_epofi_callee_t;

/** What a module needs to greet and to be greeted. */
typedef struct mca_btl_epofi_gate_t mca_btl_epofi_gate_t;

/**
 * Before a module's endpoint is enabled, where greetings can be had
 * (mca_btl_epofi_calls_can_greet): the next socket that this thread listens on within libfabric is
 * the gate's listener.
 *
 * @param[in]  own     the module's address, which outlives the gate; its secret may come later, but
 *                     before the module is driven
 * @param[out] gate_p  NULL: there are no greetings here
 * @return OPAL_SUCCESS or OPAL_ERR_OUT_OF_RESOURCE
 */
int mca_btl_epofi_gate_open(const mca_btl_epofi_address_t *own, mca_btl_epofi_gate_t **gate_p);

/** After the endpoint has been enabled: has that gone as it should?  May be NULL. */
bool mca_btl_epofi_gate_stands(const mca_btl_epofi_gate_t *gate);

/** Close it, after all that it was for; or before, and there is no handshake any more.  May be
 * NULL. */
void mca_btl_epofi_gate_close(mca_btl_epofi_gate_t *gate);

/**
 * This peer is greeted; no effect without a gate.  Of two at one host and port the one that was met
 * first is gone, and its secret is not needed any more.  A connection that has begun keeps the
 * secret that was there then.
 *
 * @return OPAL_SUCCESS or OPAL_ERR_OUT_OF_RESOURCE
 */
int mca_btl_epofi_gate_add(mca_btl_epofi_gate_t *gate, const mca_btl_epofi_callee_t *callee);
void mca_btl_epofi_gate_remove(mca_btl_epofi_gate_t *gate, const mca_btl_epofi_callee_t *callee);

/** Connections that were not let in, because of what was said on them. */
uint64_t mca_btl_epofi_gate_refused(const mca_btl_epofi_gate_t *gate);

/** Connections to others that they, or what is before them, have ended before these stood; wraps.
 * @param[in] gate  NULL: 0 */
uint32_t mca_btl_epofi_gate_refusals(const mca_btl_epofi_gate_t *gate);
void mca_btl_epofi_gate_note_refusal(mca_btl_epofi_gate_t *gate);

/* What happens within libfabric; called by btl_epofi_calls.c. */

/** This thread listens.  @return whose listener that is, or NULL */
mca_btl_epofi_gate_t *mca_btl_epofi_gate_listens(int listener);

/** The listener is watched from now on: those that are held will be as well; or is not any more. */
void mca_btl_epofi_gate_watched(mca_btl_epofi_gate_t *gate, int set,
                                const struct epoll_event *event);
void mca_btl_epofi_gate_unwatched(mca_btl_epofi_gate_t *gate);

/** As accept: a connection that has greeted, or -1 and errno. */
int mca_btl_epofi_gate_accept(mca_btl_epofi_gate_t *gate);

/** A connection that libfabric has begun. */
typedef struct mca_btl_epofi_caller_t mca_btl_epofi_caller_t;

/** @return NULL: no memory.  Freed with free. */
mca_btl_epofi_caller_t *mca_btl_epofi_caller_new(const struct sockaddr *address);

/** libfabric watches it from now on, by the epoll set of this gate's module; NULL: by another one.
 * The peer that it leads to is known now, and may be forgotten before it stands. */
void mca_btl_epofi_caller_watched(mca_btl_epofi_caller_t *caller, mca_btl_epofi_gate_t *gate);

/** The connection stands: greet.  @return 0; an errno, also if it is a module's and its peer is
 * unknown; -1: it is no module's of ours */
int mca_btl_epofi_caller_greet(mca_btl_epofi_caller_t *caller, int fd);

/** Has it greeted, so that an answer is to come? */
bool mca_btl_epofi_caller_awaits(const mca_btl_epofi_caller_t *caller);

/** Note how an attempt to connect has ended.  @param[in] error  an errno; 0: it stands */
void mca_btl_epofi_caller_ended(const mca_btl_epofi_caller_t *caller, int error);

/** Read the answer.  @return 0: it is right, what follows is libfabric's; an errno */
int mca_btl_epofi_caller_hear(mca_btl_epofi_caller_t *caller, int fd);

#endif /* MCA_BTL_EPOFI_GREET_H */
