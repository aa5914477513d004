/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A collective read or write.
 *
 * ompio's components send all data to a few ranks, which write it (or have read it).  Members of a
 * process need no messages: they publish their lists of pieces, of memory and file, to each other.
 * If pieces of members are interleaved, the file is partitioned into domains; each member moves all
 * pieces in its domain, from and to the memory of any member of the process.  Nothing is copied
 * except by the system.  Each process does this on its own: on a node, where pieces are in the page
 * cache, a call of the system costs less than sending what it moves.
 *
 * With members on several nodes, or on NFS, where each call takes locks, small pieces are moved by
 * two-phase I/O (two_phase.c).
 *
 * Tests: file_blocks (also tsan), file_random, device_file
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

/** Larger pieces are moved by their own member: each takes one call in any case. */
#    define LARGE ((size_t) 256 << 10)

/** Sending so many bytes costs as much as a call of the system that takes locks. */
#    define CALL_AFAR ((int64_t) 1 << 20)

/** A writer holds the file's lock in the kernel: more members would only wait for it.  One finds
 * pieces while another one writes. */
#    define WRITERS 2

/** Bytes: domains begin at multiples of it. */
#    define GRAIN ((int64_t) 64 << 10)

static bool collective_needs_locks(const mpix_endpoints_collective_io_t *collective)
{
    return mpix_endpoints_extent_needs_locks(collective->file,
                                             mpix_endpoints_io_state(collective->file)->is_on_node);
}

/** Device memory, which the CPU cannot access, is refused: there was no host memory for its data
 * (fcoll_module.c).
 * @return OMPI_SUCCESS, MPI_ERR_BUFFER */
static int collective_check_memory(const mpix_endpoints_collective_io_t *collective,
                                   const void *buffer, mpix_endpoints_io_count_t count,
                                   const ompi_datatype_t *datatype)
{
    const ompi_communicator_t *comm = collective->file->f_comm;

    return mpix_endpoints_client_is_device(comm, buffer, (size_t) count, datatype)
               ? mpix_endpoints_client_engine()->refuse_device(comm, collective->writes
                                                                         ? "A collective write"
                                                                         : "A collective read")
               : OMPI_SUCCESS;
}

static void collective_publish(mpix_endpoints_collective_io_t *collective, size_t bytes)
{
    mpix_endpoints_local_member_t *mine = &collective->view.members[collective->view.index];
    int64_t end = INT64_MIN;

    mine->pieces = collective->pieces;
    mine->count = collective->count;
    mine->bytes = bytes;
    mine->start = INT64_MAX;
    mine->is_in_order = true;
    mine->file_end = INT64_MAX;
    for (int i = 0; i < collective->count; ++i) {
        const int64_t offset = (int64_t) (intptr_t) collective->pieces[i].offset;
        const int64_t next = offset + (int64_t) collective->pieces[i].length;

        mine->is_in_order = mine->is_in_order && offset >= end;
        mine->start = offset < mine->start ? offset : mine->start;
        end = next > end ? next : end;
    }
    mine->end = end;
}

/** Combine ompio's lists of memory and file, in one step. */
static int collective_build_pieces(mpix_endpoints_collective_io_t *collective, struct iovec *memory,
                                   uint32_t parts, size_t bytes)
{
    size_t moved = 0, before = 0;
    int part = 0;
#    if OMPI_MAJOR_VERSION >= 6
    return mca_common_ompio_build_io_array(MPIX_ENDPOINTS_VIEW(collective->file), 0, 1, bytes,
                                           bytes, parts, memory, &part, &moved, &before,
                                           &collective->pieces, &collective->count);
#    else
    int view = collective->file->f_index_in_file_view;

    return mca_common_ompio_build_io_array(collective->file, 0, 1, bytes, bytes, parts, memory,
                                           &part, &view, &moved, &before, &collective->pieces,
                                           &collective->count);
#    endif
}

/** @param[out] bytes_p  of the memory */
static int collective_find_pieces(mpix_endpoints_collective_io_t *collective, const void *buffer,
                                  mpix_endpoints_io_count_t count, ompi_datatype_t *datatype,
                                  size_t *bytes_p)
{
    ompio_file_t *file = collective->file;
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
        rc = collective_build_pieces(collective, memory, parts, *bytes_p);
    }
    free(memory);
    return rc;
}

/** Calls of the system for this member's pieces: one for each extent, of at most
 * MPIX_ENDPOINTS_EXTENT_PIECES pieces; a read goes on over short gaps. */
