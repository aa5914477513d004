/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * One copy out of the memory of another process of the node: of the right one, or none.
 *
 * Guards: btl_epshm_node_get.c, btl_epshm_identity.c
 */

#include "test_epshm_node.h"

/* ---- the clock ------------------------------------------------------------------------------- */

#include <sys/syscall.h>

/** By which a proof becomes old: the test's, as it may lose its core for longer. */
static uint64_t coarse_ms = 1000000;

/** In front of libc's. */
int clock_gettime(clockid_t clock, struct timespec *now_p)
{
    if (CLOCK_MONOTONIC_COARSE != clock) {
        return (int) syscall(SYS_clock_gettime, clock, now_p);
    }
    now_p->tv_sec = (time_t) (coarse_ms / 1000);
    now_p->tv_nsec = (long) (coarse_ms % 1000 * 1000000);
    return 0;
}

/* ---- one copy -------------------------------------------------------------------------------- */

static mca_smsc_endpoint_t copy_endpoint;
static opal_proc_t copy_peer;
static int copies, gets;

/** Whose memory the kernel reads, where it is asked for the peer's. */
static enum { OF_PEER, OF_ANOTHER, OF_NOBODY } read_from;
static const void *odd; /**< a buffer that cannot be read */

static mca_smsc_endpoint_t *get_endpoint(opal_proc_t *proc)
{
    TAP_CHECK(&copy_peer == proc, "an endpoint for somebody else");
    return &copy_endpoint;
}

static void return_endpoint(mca_smsc_endpoint_t *endpoint)
{
    TAP_CHECK(&copy_endpoint == endpoint, "somebody else's endpoint comes back");
}

/** As the kernel.  What stands for the peer's memory is this process's own, but for what proves
 * whose it is. */
static int copy_from(mca_smsc_endpoint_t *endpoint, void *local, void *remote, size_t size,
                     void *registration)
{
    const epshm_peer_proc_t *peer = mca_btl_epshm_peer_proc_find(&(opal_process_name_t){
        .jobid = me.proc_name.jobid, .vpid = 1 - me.proc_name.vpid});

    (void) endpoint;
    (void) registration;
    ++copies;
    if (OF_NOBODY == read_from || odd == remote) {
        return OPAL_ERROR;
    }
    if (OF_PEER == read_from && (uint64_t) (uintptr_t) remote == peer->identity.address) {
        memcpy(local, peer->identity.secret, size);
    } else {
        memcpy(local, remote, size);
    }
    return OPAL_SUCCESS;
}

static opal_proc_t *proc_for_name(const opal_process_name_t name)
{
    TAP_EQ(1 - (int) me.proc_name.vpid, name.vpid);
    return &copy_peer;
}

static void got(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                void *local_address, mca_btl_base_registration_handle_t *local_handle,
                void *context, void *data, int status)
{
    (void) btl;
    (void) endpoint;
    (void) local_address;
    (void) local_handle;
    (void) data;
    TAP_EQ(OPAL_SUCCESS, status);
    ++*(int *) context;
}

static int get_one(test_ep_t *ep, char *target, const char *source, size_t size)
{
    return ep->module->super.btl_get(&ep->module->super, ep->peer, target,
                                     (uint64_t) (uintptr_t) source, NULL, NULL, size, 0,
                                     MCA_BTL_NO_ORDER, got, &gets, NULL);
}

/** The peer as it is when it has just been mapped. */
static void forget_proof(test_ep_t *ep)
{
    epshm_peer_proc_t *peer_proc = ((epshm_node_peer_t *) ep->peer)->peer_proc;

    atomic_store(&peer_proc->proven_ns, 0);
    atomic_store(&peer_proc->copy_failed, false);
    copies = 0;
}

/** Copies that succeed, and what follows where they do not. */
static void check_gets(test_ep_t *ep)
{
    char source[100], target[100] = {0};

    memset(source, 'x', sizeof(source));
    TAP_EQ(OPAL_SUCCESS, get_one(ep, target, source, 60));
    TAP_EQ(OPAL_SUCCESS, get_one(ep, target + 60, source + 60, 40));
    TAP_EQ(2, gets);
    TAP_EQ(0, memcmp(source, target, sizeof(source)));
    TAP_EQ(3, copies); /* it was looked whose memory it is, once */

    odd = source; /* one buffer is no reason not to try the next */
    TAP_EQ(OPAL_ERR_NOT_AVAILABLE, get_one(ep, target, source, 60));
    odd = NULL;
    TAP_EQ(OPAL_SUCCESS, get_one(ep, target, source, 60));
    TAP_EQ(6, copies);

    read_from = OF_NOBODY; /* the kernel forbids it from now on: tried twice, and never again */
    TAP_EQ(OPAL_ERR_NOT_AVAILABLE, get_one(ep, target, source, 60));
    TAP_EQ(8, copies);
    read_from = OF_PEER;
    TAP_EQ(OPAL_ERR_NOT_AVAILABLE, get_one(ep, target, source, 60));
    TAP_EQ(8, copies);

    /* Another process has the number: at the first copy, and after a time of good ones. */
    for (int again = 0; again < 2; ++again) {
        forget_proof(ep);
        read_from = OF_ANOTHER;
        if (1 == again) {
            read_from = OF_PEER;
            TAP_EQ(OPAL_SUCCESS, get_one(ep, target, source, 60));
            read_from = OF_ANOTHER;
            coarse_ms += 700;
        }
        memset(target, 0, sizeof(target));
        TAP_EQ(OPAL_ERR_NOT_AVAILABLE, get_one(ep, target, source, 60));
        TAP_EQ(0, target[0]);
        TAP_EQ(OPAL_ERR_NOT_AVAILABLE, get_one(ep, target, source, 60));
        TAP_EQ(1 == again ? 3 : 1, copies);
    }
    TAP_EQ(4, gets);
}

static void case_get(const pair_t *pair)
{
    static mca_smsc_module_t module = {.get_endpoint = get_endpoint,
                                       .return_endpoint = return_endpoint,
                                       .copy_from = copy_from};
    test_ep_t ep = {.received = 0};
    name_t theirs;

    mca_smsc = &module;
    opal_proc_for_name = proc_for_name;
    test_ep_begin(pair, &ep, &theirs);
    test_ep_connect(&ep, &theirs);
    TAP_CHECK(0 != (ep.module->super.btl_flags & MCA_BTL_FLAGS_GET), "no btl_get");
    check_gets(&ep);
    test_ep_disconnect(&ep);
    test_ep_close(&ep);

    mca_btl_epshm_component.single_copy = false;
    TAP_EQ(OPAL_SUCCESS, test_ep_open(&ep));
    TAP_EQ(0, ep.module->super.btl_flags & MCA_BTL_FLAGS_GET);
    test_ep_close(&ep);
    meet(pair);
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epshm_get", 300);
    folder_make();
    run_pair("one copy, of the right memory", case_get, false);
    return pairs_end();
}
