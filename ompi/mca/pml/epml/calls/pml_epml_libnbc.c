/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Nonblocking and persistent collectives of coll/libnbc on endpoint communicators: their requests
 * hold the communicator (pml_epml_hold.c says why).
 *
 * Open MPI asks coll/libnbc for a module for each communicator, and calls the functions in it.  So
 * its query function is replaced, in the component, by one that puts functions of ours into the
 * modules of endpoint communicators.  These call libnbc's and then let the request hold the
 * communicator.  Callers that take a function out of the module (Open MPI for a communicator's
 * table, or coll/epcoll for what it hands on) get ours.
 *
 * Called by pml_epml_serve.c, and by libmpi.
 *
 * Tests: comm_pending
 */

#include "ompi_config.h"

#include <stdatomic.h>

#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_hold.h"
#include "pml_epml_libnbc.h"

#include "ompi/constants.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/coll.h"

/* ---- parameters, up to the communicator ------------------------------------------------------ */

#if OMPI_MAJOR_VERSION >= 6
typedef size_t number_t;
typedef ompi_count_array_t numbers_t;
typedef ompi_disp_array_t places_t, far_places_t;
#else
typedef int number_t;
typedef const int *numbers_t, *places_t;
typedef const ptrdiff_t *far_places_t;
#endif
typedef struct ompi_datatype_t type_t;
typedef type_t *const *types_t;
typedef struct ompi_op_t op_t;

#define LIST(...) __VA_ARGS__
#define UNPACK(parameters) LIST parameters

#define NONE_PARAMETERS ()
#define NONE_ARGUMENTS ()
#define BCAST_PARAMETERS (void *buf, number_t n, type_t *type, int root, )
#define BCAST_ARGUMENTS (buf, n, type, root, )
#define FOLD_PARAMETERS (const void *from, void *to, number_t n, type_t *type, op_t *op, )
#define FOLD_ARGUMENTS (from, to, n, type, op, )
#define FOLDS_PARAMETERS (const void *from, void *to, numbers_t ns, type_t *type, op_t *op, )
#define FOLDS_ARGUMENTS (from, to, ns, type, op, )
#define REDUCE_PARAMETERS \
    (const void *from, void *to, number_t n, type_t *type, op_t *op, int root, )
#define REDUCE_ARGUMENTS (from, to, n, type, op, root, )
#define MOVE_PARAMETERS \
    (const void *from, number_t n, type_t *type, void *to, number_t to_n, type_t *to_type, )
#define MOVE_ARGUMENTS (from, n, type, to, to_n, to_type, )
#define ROOTED_PARAMETERS                                                                  \
    (const void *from, number_t n, type_t *type, void *to, number_t to_n, type_t *to_type, \
     int root, )
#define ROOTED_ARGUMENTS (from, n, type, to, to_n, to_type, root, )
#define ALLGATHERV_PARAMETERS                                                               \
    (const void *from, number_t n, type_t *type, void *to, numbers_t to_ns, places_t to_at, \
     type_t *to_type, )
#define ALLGATHERV_ARGUMENTS (from, n, type, to, to_ns, to_at, to_type, )
#define GATHERV_PARAMETERS                                                                  \
    (const void *from, number_t n, type_t *type, void *to, numbers_t to_ns, places_t to_at, \
     type_t *to_type, int root, )
#define GATHERV_ARGUMENTS (from, n, type, to, to_ns, to_at, to_type, root, )
#define SCATTERV_PARAMETERS                                                              \
    (const void *from, numbers_t ns, places_t at, type_t *type, void *to, number_t to_n, \
     type_t *to_type, int root, )
#define SCATTERV_ARGUMENTS (from, ns, at, type, to, to_n, to_type, root, )
#define ALLTOALLV_PARAMETERS                                                               \
    (const void *from, numbers_t ns, places_t at, type_t *type, void *to, numbers_t to_ns, \
     places_t to_at, type_t *to_type, )
#define ALLTOALLV_ARGUMENTS (from, ns, at, type, to, to_ns, to_at, to_type, )
#define ALLTOALLW_PARAMETERS                                                                \
    (const void *from, numbers_t ns, places_t at, types_t types, void *to, numbers_t to_ns, \
     places_t to_at, types_t to_types, )
#define ALLTOALLW_ARGUMENTS (from, ns, at, types, to, to_ns, to_at, to_types, )
#define NEIGHBORW_PARAMETERS                                                                    \
    (const void *from, numbers_t ns, far_places_t at, types_t types, void *to, numbers_t to_ns, \
     far_places_t to_at, types_t to_types, )
#define NEIGHBORW_ARGUMENTS ALLTOALLW_ARGUMENTS

