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
 * Memory for guests.  Of a node it is there where all its members live in this process.
 *
 * Called by pml_epml_door.c.
 *
 * Tests: door
 */

#include "ompi_config.h"

#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_door_memory.h"

#include "ompi/constants.h"

/** In the key: of a node, and not of the guest's process. */
#define ON_NODE 0x80000000u

int mca_pml_epml_door_memory_get(const mca_pml_epml_comm_t *comm, mpix_endpoints_reach_t reach,
                                 int number, uint32_t key, size_t size,
                                 mpix_endpoints_memory_t **memory_p)
{
    mca_pml_epml_memory_key_t name = {.context = comm->context,
                                      .number = (uint32_t) number,
                                      .key = key};

    if (MPIX_ENDPOINTS_NODE == reach) {
        mpix_endpoints_members_t members;
        const int rc = mca_pml_epml_who_members(comm, reach, &members);

        if (OMPI_SUCCESS != rc) {
            return rc;
        }
        if (1 < members.processes) {
            return MPI_ERR_UNSUPPORTED_OPERATION;
        }
        name.number |= ON_NODE;
    }
    return mca_pml_epml_memory_get(&name, size, NULL, NULL, memory_p);
}
