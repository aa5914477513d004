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
 * Runs: pieces of memory, of whichever thread, that lie one behind the other in a file.
 *
 * The system moves less than 2 GiB at once, and less than asked for on a disk that fills up: the
 * rest is moved, too, or there is an error.  Between pieces that are near to each other it is
 * cheaper to read what lies there than to begin another call.
 *
 * Tests: file_blocks
 */

#include "ompi_config.h"

#include "mpiext_endpoints_extents.h"
#include "mpiext_endpoints_io_error.h"
#include "mpiext_endpoints_locks.h"

#if MPIX_ENDPOINTS_FILES

#    include <errno.h>
#    include <stdlib.h>
#    include <string.h>
#    include <unistd.h>

/** Most bytes of a run. */
#    define RUN_MOST ((int64_t) 1 << 30)

bool mpix_endpoints_run_can_be(const ompio_file_t *file)
{
    const mca_base_component_t *component = file->f_fbtl_component;

    return NULL != component && 0 == strcmp("posix", component->mca_component_name);
}

bool mpix_endpoints_run_locks(const ompio_file_t *file, bool is_on_node)
{
    return 0 != (file->f_flags & OMPIO_LOCK_ENTIRE_FILE) || !is_on_node;
}

void mpix_endpoints_run_begin(mpix_endpoints_run_t *run, ompio_file_t *file, bool writes,
                              bool locks)
{
    run->file = file;
    run->writes = writes;
    run->locks = locks;
    run->error = MPI_SUCCESS;
    run->file_end = INT64_MAX;
    run->bytes = 0;
    run->count = 0;
    run->gap = NULL;
}

/** What has been moved is no more part of the run.  @return the first piece that is */
static struct iovec *drop(struct iovec *piece, size_t bytes)
{
    while (0 < bytes && bytes >= piece->iov_len) {
        bytes -= piece->iov_len;
        ++piece;
    }
    if (0 < bytes) {
        piece->iov_base = (char *) piece->iov_base + bytes;
        piece->iov_len -= bytes;
    }
    return piece;
}

/** A single piece is less work for the system if it is told so. */
static ssize_t call(const mpix_endpoints_run_t *run, const struct iovec *pieces, int count,
                    int64_t offset)
{
    const int fd = run->file->fd;

    if (1 == count) {
        return run->writes ? pwrite(fd, pieces->iov_base, pieces->iov_len, offset)
                           : pread(fd, pieces->iov_base, pieces->iov_len, offset);
    }
    return run->writes ? pwritev(fd, pieces, count, offset) : preadv(fd, pieces, count, offset);
}

/** @return MPI_SUCCESS or an MPI class */
static int move(mpix_endpoints_run_t *run)
{
    struct iovec *piece = run->pieces, *const end = piece + run->count;
    int64_t offset = run->start;

    while (piece < end) {
        const ssize_t done = call(run, piece, (int) (end - piece), offset);

        if (0 > done && EINTR == errno) {
            continue;
        }
        if (0 > done) {
            return mpix_endpoints_reasons_class(errno);
        }
        if (0 == done) {
            if (run->writes) {
                return MPI_ERR_IO;
            }
            run->file_end = offset < run->file_end ? offset : run->file_end;
            break;
        }
        piece = drop(piece, (size_t) done);
        offset += done;
    }
    return MPI_SUCCESS;
}

static void move_and_clear(mpix_endpoints_run_t *run)
{
    struct flock lock;
    int depth = 0;

    if (0 == run->count) {
        return;
    }
    if (run->locks
        && 0
               != mpix_endpoints_files_lock(&lock, run->file, run->writes ? F_WRLCK : F_RDLCK,
                                            run->start, (off_t) run->bytes, OMPIO_LOCK_SELECTIVE,
                                            &depth)) {
        run->error = MPI_ERR_IO;
    } else {
        run->error = move(run);
    }
    if (run->locks) {
        mpix_endpoints_files_unlock(&lock, run->file, &depth);
    }
    run->count = 0;
    run->bytes = 0;
}

static void append(mpix_endpoints_run_t *run, char *memory, size_t bytes)
{
    struct iovec *last = 0 < run->count ? &run->pieces[run->count - 1] : NULL;

    if (NULL != last && (char *) last->iov_base + last->iov_len == memory) {
        last->iov_len += bytes;
    } else {
        run->pieces[run->count++] = (struct iovec){.iov_base = memory, .iov_len = bytes};
    }
    run->bytes += (int64_t) bytes;
}

/** Is the gap before offset one to be read over?  Then it is a piece, too. */
static bool bridge(mpix_endpoints_run_t *run, int64_t offset)
{
    const int64_t gap = offset - (run->start + run->bytes);

    if (run->writes || 0 > gap || MPIX_ENDPOINTS_RUN_GAP < gap
        || MPIX_ENDPOINTS_RUN_PIECES - 1 <= run->count) {
        return false;
    }
    if (NULL == run->gap && NULL == (run->gap = malloc(MPIX_ENDPOINTS_RUN_GAP))) {
        return false;
    }
    append(run, run->gap, (size_t) gap);
    return true;
}

void mpix_endpoints_run_add(mpix_endpoints_run_t *run, int64_t offset, char *memory, size_t bytes)
{
    while (0 < bytes && MPI_SUCCESS == run->error) {
        const size_t now = bytes < (size_t) RUN_MOST ? bytes : (size_t) RUN_MOST;

        if (0 < run->count
            && (MPIX_ENDPOINTS_RUN_PIECES == run->count
                || RUN_MOST < run->bytes + MPIX_ENDPOINTS_RUN_GAP + (int64_t) now
                || (run->start + run->bytes != offset && !bridge(run, offset)))) {
            move_and_clear(run);
            continue; /* unless that has failed */
        }
        run->start = 0 == run->count ? offset : run->start;
        append(run, memory, now);
        offset += (int64_t) now;
        memory += now;
        bytes -= now;
    }
}

void mpix_endpoints_run_flush(mpix_endpoints_run_t *run)
{
    if (MPI_SUCCESS == run->error) {
        move_and_clear(run);
    }
}

int mpix_endpoints_run_end(mpix_endpoints_run_t *run)
{
    mpix_endpoints_run_flush(run);
    free(run->gap);
    return run->error;
}

size_t mpix_endpoints_run_count(const mca_common_ompio_io_array_t *pieces, int count,
                                int64_t file_end)
{
    size_t bytes = 0;

    for (int i = 0; i < count; ++i) {
        const int64_t left = file_end - (int64_t) (intptr_t) pieces[i].offset;
        const size_t length = pieces[i].length;

        bytes += 0 >= left ? 0 : left < (int64_t) length ? (size_t) left : length;
    }
    return bytes;
}

#endif
