/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The builder of each kind's schedules.
 *
 * Tests: coll_layout
 */

#include "ompi_config.h"

#include "coll_epcoll_build.h"
#include "coll_epcoll_schedule.h"

const mca_coll_epcoll_builder_t *const mca_coll_epcoll_builders[EPCOLL_KINDS] = {
    [EPCOLL_ALLGATHER] = &mca_coll_epcoll_build_allgather,
    [EPCOLL_ALLGATHERV] = &mca_coll_epcoll_build_allgatherv,
    [EPCOLL_ALLREDUCE] = &mca_coll_epcoll_build_allreduce,
    [EPCOLL_ALLTOALL] = &mca_coll_epcoll_build_alltoall,
    [EPCOLL_ALLTOALLV] = &mca_coll_epcoll_build_alltoall,
    [EPCOLL_ALLTOALLW] = &mca_coll_epcoll_build_alltoall,
    [EPCOLL_BARRIER] = &mca_coll_epcoll_build_barrier,
    [EPCOLL_BCAST] = &mca_coll_epcoll_build_bcast,
    [EPCOLL_EXSCAN] = &mca_coll_epcoll_build_scan,
    [EPCOLL_GATHER] = &mca_coll_epcoll_build_gather,
    [EPCOLL_GATHERV] = &mca_coll_epcoll_build_gather,
    [EPCOLL_REDUCE] = &mca_coll_epcoll_build_reduce,
    [EPCOLL_REDUCE_SCATTER] = &mca_coll_epcoll_build_reduce_scatter,
    [EPCOLL_REDUCE_SCATTER_BLOCK] = &mca_coll_epcoll_build_reduce_scatter,
    [EPCOLL_SCAN] = &mca_coll_epcoll_build_scan,
    [EPCOLL_SCATTER] = &mca_coll_epcoll_build_scatter,
    [EPCOLL_SCATTERV] = &mca_coll_epcoll_build_scatter,
};

bool mca_coll_epcoll_schedule_serves(const mca_coll_epcoll_handle_t *handle,
                                     const mca_coll_epcoll_call_t *call)
{
    const mca_coll_epcoll_builder_t *builder = mca_coll_epcoll_builders[call->kind];

    return NULL == builder->serves || builder->serves(handle, call);
}
