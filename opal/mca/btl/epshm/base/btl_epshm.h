/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * btl/epshm: messages between the endpoints of one address space, and of one node.
 *
 * Every module has a receive queue, a ring of cache line cells (btl_epshm_ring.h) into which any thread of
 * the process may write, and SPSC rings, rings of one sender each (btl_epshm_spsc.h), for senders of
 * many messages.  Messages up to EPSHM_INLINE_MAX bytes travel in the cells themselves, larger ones
 * in a buffer of the sender whose address goes through the ring, and btl_get copies straight from
 * the sender's memory.
 *
 * A BTL endpoint of this component is the peer's receive queue itself: it may be used with every module of
 * the process, so a process connects to each of its endpoints once, not once per pair.
 *
 * Modules of a second kind (MCA_BTL_EP_FLAG_NODE) carry messages between processes of one node,
 * through memory that both have mapped: btl_epshm_node.h.  Processes of other nodes are btl/epofi's
 * part.
 */

#ifndef MCA_BTL_EPSHM_H
#define MCA_BTL_EPSHM_H

#include "opal_config.h"

#include <stdatomic.h>

#include "opal/mca/common/ep/common_ep_btl.h"
#include "opal/mca/common/ep/common_ep_cancel.h"
#include "opal/mca/common/ep/common_ep_help.h"

BEGIN_C_DECLS

/** Parameters; defaults and ranges in btl_epshm_parameters.c. */
typedef struct mca_btl_epshm_component_t {
    mca_btl_ep_component_t super;

    unsigned int ring_cells;      /**< cells of 64 bytes in a receive queue */
    unsigned int spsc_rings;      /**< rings of one sender that a receive queue may have */
    unsigned int spsc_cells;      /**< cells of 32 bytes in one of them */
    size_t eager_limit;           /**< bytes, header included, that are buffered by the sender */
    size_t zcopy_min;             /**< bytes from which on a message may stay with the sender */
    size_t zcopy_max;             /**< bytes up to which it may, and be buffered if recalled */
    size_t coop_copy_min;         /**< bytes from which on sender and receiver copy together */
    size_t max_send_size;         /**< bytes, header included, in one fragment */
    unsigned int eager_frags_max; /**< buffers of eager_limit bytes per endpoint */
    unsigned int max_frags_max;   /**< buffers of max_send_size bytes per endpoint */

    /* Between processes. */
    bool processes;                /**< reach other processes of the node at all */
    bool single_copy;              /**< copy large messages once, by Open MPI's smsc */
    char *directory;               /**< where segments are */
    size_t segment_size;           /**< bytes that a process's segment may grow to */
    unsigned int pipes;            /**< pairs of an endpoint that may have a pipe */
    unsigned int pipe_after;       /**< messages of a pair after which it gets one */
    size_t packet_bytes;           /**< bytes of packets of an endpoint */
    unsigned int pipe_cells;       /**< cells of 64 bytes in a pipe */
    size_t pipe_eager_limit;       /**< as eager_limit, between processes */
    size_t pipe_bytes;             /**< bytes of its area for messages that the cells do not hold */
    _Atomic int node_modules;      /**< modules alive that reach other processes */
    _Atomic uint64_t pipes_broken; /**< given up because their contents made no sense */
} mca_btl_epshm_component_t;

OPAL_DECLSPEC extern mca_btl_epshm_component_t mca_btl_epshm_component;

#define EPSHM_SHOW_HELP(...)                                     \
    do {                                                         \
        MCA_BTL_EP_HOLD_CANCEL();                                \
        mca_btl_ep_show_help("help-btl-epshm.txt", __VA_ARGS__); \
    } while (0)

END_C_DECLS

#endif /* MCA_BTL_EPSHM_H */
