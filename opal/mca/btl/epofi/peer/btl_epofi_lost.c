/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * How long a peer is waited for that takes or answers nothing, and what happens when it is gone.
 *
 * Tests: fault, cut, cluster
 */

#include "opal_config.h"

#include "../object/object.h"
#include "../sockets/sockets.h"
#include "../base/base.h"
#include "btl_epofi_address.h"
#include "btl_epofi_lost.h"

#include "opal/util/proc.h"
#include "opal/util/show_help.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/** Notify the owner.  @return must it be reported to the user, too? */
static bool tell_owner(struct mca_btl_base_endpoint_t *endpoint)
{
    mca_btl_ep_module_t *module = &endpoint->module->super;

    return NULL == module->ep_lost || module->ep_lost(module, endpoint);
}

void mca_btl_epofi_endpoint_fail(struct mca_btl_base_endpoint_t *endpoint, int error,
                                 const char *detail)
{
    mca_btl_epofi_module_t *module = endpoint->module;
    char peer[EPOFI_DESCRIBE], own[EPOFI_OWN_TEXT];

    if (module->closing || endpoint->pair->given_up) {
        endpoint->failed = true;
        return; /* a peer that is gone first, when all is over, or that the owner knows: no
                   operation waits for this message */
    }
    if (endpoint->failed) {
        (void) tell_owner(endpoint);
        return;
    }
    endpoint->failed = true;
    if (tell_owner(endpoint)) {
        EPOFI_SHOW_HELP("peer gone", true, opal_process_info.nodename,
                        mca_btl_epofi_describe(module, endpoint, NULL, peer, sizeof(peer)),
                        module->fabric->info->fabric_attr->prov_name,
                        mca_btl_epofi_describe_own(module, own), fi_strerror(error), detail);
    }
    module->upcalls->disconnect_notice(endpoint);
}

void mca_btl_epofi_endpoint_died(struct mca_btl_base_endpoint_t *endpoint, int error,
                                 const char *detail)
{
    mca_btl_ep_module_t *module = &endpoint->module->super;

    module->ep_dead = true;
    mca_btl_epofi_endpoint_fail(endpoint, error, detail);
    module->ep_dead = false;
}

/* ---- patience -------------------------------------------------------------------------------- */

/** A host does not answer. */
static void say_unanswered(mca_btl_epofi_module_t *module, struct mca_btl_base_endpoint_t *endpoint,
                           const void *address)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    char peer[EPOFI_DESCRIBE], own[EPOFI_OWN_TEXT];

    if (mca_btl_epofi_first_time(&said)) {
        EPOFI_SHOW_HELP("no answer", true, opal_process_info.nodename,
                        mca_btl_epofi_describe(module, endpoint, address, peer, sizeof(peer)),
                        module->fabric->info->fabric_attr->prov_name,
                        mca_btl_epofi_describe_own(module, own),
                        mca_btl_epofi_component.unanswered);
    }
}

/** The host of a peer has said nothing to attempts to connect; of a connection that stands the
 * kernel knows (mca_btl_epofi_endpoint_watch_hosts). */
static bool is_unreached(const struct mca_btl_base_endpoint_t *endpoint)
{
    const mca_btl_epofi_attempts_t *attempts = &endpoint->entry->attempts;

    return !atomic_load_explicit(&attempts->reached, memory_order_relaxed)
           && (!mca_btl_epofi_pair_is_used(endpoint->pair)
               || 0 != atomic_load_explicit(&attempts->error, memory_order_relaxed));
}

/** A peer has taken nothing for so long; warn if that is long enough, and not because it computes,
 * as far as that can be known: where there are hellos. */
static void lost_warn(struct mca_btl_base_endpoint_t *endpoint, uint64_t silent_ns)
{
    const bool authenticate = NULL != endpoint->module->fi.acceptor;
    const unsigned int limit = authenticate ? mca_btl_epofi_component.unanswered
                                            : mca_btl_epofi_component.stall_warning;
    char peer[EPOFI_DESCRIBE], own[EPOFI_OWN_TEXT];

    if (0 == limit || endpoint->warned || endpoint->failed
        || silent_ns <= (uint64_t) limit * 1000000000u
        || (authenticate && !is_unreached(endpoint))) {
        return;
    }
    endpoint->warned = true;
    if (authenticate) {
        say_unanswered(endpoint->module, endpoint, NULL);
        return;
    }
    EPOFI_SHOW_HELP("peer silent", true, opal_process_info.nodename,
                    mca_btl_epofi_describe(endpoint->module, endpoint, NULL, peer, sizeof(peer)),
                    endpoint->module->fabric->info->fabric_attr->prov_name,
                    mca_btl_epofi_describe_own(endpoint->module, own), limit);
}

