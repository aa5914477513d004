/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Device memory (GPUs) in collectives: a call gets host memory in place of it
 * (coll_epcoll_staging.c), whichever component serves the call.  Used only where an accelerator
 * component has been selected, so that other jobs pay nothing.
 *
 * Only buffers that the call uses are looked at: what is significant at this member, and has
 * elements.  Where there is no host memory, the other members must not wait for this one.  What is
 * ours breaks, as with any other error of one member (mca_coll_epcoll_break_all); of what the
 * fallback components serve, the engine tells the others that this member takes part no more
 * (engine->leave).
 *
 * Called by libmpi.
 *
 * Tests: device_coll
 */

#include "ompi_config.h"

#include "../direct/direct.h"
#include "coll_epcoll_area.h"
#include "coll_epcoll_forms.h"
#include "coll_epcoll_guard.h"
#include "coll_epcoll_staging.h"

#include "mpi.h"
#include "ompi/constants.h"

/* ---- no memory ------------------------------------------------------------------------------- */

/** May a call that is ours go to the fallback components after all? */
static bool guard_may_fall_back(const mca_coll_epcoll_handle_t *handle)
{
    const mca_coll_epcoll_layout_t *layout = mca_coll_epcoll_layout(handle);

    return NULL != layout && !layout->is_ordered;
}

/** The call fails at all members.  @param[in] next  the module that would have served
 * @return MPI_ERR_NO_MEM */
static int guard_no_memory(const mca_coll_epcoll_guard_t *guard, const ompi_communicator_t *comm,
                           const mca_coll_base_module_t *next)
{
    const bool is_own = NULL != guard->own && &guard->own->super == next;

    if (is_own) {
        mca_coll_epcoll_break_all(guard->own->handle, MPI_ERR_NO_MEM);
    }
    if (!is_own || guard_may_fall_back(guard->own->handle)) {
        mca_coll_epcoll_component.engine->leave(comm);
    }
    return MPI_ERR_NO_MEM;
}

/** Is the call one of the fallback components that cannot succeed, as a member takes part no more?
 * Their messages of before may still be there, and would be taken for those of this call. */
static bool guard_is_left(const mca_coll_epcoll_guard_t *guard, const ompi_communicator_t *comm,
                          const mca_coll_base_module_t *next)
{
    return (NULL == guard->own || &guard->own->super != next)
           && mca_coll_epcoll_component.engine->is_lost(comm, MPIX_ENDPOINTS_ANY_RANK);
}

/* ---- buffers --------------------------------------------------------------------------------- */

/** Members that the blocks of a buffer are for, or from. */
static uint32_t guard_peers(const ompi_communicator_t *comm)
{
    return (uint32_t) (OMPI_COMM_IS_INTER(comm) ? ompi_comm_remote_size(comm)
                                                : ompi_comm_size(comm));
}

/** Of a kind with a root: are we it? */
static bool guard_is_root(const ompi_communicator_t *comm, int root)
{
    return OMPI_COMM_IS_INTER(comm) ? MPI_ROOT == root : ompi_comm_rank(comm) == root;
}

/** Have we a block of our own, as all have within a group?  Of an intercommunicator members have
 * one that name a root in the other group. */
static bool guard_has_block(int root)
{
    return 0 <= root;
}

/** Elements of all members' blocks in MPI_Reduce_scatter. */
static size_t guard_sum(const ompi_communicator_t *comm, mca_coll_epcoll_counts_t counts)
{
    size_t sum = 0;

    for (int i = 0; i < ompi_comm_size(comm); ++i) {
        sum += EPCOLL_COUNT(counts, i);
    }
    return sum;
}

/** Without a topology it is an error, which another one finds. */
static mca_coll_epcoll_peers_t guard_neighbors(ompi_communicator_t *comm)
{
    return OMPI_COMM_IS_TOPO(comm) ? mca_coll_epcoll_peers_of(comm, true)
                                   : (mca_coll_epcoll_peers_t){.sources = 0};
}

/* ---- the functions --------------------------------------------------------------------------- */

