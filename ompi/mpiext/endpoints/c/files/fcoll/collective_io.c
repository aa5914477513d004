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
 * which memory, and where these are dealt out among them each one takes a part of the file, and
 * moves all pieces of it, straight from and to the memory of whoever they belong to.  Nothing is
 * copied but by the system, and nothing sent.  Processes do it each for itself: on a node, where
 * pieces are in the system's memory for files, a call of the system costs less than to send what it
 * moves.
 *
 * With members on several nodes, or on NFS, where a call takes locks, small pieces are sent to few
 * (two_phase.c).
 *
 * Tests: file_blocks (also tsan), file_random
 */

#include "ompi_config.h"

#include "../fbtl/fbtl.h"
#include "../members/members.h"
#include "mpiext_endpoints_collective_io.h"
#include "mpiext_endpoints_merge.h"
#include "mpiext_endpoints_two_phase.h"

#if MPIX_ENDPOINTS_FILES

#    include <stdlib.h>

#    include "ompi/errhandler/errcode-internal.h"
#    include "ompi/mca/common/ompio/common_ompio_buffer.h"

/** Pieces that are larger each member moves for itself: so they would be moved by one call
 * anyway. */
#    define LARGE ((size_t) 256 << 10)

/** Far from the file a call of the system takes as long as sending so many bytes. */
#    define CALL_AFAR ((int64_t) 1 << 20)

/** Who writes holds the file's lock in the system: more members would only wait for it.  One finds
 * pieces while another one writes. */
#    define WRITERS 2

/** The file is cut into parts of whole multiples of it. */
#    define GRAIN ((int64_t) 64 << 10)

static bool locks(const mpix_endpoints_together_t *together)
{
    return mpix_endpoints_extent_needs_locks(together->file,
                                             mpix_endpoints_io_state(together->file)->is_on_node);
}

