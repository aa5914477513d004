/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The kinds whose blocks are one message each: neighbourhood collectives, and alltoallv and
 * alltoallw where no process has two members.
 *
 * Called by libmpi.
 *
 * Tests: coll_neighbor, coll_blocks
 */

#include "ompi_config.h"

#include "../direct/direct.h"
#include "coll_epcoll_forms.h"

static mca_coll_epcoll_direct_call_t direct_among_neighbors(mca_coll_epcoll_blocks_t send,
                                                            mca_coll_epcoll_blocks_t recv)
{
    return (mca_coll_epcoll_direct_call_t){.are_neighbors = true, .send = send, .recv = recv};
}

static mca_coll_epcoll_direct_call_t direct_among_all(mca_coll_epcoll_blocks_t send,
                                                      mca_coll_epcoll_blocks_t recv)
{
    return (mca_coll_epcoll_direct_call_t){.in_place = EPCOLL_IN_PLACE(send.address),
                                           .send = send,
                                           .recv = recv};
}

/** Does the communicator have the peers that the call needs?  libmpi does not check whether it has
 * a topology. */
static bool direct_has_peers(const ompi_communicator_t *comm,
                             const mca_coll_epcoll_direct_call_t *call)
{
    return !call->are_neighbors || OMPI_COMM_IS_TOPO(comm);
}

static int direct_run(const ompi_communicator_t *comm, mca_coll_base_module_t *module,
                      const mca_coll_epcoll_direct_call_t *call)
{
    if (OPAL_UNLIKELY(!direct_has_peers(comm, call))) {
        return MPI_ERR_TOPOLOGY;
    }
    return mca_coll_epcoll_direct_run(mca_coll_epcoll_handle(module), call);
}

static int direct_begin(const ompi_communicator_t *comm, mca_coll_base_module_t *module,
                        const mca_coll_epcoll_direct_call_t *call, ompi_request_t **request_p)
{
    if (OPAL_UNLIKELY(!direct_has_peers(comm, call))) {
        return MPI_ERR_TOPOLOGY;
    }
    return mca_coll_epcoll_direct_begin(mca_coll_epcoll_handle(module), call, request_p);
}

static int direct_init(const ompi_communicator_t *comm, mca_coll_base_module_t *module,
                       const mca_coll_epcoll_direct_call_t *call, ompi_request_t **request_p)
{
    if (OPAL_UNLIKELY(!direct_has_peers(comm, call))) {
        return MPI_ERR_TOPOLOGY;
    }
    return mca_coll_epcoll_direct_init(mca_coll_epcoll_handle(module), call, request_p);
}

/* ---- neighborhoods --------------------------------------------------------------------------- */

int mca_coll_epcoll_neighbor_allgather(const void *send, mca_coll_epcoll_count_t send_count,
                                       ompi_datatype_t *send_type, void *recv,
                                       mca_coll_epcoll_count_t recv_count,
                                       ompi_datatype_t *recv_type, ompi_communicator_t *comm,
                                       mca_coll_base_module_t *module)
{
    const mca_coll_epcoll_direct_call_t call
        = direct_among_neighbors(mca_coll_epcoll_blocks_one(send, send_count, send_type),
                                 mca_coll_epcoll_blocks_equal(recv, recv_count, recv_type));

    return direct_run(comm, module, &call);
}

int mca_coll_epcoll_ineighbor_allgather(const void *send, mca_coll_epcoll_count_t send_count,
                                        ompi_datatype_t *send_type, void *recv,
                                        mca_coll_epcoll_count_t recv_count,
                                        ompi_datatype_t *recv_type, ompi_communicator_t *comm,
                                        ompi_request_t **request_p, mca_coll_base_module_t *module)
{
    const mca_coll_epcoll_direct_call_t call
        = direct_among_neighbors(mca_coll_epcoll_blocks_one(send, send_count, send_type),
                                 mca_coll_epcoll_blocks_equal(recv, recv_count, recv_type));

    return direct_begin(comm, module, &call, request_p);
}

int mca_coll_epcoll_neighbor_allgather_init(const void *send, mca_coll_epcoll_count_t send_count,
                                            ompi_datatype_t *send_type, void *recv,
                                            mca_coll_epcoll_count_t recv_count,
                                            ompi_datatype_t *recv_type, ompi_communicator_t *comm,
                                            struct ompi_info_t *info, ompi_request_t **request_p,
                                            mca_coll_base_module_t *module)
{
    const mca_coll_epcoll_direct_call_t call
        = direct_among_neighbors(mca_coll_epcoll_blocks_one(send, send_count, send_type),
                                 mca_coll_epcoll_blocks_equal(recv, recv_count, recv_type));

    (void) info;
    return direct_init(comm, module, &call, request_p);
}

