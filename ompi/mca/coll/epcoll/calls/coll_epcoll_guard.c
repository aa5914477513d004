/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Device memory (GPUs) in collectives: an error in place of a crash, whichever component serves the
 * call.  Used only where an accelerator component has been selected, so that nobody else pays.
 *
 * Only buffers that the call uses are looked at: what is significant at this member, and has
 * elements.  The other members must not wait for one that has been refused.  What is ours breaks,
 * as with any other error of one member (mca_coll_epcoll_break_all); of what the components below
 * serve, the engine tells the others that this member takes part no more (engine->leave).
 *
 * Called by libmpi.
 *
 * Tests: device_coll
 */

#include "ompi_config.h"

#include <ctype.h>
#include <stdio.h>

#include "../direct/direct.h"
#include "coll_epcoll_forms.h"
#include "coll_epcoll_guard.h"

#include "mpi.h"
#include "ompi/constants.h"

/* ---- refusing -------------------------------------------------------------------------------- */

/** May a call that is ours go to the components below after all? */
static bool guard_may_go_below(const mca_coll_epcoll_handle_t *handle)
{
    const mca_coll_epcoll_layout_t *layout = mca_coll_epcoll_layout(handle);

    return NULL != layout && !layout->is_ordered;
}

/** @param[in] next  the module that would have served
 * @param[in] name   of the function, "iallgather"
 * @return MPI_ERR_BUFFER */
static int guard_refuse(const mca_coll_epcoll_guard_t *guard, const ompi_communicator_t *comm,
                        const mca_coll_base_module_t *next, const char *name)
{
    const mpix_endpoints_engine_t *engine = mca_coll_epcoll_component.engine;
    const bool is_own = NULL != guard->own && &guard->own->super == next;
    char what[64];

    if (is_own) {
        mca_coll_epcoll_break_all(guard->own->handle, MPI_ERR_BUFFER);
    }
    if (!is_own || guard_may_go_below(guard->own->handle)) {
        engine->leave(comm);
    }
    snprintf(what, sizeof(what), "MPI_%c%s", toupper((unsigned char) name[0]), name + 1);
    return engine->refuse_device(comm, what);
}

/** Is the call one of the components below that cannot succeed, as a member takes part no more?
 * Their messages of before may still be there, and would be taken for those of this call. */
static bool guard_is_left(const mca_coll_epcoll_guard_t *guard, const ompi_communicator_t *comm,
                          const mca_coll_base_module_t *next)
{
    return (NULL == guard->own || &guard->own->super != next)
           && mca_coll_epcoll_component.engine->is_lost(comm, MPIX_ENDPOINTS_ANY_RANK);
}

/* ---- what is looked at ----------------------------------------------------------------------- */

/** Are elements in device memory? */
static bool guard_in(const ompi_communicator_t *comm, const void *address, size_t count,
                     const ompi_datatype_t *type)
{
    return mca_coll_epcoll_component.engine->is_device(comm, address, count, type);
}

/** Likewise of a buffer that MPI_IN_PLACE may stand for. */
static bool guard_in_sent(const ompi_communicator_t *comm, const void *address, size_t count,
                          const ompi_datatype_t *type)
{
    return !EPCOLL_IN_PLACE(address) && guard_in(comm, address, count, type);
}

/** Members that the blocks of a buffer are for, or from. */
static uint32_t guard_peers(const ompi_communicator_t *comm)
{
    return (uint32_t) (OMPI_COMM_IS_INTER(comm) ? ompi_comm_remote_size(comm)
                                                : ompi_comm_size(comm));
}

/** Blocks of all members. */
static bool guard_in_all(const ompi_communicator_t *comm, mca_coll_epcoll_blocks_t blocks)
{
    const uint32_t peers = EPCOLL_IN_PLACE(blocks.address) ? 0 : guard_peers(comm);

    for (uint32_t i = 0; i < peers; ++i) {
        const mca_coll_epcoll_buffer_t block = mca_coll_epcoll_blocks_get(&blocks, i);

        if (guard_in(comm, block.address, block.count, block.type)) {
            return true;
        }
    }
    return false;
}

