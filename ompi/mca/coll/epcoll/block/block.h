/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The layer block: what members of a process share, and the protocols on it.  Standalone.
 */

#ifndef COLL_EPCOLL_BLOCK_BLOCK_H
#define COLL_EPCOLL_BLOCK_BLOCK_H

#include "coll_epcoll_agree.h"
#include "coll_epcoll_ahead.h"
#include "coll_epcoll_alone.h"
#include "coll_epcoll_block.h"
#include "coll_epcoll_meet.h"
#include "coll_epcoll_reuse.h"
#include "coll_epcoll_tell.h"
#include "coll_epcoll_tree.h"
#include "coll_epcoll_work.h"

#endif /* COLL_EPCOLL_BLOCK_BLOCK_H */
