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
 * MPI_Comm_split_type with MPIX_COMM_TYPE_ADDRESS_SPACE: who shares this process's memory?
 *
 * What shares an address space is on one host, so libmpi first splits by host, which also sees to
 * those who give MPI_UNDEFINED or another type; the rest is a split by process, which everybody can
 * tell from a member's name.
 *
 * Not a seam: programs call this function themselves, and find ours first because the library is
 * linked before libmpi.  In a program that loaded libmpi first, the type is an error.
 *
 * Source: draft of chapter 12 for MPI 3 (MPI_COMM_TYPE_ADDRESS_SPACE); MPI Forum, issue 31.
 */

#include "ompi_config.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_c.h"
#include "ompi/mpiext/endpoints/c/mpiext_endpoints_cid.h"
#include "ompi/mpiext/endpoints/c/mpiext_endpoints_compat.h"
#include "ompi/mpiext/endpoints/c/mpiext_endpoints_internal.h"

#include "ompi/constants.h"
#include "ompi/errhandler/errhandler.h"
#include "ompi/info/info.h"
#include "ompi/proc/proc.h"

static const char function_name[] = "MPI_Comm_split_type";

typedef int (*split_type_fn_t)(MPI_Comm comm, int split_type, int key, MPI_Info info,
                               MPI_Comm *newcomm);

/** Names of processes or endpoints, of any job: do they share memory? */
static bool same_address_space(opal_process_name_t name1, opal_process_name_t name2)
{
    uint32_t processes = mpix_endpoints_job_size();

    if (name1.jobid != name2.jobid) {
        return false;
    }
    return ompi_proc_local_proc->super.proc_name.jobid == name1.jobid
               ? name1.vpid % processes == name2.vpid % processes
               : name1.vpid == name2.vpid;
}

/** The first member of a group that shares memory with name, or the group's size. */
static int first_of_address_space(ompi_group_t *group, opal_process_name_t name)
{
    int rank = 0;

    while (rank < group->grp_proc_count
           && !same_address_space(ompi_group_get_proc_name(group, rank), name)) {
        ++rank;
    }
    return rank;
}

/** A colour for this member's address space, the same on all members that are in it, on either side
 * of an intercommunicator: the first of them, counted through both groups. */
static int address_space_colour(ompi_communicator_t *comm)
{
    opal_process_name_t own = ompi_group_get_proc_name(comm->c_local_group, ompi_comm_rank(comm));
    ompi_group_t *first = comm->c_local_group, *second = comm->c_remote_group;
    int colour;

    if (OMPI_COMM_IS_INTER(comm) && !mpix_endpoints_cid_local_draws(comm)) {
        first = comm->c_remote_group;
        second = comm->c_local_group;
    }
    colour = first_of_address_space(first, own);
    return colour < first->grp_proc_count ? colour
                                          : colour + first_of_address_space(second, own);
}

static int split_address_spaces(ompi_communicator_t *comm, int key, MPI_Info info,
                                ompi_communicator_t **newcomm)
{
    ompi_communicator_t *host = MPI_COMM_NULL;
    int rc = ompi_comm_split_type(comm, OMPI_COMM_TYPE_HOST, key, &info->super, &host);

    *newcomm = MPI_COMM_NULL;
    if (OMPI_SUCCESS != rc || MPI_COMM_NULL == host) {
        return rc;
    }
    if (OMPI_COMM_IS_INTRA(host) || 0 < ompi_comm_remote_size(host)) {
        rc = ompi_comm_split(host, address_space_colour(host), ompi_comm_rank(host), newcomm,
                             false);
    }
    (void) ompi_comm_free(&host);
    return rc;
}

MPIX_ENDPOINTS_EXPORT int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key,
                                               MPI_Info info, MPI_Comm *newcomm)
{
    int rc;

    if (MPIX_COMM_TYPE_ADDRESS_SPACE != split_type) {
        static _Atomic(void *) found;
        split_type_fn_t original
            = (split_type_fn_t) mpix_endpoints_next_function("PMPI_Comm_split_type", &found);

        return NULL != original ? original(comm, split_type, key, info, newcomm)
                                : MPI_ERR_INTERN;
    }
    if (0 == ompi_instance_count) {
        return OMPI_ERRHANDLER_NOHANDLE_INVOKE(MPI_ERR_OTHER, function_name);
    }
    if (ompi_comm_invalid(comm)) {
        return OMPI_ERRHANDLER_NOHANDLE_INVOKE(MPI_ERR_COMM, function_name);
    }
    if (NULL == info || ompi_info_is_freed(info)) {
        return OMPI_ERRHANDLER_INVOKE(comm, MPI_ERR_INFO, function_name);
    }
    if (NULL == newcomm) {
        return OMPI_ERRHANDLER_INVOKE(comm, MPI_ERR_ARG, function_name);
    }
    rc = split_address_spaces(comm, key, info, newcomm);
    OMPI_ERRHANDLER_RETURN(rc, comm, rc, function_name);
}

#pragma weak MPI_Comm_split_type = PMPI_Comm_split_type
