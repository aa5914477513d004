/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Atomic operations on words: by atomic instructions, or, where there is none for an operation, by a
 * loop of compare-and-swap around libmpi's function for it.  They are acquire and release, so that an
 * accumulate can hand over data (MPI-4.1, 12.7.2: with the flush of the other process).
 *
 * Called by osc_epwin_apply.c, and mca_osc_epwin_apply_swap by the layers calls and am.
 *
 * Tests: win_random, unit/test_epwin_am
 */

#include "ompi_config.h"

#include "osc_epwin_apply.h"
#include "osc_epwin_word.h"

#include <string.h>

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

mca_osc_epwin_one_t mca_osc_epwin_word_one(uint32_t size, int op)
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

void mca_osc_epwin_word_apply(const mca_osc_epwin_basic_t *basic, ompi_op_t *op, void *target,
                              const void *operand, void *result, size_t elements)
{
    if (sizeof(uint64_t) > basic->size && 1 < elements) {
        small_apply(basic, op, target, operand, result, elements);
    } else {
        elements_apply(basic, op, target, operand, result, elements);
    }
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
