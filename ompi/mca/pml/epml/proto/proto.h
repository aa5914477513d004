/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What goes on between two endpoints for one message: eager, rendezvous, fragments, partitioned,
 * taking back; what has arrived is checked and matched here.
 *
 * Started by MPI's calls, gone on with by the engine (resume) and by messages (kinds).  Never
 * waits.
 *
 * Below it: wire, object, base.
 */

#ifndef MCA_PML_EPML_PROTO_LAYER_H
#define MCA_PML_EPML_PROTO_LAYER_H

#include "pml_epml_part.h"
#include "pml_epml_recv.h"
#include "pml_epml_recvfrag.h"
#include "pml_epml_send.h"

#endif /* MCA_PML_EPML_PROTO_LAYER_H */
