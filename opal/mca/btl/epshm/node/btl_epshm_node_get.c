/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * btl_get between processes: one copy, where Open MPI has a way to make it (btl_epshm_identity.c).
 *
 * Tests: unit/test_epshm_get, single_copy, p2p_sizes
 */

#include "opal_config.h"

#include "btl_epshm_node.h"

static int node_get_start(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                          void *local_address, uint64_t remote_address,
                          struct mca_btl_base_registration_handle_t *local_handle,
                          struct mca_btl_base_registration_handle_t *remote_handle, size_t size,
                          int flags, int order, mca_btl_base_rdma_completion_fn_t cbfunc,
                          void *cbcontext, void *cbdata)
{
    (void) flags;
    (void) order;
    if (OPAL_UNLIKELY(OPAL_SUCCESS
                      != mca_btl_epshm_peer_proc_copy(((epshm_node_peer_t *) endpoint)->peer_proc,
                                                      local_address, remote_address, size,
                                                      remote_handle))) {
        return OPAL_ERR_NOT_AVAILABLE;
    }
    cbfunc(btl, endpoint, local_address, local_handle, cbcontext, cbdata, OPAL_SUCCESS);
    return OPAL_SUCCESS;
}

static mca_btl_base_registration_handle_t *register_mem(mca_btl_base_module_t *btl,
                                                        struct mca_btl_base_endpoint_t *endpoint,
                                                        void *base, size_t size, uint32_t flags)
{
    (void) btl;
    (void) endpoint;
    (void) flags;
    return (mca_btl_base_registration_handle_t *) MCA_SMSC_CALL(register_region, base, size);
}

static int deregister_mem(mca_btl_base_module_t *btl, mca_btl_base_registration_handle_t *handle)
{
    (void) btl;
    MCA_SMSC_CALL(deregister_region, handle);
    return OPAL_SUCCESS;
}

void mca_btl_epshm_node_set_get(mca_btl_base_module_t *btl)
{
    if (!mca_btl_epshm_component.single_copy || NULL == mca_smsc) {
        return;
    }
    if (mca_smsc_base_has_feature(MCA_SMSC_FEATURE_REQUIRE_REGISTRATION)) {
        ssize_t size = mca_smsc_base_registration_data_size();

        if (0 >= size || MCA_BTL_EP_ADDRESS_MAX < size) {
            return;
        }
        btl->btl_registration_handle_size = (size_t) size;
        btl->btl_register_mem = register_mem;
        btl->btl_deregister_mem = deregister_mem;
        /* The local side of a copy needs none. */
        btl->btl_get_local_registration_threshold = SIZE_MAX;
    }
    btl->btl_flags |= MCA_BTL_FLAGS_GET;
    btl->btl_get = node_get_start;
    btl->btl_get_limit = SIZE_MAX;
    btl->btl_get_alignment = 0;
}

int mca_btl_epshm_node_copy(const void *blob, size_t length, void *local, uint64_t remote,
                            size_t size, bool to_remote)
{
    epshm_node_address_t address;
    epshm_peer_proc_t *peer_proc;

    if (!mca_btl_epshm_component.single_copy || NULL == mca_smsc
        || mca_smsc_base_has_feature(MCA_SMSC_FEATURE_REQUIRE_REGISTRATION)
        || !mca_btl_epshm_node_address_read(blob, length, &address)) {
        return OPAL_ERR_NOT_AVAILABLE;
    }
    peer_proc = mca_btl_epshm_peer_proc_find(&address.process);
    if (NULL == peer_proc
        && OPAL_SUCCESS
               != mca_btl_epshm_peer_proc_attach(&address.process, address.stamp, address.size,
                                                 &peer_proc)) {
        return OPAL_ERR_NOT_AVAILABLE;
    }
    return to_remote ? mca_btl_epshm_peer_proc_copy_to(peer_proc, local, remote, size)
                     : mca_btl_epshm_peer_proc_copy(peer_proc, local, remote, size, NULL);
}