#define GUARD_LIST(...) __VA_ARGS__

/** The beginning of each: goes on to the component that serves, if there is no device memory.
 * Defines guard, areas and next. */
#define GUARD_BEGIN(name, arguments, prepare, first, second)                         \
    const mca_coll_epcoll_guard_t *guard = (const mca_coll_epcoll_guard_t *) module; \
    mca_coll_base_module_t *next = guard->next.name##_module;                        \
    prepare;                                                                         \
    const mca_coll_epcoll_areas_t areas = {{first, second}};                         \
    mca_coll_epcoll_staging_t *staging;                                              \
    int rc;                                                                          \
                                                                                     \
    if (OPAL_UNLIKELY(guard_is_left(guard, comm, next))) {                           \
        return mca_coll_epcoll_loss_error(comm, MPI_ERR_PROC_FAILED);                \
    }                                                                                \
    if (!mca_coll_epcoll_areas_on_device(comm, &areas)) {                            \
        return guard->next.name(GUARD_LIST arguments, next);                         \
    }                                                                                \
    staging = mca_coll_epcoll_staging_new(comm, &areas);                             \
    if (NULL == staging) {                                                           \
        return guard_no_memory(guard, comm, next);                                   \
    }

#define GUARD_BLOCKING(name, parameters, arguments, prepare, first, second)          \
    static int guarded_##name(GUARD_LIST parameters, mca_coll_base_module_t *module) \
    {                                                                                \
        GUARD_BEGIN(name, arguments, prepare, first, second)                         \
        mca_coll_epcoll_staging_in(staging);                                         \
        rc = guard->next.name(GUARD_LIST arguments, next);                           \
        if (MPI_SUCCESS == rc) {                                                     \
            mca_coll_epcoll_staging_out(staging);                                    \
        }                                                                            \
        mca_coll_epcoll_staging_free(staging);                                       \
        return rc;                                                                   \
    }

/** @param[in] begin  of the staging, before the call */
#define GUARD_REQUEST(name, parameters, arguments, prepare, first, second, is_persistent, begin) \
    static int guarded_##name(GUARD_LIST parameters, mca_coll_base_module_t *module)             \
    {                                                                                            \
        ompi_request_t **user_p = request_p;                                                     \
                                                                                                 \
        GUARD_BEGIN(name, arguments, prepare, first, second)                                     \
        begin;                                                                                   \
        rc = mca_coll_epcoll_staging_request(staging, comm, is_persistent, &request_p);          \
        if (MPI_SUCCESS != rc) {                                                                 \
            mca_coll_epcoll_staging_free(staging);                                               \
            return guard_no_memory(guard, comm, next);                                           \
        }                                                                                        \
        rc = guard->next.name(GUARD_LIST arguments, next);                                       \
        return mca_coll_epcoll_staging_begun(staging, rc, user_p);                               \
    }

/**
 * Defines the functions of a kind: blocking, nonblocking, persistent.
 *
 * @param parameters, arguments  of its functions, up to and with the communicator, in parentheses
 * @param prepare                a declaration
 * @param first, second          its buffers, mca_coll_epcoll_area_t
 * @param op                     of a reduction; or NULL
 */
#define GUARD_WITH(name, parameters, arguments, prepare, first, second, op)                        \
    GUARD_BLOCKING(name, parameters, arguments, prepare, first, second)                            \
    GUARD_REQUEST(i##name, (GUARD_LIST parameters, ompi_request_t * *request_p),                   \
                  (GUARD_LIST arguments, request_p), prepare, first, second, false,                \
                  mca_coll_epcoll_staging_in(staging))                                             \
    GUARD_REQUEST(name##_init,                                                                     \
                  (GUARD_LIST parameters, struct ompi_info_t * info, ompi_request_t * *request_p), \
                  (GUARD_LIST arguments, info, request_p), prepare, first, second, true,           \
                  mca_coll_epcoll_staging_hold(staging, op))                                       \
    _Static_assert(true, "takes the semicolon")

