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

    (void) comm;
    if (OPAL_LIKELY(handle->is_local)) {
        mca_coll_epcoll_count(handle, EPCOLL_BARRIER, EPCOLL_WAY_SMALL);
        return mca_coll_epcoll_ended(handle, epcoll_barrier(&handle->member));
    }
    (void) mca_coll_epcoll_between_serves(handle, &barrier);
    return handle->run(handle, &barrier);
}

int mca_coll_epcoll_ibarrier(struct ompi_communicator_t *comm, ompi_request_t **request_p,
                             mca_coll_base_module_t *module)
{
    mca_coll_epcoll_handle_t *handle = mca_coll_epcoll_handle(module);

    (void) comm;
    if (NULL != mca_coll_epcoll_layout(handle)) {
        (void) mca_coll_epcoll_between_serves(handle, &barrier);
    }
    return mca_coll_epcoll_component.begin(handle, &barrier, request_p);
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
static bool fill(mca_coll_epcoll_call_t *call, mca_coll_epcoll_kind_t kind, const void *send,
                 void *recv, size_t count, ompi_datatype_t *type, ompi_op_t *op)
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

static bool fill_exscan(mca_coll_epcoll_call_t *call, const mca_coll_epcoll_handle_t *handle,
                        const void *send, void *recv, size_t count, ompi_datatype_t *type,
                        ompi_op_t *op)
{
    (void) handle;
    return fill(call, EPCOLL_EXSCAN, send, recv, count, type, op);
}

static bool fill_scan(mca_coll_epcoll_call_t *call, const mca_coll_epcoll_handle_t *handle,
                      const void *send, void *recv, size_t count, ompi_datatype_t *type,
                      ompi_op_t *op)
{
    (void) handle;
    return fill(call, EPCOLL_SCAN, send, recv, count, type, op);
}

static bool fill_reduce(mca_coll_epcoll_call_t *call, const mca_coll_epcoll_handle_t *handle,
                        const void *send, void *recv, size_t count, ompi_datatype_t *type,
                        ompi_op_t *op, int root)
{
    const bool something = fill(call, EPCOLL_REDUCE, send, recv, count, type, op);

    call->root = root;
    if (!mca_coll_epcoll_is_root(handle, root)) {
        call->recv = NULL;
        call->in_place = false;
    }
    return something;
}

static bool fill_reduce_scatter(mca_coll_epcoll_call_t *call,
                                const mca_coll_epcoll_handle_t *handle, const void *send,
                                void *recv, mca_coll_epcoll_counts_t counts, ompi_datatype_t *type,
                                ompi_op_t *op)
{
    size_t count = 0;
    bool something;

    for (uint32_t i = 0; i < mca_coll_epcoll_size(handle); ++i) {
        count += EPCOLL_COUNT(counts, i);
    }
    something = fill(call, EPCOLL_REDUCE_SCATTER, send, recv, count, type, op);
    call->recv_counts = counts;
    return something;
}

static bool fill_reduce_scatter_block(mca_coll_epcoll_call_t *call,
                                      const mca_coll_epcoll_handle_t *handle, const void *send,
                                      void *recv, size_t count, ompi_datatype_t *type,
                                      ompi_op_t *op)
{
    const bool something = fill(call, EPCOLL_REDUCE_SCATTER_BLOCK, send, recv,
                                count * mca_coll_epcoll_size(handle), type, op);

    call->send_count = count;
    return something;
}

static bool fill_allreduce(mca_coll_epcoll_call_t *call, const mca_coll_epcoll_handle_t *handle,
                           const void *send, void *recv, size_t count, ompi_datatype_t *type,
                           ompi_op_t *op)
{
    (void) handle;
    return fill(call, EPCOLL_ALLREDUCE, send, recv, count, type, op);
}

#define PARAMETERS                                                                             \
    (const void *send, void *recv, mca_coll_epcoll_count_t count, struct ompi_datatype_t *type, \
     struct ompi_op_t *op)
#define ARGUMENTS (send, recv, (size_t) count, type, op)

static EPCOLL_FORM_BLOCKING(allreduce_any, allreduce, PARAMETERS,
                            ARGUMENTS) EPCOLL_FORMS_LATER(allreduce, PARAMETERS, ARGUMENTS)

    int mca_coll_epcoll_allreduce(const void *send, void *recv, mca_coll_epcoll_count_t count,
                                  struct ompi_datatype_t *type, struct ompi_op_t *op,
                                  struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    mca_coll_epcoll_handle_t *handle = mca_coll_epcoll_handle(module);
    const size_t bytes = mca_coll_epcoll_packed((size_t) count, type);

    if (OPAL_LIKELY(mca_coll_epcoll_fits_slot(handle, bytes)
                    && mca_coll_epcoll_is_as_packed(type))) {
        mca_coll_epcoll_count(handle, EPCOLL_ALLREDUCE, EPCOLL_WAY_SMALL);
        return mca_coll_epcoll_small_allreduce(handle, EPCOLL_IN_PLACE(send) ? recv : send, recv,
                                               (size_t) count, type, op);
    }
    return allreduce_any(send, recv, count, type, op, comm, module);
}

EPCOLL_FORMS(exscan, PARAMETERS, ARGUMENTS)
EPCOLL_FORMS(reduce,
             (const void *send, void *recv, mca_coll_epcoll_count_t count,
              struct ompi_datatype_t *type, struct ompi_op_t *op, int root),
             (send, recv, (size_t) count, type, op, root))
EPCOLL_FORMS(reduce_scatter,
             (const void *send, void *recv, mca_coll_epcoll_counts_t counts,
              struct ompi_datatype_t *type, struct ompi_op_t *op),
             (send, recv, counts, type, op))
EPCOLL_FORMS(reduce_scatter_block, PARAMETERS, ARGUMENTS)
EPCOLL_FORMS(scan, PARAMETERS, ARGUMENTS)
