/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Addresses: written by the member whose endpoint it is, checked and made a peer of by all others.
 *
 * Called by the phases of a creation.
 *
 * Tests: create, comm_bridge, jobs_spawn
 */

#include "ompi_config.h"

#include "../engine/engine.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_address.h"

#include "ompi/constants.h"

/** The module of a transport, if others may use it. */
static const mca_btl_ep_module_t *transport_of(const mca_pml_epml_ep_t *ep, bool with_node,
                                               int transport)
{
    return with_node || EPML_TRANSPORT_NODE != transport ? ep->transports.module[transport] : NULL;
}

size_t mca_pml_epml_address_size(const mca_pml_epml_ep_t *ep, bool with_node)
{
    size_t size = sizeof(mca_pml_epml_address_t) + ep->transports.shm->ep_address_length;

    for (int transport = 0; transport < EPML_TRANSPORTS; ++transport) {
        const mca_btl_ep_module_t *module = transport_of(ep, with_node, transport);

        size += NULL != module ? module->ep_address_length : 0;
    }
    return (size + 7) & ~(size_t) 7;
}

void mca_pml_epml_address_write(mca_pml_epml_address_t *address, const mca_pml_epml_ep_t *ep,
                                bool with_node, const opal_process_name_t *name)
{
    unsigned char *at = address->bytes + ep->transports.shm->ep_address_length;

    address->name = *name;
    address->uid = ep->life.uid;
    address->host = mca_pml_epml_host(OMPI_PROC_MY_NAME);
    address->job_size = ompi_process_info.num_procs;
    address->shm_length = (uint16_t) ep->transports.shm->ep_address_length;
    memcpy(address->bytes, ep->transports.shm->ep_address, address->shm_length);
    for (int transport = 0; transport < EPML_TRANSPORTS; ++transport) {
        const mca_btl_ep_module_t *module = transport_of(ep, with_node, transport);

        address->transport_length[transport] = 0;
        if (NULL != module) {
            address->transport_length[transport] = (uint16_t) module->ep_address_length;
            memcpy(at, module->ep_address, module->ep_address_length);
            at += module->ep_address_length;
        }
    }
}

int mca_pml_epml_address_check(const mca_pml_epml_address_t *address, size_t address_size)
{
    size_t length = address->shm_length;

    for (int transport = 0; transport < EPML_TRANSPORTS; ++transport) {
        length += address->transport_length[transport];
        if (MCA_BTL_EP_ADDRESS_MAX < address->transport_length[transport]) {
            return OMPI_ERR_BAD_PARAM;
        }
    }
    if (length > address_size - sizeof(*address) || (OPAL_VPID_MAX) < address->name.vpid) {
        return OMPI_ERR_BAD_PARAM;
    }
    return mca_pml_epml_job_meet(&address->name, address->job_size, address->host);
}

/** How a peer of another process is reached.  @return as mca_pml_epml_address_peer */
static int set_transport(mca_pml_epml_peer_t *peer, const mca_pml_epml_address_t *address,
                         const mca_pml_epml_ep_t *any)
{
    const unsigned char *at = address->bytes + address->shm_length;
    mca_btl_ep_module_t *node = any->transports.module[EPML_TRANSPORT_NODE];
    int rc = OMPI_SUCCESS;

    peer->transport = EPML_TRANSPORT_NET;
    if (NULL != node && 0 < address->transport_length[EPML_TRANSPORT_NODE] && peer->is_near) {
        peer->transport = EPML_TRANSPORT_NODE;
        rc = node->ep_reach(node, at, address->transport_length[EPML_TRANSPORT_NODE]);
    } else {
        at += address->transport_length[EPML_TRANSPORT_NODE];
    }
    peer->address_length = address->transport_length[peer->transport];
    memcpy(peer->address, at, peer->address_length);
    /* No address where one is needed: the two processes disagree on which node they are. */
    return NULL != any->transports.module[peer->transport] && 0 < peer->address_length
               ? rc
               : OMPI_ERR_UNREACH;
}

/** A peer of which this process has not heard. */
static int peer_new(const mca_pml_epml_address_t *address, const mca_pml_epml_ep_t *any,
                    mca_pml_epml_peer_t **peer_p)
{
    ompi_proc_t *proc = mca_pml_epml_proc_get(&address->name);
    mca_pml_epml_peer_t *peer;
    int rc;

    if (NULL == proc) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    peer = mca_pml_epml_peer_create(proc, address->uid);
    if (NULL == peer) {
        mca_pml_epml_proc_put(proc);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    if (mca_pml_epml_name_is_here(&address->name)) {
        if (OPAL_SUCCESS
            != any->transports.shm->ep_connect(any->transports.shm, address->bytes,
                                               address->shm_length, &peer->shm)) {
            mca_pml_epml_peer_release(peer);
            return OMPI_ERR_BAD_PARAM;
        }
        peer->shm_disconnect = any->transports.shm->ep_disconnect;
    } else {
        rc = set_transport(peer, address, any);
        if (OMPI_SUCCESS != rc) {
            mca_pml_epml_peer_release(peer);
            return rc;
        }
    }
    *peer_p = mca_pml_epml_peer_publish(peer);
    return NULL == *peer_p ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
}

int mca_pml_epml_address_peer(const mca_pml_epml_address_t *address, mca_pml_epml_ep_t *any,
                              mca_pml_epml_peer_t **peer_p)
{
    mca_pml_epml_peer_t *peer = mca_pml_epml_peer_find(address->uid);

    if (NULL == peer) {
        return peer_new(address, any, peer_p);
    }
    if (0 != memcmp(&peer->proc->super.proc_name, &address->name, sizeof(address->name))) {
        mca_pml_epml_peer_release(peer); /* a uid is one endpoint's: the address is wrong */
        return OMPI_ERR_BAD_PARAM;
    }
    /* Others of this process may have met it by a transport that this one has not needed so far. */
    if (NULL == peer->shm
        && (OMPI_SUCCESS != mca_pml_epml_ep_need(any, 1u << peer->transport)
            || NULL == any->transports.module[peer->transport])) {
        mca_pml_epml_peer_release(peer);
        return OMPI_ERR_NOT_AVAILABLE;
    }
    *peer_p = peer;
    return OMPI_SUCCESS;
}