/** Blocks of neighbours: those of MPI_PROC_NULL are not used. */
static bool guard_in_near(ompi_communicator_t *comm, mca_coll_epcoll_blocks_t send,
                          mca_coll_epcoll_blocks_t recv)
{
    mca_coll_epcoll_peers_t peers = {.sources = 0};

    if (OMPI_COMM_IS_TOPO(comm)) { /* else it is an error, which another one finds */
        peers = mca_coll_epcoll_peers_of(comm, true);
    }
    for (uint32_t i = 0; i < peers.targets + peers.sources; ++i) {
        const bool is_sent = i < peers.targets;
        const uint32_t nth = is_sent ? i : i - peers.targets;
        const int rank = is_sent ? mca_coll_epcoll_peers_target(&peers, nth)
                                 : mca_coll_epcoll_peers_source(&peers, nth);
        const mca_coll_epcoll_buffer_t block = mca_coll_epcoll_blocks_get(is_sent ? &send : &recv,
                                                                          nth);

        if (MPI_PROC_NULL != rank && guard_in(comm, block.address, block.count, block.type)) {
            return true;
        }
    }
    return false;
}

/** Of a kind with a root: are we it? */
static bool guard_is_root(const ompi_communicator_t *comm, int root)
{
    return OMPI_COMM_IS_INTER(comm) ? MPI_ROOT == root : ompi_comm_rank(comm) == root;
}

/** Have we a block of our own, as all have within a group?  Of an intercommunicator those have one
 * who name a root in the other group. */
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

/* ---- the functions --------------------------------------------------------------------------- */

#define GUARD_LIST(...) __VA_ARGS__

