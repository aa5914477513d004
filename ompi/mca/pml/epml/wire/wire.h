/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * How to reach a peer: the transports and their modules, connections and which of them are lost, a
 * message now or in order later (pending queues), and keeping back a flood of them (flow).
 *
 * Called by protocols.  Does not know what a message means, but for the flow's own.
 *
 * Below it: object, base.
 */

#ifndef MCA_PML_EPML_WIRE_LAYER_H
#define MCA_PML_EPML_WIRE_LAYER_H

#include "pml_epml_connection.h"
#include "pml_epml_flow.h"
#include "pml_epml_transmit.h"
#include "pml_epml_transport.h"
#include "pml_epml_ep_transports.h"

#endif /* MCA_PML_EPML_WIRE_LAYER_H */