static int64_t collective_count_calls(const mpix_endpoints_collective_io_t *collective)
{
    const int64_t most = collective->writes ? 0 : MPIX_ENDPOINTS_EXTENT_GAP;
    int64_t calls = 0, end = 0;
    int pieces = 0;

    for (int i = 0; i < collective->count; ++i) {
        const int64_t offset = (int64_t) (intptr_t) collective->pieces[i].offset;

        const int64_t gap = offset - end;
        const int bridge = 0 < gap ? 1 : 0;

        if (0 == i || 0 > gap || most < gap || MPIX_ENDPOINTS_EXTENT_PIECES - bridge <= pieces) {
            ++calls;
            pieces = 0;
        } else {
            pieces += bridge;
        }
        ++pieces;
        end = offset + (int64_t) collective->pieces[i].length;
    }
    return calls;
}

/** This member's values of the reduction. */
static void collective_set_reduced(mpix_endpoints_collective_io_t *collective, size_t bytes)
{
    const mpix_endpoints_local_member_t *mine = &collective->view.members[collective->view.index];
    int64_t *reduced = collective->reduced;

    reduced[MPIX_ENDPOINTS_REDUCED_FALLBACK]
        = !mpix_endpoints_extent_is_supported(collective->file);
    reduced[MPIX_ENDPOINTS_REDUCED_CALLS] = collective_needs_locks(collective)
                                                ? collective_count_calls(collective)
                                                : 0;
    reduced[MPIX_ENDPOINTS_REDUCED_BYTES] = (int64_t) bytes;
    reduced[MPIX_ENDPOINTS_REDUCED_INDEPENDENT] = !mine->is_in_order || 0 > mpix_endpoints_client();
    reduced[MPIX_ENDPOINTS_REDUCED_START] = 0 < mine->count ? -mine->start : INT64_MIN;
    reduced[MPIX_ENDPOINTS_REDUCED_END] = 0 < mine->count ? mine->end : INT64_MIN;
}

void mpix_endpoints_collective_io_begin(mpix_endpoints_collective_io_t *collective,
                                        ompio_file_t *file, bool writes, const void *buffer,
                                        mpix_endpoints_io_count_t count, ompi_datatype_t *datatype)
{
    size_t bytes = 0;
    int rc = OMPI_ERROR; /* without a group, which every open file has */

    *collective = (mpix_endpoints_collective_io_t){.file = file, .writes = writes};
    collective->pointer.offset = MPIX_ENDPOINTS_VIEW(file)->f_offset;
    collective->pointer.total = MPIX_ENDPOINTS_VIEW(file)->f_total_bytes;
    collective->pointer.position = MPIX_ENDPOINTS_VIEW(file)->f_position_in_file_view;
    collective->pointer.index = MPIX_ENDPOINTS_VIEW(file)->f_index_in_file_view;
    if (mpix_endpoints_local_group_view(file, &collective->view)) {
        rc = collective_find_pieces(collective, buffer, count, datatype, &bytes);
    }
    rc = OMPI_SUCCESS == rc ? collective_check_memory(collective, buffer, count, datatype) : rc;
    if (OMPI_SUCCESS == rc) {
        collective_publish(collective, bytes);
        collective_set_reduced(collective, bytes);
    }
    collective->reduced[MPIX_ENDPOINTS_REDUCED_ERROR] = OMPI_SUCCESS == rc
                                                            ? MPI_SUCCESS
                                                            : ompi_errcode_get_mpi_code(rc);
}

/** Nothing has been moved: set the file pointer back. */
static void collective_restore_pointer(const mpix_endpoints_collective_io_t *collective)
{
    mpix_endpoints_view_t *view = MPIX_ENDPOINTS_VIEW(collective->file);

    view->f_offset = collective->pointer.offset;
    view->f_total_bytes = collective->pointer.total;
    view->f_position_in_file_view = collective->pointer.position;
    view->f_index_in_file_view = collective->pointer.index;
}

void mpix_endpoints_collective_io_undo(mpix_endpoints_collective_io_t *collective)
{
    collective_restore_pointer(collective);
    free(collective->pieces);
}

/* ---- file domains ---------------------------------------------------------------------------- */

/** The part of the file in which all pieces of this process are. */
static void domain_span(const mpix_endpoints_local_view_t *view, int64_t *start, int64_t *end)
{
    *start = INT64_MAX;
    *end = INT64_MIN;
    for (int i = 0; i < view->count; ++i) {
        const mpix_endpoints_local_member_t *member = &view->members[i];

        *start = 0 < member->count && member->start < *start ? member->start : *start;
        *end = 0 < member->count && member->end > *end ? member->end : *end;
    }
}

/** Are domains better than each member's own pieces?  They are if pieces are small, and
 * interleaved, and do not overlap as far as their sums show. */
