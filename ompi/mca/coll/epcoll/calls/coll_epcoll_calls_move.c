/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The kinds that move data.
 *
 * Called by libmpi.
 *
 * Tests: coll_move, coll_late
 */

#include "ompi_config.h"

#include "../local/local.h"
#include "coll_epcoll_forms.h"

/* ---- one to all, and all to one -------------------------------------------------------------- */

static bool fill_bcast(mca_coll_epcoll_call_t *call, const mca_coll_epcoll_handle_t *handle,
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

#define PARAMETERS \
    (void *buffer, mca_coll_epcoll_count_t count, struct ompi_datatype_t *type, int root)
#define ARGUMENTS (buffer, (size_t) count, type, root)

static EPCOLL_FORM_BLOCKING(bcast_any, bcast, PARAMETERS, ARGUMENTS)
    EPCOLL_FORMS_LATER(bcast, PARAMETERS, ARGUMENTS)

#undef PARAMETERS
#undef ARGUMENTS

        int mca_coll_epcoll_bcast(void *buffer, mca_coll_epcoll_count_t count,
                                  struct ompi_datatype_t *type, int root,
                                  struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    mca_coll_epcoll_handle_t *handle = mca_coll_epcoll_handle(module);
    const size_t bytes = mca_coll_epcoll_packed((size_t) count, type);

    if (OPAL_LIKELY(mca_coll_epcoll_fits_slot(handle, bytes)
                    && mca_coll_epcoll_is_flat(type, (size_t) count))) {
        mca_coll_epcoll_count(handle, EPCOLL_BCAST, EPCOLL_WAY_SMALL);
        return mca_coll_epcoll_small_bcast(handle,
                                           mca_coll_epcoll_away(buffer, type->super.true_lb), bytes,
                                           root);
    }
    return bcast_any(buffer, count, type, root, comm, module);
}

/** Of those that gather: what is sent, unless it is in place. */
static void fill_send(mca_coll_epcoll_call_t *call, const void *send, size_t count,
                      ompi_datatype_t *type)
{
    call->in_place = EPCOLL_IN_PLACE(send);
    if (!call->in_place) {
        call->send = send;
        call->send_count = count;
        call->send_type = type;
    }
}

static void fill_recv(mca_coll_epcoll_call_t *call, void *recv, size_t count,
                      ompi_datatype_t *type)
{
    call->recv = recv;
    call->recv_count = count;
    call->recv_type = type;
}

static void fill_recv_v(mca_coll_epcoll_call_t *call, void *recv, mca_coll_epcoll_counts_t counts,
                        mca_coll_epcoll_disps_t disps, ompi_datatype_t *type)
{
    call->recv = recv;
    call->recv_counts = counts;
    call->recv_disps = disps;
    call->recv_type = type;
}

static bool fill_gather(mca_coll_epcoll_call_t *call, const mca_coll_epcoll_handle_t *handle,
                        const void *send, size_t send_count, ompi_datatype_t *send_type,
                        void *recv, size_t recv_count, ompi_datatype_t *recv_type, int root)
{
    mca_coll_epcoll_call_of_kind(call, EPCOLL_GATHER);
    call->root = root;
    fill_send(call, send, send_count, send_type);
    if (mca_coll_epcoll_is_root(handle, root)) {
        fill_recv(call, recv, recv_count, recv_type);
        call->bytes = mca_coll_epcoll_packed(recv_count, recv_type);
    } else {
        call->bytes = mca_coll_epcoll_packed(send_count, send_type);
    }
    return 0 != call->bytes;
}

EPCOLL_FORMS(gather,
             (const void *send, mca_coll_epcoll_count_t send_count,
              struct ompi_datatype_t *send_type, void *recv, mca_coll_epcoll_count_t recv_count,
              struct ompi_datatype_t *recv_type, int root),
             (send, (size_t) send_count, send_type, recv, (size_t) recv_count, recv_type, root))

static bool fill_gatherv(mca_coll_epcoll_call_t *call, const mca_coll_epcoll_handle_t *handle,
                         const void *send, size_t send_count, ompi_datatype_t *send_type,
                         void *recv, mca_coll_epcoll_counts_t counts,
                         mca_coll_epcoll_disps_t disps, ompi_datatype_t *recv_type, int root)
{
    mca_coll_epcoll_call_of_kind(call, EPCOLL_GATHERV);
    call->root = root;
    fill_send(call, send, send_count, send_type);
    if (mca_coll_epcoll_is_root(handle, root)) {
        fill_recv_v(call, recv, counts, disps, recv_type);
    }
    return true;
}

EPCOLL_FORMS(gatherv,
             (const void *send, mca_coll_epcoll_count_t send_count,
              struct ompi_datatype_t *send_type, void *recv, mca_coll_epcoll_counts_t counts,
              mca_coll_epcoll_disps_t disps, struct ompi_datatype_t *recv_type, int root),
             (send, (size_t) send_count, send_type, recv, counts, disps, recv_type, root))

static bool fill_scatter(mca_coll_epcoll_call_t *call, const mca_coll_epcoll_handle_t *handle,
                         const void *send, size_t send_count, ompi_datatype_t *send_type,
                         void *recv, size_t recv_count, ompi_datatype_t *recv_type, int root)
{
    mca_coll_epcoll_call_of_kind(call, EPCOLL_SCATTER);
    call->root = root;
    call->in_place = EPCOLL_IN_PLACE(recv);
    if (!call->in_place) {
        fill_recv(call, recv, recv_count, recv_type);
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

#define PARAMETERS                                                                            \
    (const void *send, mca_coll_epcoll_count_t send_count, struct ompi_datatype_t *send_type, \
     void *recv, mca_coll_epcoll_count_t recv_count, struct ompi_datatype_t *recv_type, int root)
#define ARGUMENTS (send, (size_t) send_count, send_type, recv, (size_t) recv_count, recv_type, root)

static EPCOLL_FORM_BLOCKING(scatter_any, scatter, PARAMETERS,
                            ARGUMENTS) EPCOLL_FORMS_LATER(scatter, PARAMETERS, ARGUMENTS)

#undef PARAMETERS
#undef ARGUMENTS

    int mca_coll_epcoll_scatter(const void *send, mca_coll_epcoll_count_t send_count,
                                struct ompi_datatype_t *send_type, void *recv,
                                mca_coll_epcoll_count_t recv_count,
                                struct ompi_datatype_t *recv_type, int root,
                                struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    mca_coll_epcoll_handle_t *handle = mca_coll_epcoll_handle(module);
    const uint32_t members = handle->member.count;
    const bool is_root = handle->member.index == (uint32_t) root;
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
        mca_coll_epcoll_count(handle, EPCOLL_SCATTER, EPCOLL_WAY_SMALL);
        return mca_coll_epcoll_small_scatter(
            handle, is_root ? mca_coll_epcoll_away(send, send_type->super.true_lb) : NULL,
            mca_coll_epcoll_away(recv, recv_type->super.true_lb), bytes, root);
    }
    return scatter_any(send, send_count, send_type, recv, recv_count, recv_type, root, comm,
                       module);
}

static bool fill_scatterv(mca_coll_epcoll_call_t *call, const mca_coll_epcoll_handle_t *handle,
                          const void *send, mca_coll_epcoll_counts_t counts,
                          mca_coll_epcoll_disps_t disps, ompi_datatype_t *send_type, void *recv,
                          size_t recv_count, ompi_datatype_t *recv_type, int root)
{
    mca_coll_epcoll_call_of_kind(call, EPCOLL_SCATTERV);
    call->root = root;
    call->in_place = EPCOLL_IN_PLACE(recv);
    if (!call->in_place) {
        fill_recv(call, recv, recv_count, recv_type);
    }
    if (mca_coll_epcoll_is_root(handle, root)) {
        call->send = send;
        call->send_counts = counts;
        call->send_disps = disps;
        call->send_type = send_type;
    }
    return true;
}

EPCOLL_FORMS(scatterv,
             (const void *send, mca_coll_epcoll_counts_t counts, mca_coll_epcoll_disps_t disps,
              struct ompi_datatype_t *send_type, void *recv, mca_coll_epcoll_count_t recv_count,
              struct ompi_datatype_t *recv_type, int root),
             (send, counts, disps, send_type, recv, (size_t) recv_count, recv_type, root))

/* ---- all to all ------------------------------------------------------------------------------ */

/** Each has a block for each, of one length. */
static bool fill_equal(mca_coll_epcoll_call_t *call, mca_coll_epcoll_kind_t kind, const void *send,
                       size_t send_count, ompi_datatype_t *send_type, void *recv, size_t recv_count,
                       ompi_datatype_t *recv_type)
{
    mca_coll_epcoll_call_of_kind(call, kind);
    call->bytes = mca_coll_epcoll_packed(recv_count, recv_type);
    fill_send(call, send, send_count, send_type);
    fill_recv(call, recv, recv_count, recv_type);
    return 0 != call->bytes;
}

#define fill_allgather(call, handle, ...) fill_equal(call, EPCOLL_ALLGATHER, __VA_ARGS__)

EPCOLL_FORMS(allgather,
             (const void *send, mca_coll_epcoll_count_t send_count,
              struct ompi_datatype_t *send_type, void *recv, mca_coll_epcoll_count_t recv_count,
              struct ompi_datatype_t *recv_type),
             (send, (size_t) send_count, send_type, recv, (size_t) recv_count, recv_type))

static bool fill_allgatherv(mca_coll_epcoll_call_t *call, const mca_coll_epcoll_handle_t *handle,
                            const void *send, size_t send_count, ompi_datatype_t *send_type,
                            void *recv, mca_coll_epcoll_counts_t counts,
                            mca_coll_epcoll_disps_t disps, ompi_datatype_t *recv_type)
{
    size_t all = 0;

    for (uint32_t i = 0; i < mca_coll_epcoll_size(handle); ++i) {
        all += EPCOLL_COUNT(counts, i);
    }
    mca_coll_epcoll_call_of_kind(call, EPCOLL_ALLGATHERV);
    fill_send(call, send, send_count, send_type);
    fill_recv_v(call, recv, counts, disps, recv_type);
    return 0 != all * recv_type->super.size; /* as at all members, whatever their types are */
}

EPCOLL_FORMS(allgatherv,
             (const void *send, mca_coll_epcoll_count_t send_count,
              struct ompi_datatype_t *send_type, void *recv, mca_coll_epcoll_counts_t counts,
              mca_coll_epcoll_disps_t disps, struct ompi_datatype_t *recv_type),
             (send, (size_t) send_count, send_type, recv, counts, disps, recv_type))

#define fill_alltoall(call, handle, ...) fill_equal(call, EPCOLL_ALLTOALL, __VA_ARGS__)

EPCOLL_FORMS(alltoall,
             (const void *send, mca_coll_epcoll_count_t send_count,
              struct ompi_datatype_t *send_type, void *recv, mca_coll_epcoll_count_t recv_count,
              struct ompi_datatype_t *recv_type),
             (send, (size_t) send_count, send_type, recv, (size_t) recv_count, recv_type))

static bool fill_alltoallv(mca_coll_epcoll_call_t *call, const mca_coll_epcoll_handle_t *handle,
                           const void *send, mca_coll_epcoll_counts_t send_counts,
                           mca_coll_epcoll_disps_t send_disps, ompi_datatype_t *send_type,
                           void *recv, mca_coll_epcoll_counts_t recv_counts,
                           mca_coll_epcoll_disps_t recv_disps, ompi_datatype_t *recv_type)
{
    (void) handle;
    mca_coll_epcoll_call_of_kind(call, EPCOLL_ALLTOALLV);
    fill_send(call, send, 0, send_type);
    call->send_counts = send_counts;
    call->send_disps = send_disps;
    fill_recv_v(call, recv, recv_counts, recv_disps, recv_type);
    return true;
}

EPCOLL_FORMS(alltoallv,
             (const void *send, mca_coll_epcoll_counts_t send_counts,
              mca_coll_epcoll_disps_t send_disps, struct ompi_datatype_t *send_type, void *recv,
              mca_coll_epcoll_counts_t recv_counts, mca_coll_epcoll_disps_t recv_disps,
              struct ompi_datatype_t *recv_type),
             (send, send_counts, send_disps, send_type, recv, recv_counts, recv_disps, recv_type))

static bool fill_alltoallw(mca_coll_epcoll_call_t *call, const mca_coll_epcoll_handle_t *handle,
                           const void *send, mca_coll_epcoll_counts_t send_counts,
                           mca_coll_epcoll_disps_t send_disps,
                           struct ompi_datatype_t *const *send_types, void *recv,
                           mca_coll_epcoll_counts_t recv_counts,
                           mca_coll_epcoll_disps_t recv_disps,
                           struct ompi_datatype_t *const *recv_types)
{
    (void) handle;
    mca_coll_epcoll_call_of_kind(call, EPCOLL_ALLTOALLW);
    fill_send(call, send, 0, NULL);
    call->send_counts = send_counts;
    call->send_disps = send_disps;
    call->send_types = send_types;
    fill_recv_v(call, recv, recv_counts, recv_disps, NULL);
    call->recv_types = recv_types;
    return true;
}

EPCOLL_FORMS(alltoallw,
             (const void *send, mca_coll_epcoll_counts_t send_counts,
              mca_coll_epcoll_disps_t send_disps, struct ompi_datatype_t *const *send_types,
              void *recv, mca_coll_epcoll_counts_t recv_counts,
              mca_coll_epcoll_disps_t recv_disps, struct ompi_datatype_t *const *recv_types),
             (send, send_counts, send_disps, send_types, recv, recv_counts, recv_disps,
              recv_types))