/** @param is_device  does the call use device memory? */
#define GUARD_FORM(name, parameters, arguments, is_device)                                    \
    static int guarded_##name(GUARD_LIST parameters, mca_coll_base_module_t *module)          \
    {                                                                                         \
        const mca_coll_epcoll_guard_t *guard = (const mca_coll_epcoll_guard_t *) module;      \
                                                                                              \
        if (OPAL_UNLIKELY(guard_is_left(guard, comm, guard->next.name##_module))) {           \
            return MPI_ERR_PROC_FAILED;                                                       \
        }                                                                                     \
        return is_device ? guard_refuse(guard, comm, guard->next.name##_module, #name)        \
                         : guard->next.name(GUARD_LIST arguments, guard->next.name##_module); \
    }

/**
 * Defines the functions of a kind: blocking, nonblocking, persistent.
 *
 * @param parameters, arguments  of its functions, up to and with the communicator, in parentheses
 */
#define GUARD(name, parameters, arguments, is_device)                                           \
    GUARD_FORM(name, parameters, arguments, is_device)                                          \
    GUARD_FORM(i##name, (GUARD_LIST parameters, ompi_request_t * *request_p),                   \
               (GUARD_LIST arguments, request_p), is_device)                                    \
    GUARD_FORM(name##_init,                                                                     \
               (GUARD_LIST parameters, struct ompi_info_t * info, ompi_request_t * *request_p), \
               (GUARD_LIST arguments, info, request_p), is_device)                              \
    _Static_assert(true, "takes the semicolon")

#define COMM struct ompi_communicator_t *comm
#define TYPE struct ompi_datatype_t *
#define TYPES struct ompi_datatype_t *const *
#define COUNT mca_coll_epcoll_count_t
#define COUNTS mca_coll_epcoll_counts_t
#define DISPS mca_coll_epcoll_disps_t

GUARD(barrier, (COMM), (comm), false);

GUARD(bcast, (void *buffer, COUNT count, TYPE type, int root, COMM),
      (buffer, count, type, root, comm),
      (guard_is_root(comm, root) || guard_has_block(root))
          && guard_in(comm, buffer, (size_t) count, type));

/* ---- one to all, and all to one -------------------------------------------------------------- */

GUARD(gather,
      (const void *send, COUNT send_count, TYPE send_type, void *recv, COUNT recv_count,
       TYPE recv_type, int root, COMM),
      (send, send_count, send_type, recv, recv_count, recv_type, root, comm),
      (guard_is_root(comm, root)
       && guard_in(comm, recv, (size_t) recv_count *guard_peers(comm), recv_type))
          || (guard_has_block(root) && guard_in_sent(comm, send, (size_t) send_count, send_type)));

GUARD(gatherv,
      (const void *send, COUNT send_count, TYPE send_type, void *recv, COUNTS counts, DISPS disps,
       TYPE recv_type, int root, COMM),
      (send, send_count, send_type, recv, counts, disps, recv_type, root, comm),
      (guard_is_root(comm, root)
       && guard_in_all(comm, mca_coll_epcoll_blocks_v(recv, counts, disps, recv_type)))
          || (guard_has_block(root) && guard_in_sent(comm, send, (size_t) send_count, send_type)));

GUARD(scatter,
      (const void *send, COUNT send_count, TYPE send_type, void *recv, COUNT recv_count,
       TYPE recv_type, int root, COMM),
      (send, send_count, send_type, recv, recv_count, recv_type, root, comm),
      (guard_is_root(comm, root)
       && guard_in(comm, send, (size_t) send_count *guard_peers(comm), send_type))
          || (guard_has_block(root) && guard_in_sent(comm, recv, (size_t) recv_count, recv_type)));

GUARD(scatterv,
      (const void *send, COUNTS counts, DISPS disps, TYPE send_type, void *recv, COUNT recv_count,
       TYPE recv_type, int root, COMM),
      (send, counts, disps, send_type, recv, recv_count, recv_type, root, comm),
      (guard_is_root(comm, root)
       && guard_in_all(comm, mca_coll_epcoll_blocks_v(send, counts, disps, send_type)))
          || (guard_has_block(root) && guard_in_sent(comm, recv, (size_t) recv_count, recv_type)));

/* ---- all to all ------------------------------------------------------------------------------ */

GUARD(allgather,
      (const void *send, COUNT send_count, TYPE send_type, void *recv, COUNT recv_count,
       TYPE recv_type, COMM),
      (send, send_count, send_type, recv, recv_count, recv_type, comm),
      guard_in_sent(comm, send, (size_t) send_count, send_type)
          || guard_in(comm, recv, (size_t) recv_count *guard_peers(comm), recv_type));

GUARD(allgatherv,
      (const void *send, COUNT send_count, TYPE send_type, void *recv, COUNTS counts, DISPS disps,
       TYPE recv_type, COMM),
      (send, send_count, send_type, recv, counts, disps, recv_type, comm),
      guard_in_sent(comm, send, (size_t) send_count, send_type)
          || guard_in_all(comm, mca_coll_epcoll_blocks_v(recv, counts, disps, recv_type)));

GUARD(alltoall,
      (const void *send, COUNT send_count, TYPE send_type, void *recv, COUNT recv_count,
       TYPE recv_type, COMM),
      (send, send_count, send_type, recv, recv_count, recv_type, comm),
      guard_in_sent(comm, send, (size_t) send_count *guard_peers(comm), send_type)
          || guard_in(comm, recv, (size_t) recv_count *guard_peers(comm), recv_type));

#define PARAMETERS_V                                                                     \
    (const void *send, COUNTS send_counts, DISPS send_disps, TYPE send_type, void *recv, \
     COUNTS recv_counts, DISPS recv_disps, TYPE recv_type, COMM)
#define ARGUMENTS_V \
    (send, send_counts, send_disps, send_type, recv, recv_counts, recv_disps, recv_type, comm)
#define SEND_V mca_coll_epcoll_blocks_v(send, send_counts, send_disps, send_type)
#define RECV_V mca_coll_epcoll_blocks_v(recv, recv_counts, recv_disps, recv_type)

GUARD(alltoallv, PARAMETERS_V, ARGUMENTS_V,
      guard_in_all(comm, SEND_V) || guard_in_all(comm, RECV_V));

GUARD(alltoallw,
      (const void *send, COUNTS send_counts, DISPS send_disps, TYPES send_types, void *recv,
       COUNTS recv_counts, DISPS recv_disps, TYPES recv_types, COMM),
      (send, send_counts, send_disps, send_types, recv, recv_counts, recv_disps, recv_types, comm),
      guard_in_all(comm, mca_coll_epcoll_blocks_w(send, send_counts, send_disps, send_types))
          || guard_in_all(comm,
                          mca_coll_epcoll_blocks_w(recv, recv_counts, recv_disps, recv_types)));

/* ---- reductions ------------------------------------------------------------------------------ */

#define PARAMETERS_OP \
    (const void *send, void *recv, COUNT count, TYPE type, struct ompi_op_t *op, COMM)
#define ARGUMENTS_OP (send, recv, count, type, op, comm)
#define IN_SENT guard_in_sent(comm, send, (size_t) count, type)
#define IN_RESULT guard_in(comm, recv, (size_t) count, type)

GUARD(allreduce, PARAMETERS_OP, ARGUMENTS_OP, IN_SENT || IN_RESULT);
GUARD(scan, PARAMETERS_OP, ARGUMENTS_OP, IN_SENT || IN_RESULT);
GUARD(exscan, PARAMETERS_OP, ARGUMENTS_OP,
      IN_SENT
          || ((0 < ompi_comm_rank(comm) || EPCOLL_IN_PLACE(send)) /* else it has no result */
              && IN_RESULT));
GUARD(reduce,
      (const void *send, void *recv, COUNT count, TYPE type, struct ompi_op_t *op, int root, COMM),
      (send, recv, count, type, op, root, comm),
      (guard_is_root(comm, root) && IN_RESULT) || (guard_has_block(root) && IN_SENT));
GUARD(reduce_scatter,
      (const void *send, void *recv, COUNTS counts, TYPE type, struct ompi_op_t *op, COMM),
      (send, recv, counts, type, op, comm),
      guard_in_sent(comm, send, guard_sum(comm, counts), type)
          || guard_in(comm, recv,
                      EPCOLL_IN_PLACE(send) ? guard_sum(comm, counts)
                                            : EPCOLL_COUNT(counts, ompi_comm_rank(comm)),
                      type));
GUARD(reduce_scatter_block, PARAMETERS_OP, ARGUMENTS_OP,
      guard_in_sent(comm, send, (size_t) count *(size_t) ompi_comm_size(comm), type)
          || guard_in(comm, recv,
                      EPCOLL_IN_PLACE(send) ? (size_t) count *(size_t) ompi_comm_size(comm)
                                            : (size_t) count,
                      type));

/* ---- neighbours ------------------------------------------------------------------------------ */

GUARD(neighbor_allgather,
      (const void *send, COUNT send_count, TYPE send_type, void *recv, COUNT recv_count,
       TYPE recv_type, COMM),
      (send, send_count, send_type, recv, recv_count, recv_type, comm),
      guard_in_near(comm, mca_coll_epcoll_blocks_one(send, send_count, send_type),
                    mca_coll_epcoll_blocks_equal(recv, recv_count, recv_type)));

GUARD(neighbor_allgatherv,
      (const void *send, COUNT send_count, TYPE send_type, void *recv, COUNTS counts, DISPS disps,
       TYPE recv_type, COMM),
      (send, send_count, send_type, recv, counts, disps, recv_type, comm),
      guard_in_near(comm, mca_coll_epcoll_blocks_one(send, send_count, send_type),
                    mca_coll_epcoll_blocks_v(recv, counts, disps, recv_type)));

GUARD(neighbor_alltoall,
      (const void *send, COUNT send_count, TYPE send_type, void *recv, COUNT recv_count,
       TYPE recv_type, COMM),
      (send, send_count, send_type, recv, recv_count, recv_type, comm),
      guard_in_near(comm, mca_coll_epcoll_blocks_equal(send, send_count, send_type),
                    mca_coll_epcoll_blocks_equal(recv, recv_count, recv_type)));

GUARD(neighbor_alltoallv, PARAMETERS_V, ARGUMENTS_V, guard_in_near(comm, SEND_V, RECV_V));

GUARD(neighbor_alltoallw,
      (const void *send, COUNTS send_counts, mca_coll_epcoll_aints_t send_disps, TYPES send_types,
       void *recv, COUNTS recv_counts, mca_coll_epcoll_aints_t recv_disps, TYPES recv_types, COMM),
      (send, send_counts, send_disps, send_types, recv, recv_counts, recv_disps, recv_types, comm),
      guard_in_near(comm, mca_coll_epcoll_blocks_far(send, send_counts, send_disps, send_types),
                    mca_coll_epcoll_blocks_far(recv, recv_counts, recv_disps, recv_types)));

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
