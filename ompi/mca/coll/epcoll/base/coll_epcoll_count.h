/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What is counted of a handle: its calls, by kind and by the way that they have gone.  The
 * performance variables (coll_epcoll_variables.c) are sums of these.
 *
 * Tests: variables
 */

#ifndef MCA_COLL_EPCOLL_COUNT_H
#define MCA_COLL_EPCOLL_COUNT_H

#include "ompi_config.h"

#include "coll_epcoll.h"

BEGIN_C_DECLS

_Static_assert(0 == EPCOLL_PATH_SLOTS, "the others are behind it");

/** A handle whose block is there is counted with the process's from now on, and no more. */
void mca_coll_epcoll_count_add(mca_coll_epcoll_handle_t *handle);
void mca_coll_epcoll_count_remove(mca_coll_epcoll_handle_t *handle);

/** Calls of a kind by a way.  Any thread.  @param handle  NULL: of all handles, also those that are
 * gone */
uint64_t mca_coll_epcoll_counted(mca_coll_epcoll_handle_t *handle, int kind, int path);

static inline void mca_coll_epcoll_count_up(_Atomic uint64_t *count)
{
    /* Relaxed, as the loads in coll_epcoll_count.c: the count publishes nothing else. */
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

/** A call begins that is not in slots.  Without memory it is not counted. */
static inline void mca_coll_epcoll_count_other(mca_coll_epcoll_handle_t *handle,
                                               mca_coll_epcoll_kind_t kind,
                                               mca_coll_epcoll_path_t path)
{
    mca_coll_epcoll_lazy_t *lazy = mca_coll_epcoll_lazy(handle);

    if (OPAL_LIKELY(NULL != lazy)) {
        mca_coll_epcoll_count_up(&lazy->calls[path - 1][kind]);
    }
}

/**
 * A call begins.  Counted by the handle's thread alone, in memory that it writes anyway: no atomic
 * read-modify-write.
 */
static inline void mca_coll_epcoll_count(mca_coll_epcoll_handle_t *handle,
                                         mca_coll_epcoll_kind_t kind, mca_coll_epcoll_path_t path)
{
    if (EPCOLL_PATH_SLOTS == path) {
        mca_coll_epcoll_count_up(&handle->small[kind]);
    } else {
        mca_coll_epcoll_count_other(handle, kind, path);
    }
}

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_COUNT_H */
