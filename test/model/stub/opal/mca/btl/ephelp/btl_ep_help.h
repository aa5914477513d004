/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/** @file  A model tells nobody anything. */

#ifndef MCA_BTL_EP_HELP_H
#define MCA_BTL_EP_HELP_H

#define mca_btl_ep_show_help(...) ((void) 0)

#endif /* MCA_BTL_EP_HELP_H */
