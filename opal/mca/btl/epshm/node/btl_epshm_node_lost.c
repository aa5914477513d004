/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Connections that are given up: because the other process has ended, or because the memory between
 * the two holds what makes no sense.
 *
 * A pair of endpoints is lost as a whole, both ways, and in both processes.  The one that detects
 * the loss writes it where the other one reads: into the end of the pipe that leads there
 * (EPSHM_PIPE_GIVEN_UP), or, if there is none, into a packet (EPSHM_PACKET_GIVE_UP), and into the
 * place by which a consumer says that it reads no more (EPSHM_PIPE_REFUSED), of the pipe and of
 * packets, those included that come later.  There may be only one of the two; either will do.
 *
 * Tests: unit/test_epshm_broken, unit/test_epshm_packets, corrupt, death
 */

#include "opal_config.h"

#include "btl_epshm_node.h"

#include "opal/util/proc.h"
#include "opal/util/show_help.h"

/** The pipes by which a sender sends here.  They are taken out later: one of their messages may be
 * being delivered. */
static void condemn_pipes(epshm_node_module_t *module, uint64_t sender)
{
    for (uint32_t i = 0; i < module->in_count; ++i) {
        if (sender == module->in[i].sender) {
            module->in[i].condemned = true;
        }
    }
}

/** Nothing is received any more, neither from senders that have left word in the doorbell nor from
 * new ones.  The others are notified by the next ep_progress: one of their messages may be in
 * delivery. */
static void refuse_all(epshm_node_module_t *module)
{
    module->broken = true;
    /* Relaxed: it publishes nothing.  Consumers of words that are lost with it read this flag, too.
     */
    atomic_store_explicit(&module->doorbell->last, EPSHM_DOORBELL_BROKEN, memory_order_relaxed);
}

void mca_btl_epshm_node_refuse_pipes(epshm_node_module_t *module)
{
    while (0 < module->in_count) {
        epshm_pipe_refuse(module->in[--module->in_count].pipe.pipe);
    }
}

const epshm_node_refused_t *mca_btl_epshm_node_has_refused(const epshm_node_module_t *module,
                                                           uint64_t sender)
{
    for (uint32_t i = 0; i < module->refused_count; ++i) {
        if (sender == module->refused[i].sender) {
            return &module->refused[i];
        }
    }
    return NULL;
}

/** A sender is given up, and will be notified when it sends something.
 * @return false: there is no memory to note that */
static bool node_lost_remember(epshm_node_module_t *module, uint64_t sender, bool corrupt)
{
    epshm_node_refused_t *refused = (epshm_node_refused_t *) mca_btl_epshm_node_has_refused(module,
                                                                                            sender);

    if (NULL == refused) {
        epshm_node_refused_t *grown = realloc(module->refused, (module->refused_count + (size_t) 1)
                                                                   * sizeof(*grown));

        if (NULL == grown) {
            return false;
        }
        module->refused = grown;
        refused = &grown[module->refused_count++];
        *refused = (epshm_node_refused_t){.sender = sender};
    }
    refused->corrupt = refused->corrupt || corrupt;
    return true;
}

/** Without memory to note the one sender all senders are given up: otherwise that one would wait
 * without end.  The owner learns of it by the next ep_progress. */
static void node_lost_condemn(epshm_node_module_t *module, uint64_t sender, bool corrupt)
{
    condemn_pipes(module, sender);
    if (!node_lost_remember(module, sender, corrupt)) {
        refuse_all(module);
    }
}

void mca_btl_epshm_node_cut(epshm_node_peer_t *peer)
{
    peer->gone = true;
    if (!peer->lost) {
        peer->lost = true;
        if (NULL != peer->out.pipe) {
            epshm_pipe_give_up(&peer->out);
        } else if (!peer->refused) {
            mca_btl_epshm_node_packet_notify(peer, EPSHM_PACKET_GIVE_UP);
        }
        node_lost_condemn((epshm_node_module_t *) peer->module, peer->addressee, false);
    }
}

void mca_btl_epshm_node_lose(epshm_node_peer_t *peer, const char *why)
{
    struct mca_btl_base_endpoint_t *endpoint = (struct mca_btl_base_endpoint_t *) peer;
    mca_btl_ep_module_t *module = peer->module;
    char peer_text[256];

    if (peer->lost) {
        return;
    }
    mca_btl_epshm_node_cut(peer);
    (void) snprintf(peer_text, sizeof(peer_text), "rank %u",
                    (unsigned int) peer->peer_proc->name.vpid);
    if (NULL != module->ep_describe) {
        module->ep_describe(module, endpoint, peer_text, sizeof(peer_text));
    }
    if (NULL == module->ep_lost || module->ep_lost(module, endpoint)) {
        EPSHM_SHOW_HELP(why, true, peer_text);
    }
}

void mca_btl_epshm_node_lose_in(epshm_node_module_t *module, epshm_node_in_t in, const char *why)
{
    epshm_pipe_refuse(in.pipe.pipe);
    if (!in.condemned) { /* or the owner knows */
        mca_btl_epshm_node_lose_sender(module, in.peer_proc, in.sender, in.doorbell, false, why);
    }
}

void mca_btl_epshm_node_lose_sender(epshm_node_module_t *module, epshm_peer_proc_t *peer_proc,
                                    uint64_t sender, uint64_t doorbell, bool corrupt,
                                    const char *why)
{
    mca_btl_ep_module_t *super = &module->super;
    epshm_node_peer_t *peer = module->peers;
    epshm_node_address_t address;
    char peer_text[256];

    node_lost_condemn(module, sender, corrupt);
    if (NULL != peer) {
        do {
            if (sender == peer->addressee) {
                mca_btl_epshm_node_lose(peer, why);
                return;
            }
            peer = peer->next;
        } while (peer != module->peers);
    }
    /* Nothing has been sent to it yet: the owner knows it by its address only. */
    mca_btl_epshm_node_address_write(&address, peer_proc->size, doorbell, sender);
    address.process = peer_proc->name;
    address.stamp = peer_proc->stamp;
    (void) snprintf(peer_text, sizeof(peer_text), "rank %u", (unsigned int) peer_proc->name.vpid);
    if (NULL == super->ep_lost_sender
        || super->ep_lost_sender(super, &address, sizeof(address), peer_text, sizeof(peer_text))) {
        EPSHM_SHOW_HELP(why, true, peer_text);
    }
}

void mca_btl_epshm_node_refuse(mca_btl_ep_module_t *module, const void *blob, size_t length)
{
    epshm_node_module_t *own = (epshm_node_module_t *) module;
    epshm_node_address_t address;

    if (NULL == blob) {
        refuse_all(own);
    } else if (mca_btl_epshm_node_address_read(blob, length, &address)) {
        node_lost_condemn(own, address.addressee, false);
    }
}

void mca_btl_epshm_node_break_doorbell(epshm_node_module_t *module)
{
    refuse_all(module);
    mca_btl_epshm_node_refuse_pipes(module);
    EPSHM_SHOW_HELP("doorbell corrupt", true, opal_process_info.nodename,
                    (unsigned int) OPAL_PROC_MY_NAME.vpid);
}