static bool domains_are_better(const mpix_endpoints_local_view_t *view)
{
    size_t bytes = 0, pieces = 0;
    int64_t start, end, reached = INT64_MIN;
    bool apart = true;

    for (int i = 0; i < view->count; ++i) {
        const mpix_endpoints_local_member_t *member = &view->members[i];

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
    domain_span(view, &start, &end);
    return !apart && bytes < pieces * LARGE && bytes <= (size_t) (end - start);
}

/** The domain of this member.  @return false: it has none */
static bool domain_of_member(const mpix_endpoints_collective_io_t *collective, int64_t *start,
                             int64_t *end)
{
    const mpix_endpoints_local_view_t *view = &collective->view;
    const int movers = collective->writes && WRITERS < view->count ? WRITERS : view->count;
    int64_t step;

    if (movers <= view->index) {
        return false;
    }
    domain_span(view, start, end);
    *start -= *start % GRAIN;
    step = (*end - *start) / movers / GRAIN * GRAIN + GRAIN;
    *start += step * view->index;
    *end = *start + step < *end ? *start + step : *end;
    return *start < *end;
}

/** Move all pieces in this member's domain. */
static int collective_move_domain(const mpix_endpoints_collective_io_t *collective,
                                  mpix_endpoints_extent_t *extent)
{
    const mpix_endpoints_local_view_t *view = &collective->view;
    mpix_endpoints_merge_t merge;
    mpix_endpoints_part_t part;
    int64_t start, end;

    if (!domain_of_member(collective, &start, &end)) {
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

static void collective_move_own(const mpix_endpoints_collective_io_t *collective,
                                mpix_endpoints_extent_t *extent)
{
    for (int i = 0; i < collective->count; ++i) {
        mpix_endpoints_extent_add(extent, (int64_t) (intptr_t) collective->pieces[i].offset,
                                  collective->pieces[i].memory_address,
                                  collective->pieces[i].length);
    }
}

/** Two-phase I/O?  All members wait for the last one: without it, for the member with the most
 * calls; with it, for the member with the most bytes.  So a short piece of one member does not have
 * the long ones of others sent, nor does a member with a long piece keep others at a thousand
 * calls.  All members decide alike, by the maxima. */
static bool collective_is_two_phase(const int64_t *reduced)
{
    return 0 == reduced[MPIX_ENDPOINTS_REDUCED_INDEPENDENT]
           && reduced[MPIX_ENDPOINTS_REDUCED_BYTES]
                  < reduced[MPIX_ENDPOINTS_REDUCED_CALLS] * CALL_AFAR;
}

static int collective_move(const mpix_endpoints_collective_io_t *collective)
{
    const int64_t *reduced = collective->reduced;
    mpix_endpoints_local_member_t *mine = &collective->view.members[collective->view.index];
    mpix_endpoints_extent_t extent;
    int rc = OMPI_SUCCESS, moved;

    mpix_endpoints_extent_begin(&extent, collective->file, collective->writes,
                                collective_needs_locks(collective));
    if (collective_is_two_phase(reduced)) {
        rc = mpix_endpoints_two_phase(collective->file, &collective->view, &extent,
                                      -reduced[MPIX_ENDPOINTS_REDUCED_START],
                                      reduced[MPIX_ENDPOINTS_REDUCED_END]);
    } else if (domains_are_better(&collective->view)) {
        rc = collective_move_domain(collective, &extent);
    } else {
        collective_move_own(collective, &extent);
    }
    moved = mpix_endpoints_extent_end(&extent);
    mine->file_end = extent.file_end;
    return OMPI_SUCCESS == rc ? moved : rc;
}

int mpix_endpoints_collective_io_end(mpix_endpoints_collective_io_t *collective, int rc,
                                     int64_t *file_end_p)
{
    *file_end_p = INT64_MAX;
    if (NULL != collective->view.group
        && mpix_endpoints_local_group_all_well(collective->file, &collective->view,
                                               OMPI_SUCCESS == rc)) {
        rc = collective_move(collective);
        *file_end_p = collective->view.members[collective->view.index].file_end;
        mpix_endpoints_local_group_barrier(&collective->view);
    } else {
        collective_restore_pointer(collective);
        /* Only a loss is not the same at all members. */
        rc = OMPI_SUCCESS == rc ? MPI_ERR_PROC_FAILED : rc;
    }
    return rc;
}

void mpix_endpoints_collective_io_status(mpix_endpoints_collective_io_t *collective,
                                         int64_t file_end, ompi_status_public_t *status)
{
    if (MPI_STATUS_IGNORE != status) {
        status->_ucount = mpix_endpoints_extent_count(collective->pieces, collective->count,
                                                      file_end);
    }
    free(collective->pieces);
}

#endif
