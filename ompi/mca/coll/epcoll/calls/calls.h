/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The layer calls: the functions that libmpi calls.
 */

#ifndef MCA_COLL_EPCOLL_CALLS_CALLS_H
#define MCA_COLL_EPCOLL_CALLS_CALLS_H

#include "coll_epcoll_calls.h"
#include "coll_epcoll_guard.h"

#endif /* MCA_COLL_EPCOLL_CALLS_CALLS_H */
