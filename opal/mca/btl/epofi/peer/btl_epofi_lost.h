/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * How long a peer is waited for, and what happens when it is gone.
 */

#ifndef MCA_BTL_EPOFI_LOST_H
#define MCA_BTL_EPOFI_LOST_H

#include "opal_config.h"

#include "../object/object.h"

BEGIN_C_DECLS

/** The provider had no room: say so if that has been going on for long.  Slow path.
 * @return OPAL_ERR_OUT_OF_RESOURCE */
int mca_btl_epofi_endpoint_stalled(struct mca_btl_base_endpoint_t *endpoint);

/** Declare the peer gone and tell the owner; the first time also the user, and the peer, if it is
 * still there.
 * @param[in] error   libfabric's error, positive
 * @param[in] detail  what the provider adds */
void mca_btl_epofi_endpoint_fail(struct mca_btl_base_endpoint_t *endpoint, int error,
                                 const char *detail);

/** Likewise, if its process has ended. */
void mca_btl_epofi_endpoint_died(struct mca_btl_base_endpoint_t *endpoint, int error,
                                 const char *detail);

/** What a refused libfabric call means for its caller; handles all but success.  A route that is
 * not there, and whatever else may pass, is no more than a reason to try again.
 * @param[in] result  of the call, negative
 * @return OPAL_ERR_OUT_OF_RESOURCE or OPAL_ERR_UNREACH */
int mca_btl_epofi_endpoint_refused(struct mca_btl_base_endpoint_t *endpoint, ssize_t result);

/** Nothing is there any more where a peer was: may its process live all the same, by what the
 * launcher says?  Asks the owner, and may take a moment. */
bool mca_btl_epofi_endpoint_may_live(struct mca_btl_base_endpoint_t *endpoint);

/** Nothing comes: tell the user if that is because a host does not answer.  Slow path. */
void mca_btl_epofi_endpoint_watch_hosts(mca_btl_epofi_module_t *module);

/** Connections to a peer have been refused: give it up if that shows that it is gone.  May ask the
 * owner what the launcher says, and take a moment.  The second: all peers, if there has been a
 * refusal since the last call. */
void mca_btl_epofi_endpoint_judge(struct mca_btl_base_endpoint_t *endpoint);
void mca_btl_epofi_endpoint_judge_all(mca_btl_epofi_module_t *module);

/** Operations to peers have been under way for long without a completion: say so.  Slow path. */
void mca_btl_epofi_endpoint_watch(mca_btl_epofi_module_t *module);

/** End what is under way to peers that were given up some time ago. */
void mca_btl_epofi_endpoint_end_abandoned(mca_btl_epofi_module_t *module);

/** Operations to peers that are not gone.  Slow. */
uint32_t mca_btl_epofi_endpoint_awaited(const mca_btl_epofi_module_t *module);

/** See mca_btl_ep_abandon_fn_t. */
void mca_btl_epofi_abandon(mca_btl_ep_module_t *module, struct mca_btl_base_endpoint_t *endpoint);

END_C_DECLS

#endif /* MCA_BTL_EPOFI_LOST_H */
