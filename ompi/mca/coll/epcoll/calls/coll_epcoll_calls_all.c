/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The kinds that move data from all members to all.
 *
 * Called by libmpi.
 *
 * Tests: coll_move, coll_late
 */

#include "ompi_config.h"

#include "coll_epcoll_forms.h"

/** Each has a block for each, of one length. */
static bool all_fill_equal(mca_coll_epcoll_call_t *call, mca_coll_epcoll_kind_t kind,
                           const void *send, size_t send_count, ompi_datatype_t *send_type,
                           void *recv, size_t recv_count, ompi_datatype_t *recv_type)
{
    mca_coll_epcoll_call_of_kind(call, kind);
    call->bytes = mca_coll_epcoll_packed(recv_count, recv_type);
    mca_coll_epcoll_fill_send(call, send, send_count, send_type);
    mca_coll_epcoll_fill_recv(call, recv, recv_count, recv_type);
    return 0 != call->bytes;
}

static bool call_fill_allgather(mca_coll_epcoll_call_t *call,
                                const mca_coll_epcoll_handle_t *handle, const void *send,
                                size_t send_count, ompi_datatype_t *send_type, void *recv,
                                size_t recv_count, ompi_datatype_t *recv_type)
{
    (void) handle;
    return all_fill_equal(call, EPCOLL_ALLGATHER, send, send_count, send_type, recv, recv_count,
                          recv_type);
}

int mca_coll_epcoll_allgather(const void *send, mca_coll_epcoll_count_t send_count,
                              ompi_datatype_t *send_type, void *recv,
                              mca_coll_epcoll_count_t recv_count, ompi_datatype_t *recv_type,
                              ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    return EPCOLL_RUN(allgather, comm, module, send, send_count, send_type, recv, recv_count,
                      recv_type);
}

int mca_coll_epcoll_iallgather(const void *send, mca_coll_epcoll_count_t send_count,
                               ompi_datatype_t *send_type, void *recv,
                               mca_coll_epcoll_count_t recv_count, ompi_datatype_t *recv_type,
                               ompi_communicator_t *comm, ompi_request_t **request_p,
                               mca_coll_base_module_t *module)
{
    return EPCOLL_BEGIN(allgather, comm, request_p, module, send, send_count, send_type, recv,
                        recv_count, recv_type);
}

int mca_coll_epcoll_allgather_init(const void *send, mca_coll_epcoll_count_t send_count,
                                   ompi_datatype_t *send_type, void *recv,
                                   mca_coll_epcoll_count_t recv_count, ompi_datatype_t *recv_type,
                                   ompi_communicator_t *comm, struct ompi_info_t *info,
                                   ompi_request_t **request_p, mca_coll_base_module_t *module)
{
    return EPCOLL_INIT(allgather, comm, info, request_p, module, send, send_count, send_type, recv,
                       recv_count, recv_type);
}

static bool call_fill_allgatherv(mca_coll_epcoll_call_t *call,
                                 const mca_coll_epcoll_handle_t *handle, const void *send,
                                 size_t send_count, ompi_datatype_t *send_type, void *recv,
                                 mca_coll_epcoll_counts_t counts, mca_coll_epcoll_disps_t disps,
                                 ompi_datatype_t *recv_type)
{
    size_t all = 0;

    for (uint32_t i = 0; i < mca_coll_epcoll_size(handle); ++i) {
        all += EPCOLL_COUNT(counts, i);
    }
    mca_coll_epcoll_call_of_kind(call, EPCOLL_ALLGATHERV);
    mca_coll_epcoll_fill_send(call, send, send_count, send_type);
    mca_coll_epcoll_fill_recv_v(call, recv, counts, disps, recv_type);
    return 0 != all * recv_type->super.size; /* as at all members, whatever their types are */
}

int mca_coll_epcoll_allgatherv(const void *send, mca_coll_epcoll_count_t send_count,
                               ompi_datatype_t *send_type, void *recv,
                               mca_coll_epcoll_counts_t counts, mca_coll_epcoll_disps_t disps,
                               ompi_datatype_t *recv_type, ompi_communicator_t *comm,
                               mca_coll_base_module_t *module)
{
    return EPCOLL_RUN(allgatherv, comm, module, send, send_count, send_type, recv, counts, disps,
                      recv_type);
}

