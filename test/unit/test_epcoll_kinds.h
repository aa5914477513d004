/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What is reduced in test_epcoll_reduce.c: types, ops for them, the same ops for one element, and
 * random elements.
 *
 * Guards: ompi/mca/coll/epcoll/data
 */

#ifndef EP_TEST_UNIT_EPCOLL_KINDS_H
#define EP_TEST_UNIT_EPCOLL_KINDS_H

#include "ompi_config.h"

#include "tap.h"

#include <stddef.h>

#include "mpi.h"

/** A structure with gaps, before it, in it and behind it. */
typedef struct record_t {
    int32_t before;
    int32_t a;
    char gap[3];
    char c;
    int64_t b;
    char behind[5];
} record_t;

enum { LONG_NUMBERS = 2500 /* of an element that is larger than a block */ };

/** A type, and an op for it, as the serial result has it too. */
typedef struct kind_t {
    const char *name;
    MPI_Datatype type;
    MPI_Op op;
    size_t size; /**< bytes of an element in memory, from its address on */
    ptrdiff_t extent;
    size_t most; /**< elements of a vector */
    /** into = a op into, one element */
    void (*serial)(const void *a, void *into);
    void (*fill)(void *element, uint64_t *random);
} kind_t;

/* ---- kinds ----------------------------------------------------------------------------------- */

static int64_t mix(int64_t a, int64_t b)
{
    return (int64_t) ((uint64_t) a * 3 - (uint64_t) b * 7
                      + 1); /* neither commutes nor associates */
}

static void serial_sum(const void *a, void *into)
{
    *(double *) into = *(const double *) a + *(double *) into;
}

static void serial_max(const void *a, void *into)
{
    const int *x = a;
    int *y = into;

    *y = *x > *y ? *x : *y;
}

static void serial_minloc(const void *a, void *into)
{
    const struct {
        double v;
        int k;
    } *x = a;
    struct {
        double v;
        int k;
    } *y = into;

    if (x->v < y->v || (x->v == y->v && x->k < y->k)) {
        y->v = x->v;
        y->k = x->k;
    }
}

static void serial_mix(const void *a, void *into)
{
    *(int64_t *) into = mix(*(const int64_t *) a, *(int64_t *) into);
}

static void serial_record(const void *a, void *into)
{
    const record_t *x = a;
    record_t *y = into;

    y->a = (int32_t) mix(x->a, y->a);
    y->b = mix(x->b, y->b);
    y->c = (char) mix(x->c, y->c);
}

static void serial_long(const void *a, void *into)
{
    for (int i = 0; i < LONG_NUMBERS; ++i) {
        serial_mix((const int64_t *) a + i, (int64_t *) into + i);
    }
}

static void fill_double(void *element, uint64_t *random)
{
    *(double *) element = (double) (int64_t) tap_random(random)
                          / (double) (1 + tap_below(random, 1000));
}

static void fill_pair(void *element, uint64_t *random)
{
    struct {
        double v;
        int k;
    } *pair = element;

    pair->v = (double) tap_below(random, 3);
    pair->k = (int) tap_below(random, 1000);
}

static void fill_any(void *element, uint64_t *random)
{
    *(int64_t *) element = (int64_t) tap_random(random);
}

static void fill_int(void *element, uint64_t *random)
{
    *(int *) element = (int) tap_random(random);
}

static void fill_record(void *element, uint64_t *random)
{
    record_t *record = element;

    record->a = (int32_t) tap_random(random);
    record->b = (int64_t) tap_random(random);
    record->c = (char) tap_random(random);
}

static void fill_long(void *element, uint64_t *random)
{
    for (int i = 0; i < LONG_NUMBERS; ++i) {
        fill_any((int64_t *) element + i, random);
    }
}

/** The kind that a user's op is called for, and what it has seen. */
static const kind_t *op_kind;

static void user_op(void *in, void *inout, int *length, MPI_Datatype *type)
{
    TAP_CHECK(*type == op_kind->type, "the op got another type");
    TAP_CHECK(0 == (uintptr_t) inout % 8 && 0 == (uintptr_t) in % 8, "%p, %p are not aligned", in,
              inout);
    for (int i = 0; i < *length; ++i) {
        op_kind->serial((char *) in + i * op_kind->extent, (char *) inout + i * op_kind->extent);
    }
}

static kind_t kinds[] = {
    {"sum of doubles", MPI_DOUBLE, MPI_SUM, 8, 8, 5000, serial_sum, fill_double},
    {"max of ints", MPI_INT, MPI_MAX, 4, 4, 9000, serial_max, fill_int},
    {"minloc", MPI_DOUBLE_INT, MPI_MINLOC, 12, 16, 2000, serial_minloc, fill_pair},
    {"op on numbers", MPI_INT64_T, MPI_OP_NULL, 8, 8, 4000, serial_mix, fill_any},
    {"op on records", MPI_DATATYPE_NULL, MPI_OP_NULL, sizeof(record_t), sizeof(record_t), 1500,
     serial_record, fill_record},
    {"op on records that go down", MPI_DATATYPE_NULL, MPI_OP_NULL, sizeof(record_t),
     -(ptrdiff_t) sizeof(record_t), 1500, serial_record, fill_record},
    {"op on long elements", MPI_DATATYPE_NULL, MPI_OP_NULL, LONG_NUMBERS * 8, LONG_NUMBERS * 8 + 8,
     5, serial_long, fill_long},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), RECORDS = 4, LONGS = 6 };

static void kinds_init(void)
{
    const MPI_Aint at[] = {offsetof(record_t, a), offsetof(record_t, b), offsetof(record_t, c)};
    const int ones[] = {1, 1, 1};
    MPI_Datatype of[] = {MPI_INT32_T, MPI_INT64_T, MPI_CHAR}, type;

    MPI_Type_create_struct(3, ones, at, of, &type);
    MPI_Type_create_resized(type, 0, sizeof(record_t), &kinds[RECORDS].type);
    MPI_Type_create_resized(type, -8, -(MPI_Aint) sizeof(record_t), &kinds[RECORDS + 1].type);
    MPI_Type_free(&type);
    MPI_Type_contiguous(LONG_NUMBERS, MPI_INT64_T, &type);
    MPI_Type_create_resized(type, -8, kinds[LONGS].extent, &kinds[LONGS].type);
    MPI_Type_free(&type);
    for (int i = 0; i < KINDS; ++i) {
        if (MPI_OP_NULL == kinds[i].op) {
            MPI_Op_create(user_op, 0, &kinds[i].op);
        }
        if (RECORDS <= i) {
            MPI_Type_commit(&kinds[i].type);
        }
    }
}

static void kinds_free(void)
{
    for (int i = 3; i < KINDS; ++i) {
        MPI_Op_free(&kinds[i].op);
        if (RECORDS <= i) {
            MPI_Type_free(&kinds[i].type);
        }
    }
}

#endif /* EP_TEST_UNIT_EPCOLL_KINDS_H */
