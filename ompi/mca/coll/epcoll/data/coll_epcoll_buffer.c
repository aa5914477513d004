/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * Copies between buffers of which one at least is not flat: both are walked through as runs of
 * memory, and bytes go from run to run, once, with no packed copy between them.
 *
 * A walk begins at any packed byte, so a part is exactly its bytes.  libmpi's own way to fill a part,
 * to unpack from a position, is not for several threads: of a number of which it has only some bytes
 * it writes all, and puts back what it found in the others, over what another thread has just put
 * there.  A convertor is only asked where the memory is (opal_convertor_raw), and only from the
 * beginning of a number on; what lies before the part is passed over.
 *
 * Called by coll_epcoll_buffer.h.
 *
 * Tests: unit/test_epcoll_data
 */

#include "coll_epcoll_buffer.h"

#include <sys/uio.h>

#include "opal/datatype/opal_convertor.h"

enum {
    RUNS = 32,        /**< that a convertor is asked for at a time */
    SWAP_BYTES = 4096 /**< that are swapped at a time: they and their copies stay in a core's cache */
};

/** A walk through a buffer: the run that it is at, and where the next one comes from. */
typedef struct walk_t {
    char *at;    /**< what is left of the run; not empty, except at the end of the buffer */
    size_t left; /**< of it, in bytes */
    const mca_coll_epcoll_buffer_t *buffer;
    /** Elements that are a run each: the one that follows. */
    char *next;
    /** Others: convertor and the runs it has told of.  Set up if convertor_set. */
    bool convertor_set;
    uint32_t index, runs;
    struct iovec run[RUNS];
    opal_convertor_t convertor;
} walk_t;

static bool is_strided(const mca_coll_epcoll_buffer_t *buffer)
{
    return 0 != (buffer->type->super.flags & OPAL_DATATYPE_FLAG_CONTIGUOUS);
}

/** Set the convertor to the number in which packed byte offset lies.
 * @param skip  set to the bytes of that number that come before it
 * @return 0 or an error */
static int walk_convertor(walk_t *walk, size_t offset, size_t *skip)
{
    const mca_coll_epcoll_buffer_t *buffer = walk->buffer;
    const opal_datatype_t *type = &buffer->type->super;
    const size_t element = offset / type->size;
    size_t position = offset % type->size;
    int rc;

    OBJ_CONSTRUCT(&walk->convertor, opal_convertor_t);
    walk->convertor_set = true;
    /* One that sends, as that is never set to the middle of a number; nobody asks it to pack, so it
     * need not know what kind of memory it is.  From our element on: what comes before costs nothing
     * then. */
    rc = opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, type,
                                                  buffer->count - element,
                                                  (char *) buffer->address
                                                      + (ptrdiff_t) element * (type->ub - type->lb),
                                                  CONVERTOR_SKIP_ACCELERATOR_INIT,
                                                  &walk->convertor);
    if (OPAL_SUCCESS == rc) {
        rc = opal_convertor_set_position(&walk->convertor, &position);
    }
    if (OPAL_SUCCESS != rc || offset % type->size < position) {
        return OMPI_ERROR;
    }
    *skip = offset % type->size - position;
    return OMPI_SUCCESS;
}

/** Go to the next run.  @return false if there is none, or none can be told */
static bool walk_on(walk_t *walk)
{
    size_t length;

    if (walk->convertor_set) {
        if (walk->index == walk->runs) {
            walk->index = 0;
            walk->runs = RUNS;
            (void) opal_convertor_raw(&walk->convertor, walk->run, &walk->runs, &length);
            if (0 == walk->runs) {
                return false;
            }
        }
        walk->at = walk->run[walk->index].iov_base;
        walk->left = walk->run[walk->index++].iov_len;
        return true;
    }
    if (NULL == walk->next) {
        return false;
    }
    walk->at = walk->next;
    walk->left = walk->buffer->type->super.size;
    walk->next += walk->buffer->type->super.ub - walk->buffer->type->super.lb;
    return true;
}

/** Begin at packed byte offset of a buffer that has more.  walk_end follows, whatever is returned.
 * @return 0 or an error */
