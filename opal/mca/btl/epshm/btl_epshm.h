/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * btl/epshm: messages between the endpoints of one address space.
 *
 * Every module has an inbox, a ring of cache line cells (btl_epshm_ring.h) into which any thread of
 * the process may write, and lanes, rings of one sender each (btl_epshm_lane.h), for those who send
 * much.  Messages up to EPSHM_INLINE_MAX bytes travel in the cells themselves,
 * larger ones in a buffer of the sender whose address goes through the ring, and btl_get copies
 * straight from the sender's memory.
 *
 * A BTL endpoint of this component is the peer's inbox itself: it may be used with every module of
 * the process, so a process connects to each of its endpoints once, not once per pair.
 *
 * Not for other processes: that is btl/epofi's part.
 */

#ifndef MCA_BTL_EPSHM_H
#define MCA_BTL_EPSHM_H

#include "opal_config.h"

#include "opal/mca/btl/btl_ep.h"

BEGIN_C_DECLS

/** Parameters; defaults and ranges in btl_epshm_component.c. */
typedef struct mca_btl_epshm_component_t {
    mca_btl_ep_component_t super;

    unsigned int ring_cells;     /**< cells of 64 bytes in an inbox */
    unsigned int lanes;          /**< rings of one sender that an inbox may have */
    unsigned int lane_cells;     /**< cells of 32 bytes in one of them */
    size_t eager_limit;          /**< bytes, header included, that are buffered by the sender */
    size_t share_min;            /**< bytes from which on sender and receiver copy together */
    size_t max_send_size;        /**< bytes, header included, in one fragment */
    unsigned int eager_frags_max; /**< buffers of eager_limit bytes per endpoint */
    unsigned int max_frags_max;   /**< buffers of max_send_size bytes per endpoint */
} mca_btl_epshm_component_t;

OPAL_DECLSPEC extern mca_btl_epshm_component_t mca_btl_epshm_component;

END_C_DECLS

#endif /* MCA_BTL_EPSHM_H */
