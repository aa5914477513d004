/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A k-way merge of lists of pieces of a file, each in ascending order: a heap of cursors.
 *
 * Tests: file_blocks
 */

#include "ompi_config.h"

#include "mpiext_endpoints_merge.h"

#if MPIX_ENDPOINTS_FILES

#    include <stdlib.h>

typedef mpix_endpoints_cursor_t cursor_t;

bool mpix_endpoints_merge_begin(mpix_endpoints_merge_t *merge, int lists, int64_t start,
                                int64_t end)
{
    *merge = (mpix_endpoints_merge_t){.heap = malloc((size_t) lists * sizeof(cursor_t)),
                                      .start = start,
                                      .end = end};
    return NULL != merge->heap;
}

void mpix_endpoints_merge_end(mpix_endpoints_merge_t *merge)
{
    free(merge->heap);
}

/** Set a cursor to the beginning of its piece.  @return false: there is none before end */
static bool cursor_set(cursor_t *cursor, int64_t end)
{
    if (cursor->piece == cursor->end) {
        return false;
    }
    cursor->offset = (int64_t) (intptr_t) cursor->piece->offset;
    cursor->skip = 0;
    return cursor->offset < end;
}

/** Binary search: the first piece that extends beyond start. */
static const mca_common_ompio_io_array_t *cursor_search(const mca_common_ompio_io_array_t *pieces,
                                                        int64_t count, int64_t start)
{
    int64_t low = 0, high = count;

    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const mca_common_ompio_io_array_t *piece = &pieces[middle];

        if ((int64_t) (intptr_t) piece->offset + (int64_t) piece->length > start) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return pieces + low;
}

/** Move the first element of a heap down. */
static void heap_sink(cursor_t *heap, int count)
{
    const cursor_t moving = heap[0];
    int at = 0, next;

    while ((next = 2 * at + 1) < count) {
        next += next + 1 < count && heap[next + 1].offset < heap[next].offset;
        if (moving.offset <= heap[next].offset) {
            break;
        }
        heap[at] = heap[next];
        at = next;
    }
    heap[at] = moving;
}

/** Move an element up. */
static void heap_rise(cursor_t *heap, int at)
{
    const cursor_t moving = heap[at];

    while (0 < at && moving.offset < heap[(at - 1) / 2].offset) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = moving;
}

void mpix_endpoints_merge_add(mpix_endpoints_merge_t *merge,
                              const mca_common_ompio_io_array_t *pieces, int64_t count, int source)
{
    cursor_t *cursor = &merge->heap[merge->count];

    cursor->source = source;
    cursor->piece = cursor_search(pieces, count, merge->start);
    cursor->end = pieces + count;
    if (!cursor_set(cursor, merge->end)) {
        return;
    }
    if (cursor->offset < merge->start) {
        cursor->skip = (size_t) (merge->start - cursor->offset);
        cursor->offset = merge->start;
    }
    heap_rise(merge->heap, merge->count++);
}

bool mpix_endpoints_merge_next(mpix_endpoints_merge_t *merge, mpix_endpoints_part_t *part)
{
    cursor_t *first = &merge->heap[0];

    if (0 == merge->count) {
        return false;
    }
    *part = (mpix_endpoints_part_t){.source = first->source,
                                    .offset = first->offset,
                                    .memory = (char *) first->piece->memory_address + first->skip,
                                    .bytes = first->piece->length - first->skip};
    if (part->offset + (int64_t) part->bytes > merge->end) {
        part->bytes = (size_t) (merge->end - part->offset);
    }
    ++first->piece;
    if (!cursor_set(first, merge->end)) {
        *first = merge->heap[--merge->count];
    }
    heap_sink(merge->heap, merge->count);
    return true;
}

#endif
