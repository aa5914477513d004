/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Groups: whose they are.
 */

#ifndef OMPI_COMMON_EP_GROUP_H
#define OMPI_COMMON_EP_GROUP_H

#include "ompi_config.h"

#include "ompi/communicator/communicator.h"
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

/** Does the local group of an intercommunicator come first, by a rule that gives both sides the same
 * answer?  It then draws the ids for both. */
static inline bool mpix_endpoints_group_local_draws(const ompi_communicator_t *comm)
{
    const opal_process_name_t local = ompi_group_get_proc_name(comm->c_local_group, 0);
    const opal_process_name_t remote = ompi_group_get_proc_name(comm->c_remote_group, 0);

    return local.jobid != remote.jobid ? local.jobid < remote.jobid : local.vpid < remote.vpid;
}

END_C_DECLS

#endif /* OMPI_COMMON_EP_GROUP_H */
