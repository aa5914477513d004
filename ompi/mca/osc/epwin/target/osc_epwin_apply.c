/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Atomic operations on elements in memory: osc_epwin_apply.h.
 *
 * Words are operated on by atomic instructions; where there is none for an operation, by a loop of
 * compare-and-swap around libmpi's function for it.  They are acquire and release, so that an
 * accumulate can hand over data (MPI-4.1, 12.7.2: with the flush of the other side).
 *
 * Elements of a pair with padding (MPI_DOUBLE_INT) are packed in messages and in the user's derived
 * types, but libmpi's functions work on the padded structure.  They are copied to and fro, under
 * the lock.
 *
 * Called by the layers calls and am.
 *
 * Tests: win_random
 */

#include "ompi_config.h"

#include "osc_epwin_apply.h"

#include <pthread.h>
#include <string.h>

/* ---- words ------------------------------------------------------------------------------------ */

/* MPI_SUM, MPI_BAND, ... of a type for which they are defined, MPI_REPLACE, MPI_NO_OP. */
#define EPWIN_WORD(bits)                                                                          \
    static inline uint##bits##_t word##bits##_op(_Atomic uint##bits##_t *at,                      \
                                                 uint##bits##_t operand, ompi_op_t *op,           \
                                                 ompi_datatype_t *type)                           \
    {                                                                                             \
        uint##bits##_t old, next;                                                                 \
                                                                                                  \
        switch (op->o_f_to_c_index) {                                                             \
        case OMPI_OP_BASE_FORTRAN_SUM:                                                            \
            return atomic_fetch_add_explicit(at, operand, memory_order_acq_rel);                  \
        case OMPI_OP_BASE_FORTRAN_BAND:                                                           \
            return atomic_fetch_and_explicit(at, operand, memory_order_acq_rel);                  \
        case OMPI_OP_BASE_FORTRAN_BOR:                                                            \
            return atomic_fetch_or_explicit(at, operand, memory_order_acq_rel);                   \
        case OMPI_OP_BASE_FORTRAN_BXOR:                                                           \
            return atomic_fetch_xor_explicit(at, operand, memory_order_acq_rel);                  \
        case OMPI_OP_BASE_FORTRAN_REPLACE:                                                        \
            return atomic_exchange_explicit(at, operand, memory_order_acq_rel);                   \
        case OMPI_OP_BASE_FORTRAN_NO_OP:                                                          \
            return atomic_load_explicit(at, memory_order_acquire);                                \
        default:                                                                                  \
            old = atomic_load_explicit(at, memory_order_relaxed);                                 \
            do {                                                                                  \
                next = old;                                                                       \
                ompi_op_reduce(op, &operand, &next, 1, type);                                     \
            } while (!atomic_compare_exchange_weak_explicit(at, &old, next, memory_order_acq_rel, \
                                                            memory_order_relaxed));               \
            return old;                                                                           \
        }                                                                                         \
    }                                                                                             \
                                                                                                  \
    static inline void word##bits##_one(const mca_osc_epwin_basic_t *basic, ompi_op_t *op,        \
                                        void *target, const void *operand, void *result)          \
    {                                                                                             \
        uint##bits##_t value = 0;                                                                 \
                                                                                                  \
        if (NULL != operand) {                                                                    \
            memcpy(&value, operand, sizeof(value));                                               \
        }                                                                                         \
        value = word##bits##_op((_Atomic uint##bits##_t *) target, value, op, basic->type);       \
        if (NULL != result) {                                                                     \
            memcpy(result, &value, sizeof(value));                                                \
        }                                                                                         \
    }                                                                                             \
                                                                                                  \
    static void word##bits##_apply(const mca_osc_epwin_basic_t *basic, ompi_op_t *op,             \
                                   void *target, const void *operand, void *result,               \
                                   size_t elements)                                               \
    {                                                                                             \
        for (size_t i = 0; i < elements; ++i) {                                                   \
            word##bits##_one(basic, op, (uint##bits##_t *) target + i,                            \
                             NULL == operand ? NULL : (const uint##bits##_t *) operand + i,       \
                             NULL == result ? NULL : (uint##bits##_t *) result + i);              \
        }                                                                                         \
    }                                                                                             \
                                                                                                  \
    static inline void word##bits##_swap(void *target, const void *compare, const void *operand,  \
                                         void *result)                                            \
    {                                                                                             \
        uint##bits##_t expected, value;                                                           \
                                                                                                  \
        memcpy(&expected, compare, sizeof(expected));                                             \
        memcpy(&value, operand, sizeof(value));                                                   \
        (void) atomic_compare_exchange_strong_explicit((_Atomic uint##bits##_t *) target,         \
                                                       &expected, value, memory_order_acq_rel,    \
                                                       memory_order_acquire);                     \
        memcpy(result, &expected, sizeof(expected));                                              \
    }                                                                                             \
                                                                                                  \
    _Static_assert(sizeof(_Atomic uint##bits##_t) == sizeof(uint##bits##_t), "has no lock")

EPWIN_WORD(8);
EPWIN_WORD(16);
EPWIN_WORD(32);
EPWIN_WORD(64);

static void elements_apply(const mca_osc_epwin_basic_t *basic, ompi_op_t *op, void *target,
                           const void *operand, void *result, size_t elements)
{
    switch (basic->size) {
    case 1:
        word8_apply(basic, op, target, operand, result, elements);
        break;
    case 2:
        word16_apply(basic, op, target, operand, result, elements);
        break;
    case 4:
        word32_apply(basic, op, target, operand, result, elements);
        break;
    default:
        word64_apply(basic, op, target, operand, result, elements);
        break;
    }
}

/** Highest bits of the elements of a word of 8 bytes. */
static inline uint64_t lanes_high(uint32_t size)
{
    return 1 == size   ? UINT64_C(0x8080808080808080)
           : 2 == size ? UINT64_C(0x8000800080008000)
                       : UINT64_C(0x8000000080000000);
}

/** Add two words element by element, without carries from one to the next. */
static inline uint64_t lanes_add(uint64_t left, uint64_t right, uint64_t high)
{
    return ((left & ~high) + (right & ~high)) ^ ((left ^ right) & high);
}

/**
 * Operate on the elements of 8 bytes, aligned, by one atomic instruction or a loop of one, instead of
 * one for each: sums, bitwise operations, and replacements of smaller elements.
 *
 * @return false: another operation
 */
static bool lanes_op(_Atomic uint64_t *at, uint64_t operand, ompi_op_t *op, uint32_t size,
                     uint64_t *old_p)
{
    const uint64_t high = lanes_high(size);

    switch (op->o_f_to_c_index) {
    case OMPI_OP_BASE_FORTRAN_SUM:
        *old_p = atomic_load_explicit(at, memory_order_relaxed);
        while (!atomic_compare_exchange_weak_explicit(at, old_p, lanes_add(*old_p, operand, high),
                                                      memory_order_acq_rel, memory_order_relaxed)) {
            continue;
        }
        return true;
    case OMPI_OP_BASE_FORTRAN_BAND:
    case OMPI_OP_BASE_FORTRAN_BOR:
    case OMPI_OP_BASE_FORTRAN_BXOR:
    case OMPI_OP_BASE_FORTRAN_REPLACE:
    case OMPI_OP_BASE_FORTRAN_NO_OP:
        *old_p = word64_op(at, operand, op, NULL);
        return true;
    default:
        return false;
    }
}

/** As many elements as fill aligned words of 8 bytes.  @return bytes that have been operated on */
static size_t lanes_apply(const mca_osc_epwin_basic_t *basic, ompi_op_t *op, char *target,
                          const char *operand, char *result, size_t bytes)
{
    size_t done = 0;

    for (; done + sizeof(uint64_t) <= bytes; done += sizeof(uint64_t)) {
        uint64_t value = 0;

        if (NULL != operand) {
            memcpy(&value, operand + done, sizeof(value));
        }
        if (!lanes_op((_Atomic uint64_t *) (target + done), value, op, basic->size, &value)) {
            break;
        }
        if (NULL != result) {
            memcpy(result + done, &value, sizeof(value));
        }
    }
    return done;
}

/** Elements of 1, 2 or 4 bytes: those up to a multiple of 8, words of 8 bytes, the rest. */
static void small_apply(const mca_osc_epwin_basic_t *basic, ompi_op_t *op, char *target,
                        const char *operand, char *result, size_t elements)
{
    const size_t before = (-(uintptr_t) target & (sizeof(uint64_t) - 1)) / basic->size;
    size_t done = before < elements ? before : elements;

    elements_apply(basic, op, target, operand, result, done);
    if (done < elements) {
        const size_t at = done * basic->size;

        done += lanes_apply(basic, op, target + at, NULL == operand ? NULL : operand + at,
                            NULL == result ? NULL : result + at, (elements - done) * basic->size)
                / basic->size;
    }
    if (done < elements) {
        const size_t at = done * basic->size;

        elements_apply(basic, op, target + at, NULL == operand ? NULL : operand + at,
                       NULL == result ? NULL : result + at, elements - done);
    }
}

static void word_apply(const mca_osc_epwin_basic_t *basic, ompi_op_t *op, void *target,
                       const void *operand, void *result, size_t elements)
{
    if (sizeof(uint64_t) > basic->size && 1 < elements) {
        small_apply(basic, op, target, operand, result, elements);
    } else {
        elements_apply(basic, op, target, operand, result, elements);
    }
}

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

/** The most frequent case, one double or float, without the call of libmpi's function for vectors.
 * @return false: another case */
static inline bool sum_apply(const mca_osc_epwin_basic_t *basic, void *target, const void *operand)
{
    if (&ompi_mpi_double.dt == basic->type) {
        double left, right;

        memcpy(&left, operand, sizeof(left));
        memcpy(&right, target, sizeof(right));
        right += left;
        memcpy(target, &right, sizeof(right));
        return true;
    }
    if (&ompi_mpi_float.dt == basic->type) {
        float left, right;

        memcpy(&left, operand, sizeof(left));
        memcpy(&right, target, sizeof(right));
        right += left;
        memcpy(target, &right, sizeof(right));
        return true;
    }
    return false;
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
    case OMPI_OP_BASE_FORTRAN_SUM:
        if (1 == elements && sum_apply(basic, target, operand)) {
            return;
        }
        break;
    default:
        break;
    }
    if (OPAL_LIKELY(mca_osc_epwin_is_plain(basic->type))) {
        ompi_op_reduce(op, (void *) (uintptr_t) operand, target, elements, basic->type);
    } else {
        pairs_apply(basic, op, target, operand, elements);
    }
}

/* ---- both ------------------------------------------------------------------------------------- */

mca_osc_epwin_basic_t mca_osc_epwin_basics[OMPI_DATATYPE_MAX_PREDEFINED];

/** Bits of the operations that are defined for a type. */
static uint32_t basic_ops(const ompi_datatype_t *type)
{
    ompi_op_t *const ops[] = {&ompi_mpi_op_max.op,  &ompi_mpi_op_min.op,    &ompi_mpi_op_sum.op,
                              &ompi_mpi_op_prod.op, &ompi_mpi_op_land.op,   &ompi_mpi_op_band.op,
                              &ompi_mpi_op_lor.op,  &ompi_mpi_op_bor.op,    &ompi_mpi_op_lxor.op,
                              &ompi_mpi_op_bxor.op, &ompi_mpi_op_maxloc.op, &ompi_mpi_op_minloc.op};
    const int number = ompi_op_ddt_map[type->id];
    uint32_t bits = UINT32_C(1) << OMPI_OP_BASE_FORTRAN_REPLACE
                    | UINT32_C(1) << OMPI_OP_BASE_FORTRAN_NO_OP;

    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); ++i) {
        if (-1 != number && NULL != ops[i]->o_func.intrinsic.fns[number]) {
            bits |= UINT32_C(1) << ops[i]->o_f_to_c_index;
        }
    }
    return bits;
}

static void basics_fill(void)
{
    for (int i = 0; i < opal_pointer_array_get_size(&ompi_datatype_f_to_c_table); ++i) {
        const ompi_datatype_t *type = opal_pointer_array_get_item(&ompi_datatype_f_to_c_table, i);
        mca_osc_epwin_basic_t *basic;
        uint32_t class_of;

        if (NULL == type || !ompi_datatype_is_predefined(type) || 0 > type->id
            || OMPI_DATATYPE_MAX_PREDEFINED <= type->id) {
            continue;
        }
        basic = &mca_osc_epwin_basics[type->id];
        class_of = type->super.flags & OMPI_DATATYPE_FLAG_DATA_TYPE;
        basic->size = (uint32_t) type->super.size;
        basic->is_word = OMPI_DATATYPE_FLAG_DATA_FLOAT != class_of
                         && OMPI_DATATYPE_FLAG_DATA_COMPLEX != class_of && 8 >= basic->size
                         && 0 < basic->size && 0 == (basic->size & (basic->size - 1))
                         && mca_osc_epwin_is_plain(type);
        basic->ops = basic_ops(type);
    }
}

void mca_osc_epwin_basics_fill(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void) pthread_once(&once, basics_fill);
}

