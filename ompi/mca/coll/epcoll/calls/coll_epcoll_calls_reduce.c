/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Barrier and the kinds that reduce.
 *
 * Called by libmpi.
 *
 * Tests: coll_reduce, coll_late
 */

#include "ompi_config.h"

#include "../local/local.h"
#include "coll_epcoll_forms.h"

static const mca_coll_epcoll_call_t barrier = {.kind = EPCOLL_BARRIER};

int mca_coll_epcoll_barrier(struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    mca_coll_epcoll_handle_t *handle = mca_coll_epcoll_handle(module);
    mca_coll_epcoll_call_t call;

    (void) comm;
    if (OPAL_LIKELY(handle->view.is_local)) {
        mca_coll_epcoll_count(handle, EPCOLL_BARRIER, EPCOLL_PATH_SLOTS);
        return mca_coll_epcoll_ended(&handle->view, epcoll_barrier(&handle->view.member));
    }
    call = barrier;
    (void) mca_coll_epcoll_hier_serves(handle, &call);
    return handle->run(handle, &call);
}

int mca_coll_epcoll_ibarrier(struct ompi_communicator_t *comm, ompi_request_t **request_p,
                             mca_coll_base_module_t *module)
{
    mca_coll_epcoll_handle_t *handle = mca_coll_epcoll_handle(module);
    mca_coll_epcoll_call_t call = barrier;

    (void) comm;
    if (NULL != mca_coll_epcoll_layout(handle)) {
        (void) mca_coll_epcoll_hier_serves(handle, &call);
    }
    return mca_coll_epcoll_component.begin(handle, &call, request_p);
}

int mca_coll_epcoll_barrier_init(struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                 ompi_request_t **request_p, mca_coll_base_module_t *module)
{
    mca_coll_epcoll_handle_t *handle = mca_coll_epcoll_handle(module);

    (void) comm;
    (void) info;
    return mca_coll_epcoll_component.init(handle, &barrier, request_p);
}

/** What those that reduce have in common.  @param count  elements of the whole vector */
static bool call_fill_reduction(mca_coll_epcoll_call_t *call, mca_coll_epcoll_kind_t kind,
                                const void *send, void *recv, size_t count, ompi_datatype_t *type,
                                ompi_op_t *op)
{
    mca_coll_epcoll_call_of_kind(call, kind);
    call->in_place = EPCOLL_IN_PLACE(send);
    call->send = send;
    call->recv = recv;
    call->recv_count = count;
    call->recv_type = type;
    call->op = op;
    call->bytes = mca_coll_epcoll_packed(count, type);
    return 0 != call->bytes;
}

static bool call_fill_exscan(mca_coll_epcoll_call_t *call, const mca_coll_epcoll_handle_t *handle,
                             const void *send, void *recv, size_t count, ompi_datatype_t *type,
                             ompi_op_t *op)
{
    (void) handle;
    return call_fill_reduction(call, EPCOLL_EXSCAN, send, recv, count, type, op);
}

static bool call_fill_scan(mca_coll_epcoll_call_t *call, const mca_coll_epcoll_handle_t *handle,
                           const void *send, void *recv, size_t count, ompi_datatype_t *type,
                           ompi_op_t *op)
{
    (void) handle;
    return call_fill_reduction(call, EPCOLL_SCAN, send, recv, count, type, op);
}

static bool call_fill_reduce(mca_coll_epcoll_call_t *call, const mca_coll_epcoll_handle_t *handle,
                             const void *send, void *recv, size_t count, ompi_datatype_t *type,
                             ompi_op_t *op, int root)
{
    const bool something = call_fill_reduction(call, EPCOLL_REDUCE, send, recv, count, type, op);

    call->root = root;
    if (!mca_coll_epcoll_is_root(handle, root)) {
        call->recv = NULL;
        call->in_place = false;
    }
    return something;
}

static bool call_fill_reduce_scatter(mca_coll_epcoll_call_t *call,
                                     const mca_coll_epcoll_handle_t *handle, const void *send,
                                     void *recv, mca_coll_epcoll_counts_t counts,
                                     ompi_datatype_t *type, ompi_op_t *op)
{
    size_t count = 0;
    bool something;

    for (uint32_t i = 0; i < mca_coll_epcoll_size(handle); ++i) {
        count += EPCOLL_COUNT(counts, i);
    }
    something = call_fill_reduction(call, EPCOLL_REDUCE_SCATTER, send, recv, count, type, op);
    call->recv_counts = counts;
    return something;
}

