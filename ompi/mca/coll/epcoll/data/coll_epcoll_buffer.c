/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Copies between buffers of which one at least is not flat: both are walked through as runs of
 * memory, and bytes go from run to run, once, with no packed copy between them.
 *
 * A walk begins at any packed byte, so a part is exactly its bytes.  libmpi's own way to fill a
 * part, to unpack from a position, is not for several threads: of a number of which it has only
 * some bytes it writes all, and puts back what it found in the others, over what another thread has
 * just put there.  opal_convertor_raw, which should say where the memory is, names other memory
 * with some of the test's types, or never ends (Open MPI 5.0.7).  So the walk is ours, over the
 * description that libmpi makes of each type (opal_datatype_internal.h): blocks of numbers with a
 * stride, and loops around them.  Where blocks of one size go to ones of the same size, or to flat
 * memory, they are copied many at a time, in a loop that knows the size if it is that of a number.
 *
 * Called by coll_epcoll_buffer.h.
 *
 * Tests: unit/test_epcoll_buffer, coll_late, coll_nomem
 */

#include "coll_epcoll_buffer.h"

#include <stdint.h>
#include <stdlib.h>

#include "opal/datatype/opal_datatype_internal.h"

enum {
    LEVELS = 8, /**< of loops in loops, before memory is asked for */
    SWAP_BYTES
    = 4096 /**< that are swapped at a time: they and their copies stay in a core's cache */
};

/** A loop that the walk is in. */
typedef struct level_t {
    uint32_t loop; /**< its place in the description */
    uint32_t left; /**< iterations, the present one among them */
} level_t;

/** A walk through a buffer. */
typedef struct walk_t {
    char *at;     /**< what is left of the present run; not empty, but at the end of the buffer */
    size_t left;  /**< of it, in bytes */
    size_t bytes; /**< of all of it, and of each of the runs that follow it ... */
    ptrdiff_t stride; /**< ... at this distance from each other, seen from their beginnings */
    size_t blocks;    /**< so many */
    const opal_datatype_t *type;
    /* Of an element that is no run only: */
    const dt_elem_desc_t *list; /**< the type's description */
    uint32_t used;              /**< of it */
    uint32_t place;             /**< of the runs */
    uint32_t depth;             /**< loops that we are in */
    char *element;              /**< the element that we are in */
    ptrdiff_t shift;            /**< of the present iterations */
    level_t *level;             /**< by depth */
    level_t few[LEVELS];
    bool failed; /**< no memory for more levels: no run follows */
} walk_t;

static inline size_t block_bytes(const ddt_elem_desc_t *blocks)
{
    return blocks->blocklen * opal_datatype_basicDatatypes[blocks->common.type]->size;
}

/** Go into a loop.  @return false if there is no memory */
static inline bool walk_enter(walk_t *walk, size_t iteration)
{
    const ddt_loop_desc_t *loop = &walk->list[walk->place].loop;

    if (LEVELS == walk->depth && walk->few == walk->level) {
        /* A loop has a beginning and an end of its own; what is between them may be the next
         * loop. */
        level_t *more = malloc((walk->used / 2 + 1) * sizeof(*more));

        if (NULL == more) {
            walk->failed = true;
            return false;
        }
        walk->level = memcpy(more, walk->few, sizeof(walk->few));
    }
    walk->level[walk->depth++] = (level_t){walk->place, loop->loops - (uint32_t) iteration};
    walk->shift += (ptrdiff_t) iteration * loop->extent;
    ++walk->place;
    return true;
}

/** From place on, of which nothing has been walked through, to the run in which packed byte skip
 * lies, seen from there.  @return skip, less the bytes of what has been passed: SIZE_MAX at the end
 * of the element or of a loop, with the place of that end, or if it failed */
static inline size_t walk_down(walk_t *walk, size_t skip)
{
    while (walk->place < walk->used) {
        const dt_elem_desc_t *here = &walk->list[walk->place];

        if (0 != (here->elem.common.flags & OPAL_DATATYPE_FLAG_DATA)) {
            const size_t bytes = block_bytes(&here->elem);

            if (skip < bytes * here->elem.count) {
                const size_t block = skip / bytes;

                walk->blocks = here->elem.count - 1 - block;
                walk->stride = here->elem.extent;
                walk->at = mca_coll_epcoll_away(walk->element,
                                                walk->shift + here->elem.disp
                                                    + (ptrdiff_t) block * here->elem.extent);
                walk->left = walk->bytes = bytes;
                return skip % bytes;
            }
            skip -= bytes * here->elem.count;
            ++walk->place;
        } else if (OPAL_DATATYPE_LOOP == here->elem.common.type) {
            const size_t bytes = walk->list[walk->place + here->loop.items].end_loop.size;

            if (skip < bytes * here->loop.loops) {
                if (!walk_enter(walk, skip / bytes)) {
                    break;
                }
                skip %= bytes;
            } else {
                skip -= bytes * here->loop.loops;
                walk->place += here->loop.items + 1;
            }
        } else {
            break;
        }
    }
    return SIZE_MAX;
}

