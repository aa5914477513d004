/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Two-phase I/O: a collective read or write of small pieces where a call of the system is
 * expensive, as members are on several nodes, or the file is locked as a whole.  The file is
 * partitioned into as many domains as there are processes and channels; in each channel one member
 * of each process moves one domain.  Pieces of its own process go directly from and to the memory
 * of their members, those of other processes by messages (shuffle.c): a process sends the pieces of
 * all its members in a domain at once.
 *
 * No member waits for one that has failed: all memory has been allocated before two reductions,
 * whose errors end the call before messages are waited for.  A lost member ends all messages.
 *
 * Tests: file_blocks, file_death, file_nomem (locked)
 */

#include "ompi_config.h"

#include "../members/members.h"
#include "mpiext_endpoints_merge.h"
#include "mpiext_endpoints_shuffle.h"
#include "mpiext_endpoints_two_phase.h"

#if MPIX_ENDPOINTS_FILES

#    include <stdlib.h>
#    include <string.h>

typedef mca_common_ompio_io_array_t piece_t;

/** Bytes: domains begin at multiples of it. */
#    define GRAIN ((int64_t) 256 << 10)

/** Bytes of chunks that are released at a time. */
#    define USED_MOST ((size_t) 1 << 20)

/** Pieces that several members read are copied: so many at a time. */
enum { COPIES = 256 };

typedef struct copy_t {
    int64_t offset;
    char *to;
    const char *from;
    size_t bytes;
} copy_t;

typedef struct two_phase_t {
    const mpix_endpoints_local_view_t *view;
    mpix_endpoints_extent_t *extent;
    int64_t start, end;
    mpix_endpoints_shuffle_t shuffle;

    piece_t *pieces;      /**< of this process, in the domains of its channel */
    int64_t count, room;  /**< of pieces; and for how many there is memory */
    int64_t own, own_end; /**< those in the domain of this member */

    size_t used;                /**< bytes of chunks that have not been released */
    mpix_endpoints_part_t last; /**< piece that has been read */
    int copies;
    copy_t copy[COPIES]; /**< to be done after the next flush */
} two_phase_t;

/** The domain of a process in this channel.  @return false: it has none */
static bool two_phase_domain(const two_phase_t *x, int process, int64_t *start, int64_t *end)
{
    const int64_t base = x->start - x->start % GRAIN;
    const int64_t parts = (int64_t) x->view->processes * x->view->channels;
    const int64_t step = ((x->end - base - 1) / parts / GRAIN + 1) * GRAIN;

    *start = base + step * ((int64_t) process * x->view->channels + x->view->index);
    *end = *start + step < x->end ? *start + step : x->end;
    return *start < *end;
}

/* ---- pieces by domains ----------------------------------------------------------------------- */

static bool two_phase_append(two_phase_t *x, const mpix_endpoints_part_t *part)
{
    if (x->count == x->room) {
        const int64_t room = 2 * x->room + 64;
        piece_t *pieces = realloc(x->pieces, (size_t) room * sizeof(*pieces));

        if (NULL == pieces) {
            return false;
        }
        x->pieces = pieces;
        x->room = room;
    }
    x->pieces[x->count++] = (piece_t){.memory_address = part->memory,
                                      .offset = (void *) (intptr_t) part->offset,
                                      .length = part->bytes};
    return true;
}

/** All pieces of this process in the domain of a process, in the order of the file. */
static int two_phase_find_pieces_for(two_phase_t *x, int process)
{
    mpix_endpoints_merge_t merge;
    mpix_endpoints_part_t part;
    int64_t start, end;
    int rc = OMPI_SUCCESS;

    if (!two_phase_domain(x, process, &start, &end)) {
        return OMPI_SUCCESS;
    }
    if (!mpix_endpoints_merge_begin(&merge, x->view->count, start, end)) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    for (int i = 0; i < x->view->count; ++i) {
        const mpix_endpoints_local_member_t *member = &x->view->members[i];

        mpix_endpoints_merge_add(&merge, member->pieces, member->count, i);
    }
    while (OMPI_SUCCESS == rc && mpix_endpoints_merge_next(&merge, &part)) {
        rc = two_phase_append(x, &part) ? OMPI_SUCCESS : OMPI_ERR_OUT_OF_RESOURCE;
    }
    mpix_endpoints_merge_end(&merge);
    return rc;
}

