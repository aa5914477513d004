/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The layer data: typed buffers, and reductions of them.
 */

#ifndef MCA_COLL_EPCOLL_DATA_DATA_H
#define MCA_COLL_EPCOLL_DATA_DATA_H

#include "coll_epcoll_buffer.h"
#include "coll_epcoll_reduce.h"

#endif /* MCA_COLL_EPCOLL_DATA_DATA_H */
