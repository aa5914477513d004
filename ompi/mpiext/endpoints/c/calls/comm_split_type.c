/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Comm_split_type with MPIX_COMM_TYPE_ADDRESS_SPACE: the members that share this process's
 * memory.
 *
 * The members' names show it, so a split by colour does it.  But the call has to be distinguished
 * from libmpi's first: some members may give MPI_UNDEFINED, or another type.  Communicators of
 * endpoints: all members have this library, and agree on the type in each call of
 * MPI_Comm_split_type before libmpi's takes over.  Processes: a member that gives the new type
 * takes libmpi's way by host, then on.  No two processes share an address space, so on an
 * intercommunicator the result is empty.
 *
 * Not a hook: programs call this function themselves, and find ours first because the library is
 * linked before libmpi.  In a program that loaded libmpi first, the type is an error.
 *
 * Source: draft of chapter 12 for MPI 3 (MPI_COMM_TYPE_ADDRESS_SPACE); MPI Forum, issue 31.
 *
 * Tests: comm_bridge
 */

#include "ompi_config.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_c.h"
#include "../base/base.h"
#include "calls.h"
#include "mpiext_endpoints_function.h"

#include "ompi/constants.h"
#include "ompi/errhandler/errhandler.h"
#include "ompi/info/info.h"
#include "ompi/proc/proc.h"

static const char function_name[] = "MPI_Comm_split_type";

/** libmpi's own, with its arguments, but for the type. */
typedef struct libmpi_t {
    mpix_endpoints_split_type_fn_t split_type;
    void *arguments;
} libmpi_t;

/** Names of processes or endpoints, of any job: do they share memory? */
static bool same_address_space(opal_process_name_t name1, opal_process_name_t name2)
{
    const mpix_endpoints_pml_t *table = mpix_endpoints_table();

    return NULL != table ? table->same_process(&name1, &name2)
                         : name1.jobid == name2.jobid && name1.vpid == name2.vpid;
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

    if (OMPI_COMM_IS_INTER(comm) && !mpix_endpoints_group_local_draws(comm)) {
        first = comm->c_remote_group;
        second = comm->c_local_group;
    }
    colour = first_of_address_space(first, own);
    return colour < first->grp_proc_count ? colour : colour + first_of_address_space(second, own);
}

static int split_by_space(ompi_communicator_t *comm, int split_type, int key, MPI_Info info,
                          ompi_communicator_t **newcomm)
{
    int colour = MPI_UNDEFINED == split_type ? MPI_UNDEFINED : address_space_colour(comm);

    return ompi_comm_split_with_info(comm, colour, key, &info->super, newcomm, false);
}

/** What the caller gets unless the call succeeds: errors may find it with anything in it. */
static void no_newcomm(MPI_Comm *newcomm)
{
    if (NULL != newcomm) {
        *newcomm = MPI_COMM_NULL;
    }
}

/* ---- communicators of endpoints -------------------------------------------------------------- */

/** What members may have meant; each word is the maximum over all. */
enum { ASKS_SPACE, ASKS_OTHER, STAYS_OUT, HAS_ERROR, WORDS };

/** The maximum over all members, of both sides. */
static int comm_split_type_agree(ompi_communicator_t *comm, int words[WORDS])
{
    int theirs[WORDS] = {0};
    int rc;

    if (OMPI_COMM_IS_INTRA(comm)) {
        return comm->c_coll->coll_allreduce(MPI_IN_PLACE, words, WORDS, MPI_INT, MPI_MAX, comm,
                                            comm->c_coll->coll_allreduce_module);
    }
    rc = comm->c_coll->coll_allreduce(words, theirs, WORDS, MPI_INT, MPI_MAX, comm,
                                      comm->c_coll->coll_allreduce_module);
    if (OMPI_SUCCESS == rc) {
        ompi_communicator_t *local = comm->c_local_comm;

        rc = local->c_coll->coll_allreduce(MPI_IN_PLACE, words, WORDS, MPI_INT, MPI_MAX, local,
                                           local->c_coll->coll_allreduce_module);
    }
    for (int i = 0; i < WORDS; ++i) {
        words[i] = words[i] < theirs[i] ? theirs[i] : words[i];
    }
    return rc;
}

/**
 * @param[in] bad  MPI_SUCCESS, or what is wrong with this member's arguments; it takes part in the
 *                 agreement all the same, so that nobody waits for it
 */
