/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Operations on elements in memory: osc_epwin_apply.h.
 *
 * Elements of a pair with padding (MPI_DOUBLE_INT) are packed in messages and in the user's derived
 * types, but libmpi's functions work on the padded structure.  They are copied to and fro, under
 * the lock.
 *
 * Called by the layers calls and am.
 *
 * Tests: win_random, unit/test_epwin_am
 */

#include "ompi_config.h"

#include "osc_epwin_apply.h"
#include "osc_epwin_word.h"

#include <pthread.h>
#include <string.h>

/* ---- under the lock --------------------------------------------------------------------------- */

/** Packed to padded, or back: a value, and an int at the next multiple of its size. */
static void pair_copy(const mca_osc_epwin_basic_t *basic, char *padded, char *packed, bool pack)
{
    const size_t value = basic->size - sizeof(int);
    const size_t index = (value + sizeof(int) - 1) / sizeof(int) * sizeof(int);

    if (pack) {
        memcpy(packed, padded, value);
        memcpy(packed + value, padded + index, sizeof(int));
    } else {
        memcpy(padded, packed, value);
        memcpy(padded + index, packed + value, sizeof(int));
    }
}

/** An element at a time, of packed pairs. */
static void pairs_apply(const mca_osc_epwin_basic_t *basic, ompi_op_t *op, char *target,
                        const char *operand, size_t elements)
{
    for (size_t i = 0; i < elements; ++i, target += basic->size, operand += basic->size) {
        alignas(EPWIN_ELEMENT_MAX) char left[EPWIN_ELEMENT_MAX] = {0},
                                        right[EPWIN_ELEMENT_MAX] = {0};

        pair_copy(basic, left, (char *) (uintptr_t) operand, false);
        pair_copy(basic, right, target, false);
        ompi_op_reduce(op, left, right, 1, basic->type);
        pair_copy(basic, right, target, true);
    }
}

static void locked_apply(const mca_osc_epwin_basic_t *basic, ompi_op_t *op, void *target,
                         const void *operand, void *result, size_t elements)
{
    const size_t bytes = elements * basic->size;

    if (NULL != result) {
        memcpy(result, target, bytes);
    }
    switch (op->o_f_to_c_index) {
    case OMPI_OP_BASE_FORTRAN_NO_OP:
        return;
    case OMPI_OP_BASE_FORTRAN_REPLACE:
        memcpy(target, operand, bytes);
        return;
    default:
        break;
    }
    if (OPAL_LIKELY(mca_osc_epwin_is_plain(basic->type))) {
        ompi_op_reduce(op, (void *) (uintptr_t) operand, target, elements, basic->type);
    } else {
        pairs_apply(basic, op, target, operand, elements);
    }
}

/** One element (mca_osc_epwin_one_t). */
static int locked_one(const void *operand, void *result, ompi_datatype_t *type, void *target,
                      ompi_op_t *op)
{
    locked_apply(mca_osc_epwin_basic(type), op, target, operand, result, 1);
    return MPI_SUCCESS;
}

/** The most frequent case, a sum, without the call of libmpi's function for vectors. */
#define EPWIN_LOCKED_SUM(type_name)                                                         \
    static int locked_##type_name(const void *operand, void *result, ompi_datatype_t *type, \
                                  void *target, ompi_op_t *op)                              \
    {                                                                                       \
        type_name left, right;                                                              \
                                                                                            \
        (void) op;                                                                          \
        (void) type;                                                                        \
        memcpy(&left, operand, sizeof(left));                                               \
        memcpy(&right, target, sizeof(right));                                              \
        if (NULL != result) {                                                               \
            memcpy(result, &right, sizeof(right));                                          \
        }                                                                                   \
        right += left;                                                                      \
        memcpy(target, &right, sizeof(right));                                              \
        return MPI_SUCCESS;                                                                 \
    }

EPWIN_LOCKED_SUM(double)
EPWIN_LOCKED_SUM(float)

/* ---- both ------------------------------------------------------------------------------------- */

mca_osc_epwin_basic_t mca_osc_epwin_basics[OMPI_DATATYPE_MAX_PREDEFINED];

static inline uint32_t basic_class(const ompi_datatype_t *type)
{
    return type->super.flags & OMPI_DATATYPE_FLAG_DATA_TYPE;
}

/** The function for one element.  @param[in] op  that is defined for it */
static mca_osc_epwin_one_t basic_one(const mca_osc_epwin_basic_t *basic, int op)
{
    const bool is_sum = OMPI_OP_BASE_FORTRAN_SUM == op
                        && OMPI_DATATYPE_FLAG_DATA_FLOAT == basic_class(basic->type)
                        && mca_osc_epwin_is_plain(basic->type);

    if (basic->is_word) {
        return mca_osc_epwin_word_one(basic->size, op);
    }
    return is_sum && sizeof(double) == basic->size  ? locked_double
           : is_sum && sizeof(float) == basic->size ? locked_float
                                                    : locked_one;
}

