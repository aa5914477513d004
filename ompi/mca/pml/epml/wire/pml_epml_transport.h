/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The transports and their modules: pml_epml_transport.c.
 */

#ifndef MCA_PML_EPML_TRANSPORT_H
#define MCA_PML_EPML_TRANSPORT_H

#include "ompi_config.h"

#include "../object/object.h"

BEGIN_C_DECLS

/** What a transport's modules call: see common_ep_btl.h. */
typedef struct mca_pml_epml_upcalls_t {
    mca_btl_base_module_recv_cb_fn_t arrived; /**< any message */
    mca_btl_ep_receive_bare_fn_t arrived_bare;
    mca_btl_ep_receive_zcopy_fn_t arrived_zcopy, arrived_on_node;
    mca_btl_ep_returned_fn_t returned;
    mca_btl_ep_lost_fn_t lost;
    mca_btl_ep_lives_fn_t lives;
    mca_btl_ep_lost_sender_fn_t lost_sender;
    mca_btl_ep_describe_fn_t describe;
    mca_btl_ep_meet_fn_t meet;
} mca_pml_epml_upcalls_t;

/** Open the component that every endpoint needs; that of the network is opened when the first
 * module of it is asked for.  Idempotent, any thread; what is wrong has been said.
 *
 * @param[in] upcalls  always the same; for good */
int mca_pml_epml_transports_open(const mca_pml_epml_upcalls_t *upcalls);
void mca_pml_epml_transports_close(void);

/** Let a component that is open tell what it has chosen.  The caller has an endpoint, or comes
 * before the PML goes.
 *
 * @param[in] net  that of the network; else that of shared memory */
void mca_pml_epml_transports_report(uint32_t flags, bool net, mca_btl_ep_tell_fn_t tell,
                                    void *context);

/** Which network others reach endpoints by; see mca_btl_ep_network_fn_t.  The caller is as that of
 * the function before.
 *
 * @return OMPI_SUCCESS, or an error: there is none */
int mca_pml_epml_transports_network(char *provider, char *interface);

/** A module of a transport, new or, of the network, left by an endpoint that is gone.
 * @return OMPI_SUCCESS or an error; OMPI_ERR_NOT_AVAILABLE: the transport cannot be used */
int mca_pml_epml_transport_get(mca_pml_epml_transport_t transport, mca_pml_epml_ep_t *ep,
                               mca_btl_ep_module_t **module_p);

/** The endpoint needs it no longer.  One of the network is kept for the next endpoint: it may still
 * be delivering, and costs time to make. */
void mca_pml_epml_transport_put(mca_pml_epml_transport_t transport, mca_btl_ep_module_t *module);

/** Endpoints that the network has room for.  See mca_btl_ep_context_limit_fn_t. */
void mca_pml_epml_net_room(int *optimal, int *maximum);

/** Open contexts of the network for endpoints to come, no more than it has; fewer if something
 * fails, of which the first endpoint that misses one will tell.  The transports are open. */
void mca_pml_epml_net_reserve(int count);

/** How many of them were opened. */
int mca_pml_epml_net_reserved(void);

/** Memory of the node, if its component has any to share.  See mca_btl_ep_memory_get_fn_t. */
int mca_pml_epml_node_memory_get(const mca_btl_ep_memory_name_t *name, size_t size,
                                 unsigned int processes, bool reserve,
                                 mca_btl_ep_memory_t **memory_p);

/** Copy to or from memory of another process of the node.  See mca_btl_ep_copy_fn_t. */
int mca_pml_epml_node_copy(const void *address, size_t length, void *local, uint64_t remote,
                           size_t size, bool to_remote);

/** Progress the kept modules.  @return number of events */
int mca_pml_epml_net_progress_kept(void);

int mca_pml_epml_shm_create(mca_pml_epml_ep_t *ep, mca_btl_ep_module_t **module_p);

END_C_DECLS

#endif /* MCA_PML_EPML_TRANSPORT_H */
