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

#include "../between/between.h"
#include "coll_epcoll_calls.h"

#include "mpi.h"
#include "ompi/request/request.h"

#define EPCOLL_LIST(...) __VA_ARGS__

/** Of nonblocking and persistent ones: do the components below serve a call? */
#define EPCOLL_IS_BELOW(handle, call) \
    ((handle)->is_wide && !mca_coll_epcoll_between_serves(handle, call))

/** Likewise of persistent ones, whose first start is always a program. */
#define EPCOLL_INIT_IS_BELOW(handle, call) \
    ((handle)->is_wide && !mca_coll_epcoll_program_serves(handle, call))

/**
 * Defines the blocking function of a kind.
 *
 * @param function  its name
 * @param others    as of EPCOLL_FORMS
 */
#define EPCOLL_FORM_BLOCKING(function, name, parameters, arguments)                               \
    int function(EPCOLL_LIST parameters, struct ompi_communicator_t *comm,                        \
                 mca_coll_base_module_t *module)                                                  \
    {                                                                                             \
        mca_coll_epcoll_handle_t *handle = mca_coll_epcoll_handle(module);                        \
        mca_coll_epcoll_call_t call;                                                              \
                                                                                                  \
        if (!fill_##name(&call, handle, EPCOLL_LIST arguments)) {                                 \
            return MPI_SUCCESS;                                                                   \
        }                                                                                         \
        if (OPAL_UNLIKELY(!handle->is_local && !mca_coll_epcoll_between_serves(handle, &call))) { \
            const mca_coll_epcoll_below_t *below = mca_coll_epcoll_below(module);                 \
                                                                                                  \
            return below->name(EPCOLL_LIST arguments, comm, below->name##_module);                \
        }                                                                                         \
        return handle->run(handle, &call);                                                        \
    }

/**
 * Defines the functions of a kind: blocking, nonblocking, persistent.
 *
 * @param name        as in coll_epcoll_calls.h
 * @param parameters  of its functions, up to the communicator, in parentheses
 * @param arguments   for static bool fill_name(call, handle, arguments...): makes a call of them;
 *                    false: there is nothing to do, at any member
 */
#define EPCOLL_FORMS(name, parameters, arguments)                             \
    EPCOLL_FORM_BLOCKING(mca_coll_epcoll_##name, name, parameters, arguments) \
    EPCOLL_FORMS_LATER(name, parameters, arguments)

/** Likewise, but for the blocking one. */
#define EPCOLL_FORMS_LATER(name, parameters, arguments)                                         \
    int mca_coll_epcoll_i##name(EPCOLL_LIST parameters, struct ompi_communicator_t *comm,       \
                                ompi_request_t **request_p, mca_coll_base_module_t *module)     \
    {                                                                                           \
        mca_coll_epcoll_handle_t *handle = mca_coll_epcoll_handle(module);                      \
        mca_coll_epcoll_call_t call;                                                            \
                                                                                                \
        if (!fill_##name(&call, handle, EPCOLL_LIST arguments)) {                               \
            *request_p = &ompi_request_empty;                                                   \
            return MPI_SUCCESS;                                                                 \
        }                                                                                       \
        if (OPAL_UNLIKELY(EPCOLL_IS_BELOW(handle, &call))) {                                    \
            const mca_coll_epcoll_below_t *below = mca_coll_epcoll_below(module);               \
                                                                                                \
            return below->i##name(EPCOLL_LIST arguments, comm, request_p,                       \
                                  below->i##name##_module);                                     \
        }                                                                                       \
        return mca_coll_epcoll_component.begin(handle, &call, request_p);                       \
    }                                                                                           \
                                                                                                \
    int mca_coll_epcoll_##name##_init(EPCOLL_LIST parameters, struct ompi_communicator_t *comm, \
                                      struct ompi_info_t *info, ompi_request_t **request_p,     \
                                      mca_coll_base_module_t *module)                           \
    {                                                                                           \
        mca_coll_epcoll_handle_t *handle = mca_coll_epcoll_handle(module);                      \
        mca_coll_epcoll_call_t call;                                                            \
                                                                                                \
        if (!fill_##name(&call, handle, EPCOLL_LIST arguments)) {                               \
            return ompi_request_persistent_noop_create(request_p);                              \
        }                                                                                       \
        if (OPAL_UNLIKELY(EPCOLL_INIT_IS_BELOW(handle, &call))) {                               \
            const mca_coll_epcoll_below_t *below = mca_coll_epcoll_below(module);               \
                                                                                                \
            return below->name##_init(EPCOLL_LIST arguments, comm, info, request_p,             \
                                      below->name##_init_module);                               \
        }                                                                                       \
        return mca_coll_epcoll_component.init(handle, &call, request_p);                        \
    }

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

#endif /* MCA_COLL_EPCOLL_FORMS_H */