static bool call_fill_reduce_scatter_block(mca_coll_epcoll_call_t *call,
                                           const mca_coll_epcoll_handle_t *handle, const void *send,
                                           void *recv, size_t count, ompi_datatype_t *type,
                                           ompi_op_t *op)
{
    const bool something = call_fill_reduction(call, EPCOLL_REDUCE_SCATTER_BLOCK, send, recv,
                                               count * mca_coll_epcoll_size(handle), type, op);

    call->send_count = count;
    return something;
}

static bool call_fill_allreduce(mca_coll_epcoll_call_t *call,
                                const mca_coll_epcoll_handle_t *handle, const void *send,
                                void *recv, size_t count, ompi_datatype_t *type, ompi_op_t *op)
{
    (void) handle;
    return call_fill_reduction(call, EPCOLL_ALLREDUCE, send, recv, count, type, op);
}

/* ---- functions ------------------------------------------------------------------------------- */

int mca_coll_epcoll_allreduce(const void *send, void *recv, mca_coll_epcoll_count_t count,
                              ompi_datatype_t *type, ompi_op_t *op, ompi_communicator_t *comm,
                              mca_coll_base_module_t *module)
{
    mca_coll_epcoll_handle_t *handle = mca_coll_epcoll_handle(module);
    const size_t bytes = mca_coll_epcoll_packed((size_t) count, type);

    if (OPAL_LIKELY(mca_coll_epcoll_fits_slot(handle, bytes)
                    && mca_coll_epcoll_is_as_packed(type))) {
        mca_coll_epcoll_count(handle, EPCOLL_ALLREDUCE, EPCOLL_PATH_SLOTS);
        return mca_coll_epcoll_small_allreduce(&handle->view, EPCOLL_IN_PLACE(send) ? recv : send,
                                               recv, (size_t) count, type, op);
    }
    return EPCOLL_RUN(allreduce, comm, module, send, recv, count, type, op);
}

int mca_coll_epcoll_iallreduce(const void *send, void *recv, mca_coll_epcoll_count_t count,
                               ompi_datatype_t *type, ompi_op_t *op, ompi_communicator_t *comm,
                               ompi_request_t **request_p, mca_coll_base_module_t *module)
{
    return EPCOLL_BEGIN(allreduce, comm, request_p, module, send, recv, count, type, op);
}

int mca_coll_epcoll_allreduce_init(const void *send, void *recv, mca_coll_epcoll_count_t count,
                                   ompi_datatype_t *type, ompi_op_t *op, ompi_communicator_t *comm,
                                   struct ompi_info_t *info, ompi_request_t **request_p,
                                   mca_coll_base_module_t *module)
{
    return EPCOLL_INIT(allreduce, comm, info, request_p, module, send, recv, count, type, op);
}

int mca_coll_epcoll_exscan(const void *send, void *recv, mca_coll_epcoll_count_t count,
                           ompi_datatype_t *type, ompi_op_t *op, ompi_communicator_t *comm,
                           mca_coll_base_module_t *module)
{
    return EPCOLL_RUN(exscan, comm, module, send, recv, count, type, op);
}

int mca_coll_epcoll_iexscan(const void *send, void *recv, mca_coll_epcoll_count_t count,
                            ompi_datatype_t *type, ompi_op_t *op, ompi_communicator_t *comm,
                            ompi_request_t **request_p, mca_coll_base_module_t *module)
{
    return EPCOLL_BEGIN(exscan, comm, request_p, module, send, recv, count, type, op);
}

int mca_coll_epcoll_exscan_init(const void *send, void *recv, mca_coll_epcoll_count_t count,
                                ompi_datatype_t *type, ompi_op_t *op, ompi_communicator_t *comm,
                                struct ompi_info_t *info, ompi_request_t **request_p,
                                mca_coll_base_module_t *module)
{
    return EPCOLL_INIT(exscan, comm, info, request_p, module, send, recv, count, type, op);
}

int mca_coll_epcoll_reduce(const void *send, void *recv, mca_coll_epcoll_count_t count,
                           ompi_datatype_t *type, ompi_op_t *op, int root,
                           ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    return EPCOLL_RUN(reduce, comm, module, send, recv, count, type, op, root);
}

