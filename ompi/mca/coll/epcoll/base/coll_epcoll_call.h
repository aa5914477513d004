/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A collective call: what the user has asked for, the same for blocking, nonblocking and persistent
 * ones.
 */

#ifndef MCA_COLL_EPCOLL_CALL_H
#define MCA_COLL_EPCOLL_CALL_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "coll_epcoll_compat.h"

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/op/op.h"

BEGIN_C_DECLS

/** The kinds.  First those whose data may travel in slots; alltoalls follow each other. */
typedef enum mca_coll_epcoll_kind_t {
    EPCOLL_ALLGATHER,
    EPCOLL_ALLREDUCE,
    EPCOLL_BARRIER,
    EPCOLL_BCAST,
    EPCOLL_EXSCAN,
    EPCOLL_GATHER,
    EPCOLL_REDUCE,
    EPCOLL_REDUCE_SCATTER,
    EPCOLL_REDUCE_SCATTER_BLOCK,
    EPCOLL_SCAN,
    EPCOLL_SCATTER,
    EPCOLL_ALLTOALL,
    EPCOLL_KINDS_IN_SLOTS,
    EPCOLL_ALLTOALLV = EPCOLL_KINDS_IN_SLOTS,
    EPCOLL_ALLTOALLW,
    EPCOLL_ALLGATHERV,
    EPCOLL_GATHERV,
    EPCOLL_SCATTERV,
    EPCOLL_KINDS
} mca_coll_epcoll_kind_t;

/** Calls something for each kind by its name, and its number. */
/* clang-format off */
#define EPCOLL_FOR_ALL_KINDS(each)                          \
    each(allgather, EPCOLL_ALLGATHER)                       \
    each(allgatherv, EPCOLL_ALLGATHERV)                     \
    each(allreduce, EPCOLL_ALLREDUCE)                       \
    each(alltoall, EPCOLL_ALLTOALL)                         \
    each(alltoallv, EPCOLL_ALLTOALLV)                       \
    each(alltoallw, EPCOLL_ALLTOALLW)                       \
    each(barrier, EPCOLL_BARRIER)                           \
    each(bcast, EPCOLL_BCAST)                               \
    each(exscan, EPCOLL_EXSCAN)                             \
    each(gather, EPCOLL_GATHER)                             \
    each(gatherv, EPCOLL_GATHERV)                           \
    each(reduce, EPCOLL_REDUCE)                             \
    each(reduce_scatter, EPCOLL_REDUCE_SCATTER)             \
    each(reduce_scatter_block, EPCOLL_REDUCE_SCATTER_BLOCK) \
    each(scan, EPCOLL_SCAN)                                 \
    each(scatter, EPCOLL_SCATTER)                           \
    each(scatterv, EPCOLL_SCATTERV)
/* clang-format on */

/** Likewise for each collective of neighbours. */
#define EPCOLL_FOR_ALL_NEIGHBORS(each)                                         \
    each(neighbor_allgather) each(neighbor_allgatherv) each(neighbor_alltoall) \
        each(neighbor_alltoallv) each(neighbor_alltoallw)

/**
 * What a member calls.  Fields that a kind does not have are 0.  One buffer (bcast): the root's is
 * send, the others' is recv.
 */
typedef struct mca_coll_epcoll_call_t {
    mca_coll_epcoll_kind_t kind;
    int root;
    bool
        in_place; /**< the data to send are a part of recv (at a root that scatters, the other way round) */
    uint8_t algorithm; /**< of a blocking call between processes: coll_epcoll_hier.c */
    const void *send;
    void *recv;
    size_t send_count, recv_count; /**< of reductions, recv_count: elements of the whole vector */
    ompi_datatype_t *send_type, *recv_type; /**< of reductions, recv_type */
    mca_coll_epcoll_counts_t send_counts, recv_counts;
    mca_coll_epcoll_disps_t send_disps, recv_disps;
    ompi_datatype_t *const *send_types,
        *const *recv_types; /**< of alltoallw; displacements in bytes */
    ompi_op_t *op;
    size_t bytes; /**< packed, of one block, or of a reduction's vector: what must be the same at
                   * all members; 0 where blocks may differ (v, w) */
    /* Of a part of what spans processes (layer hier). */
    const struct mca_coll_epcoll_plan_t *plan;
    const uint32_t *ranks; /**< of the process's members, by index; NULL: those are the same */
    uint64_t signature; /**< the signature of the whole, which members publish; 0: it is no part */
} mca_coll_epcoll_call_t;

/**
 * A call of some kind, all else of it 0.  In parts: all at once, compilers take an instruction that
 * repeats itself, and that alone takes longer to begin than this does.
 */
static inline void mca_coll_epcoll_call_of_kind(mca_coll_epcoll_call_t *call,
                                                mca_coll_epcoll_kind_t kind)
{
    enum { PART = 64 };

    memset(call, 0, PART);
    memset((char *) call + PART, 0, PART);
    memset((char *) call + 2 * PART, 0, sizeof(*call) - 2 * PART);
    call->kind = kind;
}

/** The signature of a call, to be compared: kind, root, in place (of alltoalls) and length. */
static inline uint64_t mca_coll_epcoll_signature(mca_coll_epcoll_kind_t kind, int root,
                                                 bool in_place, size_t bytes)
{
    return (uint64_t) (kind + 1) << 57 | (uint64_t) in_place << 56
           | (uint64_t) ((unsigned int) root & 0xffffff) << 32 | (bytes & UINT32_MAX);
}

/** The signature that a member publishes: of a part, that of the whole. */
static inline uint64_t mca_coll_epcoll_signature_of(const mca_coll_epcoll_call_t *call)
{
    /* Other calls are in place at all members or at none, or need not agree: those with a root, and
     * those that gather or reduce. */
    const bool in_place = EPCOLL_ALLTOALL <= call->kind && EPCOLL_ALLTOALLW >= call->kind
                          && call->in_place;

    return 0 != call->signature
               ? call->signature
               : mca_coll_epcoll_signature(call->kind, call->root, in_place, call->bytes);
}

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_CALL_H */
