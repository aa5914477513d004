/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The handshake on a connection before libfabric sees any of it: the hello of the connecting
 * process, which needs the listener's secret, and the answer, which only the listener can make.
 * The sequence is in btl_epofi_handshake.c.
 *
 * Both are of a fixed size and have no lengths in them: there is nothing to parse.  They are proven
 * over more words than the proof of a message is made of, and begin differently, so that none of
 * the three can be taken for another.
 */

#ifndef MCA_BTL_EPOFI_HANDSHAKE_H
#define MCA_BTL_EPOFI_HANDSHAKE_H

#include "opal_config.h"

#include "../base/base.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define EPOFI_HELLO_MAGIC UINT64_C(0x000167705265E90F) /**< its upper half: version 1 */
#define EPOFI_ANSWER_MAGIC UINT64_C(0x000168657245E90F)

/** The hello, sent by the connecting process. */
typedef struct mca_btl_epofi_hello_t {
    uint64_t magic;    /**< EPOFI_HELLO_MAGIC in its byte order */
    uint64_t nonce[2]; /**< random, new for each connection */
    uint64_t proof;    /**< of the above, by the listener's secret */
} mca_btl_epofi_hello_t;

/** And the listener: */
typedef struct mca_btl_epofi_answer_t {
    uint64_t magic; /**< EPOFI_ANSWER_MAGIC in its byte order */
    uint64_t proof; /**< of it and the hello's nonce, by its secret */
} mca_btl_epofi_answer_t;

_Static_assert(32 == sizeof(mca_btl_epofi_hello_t), "no padding on the wire");
_Static_assert(16 == sizeof(mca_btl_epofi_answer_t), "no padding on the wire");

static inline uint64_t mca_btl_epofi_handshake_mac(const mca_btl_epofi_secret_t *secret,
                                                   uint64_t magic, const uint64_t nonce[2])
{
    const uint64_t words[3] = {magic, nonce[0], nonce[1]};

    return mca_btl_epofi_keyed_words(secret, words, 3);
}

/** @return OPAL_SUCCESS, or OPAL_ERR_NOT_AVAILABLE: no random numbers */
static inline int mca_btl_epofi_hello_make(const mca_btl_epofi_secret_t *secret,
                                           mca_btl_epofi_hello_t *hello)
{
    hello->magic = EPOFI_HELLO_MAGIC;
    if (OPAL_SUCCESS != mca_btl_epofi_random(hello->nonce, sizeof(hello->nonce))) {
        return OPAL_ERR_NOT_AVAILABLE;
    }
    hello->proof = mca_btl_epofi_handshake_mac(secret, hello->magic, hello->nonce);
    return OPAL_SUCCESS;
}

/** Can these first bytes of what the connecting process sends still become a hello?  @param[in] got
 * 1 to 32 */
static inline bool mca_btl_epofi_hello_begins(const mca_btl_epofi_hello_t *hello, size_t got)
{
    const uint64_t magic = EPOFI_HELLO_MAGIC;

    return 0 == memcmp(&hello->magic, &magic, got < sizeof(magic) ? got : sizeof(magic));
}

/** One comparison of whole numbers: how long it takes tells nothing. */
static inline bool mca_btl_epofi_hello_is_right(const mca_btl_epofi_secret_t *secret,
                                                const mca_btl_epofi_hello_t *hello)
{
    return EPOFI_HELLO_MAGIC == hello->magic
           && mca_btl_epofi_handshake_mac(secret, EPOFI_HELLO_MAGIC, hello->nonce) == hello->proof;
}

static inline mca_btl_epofi_answer_t mca_btl_epofi_answer_make(const mca_btl_epofi_secret_t *secret,
                                                               const uint64_t nonce[2])
{
    return (mca_btl_epofi_answer_t){
        .magic = EPOFI_ANSWER_MAGIC,
        .proof = mca_btl_epofi_handshake_mac(secret, EPOFI_ANSWER_MAGIC, nonce),
    };
}

/* ---- acceptors (btl_epofi_handshake.c) and callers (btl_epofi_connector.c) ------------------------------ */

struct epoll_event;
struct sockaddr;

/** How connections to a peer have ended before libfabric could use them.  Written within libfabric,
 * by the thread that connects: the module's owner or the packet thread.  Relaxed, everywhere: each
 * field is looked at by itself. */
