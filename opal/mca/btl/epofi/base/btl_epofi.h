/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * btl/epofi: messages between endpoints of different processes, over libfabric.
 *
 * Every module, that is every MPI endpoint, has a libfabric context of its own (domain, endpoint,
 * completion queue, address vector), so that a provider has nothing to lock and a thread that
 * drives one endpoint touches nothing of another.  Where the fabric has too few, several modules
 * share one (folder share).  The fabric and the choice of a provider are the
 * process's.  Small messages leave through the provider's inject path, larger ones through a
 * buffer of ours, bulk data by RMA read (btl_get).
 *
 * This header is what other components may use; all else is for this component's folders, which
 * docs/epofi.md shows.
 *
 * Tests: unit/test_epofi
 */

#ifndef MCA_BTL_EPOFI_H
#define MCA_BTL_EPOFI_H

#include "opal_config.h"

#include "opal/mca/common/ep/common_ep_btl.h"

BEGIN_C_DECLS

/** Parameters; meaning, defaults and ranges in btl_epofi_parameters.c. */
typedef struct mca_btl_epofi_component_t {
    mca_btl_ep_component_t super;

    char *provider;
    char *interface;
    unsigned int max_contexts;
    unsigned int shared_contexts;
    unsigned int recv_buffers;
    size_t eager_limit;
    size_t max_send_size;
    unsigned int send_buffers;
    unsigned int max_send_buffers;
    unsigned int peer_queue;
    unsigned int tx_size;
    unsigned int rx_size;
    unsigned int cq_size;
    size_t get_chunk;
    unsigned int get_depth;
    unsigned int linger;
    unsigned int stall_warning;
    unsigned int unanswered;
    unsigned int confirm;
    unsigned int keepalive;
    unsigned int unproven;
    unsigned int quiet;
    unsigned int hello;
    unsigned int descriptor_wait;
    size_t packet_size;
    unsigned int packet_wait;
} mca_btl_epofi_component_t;

OPAL_DECLSPEC extern mca_btl_epofi_component_t mca_btl_epofi_component;

/**
 * Messages that a module received and threw away, because they were not of this protocol, were
 * damaged, did not prove that they belong to the job, came twice or after one that is lost, or bore
 * a tag for which no handler is registered.
 *
 * @param[in] module  a module of this component; the caller serializes, as for all module calls
 */
OPAL_DECLSPEC uint64_t mca_btl_epofi_dropped(const mca_btl_ep_module_t *module);

END_C_DECLS

#endif /* MCA_BTL_EPOFI_H */