/** Likewise for all processes.  The list moves in memory as it grows, so streams refer to it
 * afterwards. */
static int two_phase_find_pieces(two_phase_t *x)
{
    mpix_endpoints_shuffle_t *shuffle = &x->shuffle;
    int rc = OMPI_SUCCESS;

    for (int process = 0; OMPI_SUCCESS == rc && process < shuffle->count; ++process) {
        const int64_t before = x->count;

        rc = two_phase_find_pieces_for(x, process);
        if (process == shuffle->own) {
            x->own = before;
            x->own_end = x->count;
        } else {
            shuffle->my_req[process].at = before;
            shuffle->my_req[process].count = x->count - before;
        }
    }
    for (int process = 0; OMPI_SUCCESS == rc && process < shuffle->count; ++process) {
        mpix_endpoints_stream_t *my_req = &shuffle->my_req[process];

        my_req->pieces = NULL == x->pieces ? NULL : x->pieces + my_req->at;
        my_req->at = 0;
    }
    return rc;
}

/** Allocate what can be allocated before messages. */
static int two_phase_prepare(two_phase_t *x, ompio_file_t *file)
{
    int rc = mpix_endpoints_shuffle_begin(&x->shuffle, file, x->view, x->extent->writes);

    if (OMPI_SUCCESS == rc) {
        rc = two_phase_find_pieces(x);
    }
    return OMPI_SUCCESS == rc ? mpix_endpoints_shuffle_coalesce(&x->shuffle) : rc;
}

/* ---- moving ---------------------------------------------------------------------------------- */

/** Move all pieces that have been added, and release the chunks. */
static void two_phase_flush(two_phase_t *x)
{
    int64_t file_end;

    mpix_endpoints_extent_flush(x->extent);
    file_end = MPI_SUCCESS == x->extent->error ? x->extent->file_end
                                               : 0; /* nothing has been read */
    for (int i = 0; i < x->copies; ++i) {
        const copy_t *copy = &x->copy[i];
        const int64_t there = file_end - copy->offset;

        memcpy(copy->to, copy->from,
               0 > there                      ? 0
               : there < (int64_t) copy->bytes ? (size_t) there
                                               : copy->bytes);
    }
    x->copies = 0;
    x->last.bytes = 0; /* its memory may be reused */
    x->shuffle.file_end = file_end;
    x->used = 0;
    mpix_endpoints_shuffle_release(&x->shuffle);
}

/** Add a piece.  One that is within the piece read last is copied. */
static void two_phase_move_piece(two_phase_t *x, int64_t offset, char *memory, size_t bytes)
{
    const int64_t into = offset - x->last.offset;

    if (!x->extent->writes && 0 <= into && into + (int64_t) bytes <= (int64_t) x->last.bytes) {
        x->copy[x->copies++] = (copy_t){offset, memory, x->last.memory + into, bytes};
        if (COPIES == x->copies) {
            two_phase_flush(x);
        }
        return;
    }
    mpix_endpoints_extent_add(x->extent, offset, memory, bytes);
    x->last = (mpix_endpoints_part_t){.offset = offset, .memory = memory, .bytes = bytes};
}

