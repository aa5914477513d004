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
/**
 * @file
 *
 * What both sides stand on: the parameters, the help texts, what a usual message is, and btl_sendi.
 *
 * Called by all.  Knows no inbox and no pipe, and sends nothing itself.
 *
 * Below it: nothing.
 */

#ifndef MCA_BTL_EPSHM_BASE_LAYER_H
#define MCA_BTL_EPSHM_BASE_LAYER_H

#include "btl_epshm.h"
#include "btl_epshm_copy.h"
#include "btl_epshm_sendi.h"
#include "btl_epshm_usual.h"

#endif /* MCA_BTL_EPSHM_BASE_LAYER_H */
