/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Connectors: the connections that libfabric begins, and what is said on them first (btl_epofi_handshake.c
 * says why).
 *
 * Tests: strangers, unit/test_epofi_handshake, fault (route)
 */

#include "opal_config.h"

#include "../base/base.h"
#include "btl_epofi_handshake.h"
#include "btl_epofi_listener.h"
#include "btl_epofi_sockets.h"

#include "opal/util/proc.h"
#include "opal/util/show_help.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

struct mca_btl_epofi_connector_t {
    mca_btl_epofi_listener_t to;
    mca_btl_epofi_acceptor_t
        *acceptor;                 /**< of the module that connects; NULL: it is none of ours */
    bool known;                    /**< the peer it leads to, so there is ... */
    mca_btl_epofi_secret_t secret; /**< ... a copy: the endpoint may go before it stands */
    bool said;
    bool heard;
    uint32_t got; /**< bytes of the answer */
    mca_btl_epofi_answer_t answer;
    mca_btl_epofi_answer_t right;
};

mca_btl_epofi_connector_t *mca_btl_epofi_connector_new(const struct sockaddr *address)
{
    mca_btl_epofi_connector_t *connector = calloc(1, sizeof(*connector));

    if (NULL != connector) {
        mca_btl_epofi_listener_of(address, &connector->to);
    }
    return connector;
}

void mca_btl_epofi_connector_watched(mca_btl_epofi_connector_t *connector,
                                     mca_btl_epofi_acceptor_t *acceptor)
{
    const mca_btl_epofi_callee_t *callee
        = NULL == acceptor ? NULL : mca_btl_epofi_acceptor_callee(acceptor, &connector->to);

    connector->acceptor = acceptor;
    connector->known = NULL != callee;
    if (NULL != callee) {
        connector->secret = callee->name.secret;
    }
}

void mca_btl_epofi_attempts_note(mca_btl_epofi_attempts_t *attempts, int error)
{
    const uint64_t now = mca_btl_epofi_now();
    const bool refused = ECONNREFUSED == error || ECONNRESET == error || ECONNABORTED == error
                         || EPIPE == error;

    if (!refused
        || now - atomic_load_explicit(&attempts->last_ns, memory_order_relaxed)
               > EPOFI_REFUSED_NS) {
        atomic_store_explicit(&attempts->refusals, 0, memory_order_relaxed);
        atomic_store_explicit(&attempts->first_ns, now, memory_order_relaxed);
    }
    atomic_store_explicit(&attempts->last_ns, now, memory_order_relaxed);
    (void) atomic_fetch_add_explicit(&attempts->refusals, refused ? 1 : 0, memory_order_relaxed);
    atomic_store_explicit(&attempts->reached, 0 == error || refused, memory_order_relaxed);
    atomic_store_explicit(&attempts->error, error, memory_order_relaxed);
}

/** What is noted of attempts to connect to the one that this leads to; NULL: nothing. */
static mca_btl_epofi_attempts_t *attempts_of(const mca_btl_epofi_connector_t *connector)
{
    const mca_btl_epofi_callee_t *callee = NULL == connector->acceptor
                                               ? NULL
                                               : mca_btl_epofi_acceptor_callee(connector->acceptor,
                                                                               &connector->to);

    return NULL == callee ? NULL : callee->attempts;
}

void mca_btl_epofi_connector_ended(const mca_btl_epofi_connector_t *connector, int error)
{
    mca_btl_epofi_attempts_t *attempts = attempts_of(connector);

    if (NULL != attempts) {
        mca_btl_epofi_attempts_note(attempts, error);
        if (0 != error) {
            mca_btl_epofi_acceptor_note_refusal(connector->acceptor);
        }
    }
}

int mca_btl_epofi_connector_authenticate(mca_btl_epofi_connector_t *connector, int fd)
{
    mca_btl_epofi_attempts_t *attempts = attempts_of(connector);
    mca_btl_epofi_hello_t hello;

    if (NULL == connector->acceptor) {
        return -1;
    }
    if (NULL != attempts) {
        atomic_store_explicit(&attempts->reached, true, memory_order_relaxed);
    }
    if (!connector->known || OPAL_SUCCESS != mca_btl_epofi_hello_make(&connector->secret, &hello)) {
        return ECONNABORTED;
    }
    connector->right = mca_btl_epofi_answer_make(&connector->secret, hello.nonce);
    connector->said = true;
    /* Nothing has been sent yet, so there is room.  It goes with libfabric's request. */
    if (sizeof(hello) != send(fd, &hello, sizeof(hello), MSG_NOSIGNAL | MSG_DONTWAIT | MSG_MORE)) {
        return ECONNABORTED;
    }
    return 0;
}

bool mca_btl_epofi_connector_awaits(const mca_btl_epofi_connector_t *connector)
{
    return connector->said;
}

/** The listener there is not the one whose address we have. */
static void say_impostor(int fd)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    char text[EPOFI_HOST_TEXT];

    if (mca_btl_epofi_first_time(&said)) {
        EPOFI_SHOW_HELP("stranger answers", true, opal_process_info.nodename,
                        mca_btl_epofi_sockets_peer(fd, text));
    }
}

int mca_btl_epofi_connector_hear(mca_btl_epofi_connector_t *connector, int fd)
{
    ssize_t got;

    if (connector->heard) {
        return 0;
    }
    got = recv(fd, (char *) &connector->answer + connector->got,
               sizeof(connector->answer) - connector->got, MSG_DONTWAIT);
    if (0 >= got) {
        const int error = 0 == got ? ECONNRESET : errno;

        if (EAGAIN != error && EINTR != error) {
            mca_btl_epofi_connector_ended(connector, error);
        }
        return error;
    }
    connector->got += (uint32_t) got;
    if (sizeof(connector->answer) > connector->got) {
        return EAGAIN;
    }
    if (connector->right.magic != connector->answer.magic
        || connector->right.proof != connector->answer.proof) {
        say_impostor(fd);
        connector->got = 0; /* should libfabric come back */
        mca_btl_epofi_connector_ended(connector, ECONNREFUSED);
        return ECONNREFUSED;
    }
    connector->heard = true;
    mca_btl_epofi_connector_ended(connector, 0);
    return 0;
}