#define GUARD(name, parameters, arguments, first, second) \
    GUARD_WITH(name, parameters, arguments, , first, second, NULL)

#define COMM struct ompi_communicator_t *comm
#define TYPE struct ompi_datatype_t *
#define TYPES struct ompi_datatype_t *const *
#define COUNT mca_coll_epcoll_count_t
#define COUNTS mca_coll_epcoll_counts_t
#define DISPS mca_coll_epcoll_disps_t

#define NONE       \
    {              \
        .count = 0 \
    }
#define ALL guard_peers(comm)
#define IS_ROOT guard_is_root(comm, root)
#define HAS_BLOCK guard_has_block(root)

GUARD(barrier, (COMM), (comm), NONE, NONE);

GUARD(bcast, (void *buffer, COUNT count, TYPE type, int root, COMM),
      (buffer, count, type, root, comm),
      mca_coll_epcoll_area_sent(&buffer, (size_t) count, type, IS_ROOT),
      mca_coll_epcoll_area_received(&buffer, (size_t) count, type, buffer, HAS_BLOCK && !IS_ROOT));

/* ---- one to all, and all to one -------------------------------------------------------------- */

GUARD(gather,
      (const void *send, COUNT send_count, TYPE send_type, void *recv, COUNT recv_count,
       TYPE recv_type, int root, COMM),
      (send, send_count, send_type, recv, recv_count, recv_type, root, comm),
      mca_coll_epcoll_area_sent(&send, (size_t) send_count, send_type, HAS_BLOCK),
      mca_coll_epcoll_area_received(&recv, (size_t) recv_count *ALL, recv_type, send, IS_ROOT));

GUARD(gatherv,
      (const void *send, COUNT send_count, TYPE send_type, void *recv, COUNTS counts, DISPS disps,
       TYPE recv_type, int root, COMM),
      (send, send_count, send_type, recv, counts, disps, recv_type, root, comm),
      mca_coll_epcoll_area_sent(&send, (size_t) send_count, send_type, HAS_BLOCK),
      mca_coll_epcoll_area(&recv, mca_coll_epcoll_blocks_v(recv, counts, disps, recv_type),
                           IS_ROOT ? ALL : 0, EPCOLL_IN_PLACE(send), true));

GUARD(scatter,
      (const void *send, COUNT send_count, TYPE send_type, void *recv, COUNT recv_count,
       TYPE recv_type, int root, COMM),
      (send, send_count, send_type, recv, recv_count, recv_type, root, comm),
      mca_coll_epcoll_area_sent(&send, (size_t) send_count *ALL, send_type, IS_ROOT),
      mca_coll_epcoll_area_received(&recv, (size_t) recv_count, recv_type, NULL, HAS_BLOCK));

GUARD(scatterv,
      (const void *send, COUNTS counts, DISPS disps, TYPE send_type, void *recv, COUNT recv_count,
       TYPE recv_type, int root, COMM),
      (send, counts, disps, send_type, recv, recv_count, recv_type, root, comm),
      mca_coll_epcoll_area(&send, mca_coll_epcoll_blocks_v(send, counts, disps, send_type),
                           IS_ROOT ? ALL : 0, true, false),
      mca_coll_epcoll_area_received(&recv, (size_t) recv_count, recv_type, NULL, HAS_BLOCK));

/* ---- all to all ------------------------------------------------------------------------------ */

GUARD(allgather,
      (const void *send, COUNT send_count, TYPE send_type, void *recv, COUNT recv_count,
       TYPE recv_type, COMM),
      (send, send_count, send_type, recv, recv_count, recv_type, comm),
      mca_coll_epcoll_area_sent(&send, (size_t) send_count, send_type, true),
      mca_coll_epcoll_area_received(&recv, (size_t) recv_count *ALL, recv_type, send, true));

