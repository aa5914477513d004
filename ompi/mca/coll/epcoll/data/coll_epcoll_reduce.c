/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Reductions of a range by one thread, in blocks.
 *
 * The running result of a block is in a receiver's own memory, wherever that is no input that is
 * still to be read: nothing is copied then that need not be, and no memory is needed, however large
 * an element is.  With an intrinsic op the first step reads two inputs and writes there (the
 * kernels of three buffers), the others go on in it; the other receivers get copies, from the first
 * cache.
 *
 * Called by each thread that has taken a chunk of a collective's work.
 *
 * Tests: unit/test_epcoll_reduce, coll_late
 */

#include "coll_epcoll_reduce.h"
#include "coll_epcoll_buffer.h"

#include <stdlib.h>
#include <string.h>

#include "mpi.h"
#include "ompi/constants.h"

enum {
    BLOCK_BYTES = 8192, /**< of a block, and of what a scan keeps for one */
    ALIGNMENT = 64,     /**< of temporary elements: no less than any type or kernel asks for */
    SCRATCHES = 2       /**< temporary blocks of a scan: one is read while the other is written */
};

/** What a call works with. */
typedef struct work_t {
    const mca_coll_epcoll_reduction_t *of;
    ptrdiff_t extent;
    size_t block; /**< elements of a block, the last one perhaps excepted: an int's worth at most */
    size_t span;  /**< bytes that a block covers, gaps and bounds included */
    ptrdiff_t low;     /**< where they begin, seen from the address of its first element */
    bool flat;         /**< elements have no gaps, nor are there any between them: dense */
    bool of_three;     /**< libmpi has a kernel that reads two buffers and writes a third */
    char *scratch[SCRATCHES]; /**< temporary blocks, as addresses of an element */
    void *heap;        /**< what they are in, if not in the caller's stack */
} work_t;

/** Temporary blocks of usual elements. */
typedef struct small_t {
    char bytes[BLOCK_BYTES + (SCRATCHES + 1) * ALIGNMENT];
} small_t;

/** Not of maxima and minima: of numbers that do not compare, that kernel takes another one than the
 * kernel of two buffers does, by which slots and messages go. */
static bool is_of_three(const mca_coll_epcoll_reduction_t *reduction)
{
    const ompi_op_t *op = reduction->op;

    switch (op->o_f_to_c_index) {
    case OMPI_OP_BASE_FORTRAN_MAX:
    case OMPI_OP_BASE_FORTRAN_MAXLOC:
    case OMPI_OP_BASE_FORTRAN_MIN:
    case OMPI_OP_BASE_FORTRAN_MINLOC:
        return false;
    default:
        break;
    }
    return ompi_op_is_intrinsic(reduction->op) && ompi_datatype_is_predefined(reduction->type)
           && 0 <= ompi_op_ddt_map[reduction->type->id]
           && NULL != op->o_3buff_intrinsic.fns[ompi_op_ddt_map[reduction->type->id]];
}

/** @param most  bytes of a block, unless one element has more */
static void work_init(work_t *work, const mca_coll_epcoll_reduction_t *reduction, size_t elements,
                      size_t most)
{
    const opal_datatype_t *type = &reduction->type->super;
    const ptrdiff_t extent = type->ub - type->lb;
    const size_t step = (size_t) (extent < 0 ? -extent : extent);
    /* An op may write whole structures, bounds and all, not only what the type names. */
    const ptrdiff_t low = type->lb < type->true_lb ? type->lb : type->true_lb;
    const ptrdiff_t high = type->ub < type->true_ub ? type->true_ub : type->ub;
    const size_t cover = low < high ? (size_t) (high - low) : step;
    const size_t each = cover < step ? step : cover;

    work->of = reduction;
    work->extent = extent;
    work->block = each < most ? most / (0 == each ? 1 : each) : 1;
    work->block = elements < work->block ? elements : work->block;
    work->span = each + (work->block - 1) * step;
    work->low = extent < 0 ? low + (ptrdiff_t) (work->block - 1) * extent : low;
    work->flat = mca_coll_epcoll_is_dense(reduction->type);
    work->of_three = is_of_three(reduction);
    work->heap = NULL;
}

/** Make temporary blocks.  work_end follows.  @return 0 or an error */
static int work_scratch(work_t *work, small_t *small, size_t scratches)
{
    const size_t step = work->span + ALIGNMENT - work->span % ALIGNMENT;
    const size_t size = scratches * step + ALIGNMENT;
    char *bytes = small->bytes;

    if (sizeof(small->bytes) < size) {
        bytes = work->heap = malloc(size);
        if (NULL == bytes) {
            return MPI_ERR_NO_MEM;
        }
    }
    /* Elements are where their users' are: at multiples of what is in them, seen from lb 0. */
    bytes += (ALIGNMENT - ((uintptr_t) bytes - (uintptr_t) work->low) % ALIGNMENT) % ALIGNMENT;
    for (size_t i = 0; i < scratches; ++i) {
        work->scratch[i] = mca_coll_epcoll_away(bytes, (ptrdiff_t) (i * step) - work->low);
    }
    return OMPI_SUCCESS;
}

static void work_end(work_t *work)
{
    free(work->heap);
}

/** Elements of a vector, as an address of their first one. */
static inline char *elements_at(const work_t *work, const void *vector, size_t first)
{
    return mca_coll_epcoll_away(vector, (ptrdiff_t) first * work->extent);
}

/** A member's input. */
static inline char *reduce_input(const work_t *work, uint32_t rank, size_t first)
{
    return elements_at(work, work->of->send[rank], first);
}

