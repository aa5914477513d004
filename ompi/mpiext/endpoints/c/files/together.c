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
 * A collective read or write, by the members of each process together.
 *
 * ompio's component sends all data to a few ranks, which write it (or have read it).  Members of a
 * process can do without: they show each other which pieces of the file they want from or have for
 * which memory, and where these are dealt out among them each one takes a part of the file, and moves
 * all pieces of it, straight from and to the memory of whoever they belong to.  Nothing is copied but
 * by the system, and nothing sent.  Processes do it each for itself: on a node, where pieces are in
 * the system's memory for files, a call of the system costs less than to send what it moves.
 *
 * With members on several nodes, or on NFS, where a call takes locks, small pieces are ompio's.
 *
 * Tests: file_blocks (also tsan), file_random
 */

#include "ompi_config.h"

#include "mpiext_endpoints_runs.h"
#include "mpiext_endpoints_together.h"

#if MPIX_ENDPOINTS_FILES

#    include <stdlib.h>

#    include "ompi/mca/common/ompio/common_ompio_buffer.h"

/** Pieces that are larger each member moves for itself: so they would be moved by one call anyway. */
#    define LARGE ((size_t) 256 << 10)

/** On average, far from the file: smaller ones are ompio's. */
#    define LARGE_AFAR ((size_t) 1 << 20)

/** Who writes holds the file's lock in the system: more members would only wait for it.  One finds
 * pieces while another one writes. */
#    define WRITERS 2

/** The file is cut into parts of whole multiples of it. */
#    define GRAIN ((int64_t) 64 << 10)

static bool locks(const mpix_endpoints_together_t *together)
{
    return mpix_endpoints_run_locks(together->file, together->view.is_on_node);
}

/** Can nobody but ompio's component do it? */
static bool is_for_ompio(const mpix_endpoints_together_t *together, const void *buffer,
                         size_t bytes)
{
    int is_device, is_managed;

    if (!mpix_endpoints_run_can_be(together->file)) {
        return true;
    }
    mca_common_ompio_check_gpu_buf(together->file, buffer, &is_device, &is_managed);
    return (is_device && !is_managed)
           || (locks(together) && bytes < (size_t) together->count * LARGE_AFAR);
}

static void show(mpix_endpoints_together_t *together, size_t bytes)
{
    mpix_endpoints_crewman_t *mine = &together->view.members[together->view.index];
    int64_t end = INT64_MIN;

    mine->pieces = together->pieces;
    mine->count = together->count;
    mine->bytes = bytes;
    mine->start = INT64_MAX;
    mine->is_in_order = true;
    mine->file_end = INT64_MAX;
    for (int i = 0; i < together->count; ++i) {
        const int64_t offset = (int64_t) (intptr_t) together->pieces[i].offset;
        const int64_t next = offset + (int64_t) together->pieces[i].length;

        mine->is_in_order = mine->is_in_order && offset >= end;
        mine->start = offset < mine->start ? offset : mine->start;
        end = next > end ? next : end;
    }
    mine->end = end;
}

/** ompio's lists of memory and file, put together, in one go. */
static int put_together(mpix_endpoints_together_t *together, struct iovec *memory, uint32_t parts,
                        size_t bytes)
{
    size_t moved = 0, before = 0;
    int part = 0;
#    if OMPI_MAJOR_VERSION >= 6
    return mca_common_ompio_build_io_array(MPIX_ENDPOINTS_VIEW(together->file), 0, 1, bytes, bytes,
                                           parts, memory, &part, &moved, &before, &together->pieces,
                                           &together->count);
#    else
    int view = together->file->f_index_in_file_view;

    return mca_common_ompio_build_io_array(together->file, 0, 1, bytes, bytes, parts, memory, &part,
                                           &view, &moved, &before, &together->pieces,
                                           &together->count);
#    endif
}

/** @param[out] bytes_p  of the memory */
static int find_pieces(mpix_endpoints_together_t *together, const void *buffer,
                       mpix_endpoints_io_count_t count, ompi_datatype_t *datatype, size_t *bytes_p)
{
    ompio_file_t *file = together->file;
    struct iovec *memory = NULL;
    uint32_t parts = 0;
    int rc;

    *bytes_p = 0;
    if (0 == count || 0 == MPIX_ENDPOINTS_VIEW(file)->f_iov_count) {
        return OMPI_SUCCESS;
    }
    rc = mca_common_ompio_decode_datatype(file, datatype, count, buffer, bytes_p,
                                          file->f_mem_convertor, &memory, &parts);
    if (OMPI_SUCCESS == rc && 0 < *bytes_p) {
        rc = put_together(together, memory, parts, *bytes_p);
    }
    free(memory);
    return rc;
}

