/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Adding to Open MPI's tables by many threads.
 *
 * Every handle of MPI (a communicator, a group, an info, ...) has a slot in a table of its process,
 * an opal_pointer_array_t.  Open MPI's opal_pointer_array_add looks at the table's size before it
 * takes the table's lock.  If by then others have made the table larger and filled it up, it
 * "grows" the table to what it has already, or to less, and writes behind its end.
 *
 * Tests: handles
 */

#ifndef OMPI_COMMON_EP_ARRAY_H
#define OMPI_COMMON_EP_ARRAY_H

#include "ompi_config.h"

#include "opal/class/opal_pointer_array.h"
#include "opal/constants.h"

BEGIN_C_DECLS

/** Where the table is likely to have a free slot, behind a given one. */
static inline int mpix_endpoints_array_free(opal_pointer_array_t *table, int behind)
{
    int first;

    OPAL_THREAD_LOCK(&table->lock);
    first = table->lowest_free;
    OPAL_THREAD_UNLOCK(&table->lock);
    return first > behind ? first : behind + 1;
}

/**
 * What opal_pointer_array_add promises, for any thread: by OPAL's function for a given slot, which
 * looks at everything under the lock.  Another thread may take that slot first; then a later one is
 * tried, so that a call ends after at most as many turns as there are slots.
 *
 * @param[in] table    a table that has been constructed
 * @param[in] pointer  what is added; not NULL, which would mean a free slot
 *
 * @return its slot, or OPAL_ERR_OUT_OF_RESOURCE if the table cannot grow
 */
static inline int mpix_endpoints_array_add(opal_pointer_array_t *table, void *pointer)
{
    int slot = -1;

    do {
        slot = mpix_endpoints_array_free(table, slot);
        if (opal_pointer_array_test_and_set_item(table, slot, pointer)) {
            return slot;
        }
        /* It is taken, or the table could not be made so large. */
    } while (slot < opal_pointer_array_get_size(table));
    return OPAL_ERR_OUT_OF_RESOURCE;
}

END_C_DECLS

#endif /* OMPI_COMMON_EP_ARRAY_H */
