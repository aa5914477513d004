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
 * What is counted of a handle: its calls, by kind and by the way that they have gone.  The performance
 * variables (coll_epcoll_variables.c) are sums of these.
 *
 * Tests: variables
 */

#ifndef MCA_COLL_EPCOLL_COUNT_H
#define MCA_COLL_EPCOLL_COUNT_H

#include "ompi_config.h"

#include "coll_epcoll.h"

BEGIN_C_DECLS

/**
 * A call begins.  Counted by the handle's thread alone, in memory that it writes anyway: no atomic
 * read-modify-write.
 */
static inline void mca_coll_epcoll_count(mca_coll_epcoll_handle_t *handle,
                                         mca_coll_epcoll_kind_t kind, mca_coll_epcoll_way_t way)
{
    _Atomic uint64_t *count = &handle->counts[kind][way];

    /* Relaxed, as the load in coll_epcoll_variables.c: nothing else is read by it. */
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_COUNT_H */