static inline void reduce_copy(const work_t *work, char *to, char *from, size_t elements)
{
    const opal_datatype_t *type = &work->of->type->super;

    if (to == from) {
        return;
    }
    if (work->flat) {
        memmove(mca_coll_epcoll_away(to, type->true_lb), mca_coll_epcoll_away(from, type->true_lb),
                elements * type->size);
    } else {
        (void) ompi_datatype_copy_content_same_ddt(work->of->type, elements, to, from);
    }
}

/** into = a op b.  into may be b, or is apart from both. */
static inline void reduce_combine(const work_t *work, char *into, char *a, char *b, size_t elements)
{
    ompi_op_t *op = work->of->op;

    if (work->of_three && into != b) {
        ompi_3buff_op_reduce(op, a, b, into, (int) elements, work->of->type);
        return;
    }
    reduce_copy(work, into, b, elements);
    ompi_op_reduce(op, a, into, elements, work->of->type);
}

/* ---- reduce ---------------------------------------------------------------------------------- */

/** Can the running result be in a receiver's memory?  Not if an input is there, or in part; except
 * the last member's, the first to be read, if it is where the result goes. */
static bool may_gather_in(const work_t *work, const char *recv)
{
    for (uint32_t i = 0; i < work->of->count; ++i) {
        const char *send = work->of->send[i];
        const uintptr_t away = recv < send ? (uintptr_t) send - (uintptr_t) recv
                                           : (uintptr_t) recv - (uintptr_t) send;

        if (away < work->span && (recv != send || work->of->count - 1 != i)) {
            return false;
        }
    }
    return true;
}

/** Reduce elements, of a block at most, into acc. */
static void reduce_block(const work_t *work, char *acc, size_t first, size_t elements)
{
    uint32_t rank = work->of->count - 1;
    char *last = reduce_input(work, rank, first);

    if (0 == rank) {
        reduce_copy(work, acc, last, elements);
        return;
    }
    --rank;
    reduce_combine(work, acc, reduce_input(work, rank, first), last, elements);
    while (0 < rank) {
        --rank;
        ompi_op_reduce(work->of->op, reduce_input(work, rank, first), acc, elements,
                       work->of->type);
    }
}

int mca_coll_epcoll_reduce_part(const mca_coll_epcoll_reduction_t *reduction, size_t first,
                                size_t elements, void *const *recv, uint32_t receivers)
{
    const size_t end = first + elements;
    uint32_t gather = receivers;
    small_t small;
    work_t work;
    int rc = OMPI_SUCCESS;

    if (0 == elements || 0 == receivers || 0 == reduction->type->super.size) {
        return OMPI_SUCCESS;
    }
    work_init(&work, reduction, elements, BLOCK_BYTES);
    /* From the last one on: in place, as a rule, it is the last member's, and may. */
    while (0 < gather && !may_gather_in(&work, recv[gather - 1])) {
        --gather;
    }
    if (0 == gather) {
        rc = work_scratch(&work, &small, 1);
    }
    while (OMPI_SUCCESS == rc && first < end) {
        const size_t now = work.block < end - first ? work.block : end - first;
        char *acc = 0 == gather ? work.scratch[0] : elements_at(&work, recv[gather - 1], first);

        reduce_block(&work, acc, first, now);
        for (uint32_t i = 0; i < receivers; ++i) {
            reduce_copy(&work, elements_at(&work, recv[i], first), acc, now);
        }
        first += now;
    }
    work_end(&work);
    return rc;
}

/* ---- scan ------------------------------------------------------------------------------------ */

/** The prefixes of elements, of a block at most, of members up to the last one that needs any. */
static void scan_block(const work_t *work, size_t first, size_t elements, void *const *recv,
                       uint32_t last, bool exclusive)
{
    char *acc = reduce_input(work, 0,
                             first); /* never written: of a receiver if it is one's own result */

    if (!exclusive && EPCOLL_UNWANTED != recv[0]) {
        reduce_copy(work, elements_at(work, recv[0], first), acc, elements);
    }
    for (uint32_t i = 1; i <= last; ++i) {
        const bool is_wanted = EPCOLL_UNWANTED != recv[i];
        char *wanted = is_wanted ? elements_at(work, recv[i], first) : NULL;
        char *next = acc == work->scratch[0] ? work->scratch[1] : work->scratch[0];

        if (!exclusive && is_wanted) {
            next = wanted;
        }
        if (!exclusive || i < last) {
            reduce_combine(work, next, acc, reduce_input(work, i, first), elements);
        }
        if (exclusive && is_wanted) {
            reduce_copy(work, wanted, acc, elements);
        }
        acc = next;
    }
}

int mca_coll_epcoll_scan_part(const mca_coll_epcoll_reduction_t *reduction, size_t first,
                              size_t elements, void *const *recv, bool exclusive)
{
    const size_t end = first + elements;
    bool needs_scratch = exclusive;
    uint32_t wanted = reduction->count; /* members up to the last one that needs a result */
    small_t small;
    work_t work;
    int rc = OMPI_SUCCESS;

    while (0 < wanted && EPCOLL_UNWANTED == recv[wanted - 1]) {
        --wanted;
    }
    if (0 == elements || 0 == wanted || 0 == reduction->type->super.size) {
        return OMPI_SUCCESS;
    }
    for (uint32_t i = 0; i < wanted; ++i) {
        needs_scratch = needs_scratch || EPCOLL_UNWANTED == recv[i];
    }
    work_init(&work, reduction, elements, BLOCK_BYTES / SCRATCHES);
    work.scratch[0] = work.scratch[1] = NULL;
    if (needs_scratch) {
        rc = work_scratch(&work, &small, SCRATCHES);
    }
    while (OMPI_SUCCESS == rc && first < end) {
        const size_t now = work.block < end - first ? work.block : end - first;

        scan_block(&work, first, now, recv, wanted - 1, exclusive);
        first += now;
    }
    work_end(&work);
    return rc;
}