int mpix_endpoints_together_begin(mpix_endpoints_together_t *together, ompio_file_t *file,
                                  bool writes, const void *buffer, mpix_endpoints_io_count_t count,
                                  ompi_datatype_t *datatype)
{
    size_t bytes;
    int rc;

    *together = (mpix_endpoints_together_t){.file = file, .writes = writes};
    together->pointer.offset = MPIX_ENDPOINTS_VIEW(file)->f_offset;
    together->pointer.total = MPIX_ENDPOINTS_VIEW(file)->f_total_bytes;
    together->pointer.position = MPIX_ENDPOINTS_VIEW(file)->f_position_in_file_view;
    together->pointer.index = MPIX_ENDPOINTS_VIEW(file)->f_index_in_file_view;
    if (!mpix_endpoints_crew_of(file, &together->view)) {
        return OMPI_ERROR; /* none has been opened without */
    }
    rc = find_pieces(together, buffer, count, datatype, &bytes);
    if (OMPI_SUCCESS == rc) {
        together->is_ompios = is_for_ompio(together, buffer, bytes);
        show(together, bytes);
    }
    return rc;
}

/** Nothing has been moved after all. */
static void put_pointer_back(const mpix_endpoints_together_t *together)
{
    mpix_endpoints_view_t *view = MPIX_ENDPOINTS_VIEW(together->file);

    view->f_offset = together->pointer.offset;
    view->f_total_bytes = together->pointer.total;
    view->f_position_in_file_view = together->pointer.position;
    view->f_index_in_file_view = together->pointer.index;
}

void mpix_endpoints_together_undo(mpix_endpoints_together_t *together)
{
    put_pointer_back(together);
    free(together->pieces);
}

/* ---- who moves what -------------------------------------------------------------------------- */

/** The part of the file that all pieces of this process lie in. */
static void find_all(const mpix_endpoints_crew_view_t *view, int64_t *start, int64_t *end)
{
    *start = INT64_MAX;
    *end = INT64_MIN;
    for (int i = 0; i < view->count; ++i) {
        const mpix_endpoints_crewman_t *member = &view->members[i];

        *start = 0 < member->count && member->start < *start ? member->start : *start;
        *end = 0 < member->count && member->end > *end ? member->end : *end;
    }
}

/** Is there something to be won by moving each other's pieces?  They are small, and lie between each
 * other, but not, as far as can be seen, on each other. */
static bool is_dealt_out(const mpix_endpoints_crew_view_t *view)
{
    size_t bytes = 0, pieces = 0;
    int64_t start, end, reached = INT64_MIN;
    bool apart = true;

    for (int i = 0; i < view->count; ++i) {
        const mpix_endpoints_crewman_t *member = &view->members[i];

        if (0 == member->count) {
            continue;
        }
        if (!member->is_in_order) {
            return false;
        }
        apart = apart && member->start >= reached;
        reached = member->end;
        bytes += member->bytes;
        pieces += (size_t) member->count;
    }
    find_all(view, &start, &end);
    return !apart && bytes < pieces * LARGE && bytes <= (size_t) (end - start);
}

/** The part of the file that is this member's to move.  @return false: none */
static bool find_part(const mpix_endpoints_together_t *together, int64_t *start, int64_t *end)
{
    const mpix_endpoints_crew_view_t *view = &together->view;
    const int movers = together->writes && WRITERS < view->count ? WRITERS : view->count;
    int64_t step;

    if (movers <= view->index) {
        return false;
    }
    find_all(view, start, end);
    *start -= *start % GRAIN;
    step = (*end - *start) / movers / GRAIN * GRAIN + GRAIN;
    *start += step * view->index;
    *end = *start + step < *end ? *start + step : *end;
    return *start < *end;
}

/** Where in the pieces of a member we are. */
typedef struct cursor_t {
    const mca_common_ompio_io_array_t *piece, *end;
    int64_t offset; /**< of what is left of the piece */
    size_t skip;    /**< of the piece, which is not */
} cursor_t;

static bool set_cursor(cursor_t *cursor, int64_t end)
{
    if (cursor->piece == cursor->end) {
        return false;
    }
    cursor->offset = (int64_t) (intptr_t) cursor->piece->offset;
    cursor->skip = 0;
    return cursor->offset < end;
}

