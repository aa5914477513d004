/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Blocking reductions of endpoints by a predefined operation, without counting its users.
 *
 * Open MPI's functions take and give back a reference to the operation in each call.  Of a
 * predefined one, which never goes, that is for nothing; and endpoints of a process share the
 * object, so each call of each thread writes one and the same line twice, and waits for it: 20 to
 * 25 ns of an allreduce of two threads that takes 120, a quarter of a scan's time.
 *
 * Ours serve calls that nothing is wrong with: operation and datatype predefined and made for each
 * other, a count greater than 0, buffers that are two, a communicator of endpoints that is sound.
 * For these they do what Open MPI's do, but for the count.  All else is Open MPI's, errors
 * included.
 *
 * Not hooks: as comm_disconnect.c.  In a program that loaded libmpi first, Open MPI's are in force,
 * which are right, and slower.  With Open MPI 6, whose two ABIs would want each function twice, and
 * in its tree they are not there.
 *
 * Tests: coll_reduce
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "mpiext_endpoints_function.h"

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/errhandler/errhandler.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/op/op.h"
#include "ompi/runtime/ompi_spc.h"

#if OMPI_MAJOR_VERSION < 6 && !EP_IN_TREE

/** Is the operation predefined, and made for this datatype, which is then predefined as well? */
static inline bool is_predefined(const ompi_op_t *op, const ompi_datatype_t *datatype)
{
    int which;

    if (NULL == op || &ompi_mpi_op_null.op == op || !ompi_op_is_intrinsic((ompi_op_t *) op)
        || NULL == datatype || !ompi_datatype_is_predefined(datatype)
        || 0 > datatype->id || OMPI_DATATYPE_MAX_PREDEFINED <= datatype->id) {
        return false;
    }
    which = ompi_op_ddt_map[datatype->id];
    return -1 != which && NULL != op->o_func.intrinsic.fns[which];
}

/** Is that a call of ours? */
static inline bool is_ours(ompi_communicator_t *comm, const void *send, const void *receive,
                           int count, const ompi_datatype_t *datatype, const ompi_op_t *op)
{
    return mpix_endpoints_is_endpoint_comm(comm) && 0 < count && MPI_IN_PLACE != receive
           && send != receive && is_predefined(op, datatype) && !ompi_comm_invalid(comm)
           && OMPI_COMM_IS_INTRA(comm)
#if OPAL_ENABLE_FT_MPI
           && !ompi_comm_is_revoked(comm) && !ompi_comm_coll_revoked(comm)
#endif
        ;
}

#    define LIST(...) __VA_ARGS__

/**
 * Defines a function.
 *
 * @param name        of MPI's, without MPI_
 * @param lower       the same as collective components have it
 * @param upper       likewise, as performance counters have it
 * @param may         what must be so besides
 * @param parameters  in parentheses, behind the buffers, up to the communicator
 * @param arguments   likewise
 */
#    define REDUCTION(name, lower, upper, may, parameters, arguments)                             \
        static int by_libmpi_##lower(const void *send, void *receive, LIST parameters,            \
                                     MPI_Comm comm)                                               \
        {                                                                                         \
            int (*const original)(const void *, void *, LIST parameters, MPI_Comm)                \
                = MPIX_ENDPOINTS_NEXT(name);                                                      \
                                                                                                  \
            return NULL != original ? original(send, receive, LIST arguments, comm)               \
                                    : MPI_ERR_INTERN;                                             \
        }                                                                                         \
                                                                                                  \
        static inline int lower(const void *send, void *receive, LIST parameters, MPI_Comm comm)  \
        {                                                                                         \
            int rc;                                                                               \
                                                                                                  \
            if (!is_ours(comm, send, receive, count, type, op) || !(may)) {                       \
                return by_libmpi_##lower(send, receive, LIST arguments, comm);                    \
            }                                                                                     \
            SPC_RECORD(OMPI_SPC_##upper, 1);                                                      \
            rc = comm->c_coll->coll_##lower(send, receive, LIST arguments, comm,                  \
                                            comm->c_coll->coll_##lower##_module);                 \
            OMPI_ERRHANDLER_RETURN(rc, comm, rc, "MPI_" #name);                                   \
        }                                                                                         \
                                                                                                  \
        MPIX_ENDPOINTS_EXPORT int MPIX_ENDPOINTS_FUNCTION(name)(const void *send, void *receive,  \
                                                                LIST parameters, MPI_Comm comm)   \
        {                                                                                         \
            return lower(send, receive, LIST arguments, comm);                                    \
        }                                                                                         \
                                                                                                  \
        MPIX_ENDPOINTS_OR_TOOL(name, lower,                                                       \
                               (const void *send, void *receive, LIST parameters, MPI_Comm comm), \
                               (send, receive, LIST arguments, comm))

#    define PARAMETERS (int count, MPI_Datatype type, MPI_Op op)
#    define ARGUMENTS (count, type, op)

/** Is it the rank of a member, and are buffers as that member's? */
static inline bool is_root_right(const ompi_communicator_t *comm, int root, const void *send)
{
    return 0 <= root && root < comm->c_local_group->grp_proc_count
           && (MPI_IN_PLACE != send || comm->c_my_rank == root);
}

REDUCTION(Allreduce, allreduce, ALLREDUCE, true, PARAMETERS, ARGUMENTS);
REDUCTION(Exscan, exscan, EXSCAN, true, PARAMETERS, ARGUMENTS);
REDUCTION(Reduce, reduce, REDUCE, is_root_right(comm, root, send),
          (int count, MPI_Datatype type, MPI_Op op, int root), (count, type, op, root));
REDUCTION(Reduce_scatter_block, reduce_scatter_block, REDUCE_SCATTER_BLOCK, true, PARAMETERS,
          ARGUMENTS);
REDUCTION(Scan, scan, SCAN, true, PARAMETERS, ARGUMENTS);

#endif