int mca_coll_epcoll_neighbor_allgatherv(const void *send, mca_coll_epcoll_count_t send_count,
                                        ompi_datatype_t *send_type, void *recv,
                                        mca_coll_epcoll_counts_t counts,
                                        mca_coll_epcoll_disps_t disps, ompi_datatype_t *recv_type,
                                        ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    const mca_coll_epcoll_direct_call_t call
        = direct_among_neighbors(mca_coll_epcoll_blocks_one(send, send_count, send_type),
                                 mca_coll_epcoll_blocks_v(recv, counts, disps, recv_type));

    return direct_run(comm, module, &call);
}

int mca_coll_epcoll_ineighbor_allgatherv(const void *send, mca_coll_epcoll_count_t send_count,
                                         ompi_datatype_t *send_type, void *recv,
                                         mca_coll_epcoll_counts_t counts,
                                         mca_coll_epcoll_disps_t disps, ompi_datatype_t *recv_type,
                                         ompi_communicator_t *comm, ompi_request_t **request_p,
                                         mca_coll_base_module_t *module)
{
    const mca_coll_epcoll_direct_call_t call
        = direct_among_neighbors(mca_coll_epcoll_blocks_one(send, send_count, send_type),
                                 mca_coll_epcoll_blocks_v(recv, counts, disps, recv_type));

    return direct_begin(comm, module, &call, request_p);
}

int mca_coll_epcoll_neighbor_allgatherv_init(const void *send, mca_coll_epcoll_count_t send_count,
                                             ompi_datatype_t *send_type, void *recv,
                                             mca_coll_epcoll_counts_t counts,
                                             mca_coll_epcoll_disps_t disps,
                                             ompi_datatype_t *recv_type, ompi_communicator_t *comm,
                                             struct ompi_info_t *info, ompi_request_t **request_p,
                                             mca_coll_base_module_t *module)
{
    const mca_coll_epcoll_direct_call_t call
        = direct_among_neighbors(mca_coll_epcoll_blocks_one(send, send_count, send_type),
                                 mca_coll_epcoll_blocks_v(recv, counts, disps, recv_type));

    (void) info;
    return direct_init(comm, module, &call, request_p);
}

int mca_coll_epcoll_neighbor_alltoall(const void *send, mca_coll_epcoll_count_t send_count,
                                      ompi_datatype_t *send_type, void *recv,
                                      mca_coll_epcoll_count_t recv_count,
                                      ompi_datatype_t *recv_type, ompi_communicator_t *comm,
                                      mca_coll_base_module_t *module)
{
    const mca_coll_epcoll_direct_call_t call
        = direct_among_neighbors(mca_coll_epcoll_blocks_equal(send, send_count, send_type),
                                 mca_coll_epcoll_blocks_equal(recv, recv_count, recv_type));

    return direct_run(comm, module, &call);
}

int mca_coll_epcoll_ineighbor_alltoall(const void *send, mca_coll_epcoll_count_t send_count,
                                       ompi_datatype_t *send_type, void *recv,
                                       mca_coll_epcoll_count_t recv_count,
                                       ompi_datatype_t *recv_type, ompi_communicator_t *comm,
                                       ompi_request_t **request_p, mca_coll_base_module_t *module)
{
    const mca_coll_epcoll_direct_call_t call
        = direct_among_neighbors(mca_coll_epcoll_blocks_equal(send, send_count, send_type),
                                 mca_coll_epcoll_blocks_equal(recv, recv_count, recv_type));

    return direct_begin(comm, module, &call, request_p);
}

int mca_coll_epcoll_neighbor_alltoall_init(const void *send, mca_coll_epcoll_count_t send_count,
                                           ompi_datatype_t *send_type, void *recv,
                                           mca_coll_epcoll_count_t recv_count,
                                           ompi_datatype_t *recv_type, ompi_communicator_t *comm,
                                           struct ompi_info_t *info, ompi_request_t **request_p,
                                           mca_coll_base_module_t *module)
{
    const mca_coll_epcoll_direct_call_t call
        = direct_among_neighbors(mca_coll_epcoll_blocks_equal(send, send_count, send_type),
                                 mca_coll_epcoll_blocks_equal(recv, recv_count, recv_type));

    (void) info;
    return direct_init(comm, module, &call, request_p);
}

int mca_coll_epcoll_neighbor_alltoallv(const void *send, mca_coll_epcoll_counts_t send_counts,
                                       mca_coll_epcoll_disps_t send_disps,
                                       ompi_datatype_t *send_type, void *recv,
                                       mca_coll_epcoll_counts_t recv_counts,
                                       mca_coll_epcoll_disps_t recv_disps,
                                       ompi_datatype_t *recv_type, ompi_communicator_t *comm,
                                       mca_coll_base_module_t *module)
{
    const mca_coll_epcoll_direct_call_t call = direct_among_neighbors(
        mca_coll_epcoll_blocks_v(send, send_counts, send_disps, send_type),
        mca_coll_epcoll_blocks_v(recv, recv_counts, recv_disps, recv_type));

    return direct_run(comm, module, &call);
}