typedef struct mca_btl_epofi_attempts_t {
    _Atomic int error;    /**< of the last one, an errno; 0: it stands, or none has ended yet */
    _Atomic bool reached; /**< the other host has said something to the last one, be it no */
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
 * with its acceptor meanwhile. */
typedef struct mca_btl_epofi_callee_t {
    uint32_t order; /**< so many were met before this one */
    mca_btl_epofi_address_t name;
    mca_btl_epofi_attempts_t *attempts; /**< NULL: not counted */
} mca_btl_epofi_callee_t;

/** What a module needs to authenticate and to be authenticated. */
typedef struct mca_btl_epofi_acceptor_t mca_btl_epofi_acceptor_t;

/**
 * Before a module's endpoint is enabled, where hellos can be had
 * (mca_btl_epofi_calls_can_authenticate): the next socket on which this thread listens within
 * libfabric is the acceptor's listener.
 *
 * @param[in]  own         the module's address, which outlives the acceptor; its secret may come
 *                         later, but before the module is driven
 * @param[out] acceptor_p  NULL: there are no hellos here
 * @return OPAL_SUCCESS or OPAL_ERR_OUT_OF_RESOURCE
 */
int mca_btl_epofi_acceptor_open(const mca_btl_epofi_address_t *own,
                                mca_btl_epofi_acceptor_t **acceptor_p);

/** After the endpoint has been enabled: has that gone as it should?  May be NULL. */
bool mca_btl_epofi_acceptor_stands(const mca_btl_epofi_acceptor_t *acceptor);

/** Close it, after all that it was for; or before, and there is no handshake any more.  May be
 * NULL. */
void mca_btl_epofi_acceptor_close(mca_btl_epofi_acceptor_t *acceptor);

/**
 * This peer is authenticated; no effect without a acceptor.  Of two at one host and port the one that was met
 * first is gone, and its secret is not needed any more.  A connection that has begun keeps the
 * secret that was there then.
 *
 * @return OPAL_SUCCESS or OPAL_ERR_OUT_OF_RESOURCE
 */
int mca_btl_epofi_acceptor_add(mca_btl_epofi_acceptor_t *acceptor,
                               const mca_btl_epofi_callee_t *callee);
void mca_btl_epofi_acceptor_remove(mca_btl_epofi_acceptor_t *acceptor,
                                   const mca_btl_epofi_callee_t *callee);

/** Connections that were not let in, because of what was said on them. */
uint64_t mca_btl_epofi_acceptor_refused(const mca_btl_epofi_acceptor_t *acceptor);

/** Connections to others that they, or what is before them, have ended before these stood; wraps.
 * @param[in] acceptor  NULL: 0 */
uint32_t mca_btl_epofi_acceptor_refusals(const mca_btl_epofi_acceptor_t *acceptor);
void mca_btl_epofi_acceptor_note_refusal(mca_btl_epofi_acceptor_t *acceptor);

/* What happens within libfabric; called by btl_epofi_calls.c. */

/** This thread listens.  @return whose listener that is, or NULL */
mca_btl_epofi_acceptor_t *mca_btl_epofi_acceptor_listens(int listener);

/** The listener is watched from now on: those that are held will be as well; or is not any more. */
void mca_btl_epofi_acceptor_watched(mca_btl_epofi_acceptor_t *acceptor, int set,
                                    const struct epoll_event *event);
void mca_btl_epofi_acceptor_unwatched(mca_btl_epofi_acceptor_t *acceptor);

/** As accept: a connection that has authenticated, or -1 and errno. */
int mca_btl_epofi_acceptor_accept(mca_btl_epofi_acceptor_t *acceptor);

/** A connection that libfabric has begun. */
typedef struct mca_btl_epofi_connector_t mca_btl_epofi_connector_t;

/** @return NULL: no memory.  Freed with free. */
mca_btl_epofi_connector_t *mca_btl_epofi_connector_new(const struct sockaddr *address);

/** libfabric watches it from now on, by the epoll set of this acceptor's module; NULL: by another
 * one.  The peer that it leads to is known now, and may be forgotten before it stands. */
void mca_btl_epofi_connector_watched(mca_btl_epofi_connector_t *connector,
                                     mca_btl_epofi_acceptor_t *acceptor);

/** The connection stands: greet.  @return 0; an errno, also if it is a module's and its peer is
 * unknown; -1: it is no module's of ours */
int mca_btl_epofi_connector_authenticate(mca_btl_epofi_connector_t *connector, int fd);

/** Has it authenticated, so that an answer is to come? */
bool mca_btl_epofi_connector_awaits(const mca_btl_epofi_connector_t *connector);

/** Note how an attempt to connect has ended.  @param[in] error  an errno; 0: it stands */
void mca_btl_epofi_connector_ended(const mca_btl_epofi_connector_t *connector, int error);

/** Read the answer.  @return 0: it is right, what follows is libfabric's; an errno */
int mca_btl_epofi_connector_hear(mca_btl_epofi_connector_t *connector, int fd);

#endif /* MCA_BTL_EPOFI_HANDSHAKE_H */
