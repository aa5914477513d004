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
 * Is a silent peer still there?
 *
 * A provider tells of a peer that has died only to those who send to it, and not even to all of
 * them: tcp goes on trying to connect, shm goes on writing into the dead one's memory.  So who
 * waits for a peer looks by itself: whether its process is there (shm, whose addresses name it),
 * or whether anybody listens at its address (tcp).
 *
 * And a connection may break between two that live.  The side that notices gives the other one up,
 * and tells it (EPOFI_TAG_GONE); the other one may have nothing under way, and might wait for ever
 * for messages that were lost.  Should that word get lost as well, it asks (EPOFI_TAG_ASK) and is
 * told then.
 *
 * Called by the module's owner and from within its progress.  Tests: test/unit/test_epofi_life.c,
 * test/mpi/death.c, test/mpi/fault.c.
 */

#include "opal_config.h"

#include "btl_epofi_types.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- messages -------------------------------------------------------------------------------- */

static void ask_complete(mca_btl_epofi_module_t *module, mca_btl_epofi_op_t *op, size_t length,
                         int status)
{
    struct mca_btl_base_endpoint_t *endpoint
        = EPOFI_CONTAINER(op, struct mca_btl_base_endpoint_t, ask_op);

    (void) length;
    endpoint->asking = false;
    if (OPAL_SUCCESS != status && !endpoint->failed) {
        mca_btl_epofi_endpoint_fail(endpoint, module->error, module->error_detail);
    }
    mca_btl_epofi_op_ended(module, endpoint);
}

/** Send one of our own messages, which have no payload, if there is room. */
static void send_own(struct mca_btl_base_endpoint_t *endpoint, mca_btl_base_tag_t tag)
{
    mca_btl_epofi_module_t *module = endpoint->module;
    unsigned char buffer[sizeof(mca_btl_epofi_wire_t)];
    struct iovec iov = {.iov_base = buffer, .iov_len = sizeof(buffer)};
    struct fi_msg message = {
        .msg_iov = &iov,
        .iov_count = 1,
        .addr = endpoint->address,
        .context = &endpoint->ask_op.context,
    };

    /* One at a time: it has one context.  A full queue says that the peer will be heard of. */
    if (endpoint->asking || endpoint->inflight >= module->peer_queue
        || iov.iov_len > module->inject_size) {
        return;
    }
    mca_btl_epofi_wire_init(endpoint->pair, buffer, tag, 0);
    endpoint->ask_op.complete = ask_complete;
    if (0 == fi_sendmsg(module->fi.ep, &message, FI_INJECT | FI_COMPLETION)) {
        mca_btl_epofi_pair_sent(endpoint->pair);
        endpoint->asking = true;
        /* Not mca_btl_epofi_op_started: for the stall warning this is no sign of life. */
        ++module->inflight;
        ++endpoint->inflight;
    }
}

void mca_btl_epofi_ask_farewell(struct mca_btl_base_endpoint_t *endpoint)
{
    send_own(endpoint, EPOFI_TAG_GONE);
}

void mca_btl_epofi_ask_answer(mca_btl_epofi_pair_t *pair)
{
    if (NULL != pair->endpoint) {
        send_own(pair->endpoint,
                 pair->endpoint->failed ? EPOFI_TAG_GONE : EPOFI_TAG_HERE);
    }
}

bool mca_btl_epofi_ask_arrived(mca_btl_epofi_module_t *module, mca_btl_epofi_pair_t *pair,
                               mca_btl_base_tag_t tag)
{
    switch (tag) {
    case EPOFI_TAG_ASK:
        mca_btl_epofi_ask_answer(pair);
        return true;
    case EPOFI_TAG_HERE:
        return true; /* its number was all it had to say */
    case EPOFI_TAG_GONE:
        mca_btl_epofi_pair_lose(module, pair,
                                "the peer has lost its connection to this endpoint");
        return true;
    default:
        return false;
    }
}

/* ---- looking --------------------------------------------------------------------------------- */

/** Of the shm provider: addresses are "fi_shm://PID:...".  @return 0, or why it is not there */
static int look_at_process(const struct mca_btl_base_endpoint_t *endpoint)
{
    int pid = 0;

    if (FI_ADDR_STR != endpoint->name.format
        || 1 != sscanf((const char *) endpoint->name.bytes, "fi_shm://%d:", &pid) || 0 >= pid) {
        return 0;
    }
    return 0 != kill((pid_t) pid, 0) && ESRCH == errno ? ESRCH : 0;
}

/** Has the attempt to connect ended?  @return 0: it goes on, or somebody listened; or why nobody
 * did */
static int probe_result(struct mca_btl_base_endpoint_t *endpoint)
{
    struct pollfd pollfd = {.fd = endpoint->probe, .events = POLLOUT};
    socklen_t size = sizeof(int);
    int error = 0;

    if (1 != poll(&pollfd, 1, 0)) {
        return 0;
    }
    if (0 != getsockopt(endpoint->probe, SOL_SOCKET, SO_ERROR, &error, &size)) {
        error = 0;
    }
    mca_btl_epofi_ask_stop(endpoint);
    return error;
}

/** Is there a listener at the peer's address?  Connecting does not need the peer's threads: its
 * kernel answers.  The answer is looked at now and at the next questions. */
static int look_at_listener(struct mca_btl_base_endpoint_t *endpoint)
{
    const struct sockaddr *address = (const struct sockaddr *) endpoint->name.bytes;
    int error = 0;

    if (0 <= endpoint->probe) {
        return probe_result(endpoint);
    }
    endpoint->probe = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (0 > endpoint->probe) {
        return 0;
    }
    if (0 == connect(endpoint->probe, address, endpoint->name.length)) {
        mca_btl_epofi_ask_stop(endpoint);
    } else if (EINPROGRESS == errno) {
        error = probe_result(endpoint);
    } else {
        error = errno;
        mca_btl_epofi_ask_stop(endpoint);
    }
    return error;
}

void mca_btl_epofi_ask_stop(struct mca_btl_base_endpoint_t *endpoint)
{
    if (0 <= endpoint->probe) {
        (void) close(endpoint->probe);
        endpoint->probe = -1;
    }
}

void mca_btl_epofi_ask(mca_btl_ep_module_t *ep_module, struct mca_btl_base_endpoint_t *endpoint,
                       bool look_only)
{
    mca_btl_epofi_module_t *module = (mca_btl_epofi_module_t *) ep_module;
    const char *provider = module->fabric->info->fabric_attr->prov_name;
    int error = 0;

    if (!endpoint->failed) {
        if (0 == strncasecmp(provider, "shm", 3)) {
            error = look_at_process(endpoint);
        } else if (0 == strncasecmp(provider, "tcp", 3)
                   && (FI_SOCKADDR_IN == endpoint->name.format
                       || FI_SOCKADDR_IN6 == endpoint->name.format)) {
            error = look_at_listener(endpoint);
        }
    }
    if (endpoint->failed || 0 != error) {
        /* What cannot be had for want of a port or a buffer says nothing of the peer. */
        if (endpoint->failed || ESRCH == error
            || OPAL_ERR_UNREACH == mca_btl_epofi_status(error)) {
            mca_btl_epofi_endpoint_fail(endpoint, error, "nobody is there any more");
        }
        return;
    }
    if (!look_only) {
        send_own(endpoint, EPOFI_TAG_ASK);
    }
}