int mca_coll_epcoll_iallgatherv(const void *send, mca_coll_epcoll_count_t send_count,
                                ompi_datatype_t *send_type, void *recv,
                                mca_coll_epcoll_counts_t counts, mca_coll_epcoll_disps_t disps,
                                ompi_datatype_t *recv_type, ompi_communicator_t *comm,
                                ompi_request_t **request_p, mca_coll_base_module_t *module)
{
    return EPCOLL_BEGIN(allgatherv, comm, request_p, module, send, send_count, send_type, recv,
                        counts, disps, recv_type);
}

int mca_coll_epcoll_allgatherv_init(const void *send, mca_coll_epcoll_count_t send_count,
                                    ompi_datatype_t *send_type, void *recv,
                                    mca_coll_epcoll_counts_t counts, mca_coll_epcoll_disps_t disps,
                                    ompi_datatype_t *recv_type, ompi_communicator_t *comm,
                                    struct ompi_info_t *info, ompi_request_t **request_p,
                                    mca_coll_base_module_t *module)
{
    return EPCOLL_INIT(allgatherv, comm, info, request_p, module, send, send_count, send_type, recv,
                       counts, disps, recv_type);
}

static bool call_fill_alltoall(mca_coll_epcoll_call_t *call, const mca_coll_epcoll_handle_t *handle,
                               const void *send, size_t send_count, ompi_datatype_t *send_type,
                               void *recv, size_t recv_count, ompi_datatype_t *recv_type)
{
    (void) handle;
    return all_fill_equal(call, EPCOLL_ALLTOALL, send, send_count, send_type, recv, recv_count,
                          recv_type);
}

int mca_coll_epcoll_alltoall(const void *send, mca_coll_epcoll_count_t send_count,
                             ompi_datatype_t *send_type, void *recv,
                             mca_coll_epcoll_count_t recv_count, ompi_datatype_t *recv_type,
                             ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    return EPCOLL_RUN(alltoall, comm, module, send, send_count, send_type, recv, recv_count,
                      recv_type);
}

int mca_coll_epcoll_ialltoall(const void *send, mca_coll_epcoll_count_t send_count,
                              ompi_datatype_t *send_type, void *recv,
                              mca_coll_epcoll_count_t recv_count, ompi_datatype_t *recv_type,
                              ompi_communicator_t *comm, ompi_request_t **request_p,
                              mca_coll_base_module_t *module)
{
    return EPCOLL_BEGIN(alltoall, comm, request_p, module, send, send_count, send_type, recv,
                        recv_count, recv_type);
}

int mca_coll_epcoll_alltoall_init(const void *send, mca_coll_epcoll_count_t send_count,
                                  ompi_datatype_t *send_type, void *recv,
                                  mca_coll_epcoll_count_t recv_count, ompi_datatype_t *recv_type,
                                  ompi_communicator_t *comm, struct ompi_info_t *info,
                                  ompi_request_t **request_p, mca_coll_base_module_t *module)
{
    return EPCOLL_INIT(alltoall, comm, info, request_p, module, send, send_count, send_type, recv,
                       recv_count, recv_type);
}

static bool call_fill_alltoallv(mca_coll_epcoll_call_t *call,
                                const mca_coll_epcoll_handle_t *handle, const void *send,
                                mca_coll_epcoll_counts_t send_counts,
                                mca_coll_epcoll_disps_t send_disps, ompi_datatype_t *send_type,
                                void *recv, mca_coll_epcoll_counts_t recv_counts,
                                mca_coll_epcoll_disps_t recv_disps, ompi_datatype_t *recv_type)
{
    (void) handle;
    mca_coll_epcoll_call_of_kind(call, EPCOLL_ALLTOALLV);
    mca_coll_epcoll_fill_send(call, send, 0, send_type);
    call->send_counts = send_counts;
    call->send_disps = send_disps;
    mca_coll_epcoll_fill_recv_v(call, recv, recv_counts, recv_disps, recv_type);
    return true;
}

int mca_coll_epcoll_alltoallv(const void *send, mca_coll_epcoll_counts_t send_counts,
                              mca_coll_epcoll_disps_t send_disps, ompi_datatype_t *send_type,
                              void *recv, mca_coll_epcoll_counts_t recv_counts,
                              mca_coll_epcoll_disps_t recv_disps, ompi_datatype_t *recv_type,
                              ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    return EPCOLL_RUN(alltoallv, comm, module, send, send_counts, send_disps, send_type, recv,
                      recv_counts, recv_disps, recv_type);
}

