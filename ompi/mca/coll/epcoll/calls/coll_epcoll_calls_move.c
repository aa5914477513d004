/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The kinds that move data from one member to all, and from all to one.
 *
 * Called by libmpi.
 *
 * Tests: coll_move, coll_late
 */

#include "ompi_config.h"

#include "../local/local.h"
#include "coll_epcoll_forms.h"

static bool call_fill_bcast(mca_coll_epcoll_call_t *call, const mca_coll_epcoll_handle_t *handle,
                            void *buffer, size_t count, ompi_datatype_t *type, int root)
{
    mca_coll_epcoll_call_of_kind(call, EPCOLL_BCAST);
    call->root = root;
    call->bytes = mca_coll_epcoll_packed(count, type);
    if (mca_coll_epcoll_is_root(handle, root)) {
        call->send = buffer;
        call->send_count = count;
        call->send_type = type;
    } else {
        call->recv = buffer;
        call->recv_count = count;
        call->recv_type = type;
    }
    return 0 != call->bytes;
}

/** A broadcast that is not small: in a function of its own, as it needs a call's memory. */
static int bcast_any(void *buffer, mca_coll_epcoll_count_t count, ompi_datatype_t *type, int root,
                     ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    return EPCOLL_RUN(bcast, comm, module, buffer, count, type, root);
}

int mca_coll_epcoll_bcast(void *buffer, mca_coll_epcoll_count_t count, ompi_datatype_t *type,
                          int root, ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    mca_coll_epcoll_handle_t *handle = mca_coll_epcoll_handle(module);
    const size_t bytes = mca_coll_epcoll_packed((size_t) count, type);

    if (OPAL_LIKELY(mca_coll_epcoll_fits_slot(handle, bytes)
                    && mca_coll_epcoll_is_flat(type, (size_t) count))) {
        mca_coll_epcoll_count(handle, EPCOLL_BCAST, EPCOLL_PATH_SLOTS);
        return mca_coll_epcoll_small_bcast(&handle->view,
                                           mca_coll_epcoll_away(buffer, type->super.true_lb), bytes,
                                           root);
    }
    return bcast_any(buffer, count, type, root, comm, module);
}

int mca_coll_epcoll_ibcast(void *buffer, mca_coll_epcoll_count_t count, ompi_datatype_t *type,
                           int root, ompi_communicator_t *comm, ompi_request_t **request_p,
                           mca_coll_base_module_t *module)
{
    return EPCOLL_BEGIN(bcast, comm, request_p, module, buffer, count, type, root);
}

int mca_coll_epcoll_bcast_init(void *buffer, mca_coll_epcoll_count_t count, ompi_datatype_t *type,
                               int root, ompi_communicator_t *comm, struct ompi_info_t *info,
                               ompi_request_t **request_p, mca_coll_base_module_t *module)
{
    return EPCOLL_INIT(bcast, comm, info, request_p, module, buffer, count, type, root);
}

static bool call_fill_gather(mca_coll_epcoll_call_t *call, const mca_coll_epcoll_handle_t *handle,
                             const void *send, size_t send_count, ompi_datatype_t *send_type,
                             void *recv, size_t recv_count, ompi_datatype_t *recv_type, int root)
{
    mca_coll_epcoll_call_of_kind(call, EPCOLL_GATHER);
    call->root = root;
    mca_coll_epcoll_fill_send(call, send, send_count, send_type);
    if (mca_coll_epcoll_is_root(handle, root)) {
        mca_coll_epcoll_fill_recv(call, recv, recv_count, recv_type);
        call->bytes = mca_coll_epcoll_packed(recv_count, recv_type);
    } else {
        call->bytes = mca_coll_epcoll_packed(send_count, send_type);
    }
    return 0 != call->bytes;
}

int mca_coll_epcoll_gather(const void *send, mca_coll_epcoll_count_t send_count,
                           ompi_datatype_t *send_type, void *recv,
                           mca_coll_epcoll_count_t recv_count, ompi_datatype_t *recv_type, int root,
                           ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    return EPCOLL_RUN(gather, comm, module, send, send_count, send_type, recv, recv_count,
                      recv_type, root);
}

int mca_coll_epcoll_igather(const void *send, mca_coll_epcoll_count_t send_count,
                            ompi_datatype_t *send_type, void *recv,
                            mca_coll_epcoll_count_t recv_count, ompi_datatype_t *recv_type,
                            int root, ompi_communicator_t *comm, ompi_request_t **request_p,
                            mca_coll_base_module_t *module)
{
    return EPCOLL_BEGIN(gather, comm, request_p, module, send, send_count, send_type, recv,
                        recv_count, recv_type, root);
}

