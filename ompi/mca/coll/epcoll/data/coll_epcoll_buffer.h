/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A member's buffer as MPI describes it, address, count and type, and what another thread of the
 * process does with it: copies any part to another buffer, whatever the types of both.
 *
 * Parts are ranges of packed bytes, the bytes that MPI_Pack would make of the buffer: all members
 * have the same number of those, whichever types they use.  A range may begin and end anywhere, in
 * the middle of an element and of a number; exactly its bytes are read and written, none beside
 * them, so several threads may copy different parts of the same buffers at a time, and chunks of
 * work need not be rounded to anything.
 *
 * Tests: unit/test_epcoll_buffer, coll_late
 */

#ifndef COLL_EPCOLL_BUFFER_H
#define COLL_EPCOLL_BUFFER_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "mpi.h"
#include "ompi/constants.h"
#include "ompi/datatype/ompi_datatype.h"

/** As a call of MPI has it.  Nothing is retained: it lasts as long as the caller's operation. */
typedef struct mca_coll_epcoll_buffer_t {
    void *address;
    size_t count;
    ompi_datatype_t *type; /**< committed */
} mca_coll_epcoll_buffer_t;

/** Packed bytes. */
static inline size_t mca_coll_epcoll_bytes(const mca_coll_epcoll_buffer_t *buffer)
{
    return buffer->count * buffer->type->super.size;
}

/** The address that is so many bytes behind another one, which may be MPI_BOTTOM, from where
 * absolute displacements count.  That is NULL, on which C has no arithmetic, so it is of
 * numbers. */
static inline void *mca_coll_epcoll_away(const void *address, ptrdiff_t bytes)
{
    return (void *) ((uintptr_t) address + (uintptr_t) bytes);
}

/** Bytes from an element to the next one. */
static inline ptrdiff_t mca_coll_epcoll_extent(const ompi_datatype_t *type)
{
    return type->super.ub - type->super.lb;
}

/** Is each element one run of memory, right behind the one before it?  libmpi's mark alone is not
 * enough: a few types of 5.0.7 have it, and an extent that is larger than what is in them. */
static inline bool mca_coll_epcoll_is_dense(const ompi_datatype_t *type)
{
    return 0 != (type->super.flags & OPAL_DATATYPE_FLAG_NO_GAPS)
           && (ptrdiff_t) type->super.size == mca_coll_epcoll_extent(type);
}

/** Are elements in memory as they would be packed, so that an op may work on packed ones? */
static inline bool mca_coll_epcoll_is_as_packed(const ompi_datatype_t *type)
{
    return mca_coll_epcoll_is_dense(type) && 0 == type->super.true_lb;
}

/** Are that many elements one run of memory, in the order in which they would be packed?  Its first
 * byte is that of mca_coll_epcoll_flat.  Of no bytes: yes. */
static inline bool mca_coll_epcoll_is_flat(const ompi_datatype_t *type, size_t count)
{
    return mca_coll_epcoll_is_dense(type)
           || (count <= 1 && 0 != (type->super.flags & OPAL_DATATYPE_FLAG_CONTIGUOUS)) || 0 == count
           || 0 == type->super.size;
}

/** The first byte of a flat buffer; NULL if the buffer is not flat.  Of no bytes: any address, NULL
 * perhaps, for nobody to use. */
static inline char *mca_coll_epcoll_flat(const mca_coll_epcoll_buffer_t *buffer)
{
    return mca_coll_epcoll_is_flat(buffer->type, buffer->count)
               ? mca_coll_epcoll_away(buffer->address, buffer->type->super.true_lb)
               : NULL;
}

/** The slow paths of the functions below. */
int mca_coll_epcoll_copy_runs(const mca_coll_epcoll_buffer_t *to,
                              const mca_coll_epcoll_buffer_t *from, size_t offset, size_t size);
int mca_coll_epcoll_pack_runs(void *packed, const mca_coll_epcoll_buffer_t *buffer);
int mca_coll_epcoll_unpack_runs(const mca_coll_epcoll_buffer_t *buffer, const void *packed);

/**
 * Copy packed bytes offset ... offset + size - 1 of a buffer to the same place of another one.
 *
 * The buffers have the same signature, or at least the same packed bytes; they do not overlap,
 * unless they are the same memory and type, where nothing is changed.  Any thread; several may copy
 * other parts at the same time.
 *
 * @return OMPI_SUCCESS; MPI_ERR_TRUNCATE if one of the buffers ends before the range does: nothing
 *         has been copied; an error if a type cannot be walked through
 */
static inline int mca_coll_epcoll_copy_part(const mca_coll_epcoll_buffer_t *to,
                                            const mca_coll_epcoll_buffer_t *from, size_t offset,
                                            size_t size)
{
    char *target = mca_coll_epcoll_flat(to);
    const char *source = mca_coll_epcoll_flat(from);

    if (OPAL_UNLIKELY(mca_coll_epcoll_bytes(to) < offset + size
                      || mca_coll_epcoll_bytes(from) < offset + size)) {
        return MPI_ERR_TRUNCATE;
    }
    if (OPAL_UNLIKELY(NULL == target || NULL == source)) {
        return mca_coll_epcoll_copy_runs(to, from, offset, size);
    }
    if (0 != size && target != source) {
        memcpy(target + offset, source + offset, size);
    }
    return OMPI_SUCCESS;
}

/**
 * Exchange packed bytes offset ... offset + size - 1 of two buffers that do not overlap.  By one
 * thread for each part, which nobody else uses meanwhile.
 *
 * @return as mca_coll_epcoll_copy_part
 */
int mca_coll_epcoll_swap_part(const mca_coll_epcoll_buffer_t *a, const mca_coll_epcoll_buffer_t *b,
                              size_t offset, size_t size);

/** Pack all of a buffer: for small ones, which travel in a line.  @return 0 or an error */
static inline int mca_coll_epcoll_pack(void *packed, const mca_coll_epcoll_buffer_t *buffer)
{
    const char *source = mca_coll_epcoll_flat(buffer);
    const size_t size = mca_coll_epcoll_bytes(buffer);

    if (OPAL_UNLIKELY(NULL == source)) {
        return mca_coll_epcoll_pack_runs(packed, buffer);
    }
    if (sizeof(uint64_t) == size) { /* no call for a double, the most frequent of all */
        memcpy(packed, source, sizeof(uint64_t));
    } else if (0 != size) {
        memcpy(packed, source, size);
    }
    return OMPI_SUCCESS;
}

/** The reverse: fill a buffer with the packed bytes of all of it.  @return 0 or an error */
static inline int mca_coll_epcoll_unpack(const mca_coll_epcoll_buffer_t *buffer, const void *packed)
{
    char *target = mca_coll_epcoll_flat(buffer);
    const size_t size = mca_coll_epcoll_bytes(buffer);

    if (OPAL_UNLIKELY(NULL == target)) {
        return mca_coll_epcoll_unpack_runs(buffer, packed);
    }
    if (sizeof(uint64_t) == size) {
        memcpy(target, packed, sizeof(uint64_t));
    } else if (0 != size) {
        memcpy(target, packed, size);
    }
    return OMPI_SUCCESS;
}

#endif /* COLL_EPCOLL_BUFFER_H */
