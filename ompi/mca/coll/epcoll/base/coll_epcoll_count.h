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

#include <stdlib.h>

BEGIN_C_DECLS

_Static_assert(0 == EPCOLL_WAY_SMALL, "the others are behind it");

/** Calls of a handle by other ways than slots.  Most handles never have any: they take 272 bytes less. */
typedef struct mca_coll_epcoll_tally_t {
    _Atomic uint64_t of[EPCOLL_WAYS - 1][EPCOLL_KINDS];
} mca_coll_epcoll_tally_t;

/** Where a kind's calls by a way are counted.  @return NULL: nowhere, there have been none */
static inline _Atomic uint64_t *mca_coll_epcoll_count_place(mca_coll_epcoll_handle_t *handle,
                                                            int kind, int way)
{
    mca_coll_epcoll_tally_t *others;

    if (EPCOLL_WAY_SMALL == way) {
        return &handle->small[kind];
    }
    /* Acquire: that they are 0; partner: the release in mca_coll_epcoll_count_more. */
    others = atomic_load_explicit(&handle->others, memory_order_acquire);
    return NULL == others ? NULL : &others->of[way - 1][kind];
}

/** The first call of a handle that is not in slots.  Without memory they are not counted. */
static __attribute__((noinline, cold, unused)) _Atomic uint64_t *mca_coll_epcoll_count_more(
    mca_coll_epcoll_handle_t *handle, int kind, int way)
{
    /* Release: that they are 0; partner: the acquire in mca_coll_epcoll_count_place. */
    atomic_store_explicit(&handle->others, calloc(1, sizeof(mca_coll_epcoll_tally_t)),
                          memory_order_release);
    return mca_coll_epcoll_count_place(handle, kind, way);
}

/**
 * A call begins.  Counted by the handle's thread alone, in memory that it writes anyway: no atomic
 * read-modify-write.
 */
static inline void mca_coll_epcoll_count(mca_coll_epcoll_handle_t *handle,
                                         mca_coll_epcoll_kind_t kind, mca_coll_epcoll_way_t way)
{
    _Atomic uint64_t *count = mca_coll_epcoll_count_place(handle, kind, way);

    if (OPAL_UNLIKELY(NULL == count)) {
        count = mca_coll_epcoll_count_more(handle, kind, way);
        if (NULL == count) {
            return;
        }
    }
    /* Relaxed, as the load in coll_epcoll_variables.c: nothing else is read by it. */
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_COUNT_H */
