/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * win_random: types, operations, layouts.
 */

#include "win_random.h"

/* ---- types ------------------------------------------------------------------------------------ */

#define BIT(op) (1u << (op))

enum {
    OPS_ANY = 1u << OP_REPLACE | 1u << OP_NO_OP,
    OPS_NUMBER = OPS_ANY | 1u << OP_SUM | 1u << OP_PROD | 1u << OP_MIN | 1u << OP_MAX,
    OPS_LOGICAL = OPS_ANY | 1u << OP_LAND | 1u << OP_LOR | 1u << OP_LXOR,
    OPS_BITS = OPS_ANY | 1u << OP_BAND | 1u << OP_BOR | 1u << OP_BXOR,
    OPS_INTEGER = OPS_NUMBER | OPS_LOGICAL | OPS_BITS,
    OPS_PAIR = OPS_ANY | 1u << OP_MINLOC | 1u << OP_MAXLOC
};

struct pair {
    int value, index;
};

struct double_int {
    double value;
    int index;
};

static const int mixed_sizes[4] = {1, 2, 4, 8};

int win_num_basics(void)
{
    return 16;
}

const struct win_basic *win_basic(int i)
{
    static const struct win_basic basics[] = {
        {"int8", MPI_INT8_T, 1, 1, OPS_INTEGER, true, false},
        {"uint8", MPI_UINT8_T, 1, 1, OPS_INTEGER, true, false},
        {"int16", MPI_INT16_T, 2, 2, OPS_INTEGER, true, false},
        {"uint16", MPI_UINT16_T, 2, 2, OPS_INTEGER, true, false},
        {"int32", MPI_INT32_T, 4, 4, OPS_INTEGER, true, false},
        {"uint32", MPI_UINT32_T, 4, 4, OPS_INTEGER, true, false},
        {"int64", MPI_INT64_T, 8, 8, OPS_INTEGER, true, false},
        {"uint64", MPI_UINT64_T, 8, 8, OPS_INTEGER, true, false},
        {"float", MPI_FLOAT, 4, 4, OPS_NUMBER, false, false},
        {"double", MPI_DOUBLE, 8, 8, OPS_NUMBER, false, false},
        {"double complex", MPI_C_DOUBLE_COMPLEX, 16, 16, OPS_ANY | 1u << OP_SUM, false, false},
        {"bool", MPI_C_BOOL, 1, 1, OPS_LOGICAL, true, false},
        {"byte", MPI_BYTE, 1, 1, OPS_BITS, true, false},
        {"2int", MPI_2INT, 8, 8, OPS_PAIR, false, false},
        {"double int", MPI_DOUBLE_INT, 12, 16, OPS_PAIR, false, false},
        {"mixed", MPI_DATATYPE_NULL, 8, 8, 0, false, true},
    };

    return &basics[i];
}

MPI_Op win_op(enum win_op op)
{
    const MPI_Op ops[NUM_OPS] = {MPI_REPLACE, MPI_NO_OP, MPI_SUM,    MPI_PROD,  MPI_MIN,
                                 MPI_MAX,     MPI_LAND,  MPI_LOR,    MPI_LXOR,  MPI_BAND,
                                 MPI_BOR,     MPI_BXOR,  MPI_MINLOC, MPI_MAXLOC};

    return ops[op];
}

enum win_op win_op_draw(const struct win_basic *basic, bool commuting, uint64_t *random)
{
    enum win_op op;

    do {
        op = (enum win_op) ept_random_below(random, NUM_OPS);
    } while (0 == (basic->ops & BIT(op)) || OP_NO_OP == op || (commuting && OP_REPLACE == op));
    return op;
}

int win_size(const struct win_basic *basic, int i)
{
    return basic->is_mixed ? mixed_sizes[i % 4] : basic->size;
}

/* ---- values ----------------------------------------------------------------------------------- */

/**
 * An integer of many bits; of few where the operation is logical; a factor.  Sums and products of
 * one and two bytes must not overflow: Open MPI's op/avx saturates.
 */
