/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Connections to peers in other processes, and which of them are lost:
 * pml_epml_connection.c.
 */

#ifndef MCA_PML_EPML_CONNECTION_H
#define MCA_PML_EPML_CONNECTION_H

#include "ompi_config.h"

#include "../object/object.h"
#include "../base/base.h"

BEGIN_C_DECLS

/** The entry of a peer's slot in the table of connections, used or used to be for this peer or an
 * earlier one.  Under ep's lock.  @return valid until the next connection is made; NULL: none */
mca_pml_epml_connection_t *mca_pml_epml_connection_entry(const mca_pml_epml_ep_t *ep,
                                                         const mca_pml_epml_peer_t *peer);

/** The connection of ep to a peer in another process, if there is one.  Under ep's lock.
 * @return valid until the next one is made; or NULL */
mca_pml_epml_connection_t *mca_pml_epml_connection_find(const mca_pml_epml_ep_t *ep,
                                                        const mca_pml_epml_peer_t *peer);

/** The endpoint cannot reach a peer, and will not try again: from now on it is lost, which the next
 * mca_pml_epml_lost_look sees.  Under ep's lock; without memory all are that are reached by the
 * same way. */
void mca_pml_epml_connection_give_up(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer);

/** An entry for a peer, without a connection.  Under ep's lock.
 * @return valid until the next one is made; NULL without memory */
mca_pml_epml_connection_t *mca_pml_epml_connection_place(mca_pml_epml_ep_t *ep,
                                                         const mca_pml_epml_peer_t *peer);

/** The connection of ep to a peer in another process; made at first use.  Under ep's lock. */
int mca_pml_epml_peer_connect(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer,
                              mca_pml_epml_connection_t **connection_p);

/** The endpoint goes: end its connections. */
void mca_pml_epml_connections_close(mca_pml_epml_ep_t *ep);

/** Of mca_pml_epml_ep_t.wire.lost_seen: look at the next progress call. */
#define EPML_LOST_LOOK UINT32_MAX

/** Is there a loss that this endpoint has not taken note of?  Under its lock. */
static inline bool mca_pml_epml_lost_has_unseen(const mca_pml_epml_ep_t *ep)
{
    /* Relaxed: a hint; what it stands for is read under lost.lock. */
    return ep->wire.lost_seen
           != atomic_load_explicit(&mca_pml_epml_lost_count, memory_order_relaxed);
}

/** Look for lost peers at the next progress call.  Under the lock. */
static inline void mca_pml_epml_lost_look_soon(mca_pml_epml_ep_t *ep)
{
    ep->wire.lost_seen = EPML_LOST_LOOK;
}

/** So many losses have been looked at.  Under the lock. */
static inline void mca_pml_epml_lost_saw(mca_pml_epml_ep_t *ep, uint32_t count)
{
    ep->wire.lost_seen = count;
}

/** All peers that are reached by this transport are lost.  Under the lock. */
static inline void mca_pml_epml_transport_break(mca_pml_epml_ep_t *ep,
                                                mca_pml_epml_transport_t transport)
{
    ep->wire.broken[transport] = true;
    mca_pml_epml_lost_look_soon(ep);
}

/** Note that the endpoint has lost a peer, by the connection in its table.  Under its lock. */
void mca_pml_epml_lost_note(mca_pml_epml_ep_t *ep, mca_pml_epml_connection_t *connection);

/** Has this endpoint lost this peer?  Under its lock. */
bool mca_pml_epml_lost_is(const mca_pml_epml_ep_t *ep, const mca_pml_epml_peer_t *peer);

/** Likewise, for an operation that is about to fail: a death is reported to the user first. */
bool mca_pml_epml_lost_refuses(const mca_pml_epml_ep_t *ep, const mca_pml_epml_peer_t *peer);

/** Does a receive that cannot be served because of a loss stay active until the loss is acknowledged
 * (MPI_ERR_PROC_FAILED_PENDING)?  With Open MPI's fault tolerance: nonblocking ones of the user's
 * from MPI_ANY_SOURCE. */
bool mca_pml_epml_lost_pends(const mca_pml_epml_request_t *request);

/** May a receive or probe of this source and tag never be served, on a communicator with a lost
 * member?  Under the lock.  @return the rank that is lost, or -1 */
int mca_pml_epml_lost_blocks(const mca_pml_epml_comm_t *comm, int src, int tag);

END_C_DECLS

#endif /* MCA_PML_EPML_CONNECTION_H */
