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
 * The layer direct: collectives in which each block is one message.
 */

#ifndef MCA_COLL_EPCOLL_DIRECT_DIRECT_H
#define MCA_COLL_EPCOLL_DIRECT_DIRECT_H

#include "coll_epcoll_blocks.h"
#include "coll_epcoll_direct.h"
#include "coll_epcoll_peers.h"

#endif /* MCA_COLL_EPCOLL_DIRECT_DIRECT_H */