/** Can nobody but ompio's component do it? */
static bool is_for_ompio(const mpix_endpoints_together_t *together, const void *buffer)
{
    int is_device, is_managed;

    if (!mpix_endpoints_extent_is_supported(together->file)) {
        return true;
    }
    mca_common_ompio_check_gpu_buf(together->file, buffer, &is_device, &is_managed);
    return is_device && !is_managed;
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

/** Calls of the system for what this member has: what lies together in the file is one, of so many
 * pieces of memory as the system takes; a read goes on over small gaps. */
static int64_t calls_of(const mpix_endpoints_together_t *together)
{
    const int64_t most = together->writes ? 0 : MPIX_ENDPOINTS_EXTENT_GAP;
    int64_t calls = 0, end = 0;
    int pieces = 0;

    for (int i = 0; i < together->count; ++i) {
        const int64_t offset = (int64_t) (intptr_t) together->pieces[i].offset;

        const int64_t gap = offset - end;
        const int bridge = 0 < gap ? 1 : 0;

        if (0 == i || 0 > gap || most < gap || MPIX_ENDPOINTS_EXTENT_PIECES - bridge <= pieces) {
            ++calls;
            pieces = 0;
        } else {
            pieces += bridge;
        }
        ++pieces;
        end = offset + (int64_t) together->pieces[i].length;
    }
    return calls;
}

/** What all members are to know of this one's. */
static void say(mpix_endpoints_together_t *together, const void *buffer, size_t bytes)
{
    const mpix_endpoints_crewman_t *mine = &together->view.members[together->view.index];
    int64_t *says = together->says;

    says[MPIX_ENDPOINTS_SAYS_OMPIOS] = is_for_ompio(together, buffer);
    says[MPIX_ENDPOINTS_SAYS_CALLS] = locks(together) ? calls_of(together) : 0;
    says[MPIX_ENDPOINTS_SAYS_BYTES] = (int64_t) bytes;
    says[MPIX_ENDPOINTS_SAYS_ALONE] = !mine->is_in_order || 0 > mpix_endpoints_client();
    says[MPIX_ENDPOINTS_SAYS_START] = 0 < mine->count ? -mine->start : INT64_MIN;
    says[MPIX_ENDPOINTS_SAYS_END] = 0 < mine->count ? mine->end : INT64_MIN;
}

void mpix_endpoints_together_begin(mpix_endpoints_together_t *together, ompio_file_t *file,
                                   bool writes, const void *buffer, mpix_endpoints_io_count_t count,
                                   ompi_datatype_t *datatype)
{
    size_t bytes = 0;
    int rc = OMPI_ERROR; /* no crew: none has been opened without */

    *together = (mpix_endpoints_together_t){.file = file, .writes = writes};
    together->pointer.offset = MPIX_ENDPOINTS_VIEW(file)->f_offset;
    together->pointer.total = MPIX_ENDPOINTS_VIEW(file)->f_total_bytes;
    together->pointer.position = MPIX_ENDPOINTS_VIEW(file)->f_position_in_file_view;
    together->pointer.index = MPIX_ENDPOINTS_VIEW(file)->f_index_in_file_view;
    if (mpix_endpoints_crew_of(file, &together->view)) {
        rc = find_pieces(together, buffer, count, datatype, &bytes);
    }
    if (OMPI_SUCCESS == rc) {
        show(together, bytes);
        say(together, buffer, bytes);
    }
    together->says[MPIX_ENDPOINTS_SAYS_ERROR] = OMPI_SUCCESS == rc ? MPI_SUCCESS
                                                                   : ompi_errcode_get_mpi_code(rc);
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

/** Is there something to be won by moving each other's pieces?  They are small, and lie between
 * each other, but not, as far as can be seen, on each other. */
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

/** What falls into this member's part of the file. */
static int move_dealt_out(const mpix_endpoints_together_t *together,
                          mpix_endpoints_extent_t *extent)
{
    const mpix_endpoints_crew_view_t *view = &together->view;
    mpix_endpoints_merge_t merge;
    mpix_endpoints_part_t part;
    int64_t start, end;

    if (!find_part(together, &start, &end)) {
        return OMPI_SUCCESS;
    }
    if (!mpix_endpoints_merge_begin(&merge, view->count, start, end)) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    for (int i = 0; i < view->count; ++i) {
        mpix_endpoints_merge_add(&merge, view->members[i].pieces, view->members[i].count, i);
    }
    while (MPI_SUCCESS == extent->error && mpix_endpoints_merge_next(&merge, &part)) {
        mpix_endpoints_extent_add(extent, part.offset, part.memory, part.bytes);
    }
    mpix_endpoints_merge_end(&merge);
    return OMPI_SUCCESS;
}

static void move_own(const mpix_endpoints_together_t *together, mpix_endpoints_extent_t *extent)
{
    for (int i = 0; i < together->count; ++i) {
        mpix_endpoints_extent_add(extent, (int64_t) (intptr_t) together->pieces[i].offset,
                                  together->pieces[i].memory_address, together->pieces[i].length);
    }
}

/** Are pieces sent to few?  All members wait for the last one: each for itself, for who has the
 * most calls; exchanged, for whose bytes are the most.  So neither one member's short piece beside
 * long ones of others sends these, nor a long one's owner keeps others at their thousand calls.
 * What all say is all that is known, so all decide alike. */
static bool is_exchanged(const int64_t *says)
{
    return 0 == says[MPIX_ENDPOINTS_SAYS_ALONE]
           && says[MPIX_ENDPOINTS_SAYS_BYTES] < says[MPIX_ENDPOINTS_SAYS_CALLS] * CALL_AFAR;
}

static int move(const mpix_endpoints_together_t *together)
{
    const int64_t *says = together->says;
    mpix_endpoints_crewman_t *mine = &together->view.members[together->view.index];
    mpix_endpoints_extent_t extent;
    int rc = OMPI_SUCCESS, moved;

    mpix_endpoints_extent_begin(&extent, together->file, together->writes, locks(together));
    if (is_exchanged(says)) {
        rc = mpix_endpoints_exchange(together->file, &together->view, &extent,
                                     -says[MPIX_ENDPOINTS_SAYS_START],
                                     says[MPIX_ENDPOINTS_SAYS_END]);
    } else if (is_dealt_out(&together->view)) {
        rc = move_dealt_out(together, &extent);
    } else {
        move_own(together, &extent);
    }
    moved = mpix_endpoints_extent_end(&extent);
    mine->file_end = extent.file_end;
    return OMPI_SUCCESS == rc ? moved : rc;
}

int mpix_endpoints_together_end(mpix_endpoints_together_t *together, int rc, int64_t *file_end_p)
{
    *file_end_p = INT64_MAX;
    if (NULL != together->view.crew
        && mpix_endpoints_crew_met(together->file, &together->view, OMPI_SUCCESS == rc)) {
        rc = move(together);
        *file_end_p = together->view.members[together->view.index].file_end;
        mpix_endpoints_crew_wait(&together->view);
    } else {
        put_pointer_back(together);
        /* A loss is the only thing that not all learn of alike. */
        rc = OMPI_SUCCESS == rc ? MPI_ERR_PROC_FAILED : rc;
    }
    return rc;
}

void mpix_endpoints_together_status(mpix_endpoints_together_t *together, int64_t file_end,
                                    ompi_status_public_t *status)
{
    if (MPI_STATUS_IGNORE != status) {
        status->_ucount = mpix_endpoints_extent_count(together->pieces, together->count, file_end);
    }
    free(together->pieces);
}

#endif
