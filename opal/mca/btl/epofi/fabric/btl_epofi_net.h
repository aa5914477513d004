/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The networks of the node, and which of them is the job's.
 */

#ifndef MCA_BTL_EPOFI_NET_H
#define MCA_BTL_EPOFI_NET_H

#include "opal_config.h"

#include "opal/mca/common/ep/common_ep_net.h"

typedef struct mca_btl_epofi_net_t {
    ep_net_node_t node;               /**< what may be used on this node; count 0: not known */
    ep_net_address_t chosen;          /**< family 0: none */
    size_t nodes;                     /**< hosts of the job that differ; 0: not known */
    const char *why;                  /**< it was chosen, or none was; in words */
    const char *why_not[EP_NET_MOST]; /**< of the node's addresses: likewise; NULL: it was */
} mca_btl_epofi_net_t;

/** Choose among what the nodes of the job have published.  Asks the launcher's daemon on this node,
 * so it may wait for a moment. */
void mca_btl_epofi_net_choose(mca_btl_epofi_net_t *net);

/** Is that the address?  @param[in] sockaddr  of any family */
bool mca_btl_epofi_net_is_chosen(const mca_btl_epofi_net_t *net, const void *sockaddr);

/** Is it one of those that may be used on this node? */
bool mca_btl_epofi_net_may_use(const mca_btl_epofi_net_t *net, const void *sockaddr);

#endif /* MCA_BTL_EPOFI_NET_H */