void mca_osc_epwin_apply_word(const mca_osc_epwin_basic_t *basic, ompi_op_t *op, void *target,
                              const void *operand, void *result)
{
    if (OPAL_LIKELY(8 == basic->size)) {
        word64_one(basic, op, target, operand, result);
    } else if (4 == basic->size) {
        word32_one(basic, op, target, operand, result);
    } else {
        word_apply(basic, op, target, operand, result, 1);
    }
}

void mca_osc_epwin_apply(const mca_osc_epwin_basic_t *basic, ompi_op_t *op, void *target,
                         const void *operand, void *result, size_t elements)
{
    if (mca_osc_epwin_is_atomic(basic, target)) {
        word_apply(basic, op, target, operand, result, elements);
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

void mca_osc_epwin_apply_swap(const mca_osc_epwin_basic_t *basic, void *target,
                              const void *compare, const void *operand, void *result)
{
    if (!mca_osc_epwin_is_atomic(basic, target)) {
        const bool is_equal = 0 == memcmp(target, compare, basic->size);

        memcpy(result, target, basic->size);
        if (is_equal) {
            memcpy(target, operand, basic->size);
        }
        return;
    }
    switch (basic->size) {
    case 1:
        word8_swap(target, compare, operand, result);
        break;
    case 2:
        word16_swap(target, compare, operand, result);
        break;
    case 4:
        word32_swap(target, compare, operand, result);
        break;
    default:
        word64_swap(target, compare, operand, result);
        break;
    }
}

/* ---- the accumulate lock ---------------------------------------------------------------------- */

typedef struct accumulate_wait_t {
    mca_osc_epwin_control_t *control;
    int rank;
} accumulate_wait_t;

static bool accumulate_is_taken(void *context)
{
    const accumulate_wait_t *wait = context;

    return mca_osc_epwin_accumulate_try(wait->control, wait->rank);
}

int mca_osc_epwin_accumulate_acquire(const mca_osc_epwin_module_t *module,
                                     mca_osc_epwin_control_t *control)
{
    accumulate_wait_t wait = {.control = control, .rank = module->rank};
    int rc;

    if (OPAL_LIKELY(mca_osc_epwin_accumulate_try(control, module->rank))) {
        return MPI_SUCCESS;
    }
    do {
        /* Relaxed: a hint at who holds it.  The holder may be another one by the time that the wait
         * ends with the loss of this one. */
        const uint32_t holder = atomic_load_explicit(&control->accumulate, memory_order_relaxed);

        if (0 < holder && holder > (uint32_t) module->size) {
            return MPI_ERR_OTHER; /* another process has written nonsense */
        }
        rc = mca_osc_epwin_wait(module,
                                0 == holder ? MPIX_ENDPOINTS_ANY_RANK : (int) holder - 1,
                                accumulate_is_taken, &wait);
        if (MPI_SUCCESS == rc
            || holder == atomic_load_explicit(&control->accumulate, memory_order_relaxed)) {
            return rc;
        }
    } while (true);
}
