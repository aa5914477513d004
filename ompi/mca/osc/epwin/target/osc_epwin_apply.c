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
 * Tests: win_random, win_death, unit/test_epwin_am
 */

#include "ompi_config.h"

#include "osc_epwin_apply.h"

#include <pthread.h>
#include <string.h>

/* ---- words ------------------------------------------------------------------------------------ */

/** One word, by one atomic instruction (mca_osc_epwin_one_t). */
#define EPWIN_WORD_ONE(bits, name, function)                                                 \
    static int word##bits##_##name(const void *operand, void *result, ompi_datatype_t *type, \
                                   void *target, ompi_op_t *op)                              \
    {                                                                                        \
        uint##bits##_t value;                                                                \
                                                                                             \
        (void) op;                                                                           \
        (void) type;                                                                         \
        memcpy(&value, operand, sizeof(value));                                              \
        value = function((_Atomic uint##bits##_t *) target, value, memory_order_acq_rel);    \
        if (NULL != result) {                                                                \
            memcpy(result, &value, sizeof(value));                                           \
        }                                                                                    \
        return MPI_SUCCESS;                                                                  \
    }

/* Those of a size; other operations by a loop.  The table has MPI_SUM, MPI_BAND, ... */
#define EPWIN_WORD(bits)                                                                        \
    EPWIN_WORD_ONE(bits, sum, atomic_fetch_add_explicit)                                        \
    EPWIN_WORD_ONE(bits, and, atomic_fetch_and_explicit)                                        \
    EPWIN_WORD_ONE(bits, or, atomic_fetch_or_explicit)                                          \
    EPWIN_WORD_ONE(bits, xor, atomic_fetch_xor_explicit)                                        \
    EPWIN_WORD_ONE(bits, replace, atomic_exchange_explicit)                                     \
                                                                                                \
    static int word##bits##_no_op(const void *operand, void *result, ompi_datatype_t *type,     \
                                  void *target, ompi_op_t *op)                                  \
    {                                                                                           \
        const uint##bits##_t value = atomic_load_explicit((_Atomic uint##bits##_t *) target,    \
                                                          memory_order_acquire);                \
                                                                                                \
        (void) operand;                                                                         \
        (void) op;                                                                              \
        (void) type;                                                                            \
        if (NULL != result) {                                                                   \
            memcpy(result, &value, sizeof(value));                                              \
        }                                                                                       \
        return MPI_SUCCESS;                                                                     \
    }                                                                                           \
                                                                                                \
    static int word##bits##_loop(const void *operand, void *result, ompi_datatype_t *type,      \
                                 void *target, ompi_op_t *op)                                   \
    {                                                                                           \
        _Atomic uint##bits##_t *at = target;                                                    \
        uint##bits##_t old = atomic_load_explicit(at, memory_order_relaxed), next;              \
                                                                                                \
        do {                                                                                    \
            next = old;                                                                         \
            ompi_op_reduce(op, (void *) (uintptr_t) operand, &next, 1, type);                   \
        } while (!atomic_compare_exchange_weak_explicit(at, &old, next, memory_order_acq_rel,   \
                                                        memory_order_relaxed));                 \
        if (NULL != result) {                                                                   \
            memcpy(result, &old, sizeof(old));                                                  \
        }                                                                                       \
        return MPI_SUCCESS;                                                                     \
    }                                                                                           \
                                                                                                \
    static inline int word##bits##_swap(const void *operand, const void *compare, void *result, \
                                        void *target)                                           \
    {                                                                                           \
        uint##bits##_t expected, value;                                                         \
                                                                                                \
        memcpy(&expected, compare, sizeof(expected));                                           \
        memcpy(&value, operand, sizeof(value));                                                 \
        (void) atomic_compare_exchange_strong_explicit((_Atomic uint##bits##_t *) target,       \
                                                       &expected, value, memory_order_acq_rel,  \
                                                       memory_order_acquire);                   \
        memcpy(result, &expected, sizeof(expected));                                            \
        return MPI_SUCCESS;                                                                     \
    }                                                                                           \
                                                                                                \
    static const mca_osc_epwin_one_t word##bits##_ones[OMPI_OP_BASE_FORTRAN_OP_MAX] = {         \
        [OMPI_OP_BASE_FORTRAN_SUM] = word##bits##_sum,                                          \
        [OMPI_OP_BASE_FORTRAN_BAND] = word##bits##_and,                                         \
        [OMPI_OP_BASE_FORTRAN_BOR] = word##bits##_or,                                           \
        [OMPI_OP_BASE_FORTRAN_BXOR] = word##bits##_xor,                                         \
        [OMPI_OP_BASE_FORTRAN_REPLACE] = word##bits##_replace,                                  \
        [OMPI_OP_BASE_FORTRAN_NO_OP] = word##bits##_no_op,                                      \
    };                                                                                          \
                                                                                                \
    _Static_assert(sizeof(_Atomic uint##bits##_t) == sizeof(uint##bits##_t), "has no lock")

EPWIN_WORD(8);
EPWIN_WORD(16);
EPWIN_WORD(32);
EPWIN_WORD(64);

/** The function for one word of a size, of an operation that is defined for its type. */
static mca_osc_epwin_one_t word_one(uint32_t size, int op)
{
    switch (size) {
    case 1:
        return NULL != word8_ones[op] ? word8_ones[op] : word8_loop;
    case 2:
        return NULL != word16_ones[op] ? word16_ones[op] : word16_loop;
    case 4:
        return NULL != word32_ones[op] ? word32_ones[op] : word32_loop;
    default:
        return NULL != word64_ones[op] ? word64_ones[op] : word64_loop;
    }
}

static void elements_apply(const mca_osc_epwin_basic_t *basic, ompi_op_t *op, char *target,
                           const char *operand, char *result, size_t elements)
{
    const mca_osc_epwin_one_t one = basic->one[op->o_f_to_c_index];
    const size_t size = basic->size;

    for (size_t at = 0; at < elements * size; at += size) {
        (void) one(NULL == operand ? NULL : operand + at, NULL == result ? NULL : result + at,
                   basic->type, target + at, op);
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

/** Add the elements of 8 bytes, aligned (mca_osc_epwin_one_t but for size).  @return before */
static inline uint64_t lanes_sum(_Atomic uint64_t *at, uint64_t operand, uint64_t high)
{
    uint64_t old = atomic_load_explicit(at, memory_order_relaxed);

    while (!atomic_compare_exchange_weak_explicit(at, &old, lanes_add(old, operand, high),
                                                  memory_order_acq_rel, memory_order_relaxed)) {
        continue;
    }
    return old;
}

/** As many elements as fill aligned words of 8 bytes, a word by one atomic instruction or a loop of
 * one: sums, bitwise operations and replacements.  @return bytes that have been operated on */
static size_t lanes_apply(const mca_osc_epwin_basic_t *basic, ompi_op_t *op, char *target,
                          const char *operand, char *result, size_t bytes)
{
    const bool is_sum = OMPI_OP_BASE_FORTRAN_SUM == op->o_f_to_c_index;
    const mca_osc_epwin_one_t one = word64_ones[op->o_f_to_c_index];
    const uint64_t high = lanes_high(basic->size);
    size_t done = 0;

    for (; NULL != one && done + sizeof(uint64_t) <= bytes; done += sizeof(uint64_t)) {
        const char *from = NULL == operand ? NULL : operand + done;
        char *to = NULL == result ? NULL : result + done;

        if (is_sum) {
            uint64_t value;

            memcpy(&value, from, sizeof(value));
            value = lanes_sum((_Atomic uint64_t *) (target + done), value, high);
            if (NULL != to) {
                memcpy(to, &value, sizeof(value));
            }
        } else {
            (void) one(from, to, NULL, target + done, op);
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
        return word_one(basic->size, op);
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
        word_apply(basic, op, target, operand, result, elements);
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

int mca_osc_epwin_apply_swap(const void *operand, const void *compare, void *result,
                             const mca_osc_epwin_basic_t *basic, void *target)
{
    if (OPAL_UNLIKELY(!mca_osc_epwin_is_atomic(basic, target))) {
        const bool is_equal = 0 == memcmp(target, compare, basic->size);

        memcpy(result, target, basic->size);
        if (is_equal) {
            memcpy(target, operand, basic->size);
        }
        return MPI_SUCCESS;
    }
    switch (basic->size) {
    case 1:
        return word8_swap(operand, compare, result, target);
    case 2:
        return word16_swap(operand, compare, result, target);
    case 4:
        return word32_swap(operand, compare, result, target);
    default:
        return word64_swap(operand, compare, result, target);
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

int mca_osc_epwin_accumulate_acquire(mca_osc_epwin_module_t *module,
                                     mca_osc_epwin_control_t *control)
{
    accumulate_wait_t wait = {.control = control, .rank = module->rank};

    if (OPAL_LIKELY(mca_osc_epwin_accumulate_try(control, module->rank))) {
        return MPI_SUCCESS;
    }
    while (true) {
        /* The holder changes while this thread waits, so the loss of any member ends the wait. */
        const int rc = mca_osc_epwin_wait(module, "an accumulate", MPIX_ENDPOINTS_ANY_RANK,
                                          accumulate_is_taken, &wait);
        /* Relaxed: a hint at who holds it.  A lost one holds it for good. */
        const uint32_t holder = atomic_load_explicit(&control->accumulate, memory_order_relaxed);

        if (MPI_SUCCESS == rc) {
            return MPI_SUCCESS;
        }
        if (holder > (uint32_t) module->size) {
            return MPI_ERR_OTHER; /* another process has written nonsense */
        }
        if (0 < holder && mca_osc_epwin_component.engine->is_lost(module->comm, (int) holder - 1)) {
            return rc;
        }
    }
}
