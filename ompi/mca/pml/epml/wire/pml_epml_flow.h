/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Messages without a receive: keeping them, and holding their senders back.
 *
 * An endpoint that keeps more than pml_epml_unexpected_limit bytes of them is full.  Senders to a
 * full endpoint send nothing except rendezvous headers, so the data wait with their senders;
 * nothing else changes: order, matching and progress are those of large messages.  At half of the
 * limit the endpoint is full no longer.  Senders know it:
 *
 *  - in the same process by the flag full in the endpoint's peer;
 *  - elsewhere by HOLD and GO, one of each per sender, noted in both ends' connections.
 *
 * An endpoint never holds itself back: no other thread could make the room.  docs/progress.md says why
 * nothing is lost and no sender waits without end.
 */

#ifndef MCA_PML_EPML_FLOW_H
#define MCA_PML_EPML_FLOW_H

#include "ompi_config.h"

#include "../object/object.h"
#include "../base/base.h"

BEGIN_C_DECLS

/* ---- the receiver's side; all under the endpoint's lock -------------------------------------- */

/** Bytes of a rendezvous header that its match part does not have. */
#define EPML_RNDV_REST (sizeof(mca_pml_epml_hdr_rndv_t) - sizeof(mca_pml_epml_hdr_match_t))

/** A message is thrown away: it makes no sense, comes too late, or cannot be kept. */
static inline void mca_pml_epml_ep_drop(mca_pml_epml_ep_t *ep)
{
    ++ep->flow.dropped;
}

/** A kept message as it came; valid as long as the message. */
typedef struct mca_pml_epml_view_t {
    mca_pml_epml_hdr_rndv_t hdr; /**< of an eager message only the match part */
    const void *data;            /**< eager: the data; rendezvous: the registration handle */
    size_t size;                 /**< bytes at data */
} mca_pml_epml_view_t;

/** What a kept message costs, as the limit counts it. */
static inline size_t mca_pml_epml_unexpected_cost(size_t size)
{
    return offsetof(mca_pml_epml_unexpected_t, data) + size;
}

/** Of a new endpoint. */
void mca_pml_epml_flow_init(mca_pml_epml_ep_t *ep);

/** A copy of a message, to be stored in the matching table.
 * @return to be freed with mca_pml_epml_unexpected_free; NULL without memory */
mca_pml_epml_unexpected_t *mca_pml_epml_unexpected_new(mca_pml_epml_ep_t *ep,
                                                       const mca_pml_epml_hdr_rndv_t *hdr,
                                                       const void *data, size_t size);

/** There is no memory for a message: give back what is only there to save time, and be full from
 * now on for good, so that no message more is lost.  Then it may be tried again. */
void mca_pml_epml_flow_exhausted(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *sender);

/** A message has been kept.  Tell its sender to hold, if need be. */
void mca_pml_epml_flow_kept(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *sender,
                            const mca_pml_epml_unexpected_t *message);

/** There is room again: send GO (XON) to the peers that were sent HOLD (XOFF). */
void mca_pml_epml_flow_go(mca_pml_epml_ep_t *ep);

/** Is it time for that?  To be asked whenever a message has gone, or one of a peer that may hold
 * has come: a GO for which there was no memory is sent then. */
static inline void mca_pml_epml_flow_check(mca_pml_epml_ep_t *ep)
{
    if (OPAL_UNLIKELY(ep->flow.full || 0 < ep->flow.holding_count)
        && ep->flow.bytes <= ep->flow.limit / 2 && !ep->flow.exhausted) {
        mca_pml_epml_flow_go(ep);
    }
}

/** A message that is in no table any more goes. */
static inline void mca_pml_epml_unexpected_free(mca_pml_epml_ep_t *ep,
                                                mca_pml_epml_unexpected_t *message)
{
    ep->flow.bytes -= mca_pml_epml_unexpected_cost(message->size);
    free(message);
    mca_pml_epml_flow_check(ep);
}

/** A matched probe has taken a message out of the table, which still counts as kept. */
static inline void mca_pml_epml_unexpected_take_out(mca_pml_epml_ep_t *ep)
{
    ++ep->flow.taken_out;
}

/** That message has its receive. */
static inline void mca_pml_epml_unexpected_received(mca_pml_epml_ep_t *ep)
{
    --ep->flow.taken_out;
}

/** @param[in] source, tag  of the message: those of its exact queue, or taken */
static inline void mca_pml_epml_unexpected_view(const mca_pml_epml_unexpected_t *message,
                                                int32_t source, int32_t tag,
                                                mca_pml_epml_view_t *view)
{
    view->hdr.match.common = message->common;
    view->hdr.match.source = source;
    view->hdr.match.tag = tag;
    if (EPML_HDR_EAGER == message->common.kind) {
        view->data = message->data;
        view->size = message->size;
    } else {
        memcpy(&view->hdr.length, message->data, EPML_RNDV_REST);
        view->data = message->data + EPML_RNDV_REST;
        view->size = message->size - EPML_RNDV_REST;
    }
}

/** Bytes of data that the sender of a kept message gave. */
static inline size_t mca_pml_epml_unexpected_length(const mca_pml_epml_unexpected_t *message)
{
    uint64_t length = message->size;

    if (EPML_HDR_EAGER != message->common.kind) {
        memcpy(&length, message->data, sizeof(length));
    }
    return length;
}

/** The endpoint goes: forget the peers that were sent HOLD. */
void mca_pml_epml_flow_clear(mca_pml_epml_ep_t *ep);

/* ---- the sender's side ----------------------------------------------------------------------- */

/** HOLD and GO: from another process. */
extern const mca_pml_epml_kind_t mca_pml_epml_flow_kind;

/** A connection is used for another peer from now on. */
void mca_pml_epml_flow_forget(mca_pml_epml_ep_t *ep, mca_pml_epml_connection_t *connection);

/** Has this peer, in another process, sent HOLD? */
bool mca_pml_epml_flow_got_hold(const mca_pml_epml_ep_t *ep, const mca_pml_epml_peer_t *peer);

/** Must the data of a message to peer stay here until it is matched?  Under ep's lock.  A peer that
 * has just become full may get some messages more, and one that has room again may get none: they
 * are right either way. */
static inline bool mca_pml_epml_flow_is_held(const mca_pml_epml_ep_t *ep,
                                             const mca_pml_epml_peer_t *peer)
{
    if (NULL != peer->shm) {
        /* Relaxed, as is the store in set_full: a hint, nothing is ordered by it. */
        return OPAL_UNLIKELY(atomic_load_explicit(&peer->full, memory_order_relaxed))
               && peer != ep->life.self;
    }
    return OPAL_UNLIKELY(0 < ep->flow.held_count) && mca_pml_epml_flow_got_hold(ep, peer);
}

END_C_DECLS

#endif /* MCA_PML_EPML_FLOW_H */
