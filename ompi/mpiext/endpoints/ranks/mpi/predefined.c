/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What MPI predefines at MPI_COMM_WORLD: attributes, of which libmpi gives the process's alone values.
 * Fortran's functions read them at the communicator, too.
 *
 * Tests: ranks_mpi
 */

#define _GNU_SOURCE

#include "ompi_config.h"

#include "state.h"

#include "ompi/attribute/attribute.h"
#include "ompi/communicator/communicator.h"

/** As the process's MPI_COMM_WORLD has it; nothing if that has none. */
static int copy_attribute(mpix_rank_t *rank, int key)
{
    ompi_communicator_t *world = rank->world;
    const int *value;
    int flag, rc = PMPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag);

    if (MPI_SUCCESS != rc || 0 == flag) {
        return rc;
    }
    return ompi_attr_set_int(COMM_ATTR, world, &world->c_keyhash, key,
                             MPI_UNIVERSE_SIZE == key && rank->size > *value ? rank->size : *value,
                             true);
}

int mpix_ranks_mpi_predefined_begin(mpix_rank_t *rank)
{
    static const int keys[] = {MPI_TAG_UB,        MPI_HOST,   MPI_IO,          MPI_WTIME_IS_GLOBAL,
                               MPI_UNIVERSE_SIZE, MPI_APPNUM, MPI_LASTUSEDCODE};
    int rc = MPI_SUCCESS;

    for (size_t i = 0; MPI_SUCCESS == rc && i < sizeof(keys) / sizeof(keys[0]); ++i) {
        rc = copy_attribute(rank, keys[i]);
    }
    return rc;
}

/** Error classes and codes are the process's: MPI_LASTUSEDCODE is the same at all ranks. */
static int tell_all(int rc)
{
    for (int i = 0; MPI_SUCCESS == rc && i < mpix_ranks_count; ++i) {
        rc = copy_attribute(&mpix_ranks_all[i], MPI_LASTUSEDCODE);
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
