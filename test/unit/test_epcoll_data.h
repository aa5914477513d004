/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Random MPI types, each with a list of where its bytes are, which is made beside it and owes
 * nothing to libmpi.  A schedule of these tests is one MPI process by itself.
 *
 * Guards: ompi/mca/coll/epcoll/data
 */

#ifndef EP_TEST_UNIT_EPCOLL_DATA_H
#define EP_TEST_UNIT_EPCOLL_DATA_H

#include "tap.h"

#include "ompi/mca/coll/epcoll/data/coll_epcoll_buffer.h"

enum {
    TYPE_BYTES = 3000, /**< packed bytes of an element, at most */
    PARTS_MOST = 6,    /**< of a constructor */
    DEPTH_MOST = 4,
    MARGIN = 64 /**< bytes before and behind a buffer, which stay as they are */
};

/** A type, and where its packed bytes are, in their order. */
typedef struct typed_t {
    MPI_Datatype type;
    bool predefined;
    size_t size;
    MPI_Aint lb, ub;     /**< as libmpi has them */
    ptrdiff_t low, high; /**< of the bytes, and of the bounds */
    ptrdiff_t at[TYPE_BYTES];
} typed_t;

static void typed_bounds(typed_t *typed)
{
    MPI_Aint extent;
    int size;

    MPI_Type_get_extent(typed->type, &typed->lb, &extent);
    MPI_Type_size(typed->type, &size);
    TAP_EQ(typed->size, size);
    typed->ub = typed->lb + extent;
    typed->low = typed->lb < typed->ub ? typed->lb : typed->ub;
    typed->high = typed->lb < typed->ub ? typed->ub : typed->lb;
    for (size_t i = 0; i < typed->size; ++i) {
        typed->low = typed->at[i] < typed->low ? typed->at[i] : typed->low;
        typed->high = typed->high < typed->at[i] + 1 ? typed->at[i] + 1 : typed->high;
    }
}

static ptrdiff_t typed_extent(const typed_t *typed)
{
    return typed->ub - typed->lb;
}

/** Numbers, and pairs with and without gaps. */
static void typed_predefined(typed_t *typed, uint64_t *random)
{
    static const struct {
        MPI_Datatype type;
        size_t size, gap_at, gap;
    } known[] = {{MPI_CHAR, 1, 1, 0},          {MPI_SHORT, 2, 2, 0},
                 {MPI_INT, 4, 4, 0},           {MPI_DOUBLE, 8, 8, 0},
                 {MPI_LONG_DOUBLE, 16, 16, 0}, {MPI_C_DOUBLE_COMPLEX, 16, 16, 0},
                 {MPI_DOUBLE_INT, 12, 12, 0},  {MPI_SHORT_INT, 6, 2, 2},
                 {MPI_2INT, 8, 8, 0},          {MPI_BYTE, 1, 1, 0}};
    const uint64_t which = tap_below(random, sizeof(known) / sizeof(known[0]));

    typed->type = known[which].type;
    typed->predefined = true;
    typed->size = known[which].size;
    for (size_t i = 0; i < typed->size; ++i) {
        typed->at[i] = (ptrdiff_t) (i < known[which].gap_at ? i : i + known[which].gap);
    }
    typed_bounds(typed);
}

static void typed_free(typed_t *typed)
{
    if (!typed->predefined) {
        MPI_Type_free(&typed->type);
    }
}

/** The bytes of that many elements more, the first at a displacement. */
static void typed_add(typed_t *typed, const typed_t *of, int count, ptrdiff_t displacement)
{
    for (int i = 0; i < count; ++i) {
        for (size_t j = 0; j < of->size && typed->size < TYPE_BYTES; ++j) {
            typed->at[typed->size++] = displacement + i * typed_extent(of) + of->at[j];
        }
    }
}

static void typed_new(typed_t *typed, uint64_t *random, int depth);

/** Parts of other types at random places; some touch, some come in the other order. */
static void typed_struct(typed_t *typed, uint64_t *random, int depth)
{
    const int parts = 1 + (int) tap_below(random, PARTS_MOST);
    typed_t *part = calloc((size_t) parts, sizeof(*part));
    int count[PARTS_MOST];
    MPI_Aint displacement[PARTS_MOST];
    MPI_Datatype type[PARTS_MOST];
    MPI_Aint up = (MPI_Aint) tap_below(random, 64) - 32, down = up;

    for (int i = 0; i < parts; ++i) {
        typed_new(&part[i], random, depth - 1);
        count[i] = (int) tap_below(random, 4);
        if (TYPE_BYTES < typed->size + (size_t) count[i] * part[i].size) {
            count[i] = 0;
        }
        const ptrdiff_t span = part[i].high - part[i].low
                               + (ptrdiff_t) count[i] * llabs(typed_extent(&part[i]));

        if (0 != tap_below(random, 4)) { /* behind all the others, or before them */
            up += (MPI_Aint) (tap_below(random, 2) * tap_below(random, 24));
            displacement[i] = up - part[i].low + (typed_extent(&part[i]) < 0 ? span : 0);
            up += span;
        } else {
            down -= 2 * span + (MPI_Aint) tap_below(random, 24);
            displacement[i] = down - part[i].low + (typed_extent(&part[i]) < 0 ? span : 0);
        }
        if (0 < i && !part[i].predefined && 0 == tap_below(random, 3)) {
            displacement[i] += 3; /* nothing is aligned */
            up += 3;
        }
        type[i] = part[i].type;
        typed_add(typed, &part[i], count[i], displacement[i]);
    }
    MPI_Type_create_struct(parts, count, displacement, type, &typed->type);
    for (int i = 0; i < parts; ++i) {
        typed_free(&part[i]);
    }
    free(part);
}

