/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * An endpoint's communicators, by the context that messages carry.
 *
 * Tests: hint_level, comm_tree, left
 */

#include "ompi_config.h"

#include "pml_epml_comms.h"
#include "pml_epml_lock.h"
#include "pml_epml_types.h"

#include "ompi/constants.h"

int mca_pml_epml_comms_init(mca_pml_epml_ep_t *ep)
{
    OBJ_CONSTRUCT(&ep->comms.table, opal_hash_table_t);
    return opal_hash_table_init(&ep->comms.table, 8);
}

void mca_pml_epml_comms_fini(mca_pml_epml_ep_t *ep)
{
    OBJ_DESTRUCT(&ep->comms.table);
}

int mca_pml_epml_comms_add(mca_pml_epml_comm_t *comm)
{
    return opal_hash_table_set_value_uint64(&comm->ep->comms.table, comm->context, comm);
}

void mca_pml_epml_comm_say_level(mca_pml_epml_comm_t *comm, mca_pml_epml_level_t level)
{
    uint32_t *said = comm->ep->comms.said;
    int highest = EPML_LEVEL_MULTIPLE;

    if (EPML_LEVEL_NONE != comm->level) {
        --said[comm->level];
    }
    if (EPML_LEVEL_NONE != level) {
        ++said[level];
    }
    comm->level = level;
    while (EPML_LEVEL_NONE < highest && 0 == said[highest]) {
        --highest;
    }
    if (EPML_LEVEL_NONE < highest) {
        epml_lock_set_streak(&comm->ep->lock,
                             mca_pml_epml_lock_streak((mca_pml_epml_level_t) highest));
    }
}

void mca_pml_epml_comms_remove(mca_pml_epml_comm_t *comm)
{
    mca_pml_epml_comm_say_level(comm, EPML_LEVEL_NONE);
    (void) opal_hash_table_remove_value_uint64(&comm->ep->comms.table, comm->context);
    comm->ep->comms.recent = NULL;
}

mca_pml_epml_comm_t *mca_pml_epml_comm_find(mca_pml_epml_ep_t *ep, uint64_t context)
{
    mca_pml_epml_comm_t *comm = ep->comms.recent;
    void *found;

    if (OPAL_LIKELY(NULL != comm && context == comm->context)) {
        return comm;
    }
    if (OPAL_SUCCESS
        != opal_hash_table_get_value_uint64(&ep->comms.table, context & ~EPML_AGREE_CONTEXT,
                                            &found)) {
        return NULL;
    }
    comm = found;
    comm->agrees |= 0 != (context & EPML_AGREE_CONTEXT);
    ep->comms.recent = comm;
    return comm;
}

mca_pml_epml_comm_t *mca_pml_epml_comms_next(const mca_pml_epml_ep_t *ep, void **at)
{
    opal_hash_table_t *table = (opal_hash_table_t *) &ep->comms.table;
    void *found, *next = NULL;
    uint64_t context;
    const int rc = NULL == *at
                       ? opal_hash_table_get_first_key_uint64(table, &context, &found, &next)
                       : opal_hash_table_get_next_key_uint64(table, &context, &found, *at, &next);

    *at = next;
    return OPAL_SUCCESS == rc ? found : NULL;
}
