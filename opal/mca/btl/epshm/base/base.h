/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What both layers above stand on: the parameters, the help texts, what a short message is, and
 * btl_sendi.
 *
 * Called by all.  Knows no receive queue and no pipe, and sends nothing itself.
 *
 * Below it: nothing.
 */

#ifndef MCA_BTL_EPSHM_BASE_LAYER_H
#define MCA_BTL_EPSHM_BASE_LAYER_H

#include "btl_epshm.h"
#include "btl_epshm_copy.h"
#include "btl_epshm_sendi.h"
#include "btl_epshm_short.h"

#endif /* MCA_BTL_EPSHM_BASE_LAYER_H */
