/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Comparing communicators and groups: of endpoints, the calling endpoint counts, not the process.
 *
 * Two handles of one communicator may stand for different endpoints, and two groups of the same
 * members may belong to different ones: MPIX_ALIASED.  libmpi compares members only, and takes the
 * handles for communicators with the same members.
 *
 * Source: Dinan et al. 2014, section 3.2; MPI Forum ticket 380, draft of March 2015 (communicators
 * and groups; "similar" groups of different members are unequal).
 *
 * Tests: comm_bridge, comm_groups
 */

#include "ompi_config.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_c.h"
#include "../base/base.h"
#include "hooks.h"

#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/group/group.h"

int MPIX_ENDPOINTS_HOOK(ompi_group_compare)(ompi_group_t *group1, ompi_group_t *group2, int *result)
{
    int rc = MPIX_ENDPOINTS_ORIGINAL(ompi_group_compare)(group1, group2, result);

    if (OMPI_SUCCESS != rc || NULL == mpix_endpoints_table() || MPI_UNEQUAL == *result
        || mpix_endpoints_group_owner(group1) == mpix_endpoints_group_owner(group2)) {
        return rc;
    }
    *result = MPI_IDENT == *result ? MPIX_ALIASED : MPI_UNEQUAL;
    return rc;
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_group_compare);

/** The worse of two results for groups as one for communicators. */
static int compare_groups(ompi_group_t *group1, ompi_group_t *group2, int so_far)
{
    int result = MPI_UNEQUAL;

    (void) MPIX_ENDPOINTS_ORIGINAL(ompi_group_compare)(group1, group2, &result);
    if (MPI_IDENT == result) {
        result = MPI_CONGRUENT;
    }
    return result > so_far ? result : so_far;
}

/** Two valid communicators, at least one of endpoints. */
static int compare_endpoints(const ompi_communicator_t *comm1, const ompi_communicator_t *comm2)
{
    int result;

    if (comm1 == comm2) {
        return MPI_IDENT;
    }
    /* The context, which all handles of a communicator share; ordinary ones never have ours. */
    if (comm1->c_contextid.cid_base == comm2->c_contextid.cid_base) {
        return MPIX_ALIASED;
    }
    if (OMPI_COMM_IS_INTER(comm1) != OMPI_COMM_IS_INTER(comm2)) {
        return MPI_UNEQUAL;
    }
    result = compare_groups(comm1->c_local_group, comm2->c_local_group, MPI_CONGRUENT);
    return OMPI_COMM_IS_INTER(comm1)
               ? compare_groups(comm1->c_remote_group, comm2->c_remote_group, result)
               : result;
}

int MPIX_ENDPOINTS_HOOK(ompi_comm_compare)(ompi_communicator_t *comm1, ompi_communicator_t *comm2,
                                           int *result)
{
    if (OPAL_LIKELY(!mpix_endpoints_is_endpoint_comm(comm1)
                    && !mpix_endpoints_is_endpoint_comm(comm2))) {
        return MPIX_ENDPOINTS_ORIGINAL(ompi_comm_compare)(comm1, comm2, result);
    }
    *result = MPI_COMM_NULL == comm1 || MPI_COMM_NULL == comm2 ? MPI_UNEQUAL
                                                               : compare_endpoints(comm1, comm2);
    return OMPI_SUCCESS;
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_comm_compare);

_Static_assert(MPI_IDENT < MPI_CONGRUENT && MPI_CONGRUENT < MPI_SIMILAR
                   && MPI_SIMILAR < MPI_UNEQUAL,
               "compare_groups takes the larger for the worse");
