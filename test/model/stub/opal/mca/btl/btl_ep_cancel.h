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
/** @file  Nobody is cancelled in a model. */

#ifndef MCA_BTL_EP_CANCEL_H
#define MCA_BTL_EP_CANCEL_H

#define MCA_BTL_EP_HOLD_CANCEL() ((void) 0)

#endif /* MCA_BTL_EP_CANCEL_H */