static int split_endpoints(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm,
                           int bad, const libmpi_t *libmpi)
{
    int words[WORDS] = {[ASKS_SPACE] = MPIX_COMM_TYPE_ADDRESS_SPACE == split_type,
                        [ASKS_OTHER] = MPIX_COMM_TYPE_ADDRESS_SPACE != split_type
                                       && MPI_UNDEFINED != split_type,
                        [STAYS_OUT] = MPI_UNDEFINED == split_type,
                        [HAS_ERROR] = MPI_SUCCESS != bad};
    int rc = comm_split_type_agree(comm, words);

    no_newcomm(newcomm);
    if (MPI_SUCCESS != bad) {
        rc = bad;
    } else if (OMPI_SUCCESS == rc && 0 != words[HAS_ERROR]) {
        rc = MPI_ERR_ARG;
    } else if (OMPI_SUCCESS == rc && 0 != words[ASKS_SPACE]) {
        rc = 0 != words[ASKS_OTHER] ? MPI_ERR_ARG
                                    : split_by_space(comm, split_type, key, info, newcomm);
    } else if (OMPI_SUCCESS == rc && 0 != words[STAYS_OUT] && 0 != words[ASKS_OTHER]
               && OMPI_COMM_IS_INTER(comm)) {
        rc = MPI_ERR_UNSUPPORTED_OPERATION; /* libmpi's crashes, for processes too */
    } else if (OMPI_SUCCESS == rc) {
        return libmpi->split_type(libmpi->arguments, split_type);
    }
    OMPI_ERRHANDLER_RETURN(rc, comm, rc, function_name);
}

/* ---- processes ------------------------------------------------------------------------------- */

/** An intracommunicator.  What shares an address space is on one host. */
static int split_processes(ompi_communicator_t *comm, int key, MPI_Info info,
                           ompi_communicator_t **newcomm)
{
    ompi_communicator_t *host = MPI_COMM_NULL;
    int rc = ompi_comm_split_type(comm, OMPI_COMM_TYPE_HOST, key, &info->super, &host);

    if (OMPI_SUCCESS != rc || MPI_COMM_NULL == host) {
        return rc;
    }
    rc = split_by_space(host, MPIX_COMM_TYPE_ADDRESS_SPACE, ompi_comm_rank(host), info, newcomm);
    (void) ompi_comm_free(&host);
    return rc;
}

/* ---- the function ---------------------------------------------------------------------------- */

/** MPI_SUCCESS, or what is wrong with the arguments. */
static int check_arguments(MPI_Info info, const MPI_Comm *newcomm)
{
    if (NULL == info || ompi_info_is_freed(info)) {
        return MPI_ERR_INFO;
    }
    return NULL == newcomm ? MPI_ERR_ARG : MPI_SUCCESS;
}

int mpix_endpoints_call_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info,
                                   MPI_Comm *newcomm, mpix_endpoints_split_type_fn_t by_libmpi,
                                   void *arguments)
{
    const libmpi_t libmpi = {.split_type = by_libmpi, .arguments = arguments};
    bool usable = 0 != ompi_instance_count && !ompi_comm_invalid(comm);
    int bad, rc;

    if (usable && mpix_endpoints_is_endpoint_comm(comm)) {
        return split_endpoints(comm, split_type, key, info, newcomm, check_arguments(info, newcomm),
                               &libmpi);
    }
    if (MPIX_COMM_TYPE_ADDRESS_SPACE != split_type || !usable) {
        /* libmpi also knows what to say of no communicator, whatever the type. */
        return by_libmpi(arguments, split_type);
    }
    bad = check_arguments(info, newcomm);
    no_newcomm(newcomm);
    if (MPI_SUCCESS != bad) {
        return OMPI_ERRHANDLER_INVOKE(comm, bad, function_name);
    }
    if (OMPI_COMM_IS_INTER(comm)) {
        return by_libmpi(arguments, MPI_UNDEFINED);
    }
    rc = split_processes(comm, key, info, newcomm);
    OMPI_ERRHANDLER_RETURN(rc, comm, rc, function_name);
}

/** A call in Open MPI's ABI. */
typedef struct arguments_t {
    MPI_Comm comm;
    int key;
    MPI_Info info;
    MPI_Comm *newcomm;
} arguments_t;

static int split_by_libmpi(void *arguments, int split_type)
{
    int (*const original)(MPI_Comm, int, int, MPI_Info, MPI_Comm *)
        = MPIX_ENDPOINTS_NEXT(Comm_split_type);
    const arguments_t *a = arguments;

    return NULL != original ? original(a->comm, split_type, a->key, a->info, a->newcomm)
                            : MPI_ERR_INTERN;
}

MPIX_ENDPOINTS_EXPORT int MPIX_ENDPOINTS_FUNCTION(Comm_split_type)(MPI_Comm comm, int split_type,
                                                                   int key, MPI_Info info,
                                                                   MPI_Comm *newcomm)
{
    arguments_t arguments = {.comm = comm, .key = key, .info = info, .newcomm = newcomm};

    return mpix_endpoints_call_split_type(comm, split_type, key, info, newcomm, split_by_libmpi,
                                          &arguments);
}

MPIX_ENDPOINTS_FUNCTION_DEFINED(Comm_split_type,
                                (MPI_Comm comm, int split_type, int key, MPI_Info info,
                                 MPI_Comm *newcomm),
                                (comm, split_type, key, info, newcomm));
