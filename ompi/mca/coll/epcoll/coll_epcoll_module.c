/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Modules: which functions libmpi calls for a communicator.
 *
 * In Open MPI 5.0 the framework takes them from the module.  From 6.0 on the module installs them
 * in the communicator's table when it is enabled, and restores the previous ones when it is
 * disabled, which happens before those are disabled.
 *
 * Tests: coll_move, coll_reduce, coll_neighbor, coll_blocks, coll_life, comm_refused, ulfm_agree
 */

#include "ompi_config.h"

#include "hier/hier.h"
#include "calls/calls.h"
#include "coll_epcoll_module.h"

#include "ompi/constants.h"

#include <stdlib.h>

static void module_construct(mca_coll_epcoll_module_t *module)
{
    module->handle = NULL;
    module->fallback = NULL;
}

#define RELEASE_FORM(name)                            \
    if (NULL != module->fallback->name##_module) {    \
        OBJ_RELEASE(module->fallback->name##_module); \
    }
#define RELEASE(name, ...) \
    RELEASE_FORM(name)     \
    RELEASE_FORM(i##name)  \
    RELEASE_FORM(name##_init)

static void module_destruct(mca_coll_epcoll_module_t *module)
{
#if OMPI_MAJOR_VERSION < 6 /* else the framework holds them */
    if (NULL != module->fallback) {
        EPCOLL_FOR_ALL_KINDS(RELEASE)
        EPCOLL_FOR_ALL_NEIGHBORS(RELEASE)
    }
#endif
    free(module->fallback);
}

OBJ_CLASS_INSTANCE(mca_coll_epcoll_module_t, mca_coll_base_module_t, module_construct,
                   module_destruct);

/** Do we serve a kind on a communicator, at least some of its calls? */
static bool module_serves(const mca_coll_epcoll_handle_t *handle, mca_coll_epcoll_kind_t kind)
{
    return mca_coll_epcoll_component.serves[kind] && !mca_coll_epcoll_is_bare(handle);
}

#if OPAL_ENABLE_FT_MPI

/** MPIX_Comm_iagree: one integer, ANDed.  Shrinking: mpix_endpoints_agreed_t. */
static int module_iagree(void *contrib, mca_coll_epcoll_count_t count, struct ompi_datatype_t *type,
                  struct ompi_op_t *op, struct ompi_group_t **group, bool grow,
                  ompi_communicator_t *comm, ompi_request_t **request,
                  mca_coll_base_module_t *module)
{
    (void) module;
    *request = MPI_REQUEST_NULL;
    if (MPIX_ENDPOINTS_AGREED_COUNT == count && MPI_UINT64_T == type && MPI_BAND == op) {
        return mca_coll_epcoll_agreement_begin_id(comm, contrib, group, grow, request);
    }
    return 1 == count && MPI_INT == type && MPI_BAND == op
               ? mca_coll_epcoll_agreement_begin(comm, contrib, group, grow, request)
               : MPI_ERR_UNSUPPORTED_OPERATION;
}

static int module_agree(void *contrib, mca_coll_epcoll_count_t count, struct ompi_datatype_t *type,
                        struct ompi_op_t *op, struct ompi_group_t **group, bool grow,
                        ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    ompi_request_t *request;
    int rc = module_iagree(contrib, count, type, op, group, grow, comm, &request, module);

    if (MPI_SUCCESS == rc) {
        rc = ompi_request_wait(&request, MPI_STATUS_IGNORE);
        if (MPI_REQUEST_NULL != request) {
            (void) ompi_request_free(&request); /* an error leaves it to the caller */
        }
    }
    return rc;
}

/** The agreements of fault tolerance (MPIX_Comm_agree, MPIX_Comm_iagree).  What coll/basic has for
 * them is an allreduce, in which members fare differently when one of them dies; that module stays
 * in the table, and takes the functions out of it. */
static void agree_set(ompi_communicator_t *comm)
{
    comm->c_coll->coll_agree = module_agree;
    comm->c_coll->coll_iagree = module_iagree;
}

#else

static void agree_set(ompi_communicator_t *comm)
{
    (void) comm;
}

#endif

#if OMPI_MAJOR_VERSION >= 6

#    define INSTALL_FORM(name)                                                                     \
        if (NULL != base->coll_##name) {                                                           \
            MCA_COLL_SAVE_API(comm, name, epcoll->fallback->name, epcoll->fallback->name##_module, \
                              "epcoll");                                                           \
            MCA_COLL_INSTALL_API(comm, name, base->coll_##name, base, "epcoll");                   \
        }
#    define INSTALL(name, ...) \
        INSTALL_FORM(name)     \
        INSTALL_FORM(i##name)  \
        INSTALL_FORM(name##_init)
#    define RESTORE_FORM(name)                                               \
        if (base == comm->c_coll->coll_##name##_module) {                    \
            MCA_COLL_INSTALL_API(comm, name, epcoll->fallback->name,         \
                                 epcoll->fallback->name##_module, "epcoll"); \
        }
#    define RESTORE(name, ...) \
        RESTORE_FORM(name)     \
        RESTORE_FORM(i##name)  \
        RESTORE_FORM(name##_init)

static int module_enable(mca_coll_base_module_t *base, ompi_communicator_t *comm)
{
    mca_coll_epcoll_module_t *epcoll = (mca_coll_epcoll_module_t *) base;

    EPCOLL_FOR_ALL_KINDS(INSTALL)
    EPCOLL_FOR_ALL_NEIGHBORS(INSTALL)
    agree_set(comm);
    return OMPI_SUCCESS;
}

static int module_disable(mca_coll_base_module_t *base, ompi_communicator_t *comm)
{
    mca_coll_epcoll_module_t *epcoll = (mca_coll_epcoll_module_t *) base;

    EPCOLL_FOR_ALL_KINDS(RESTORE)
    EPCOLL_FOR_ALL_NEIGHBORS(RESTORE)
    return OMPI_SUCCESS;
}

#else

/* The functions in the table are those of the fallback components; the framework replaces them by
 * ours when this returns, and releases its references to their modules. */
#    define SAVE_FORM(name)                                                       \
        if (NULL != base->coll_##name && NULL != comm->c_coll->coll_##name) {     \
            epcoll->fallback->name = comm->c_coll->coll_##name;                   \
            epcoll->fallback->name##_module = comm->c_coll->coll_##name##_module; \
            OBJ_RETAIN(epcoll->fallback->name##_module);                          \
        }
#    define SAVE(name, kind) \
        SAVE_FORM(name)      \
        SAVE_FORM(i##name)   \
        SAVE_FORM(name##_init)

static int module_enable(mca_coll_base_module_t *base, ompi_communicator_t *comm)
{
    mca_coll_epcoll_module_t *epcoll = (mca_coll_epcoll_module_t *) base;

    if (NULL != epcoll->fallback) {
        EPCOLL_FOR_ALL_KINDS(SAVE)
    }
    agree_set(comm);
    return OMPI_SUCCESS;
}

static int module_disable(mca_coll_base_module_t *base, ompi_communicator_t *comm)
{
    (void) base;
    (void) comm;
    return OMPI_SUCCESS;
}

#endif

#define SET(name, kind)                                                   \
    if (module_serves(handle, kind)) {                                    \
        module->super.coll_##name = mca_coll_epcoll_##name;               \
        module->super.coll_i##name = mca_coll_epcoll_i##name;             \
        module->super.coll_##name##_init = mca_coll_epcoll_##name##_init; \
    }

#define SET_NEIGHBORS(name)                               \
    module->super.coll_##name = mca_coll_epcoll_##name;   \
    module->super.coll_i##name = mca_coll_epcoll_i##name; \
    module->super.coll_##name##_init = mca_coll_epcoll_##name##_init;

#define SET_DIRECT(name, kind)                                                   \
    if (mca_coll_epcoll_component.serves[kind]) {                                \
        module->super.coll_##name = mca_coll_epcoll_direct_##name;               \
        module->super.coll_i##name = mca_coll_epcoll_idirect_##name;             \
        module->super.coll_##name##_init = mca_coll_epcoll_direct_##name##_init; \
    }

static void set_functions(mca_coll_epcoll_module_t *module, const mca_coll_epcoll_handle_t *handle)
{
    EPCOLL_FOR_ALL_KINDS(SET)
    if (mca_coll_epcoll_component.serves_neighbors) {
        EPCOLL_FOR_ALL_NEIGHBORS(SET_NEIGHBORS)
    }
    if (mca_coll_epcoll_is_bare(handle)) {
        SET_DIRECT(alltoallv, EPCOLL_ALLTOALLV)
        SET_DIRECT(alltoallw, EPCOLL_ALLTOALLW)
    }
}

/** Are there calls for the fallback components, or, with Open MPI 6.0, functions to restore?  Where
 * each process's ranks follow each other all calls have schedules. */
static bool needs_fallback(const mca_coll_epcoll_handle_t *handle)
{
    return OMPI_MAJOR_VERSION >= 6
           || (NULL != mca_coll_epcoll_layout(handle)
               && !mca_coll_epcoll_layout(handle)->is_ordered);
}

mca_coll_base_module_t *mca_coll_epcoll_module_new(mca_coll_epcoll_handle_t *handle)
{
    mca_coll_epcoll_module_t *module = OBJ_NEW(mca_coll_epcoll_module_t);

    if (NULL == module) {
        return NULL;
    }
    module->handle = handle;
    if (needs_fallback(handle)) {
        module->fallback = calloc(1, sizeof(*module->fallback));
        if (NULL == module->fallback) {
            OBJ_RELEASE(module);
            return NULL;
        }
    }
    module->super.coll_module_enable = module_enable;
    module->super.coll_module_disable = module_disable;
    set_functions(module, handle);
    return &module->super;
}

/* ---- intercommunicators ---------------------------------------------------------------------- */

static int inter_enable(mca_coll_base_module_t *module, ompi_communicator_t *comm)
{
    (void) module;
    agree_set(comm);
    return OMPI_SUCCESS;
}

static int inter_disable(mca_coll_base_module_t *module, ompi_communicator_t *comm)
{
    (void) module;
    (void) comm;
    return OMPI_SUCCESS;
}

mca_coll_base_module_t *mca_coll_epcoll_module_inter(ompi_communicator_t *comm)
{
    mca_coll_base_module_t *module = mca_coll_epcoll_agreement_has(comm)
                                         ? OBJ_NEW(mca_coll_base_module_t)
                                         : NULL;

    if (NULL != module) {
        module->coll_module_enable = inter_enable;
        module->coll_module_disable = inter_disable;
    }
    return module;
}
