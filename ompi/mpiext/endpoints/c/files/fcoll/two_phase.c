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
 * A collective read or write of small pieces where a call of the system is dear: members are on
 * several nodes, or the file is locked as a whole.  The file is cut into as many parts as there are
 * processes and channels; in each channel one member of each process moves one part.  It has all
 * pieces of its own process straight from and to the memory of whoever they belong to, and those of
 * others by messages (shuffle.c); so a process sends another one what its threads have together,
 * once.
 *
 * Nobody waits for who has failed: what could fail for want of memory has been done before the
 * members meet, and meets ahead of what would wait.  A lost member ends all messages.
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

/** The file is cut into parts of whole multiples of it. */
#    define GRAIN ((int64_t) 256 << 10)

/** The memory of so many bytes is given back at a time. */
#    define USED_MOST ((size_t) 1 << 20)

/** Pieces that several have asked for are copied: so many at a time. */
enum { COPIES = 256 };

typedef struct copy_t {
    int64_t offset;
    char *to;
    const char *from;
    size_t bytes;
} copy_t;

typedef struct exchange_t {
    const mpix_endpoints_crew_view_t *view;
    mpix_endpoints_extent_t *extent;
    int64_t start, end;
    mpix_endpoints_streams_t streams;

    piece_t *pieces;      /**< of this process, in the parts of its channel */
    int64_t count, room;  /**< of pieces; and how many there may be */
    int64_t own, own_end; /**< which of them this member moves itself */

    size_t used;                /**< bytes of chunks, until they are given back */
    mpix_endpoints_part_t last; /**< that is read */
    int copies;
    copy_t copy[COPIES]; /**< when all before has been read */
} exchange_t;

/** The part of the file that a process moves in this channel.  @return false: none */
static bool find_part(const exchange_t *x, int process, int64_t *start, int64_t *end)
{
    const int64_t base = x->start - x->start % GRAIN;
    const int64_t parts = (int64_t) x->view->processes * x->view->channels;
    const int64_t step = ((x->end - base - 1) / parts / GRAIN + 1) * GRAIN;

    *start = base + step * ((int64_t) process * x->view->channels + x->view->index);
    *end = *start + step < x->end ? *start + step : x->end;
    return *start < *end;
}

/* ---- who has what ---------------------------------------------------------------------------- */

static bool append(exchange_t *x, const mpix_endpoints_part_t *part)
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

/** All pieces of this process in the part that one process moves, in the order of the file. */
static int find_pieces_for(exchange_t *x, int process)
{
    mpix_endpoints_merge_t merge;
    mpix_endpoints_part_t part;
    int64_t start, end;
    int rc = OMPI_SUCCESS;

    if (!find_part(x, process, &start, &end)) {
        return OMPI_SUCCESS;
    }
    if (!mpix_endpoints_merge_begin(&merge, x->view->count, start, end)) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    for (int i = 0; i < x->view->count; ++i) {
        const mpix_endpoints_crewman_t *member = &x->view->members[i];

        mpix_endpoints_merge_add(&merge, member->pieces, member->count, i);
    }
    while (OMPI_SUCCESS == rc && mpix_endpoints_merge_next(&merge, &part)) {
        rc = append(x, &part) ? OMPI_SUCCESS : OMPI_ERR_OUT_OF_RESOURCE;
    }
    mpix_endpoints_merge_end(&merge);
    return rc;
}

/** Of all processes' parts.  Lists grow, and move in memory: so streams get theirs afterwards. */
static int find_pieces(exchange_t *x)
{
    mpix_endpoints_streams_t *streams = &x->streams;
    int rc = OMPI_SUCCESS;

    for (int process = 0; OMPI_SUCCESS == rc && process < streams->count; ++process) {
        const int64_t before = x->count;

        rc = find_pieces_for(x, process);
        if (process == streams->own) {
            x->own = before;
            x->own_end = x->count;
        } else {
            streams->away[process].at = before;
            streams->away[process].count = x->count - before;
        }
    }
    for (int process = 0; OMPI_SUCCESS == rc && process < streams->count; ++process) {
        mpix_endpoints_stream_t *away = &streams->away[process];

        away->pieces = NULL == x->pieces ? NULL : x->pieces + away->at;
        away->at = 0;
    }
    return rc;
}

/** What needs memory, and no messages. */
static int prepare(exchange_t *x, ompio_file_t *file)
{
    int rc = mpix_endpoints_streams_begin(&x->streams, file, x->view, x->extent->writes);

    if (OMPI_SUCCESS == rc) {
        rc = find_pieces(x);
    }
    return OMPI_SUCCESS == rc ? mpix_endpoints_streams_fold(&x->streams) : rc;
}

/* ---- moving ---------------------------------------------------------------------------------- */