void mca_btl_epofi_endpoint_watch_hosts(mca_btl_epofi_module_t *module)
{
    struct mca_btl_base_endpoint_t *endpoint = module->endpoint_list;
    mca_btl_epofi_listener_t there, known;
    struct sockaddr_storage peer;

    if (NULL == module->fi.acceptor || !mca_btl_epofi_sockets_unanswered(&peer)) {
        return;
    }
    mca_btl_epofi_listener_of(&peer, &there);
    for (; NULL != endpoint; endpoint = endpoint->next) {
        mca_btl_epofi_listener_of(endpoint->callee.name.bytes, &known);
        if (0 == memcmp(known.host, there.host, sizeof(there.host))) {
            break;
        }
    }
    say_unanswered(module, endpoint, &peer);
}

/** The provider takes nothing for a peer.  @return ns for which that has been so */
static uint64_t stalled_for(struct mca_btl_base_endpoint_t *endpoint)
{
    const uint64_t now = mca_btl_epofi_now();

    if (0 == endpoint->stalled_ns) {
        endpoint->stalled_ns = now;
    }
    return now - endpoint->stalled_ns;
}

int mca_btl_epofi_endpoint_stalled(struct mca_btl_base_endpoint_t *endpoint)
{
    if (!endpoint->warned) {
        lost_warn(endpoint, stalled_for(endpoint));
    }
    return OPAL_ERR_OUT_OF_RESOURCE;
}

/* ---- connections that cannot be made --------------------------------------------------------- */

/** A peer is given up that has refused so many connections in a row, for EPOFI_REFUSED_NS. */
#define REFUSALS_MOST 16

/** Between questions whether the launcher says that the peer's process lives. */
#define LIVES_NS (UINT64_C(1) * 1000000000)

bool mca_btl_epofi_endpoint_may_live(struct mca_btl_base_endpoint_t *endpoint)
{
    mca_btl_ep_module_t *module = &endpoint->module->super;
    const uint64_t now = mca_btl_epofi_now();

    if (endpoint->module->closing || NULL == module->ep_lives) {
        return false;
    }
    if (now - endpoint->lives_ns < LIVES_NS) {
        return true; /* it has just been asked */
    }
    endpoint->lives_ns = now;
    return module->ep_lives(module, endpoint);
}

/** Does the peer, or what is before it, end all connections before they stand? */
static bool is_refusing(const mca_btl_epofi_attempts_t *attempts)
{
    return REFUSALS_MOST < atomic_load_explicit(&attempts->refusals, memory_order_relaxed)
           && mca_btl_epofi_now() - atomic_load_explicit(&attempts->first_ns, memory_order_relaxed)
                  > EPOFI_REFUSED_NS;
}

/* No socket listens at the peer's address.  That it has ended follows only if there has been a
 * connection, which has ended then, since another one is tried; and not if the launcher says that
 * its process lives.  (A connection may have been reset, and others refused, by what is between the
 * two.)  Where the launcher says that it is dead, the owner knows that now. */
void mca_btl_epofi_endpoint_judge(struct mca_btl_base_endpoint_t *endpoint)
{
    const mca_btl_epofi_attempts_t *attempts = &endpoint->entry->attempts;
    const bool used = mca_btl_epofi_pair_is_used(endpoint->pair);
    const bool refused = ECONNREFUSED
                         == atomic_load_explicit(&attempts->error, memory_order_relaxed);

    if (endpoint->failed || 0 == atomic_load_explicit(&attempts->refusals, memory_order_relaxed)) {
        return;
    }
    if (refused && !mca_btl_epofi_endpoint_may_live(endpoint) && used) {
        mca_btl_epofi_endpoint_died(endpoint, FI_ECONNREFUSED,
                                    "its connection has ended, and nobody listens there any more");
    } else if (refused && !used && is_refusing(attempts)) {
        mca_btl_epofi_endpoint_fail(endpoint, FI_ECONNREFUSED,
                                    "no connection to it has ever been accepted: a firewall may "
                                    "reject them, or it has ended");
    } else if (!refused && is_refusing(attempts)) {
        mca_btl_epofi_endpoint_fail(endpoint, FI_ECONNRESET,
                                    "it ends every connection at once; it may have no file "
                                    "descriptors left (ulimit -n), or a firewall ends them");
    }
}

