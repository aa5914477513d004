/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Things with a life: endpoints, peers and lists of them, communicators' states, requests, kinds of
 * messages; their types, their references, the lock that guards them.
 *
 * Called by all that follows.  Knows no protocol: what a request or a message wants, its own table
 * of functions says (mca_pml_epml_request_ops_t, mca_pml_epml_kind_t).  Sends nothing.
 *
 * Below it: base.
 */

#ifndef MCA_PML_EPML_OBJECT_LAYER_H
#define MCA_PML_EPML_OBJECT_LAYER_H

#include "pml_epml_accelerator.h"
#include "pml_epml_buffer.h"
#include "pml_epml_comms.h"
#include "pml_epml_counts.h"
#include "pml_epml_clients.h"
#include "pml_epml_client_request.h"
#include "pml_epml_group.h"
#include "pml_epml_kind.h"
#include "pml_epml_lock.h"
#include "pml_epml_memory.h"
#include "pml_epml_peer.h"
#include "pml_epml_proc.h"
#include "pml_epml_request.h"
#include "pml_epml_request_inline.h"
#include "pml_epml_types.h"
#include "pml_epml_locality.h"

#endif /* MCA_PML_EPML_OBJECT_LAYER_H */
