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
 * Peers: addresses, connecting and disconnecting, patience, and what happens when a peer is gone.
 */

#ifndef MCA_BTL_EPOFI_ENDPOINT_H
#define MCA_BTL_EPOFI_ENDPOINT_H

#include "opal_config.h"

#include "../object/object.h"

BEGIN_C_DECLS

/** Fill in the module's ep_address from its enabled libfabric endpoint. */
int mca_btl_epofi_address_publish(mca_btl_epofi_module_t *module);

/** The endpoint of whoever has this address, which may come off the wire.  With no reference more:
 * forget it with mca_btl_epofi_endpoint_retire if it has none.
 * @return OPAL_SUCCESS; OPAL_ERR_BAD_PARAM; OPAL_ERR_OUT_OF_RESOURCE; OPAL_ERR_UNREACH, said why */
int mca_btl_epofi_endpoint_at(mca_btl_epofi_module_t *module, const void *address, size_t length,
                              struct mca_btl_base_endpoint_t **endpoint_p);

int mca_btl_epofi_connect(mca_btl_ep_module_t *module, const void *address, size_t length,
                          struct mca_btl_base_endpoint_t **endpoint_p);
void mca_btl_epofi_disconnect(mca_btl_ep_module_t *module,
                              struct mca_btl_base_endpoint_t *endpoint);

/** Forget all endpoints; nothing is under way any more. */
void mca_btl_epofi_endpoint_free_all(mca_btl_epofi_module_t *module);

/** An endpoint that the owner does not know of, to send something to a peer that it has been
 * connected to before; forget it with mca_btl_epofi_endpoint_retire.  @return NULL: cannot be had */
struct mca_btl_base_endpoint_t *mca_btl_epofi_endpoint_again(mca_btl_epofi_module_t *module,
                                                             const mca_btl_epofi_pair_t *pair);

/** An operation to the peer ended: forget the peer if that is what was waited for. */
void mca_btl_epofi_endpoint_retire(struct mca_btl_base_endpoint_t *endpoint);

/** The provider had no room: say so if that has been going on for long.  Slow path.
 * @return OPAL_ERR_OUT_OF_RESOURCE */
int mca_btl_epofi_endpoint_stalled(struct mca_btl_base_endpoint_t *endpoint);

/** Declare the peer gone and tell the owner; the first time also the user, and the peer, if it is
 * still there.
 * @param[in] error   libfabric's error, positive
 * @param[in] detail  what the provider adds */
void mca_btl_epofi_endpoint_fail(struct mca_btl_base_endpoint_t *endpoint, int error,
                                 const char *detail);

/** What a refused libfabric call means for its caller; handles all but success.
 * @param[in] result  of the call, negative
 * @return OPAL_ERR_OUT_OF_RESOURCE or OPAL_ERR_UNREACH */
int mca_btl_epofi_endpoint_refused(struct mca_btl_base_endpoint_t *endpoint, ssize_t result);

/** Operations to peers have been under way for long without a completion: say so.  Slow path. */
void mca_btl_epofi_endpoint_watch(mca_btl_epofi_module_t *module);

/** End what is under way to peers that were given up some time ago. */
void mca_btl_epofi_endpoint_end_abandoned(mca_btl_epofi_module_t *module);

/** Operations to peers that are not gone.  Slow. */
uint32_t mca_btl_epofi_endpoint_awaited(const mca_btl_epofi_module_t *module);

/** See mca_btl_ep_abandon_fn_t. */
void mca_btl_epofi_abandon(mca_btl_ep_module_t *module, struct mca_btl_base_endpoint_t *endpoint);

/** Who the peer is, and its address, for people.
 * @param[in]  endpoint  NULL: the one that is being connected to, at address
 * @return text */
const char *mca_btl_epofi_describe(mca_btl_epofi_module_t *module,
                                   struct mca_btl_base_endpoint_t *endpoint, const void *address,
                                   char *text, size_t size);

/** Bytes of such a text. */
#define EPOFI_DESCRIBE 512

/* ---- operations ------------------------------------------------------------------------------ */

static inline void mca_btl_epofi_op_started(mca_btl_epofi_module_t *module,
                                            struct mca_btl_base_endpoint_t *endpoint)
{
    ++module->inflight;
    ++endpoint->inflight;
    endpoint->stalled_ns = 0;
}

/** Undo mca_btl_epofi_op_started.  The endpoint may be gone afterwards. */
static inline void mca_btl_epofi_op_ended(mca_btl_epofi_module_t *module,
                                          struct mca_btl_base_endpoint_t *endpoint)
{
    --module->inflight;
    --endpoint->inflight;
    ++endpoint->ends;
    if (OPAL_UNLIKELY(0 == endpoint->references)) {
        mca_btl_epofi_endpoint_retire(endpoint);
    }
}

END_C_DECLS

#endif /* MCA_BTL_EPOFI_ENDPOINT_H */
