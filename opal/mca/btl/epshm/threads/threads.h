/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Messages between the threads of a process: a receive queue for each module, whose ring all may write to,
 * SPSC rings of one sender each, zero-copy sends, and the copy that two cores make.
 *
 * Called by the component, and through its modules' tables.  Does not know that there are other
 * processes.
 *
 * Below it: base.
 */

#ifndef MCA_BTL_EPSHM_THREADS_LAYER_H
#define MCA_BTL_EPSHM_THREADS_LAYER_H

#include "btl_epshm_types.h"

#endif /* MCA_BTL_EPSHM_THREADS_LAYER_H */
