/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The forms of a collective: what differs from kind to kind is how libmpi's arguments become a
 * call.
 */

#ifndef MCA_COLL_EPCOLL_FORMS_H
#define MCA_COLL_EPCOLL_FORMS_H

#include "ompi_config.h"

#include "../hier/hier.h"
#include "coll_epcoll_calls.h"

#include "mpi.h"
#include "ompi/request/request.h"

/** Do the fallback components serve a blocking call?  (One process's communicator that has failed
 * is
 * not local, and has none below.) */
static inline bool mca_coll_epcoll_run_falls_back(mca_coll_epcoll_handle_t *handle,
                                                  mca_coll_epcoll_call_t *call)
{
    return OPAL_UNLIKELY(!handle->view.is_local && !mca_coll_epcoll_hier_serves(handle, call));
}

/** Likewise a nonblocking one. */
static inline bool mca_coll_epcoll_begin_falls_back(mca_coll_epcoll_handle_t *handle,
                                                    mca_coll_epcoll_call_t *call)
{
    return OPAL_UNLIKELY(handle->is_hier && !mca_coll_epcoll_hier_serves(handle, call));
}

/** Likewise a persistent one, whose first start is always a schedule. */
static inline bool mca_coll_epcoll_init_falls_back(mca_coll_epcoll_handle_t *handle,
                                                   const mca_coll_epcoll_call_t *call)
{
    return OPAL_UNLIKELY(handle->is_hier && !mca_coll_epcoll_schedule_serves(handle, call));
}

/** Calls a function of the fallback components.  @param ...  its arguments but for the module */
#define EPCOLL_CALL_FALLBACK(function, module, ...) \
    mca_coll_epcoll_fallback(module)->function(     \
        __VA_ARGS__, mca_coll_epcoll_fallback(module)->function##_module)

/**
 * Serves a blocking call: we do, or the fallback components.
 *
 * @param name  of the kind, as in coll_epcoll_calls.h
 * @param ...   libmpi's arguments up to the communicator: names, as they are used twice.  For
 *              static bool call_fill_name(call, handle, ...), which makes a call of them; false:
 *              there is nothing to do, at any member
 * @return      what libmpi's function returns
 */
#define EPCOLL_RUN(name, comm, module, ...)                                 \
    (__extension__({                                                        \
        mca_coll_epcoll_handle_t *handle_ = mca_coll_epcoll_handle(module); \
        mca_coll_epcoll_call_t call_;                                       \
        int rc_;                                                            \
                                                                            \
        if (!call_fill_##name(&call_, handle_, __VA_ARGS__)) {              \
            rc_ = MPI_SUCCESS;                                              \
        } else if (mca_coll_epcoll_run_falls_back(handle_, &call_)) {       \
            rc_ = EPCOLL_CALL_FALLBACK(name, module, __VA_ARGS__, comm);    \
        } else {                                                            \
            rc_ = handle_->run(handle_, &call_);                            \
        }                                                                   \
        rc_;                                                                \
    }))

/** Likewise a nonblocking one. */
#define EPCOLL_BEGIN(name, comm, request_p, module, ...)                               \
    (__extension__({                                                                   \
        mca_coll_epcoll_handle_t *handle_ = mca_coll_epcoll_handle(module);            \
        mca_coll_epcoll_call_t call_;                                                  \
        int rc_;                                                                       \
                                                                                       \
        if (!call_fill_##name(&call_, handle_, __VA_ARGS__)) {                         \
            *(request_p) = &ompi_request_empty;                                        \
            rc_ = MPI_SUCCESS;                                                         \
        } else if (mca_coll_epcoll_begin_falls_back(handle_, &call_)) {                \
            rc_ = EPCOLL_CALL_FALLBACK(i##name, module, __VA_ARGS__, comm, request_p); \
        } else {                                                                       \
            rc_ = mca_coll_epcoll_component.begin(handle_, &call_, request_p);         \
        }                                                                              \
        rc_;                                                                           \
    }))

/** Likewise a persistent one. */
#define EPCOLL_INIT(name, comm, info, request_p, module, ...)                                    \
    (__extension__({                                                                             \
        mca_coll_epcoll_handle_t *handle_ = mca_coll_epcoll_handle(module);                      \
        mca_coll_epcoll_call_t call_;                                                            \
        int rc_;                                                                                 \
                                                                                                 \
        if (!call_fill_##name(&call_, handle_, __VA_ARGS__)) {                                   \
            rc_ = ompi_request_persistent_noop_create(request_p);                                \
        } else if (mca_coll_epcoll_init_falls_back(handle_, &call_)) {                           \
            rc_ = EPCOLL_CALL_FALLBACK(name##_init, module, __VA_ARGS__, comm, info, request_p); \
        } else {                                                                                 \
            rc_ = mca_coll_epcoll_component.init(handle_, &call_, request_p);                    \
        }                                                                                        \
        rc_;                                                                                     \
    }))

/** Does a member's own contribution lie where its result goes? */
#define EPCOLL_IN_PLACE(buffer) (MPI_IN_PLACE == (buffer))

static inline size_t mca_coll_epcoll_packed(size_t count, const ompi_datatype_t *type)
{
    return count * type->super.size;
}

static inline bool mca_coll_epcoll_is_root(const mca_coll_epcoll_handle_t *handle, int root)
{
    return mca_coll_epcoll_rank(handle) == root;
}

/** Of those that gather: what is sent, unless it is in place. */
static inline void mca_coll_epcoll_fill_send(mca_coll_epcoll_call_t *call, const void *send,
                                             size_t count, ompi_datatype_t *type)
{
    call->in_place = EPCOLL_IN_PLACE(send);
    if (!call->in_place) {
        call->send = send;
        call->send_count = count;
        call->send_type = type;
    }
}

static inline void mca_coll_epcoll_fill_recv(mca_coll_epcoll_call_t *call, void *recv, size_t count,
                                             ompi_datatype_t *type)
{
    call->recv = recv;
    call->recv_count = count;
    call->recv_type = type;
}

static inline void mca_coll_epcoll_fill_recv_v(mca_coll_epcoll_call_t *call, void *recv,
                                               mca_coll_epcoll_counts_t counts,
                                               mca_coll_epcoll_disps_t disps, ompi_datatype_t *type)
{
    call->recv = recv;
    call->recv_counts = counts;
    call->recv_disps = disps;
    call->recv_type = type;
}

#endif /* MCA_COLL_EPCOLL_FORMS_H */