/** Blocks of one type in a row, with a stride. */
static void typed_vector(typed_t *typed, uint64_t *random, int depth)
{
    typed_t *of = calloc(1, sizeof(*of));
    int count, length;
    MPI_Aint stride;

    typed_new(of, random, depth - 1);
    count = 1 + (int) tap_below(random, 40);
    length = 1 + (int) tap_below(random, 5);
    if (TYPE_BYTES < (size_t) count * (size_t) length * of->size) {
        count = 2;
        length = 1;
    }
    if (TYPE_BYTES < (size_t) count * (size_t) length * of->size) {
        count = 1;
    }
    stride = length * llabs(typed_extent(of)) + (of->high - of->low)
             + (MPI_Aint) tap_below(random, 20);
    if (0 == tap_below(random, 3)) {
        stride = length * typed_extent(of); /* no gap but the type's own */
    } else if (0 == tap_below(random, 4)) {
        stride = -stride;
    }
    MPI_Type_create_hvector(count, length, stride, of->type, &typed->type);
    for (int i = 0; i < count; ++i) {
        typed_add(typed, of, length, i * stride);
    }
    typed_free(of);
    free(of);
}

static void typed_resized(typed_t *typed, uint64_t *random, int depth)
{
    typed_t *of = calloc(1, sizeof(*of));
    const MPI_Aint lb = (MPI_Aint) tap_below(random, 40) - 20;
    MPI_Aint extent;

    typed_new(of, random, depth - 1);
    extent = of->high - of->low + (MPI_Aint) (tap_below(random, 2) * tap_below(random, 24));
    if (0 == tap_below(random, 4)) {
        extent = -extent;
    }
    MPI_Type_create_resized(of->type, lb, extent, &typed->type);
    typed_add(typed, of, 1, 0);
    typed_free(of);
    free(of);
}

/** A new committed type; it may have no bytes. */
static void typed_new(typed_t *typed, uint64_t *random, int depth)
{
    typed->size = 0;
    typed->predefined = false;
    if (0 == depth || 0 == tap_below(random, 5)) {
        typed_predefined(typed, random);
        return;
    }
    switch (tap_below(random, 3)) {
    case 0:
        typed_struct(typed, random, depth);
        break;
    case 1:
        typed_vector(typed, random, depth);
        break;
    default:
        typed_resized(typed, random, depth);
        break;
    }
    MPI_Type_commit(&typed->type);
    typed_bounds(typed);
}

/** Memory of elements, their gaps, and margins. */
typedef struct memory_t {
    mca_coll_epcoll_buffer_t buffer;
    const typed_t *typed;
    unsigned char *bytes;
    size_t size;
} memory_t;

static void memory_fill(const memory_t *memory, uint64_t *random)
{
    for (size_t i = 0; i < memory->size; ++i) {
        memory->bytes[i] = (unsigned char) tap_random(random);
    }
}

/** Of count elements, filled with random bytes. */
static void memory_new(memory_t *memory, const typed_t *typed, size_t count, uint64_t *random)
{
    const ptrdiff_t extent = typed_extent(typed);
    const ptrdiff_t more = 0 == count ? 0 : (ptrdiff_t) (count - 1) * extent;
    const ptrdiff_t low = typed->low + (more < 0 ? more : 0);
    const ptrdiff_t high = typed->high + (0 < more ? more : 0);

    memory->typed = typed;
    memory->size = (size_t) (high - low) + 2 * MARGIN;
    memory->bytes = malloc(memory->size);
    memory->buffer = (mca_coll_epcoll_buffer_t){memory->bytes + MARGIN - low, count, typed->type};
    memory_fill(memory, random);
}

static void memory_free(memory_t *memory)
{
    free(memory->bytes);
}

/** Where a packed byte is, as an index of bytes. */
static size_t memory_at(const memory_t *memory, size_t packed)
{
    const typed_t *typed = memory->typed;

    return (size_t) ((unsigned char *) memory->buffer.address - memory->bytes
                     + (ptrdiff_t) (packed / typed->size) * typed_extent(typed)
                     + typed->at[packed % typed->size]);
}

/** Is no byte in two places of the packed ones? */
static bool memory_is_simple(const memory_t *memory)
{
    bool *seen = calloc(memory->size, sizeof(*seen));
    bool simple = true;

    for (size_t i = 0; i < memory->buffer.count * memory->typed->size && simple; ++i) {
        const size_t at = memory_at(memory, i);

        simple = at < memory->size && !seen[at];
        if (simple) {
            seen[at] = true;
        }
    }
    free(seen);
    return simple;
}

#endif /* EP_TEST_UNIT_EPCOLL_DATA_H */
