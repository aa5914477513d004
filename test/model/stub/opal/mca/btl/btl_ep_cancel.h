/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/** @file  Nobody is cancelled in a model. */

#ifndef MCA_BTL_EP_CANCEL_H
#define MCA_BTL_EP_CANCEL_H

#define MCA_BTL_EP_HOLD_CANCEL() ((void) 0)

#endif /* MCA_BTL_EP_CANCEL_H */