static void basic_fill_ones(mca_osc_epwin_basic_t *basic)
{
    ompi_op_t *const ops[] = {&ompi_mpi_op_max.op,  &ompi_mpi_op_min.op,    &ompi_mpi_op_sum.op,
                              &ompi_mpi_op_prod.op, &ompi_mpi_op_land.op,   &ompi_mpi_op_band.op,
                              &ompi_mpi_op_lor.op,  &ompi_mpi_op_bor.op,    &ompi_mpi_op_lxor.op,
                              &ompi_mpi_op_bxor.op, &ompi_mpi_op_maxloc.op, &ompi_mpi_op_minloc.op};
    const int number = ompi_op_ddt_map[basic->type->id];

    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); ++i) {
        const int op = ops[i]->o_f_to_c_index;

        if (-1 != number && NULL != ops[i]->o_func.intrinsic.fns[number]) {
            basic->one[op] = basic_one(basic, op);
        }
    }
    basic->one[OMPI_OP_BASE_FORTRAN_REPLACE] = basic_one(basic, OMPI_OP_BASE_FORTRAN_REPLACE);
    basic->one[OMPI_OP_BASE_FORTRAN_NO_OP] = basic_one(basic, OMPI_OP_BASE_FORTRAN_NO_OP);
}

static void basics_fill(void)
{
    for (int i = 0; i < opal_pointer_array_get_size(&ompi_datatype_f_to_c_table); ++i) {
        ompi_datatype_t *type = opal_pointer_array_get_item(&ompi_datatype_f_to_c_table, i);
        mca_osc_epwin_basic_t *basic;
        uint32_t class_of;

        if (NULL == type || !ompi_datatype_is_predefined(type) || 0 > type->id
            || OMPI_DATATYPE_MAX_PREDEFINED <= type->id) {
            continue;
        }
        basic = &mca_osc_epwin_basics[type->id];
        class_of = basic_class(type);
        basic->type = type;
        basic->size = (uint32_t) type->super.size;
        basic->is_word = OMPI_DATATYPE_FLAG_DATA_FLOAT != class_of
                         && OMPI_DATATYPE_FLAG_DATA_COMPLEX != class_of && 8 >= basic->size
                         && 0 < basic->size && 0 == (basic->size & (basic->size - 1))
                         && mca_osc_epwin_is_plain(type);
        basic_fill_ones(basic);
    }
}

void mca_osc_epwin_basics_fill(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void) pthread_once(&once, basics_fill);
}

void mca_osc_epwin_apply(const mca_osc_epwin_basic_t *basic, ompi_op_t *op, void *target,
                         const void *operand, void *result, size_t elements)
{
    if (mca_osc_epwin_is_atomic(basic, target)) {
        mca_osc_epwin_word_apply(basic, op, target, operand, result, elements);
    } else if (1 == elements && !basic->is_word) {
        (void) basic->one[op->o_f_to_c_index](operand, result, basic->type, target, op);
    } else {
        locked_apply(basic, op, target, operand, result, elements);
    }
}

/** Elements of a padded pair, which may consist of several runs: gathered, and scattered again. */
static void split_apply(const mca_osc_epwin_basic_t *basic, ompi_op_t *op, char *memory,
                        const mca_osc_epwin_run_t *runs, uint32_t count, const char *operand,
                        char *result)
{
    uint32_t run = 0;
    uint64_t in_run = 0;

    while (run < count) {
        char element[EPWIN_ELEMENT_MAX], *part[EPWIN_ELEMENT_MAX];
        uint32_t have = 0;

        for (; have < basic->size && run < count; ++have) {
            part[have] = memory + runs[run].at + in_run;
            element[have] = *part[have];
            if (++in_run == runs[run].size) {
                ++run;
                in_run = 0;
            }
        }
        locked_apply(basic, op, element, operand, result, 1);
        for (uint32_t i = 0; i < have; ++i) {
            *part[i] = element[i];
        }
        operand = NULL == operand ? NULL : operand + basic->size;
        result = NULL == result ? NULL : result + basic->size;
    }
}

void mca_osc_epwin_apply_runs(const mca_osc_epwin_basic_t *basic, ompi_op_t *op, char *memory,
                              const mca_osc_epwin_run_t *runs, uint32_t count,
                              const void *operand, void *result)
{
    const char *from = operand;
    char *to = result;

    if (OPAL_UNLIKELY(!mca_osc_epwin_is_plain(basic->type))) {
        split_apply(basic, op, memory, runs, count, from, to);
        return;
    }
    for (uint32_t i = 0; i < count; ++i) {
        mca_osc_epwin_apply(basic, op, memory + runs[i].at, from, to, runs[i].size / basic->size);
        from = NULL == from ? NULL : from + runs[i].size;
        to = NULL == to ? NULL : to + runs[i].size;
    }
}

bool mca_osc_epwin_runs_need_lock(const mca_osc_epwin_basic_t *basic, const char *memory,
                                  const mca_osc_epwin_run_t *runs, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        if (!mca_osc_epwin_is_atomic(basic, memory + runs[i].at)) {
            return true;
        }
    }
    return false;
}
