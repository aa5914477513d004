/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Callers: the connections that libfabric begins, and what is said on them first (btl_epofi_greet.c
 * says why).
 *
 * Tests: strangers, unit/test_epofi_greet, fault (route)
 */

#include "opal_config.h"

#include "../base/base.h"
#include "btl_epofi_greet.h"
#include "btl_epofi_listener.h"
#include "btl_epofi_sockets.h"

#include "opal/util/proc.h"
#include "opal/util/show_help.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

struct mca_btl_epofi_caller_t {
    mca_btl_epofi_listener_t to;
    mca_btl_epofi_gate_t *gate;    /**< of the module that connects; NULL: it is none of ours */
    bool known;                    /**< the peer it leads to, so there is ... */
    mca_btl_epofi_secret_t secret; /**< ... a copy: the endpoint may go before it stands */
    bool said;
    bool heard;
    uint32_t got; /**< bytes of the answer */
    mca_btl_epofi_answer_t answer;
    mca_btl_epofi_answer_t right;
};

mca_btl_epofi_caller_t *mca_btl_epofi_caller_new(const struct sockaddr *address)
{
    mca_btl_epofi_caller_t *caller = calloc(1, sizeof(*caller));

    if (NULL != caller) {
        mca_btl_epofi_listener_of(address, &caller->to);
    }
    return caller;
}

void mca_btl_epofi_caller_watched(mca_btl_epofi_caller_t *caller, mca_btl_epofi_gate_t *gate)
{
    const mca_btl_epofi_callee_t *callee = NULL == gate
                                               ? NULL
                                               : mca_btl_epofi_gate_callee(gate, &caller->to);

    caller->gate = gate;
    caller->known = NULL != callee;
    if (NULL != callee) {
        caller->secret = callee->name.secret;
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
static mca_btl_epofi_attempts_t *attempts_of(const mca_btl_epofi_caller_t *caller)
{
    const mca_btl_epofi_callee_t *callee
        = NULL == caller->gate ? NULL : mca_btl_epofi_gate_callee(caller->gate, &caller->to);

    return NULL == callee ? NULL : callee->attempts;
}

void mca_btl_epofi_caller_ended(const mca_btl_epofi_caller_t *caller, int error)
{
    mca_btl_epofi_attempts_t *attempts = attempts_of(caller);

    if (NULL != attempts) {
        mca_btl_epofi_attempts_note(attempts, error);
        if (0 != error) {
            mca_btl_epofi_gate_note_refusal(caller->gate);
        }
    }
}

int mca_btl_epofi_caller_greet(mca_btl_epofi_caller_t *caller, int fd)
{
    mca_btl_epofi_attempts_t *attempts = attempts_of(caller);
    mca_btl_epofi_greeting_t greeting;

    if (NULL == caller->gate) {
        return -1;
    }
    if (NULL != attempts) {
        atomic_store_explicit(&attempts->reached, true, memory_order_relaxed);
    }
    if (!caller->known || OPAL_SUCCESS != mca_btl_epofi_greeting_make(&caller->secret, &greeting)) {
        return ECONNABORTED;
    }
    caller->right = mca_btl_epofi_answer_make(&caller->secret, greeting.nonce);
    caller->said = true;
    /* Nothing has been sent yet, so there is room.  It goes with libfabric's request. */
    if (sizeof(greeting)
        != send(fd, &greeting, sizeof(greeting), MSG_NOSIGNAL | MSG_DONTWAIT | MSG_MORE)) {
        return ECONNABORTED;
    }
    return 0;
}

bool mca_btl_epofi_caller_awaits(const mca_btl_epofi_caller_t *caller)
{
    return caller->said;
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

int mca_btl_epofi_caller_hear(mca_btl_epofi_caller_t *caller, int fd)
{
    ssize_t got;

    if (caller->heard) {
        return 0;
    }
    got = recv(fd, (char *) &caller->answer + caller->got, sizeof(caller->answer) - caller->got,
               MSG_DONTWAIT);
    if (0 >= got) {
        const int error = 0 == got ? ECONNRESET : errno;

        if (EAGAIN != error && EINTR != error) {
            mca_btl_epofi_caller_ended(caller, error);
        }
        return error;
    }
    caller->got += (uint32_t) got;
    if (sizeof(caller->answer) > caller->got) {
        return EAGAIN;
    }
    if (caller->right.magic != caller->answer.magic
        || caller->right.proof != caller->answer.proof) {
        say_impostor(fd);
        caller->got = 0; /* should libfabric come back */
        mca_btl_epofi_caller_ended(caller, ECONNREFUSED);
        return ECONNREFUSED;
    }
    caller->heard = true;
    mca_btl_epofi_caller_ended(caller, 0);
    return 0;
}