int mca_coll_epcoll_ineighbor_alltoallv(const void *send, mca_coll_epcoll_counts_t send_counts,
                                        mca_coll_epcoll_disps_t send_disps,
                                        ompi_datatype_t *send_type, void *recv,
                                        mca_coll_epcoll_counts_t recv_counts,
                                        mca_coll_epcoll_disps_t recv_disps,
                                        ompi_datatype_t *recv_type, ompi_communicator_t *comm,
                                        ompi_request_t **request_p, mca_coll_base_module_t *module)
{
    const mca_coll_epcoll_direct_call_t call = direct_among_neighbors(
        mca_coll_epcoll_blocks_v(send, send_counts, send_disps, send_type),
        mca_coll_epcoll_blocks_v(recv, recv_counts, recv_disps, recv_type));

    return direct_begin(comm, module, &call, request_p);
}

int mca_coll_epcoll_neighbor_alltoallv_init(
    const void *send, mca_coll_epcoll_counts_t send_counts, mca_coll_epcoll_disps_t send_disps,
    ompi_datatype_t *send_type, void *recv, mca_coll_epcoll_counts_t recv_counts,
    mca_coll_epcoll_disps_t recv_disps, ompi_datatype_t *recv_type, ompi_communicator_t *comm,
    struct ompi_info_t *info, ompi_request_t **request_p, mca_coll_base_module_t *module)
{
    const mca_coll_epcoll_direct_call_t call = direct_among_neighbors(
        mca_coll_epcoll_blocks_v(send, send_counts, send_disps, send_type),
        mca_coll_epcoll_blocks_v(recv, recv_counts, recv_disps, recv_type));

    (void) info;
    return direct_init(comm, module, &call, request_p);
}

int mca_coll_epcoll_neighbor_alltoallw(const void *send, mca_coll_epcoll_counts_t send_counts,
                                       mca_coll_epcoll_aints_t send_disps,
                                       ompi_datatype_t *const *send_types, void *recv,
                                       mca_coll_epcoll_counts_t recv_counts,
                                       mca_coll_epcoll_aints_t recv_disps,
                                       ompi_datatype_t *const *recv_types,
                                       ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    const mca_coll_epcoll_direct_call_t call = direct_among_neighbors(
        mca_coll_epcoll_blocks_far(send, send_counts, send_disps, send_types),
        mca_coll_epcoll_blocks_far(recv, recv_counts, recv_disps, recv_types));

    return direct_run(comm, module, &call);
}

int mca_coll_epcoll_ineighbor_alltoallw(
    const void *send, mca_coll_epcoll_counts_t send_counts, mca_coll_epcoll_aints_t send_disps,
    ompi_datatype_t *const *send_types, void *recv, mca_coll_epcoll_counts_t recv_counts,
    mca_coll_epcoll_aints_t recv_disps, ompi_datatype_t *const *recv_types,
    ompi_communicator_t *comm, ompi_request_t **request_p, mca_coll_base_module_t *module)
{
    const mca_coll_epcoll_direct_call_t call = direct_among_neighbors(
        mca_coll_epcoll_blocks_far(send, send_counts, send_disps, send_types),
        mca_coll_epcoll_blocks_far(recv, recv_counts, recv_disps, recv_types));

    return direct_begin(comm, module, &call, request_p);
}

int mca_coll_epcoll_neighbor_alltoallw_init(
    const void *send, mca_coll_epcoll_counts_t send_counts, mca_coll_epcoll_aints_t send_disps,
    ompi_datatype_t *const *send_types, void *recv, mca_coll_epcoll_counts_t recv_counts,
    mca_coll_epcoll_aints_t recv_disps, ompi_datatype_t *const *recv_types,
    ompi_communicator_t *comm, struct ompi_info_t *info, ompi_request_t **request_p,
    mca_coll_base_module_t *module)
{
    const mca_coll_epcoll_direct_call_t call = direct_among_neighbors(
        mca_coll_epcoll_blocks_far(send, send_counts, send_disps, send_types),
        mca_coll_epcoll_blocks_far(recv, recv_counts, recv_disps, recv_types));

    (void) info;
    return direct_init(comm, module, &call, request_p);
}

/* ---- all to all ------------------------------------------------------------------------------ */