int mca_coll_epcoll_gather_init(const void *send, mca_coll_epcoll_count_t send_count,
                                ompi_datatype_t *send_type, void *recv,
                                mca_coll_epcoll_count_t recv_count, ompi_datatype_t *recv_type,
                                int root, ompi_communicator_t *comm, struct ompi_info_t *info,
                                ompi_request_t **request_p, mca_coll_base_module_t *module)
{
    return EPCOLL_INIT(gather, comm, info, request_p, module, send, send_count, send_type, recv,
                       recv_count, recv_type, root);
}

static bool call_fill_gatherv(mca_coll_epcoll_call_t *call, const mca_coll_epcoll_handle_t *handle,
                              const void *send, size_t send_count, ompi_datatype_t *send_type,
                              void *recv, mca_coll_epcoll_counts_t counts,
                              mca_coll_epcoll_disps_t disps, ompi_datatype_t *recv_type, int root)
{
    mca_coll_epcoll_call_of_kind(call, EPCOLL_GATHERV);
    call->root = root;
    mca_coll_epcoll_fill_send(call, send, send_count, send_type);
    if (mca_coll_epcoll_is_root(handle, root)) {
        mca_coll_epcoll_fill_recv_v(call, recv, counts, disps, recv_type);
    }
    return true;
}

int mca_coll_epcoll_gatherv(const void *send, mca_coll_epcoll_count_t send_count,
                            ompi_datatype_t *send_type, void *recv, mca_coll_epcoll_counts_t counts,
                            mca_coll_epcoll_disps_t disps, ompi_datatype_t *recv_type, int root,
                            ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    return EPCOLL_RUN(gatherv, comm, module, send, send_count, send_type, recv, counts, disps,
                      recv_type, root);
}

int mca_coll_epcoll_igatherv(const void *send, mca_coll_epcoll_count_t send_count,
                             ompi_datatype_t *send_type, void *recv,
                             mca_coll_epcoll_counts_t counts, mca_coll_epcoll_disps_t disps,
                             ompi_datatype_t *recv_type, int root, ompi_communicator_t *comm,
                             ompi_request_t **request_p, mca_coll_base_module_t *module)
{
    return EPCOLL_BEGIN(gatherv, comm, request_p, module, send, send_count, send_type, recv, counts,
                        disps, recv_type, root);
}

int mca_coll_epcoll_gatherv_init(const void *send, mca_coll_epcoll_count_t send_count,
                                 ompi_datatype_t *send_type, void *recv,
                                 mca_coll_epcoll_counts_t counts, mca_coll_epcoll_disps_t disps,
                                 ompi_datatype_t *recv_type, int root, ompi_communicator_t *comm,
                                 struct ompi_info_t *info, ompi_request_t **request_p,
                                 mca_coll_base_module_t *module)
{
    return EPCOLL_INIT(gatherv, comm, info, request_p, module, send, send_count, send_type, recv,
                       counts, disps, recv_type, root);
}

static bool call_fill_scatter(mca_coll_epcoll_call_t *call, const mca_coll_epcoll_handle_t *handle,
                              const void *send, size_t send_count, ompi_datatype_t *send_type,
                              void *recv, size_t recv_count, ompi_datatype_t *recv_type, int root)
{
    mca_coll_epcoll_call_of_kind(call, EPCOLL_SCATTER);
    call->root = root;
    call->in_place = EPCOLL_IN_PLACE(recv);
    if (!call->in_place) {
        mca_coll_epcoll_fill_recv(call, recv, recv_count, recv_type);
    }
    if (mca_coll_epcoll_is_root(handle, root)) {
        call->send = send;
        call->send_count = send_count;
        call->send_type = send_type;
        call->bytes = mca_coll_epcoll_packed(send_count, send_type);
    } else {
        call->bytes = mca_coll_epcoll_packed(recv_count, recv_type);
    }
    return 0 != call->bytes;
}

static int scatter_any(const void *send, mca_coll_epcoll_count_t send_count,
                       ompi_datatype_t *send_type, void *recv, mca_coll_epcoll_count_t recv_count,
                       ompi_datatype_t *recv_type, int root, ompi_communicator_t *comm,
                       mca_coll_base_module_t *module)
{
    return EPCOLL_RUN(scatter, comm, module, send, send_count, send_type, recv, recv_count,
                      recv_type, root);
}

