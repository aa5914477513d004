/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Peers: connecting and disconnecting, and what is under way to them.
 */

#ifndef MCA_BTL_EPOFI_ENDPOINT_H
#define MCA_BTL_EPOFI_ENDPOINT_H

#include "opal_config.h"

#include "../object/object.h"

BEGIN_C_DECLS

/** The endpoint with this address, which may come off the wire.  It holds no further reference:
 * forget it with mca_btl_epofi_endpoint_retire if it has none.
 * @return OPAL_SUCCESS; OPAL_ERR_BAD_PARAM; OPAL_ERR_OUT_OF_RESOURCE; OPAL_ERR_UNREACH, said why */
int mca_btl_epofi_endpoint_at(mca_btl_epofi_module_t *module, const void *address, size_t length,
                              struct mca_btl_base_endpoint_t **endpoint_p);

int mca_btl_epofi_connect(mca_btl_ep_module_t *module, const void *address, size_t length,
                          struct mca_btl_base_endpoint_t **endpoint_p);
void mca_btl_epofi_disconnect(mca_btl_ep_module_t *module,
                              struct mca_btl_base_endpoint_t *endpoint);

/** The module ends, and its context does not: forget the addresses of endpoints.
 *
 * @param[in] is_over  nothing is under way any more, whatever endpoints have counted; else
 *                     endpoints with operations under way stay, as the provider knows them */
void mca_btl_epofi_endpoint_leave_all(mca_btl_epofi_module_t *module, bool is_over);

/** Forget all endpoints; nothing is under way any more. */
void mca_btl_epofi_endpoint_free_all(mca_btl_epofi_module_t *module);

/** An endpoint that the owner does not know of, to send something to a peer that it has been
 * connected to before; forget it with mca_btl_epofi_endpoint_retire.  @return NULL: cannot be
 * had */
struct mca_btl_base_endpoint_t *mca_btl_epofi_endpoint_again(mca_btl_epofi_module_t *module,
                                                             const mca_btl_epofi_pair_t *pair);

/** May a peer be asked?  Where there has been no message between the two this takes a connection:
 * of these there are so many (btl_epofi_quiet) of all modules of the process.
 * @param[in] connect  may this one become one of them? */
bool mca_btl_epofi_endpoint_may_check_liveness(struct mca_btl_base_endpoint_t *endpoint,
                                               bool connect);

/** An operation to the peer ended: forget the peer if that is what was waited for. */
void mca_btl_epofi_endpoint_retire(struct mca_btl_base_endpoint_t *endpoint);

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
