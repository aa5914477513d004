/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The layer direct: collectives in which each block is one message.
 */

#ifndef MCA_COLL_EPCOLL_DIRECT_DIRECT_H
#define MCA_COLL_EPCOLL_DIRECT_DIRECT_H

#include "coll_epcoll_blocks.h"
#include "coll_epcoll_direct.h"
#include "coll_epcoll_peers.h"

#endif /* MCA_COLL_EPCOLL_DIRECT_DIRECT_H */
