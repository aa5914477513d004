/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The result that messages between processes would give, computed by one thread that has the
 * vectors of all members.  Each function names the function whose order it follows; a change there
 * needs a change here.
 *
 * An op is always called as by messages, with two buffers: its kernel of three may take the
 * operands the other way round, which a maximum shows if one of them is a NaN.
 *
 * Tests: coll_order
 */

#include "coll_epcoll_order.h"

#include <stdalign.h>
#include <string.h>

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/op/op.h"
#include "ompi/op/op.h"

/** A part of the vectors: as many elements as have room. */
typedef struct work_t {
    const mca_coll_epcoll_order_t *of;
    const mca_coll_epcoll_call_t *call;
    size_t away, bytes, elements;
    char *value
        [EPCOLL_FANOUT]; /**< by process: what its members have together; then what more have */
    alignas(64) char scratch[EPCOLL_FANOUT][EPCOLL_ORDER_ELEMENT];
} work_t;

bool mca_coll_epcoll_order_matters(const mca_coll_epcoll_call_t *call)
{
    const opal_datatype_t *type = &call->recv_type->super;

    if (!ompi_op_is_intrinsic(call->op) || !ompi_datatype_is_predefined(call->recv_type)) {
        return true;
    }
    switch (call->op->o_f_to_c_index) {
    case OMPI_OP_BASE_FORTRAN_LAND:
    case OMPI_OP_BASE_FORTRAN_BAND:
    case OMPI_OP_BASE_FORTRAN_LOR:
    case OMPI_OP_BASE_FORTRAN_BOR:
    case OMPI_OP_BASE_FORTRAN_LXOR:
    case OMPI_OP_BASE_FORTRAN_BXOR:
        return false;
    case OMPI_OP_BASE_FORTRAN_MAX:
    case OMPI_OP_BASE_FORTRAN_MIN:
        return OMPI_DATATYPE_FLAG_DATA_INT != (type->flags & OMPI_DATATYPE_FLAG_DATA_TYPE);
    case OMPI_OP_BASE_FORTRAN_SUM:
    case OMPI_OP_BASE_FORTRAN_PROD: /* sums of shorter ones stop at the largest, in op/avx */
        return OMPI_DATATYPE_FLAG_DATA_INT != (type->flags & OMPI_DATATYPE_FLAG_DATA_TYPE)
               || sizeof(int32_t) > type->size;
    default:
        return true;
    }
}

bool mca_coll_epcoll_order_serves(const mca_coll_epcoll_layout_t *layout,
                                  const mca_coll_epcoll_call_t *call)
{
    if (EPCOLL_ORDER_ELEMENT < call->recv_type->super.size) {
        return false;
    }
    return layout->is_ordered
           || (EPCOLL_SCAN != call->kind && EPCOLL_EXSCAN != call->kind
               && ompi_op_is_commute(call->op));
}

/* ---- partitions of an order ------------------------------------------------------------------ */

/** into = from op into */
static void order_combine(const work_t *work, const void *from, void *into)
{
    ompi_op_reduce(work->call->op, (void *) (uintptr_t) from, into,
                   (mca_coll_epcoll_count_t) work->elements, work->call->recv_type);
}

/** A member's part. */
static const char *order_part(const work_t *work, uint32_t rank)
{
    return (const char *) work->of->vector[rank] + work->away;
}

/** Some members, from the last to the first. */
static void order_combine_ranks(const work_t *work, const uint32_t *rank, uint32_t count,
                                char *into)
{
    memcpy(into, order_part(work, rank[count - 1]), work->bytes);
    for (uint32_t i = count - 1; i-- > 0;) {
        order_combine(work, order_part(work, rank[i]), into);
    }
}

/** The members of a process, in its room. */
static void order_combine_process(work_t *work, uint32_t process)
{
    const mca_coll_epcoll_layout_t *layout = work->of->layout;

    work->value[process] = work->scratch[process];
    order_combine_ranks(work, layout->member + layout->first[process],
                        mca_coll_epcoll_layout_count(layout, process), work->value[process]);
}

/** One value with that behind it, which it becomes: both keep a scratch buffer. */
static void order_join(char **before, char **behind, const work_t *work)
{
    char *scratch = *before;

    order_combine(work, scratch, *behind);
    *before = *behind;
    *behind = scratch;
}

/** By a binary tree, into the first. */
static void order_combine_tree(const work_t *work, char **value, uint32_t count)
{
    for (uint32_t step = 1; step < count; step *= 2) {
        for (uint32_t i = 0; i + step < count; i += 2 * step) {
            order_join(&value[i], &value[i + step], work);
        }
    }
}

/* ---- kinds ----------------------------------------------------------------------------------- */

/** mca_coll_epcoll_phase_allreduce: doubling; the first ones are in pairs, so that a power of two
 * is left. */