/** All of the runs are done: go to the next ones, by the description. */
static void walk_up(walk_t *walk)
{
    ++walk->place;
    while (SIZE_MAX == walk_down(walk, 0) && !walk->failed) {
        if (0 == walk->depth) {
            walk->element = mca_coll_epcoll_away(walk->element, walk->type->ub - walk->type->lb);
            walk->place = 0;
            continue;
        }
        level_t *level = &walk->level[walk->depth - 1];
        const ddt_loop_desc_t *loop = &walk->list[level->loop].loop;

        if (0 < --level->left) {
            walk->shift += loop->extent;
            walk->place = level->loop + 1;
        } else {
            walk->shift -= (ptrdiff_t) (loop->loops - 1) * loop->extent;
            --walk->depth;
            ++walk->place;
        }
    }
}

/** How many pieces of a size are there, at one distance from each other, from where we are on?  No
 * run is larger than what is left of the present one, nor is the size. */
static inline size_t walk_pieces(const walk_t *walk, size_t size, ptrdiff_t *stride)
{
    if (size < walk->left) {
        *stride = (ptrdiff_t) size;
        return walk->left / size;
    }
    *stride = walk->stride;
    return walk->bytes == size ? 1 + walk->blocks : 1;
}

/** So many of those pieces are done, and there is more in the buffer. */
static inline void walk_pass(walk_t *walk, size_t size, size_t pieces)
{
    if (size < walk->left) {
        walk->at += pieces * size;
        walk->left -= pieces * size;
        if (0 != walk->left) {
            return;
        }
        pieces = 1; /* of runs */
    } else {
        walk->at += size; /* which may be the rest of a run */
    }
    if (pieces <= walk->blocks) {
        walk->at += (ptrdiff_t) pieces * walk->stride - (ptrdiff_t) walk->bytes;
        walk->left = walk->bytes;
        walk->blocks -= pieces;
    } else {
        walk_up(walk);
    }
}

/** Begin in the middle of an element that is no run.  @return 0 or an error */
static int walk_into(walk_t *walk, size_t skip)
{
    const opal_datatype_t *type = walk->type;
    const dt_type_desc_t *description = NULL != type->opt_desc.desc ? &type->opt_desc : &type->desc;

    walk->list = description->desc;
    walk->used = (uint32_t) description->used;
    walk->place = walk->depth = 0;
    walk->shift = 0;
    skip = walk_down(walk, skip);
    if (walk->failed) {
        return MPI_ERR_NO_MEM;
    }
    if (walk->left <= skip) {
        return OMPI_ERROR; /* a size that is not that of the description */
    }
    walk->at += skip;
    walk->left -= skip;
    return OMPI_SUCCESS;
}

/** Begin at packed byte offset of a buffer that has more.  walk_end follows, whatever is returned.
 * @return 0 or an error */
static int walk_begin(walk_t *walk, const mca_coll_epcoll_buffer_t *buffer, size_t offset)
{
    const opal_datatype_t *type = &buffer->type->super;
    char *flat = mca_coll_epcoll_flat(buffer);
    const size_t element = offset / type->size, skip = offset % type->size;

    walk->type = type;
    walk->level = walk->few;
    walk->failed = false;
    walk->left = walk->blocks = 0;
    walk->stride = type->ub - type->lb;
    if (NULL != flat) {
        walk->at = flat + offset;
        walk->left = walk->bytes = mca_coll_epcoll_bytes(buffer) - offset;
        return OMPI_SUCCESS;
    }
    walk->element = mca_coll_epcoll_away(buffer->address, (ptrdiff_t) element * walk->stride);
    if (0 == (type->flags & OPAL_DATATYPE_FLAG_CONTIGUOUS)) {
        return walk_into(walk, skip);
    }
    walk->at = mca_coll_epcoll_away(walk->element, type->true_lb + (ptrdiff_t) skip);
    walk->bytes = type->size;
    walk->left = type->size - skip;
    walk->blocks = buffer->count - 1 - element;
    return OMPI_SUCCESS;
}

static void walk_end(walk_t *walk)
{
    if (walk->few != walk->level) {
        free(walk->level);
    }
}

/** Pieces of memory: what is done with them, and where they are in source and target. */
typedef struct pieces_t {
    char *to, *from;
    ptrdiff_t to_stride, from_stride;
    size_t size, count;
} pieces_t;