int mca_coll_epcoll_direct_alltoallv(const void *send, mca_coll_epcoll_counts_t send_counts,
                                     mca_coll_epcoll_disps_t send_disps, ompi_datatype_t *send_type,
                                     void *recv, mca_coll_epcoll_counts_t recv_counts,
                                     mca_coll_epcoll_disps_t recv_disps, ompi_datatype_t *recv_type,
                                     ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    const mca_coll_epcoll_direct_call_t call
        = direct_among_all(mca_coll_epcoll_blocks_v(send, send_counts, send_disps, send_type),
                           mca_coll_epcoll_blocks_v(recv, recv_counts, recv_disps, recv_type));

    return direct_run(comm, module, &call);
}

int mca_coll_epcoll_idirect_alltoallv(const void *send, mca_coll_epcoll_counts_t send_counts,
                                      mca_coll_epcoll_disps_t send_disps,
                                      ompi_datatype_t *send_type, void *recv,
                                      mca_coll_epcoll_counts_t recv_counts,
                                      mca_coll_epcoll_disps_t recv_disps,
                                      ompi_datatype_t *recv_type, ompi_communicator_t *comm,
                                      ompi_request_t **request_p, mca_coll_base_module_t *module)
{
    const mca_coll_epcoll_direct_call_t call
        = direct_among_all(mca_coll_epcoll_blocks_v(send, send_counts, send_disps, send_type),
                           mca_coll_epcoll_blocks_v(recv, recv_counts, recv_disps, recv_type));

    return direct_begin(comm, module, &call, request_p);
}

int mca_coll_epcoll_direct_alltoallv_init(
    const void *send, mca_coll_epcoll_counts_t send_counts, mca_coll_epcoll_disps_t send_disps,
    ompi_datatype_t *send_type, void *recv, mca_coll_epcoll_counts_t recv_counts,
    mca_coll_epcoll_disps_t recv_disps, ompi_datatype_t *recv_type, ompi_communicator_t *comm,
    struct ompi_info_t *info, ompi_request_t **request_p, mca_coll_base_module_t *module)
{
    const mca_coll_epcoll_direct_call_t call
        = direct_among_all(mca_coll_epcoll_blocks_v(send, send_counts, send_disps, send_type),
                           mca_coll_epcoll_blocks_v(recv, recv_counts, recv_disps, recv_type));

    (void) info;
    return direct_init(comm, module, &call, request_p);
}

int mca_coll_epcoll_direct_alltoallw(const void *send, mca_coll_epcoll_counts_t send_counts,
                                     mca_coll_epcoll_disps_t send_disps,
                                     ompi_datatype_t *const *send_types, void *recv,
                                     mca_coll_epcoll_counts_t recv_counts,
                                     mca_coll_epcoll_disps_t recv_disps,
                                     ompi_datatype_t *const *recv_types, ompi_communicator_t *comm,
                                     mca_coll_base_module_t *module)
{
    const mca_coll_epcoll_direct_call_t call
        = direct_among_all(mca_coll_epcoll_blocks_w(send, send_counts, send_disps, send_types),
                           mca_coll_epcoll_blocks_w(recv, recv_counts, recv_disps, recv_types));

    return direct_run(comm, module, &call);
}

int mca_coll_epcoll_idirect_alltoallw(const void *send, mca_coll_epcoll_counts_t send_counts,
                                      mca_coll_epcoll_disps_t send_disps,
                                      ompi_datatype_t *const *send_types, void *recv,
                                      mca_coll_epcoll_counts_t recv_counts,
                                      mca_coll_epcoll_disps_t recv_disps,
                                      ompi_datatype_t *const *recv_types, ompi_communicator_t *comm,
                                      ompi_request_t **request_p, mca_coll_base_module_t *module)
{
    const mca_coll_epcoll_direct_call_t call
        = direct_among_all(mca_coll_epcoll_blocks_w(send, send_counts, send_disps, send_types),
                           mca_coll_epcoll_blocks_w(recv, recv_counts, recv_disps, recv_types));

    return direct_begin(comm, module, &call, request_p);
}

int mca_coll_epcoll_direct_alltoallw_init(
    const void *send, mca_coll_epcoll_counts_t send_counts, mca_coll_epcoll_disps_t send_disps,
    ompi_datatype_t *const *send_types, void *recv, mca_coll_epcoll_counts_t recv_counts,
    mca_coll_epcoll_disps_t recv_disps, ompi_datatype_t *const *recv_types,
    ompi_communicator_t *comm, struct ompi_info_t *info, ompi_request_t **request_p,
    mca_coll_base_module_t *module)
{
    const mca_coll_epcoll_direct_call_t call
        = direct_among_all(mca_coll_epcoll_blocks_w(send, send_counts, send_disps, send_types),
                           mca_coll_epcoll_blocks_w(recv, recv_counts, recv_disps, recv_types));

    (void) info;
    return direct_init(comm, module, &call, request_p);
}
