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
 * Callers: the connections that libfabric begins, and what is said on them first (btl_epofi_greet.c
 * says why).
 *
 * Tests: strangers, cut (silent)
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
    bool ours;                     /**< a module of ours connects */
    bool known;                    /**< whom it leads to, so there is ... */
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

    caller->ours = NULL != gate;
    caller->known = NULL != callee;
    if (NULL != callee) {
        caller->secret = callee->name.secret;
    }
}

int mca_btl_epofi_caller_greet(mca_btl_epofi_caller_t *caller, int fd)
{
    mca_btl_epofi_greeting_t greeting;

    if (!caller->ours) {
        return -1;
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

/** The one who listens there is not the one whose address we have. */
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
        return 0 == got ? ECONNRESET : errno;
    }
    caller->got += (uint32_t) got;
    if (sizeof(caller->answer) > caller->got) {
        return EAGAIN;
    }
    if (caller->right.magic != caller->answer.magic
        || caller->right.proof != caller->answer.proof) {
        say_impostor(fd);
        caller->got = 0; /* should libfabric come back */
        return ECONNREFUSED;
    }
    caller->heard = true;
    return 0;
}