/** Add a piece of another process, which may extend over several chunks. */
static void two_phase_move_stream(two_phase_t *x, mpix_endpoints_stream_t *stream,
                                  const mpix_endpoints_part_t *part)
{
    const size_t end = (size_t) (intptr_t) part->memory + part->bytes;
    int64_t offset = part->offset;
    size_t place = (size_t) (intptr_t) part->memory, left;

    while (place < end) {
        char *memory = mpix_endpoints_shuffle_chunk(&x->shuffle, stream, place, &left);

        if (NULL == memory) {
            if (MPI_SUCCESS != x->shuffle.error) {
                return;
            }
            two_phase_flush(x);
            continue;
        }
        if (left <= end - place) {
            ++stream->used;
            x->used += left;
        } else {
            left = end - place;
        }
        two_phase_move_piece(x, offset, memory, left);
        place += left;
        offset += (int64_t) left;
        if (USED_MOST <= x->used) {
            two_phase_flush(x);
        }
    }
}

/** Move this member's domain. */
static int two_phase_move_domain(two_phase_t *x, mpix_endpoints_merge_t *merge)
{
    mpix_endpoints_shuffle_t *shuffle = &x->shuffle;
    mpix_endpoints_part_t part;

    for (int process = 0; process < shuffle->count; ++process) {
        if (process == shuffle->own) {
            mpix_endpoints_merge_add(merge, x->pieces + x->own, x->own_end - x->own, process);
        } else {
            mpix_endpoints_merge_add(merge, shuffle->others_req[process].pieces,
                                     shuffle->others_req[process].count, process);
        }
    }
    while (MPI_SUCCESS == shuffle->error && mpix_endpoints_merge_next(merge, &part)) {
        if (part.source == shuffle->own) {
            two_phase_move_piece(x, part.offset, part.memory, part.bytes);
        } else {
            two_phase_move_stream(x, &shuffle->others_req[part.source], &part);
        }
    }
    two_phase_flush(x);
    return mpix_endpoints_shuffle_wait(shuffle);
}

/** In a channel.  All members of the file take part in two reductions. */
static int two_phase_run(two_phase_t *x, ompio_file_t *file)
{
    mpix_endpoints_merge_t merge = {.heap = NULL};
    int64_t start = 0, end = 0;
    int rc = mpix_endpoints_reduce_error(file->f_comm, two_phase_prepare(x, file));

    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    rc = mpix_endpoints_shuffle_counts(&x->shuffle);
    if (OMPI_SUCCESS == rc) {
        rc = mpix_endpoints_shuffle_allocate(&x->shuffle);
    }
    (void) two_phase_domain(x, x->view->process, &start, &end);
    if (OMPI_SUCCESS == rc
        && !mpix_endpoints_merge_begin(&merge, x->view->processes, start, end)) {
        rc = OMPI_ERR_OUT_OF_RESOURCE;
    }
    rc = mpix_endpoints_reduce_error(file->f_comm, rc);
    if (OMPI_SUCCESS == rc) {
        rc = mpix_endpoints_shuffle_spans(&x->shuffle, start, end);
        if (OMPI_SUCCESS == rc) {
            rc = two_phase_move_domain(x, &merge);
        } else {
            (void) mpix_endpoints_shuffle_wait(&x->shuffle);
        }
    }
    mpix_endpoints_merge_end(&merge);
    return rc;
}

int mpix_endpoints_two_phase(ompio_file_t *file, const mpix_endpoints_local_view_t *view,
                             mpix_endpoints_extent_t *extent, int64_t start, int64_t end)
{
    const bool is_in_channel = view->index < view->channels && start < end;
    two_phase_t *x = is_in_channel ? calloc(1, sizeof(*x)) : NULL;
    int rc;

    if (NULL == x) {
        /* An error here is reduced before others wait for messages. */
        rc = is_in_channel ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
        rc = start < end ? mpix_endpoints_reduce_error(file->f_comm, rc) : rc;
        if (OMPI_SUCCESS == rc && start < end) {
            rc = mpix_endpoints_reduce_error(file->f_comm, OMPI_SUCCESS);
        }
        return rc;
    }
    x->view = view;
    x->extent = extent;
    x->start = start;
    x->end = end;
    rc = two_phase_run(x, file);
    mpix_endpoints_shuffle_end(&x->shuffle);
    free(x->pieces);
    free(x);
    return rc;
}

#endif
