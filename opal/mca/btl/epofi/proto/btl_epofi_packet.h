/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Packets: several messages in one send.
 */

#ifndef MCA_BTL_EPOFI_PACKET_H
#define MCA_BTL_EPOFI_PACKET_H

#include "opal_config.h"

#include "../object/object.h"

BEGIN_C_DECLS

/** A module's ring of packets, empty. */
void mca_btl_epofi_packets_init(mca_btl_epofi_module_t *module);

/** An endpoint's, for a peer that gets many messages. */
void mca_btl_epofi_packet_init(struct mca_btl_base_endpoint_t *endpoint);

/**
 * Put a message into the endpoint's packet, beginning one if that is worth it.  For an endpoint
 * that has as many operations under way as pack_after says.
 *
 * @return OPAL_SUCCESS; OPAL_ERR_NOT_AVAILABLE: it is to be sent by itself, now, and there is no
 *         packet in front of it; OPAL_ERR_OUT_OF_RESOURCE, OPAL_ERR_UNREACH: as of ep_send
 */
int mca_btl_epofi_pack(mca_btl_epofi_module_t *module, struct mca_btl_base_endpoint_t *endpoint,
                       const void *header, size_t header_size, const void *payload,
                       size_t payload_size, mca_btl_base_tag_t tag);

/** Slow path of mca_btl_epofi_packet_send. */
int mca_btl_epofi_packet_close(mca_btl_epofi_module_t *module,
                               struct mca_btl_base_endpoint_t *endpoint);

/** Send the packet, if there is one, because something else is to follow it.
 * @return OPAL_SUCCESS: there is none any more; OPAL_ERR_OUT_OF_RESOURCE, OPAL_ERR_UNREACH */
static inline int mca_btl_epofi_packet_send(mca_btl_epofi_module_t *module,
                                            struct mca_btl_base_endpoint_t *endpoint)
{
    return OPAL_LIKELY(!endpoint->packing) ? OPAL_SUCCESS
                                           : mca_btl_epofi_packet_close(module, endpoint);
}

/** Send all packets of a module, as far as there is room, and forget those for the lost. */
void mca_btl_epofi_packets_send(mca_btl_epofi_module_t *module);

/** Likewise, if there are any. */
static inline void mca_btl_epofi_packets_look(mca_btl_epofi_module_t *module)
{
    /* Relaxed: it is the caller that adds, and what the packet thread takes away meanwhile is not
     * found under the lock. */
    if (OPAL_UNLIKELY(0 < atomic_load_explicit(&module->packet_count, memory_order_relaxed))) {
        mca_btl_epofi_packets_send(module);
    }
}

/** Send those that have not been sent for a while.  Called by the packet thread, at any time.
 * @return are there any? */
bool mca_btl_epofi_packets_collect(mca_btl_epofi_module_t *module);

/** Add what is in open packets. */
void mca_btl_epofi_packets_count(const mca_btl_epofi_module_t *module, mca_btl_ep_counts_t *counts);

END_C_DECLS

#endif /* MCA_BTL_EPOFI_PACKET_H */
