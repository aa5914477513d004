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
 * The layer pending: nonblocking and persistent collectives.
 */

#ifndef MCA_COLL_EPCOLL_PENDING_PENDING_H
#define MCA_COLL_EPCOLL_PENDING_PENDING_H

#include "coll_epcoll_pending.h"
#include "coll_epcoll_side.h"

#endif /* MCA_COLL_EPCOLL_PENDING_PENDING_H */
