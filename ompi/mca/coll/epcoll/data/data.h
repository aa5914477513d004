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
 * The layer data: typed buffers, and reductions of them.
 */

#ifndef MCA_COLL_EPCOLL_DATA_DATA_H
#define MCA_COLL_EPCOLL_DATA_DATA_H

#include "coll_epcoll_buffer.h"
#include "coll_epcoll_reduce.h"

#endif /* MCA_COLL_EPCOLL_DATA_DATA_H */
