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

/** Does the communicator have the peers that the call needs?  libmpi does not check whether it has
 * a topology. */
static bool has_peers(const ompi_communicator_t *comm, const mca_coll_epcoll_direct_call_t *call)
{
    return !call->are_neighbors || OMPI_COMM_IS_TOPO(comm);
}

/**
 * Defines the functions of a kind: blocking, nonblocking, persistent.
 *
 * @param name        as in coll_epcoll_calls.h
 * @param parameters  of its functions, up to the communicator, in parentheses
 * @param value       the call, of these
 */
#define DIRECT_FORMS(name, parameters, value)                                                   \
    int mca_coll_epcoll_##name(EPCOLL_LIST parameters, struct ompi_communicator_t *comm,        \
                               mca_coll_base_module_t *module)                                  \
    {                                                                                           \
        const mca_coll_epcoll_direct_call_t call = value;                                       \
                                                                                                \
        if (OPAL_UNLIKELY(!has_peers(comm, &call))) {                                           \
            return MPI_ERR_TOPOLOGY;                                                            \
        }                                                                                       \
        return mca_coll_epcoll_direct_run(mca_coll_epcoll_handle(module), &call);               \
    }                                                                                           \
                                                                                                \
    int mca_coll_epcoll_i##name(EPCOLL_LIST parameters, struct ompi_communicator_t *comm,       \
                                ompi_request_t **request_p, mca_coll_base_module_t *module)     \
    {                                                                                           \
        const mca_coll_epcoll_direct_call_t call = value;                                       \
                                                                                                \
        if (OPAL_UNLIKELY(!has_peers(comm, &call))) {                                           \
            return MPI_ERR_TOPOLOGY;                                                            \
        }                                                                                       \
        return mca_coll_epcoll_direct_begin(mca_coll_epcoll_handle(module), &call, request_p);  \
    }                                                                                           \
                                                                                                \
    int mca_coll_epcoll_##name##_init(EPCOLL_LIST parameters, struct ompi_communicator_t *comm, \
                                      struct ompi_info_t *info, ompi_request_t **request_p,     \
                                      mca_coll_base_module_t *module)                           \
    {                                                                                           \
        const mca_coll_epcoll_direct_call_t call = value;                                       \
                                                                                                \
        if (OPAL_UNLIKELY(!has_peers(comm, &call))) {                                           \
            return MPI_ERR_TOPOLOGY;                                                            \
        }                                                                                       \
        (void) info;                                                                            \
        return mca_coll_epcoll_direct_init(mca_coll_epcoll_handle(module), &call, request_p);   \
    }

static mca_coll_epcoll_direct_call_t among_neighbors(mca_coll_epcoll_blocks_t send,
                                                     mca_coll_epcoll_blocks_t recv)
{
    return (mca_coll_epcoll_direct_call_t){.are_neighbors = true, .send = send, .recv = recv};
}

static mca_coll_epcoll_direct_call_t among_all(mca_coll_epcoll_blocks_t send,
                                               mca_coll_epcoll_blocks_t recv)
{
    return (mca_coll_epcoll_direct_call_t){.in_place = EPCOLL_IN_PLACE(send.address),
                                           .send = send,
                                           .recv = recv};
}

/* ---- functions ------------------------------------------------------------------------------- */

DIRECT_FORMS(neighbor_allgather,
             (const void *send, mca_coll_epcoll_count_t send_count,
              struct ompi_datatype_t *send_type, void *recv, mca_coll_epcoll_count_t recv_count,
              struct ompi_datatype_t *recv_type),
             among_neighbors(mca_coll_epcoll_blocks_one(send, send_count, send_type),
                             mca_coll_epcoll_blocks_equal(recv, recv_count, recv_type)))

DIRECT_FORMS(neighbor_allgatherv,
             (const void *send, mca_coll_epcoll_count_t send_count,
              struct ompi_datatype_t *send_type, void *recv, mca_coll_epcoll_counts_t counts,
              mca_coll_epcoll_disps_t disps, struct ompi_datatype_t *recv_type),
             among_neighbors(mca_coll_epcoll_blocks_one(send, send_count, send_type),
                             mca_coll_epcoll_blocks_v(recv, counts, disps, recv_type)))

DIRECT_FORMS(neighbor_alltoall,
             (const void *send, mca_coll_epcoll_count_t send_count,
              struct ompi_datatype_t *send_type, void *recv, mca_coll_epcoll_count_t recv_count,
              struct ompi_datatype_t *recv_type),
             among_neighbors(mca_coll_epcoll_blocks_equal(send, send_count, send_type),
                             mca_coll_epcoll_blocks_equal(recv, recv_count, recv_type)))

#define PARAMETERS_V                                                                            \
    (const void *send, mca_coll_epcoll_counts_t send_counts, mca_coll_epcoll_disps_t send_disps, \
     struct ompi_datatype_t *send_type, void *recv, mca_coll_epcoll_counts_t recv_counts,       \
     mca_coll_epcoll_disps_t recv_disps, struct ompi_datatype_t *recv_type)

DIRECT_FORMS(neighbor_alltoallv, PARAMETERS_V,
             among_neighbors(mca_coll_epcoll_blocks_v(send, send_counts, send_disps, send_type),
                             mca_coll_epcoll_blocks_v(recv, recv_counts, recv_disps, recv_type)))

DIRECT_FORMS(direct_alltoallv, PARAMETERS_V,
             among_all(mca_coll_epcoll_blocks_v(send, send_counts, send_disps, send_type),
                       mca_coll_epcoll_blocks_v(recv, recv_counts, recv_disps, recv_type)))

DIRECT_FORMS(neighbor_alltoallw,
             (const void *send, mca_coll_epcoll_counts_t send_counts,
              mca_coll_epcoll_aints_t send_disps, struct ompi_datatype_t *const *send_types,
              void *recv, mca_coll_epcoll_counts_t recv_counts, mca_coll_epcoll_aints_t recv_disps,
              struct ompi_datatype_t *const *recv_types),
             among_neighbors(mca_coll_epcoll_blocks_far(send, send_counts, send_disps, send_types),
                             mca_coll_epcoll_blocks_far(recv, recv_counts, recv_disps, recv_types)))

DIRECT_FORMS(direct_alltoallw,
             (const void *send, mca_coll_epcoll_counts_t send_counts,
              mca_coll_epcoll_disps_t send_disps, struct ompi_datatype_t *const *send_types,
              void *recv, mca_coll_epcoll_counts_t recv_counts, mca_coll_epcoll_disps_t recv_disps,
              struct ompi_datatype_t *const *recv_types),
             among_all(mca_coll_epcoll_blocks_w(send, send_counts, send_disps, send_types),
                       mca_coll_epcoll_blocks_w(recv, recv_counts, recv_disps, recv_types)))
