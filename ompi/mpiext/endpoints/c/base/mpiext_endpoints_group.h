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
 * Groups: whose they are.
 */

#ifndef MPIEXT_ENDPOINTS_GROUP_H
#define MPIEXT_ENDPOINTS_GROUP_H

#include "ompi_config.h"

#include "ompi/group/group.h"

BEGIN_C_DECLS

/** The member that a group belongs to, or NULL: the group's owner is not in it.  Procs are unique
 * in a process.  The group keeps it alive. */
static inline ompi_proc_t *mpix_endpoints_group_owner(const ompi_group_t *group)
{
    return MPI_UNDEFINED != group->grp_my_rank
               ? ompi_group_get_proc_ptr_raw(group, group->grp_my_rank)
               : NULL;
}

/** The rank of a proc in a group, or MPI_UNDEFINED. */
static inline int mpix_endpoints_group_rank_of(const ompi_group_t *group, const ompi_proc_t *proc)
{
    for (int i = 0; i < group->grp_proc_count; ++i) {
        if (proc == ompi_group_get_proc_ptr_raw(group, i)) {
            return i;
        }
    }
    return MPI_UNDEFINED;
}

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_GROUP_H */
