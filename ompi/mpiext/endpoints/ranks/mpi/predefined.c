/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What MPI says of the job at its beginning, where libmpi counts processes: MPI_UNIVERSE_SIZE, keys of
 * MPI_INFO_ENV.  Other predefined attributes are right: handles of endpoints have them.
 *
 * Tests: ranks_mpi
 */

#define _GNU_SOURCE

#include "ompi_config.h"

#include "state.h"

#include <stdio.h>
#include <string.h>

#include "ompi/attribute/attribute.h"
#include "ompi/communicator/communicator.h"
#include "ompi/info/info.h"

static int set_attribute(ompi_communicator_t *comm, int key, int value)
{
    return ompi_attr_set_int(COMM_ATTR, comm, &comm->c_keyhash, key, value, true);
}

/** Of a job of several programs libmpi says how many processes of each there are: not how many
 * ranks. */
static void count_ranks(const mpix_rank_t *rank)
{
    char text[16];
    int flag = 0;

    (void) PMPI_Info_get(MPI_INFO_ENV, "ompi_num_apps", sizeof(text) - 1, text, &flag);
    if (0 != flag && 0 == strcmp(text, "1")) {
        (void) snprintf(text, sizeof(text), "%d", rank->size);
        (void) opal_info_set(&ompi_mpi_info_env.info.super, "maxprocs", text);
        (void) opal_info_set(&ompi_mpi_info_env.info.super, "soft", text);
    }
}

int mpix_ranks_mpi_predefined_begin(mpix_rank_t *ranks, int count)
{
    const int *universe;
    int flag, rc = PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag);

    count_ranks(&ranks[0]);
    for (int i = 0; MPI_SUCCESS == rc && 0 != flag && i < count; ++i) {
        if (ranks[i].size > *universe) {
            rc = set_attribute(ranks[i].world, MPI_UNIVERSE_SIZE, ranks[i].size);
        }
    }
    return rc;
}

/** Error classes and codes are the process's: MPI_LASTUSEDCODE is the same at all ranks. */
static int tell_all(int rc)
{
    const int *last;
    int flag = 0;

    if (MPI_SUCCESS == rc) {
        rc = PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
    }
    for (int i = 0; MPI_SUCCESS == rc && 0 != flag && i < mpix_ranks_count; ++i) {
        rc = set_attribute(mpix_ranks_all[i].world, MPI_LASTUSEDCODE, *last);
    }
    return rc;
}

RANK_FUNCTION(Add_error_class, (int *class), (class))
{
    (void) rank;
    return tell_all(MPIX_RANKS_NEXT(PMPI_Add_error_class)(class));
}

RANK_FUNCTION(Add_error_code, (int class, int *code), (class, code))
{
    (void) rank;
    return tell_all(MPIX_RANKS_NEXT(PMPI_Add_error_code)(class, code));
}

#if 6 <= OMPI_MAJOR_VERSION
RANK_FUNCTION(Remove_error_class, (int class), (class))
{
    (void) rank;
    return tell_all(MPIX_RANKS_NEXT(PMPI_Remove_error_class)(class));
}

RANK_FUNCTION(Remove_error_code, (int code), (code))
{
    (void) rank;
    return tell_all(MPIX_RANKS_NEXT(PMPI_Remove_error_code)(code));
}
#endif