static void put_all(work_t *work, char *result)
{
    const uint32_t processes = work->of->layout->processes;
    uint32_t places = 1, pairs;

    for (uint32_t i = 0; i < processes; ++i) {
        order_combine_process(work, i);
    }
    while (2 * places <= processes) {
        places *= 2;
    }
    pairs = processes - places;
    for (uint32_t i = 0; i < places; ++i) {
        if (i < pairs) {
            order_join(&work->value[2 * i], &work->value[2 * i + 1], work);
            work->value[i] = work->value[2 * i];
        } else {
            work->value[i] = work->value[pairs + i];
        }
    }
    order_combine_tree(work, work->value, places);
    memcpy(result, work->value[0], work->bytes);
}

/** mca_coll_epcoll_phase_reduce: a tree, of which the root's process is the first if the op
 * commutes. */
static void put_root(work_t *work, char *result)
{
    const mca_coll_epcoll_layout_t *layout = work->of->layout;
    const uint32_t processes = layout->processes;
    const uint32_t first = ompi_op_is_commute(work->call->op)
                               ? layout->process_of[work->call->root]
                               : 0;
    char *value[EPCOLL_FANOUT];

    for (uint32_t i = 0; i < processes; ++i) {
        const uint32_t process = (first + i) % processes;

        order_combine_process(work, process);
        value[i] = work->value[process];
    }
    order_combine_tree(work, value, processes);
    memcpy(result, value[0], work->bytes);
}

/** coll_epcoll_build_scatter.c: the others are combined with our process's part, those before ours
 * first; if the op does not commute, those behind ours are combined by themselves. */
static void put_block(work_t *work, char *result)
{
    const mca_coll_epcoll_layout_t *layout = work->of->layout;
    const uint32_t processes = layout->processes, own = layout->process_of[work->of->rank];
    const bool commutes = ompi_op_is_commute(work->call->op);
    const uint32_t before = commutes ? processes - 1 : own;

    for (uint32_t i = 0; i < processes; ++i) {
        order_combine_process(work, i);
    }
    for (uint32_t away = 1; away <= before; ++away) {
        order_combine(work, work->value[(own + processes - away) % processes], work->value[own]);
    }
    memcpy(result, work->value[own], work->bytes);
    if (commutes || processes - 1 == own) {
        return;
    }
    for (uint32_t i = processes - 1; i-- > own + 1;) {
        order_combine(work, work->value[i], work->value[processes - 1]);
    }
    order_combine(work, result, work->value[processes - 1]);
    memcpy(result, work->value[processes - 1], work->bytes);
}

/** What all processes before one have: each has what 1, 2, 4 … before it have, and gets that of
 * one as many before it. */
static void before_process(work_t *work, uint32_t process, char *before)
{
    for (uint32_t i = 0; i < process; ++i) {
        order_combine_process(work, i);
    }
    memcpy(before, work->value[process - 1], work->bytes);
    for (uint32_t step = 1; step < process; step *= 2) {
        /* From the last on: what is before it has not been added to yet. */
        for (uint32_t i = process; i-- > step;) {
            order_combine(work, work->value[i - step], work->value[i]);
        }
        if (process >= 2 * step) {
            order_combine(work, work->value[process - 2 * step], before);
        }
    }
}

/** coll_epcoll_build_scan.c: what processes before ours have, then our members up to us, from the
 * first on; in the first process, of what is small, from the last on. */
static void put_before(work_t *work, char *result)
{
    const mca_coll_epcoll_layout_t *layout = work->of->layout;
    const uint32_t process = layout->process_of[work->of->rank];
    const uint32_t *rank = layout->member + layout->first[process];
    const uint32_t count = layout->index_of[work->of->rank] + (EPCOLL_SCAN == work->call->kind);
    char *acc = work->scratch[EPCOLL_FANOUT - 1], *next = work->scratch[0];
    uint32_t done = 0;

    if (0 == process && work->of->is_small) {
        order_combine_ranks(work, rank, count, result);
        return;
    }
    if (0 == process) {
        memcpy(acc, order_part(work, rank[done++]), work->bytes);
    } else {
        before_process(work, process, acc);
    }
    for (; done < count; ++done) {
        char *scratch = acc;

        memcpy(next, order_part(work, rank[done]), work->bytes);
        order_combine(work, acc, next);
        acc = next;
        next = scratch;
    }
    memcpy(result, acc, work->bytes);
}

/* ---- a vector -------------------------------------------------------------------------------- */

static void order_store(work_t *work, char *result)
{
    switch (work->call->kind) {
    case EPCOLL_ALLREDUCE:
        put_all(work, result);
        break;
    case EPCOLL_REDUCE:
        put_root(work, result);
        break;
    case EPCOLL_EXSCAN:
    case EPCOLL_SCAN:
        put_before(work, result);
        break;
    default:
        put_block(work, result);
        break;
    }
}

void mca_coll_epcoll_order_run(const mca_coll_epcoll_order_t *order,
                               const mca_coll_epcoll_call_t *call, void *result)
{
    const size_t size = call->recv_type->super.size, most = EPCOLL_ORDER_ELEMENT / size;
    work_t work;

    work.of = order;
    work.call = call;
    for (size_t done = 0; done < order->count; done += work.elements) {
        work.elements = order->count - done < most ? order->count - done : most;
        work.away = done * size;
        work.bytes = work.elements * size;
        order_store(&work, (char *) result + work.away);
    }
}