/** Always inline: with a size that is known it is a load and a store. */
static inline __attribute__((always_inline)) void copy_of_size(const pieces_t *pieces, size_t size)
{
    char *to = pieces->to;
    const char *from = pieces->from;

    for (size_t i = 0; i < pieces->count; ++i) {
        memcpy(to, from, size);
        to += pieces->to_stride;
        from += pieces->from_stride;
    }
}

static void copy_pieces(const pieces_t *pieces)
{
    switch (pieces->size) {
    case 4:
        copy_of_size(pieces, 4);
        break;
    case 8:
        copy_of_size(pieces, 8);
        break;
    case 16:
        copy_of_size(pieces, 16);
        break;
    default:
        copy_of_size(pieces, pieces->size);
        break;
    }
}

static void swap_pieces(const pieces_t *pieces)
{
    char kept[SWAP_BYTES];
    char *to = pieces->to, *from = pieces->from;

    for (size_t i = 0; i < pieces->count; ++i) {
        for (size_t done = 0; done < pieces->size;) {
            const size_t left = pieces->size - done;
            const size_t now = left < sizeof(kept) ? left : sizeof(kept);

            memcpy(kept, to + done, now);
            memcpy(to + done, from + done, now);
            memcpy(from + done, kept, now);
            done += now;
        }
        to += pieces->to_stride;
        from += pieces->from_stride;
    }
}

static inline size_t buffer_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/** Walk through the same part of two buffers that have it, and copy or swap what is one run in
 * both, with all that follows in the same way. */
static int buffer_both(const mca_coll_epcoll_buffer_t *to, const mca_coll_epcoll_buffer_t *from,
                       size_t offset, size_t size, bool swap)
{
    walk_t into, out_of;
    int rc, rc_from;

    if (0 == size) {
        return OMPI_SUCCESS;
    }
    rc = walk_begin(&into, to, offset);
    rc_from = walk_begin(&out_of, from, offset);
    rc = OMPI_SUCCESS == rc ? rc_from : rc;
    while (OMPI_SUCCESS == rc) {
        pieces_t pieces = {.to = into.at, .from = out_of.at};

        pieces.size = buffer_least(size, buffer_least(into.left, out_of.left));
        pieces.count = buffer_least(walk_pieces(&into, pieces.size, &pieces.to_stride),
                                    walk_pieces(&out_of, pieces.size, &pieces.from_stride));
        pieces.count = buffer_least(pieces.count, size / pieces.size);
        if (pieces.to != pieces.from) { /* else all is there */
            (swap ? swap_pieces : copy_pieces)(&pieces);
        }
        size -= pieces.count * pieces.size;
        if (0 == size) {
            break;
        }
        walk_pass(&into, pieces.size, pieces.count);
        walk_pass(&out_of, pieces.size, pieces.count);
        rc = OPAL_UNLIKELY(into.failed || out_of.failed) ? MPI_ERR_NO_MEM : OMPI_SUCCESS;
    }
    walk_end(&into);
    walk_end(&out_of);
    return rc;
}

int mca_coll_epcoll_copy_runs(const mca_coll_epcoll_buffer_t *to,
                              const mca_coll_epcoll_buffer_t *from, size_t offset, size_t size)
{
    return buffer_both(to, from, offset, size, false);
}

int mca_coll_epcoll_swap_part(const mca_coll_epcoll_buffer_t *a, const mca_coll_epcoll_buffer_t *b,
                              size_t offset, size_t size)
{
    if (mca_coll_epcoll_bytes(a) < offset + size || mca_coll_epcoll_bytes(b) < offset + size) {
        return MPI_ERR_TRUNCATE;
    }
    return buffer_both(a, b, offset, size, true);
}

/** Packed bytes as a buffer. */
static mca_coll_epcoll_buffer_t packed_buffer(const void *packed, size_t size)
{
    return (mca_coll_epcoll_buffer_t){(void *) packed, size, &ompi_mpi_byte.dt};
}

int mca_coll_epcoll_pack_runs(void *packed, const mca_coll_epcoll_buffer_t *buffer)
{
    const size_t size = mca_coll_epcoll_bytes(buffer);
    const mca_coll_epcoll_buffer_t to = packed_buffer(packed, size);

    return buffer_both(&to, buffer, 0, size, false);
}

int mca_coll_epcoll_unpack_runs(const mca_coll_epcoll_buffer_t *buffer, const void *packed)
{
    const size_t size = mca_coll_epcoll_bytes(buffer);
    const mca_coll_epcoll_buffer_t from = packed_buffer(packed, size);

    return buffer_both(buffer, &from, 0, size, false);
}
