/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What stands on nothing of ours: the table that pml/epml has registered, error codes, help texts,
 * the end of the job, groups, tables of handles, reductions, what
 * the other side of a connection is sent, what differs between Open MPIs, and where our
 * components are.
 *
 * Called by all.  Stands in for no function of libmpi's but, in 5.0, the two pointers by which it
 * shows help texts.
 *
 * Below it: nothing.
 */

#ifndef MPIEXT_ENDPOINTS_BASE_LAYER_H
#define MPIEXT_ENDPOINTS_BASE_LAYER_H

#include "mpiext_endpoints_compat.h"
#include "mpiext_endpoints_end.h"
#include "mpiext_endpoints_errors.h"
#include "mpiext_endpoints_help.h"
#include "mpiext_endpoints_ompio.h"
#include "mpiext_endpoints_port.h"
#include "mpiext_endpoints_reduce.h"
#include "mpiext_endpoints_table.h"
#include "mpiext_endpoints_told.h"

#include "ompi/mca/common/ep/common_ep_array.h"
#include "ompi/mca/common/ep/common_ep_group.h"

#endif /* MPIEXT_ENDPOINTS_BASE_LAYER_H */