GUARD(allgatherv,
      (const void *send, COUNT send_count, TYPE send_type, void *recv, COUNTS counts, DISPS disps,
       TYPE recv_type, COMM),
      (send, send_count, send_type, recv, counts, disps, recv_type, comm),
      mca_coll_epcoll_area_sent(&send, (size_t) send_count, send_type, true),
      mca_coll_epcoll_area(&recv, mca_coll_epcoll_blocks_v(recv, counts, disps, recv_type), ALL,
                           EPCOLL_IN_PLACE(send), true));

GUARD(alltoall,
      (const void *send, COUNT send_count, TYPE send_type, void *recv, COUNT recv_count,
       TYPE recv_type, COMM),
      (send, send_count, send_type, recv, recv_count, recv_type, comm),
      mca_coll_epcoll_area_sent(&send, (size_t) send_count *ALL, send_type, true),
      mca_coll_epcoll_area_received(&recv, (size_t) recv_count *ALL, recv_type, send, true));

#define PARAMETERS_V                                                                     \
    (const void *send, COUNTS send_counts, DISPS send_disps, TYPE send_type, void *recv, \
     COUNTS recv_counts, DISPS recv_disps, TYPE recv_type, COMM)
#define ARGUMENTS_V \
    (send, send_counts, send_disps, send_type, recv, recv_counts, recv_disps, recv_type, comm)
#define SEND_V mca_coll_epcoll_blocks_v(send, send_counts, send_disps, send_type)
#define RECV_V mca_coll_epcoll_blocks_v(recv, recv_counts, recv_disps, recv_type)

GUARD(alltoallv, PARAMETERS_V, ARGUMENTS_V, mca_coll_epcoll_area(&send, SEND_V, ALL, true, false),
      mca_coll_epcoll_area(&recv, RECV_V, ALL, EPCOLL_IN_PLACE(send), true));

GUARD(alltoallw,
      (const void *send, COUNTS send_counts, DISPS send_disps, TYPES send_types, void *recv,
       COUNTS recv_counts, DISPS recv_disps, TYPES recv_types, COMM),
      (send, send_counts, send_disps, send_types, recv, recv_counts, recv_disps, recv_types, comm),
      mca_coll_epcoll_area(&send,
                           mca_coll_epcoll_blocks_w(send, send_counts, send_disps, send_types), ALL,
                           true, false),
      mca_coll_epcoll_area(&recv,
                           mca_coll_epcoll_blocks_w(recv, recv_counts, recv_disps, recv_types), ALL,
                           EPCOLL_IN_PLACE(send), true));

/* ---- reductions ------------------------------------------------------------------------------ */

#define PARAMETERS_OP \
    (const void *send, void *recv, COUNT count, TYPE type, struct ompi_op_t *op, COMM)
#define ARGUMENTS_OP (send, recv, count, type, op, comm)
#define GUARD_OP(name, parameters, arguments, first, second) \
    GUARD_WITH(name, parameters, arguments, , first, second, op)
#define SENT mca_coll_epcoll_area_sent(&send, (size_t) count, type, true)

GUARD_OP(allreduce, PARAMETERS_OP, ARGUMENTS_OP, SENT,
         mca_coll_epcoll_area_received(&recv, (size_t) count, type, send, true));
GUARD_OP(scan, PARAMETERS_OP, ARGUMENTS_OP, SENT,
         mca_coll_epcoll_area_received(&recv, (size_t) count, type, send, true));
GUARD_OP(exscan, PARAMETERS_OP, ARGUMENTS_OP, SENT,
         mca_coll_epcoll_area_received(&recv, (size_t) count, type, send,
                                       0 < ompi_comm_rank(comm)
                                           || EPCOLL_IN_PLACE(send))); /* else it has no result */
GUARD_OP(reduce,
         (const void *send, void *recv, COUNT count, TYPE type, struct ompi_op_t *op, int root,
          COMM),
         (send, recv, count, type, op, root, comm),
         mca_coll_epcoll_area_sent(&send, (size_t) count, type, HAS_BLOCK),
         mca_coll_epcoll_area_received(&recv, (size_t) count, type, send, IS_ROOT));
