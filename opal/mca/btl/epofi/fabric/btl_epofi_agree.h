/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Which address a process takes: the choice itself, apart from where the addresses come from.
 * Standalone, so that its test has nodes of its own.
 */

#ifndef MCA_BTL_EPOFI_AGREE_H
#define MCA_BTL_EPOFI_AGREE_H

#include "opal/mca/common/ep/common_ep_net.h"

/**
 * Choose an address of one's own node.  With the same nodes in the same order, all processes choose
 * the same network, if there is one.
 *
 * @param[in]  nodes  each network stack once, in the same order everywhere
 * @param[in]  count  1 and more
 * @param[in]  own    which of them is one's own
 * @param[out] why_p  in words
 *
 * @return in nodes[own]; NULL: none is better than another
 */
const ep_net_address_t *mca_btl_epofi_agree(ep_net_node_t *const *nodes, size_t count, size_t own,
                                            const char **why_p);

/** Why another address of one's own node was not chosen.  Arguments as above.  @return in words */
const char *mca_btl_epofi_agree_why_not(ep_net_node_t *const *nodes, size_t count, size_t own,
                                        const ep_net_address_t *address,
                                        const ep_net_address_t *chosen);

#endif /* MCA_BTL_EPOFI_AGREE_H */