/** Is this error of connecting, which the call itself returns, one that may pass? */
static bool may_pass(int error)
{
    switch (error) {
    case ENETUNREACH:
    case EHOSTUNREACH:
    case ENETDOWN:
    case EHOSTDOWN:
    case ETIMEDOUT:
    case EADDRNOTAVAIL:
    case ECONNREFUSED:
    case ECONNRESET:
        return true;
    default:
        return false;
    }
}

int mca_btl_epofi_endpoint_refused(struct mca_btl_base_endpoint_t *endpoint, ssize_t result)
{
    if (may_pass((int) -result)) {
        mca_btl_epofi_attempts_note(&endpoint->entry->attempts, (int) -result);
    } else if (-FI_EMFILE == result || -ENFILE == result) {
        if (mca_btl_epofi_sockets_none_left((int) -result, "to connect to a peer with")) {
            mca_btl_epofi_endpoint_fail(endpoint, (int) -result,
                                        "this process has none left to connect with (ulimit -n)");
        }
    } else if (-FI_EAGAIN != result && -FI_ENOMEM != result) {
        mca_btl_epofi_endpoint_fail(endpoint, (int) -result, "-");
    }
    mca_btl_epofi_endpoint_judge(endpoint);
    return endpoint->failed ? OPAL_ERR_UNREACH : mca_btl_epofi_endpoint_stalled(endpoint);
}

void mca_btl_epofi_endpoint_judge_all(mca_btl_epofi_module_t *module)
{
    const uint32_t refusals = mca_btl_epofi_acceptor_refusals(module->fi.acceptor);

    if (refusals == module->refusals) {
        return;
    }
    module->refusals = refusals;
    for (struct mca_btl_base_endpoint_t *endpoint = module->endpoint_list, *next; NULL != endpoint;
         endpoint = next) {
        next = endpoint->next;
        mca_btl_epofi_endpoint_judge(endpoint);
    }
}

/* ---- operations that do not end -------------------------------------------------------------- */

/** So long the provider may take to end operations towards a peer that is known to be dead.  Some
 * never do (shm, reads that the peer answers), and some still copy what the kernel has of them. */
#define ABANDON_NS (UINT64_C(1) * 1000000000)

void mca_btl_epofi_endpoint_watch(mca_btl_epofi_module_t *module)
{
    const uint64_t now = mca_btl_epofi_now();
    struct mca_btl_base_endpoint_t *endpoint;

    /* The first time since something came: from now on there is nothing. */
    if (module->idle_start >= module->idle || 0 == module->idle_ns) {
        module->idle_ns = now;
    }
    module->idle_start = module->idle;
    for (endpoint = module->endpoint_list; NULL != endpoint; endpoint = endpoint->next) {
        if (0 == endpoint->inflight) {
            continue;
        }
        lost_warn(endpoint, now - module->idle_ns);
    }
}

void mca_btl_epofi_endpoint_end_abandoned(mca_btl_epofi_module_t *module)
{
    const uint64_t now = mca_btl_epofi_now();
    bool left = false;

    for (struct mca_btl_base_endpoint_t *endpoint = module->endpoint_list; NULL != endpoint;
         endpoint = endpoint->next) {
        if (0 == endpoint->abandoned_ns || endpoint->ended) {
            continue;
        }
        if (now - endpoint->abandoned_ns > ABANDON_NS) {
            endpoint->ended = true;
            module->upcalls->abandon(module, endpoint);
        } else {
            left = true;
        }
    }
    module->abandons = left;
}

uint32_t mca_btl_epofi_endpoint_awaited(const mca_btl_epofi_module_t *module)
{
    uint32_t count = 0;

    for (const struct mca_btl_base_endpoint_t *endpoint = module->endpoint_list; NULL != endpoint;
         endpoint = endpoint->next) {
        count += endpoint->failed ? 0 : endpoint->inflight;
    }
    return count;
}

void mca_btl_epofi_abandon(mca_btl_ep_module_t *ep_module, struct mca_btl_base_endpoint_t *endpoint)
{
    endpoint->failed = true;
    if (0 == endpoint->abandoned_ns) {
        endpoint->abandoned_ns = mca_btl_epofi_now();
        ((mca_btl_epofi_module_t *) ep_module)->abandons = true;
    }
}
