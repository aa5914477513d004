/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Groups: the caller's rank in a new group.
 *
 * libmpi derives groups from groups and then looks for "me" by the process's own proc
 * (ompi_proc_local_proc).  An endpoint's groups have another proc as "me", and the process's own
 * proc in the same group is somebody else, namely the endpoint at index 0.  So the rank that libmpi
 * has found is the right one only if the source group's "me" is the process's own proc; otherwise
 * it is looked for again.
 *
 * Ordinary groups pay for one comparison of pointers.  The new group is not yet known to anybody
 * else, so nothing needs protecting; MPI_GROUP_EMPTY is shared and never written.
 *
 * Tests: comm_groups
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "../interpose/interpose.h"
#include "hooks.h"

#include "ompi/constants.h"
#include "ompi/group/group.h"
#include "ompi/proc/proc.h"

/**
 * The member that two groups belong to.  A program may not mix groups of different members in one
 * call, but a group of the process (of MPI_COMM_WORLD, say) may meet one of its endpoints: then the
 * call is made for the endpoint.
 */
static ompi_proc_t *groups_me(const ompi_group_t *group1, const ompi_group_t *group2)
{
    ompi_proc_t *me1 = mpix_endpoints_group_owner(group1);
    ompi_proc_t *me2 = mpix_endpoints_group_owner(group2);

    return NULL == me1 || (ompi_proc_local_proc == me1 && NULL != me2) ? me2 : me1;
}

/** Give a new group the rank of its owner, unless libmpi has found it already.  Without an owner
 * (the remote group of an intercommunicator, or what is left without oneself) it has none, even if
 * the process's own proc is in it. */
static void group_set_me(ompi_group_t *group, const ompi_proc_t *me)
{
    if (OPAL_LIKELY(ompi_proc_local_proc == me) || MPI_GROUP_EMPTY == group
        || NULL == mpix_endpoints_table()) {
        return;
    }
    group->grp_my_rank = NULL != me ? mpix_endpoints_group_rank_of(group, me) : MPI_UNDEFINED;
}

int MPIX_ENDPOINTS_HOOK(ompi_group_incl_plist)(ompi_group_t *group, int n, const int *ranks,
                                               ompi_group_t **new_group)
{
    int rc;

    if (OPAL_UNLIKELY(mpix_endpoints_probe_is(group))) {
        return mpix_endpoints_probe_came();
    }

    rc = MPIX_ENDPOINTS_ORIGINAL(ompi_group_incl_plist)(group, n, ranks, new_group);
    if (OPAL_LIKELY(OMPI_SUCCESS == rc)) {
        group_set_me(*new_group, mpix_endpoints_group_owner(group));
    }
    return rc;
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_group_incl_plist);

int MPIX_ENDPOINTS_HOOK(ompi_group_union)(ompi_group_t *group1, ompi_group_t *group2,
                                          ompi_group_t **new_group)
{
    int rc = MPIX_ENDPOINTS_ORIGINAL(ompi_group_union)(group1, group2, new_group);

    if (OPAL_LIKELY(OMPI_SUCCESS == rc)) {
        group_set_me(*new_group, groups_me(group1, group2));
    }
    return rc;
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_group_union);

int MPIX_ENDPOINTS_HOOK(ompi_group_intersection)(ompi_group_t *group1, ompi_group_t *group2,
                                                 ompi_group_t **new_group)
{
    int rc = MPIX_ENDPOINTS_ORIGINAL(ompi_group_intersection)(group1, group2, new_group);

    /* libmpi takes the members of the first group (ompi_group_incl_plist), and its owner. */
    if (OPAL_LIKELY(OMPI_SUCCESS == rc)) {
        group_set_me(*new_group, groups_me(group1, group2));
    }
    return rc;
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_group_intersection);

int MPIX_ENDPOINTS_HOOK(ompi_group_difference)(ompi_group_t *group1, ompi_group_t *group2,
                                               ompi_group_t **new_group)
{
    int rc = MPIX_ENDPOINTS_ORIGINAL(ompi_group_difference)(group1, group2, new_group);

    if (OPAL_LIKELY(OMPI_SUCCESS == rc)) {
        group_set_me(*new_group, groups_me(group1, group2));
    }
    return rc;
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_group_difference);