static int64_t integer_value(const struct win_basic *basic, enum win_op op, uint64_t key)
{
    static const int factors[] = {1, -1, 2, 1};
    const bool is_small = 2 >= basic->size, is_unsigned = 'u' == basic->name[0];

    if (OP_PROD == op) {
        return is_small && is_unsigned ? 1 : factors[key >> 32 & (is_small ? 1 : 3)];
    }
    if (OP_SUM == op && is_small) {
        return (int64_t) (key >> 32 & 1);
    }
    if (OP_LAND == op || OP_LOR == op || OP_LXOR == op) {
        return 0 == (key >> 40 & 1) ? 0 : (int64_t) (key >> 32 & 7);
    }
    if (is_small && MPI_BYTE != basic->type) {
        return (int64_t) (key >> 32 & 7) - (is_unsigned ? 0 : 4);
    }
    return (int64_t) key;
}

static double real_value(const struct win_basic *basic, enum win_op op, uint64_t key)
{
    return OP_PROD == op ? (double) integer_value(basic, op, key) : (double) (key >> 32 & 15) - 7.5;
}

void win_value(const struct win_basic *basic, enum win_op op, uint64_t key, void *element)
{
    const uint64_t bits = ept_mix(key, 1, 2, 3);
    const int64_t integer = integer_value(basic, op, bits);

    memset(element, 0, (size_t) basic->extent);
    if (MPI_FLOAT == basic->type) {
        const float value = (float) real_value(basic, op, bits);

        memcpy(element, &value, sizeof(value));
    } else if (MPI_DOUBLE == basic->type) {
        const double value = real_value(basic, op, bits);

        memcpy(element, &value, sizeof(value));
    } else if (MPI_C_DOUBLE_COMPLEX == basic->type) {
        const double value[2] = {real_value(basic, op, bits), real_value(basic, op, bits << 8)};

        memcpy(element, value, sizeof(value));
    } else if (MPI_C_BOOL == basic->type) {
        *(bool *) element = bits >> 40 & 1;
    } else if (MPI_2INT == basic->type) {
        const struct pair value = {(int) (bits >> 32 & 3), (int) (bits >> 40 & 1023)};

        memcpy(element, &value, sizeof(value));
    } else if (MPI_DOUBLE_INT == basic->type) {
        const double value = (double) (bits >> 32 & 3);
        const int index = (int) (bits >> 40 & 1023);

        memcpy(element, &value, sizeof(value));
        memcpy((char *) element + sizeof(value), &index, sizeof(index));
    } else {
        memcpy(element, &integer, (size_t) basic->size); /* of little-endian machines, as all are */
    }
}

/* ---- operations ------------------------------------------------------------------------------- */

/** Defines target = target op origin for a type of numbers; wide has its sums and products. */
#define APPLY_NUMBER(name, type, wide)                                         \
    static bool apply_##name(enum win_op op, const type *origin, type *target) \
    {                                                                          \
        const type a = *origin, b = *target;                                   \
                                                                               \
        switch (op) {                                                          \
        case OP_SUM:                                                           \
            *target = (type) ((wide) b + (wide) a);                            \
            return true;                                                       \
        case OP_PROD:                                                          \
            *target = (type) ((wide) b * (wide) a);                            \
            return true;                                                       \
        case OP_MIN:                                                           \
            *target = a < b ? a : b;                                           \
            return true;                                                       \
        case OP_MAX:                                                           \
            *target = a > b ? a : b;                                           \
            return true;                                                       \
        default:                                                               \
            return false;                                                      \
        }                                                                      \
    }

