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
/** @file  A model tells nobody anything. */

#ifndef MCA_BTL_EP_HELP_H
#define MCA_BTL_EP_HELP_H

#define mca_btl_ep_show_help(...) ((void) 0)

#endif /* MCA_BTL_EP_HELP_H */