int mca_coll_epcoll_scatter(const void *send, mca_coll_epcoll_count_t send_count,
                            ompi_datatype_t *send_type, void *recv,
                            mca_coll_epcoll_count_t recv_count, ompi_datatype_t *recv_type,
                            int root, ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    mca_coll_epcoll_handle_t *handle = mca_coll_epcoll_handle(module);
    const uint32_t members = handle->view.member.count;
    const bool is_root = handle->view.member.index == (uint32_t) root;
    size_t bytes;

    if (EPCOLL_IN_PLACE(recv) || !mca_coll_epcoll_is_flat(recv_type, (size_t) recv_count)) {
        return scatter_any(send, send_count, send_type, recv, recv_count, recv_type, root, comm,
                           module);
    }
    bytes = mca_coll_epcoll_packed((size_t) recv_count, recv_type);
    if (OPAL_LIKELY(mca_coll_epcoll_fits_slot(handle, bytes * members)
                    && (!is_root
                        || (bytes == mca_coll_epcoll_packed((size_t) send_count, send_type)
                            && mca_coll_epcoll_is_flat(send_type,
                                                       (size_t) send_count * members))))) {
        mca_coll_epcoll_count(handle, EPCOLL_SCATTER, EPCOLL_PATH_SLOTS);
        return mca_coll_epcoll_small_scatter(
            &handle->view, is_root ? mca_coll_epcoll_away(send, send_type->super.true_lb) : NULL,
            mca_coll_epcoll_away(recv, recv_type->super.true_lb), bytes, root);
    }
    return scatter_any(send, send_count, send_type, recv, recv_count, recv_type, root, comm,
                       module);
}

int mca_coll_epcoll_iscatter(const void *send, mca_coll_epcoll_count_t send_count,
                             ompi_datatype_t *send_type, void *recv,
                             mca_coll_epcoll_count_t recv_count, ompi_datatype_t *recv_type,
                             int root, ompi_communicator_t *comm, ompi_request_t **request_p,
                             mca_coll_base_module_t *module)
{
    return EPCOLL_BEGIN(scatter, comm, request_p, module, send, send_count, send_type, recv,
                        recv_count, recv_type, root);
}

int mca_coll_epcoll_scatter_init(const void *send, mca_coll_epcoll_count_t send_count,
                                 ompi_datatype_t *send_type, void *recv,
                                 mca_coll_epcoll_count_t recv_count, ompi_datatype_t *recv_type,
                                 int root, ompi_communicator_t *comm, struct ompi_info_t *info,
                                 ompi_request_t **request_p, mca_coll_base_module_t *module)
{
    return EPCOLL_INIT(scatter, comm, info, request_p, module, send, send_count, send_type, recv,
                       recv_count, recv_type, root);
}

static bool call_fill_scatterv(mca_coll_epcoll_call_t *call, const mca_coll_epcoll_handle_t *handle,
                               const void *send, mca_coll_epcoll_counts_t counts,
                               mca_coll_epcoll_disps_t disps, ompi_datatype_t *send_type,
                               void *recv, size_t recv_count, ompi_datatype_t *recv_type, int root)
{
    mca_coll_epcoll_call_of_kind(call, EPCOLL_SCATTERV);
    call->root = root;
    call->in_place = EPCOLL_IN_PLACE(recv);
    if (!call->in_place) {
        mca_coll_epcoll_fill_recv(call, recv, recv_count, recv_type);
    }
    if (mca_coll_epcoll_is_root(handle, root)) {
        call->send = send;
        call->send_counts = counts;
        call->send_disps = disps;
        call->send_type = send_type;
    }
    return true;
}

int mca_coll_epcoll_scatterv(const void *send, mca_coll_epcoll_counts_t counts,
                             mca_coll_epcoll_disps_t disps, ompi_datatype_t *send_type, void *recv,
                             mca_coll_epcoll_count_t recv_count, ompi_datatype_t *recv_type,
                             int root, ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    return EPCOLL_RUN(scatterv, comm, module, send, counts, disps, send_type, recv, recv_count,
                      recv_type, root);
}

int mca_coll_epcoll_iscatterv(const void *send, mca_coll_epcoll_counts_t counts,
                              mca_coll_epcoll_disps_t disps, ompi_datatype_t *send_type, void *recv,
                              mca_coll_epcoll_count_t recv_count, ompi_datatype_t *recv_type,
                              int root, ompi_communicator_t *comm, ompi_request_t **request_p,
                              mca_coll_base_module_t *module)
{
    return EPCOLL_BEGIN(scatterv, comm, request_p, module, send, counts, disps, send_type, recv,
                        recv_count, recv_type, root);
}

int mca_coll_epcoll_scatterv_init(const void *send, mca_coll_epcoll_counts_t counts,
                                  mca_coll_epcoll_disps_t disps, ompi_datatype_t *send_type,
                                  void *recv, mca_coll_epcoll_count_t recv_count,
                                  ompi_datatype_t *recv_type, int root, ompi_communicator_t *comm,
                                  struct ompi_info_t *info, ompi_request_t **request_p,
                                  mca_coll_base_module_t *module)
{
    return EPCOLL_INIT(scatterv, comm, info, request_p, module, send, counts, disps, send_type,
                       recv, recv_count, recv_type, root);
}