/** All collectives, with their parameters. */
#define FOR_ALL(DO)                     \
    DO(allgather, MOVE)                 \
    DO(allgatherv, ALLGATHERV)          \
    DO(allreduce, FOLD)                 \
    DO(alltoall, MOVE)                  \
    DO(alltoallv, ALLTOALLV)            \
    DO(alltoallw, ALLTOALLW)            \
    DO(barrier, NONE)                   \
    DO(bcast, BCAST)                    \
    DO(exscan, FOLD)                    \
    DO(gather, ROOTED)                  \
    DO(gatherv, GATHERV)                \
    DO(neighbor_allgather, MOVE)        \
    DO(neighbor_allgatherv, ALLGATHERV) \
    DO(neighbor_alltoall, MOVE)         \
    DO(neighbor_alltoallv, ALLTOALLV)   \
    DO(neighbor_alltoallw, NEIGHBORW)   \
    DO(reduce, REDUCE)                  \
    DO(reduce_scatter, FOLDS)           \
    DO(reduce_scatter_block, FOLD)      \
    DO(scan, FOLD)                      \
    DO(scatter, ROOTED)                 \
    DO(scatterv, SCATTERV)

/* ---- libnbc's functions, and ours ------------------------------------------------------------ */

/** libnbc's.  Each is the same in all modules of a kind. */
static struct {
#define MEMBER_FORM(function) \
    _Atomic(__typeof__(((mca_coll_base_module_t *) NULL)->coll_##function)) function;
#define MEMBER(name, shape) \
    MEMBER_FORM(i##name)    \
    MEMBER_FORM(name##_init)
    FOR_ALL(MEMBER)
} libnbc[2]; /* of intracommunicators, of intercommunicators */

/** Relaxed: a thread that has a module has stored it, or was given the communicator since. */
#define LIBNBC(function) \
    atomic_load_explicit(&libnbc[0 != OMPI_COMM_IS_INTER(comm)].function, memory_order_relaxed)

static int libnbc_held(int rc, ompi_communicator_t *comm, ompi_request_t **request_p)
{
    if (OPAL_LIKELY(OMPI_SUCCESS == rc)) {
        mca_pml_epml_hold(*request_p, comm);
    }
    return rc;
}

#define DEFINE(name, shape)                                                                     \
    static int i##name(UNPACK(shape##_PARAMETERS) ompi_communicator_t *comm,                    \
                       ompi_request_t **request_p, mca_coll_base_module_t *module)              \
    {                                                                                           \
        return libnbc_held(LIBNBC(i##name)(UNPACK(shape##_ARGUMENTS) comm, request_p, module),  \
                           comm, request_p);                                                    \
    }                                                                                           \
    static int name##_init(UNPACK(shape##_PARAMETERS) ompi_communicator_t *comm,                \
                           struct ompi_info_t *info, ompi_request_t **request_p,                \
                           mca_coll_base_module_t *module)                                      \
    {                                                                                           \
        return libnbc_held(LIBNBC(name##_init)(UNPACK(shape##_ARGUMENTS) comm, info, request_p, \
                                               module),                                         \
                           comm, request_p);                                                    \
    }
FOR_ALL(DEFINE)

#define REPLACE_FORM(function)                                                                     \
    if (NULL != module->coll_##function) {                                                         \
        atomic_store_explicit(&original->function, module->coll_##function, memory_order_relaxed); \
        module->coll_##function = function;                                                        \
    }
#define REPLACE(name, shape) \
    REPLACE_FORM(i##name)    \
    REPLACE_FORM(name##_init)

static void replace(mca_coll_base_module_t *module, bool is_inter)
{
    __typeof__(&libnbc[0]) original = &libnbc[is_inter];

    FOR_ALL(REPLACE)
}

/* ---- the component --------------------------------------------------------------------------- */

/** coll/libnbc, and its own query function; NULL: not installed. */
static mca_coll_base_component_t *component;
static __typeof__(component->collm_comm_query) component_query;

static mca_coll_base_module_t *libnbc_query(ompi_communicator_t *comm, int *priority)
{
    mca_coll_base_module_t *module = component_query(comm, priority);

    if (NULL != module && mca_pml_epml_is_endpoint_comm(comm)) {
        replace(module, 0 != OMPI_COMM_IS_INTER(comm));
    }
    return module;
}

void mca_pml_epml_libnbc_install(void)
{
    mca_base_component_list_item_t *item;

    OPAL_LIST_FOREACH (item, &ompi_coll_base_framework.framework_components,
                       mca_base_component_list_item_t) {
        if (0 == strcmp("libnbc", item->cli_component->mca_component_name)) {
            component = (mca_coll_base_component_t *) item->cli_component;
            component_query = component->collm_comm_query;
            /* Release: what query reads before its address, for threads that make communicators of
             * processes meanwhile.  Either function serves those. */
            __atomic_store_n(&component->collm_comm_query, libnbc_query, __ATOMIC_RELEASE);
        }
    }
}

void mca_pml_epml_libnbc_remove(void)
{
    if (NULL != component && libnbc_query == component->collm_comm_query) {
        component->collm_comm_query = component_query;
    }
    component = NULL;
}
