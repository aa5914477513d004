/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * For tests of pairs that are given up: what the owner of a module hears of it.
 */

#ifndef EP_TEST_UNIT_TEST_EPSHM_LOSSES_H
#define EP_TEST_UNIT_TEST_EPSHM_LOSSES_H

#include "test_epshm_node.h"

/** Losses reported to the owner of a module: peers, senders, and the last one of these. */
static int losses, sender_losses;
static name_t lost_sender;

static inline bool on_lost(mca_btl_ep_module_t *module, struct mca_btl_base_endpoint_t *endpoint)
{
    TAP_CHECK(((test_ep_t *) module->ep_context)->peer == endpoint, "somebody else is lost");
    ++losses;
    return false;
}

static inline bool on_lost_sender(mca_btl_ep_module_t *module, const void *address, size_t length,
                                  char *text, size_t size)
{
    (void) module;
    (void) text;
    (void) size;
    memset(&lost_sender, 0, sizeof(lost_sender));
    lost_sender.length = length;
    memcpy(lost_sender.bytes, address, length);
    ++sender_losses;
    return false;
}

static inline void test_ep_watch(test_ep_t *ep)
{
    losses = sender_losses = 0;
    ep->module->ep_lost = on_lost;
    ep->module->ep_lost_sender = on_lost_sender;
}

static inline void test_ep_turns(test_ep_t *ep)
{
    for (int turn = 0; turn < 1000; ++turn) {
        (void) ep->module->ep_progress(ep->module);
    }
}

#endif /* EP_TEST_UNIT_TEST_EPSHM_LOSSES_H */