int mca_coll_epcoll_ialltoallv(const void *send, mca_coll_epcoll_counts_t send_counts,
                               mca_coll_epcoll_disps_t send_disps, ompi_datatype_t *send_type,
                               void *recv, mca_coll_epcoll_counts_t recv_counts,
                               mca_coll_epcoll_disps_t recv_disps, ompi_datatype_t *recv_type,
                               ompi_communicator_t *comm, ompi_request_t **request_p,
                               mca_coll_base_module_t *module)
{
    return EPCOLL_BEGIN(alltoallv, comm, request_p, module, send, send_counts, send_disps,
                        send_type, recv, recv_counts, recv_disps, recv_type);
}

int mca_coll_epcoll_alltoallv_init(const void *send, mca_coll_epcoll_counts_t send_counts,
                                   mca_coll_epcoll_disps_t send_disps, ompi_datatype_t *send_type,
                                   void *recv, mca_coll_epcoll_counts_t recv_counts,
                                   mca_coll_epcoll_disps_t recv_disps, ompi_datatype_t *recv_type,
                                   ompi_communicator_t *comm, struct ompi_info_t *info,
                                   ompi_request_t **request_p, mca_coll_base_module_t *module)
{
    return EPCOLL_INIT(alltoallv, comm, info, request_p, module, send, send_counts, send_disps,
                       send_type, recv, recv_counts, recv_disps, recv_type);
}

static bool call_fill_alltoallw(
    mca_coll_epcoll_call_t *call, const mca_coll_epcoll_handle_t *handle, const void *send,
    mca_coll_epcoll_counts_t send_counts, mca_coll_epcoll_disps_t send_disps,
    struct ompi_datatype_t *const *send_types, void *recv, mca_coll_epcoll_counts_t recv_counts,
    mca_coll_epcoll_disps_t recv_disps, struct ompi_datatype_t *const *recv_types)
{
    (void) handle;
    mca_coll_epcoll_call_of_kind(call, EPCOLL_ALLTOALLW);
    mca_coll_epcoll_fill_send(call, send, 0, NULL);
    call->send_counts = send_counts;
    call->send_disps = send_disps;
    call->send_types = send_types;
    mca_coll_epcoll_fill_recv_v(call, recv, recv_counts, recv_disps, NULL);
    call->recv_types = recv_types;
    return true;
}

int mca_coll_epcoll_alltoallw(const void *send, mca_coll_epcoll_counts_t send_counts,
                              mca_coll_epcoll_disps_t send_disps,
                              ompi_datatype_t *const *send_types, void *recv,
                              mca_coll_epcoll_counts_t recv_counts,
                              mca_coll_epcoll_disps_t recv_disps,
                              ompi_datatype_t *const *recv_types, ompi_communicator_t *comm,
                              mca_coll_base_module_t *module)
{
    return EPCOLL_RUN(alltoallw, comm, module, send, send_counts, send_disps, send_types, recv,
                      recv_counts, recv_disps, recv_types);
}

int mca_coll_epcoll_ialltoallw(const void *send, mca_coll_epcoll_counts_t send_counts,
                               mca_coll_epcoll_disps_t send_disps,
                               ompi_datatype_t *const *send_types, void *recv,
                               mca_coll_epcoll_counts_t recv_counts,
                               mca_coll_epcoll_disps_t recv_disps,
                               ompi_datatype_t *const *recv_types, ompi_communicator_t *comm,
                               ompi_request_t **request_p, mca_coll_base_module_t *module)
{
    return EPCOLL_BEGIN(alltoallw, comm, request_p, module, send, send_counts, send_disps,
                        send_types, recv, recv_counts, recv_disps, recv_types);
}

int mca_coll_epcoll_alltoallw_init(const void *send, mca_coll_epcoll_counts_t send_counts,
                                   mca_coll_epcoll_disps_t send_disps,
                                   ompi_datatype_t *const *send_types, void *recv,
                                   mca_coll_epcoll_counts_t recv_counts,
                                   mca_coll_epcoll_disps_t recv_disps,
                                   ompi_datatype_t *const *recv_types, ompi_communicator_t *comm,
                                   struct ompi_info_t *info, ompi_request_t **request_p,
                                   mca_coll_base_module_t *module)
{
    return EPCOLL_INIT(alltoallw, comm, info, request_p, module, send, send_counts, send_disps,
                       send_types, recv, recv_counts, recv_disps, recv_types);
}