GUARD_OP(reduce_scatter,
         (const void *send, void *recv, COUNTS counts, TYPE type, struct ompi_op_t *op, COMM),
         (send, recv, counts, type, op, comm),
         mca_coll_epcoll_area_sent(&send, guard_sum(comm, counts), type, true),
         mca_coll_epcoll_area_received(&recv,
                                       EPCOLL_IN_PLACE(send)
                                           ? guard_sum(comm, counts)
                                           : EPCOLL_COUNT(counts, ompi_comm_rank(comm)),
                                       type, send, true));
GUARD_OP(reduce_scatter_block, PARAMETERS_OP, ARGUMENTS_OP,
         mca_coll_epcoll_area_sent(&send, (size_t) count *(size_t) ompi_comm_size(comm), type,
                                   true),
         mca_coll_epcoll_area_received(&recv,
                                       EPCOLL_IN_PLACE(send)
                                           ? (size_t) count *(size_t) ompi_comm_size(comm)
                                           : (size_t) count,
                                       type, send, true));

/* ---- neighbours ------------------------------------------------------------------------------ */

#define GUARD_NEIGHBOR(name, parameters, arguments, send_blocks, recv_blocks)   \
    GUARD_WITH(name, parameters, arguments,                                     \
               const mca_coll_epcoll_peers_t peers = guard_neighbors(comm),     \
               mca_coll_epcoll_area_neighbor(&send, send_blocks, &peers, true), \
               mca_coll_epcoll_area_neighbor(&recv, recv_blocks, &peers, false), NULL)

GUARD_NEIGHBOR(neighbor_allgather,
               (const void *send, COUNT send_count, TYPE send_type, void *recv, COUNT recv_count,
                TYPE recv_type, COMM),
               (send, send_count, send_type, recv, recv_count, recv_type, comm),
               mca_coll_epcoll_blocks_one(send, send_count, send_type),
               mca_coll_epcoll_blocks_equal(recv, recv_count, recv_type));

GUARD_NEIGHBOR(neighbor_allgatherv,
               (const void *send, COUNT send_count, TYPE send_type, void *recv, COUNTS counts,
                DISPS disps, TYPE recv_type, COMM),
               (send, send_count, send_type, recv, counts, disps, recv_type, comm),
               mca_coll_epcoll_blocks_one(send, send_count, send_type),
               mca_coll_epcoll_blocks_v(recv, counts, disps, recv_type));

GUARD_NEIGHBOR(neighbor_alltoall,
               (const void *send, COUNT send_count, TYPE send_type, void *recv, COUNT recv_count,
                TYPE recv_type, COMM),
               (send, send_count, send_type, recv, recv_count, recv_type, comm),
               mca_coll_epcoll_blocks_equal(send, send_count, send_type),
               mca_coll_epcoll_blocks_equal(recv, recv_count, recv_type));

GUARD_NEIGHBOR(neighbor_alltoallv, PARAMETERS_V, ARGUMENTS_V, SEND_V, RECV_V);

GUARD_NEIGHBOR(neighbor_alltoallw,
               (const void *send, COUNTS send_counts, mca_coll_epcoll_aints_t send_disps,
                TYPES send_types, void *recv, COUNTS recv_counts,
                mca_coll_epcoll_aints_t recv_disps, TYPES recv_types, COMM),
               (send, send_counts, send_disps, send_types, recv, recv_counts, recv_disps,
                recv_types, comm),
               mca_coll_epcoll_blocks_far(send, send_counts, send_disps, send_types),
               mca_coll_epcoll_blocks_far(recv, recv_counts, recv_disps, recv_types));

/* ---- the module ------------------------------------------------------------------------------ */

#define EACH_FORM(each, name) each(name) each(i##name) each(name##_init)

static void guard_construct(mca_coll_epcoll_guard_t *guard)
{
    guard->own = NULL;
    memset(&guard->next, 0, sizeof(guard->next));
}

#if OMPI_MAJOR_VERSION >= 6

/* Ours below has put its functions into the communicator's table by then, and these go over them;
 * the framework holds whatever modules they are of. */
