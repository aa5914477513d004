/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Lost peers, and the operations that wait for them: pml_epml_lost.c, pml_epml_liveness.c.
 */

#ifndef MCA_PML_EPML_LOST_H
#define MCA_PML_EPML_LOST_H

#include "ompi_config.h"

#include "../object/object.h"

BEGIN_C_DECLS

/** Turns without a word from the network between looks at the clock. */
#define EPML_QUIET_LONG 1024

/** End with an error what waits for those that are lost.  Under the endpoint's lock. */
void mca_pml_epml_lost_look(mca_pml_epml_ep_t *ep);

/** Has this communicator lost a member, as far as this process knows?  Takes the lock, and looks at
 * what the endpoint has not seen yet. */
bool mca_pml_epml_lost_member(const mca_pml_epml_comm_t *comm);

/** A new communicator may have lost members: look at the next progress call.  Under the endpoint's
 * lock. */
void mca_pml_epml_lost_attach(mca_pml_epml_comm_t *comm);

/** A notice says that a member of this communicator is lost: look now whether those of this
 * node live, unless one is known to be lost.  Takes the lock. */
void mca_pml_epml_lost_look_after(mca_pml_epml_comm_t *comm);

/** The network has been quiet for a while: are the peers that this endpoint waits for still there?
 * Under its lock. */
void mca_pml_epml_liveness_check(mca_pml_epml_ep_t *ep);

/** A thread has probed in vain: no request names the peers it waits for, so
 * mca_pml_epml_liveness_check checks them.  Under the lock. */
static inline void mca_pml_epml_lost_note_probe(const mca_pml_epml_comm_t *comm, int source,
                                                int tag)
{
    comm->ep->loss.probed.context = comm->context;
    comm->ep->loss.probed.source = source;
    comm->ep->loss.probed.tag = tag;
}

/** What a module of a transport calls: see common_ep_btl.h. */
bool mca_pml_epml_lost_upcall(mca_btl_ep_module_t *module,
                              struct mca_btl_base_endpoint_t *endpoint);
bool mca_pml_epml_lost_lives(mca_btl_ep_module_t *module, struct mca_btl_base_endpoint_t *endpoint);
bool mca_pml_epml_lost_sender(mca_btl_ep_module_t *module, const void *address, size_t length,
                              char *peer_text, size_t size);
void mca_pml_epml_lost_describe(mca_btl_ep_module_t *module,
                                struct mca_btl_base_endpoint_t *endpoint, char *text, size_t size);
void mca_pml_epml_lost_meet(mca_btl_ep_module_t *module, uint64_t source);

END_C_DECLS

#endif /* MCA_PML_EPML_LOST_H */