/** All calls of the system until now: memory of chunks may be used anew. */
static void flush(exchange_t *x)
{
    int64_t file_end;

    mpix_endpoints_extent_flush(x->extent);
    file_end = MPI_SUCCESS == x->extent->error ? x->extent->file_end
                                               : 0; /* nothing has been read then */
    for (int i = 0; i < x->copies; ++i) {
        const copy_t *copy = &x->copy[i];
        const int64_t there = file_end - copy->offset;

        memcpy(copy->to, copy->from,
               0 > there                      ? 0
               : there < (int64_t) copy->bytes ? (size_t) there
                                               : copy->bytes);
    }
    x->copies = 0;
    x->last.bytes = 0; /* its memory may go */
    x->streams.file_end = file_end;
    x->used = 0;
    mpix_endpoints_streams_used_over(&x->streams);
}

/** A piece between file and memory.  What has been read for somebody else is copied. */
static void move_piece(exchange_t *x, int64_t offset, char *memory, size_t bytes)
{
    const int64_t into = offset - x->last.offset;

    if (!x->extent->writes && 0 <= into && into + (int64_t) bytes <= (int64_t) x->last.bytes) {
        x->copy[x->copies++] = (copy_t){offset, memory, x->last.memory + into, bytes};
        if (COPIES == x->copies) {
            flush(x);
        }
        return;
    }
    mpix_endpoints_extent_add(x->extent, offset, memory, bytes);
    x->last = (mpix_endpoints_part_t){.offset = offset, .memory = memory, .bytes = bytes};
}

/** A piece of another process, of which a part may be in one chunk and the rest in the next
 * ones. */
static void move_stream(exchange_t *x, mpix_endpoints_stream_t *stream,
                        const mpix_endpoints_part_t *part)
{
    const size_t end = (size_t) (intptr_t) part->memory + part->bytes;
    int64_t offset = part->offset;
    size_t place = (size_t) (intptr_t) part->memory, left;

    while (place < end) {
        char *memory = mpix_endpoints_streams_at(&x->streams, stream, place, &left);

        if (NULL == memory) {
            if (MPI_SUCCESS != x->streams.error) {
                return;
            }
            flush(x);
            continue;
        }
        if (left <= end - place) {
            ++stream->used;
            x->used += left;
        } else {
            left = end - place;
        }
        move_piece(x, offset, memory, left);
        place += left;
        offset += (int64_t) left;
        if (USED_MOST <= x->used) {
            flush(x);
        }
    }
}

/** This member's part of the file. */
static int move_part(exchange_t *x, mpix_endpoints_merge_t *merge)
{
    mpix_endpoints_streams_t *streams = &x->streams;
    mpix_endpoints_part_t part;

    for (int process = 0; process < streams->count; ++process) {
        if (process == streams->own) {
            mpix_endpoints_merge_add(merge, x->pieces + x->own, x->own_end - x->own, process);
        } else {
            mpix_endpoints_merge_add(merge, streams->here[process].pieces,
                                     streams->here[process].count, process);
        }
    }
    while (MPI_SUCCESS == streams->error && mpix_endpoints_merge_next(merge, &part)) {
        if (part.source == streams->own) {
            move_piece(x, part.offset, part.memory, part.bytes);
        } else {
            move_stream(x, &streams->here[part.source], &part);
        }
    }
    flush(x);
    return mpix_endpoints_streams_finish(streams);
}

/** In a channel.  All members meet twice. */
static int exchange(exchange_t *x, ompio_file_t *file)
{
    mpix_endpoints_merge_t merge = {.heap = NULL};
    int64_t start = 0, end = 0;
    int rc = mpix_endpoints_reduce_error(file->f_comm, prepare(x, file));

    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    rc = mpix_endpoints_streams_count(&x->streams);
    if (OMPI_SUCCESS == rc) {
        rc = mpix_endpoints_streams_room(&x->streams);
    }
    (void) find_part(x, x->view->process, &start, &end);
    if (OMPI_SUCCESS == rc
        && !mpix_endpoints_merge_begin(&merge, x->view->processes, start, end)) {
        rc = OMPI_ERR_OUT_OF_RESOURCE;
    }
    rc = mpix_endpoints_reduce_error(file->f_comm, rc);
    if (OMPI_SUCCESS == rc) {
        rc = mpix_endpoints_streams_tell(&x->streams, start, end);
        if (OMPI_SUCCESS == rc) {
            rc = move_part(x, &merge);
        } else {
            (void) mpix_endpoints_streams_finish(&x->streams);
        }
    }
    mpix_endpoints_merge_end(&merge);
    return rc;
}

int mpix_endpoints_exchange(ompio_file_t *file, const mpix_endpoints_crew_view_t *view,
                            mpix_endpoints_extent_t *extent, int64_t start, int64_t end)
{
    const bool is_in_channel = view->index < view->channels && start < end;
    exchange_t *x = is_in_channel ? calloc(1, sizeof(*x)) : NULL;
    int rc;

    if (NULL == x) {
        /* The others do not get so far as to wait for it. */
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
    rc = exchange(x, file);
    mpix_endpoints_streams_end(&x->streams);
    free(x->pieces);
    free(x);
    return rc;
}

#endif