#    define PUT_IN_FRONT(name)                                                                    \
        if (NULL != comm->c_coll->coll_##name) {                                                  \
            MCA_COLL_SAVE_API(comm, name, guard->next.name, guard->next.name##_module, "epcoll"); \
            MCA_COLL_INSTALL_API(comm, name, guarded_##name, base, "epcoll");                     \
        }
#    define PUT_BACK(name)                                                                \
        if (base == comm->c_coll->coll_##name##_module) {                                 \
            MCA_COLL_INSTALL_API(comm, name, guard->next.name, guard->next.name##_module, \
                                 "epcoll");                                               \
        }
#    define LET_GO(name)

static int guard_disable(mca_coll_base_module_t *base, ompi_communicator_t *comm)
{
    mca_coll_epcoll_guard_t *guard = (mca_coll_epcoll_guard_t *) base;

#    define EACH(name, ...) EACH_FORM(PUT_BACK, name)
    EPCOLL_FOR_ALL_KINDS(EACH)
    EPCOLL_FOR_ALL_NEIGHBORS(EACH)
#    undef EACH
    return NULL == guard->own ? OMPI_SUCCESS
                              : guard->own->super.coll_module_disable(&guard->own->super, comm);
}

#else

/* The framework puts what the module has over what is there, when enable returns, and gives up its
 * hold of that. */
#    define PUT_IN_FRONT(name)                                              \
        if (NULL != guard->own && NULL != guard->own->super.coll_##name) {  \
            guard->next.name = guard->own->super.coll_##name;               \
            guard->next.name##_module = &guard->own->super;                 \
        } else if (NULL != comm->c_coll->coll_##name) {                     \
            guard->next.name = comm->c_coll->coll_##name;                   \
            guard->next.name##_module = comm->c_coll->coll_##name##_module; \
        }                                                                   \
        if (NULL != guard->next.name) {                                     \
            OBJ_RETAIN(guard->next.name##_module);                          \
            base->coll_##name = guarded_##name;                             \
        }
#    define LET_GO(name)                            \
        if (NULL != guard->next.name##_module) {    \
            OBJ_RELEASE(guard->next.name##_module); \
        }

static int guard_disable(mca_coll_base_module_t *base, ompi_communicator_t *comm)
{
    (void) base;
    (void) comm;
    return OMPI_SUCCESS;
}

#endif

static int guard_enable(mca_coll_base_module_t *base, ompi_communicator_t *comm)
{
    mca_coll_epcoll_guard_t *guard = (mca_coll_epcoll_guard_t *) base;
    const int rc = NULL == guard->own
                       ? OMPI_SUCCESS
                       : guard->own->super.coll_module_enable(&guard->own->super, comm);

    if (OMPI_SUCCESS == rc) {
#define EACH(name, ...) EACH_FORM(PUT_IN_FRONT, name)
        EPCOLL_FOR_ALL_KINDS(EACH)
        EPCOLL_FOR_ALL_NEIGHBORS(EACH)
#undef EACH
    }
    return rc;
}

static void guard_destruct(mca_coll_epcoll_guard_t *guard)
{
#define EACH(name, ...) EACH_FORM(LET_GO, name)
    EPCOLL_FOR_ALL_KINDS(EACH)
    EPCOLL_FOR_ALL_NEIGHBORS(EACH)
#undef EACH
    if (NULL != guard->own) {
        OBJ_RELEASE(guard->own);
    }
}

OBJ_CLASS_INSTANCE(mca_coll_epcoll_guard_t, mca_coll_base_module_t, guard_construct,
                   guard_destruct);

mca_coll_base_module_t *mca_coll_epcoll_guard_new(mca_coll_base_module_t *own)
{
    mca_coll_epcoll_guard_t *guard = OBJ_NEW(mca_coll_epcoll_guard_t);

    if (NULL == guard) {
        return NULL;
    }
    guard->own = (mca_coll_epcoll_module_t *) own;
    guard->super.coll_module_enable = guard_enable;
    guard->super.coll_module_disable = guard_disable;
    return &guard->super;
}