/** The same for a type of integers. */
#define APPLY_INTEGER(name, type)                                              \
    APPLY_NUMBER(name##_number, type, uint64_t)                                \
    static void apply_##name(enum win_op op, const void *origin, void *target) \
    {                                                                          \
        type a, b;                                                             \
                                                                               \
        memcpy(&a, origin, sizeof(a));                                         \
        memcpy(&b, target, sizeof(b));                                         \
        if (!apply_##name##_number(op, &a, &b)) {                              \
            b = OP_LAND == op   ? (type) (a && b)                              \
                : OP_LOR == op  ? (type) (a || b)                              \
                : OP_LXOR == op ? (type) (!a != !b)                            \
                : OP_BAND == op ? (type) (a & b)                               \
                : OP_BOR == op  ? (type) (a | b)                               \
                                : (type) (a ^ b);                               \
        }                                                                      \
        memcpy(target, &b, sizeof(b));                                         \
    }

APPLY_NUMBER(float_number, float, float)
APPLY_NUMBER(double_number, double, double)
APPLY_INTEGER(int8, int8_t)
APPLY_INTEGER(uint8, uint8_t)
APPLY_INTEGER(int16, int16_t)
APPLY_INTEGER(uint16, uint16_t)
APPLY_INTEGER(int32, int32_t)
APPLY_INTEGER(uint32, uint32_t)
APPLY_INTEGER(int64, int64_t)
APPLY_INTEGER(uint64, uint64_t)

static void apply_float(enum win_op op, const void *origin, void *target)
{
    float a, b;

    memcpy(&a, origin, sizeof(a));
    memcpy(&b, target, sizeof(b));
    (void) apply_float_number(op, &a, &b);
    memcpy(target, &b, sizeof(b));
}

static void apply_double(enum win_op op, const void *origin, void *target)
{
    double a, b;

    memcpy(&a, origin, sizeof(a));
    memcpy(&b, target, sizeof(b));
    (void) apply_double_number(op, &a, &b);
    memcpy(target, &b, sizeof(b));
}

static void apply_pair(const struct win_basic *basic, enum win_op op, const void *origin,
                       void *target)
{
    struct double_int a = {0}, b = {0};

    if (MPI_2INT == basic->type) {
        const struct pair *from = origin, *to = target;

        a = (struct double_int){from->value, from->index};
        b = (struct double_int){to->value, to->index};
    } else {
        memcpy(&a, origin, (size_t) basic->size);
        memcpy(&b, target, (size_t) basic->size);
    }
    if (a.value == b.value ? a.index < b.index
                           : (OP_MINLOC == op ? a.value < b.value : a.value > b.value)) {
        memcpy(target, origin, (size_t) basic->size);
    }
}

void win_apply(const struct win_basic *basic, enum win_op op, const void *origin, void *target)
{
    static void (*const of_type[])(enum win_op, const void *, void *) = {
        apply_int8,   apply_uint8, apply_int16,  apply_uint16, apply_int32,
        apply_uint32, apply_int64, apply_uint64, apply_float,  apply_double};
    const size_t i = (size_t) (basic - win_basic(0));

    if (OP_NO_OP == op) {
        return;
    }
    if (OP_REPLACE == op) {
        memcpy(target, origin, (size_t) basic->size);
    } else if (i < sizeof(of_type) / sizeof(of_type[0])) {
        of_type[i](op, origin, target);
    } else if (MPI_C_DOUBLE_COMPLEX == basic->type) {
        apply_double(op, origin, target);
        apply_double(op, (const double *) origin + 1, (double *) target + 1);
    } else if (MPI_C_BOOL == basic->type || MPI_BYTE == basic->type) {
        apply_uint8(op, origin, target);
    } else {
        apply_pair(basic, op, origin, target);
    }
}

/* ---- layouts ---------------------------------------------------------------------------------- */

enum layout_kind { PLAIN, CONTIGUOUS, VECTOR, BACKWARDS, SCATTERED, STRUCT, NUM_KINDS };

int win_elements_draw(const struct win_basic *basic, size_t bytes, uint64_t *random)
{
    const size_t most = bytes / (size_t) basic->extent;
    const size_t few = 0 == ept_random_below(random, 4) ? most : 1 + most / 4;
    int n = 1 + (int) ept_random_below(random, few < 40 || 0 == (*random >> 61) ? few : 40);

    return basic->is_mixed ? (n + 3) / 4 * 4 : n;
}

/** A divisor of n that a datatype can have as elements. */
static int divisor_draw(int n, uint64_t *random)
{
    int per = 1 + (int) ept_random_below(random, LAYOUT_MOST);

    while (0 != n % per) {
        --per;
    }
    return per;
}

/** Slots in any order, with gaps, some of them before the address. */
static void scatter(struct win_layout *layout, int unit, uint64_t *random)
{
    const int slots = layout->per + (int) ept_random_below(random, 1 + (uint64_t) layout->per);
    const int before = (int) ept_random_below(random, (uint64_t) slots);
    int order[2 * LAYOUT_MOST];

    ept_shuffle(order, slots, random);
    for (int j = 0; j < layout->per; ++j) {
        layout->at[j] = (ptrdiff_t) (order[j] - before) * unit;
    }
    layout->extent = (ptrdiff_t) slots * unit;
}

/** Blocks of a vector, forwards or backwards.  Open MPI 5 and 6 take a stride of -1 bytes for none:
 * backwards it is two elements at least. */
static void stride(struct win_layout *layout, int unit, bool is_backwards, uint64_t *random)
{
    const int block = divisor_draw(layout->per, random);
    const int step = block + (int) ept_random_below(random, 4) + (is_backwards ? 1 : 0);
    const int blocks = layout->per / block;

    for (int j = 0; j < layout->per; ++j) {
        const int first = j / block * step * (is_backwards ? -1 : 1);

        layout->at[j] = (ptrdiff_t) (first + j % block) * unit;
    }
    layout->extent = (ptrdiff_t) ((blocks - 1) * step + block) * unit;
}

static void set_range(const struct win_basic *basic, int n, struct win_layout *layout)
{
    layout->low = PTRDIFF_MAX;
    layout->high = PTRDIFF_MIN;
    for (int j = 0; j < layout->per; ++j) {
        const ptrdiff_t last = win_layout_at(layout, n - layout->per + j) + basic->extent;

        layout->low = layout->at[j] < layout->low ? layout->at[j] : layout->low;
        layout->high = last > layout->high ? last : layout->high;
    }
}

void win_layout_draw(const struct win_basic *basic, int n, size_t bytes, uint64_t *random,
                     struct win_layout *layout, int *kind_p)
{
    int kind = (int) ept_random_below(random, NUM_KINDS);

    kind = basic->is_mixed ? STRUCT : kind;
    for (;; kind = basic->is_mixed ? STRUCT : PLAIN) {
        *layout = (struct win_layout){.per = PLAIN == kind ? 1 : divisor_draw(n, random),
                                      .extent = basic->extent};
        layout->per = basic->is_mixed ? 4 : layout->per;
        layout->count = n / layout->per;
        if (PLAIN == kind || CONTIGUOUS == kind) {
            for (int j = 0; j < layout->per; ++j) {
                layout->at[j] = (ptrdiff_t) j * basic->extent;
            }
            layout->extent = (ptrdiff_t) layout->per * basic->extent;
        } else if (VECTOR == kind || BACKWARDS == kind) {
            stride(layout, basic->extent, BACKWARDS == kind, random);
        } else {
            scatter(layout, basic->extent, random);
        }
        set_range(basic, n, layout);
        if ((size_t) (layout->high - layout->low) <= bytes) {
            *kind_p = kind;
            return;
        }
    }
}

/** The datatype of a vector, from what scatter and stride have drawn. */
static void commit_vector(struct ept *t, const struct win_basic *basic, struct win_layout *layout)
{
    int block = 1;

    while (block < layout->per && layout->at[block] == layout->at[0] + block * basic->extent) {
        ++block;
    }
    EPT_OK(t, MPI_Type_create_hvector(layout->per / block, block,
                                      block < layout->per ? layout->at[block] - layout->at[0] : 0,
                                      basic->type, &layout->type));
}

static void commit_scattered(struct ept *t, const struct win_basic *basic, int kind,
                             struct win_layout *layout)
{
    static const MPI_Datatype mixed[4] = {MPI_CHAR, MPI_INT16_T, MPI_INT32_T, MPI_DOUBLE};
    MPI_Aint places[LAYOUT_MOST], low = PTRDIFF_MAX;
    MPI_Datatype types[LAYOUT_MOST], bare;
    int ones[LAYOUT_MOST];

    for (int j = 0; j < layout->per; ++j) {
        places[j] = layout->at[j];
        low = places[j] < low ? places[j] : low;
        types[j] = basic->is_mixed ? mixed[j % 4] : basic->type;
        ones[j] = 1;
    }
    if (STRUCT == kind) {
        EPT_OK(t, MPI_Type_create_struct(layout->per, ones, places, types, &bare));
    } else {
        EPT_OK(t, MPI_Type_create_hindexed_block(layout->per, 1, places, basic->type, &bare));
    }
    EPT_OK(t, MPI_Type_create_resized(bare, low, layout->extent, &layout->type));
    EPT_OK(t, MPI_Type_free(&bare));
}

void win_layout_commit(struct ept *t, const struct win_basic *basic, int kind,
                       struct win_layout *layout)
{
    layout->is_own = PLAIN != kind;
    if (PLAIN == kind) {
        layout->type = basic->type;
        return;
    }
    if (CONTIGUOUS == kind) {
        EPT_OK(t, MPI_Type_contiguous(layout->per, basic->type, &layout->type));
    } else if (VECTOR == kind || BACKWARDS == kind) {
        commit_vector(t, basic, layout);
    } else {
        commit_scattered(t, basic, kind, layout);
    }
    EPT_OK(t, MPI_Type_commit(&layout->type));
}

void win_layout_free(struct win_layout *layout)
{
    if (layout->is_own) {
        MPI_Type_free(&layout->type);
    }
    layout->is_own = false;
}
