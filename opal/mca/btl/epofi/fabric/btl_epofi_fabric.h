/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The process's fabric.
 */

#ifndef MCA_BTL_EPOFI_FABRIC_H
#define MCA_BTL_EPOFI_FABRIC_H

#include "opal_config.h"

#include "../base/base.h"
#include "btl_epofi_net.h"

BEGIN_C_DECLS

/** What the process found out once; constant while it is referenced. */
typedef struct mca_btl_epofi_fabric_t {
    struct fi_info *info; /**< the chosen provider and interface */
    struct fid_fabric *fabric;
    uint32_t provider_hash;
    size_t max_send_size; /**< header and payload, bytes */
    size_t eager_limit;   /**< likewise; at most max_send_size */
    size_t get_chunk;   /**< most bytes of one read */
    bool rma;           /**< RMA reads are there, so btl_get is */
    bool mr_local;      /**< local buffers must be registered, too */
    bool mr_virtual;    /**< remote memory is named by address, not by offset */
    bool mr_prov_key;   /**< the provider chooses keys */
    bool mr_endpoint;   /**< regions are bound to an endpoint */
    bool packs;         /**< small messages to one peer leave together while the wire is busy */
    bool recv_watched;  /**< waiting receives can be distinguished from those being filled */
    bool wants_context; /**< every operation lends the provider a struct fi_context2 */
    /** Contexts of one process reach into each other's memory without asking whether it is still
     * there (btl_epofi_deferred_close.c). */
    bool needs_deferred_close;
} mca_btl_epofi_fabric_t;

/**
 * Get the process's fabric, choosing a provider if none has been chosen yet.  The caller holds the
 * lock.
 *
 * @return OPAL_SUCCESS; OPAL_ERR_NOT_AVAILABLE (the reason has been said); OPAL_ERR_OUT_OF_RESOURCE
 */
int mca_btl_epofi_fabric_acquire(const mca_btl_epofi_fabric_t **fabric_p);

/** Give it back; it closes with its last user.  The caller holds the lock. */
void mca_btl_epofi_fabric_release(void);

/** See mca_btl_ep_context_limit_fn_t.  Takes the lock. */
void mca_btl_epofi_context_limit(int *optimal, int *maximum);

/** The component is opened (+1) or closed (-1): an open component keeps a fabric it has, and a
 * reason not to have one is forgotten when it closes.  The caller holds the lock. */
void mca_btl_epofi_fabric_hold(int change);

/** What was chosen for the process's fabric, which must be open.  Under the component's lock. */
const mca_btl_epofi_net_t *mca_btl_epofi_fabric_net(void);

END_C_DECLS

#endif /* MCA_BTL_EPOFI_FABRIC_H */