static int walk_begin(walk_t *walk, const mca_coll_epcoll_buffer_t *buffer, size_t offset)
{
    const opal_datatype_t *type = &buffer->type->super;
    char *flat = mca_coll_epcoll_flat(buffer);
    size_t skip = 0;
    int rc = OMPI_SUCCESS;

    walk->buffer = buffer;
    walk->convertor_set = false;
    walk->next = NULL;
    walk->index = walk->runs = 0;
    if (NULL != flat) {
        walk->at = flat + offset;
        walk->left = mca_coll_epcoll_bytes(buffer) - offset;
        return OMPI_SUCCESS;
    }
    if (is_strided(buffer)) {
        walk->next = (char *) buffer->address + type->true_lb
                     + (ptrdiff_t) (offset / type->size) * (type->ub - type->lb);
        skip = offset % type->size;
    } else {
        rc = walk_convertor(walk, offset, &skip);
    }
    if (OMPI_SUCCESS != rc || !walk_on(walk)) {
        return OMPI_ERROR;
    }
    while (walk->left <= skip) { /* or the run is empty */
        skip -= walk->left;
        if (!walk_on(walk)) {
            return OMPI_ERROR;
        }
    }
    walk->at += skip;
    walk->left -= skip;
    return OMPI_SUCCESS;
}

static void walk_end(walk_t *walk)
{
    if (walk->convertor_set) {
        (void) opal_convertor_cleanup(&walk->convertor);
        OBJ_DESTRUCT(&walk->convertor);
    }
}

/** So many bytes of the run are done.  @return false if there are no more */
static inline bool walk_pass(walk_t *walk, size_t size)
{
    walk->at += size;
    walk->left -= size;
    while (0 == walk->left) {
        if (!walk_on(walk)) {
            return false;
        }
    }
    return true;
}

/** Runs are short as a rule, a number or two. */
static inline void copy_run(char *to, const char *from, size_t size)
{
    switch (size) {
    case 8:
        memcpy(to, from, 8);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    case 16:
        memcpy(to, from, 16);
        break;
    default:
        memcpy(to, from, size);
        break;
    }
}

static void swap_run(char *a, char *b, size_t size)
{
    char kept[SWAP_BYTES];

    while (0 < size) {
        const size_t now = size < sizeof(kept) ? size : sizeof(kept);

        memcpy(kept, a, now);
        memcpy(a, b, now);
        memcpy(b, kept, now);
        a += now;
        b += now;
        size -= now;
    }
}

/** Walk through the same part of two buffers that have it, and copy or swap each piece that is one run
 * in both. */
static inline __attribute__((always_inline)) int both(const mca_coll_epcoll_buffer_t *to,
                                                      const mca_coll_epcoll_buffer_t *from,
                                                      size_t offset, size_t size, bool swap)
{
    walk_t into, out_of;
    int rc = walk_begin(&into, to, offset);
    int rc_from = walk_begin(&out_of, from, offset);

    rc = OMPI_SUCCESS == rc ? rc_from : rc;
    while (OMPI_SUCCESS == rc) {
        size_t now = into.left < out_of.left ? into.left : out_of.left;

        now = now < size ? now : size;
        if (swap) {
            swap_run(into.at, out_of.at, now);
        } else if (into.at != out_of.at) {
            copy_run(into.at, out_of.at, now);
        }
        size -= now;
        if (0 == size) {
            break;
        }
        if (!walk_pass(&into, now) || !walk_pass(&out_of, now)) {
            rc = OMPI_ERROR;
        }
    }
    walk_end(&into);
    walk_end(&out_of);
    return rc;
}

int mca_coll_epcoll_copy_runs(const mca_coll_epcoll_buffer_t *to,
                              const mca_coll_epcoll_buffer_t *from, size_t offset, size_t size)
{
    return both(to, from, offset, size, false);
}

int mca_coll_epcoll_swap_part(const mca_coll_epcoll_buffer_t *a, const mca_coll_epcoll_buffer_t *b,
                              size_t offset, size_t size)
{
    if (mca_coll_epcoll_bytes(a) < offset + size || mca_coll_epcoll_bytes(b) < offset + size) {
        return MPI_ERR_TRUNCATE;
    }
    return 0 == size ? OMPI_SUCCESS : both(a, b, offset, size, true);
}

int mca_coll_epcoll_swap(const mca_coll_epcoll_buffer_t *a, const mca_coll_epcoll_buffer_t *b)
{
    const size_t size = mca_coll_epcoll_bytes(a);

    return mca_coll_epcoll_bytes(b) != size ? MPI_ERR_TRUNCATE
                                            : mca_coll_epcoll_swap_part(a, b, 0, size);
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

    return both(&to, buffer, 0, size, false);
}

int mca_coll_epcoll_unpack_runs(const mca_coll_epcoll_buffer_t *buffer, const void *packed)
{
    const size_t size = mca_coll_epcoll_bytes(buffer);
    const mca_coll_epcoll_buffer_t from = packed_buffer(packed, size);

    return both(buffer, &from, 0, size, false);
}