int mca_coll_epcoll_ireduce(const void *send, void *recv, mca_coll_epcoll_count_t count,
                            ompi_datatype_t *type, ompi_op_t *op, int root,
                            ompi_communicator_t *comm, ompi_request_t **request_p,
                            mca_coll_base_module_t *module)
{
    return EPCOLL_BEGIN(reduce, comm, request_p, module, send, recv, count, type, op, root);
}

int mca_coll_epcoll_reduce_init(const void *send, void *recv, mca_coll_epcoll_count_t count,
                                ompi_datatype_t *type, ompi_op_t *op, int root,
                                ompi_communicator_t *comm, struct ompi_info_t *info,
                                ompi_request_t **request_p, mca_coll_base_module_t *module)
{
    return EPCOLL_INIT(reduce, comm, info, request_p, module, send, recv, count, type, op, root);
}

int mca_coll_epcoll_reduce_scatter(const void *send, void *recv, mca_coll_epcoll_counts_t counts,
                                   ompi_datatype_t *type, ompi_op_t *op, ompi_communicator_t *comm,
                                   mca_coll_base_module_t *module)
{
    return EPCOLL_RUN(reduce_scatter, comm, module, send, recv, counts, type, op);
}

int mca_coll_epcoll_ireduce_scatter(const void *send, void *recv, mca_coll_epcoll_counts_t counts,
                                    ompi_datatype_t *type, ompi_op_t *op, ompi_communicator_t *comm,
                                    ompi_request_t **request_p, mca_coll_base_module_t *module)
{
    return EPCOLL_BEGIN(reduce_scatter, comm, request_p, module, send, recv, counts, type, op);
}

int mca_coll_epcoll_reduce_scatter_init(const void *send, void *recv,
                                        mca_coll_epcoll_counts_t counts, ompi_datatype_t *type,
                                        ompi_op_t *op, ompi_communicator_t *comm,
                                        struct ompi_info_t *info, ompi_request_t **request_p,
                                        mca_coll_base_module_t *module)
{
    return EPCOLL_INIT(reduce_scatter, comm, info, request_p, module, send, recv, counts, type, op);
}

int mca_coll_epcoll_reduce_scatter_block(const void *send, void *recv,
                                         mca_coll_epcoll_count_t count, ompi_datatype_t *type,
                                         ompi_op_t *op, ompi_communicator_t *comm,
                                         mca_coll_base_module_t *module)
{
    return EPCOLL_RUN(reduce_scatter_block, comm, module, send, recv, count, type, op);
}

int mca_coll_epcoll_ireduce_scatter_block(const void *send, void *recv,
                                          mca_coll_epcoll_count_t count, ompi_datatype_t *type,
                                          ompi_op_t *op, ompi_communicator_t *comm,
                                          ompi_request_t **request_p,
                                          mca_coll_base_module_t *module)
{
    return EPCOLL_BEGIN(reduce_scatter_block, comm, request_p, module, send, recv, count, type, op);
}

int mca_coll_epcoll_reduce_scatter_block_init(const void *send, void *recv,
                                              mca_coll_epcoll_count_t count, ompi_datatype_t *type,
                                              ompi_op_t *op, ompi_communicator_t *comm,
                                              struct ompi_info_t *info, ompi_request_t **request_p,
                                              mca_coll_base_module_t *module)
{
    return EPCOLL_INIT(reduce_scatter_block, comm, info, request_p, module, send, recv, count, type,
                       op);
}

int mca_coll_epcoll_scan(const void *send, void *recv, mca_coll_epcoll_count_t count,
                         ompi_datatype_t *type, ompi_op_t *op, ompi_communicator_t *comm,
                         mca_coll_base_module_t *module)
{
    return EPCOLL_RUN(scan, comm, module, send, recv, count, type, op);
}

int mca_coll_epcoll_iscan(const void *send, void *recv, mca_coll_epcoll_count_t count,
                          ompi_datatype_t *type, ompi_op_t *op, ompi_communicator_t *comm,
                          ompi_request_t **request_p, mca_coll_base_module_t *module)
{
    return EPCOLL_BEGIN(scan, comm, request_p, module, send, recv, count, type, op);
}

int mca_coll_epcoll_scan_init(const void *send, void *recv, mca_coll_epcoll_count_t count,
                              ompi_datatype_t *type, ompi_op_t *op, ompi_communicator_t *comm,
                              struct ompi_info_t *info, ompi_request_t **request_p,
                              mca_coll_base_module_t *module)
{
    return EPCOLL_INIT(scan, comm, info, request_p, module, send, recv, count, type, op);
}
