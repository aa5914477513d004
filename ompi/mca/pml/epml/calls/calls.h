/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI's calls: what the PML's table, libmpi's tables of requests and partitioned communication, and
 * debuggers call.  They wait; the layers below never do.
 *
 * Called by libmpi.
 *
 * Below it: engine, loss, proto, wire, object, base.
 */

#ifndef MCA_PML_EPML_CALLS_LAYER_H
#define MCA_PML_EPML_CALLS_LAYER_H

#include "pml_epml_base_variables.h"
#include "pml_epml_calls.h"
#include "pml_epml_coll.h"
#include "pml_epml_comm.h"
#include "pml_epml_device.h"
#include "pml_epml_dump.h"
#include "pml_epml_hints.h"
#include "pml_epml_hold.h"
#include "pml_epml_ipart.h"
#include "pml_epml_libnbc.h"
#include "pml_epml_module.h"
#include "pml_epml_notes.h"
#include "pml_epml_open.h"
#include "pml_epml_pending.h"
#include "pml_epml_report.h"
#include "pml_epml_acquire.h"
#include "pml_epml_serve.h"
#include "pml_epml_wait.h"

#endif /* MCA_PML_EPML_CALLS_LAYER_H */
