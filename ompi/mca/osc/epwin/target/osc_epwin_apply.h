/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Atomic operations on a target's memory: accumulates, get_accumulate, fetch_and_op,
 * compare_and_swap.  Used by origins that map the memory, and at the target for messages.
 *
 * The method depends on the basic type and on the alignment alone, never on count, layout or call:
 * all operations that may meet on a location use the same one (MPI-4.1, 12.7.1: atomicity holds for
 * the same basic type).
 *
 *     integers, logicals, bytes of 1, 2, 4, 8 bytes, aligned   atomic instructions
 *     all others                                               the accumulate lock of the target
 */

#ifndef MCA_OSC_EPWIN_APPLY_H
#define MCA_OSC_EPWIN_APPLY_H

#include "ompi_config.h"

#include "../base/base.h"
#include "osc_epwin_range.h"
#include "osc_epwin_walk.h"

BEGIN_C_DECLS

/**
 * target = target op operand, for one element.
 *
 * @param[in]  operand  NULL for MPI_NO_OP; need not be aligned
 * @param[out] result   NULL, or the element before; need not be aligned
 * @param[in]  type     predefined
 * @return MPI_SUCCESS, always: MPI_Fetch_and_op ends with it, and the order of arguments is its own
 */
typedef int (*mca_osc_epwin_one_t)(const void *operand, void *result, ompi_datatype_t *type,
                                   void *target, ompi_op_t *op);

/** The basic type of an accumulate. */
typedef struct mca_osc_epwin_basic_t {
    alignas(256)               /* an index is a shift */
        ompi_datatype_t *type; /**< predefined; of several that differ in name alone, one */
    uint32_t size;         /**< bytes of an element */
    bool is_word;          /**< of a class and size that atomic instructions serve, if aligned */
    /** By Fortran's number of an operation; NULL: it is not defined for the type.  is_word: atomic,
     * the target is aligned.  Otherwise for the holder of the accumulate lock. */
    mca_osc_epwin_one_t one[OMPI_OP_BASE_FORTRAN_OP_MAX];
} mca_osc_epwin_basic_t;

/** Of predefined types, by their id.  Constant after the first call of
 * mca_osc_epwin_basics_fill. */
extern mca_osc_epwin_basic_t mca_osc_epwin_basics[OMPI_DATATYPE_MAX_PREDEFINED];

/** Before the first window exists.  Any thread. */
void mca_osc_epwin_basics_fill(void);

/** @return NULL: it has elements of several basic types, or none */
static inline const mca_osc_epwin_basic_t *mca_osc_epwin_basic(ompi_datatype_t *type)
{
    if (OPAL_UNLIKELY(0 == (type->super.flags & OPAL_DATATYPE_FLAG_PREDEFINED))) {
        type = ompi_datatype_get_single_predefined_type_from_args(type);
    }
    return OPAL_LIKELY(NULL != type) ? &mca_osc_epwin_basics[type->id] : NULL;
}

/** Of an operation for a basic type; NULL: it is not defined for it.  MPI_REPLACE and MPI_NO_OP are
 * for all. */
static inline mca_osc_epwin_one_t mca_osc_epwin_one(const mca_osc_epwin_basic_t *basic,
                                                    const ompi_op_t *op)
{
    return OPAL_LIKELY(op->o_flags & OMPI_OP_FLAGS_INTRINSIC) ? basic->one[op->o_f_to_c_index]
                                                              : NULL;
}

/** Are elements at an address operated on by atomic instructions?  Otherwise apply needs the
 * target's accumulate lock. */
static inline bool mca_osc_epwin_is_atomic(const mca_osc_epwin_basic_t *basic, const void *at)
{
    return basic->is_word && 0 == ((uintptr_t) at & (basic->size - 1));
}

/**
 * target[i] = target[i] op operand[i] for packed elements, each atomically; any thread.  Packed:
 * without the padding of a predefined pair, as the walk's runs and convertors have them.
 *
 * @param[in]  op        predefined, MPI_REPLACE or MPI_NO_OP; defined for the type
 * @param[in]  operand   NULL for MPI_NO_OP; need not be aligned
 * @param[out] result    NULL, or the elements before; need not be aligned
 * @param[in]  elements  at target: all atomic or none (mca_osc_epwin_is_atomic)
 */
void mca_osc_epwin_apply(const mca_osc_epwin_basic_t *basic, ompi_op_t *op, void *target,
                         const void *operand, void *result, size_t elements);

/**
 * The same for the runs of a piece.
 *
 * @param[in] memory  that the runs are relative to
 */
void mca_osc_epwin_apply_runs(const mca_osc_epwin_basic_t *basic, ompi_op_t *op, char *memory,
                              const mca_osc_epwin_run_t *runs, uint32_t count,
                              const void *operand, void *result);

/** Do the runs of a piece need the accumulate lock?  Some element is not atomic. */
bool mca_osc_epwin_runs_need_lock(const mca_osc_epwin_basic_t *basic, const char *memory,
                                  const mca_osc_epwin_run_t *runs, uint32_t count);

/** Compare and swap one element, likewise.
 * @param[out] result  the element before
 * @return MPI_SUCCESS, as mca_osc_epwin_one_t */
int mca_osc_epwin_apply_swap(const void *operand, const void *compare, void *result,
                             const mca_osc_epwin_basic_t *basic, void *target);

/** Try to take a target's accumulate lock.  @param[in] rank  of the caller's member */
static inline bool mca_osc_epwin_accumulate_try(mca_osc_epwin_control_t *control, int rank)
{
    uint32_t none = 0;

    /* Acquire: orders the previous holder's accesses before the caller's; partner:
     * mca_osc_epwin_accumulate_release. */
    return atomic_compare_exchange_strong_explicit(&control->accumulate, &none, (uint32_t) rank + 1,
                                                   memory_order_acquire, memory_order_relaxed);
}

/** Take it, in the module's own thread: waits as MPI_Recv does, for the holder.
 * @return MPI_SUCCESS; MPI_ERR_PROC_FAILED: the holder is lost, it is not taken */
int mca_osc_epwin_accumulate_acquire(mca_osc_epwin_module_t *module,
                                     mca_osc_epwin_control_t *control);

static inline void mca_osc_epwin_accumulate_release(mca_osc_epwin_control_t *control)
{
    /* Release: orders the holder's accesses before the next holder's. */
    atomic_store_explicit(&control->accumulate, 0, memory_order_release);
}

END_C_DECLS

#endif /* MCA_OSC_EPWIN_APPLY_H */