/** The first piece that reaches beyond start.  @return false: none before end */
static bool find_cursor(cursor_t *cursor, const mpix_endpoints_crewman_t *member, int64_t start,
                        int64_t end)
{
    int low = 0, high = member->count;

    while (low < high) {
        const int middle = low + (high - low) / 2;
        const mca_common_ompio_io_array_t *piece = &member->pieces[middle];

        if ((int64_t) (intptr_t) piece->offset + (int64_t) piece->length > start) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    cursor->piece = member->pieces + low;
    cursor->end = member->pieces + member->count;
    if (!set_cursor(cursor, end)) {
        return false;
    }
    if (cursor->offset < start) {
        cursor->skip = (size_t) (start - cursor->offset);
        cursor->offset = start;
    }
    return true;
}

/** Put the first of a heap where it belongs: least offset first. */
static void sink(cursor_t *heap, int count)
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

/** And a new last one. */
static void rise(cursor_t *heap, int at)
{
    const cursor_t moving = heap[at];

    while (0 < at && moving.offset < heap[(at - 1) / 2].offset) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = moving;
}

static void move_part(mpix_endpoints_run_t *run, cursor_t *heap, int count, int64_t end)
{
    while (0 < count && MPI_SUCCESS == run->error) {
        cursor_t *first = &heap[0];
        size_t bytes = first->piece->length - first->skip;

        bytes = first->offset + (int64_t) bytes > end ? (size_t) (end - first->offset) : bytes;
        mpix_endpoints_run_add(run, first->offset,
                               (char *) first->piece->memory_address + first->skip, bytes);
        ++first->piece;
        if (!set_cursor(first, end)) {
            *first = heap[--count];
        }
        sink(heap, count);
    }
}

/** What falls into this member's part of the file. */
static int move_dealt_out(const mpix_endpoints_together_t *together, mpix_endpoints_run_t *run)
{
    const mpix_endpoints_crew_view_t *view = &together->view;
    cursor_t *heap;
    int64_t start, end;
    int count = 0;

    if (!find_part(together, &start, &end)) {
        return OMPI_SUCCESS;
    }
    heap = malloc((size_t) view->count * sizeof(*heap));
    if (NULL == heap) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    for (int i = 0; i < view->count; ++i) {
        if (find_cursor(&heap[count], &view->members[i], start, end)) {
            rise(heap, count++);
        }
    }
    move_part(run, heap, count, end);
    free(heap);
    return OMPI_SUCCESS;
}

static int move(const mpix_endpoints_together_t *together)
{
    mpix_endpoints_crewman_t *mine = &together->view.members[together->view.index];
    mpix_endpoints_run_t run;
    int rc = OMPI_SUCCESS, moved;

    mpix_endpoints_run_begin(&run, together->file, together->writes, locks(together));
    if (is_dealt_out(&together->view)) {
        rc = move_dealt_out(together, &run);
    } else {
        for (int i = 0; i < together->count; ++i) {
            mpix_endpoints_run_add(&run, (int64_t) (intptr_t) together->pieces[i].offset,
                                   together->pieces[i].memory_address, together->pieces[i].length);
        }
    }
    moved = mpix_endpoints_run_end(&run);
    mine->file_end = run.file_end;
    return OMPI_SUCCESS == rc ? moved : rc;
}

/** Bytes before the file's end. */
static size_t count_moved(const mpix_endpoints_together_t *together)
{
    const mpix_endpoints_crew_view_t *view = &together->view;
    int64_t file_end = INT64_MAX;

    for (int i = 0; i < view->count; ++i) {
        file_end = view->members[i].file_end < file_end ? view->members[i].file_end : file_end;
    }
    return mpix_endpoints_run_count(together->pieces, together->count, file_end);
}

int mpix_endpoints_together_end(mpix_endpoints_together_t *together, int rc,
                                ompi_status_public_t *status)
{
    if (NULL != together->view.crew
        && mpix_endpoints_crew_met(together->file, &together->view, OMPI_SUCCESS == rc)) {
        rc = move(together);
        mpix_endpoints_crew_wait(&together->view);
        if (MPI_STATUS_IGNORE != status) {
            status->_ucount = count_moved(together);
        }
    } else {
        put_pointer_back(together);
        /* A loss is the only thing that not all learn of alike. */
        rc = OMPI_SUCCESS == rc ? MPI_ERR_PROC_FAILED : rc;
    }
    free(together->pieces);
    return rc;
}

#endif
