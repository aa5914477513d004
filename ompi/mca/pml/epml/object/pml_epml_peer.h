/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Peers, and lists of them: pml_epml_peer.c, pml_epml_shared_peers.c, pml_epml_former_peers.c.
 */

#ifndef MCA_PML_EPML_PEER_H
#define MCA_PML_EPML_PEER_H

#include "ompi_config.h"

#include "pml_epml_types.h"

BEGIN_C_DECLS

/** @return with one reference, or NULL (no memory).  Takes over the caller's use of proc. */
mca_pml_epml_peer_t *mca_pml_epml_peer_create(ompi_proc_t *proc, uint64_t uid);

/** The peer is complete and constant from now on: let it be found.  Any thread.
 *
 * @param[in] peer  the caller's reference is taken over
 * @return a reference on the one peer of that endpoint: another one, if another thread was faster;
 * NULL
 *         without memory */
mca_pml_epml_peer_t *mca_pml_epml_peer_publish(mca_pml_epml_peer_t *peer);

/** The peer of an endpoint, if this process has one.  Any thread.
 * @return one reference, or NULL */
mca_pml_epml_peer_t *mca_pml_epml_peer_find(uint64_t uid);
void mca_pml_epml_peer_retain(mca_pml_epml_peer_t *peer);
void mca_pml_epml_peer_release(mca_pml_epml_peer_t *peer);

/** @return count empty places, one reference, or NULL */
mca_pml_epml_peers_t *mca_pml_epml_peers_create(int count);
void mca_pml_epml_peers_retain(mca_pml_epml_peers_t *peers);
void mca_pml_epml_peers_release(mca_pml_epml_peers_t *peers);

/**
 * Put lists of peers that other endpoints of this process have for the same communicator in place
 * of one's own, or leave one's own for them: n endpoints need not have n lists.  Any thread.
 *
 * @param[in]     context  of the communicator
 * @param[in,out] local    complete; the caller's reference is taken over, and one given
 * @param[in,out] remote   likewise, of an intercommunicator; else NULL
 */
void mca_pml_epml_shared_peers_find(uint64_t context, mca_pml_epml_peers_t **local,
                                    mca_pml_epml_peers_t **remote);

/** The list that another endpoint of this process has left for an intracommunicator, if it has:
 * then there is no need to put one together.  Any thread.
 *
 * @param[in] group  of the communicator
 * @return one reference, or NULL */
mca_pml_epml_peers_t *mca_pml_epml_shared_peers_finded(uint64_t context, ompi_group_t *group);

/** The last reference on a shared list is gone. */
void mca_pml_epml_peers_forget(mca_pml_epml_peers_t *peers);
void mca_pml_epml_shared_peers_finalize(void);

/** Make the members of group from those of two known sides; first counts where both have one.
 *
 * @param[out] peers_p  one reference
 * @return OMPI_SUCCESS; MPI_ERR_GROUP if a member is in neither; OMPI_ERR_OUT_OF_RESOURCE */
int mca_pml_epml_peers_for_group(ompi_group_t *group, mca_pml_epml_peers_t *first,
                                 mca_pml_epml_peers_t *second, mca_pml_epml_peers_t **peers_p);

/** A communicator goes whose members may still ask this process for an answer: the local peers
 * among them can be found as long as they are of the EPML_KEPT last ones.  Any thread. */
void mca_pml_epml_former_peers_add(const mca_pml_epml_peers_t *peers);

/** No peer asks any more. */
void mca_pml_epml_former_peers_finalize(void);

/** All peers are gone: give up what numbers them. */
void mca_pml_epml_peers_finalize(void);

/** The array that goes with a list of peers, made at first use.  Several threads may ask at once:
 * handles of one list are each made by their own.  @return one reference, or NULL (no memory) */
mca_pml_epml_procs_t *mca_pml_epml_procs_of(mca_pml_epml_peers_t *peers);

/** Give up a reference; the last one gives up the procs.  Any thread. */
void mca_pml_epml_procs_release(mca_pml_epml_procs_t *procs);

END_C_DECLS

#endif /* MCA_PML_EPML_PEER_H */
