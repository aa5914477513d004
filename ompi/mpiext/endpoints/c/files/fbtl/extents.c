/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Coalesced extents: pieces of memory, of any thread of the process, that are adjacent in a file.
 *
 * The system moves less than 2 GiB at once, and less than asked for on a disk that is nearly full:
 * the rest is moved by another call, or there is an error.  Reading a short gap between two pieces
 * is cheaper than another call.
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

/** Most bytes of an extent. */
#    define EXTENT_MOST ((int64_t) 1 << 30)

bool mpix_endpoints_extent_is_supported(const ompio_file_t *file)
{
    const mca_base_component_t *component = file->f_fbtl_component;

    return NULL != component && 0 == strcmp("posix", component->mca_component_name);
}

bool mpix_endpoints_extent_needs_locks(const ompio_file_t *file, bool is_on_node)
{
    return 0 != (file->f_flags & OMPIO_LOCK_ENTIRE_FILE) || !is_on_node;
}

void mpix_endpoints_extent_begin(mpix_endpoints_extent_t *extent, ompio_file_t *file, bool writes,
                                 bool locks)
{
    extent->file = file;
    extent->writes = writes;
    extent->locks = locks;
    extent->error = MPI_SUCCESS;
    extent->file_end = INT64_MAX;
    extent->bytes = 0;
    extent->count = 0;
    extent->gap = NULL;
}

/** What has been moved is no more part of the extent.  @return the first piece that is */
static struct iovec *extent_drop(struct iovec *piece, size_t bytes)
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

/** One call of the system.  A call for a single piece is cheaper. */
static ssize_t extent_call(const mpix_endpoints_extent_t *extent, const struct iovec *pieces,
                           int count, int64_t offset)
{
    const int fd = extent->file->fd;

    if (1 == count) {
        return extent->writes ? pwrite(fd, pieces->iov_base, pieces->iov_len, offset)
                              : pread(fd, pieces->iov_base, pieces->iov_len, offset);
    }
    return extent->writes ? pwritev(fd, pieces, count, offset) : preadv(fd, pieces, count, offset);
}

/** @return MPI_SUCCESS or an MPI class */
static int extent_move(mpix_endpoints_extent_t *extent)
{
    struct iovec *piece = extent->pieces, *const end = piece + extent->count;
    int64_t offset = extent->start;

    while (piece < end) {
        const ssize_t done = extent_call(extent, piece, (int) (end - piece), offset);

        if (0 > done && EINTR == errno) {
            continue;
        }
        if (0 > done) {
            return mpix_endpoints_io_error_class(errno);
        }
        if (0 == done) {
            if (extent->writes) {
                return MPI_ERR_IO;
            }
            extent->file_end = offset < extent->file_end ? offset : extent->file_end;
            break;
        }
        piece = extent_drop(piece, (size_t) done);
        offset += done;
    }
    return MPI_SUCCESS;
}

static void extent_move_and_clear(mpix_endpoints_extent_t *extent)
{
    struct flock lock;
    int depth = 0;

    if (0 == extent->count) {
        return;
    }
    if (extent->locks
        && 0
               != mpix_endpoints_lock(&lock, extent->file, extent->writes ? F_WRLCK : F_RDLCK,
                                      extent->start, (off_t) extent->bytes, OMPIO_LOCK_SELECTIVE,
                                      &depth)) {
        extent->error = MPI_ERR_IO;
    } else {
        extent->error = extent_move(extent);
    }
    if (extent->locks) {
        mpix_endpoints_unlock(&lock, extent->file, &depth);
    }
    extent->count = 0;
    extent->bytes = 0;
}

static void extent_append(mpix_endpoints_extent_t *extent, char *memory, size_t bytes)
{
    struct iovec *last = 0 < extent->count ? &extent->pieces[extent->count - 1] : NULL;

    if (NULL != last && (char *) last->iov_base + last->iov_len == memory) {
        last->iov_len += bytes;
    } else {
        extent->pieces[extent->count++] = (struct iovec){.iov_base = memory, .iov_len = bytes};
    }
    extent->bytes += (int64_t) bytes;
}

/** Read over the gap before offset, as a piece, if it is short.  @return has it been added? */
static bool extent_bridge(mpix_endpoints_extent_t *extent, int64_t offset)
{
    const int64_t gap = offset - (extent->start + extent->bytes);

    if (extent->writes || 0 > gap || MPIX_ENDPOINTS_EXTENT_GAP < gap
        || MPIX_ENDPOINTS_EXTENT_PIECES - 1 <= extent->count) {
        return false;
    }
    if (NULL == extent->gap && NULL == (extent->gap = malloc(MPIX_ENDPOINTS_EXTENT_GAP))) {
        return false;
    }
    extent_append(extent, extent->gap, (size_t) gap);
    return true;
}

void mpix_endpoints_extent_add(mpix_endpoints_extent_t *extent, int64_t offset, char *memory,
                               size_t bytes)
{
    while (0 < bytes && MPI_SUCCESS == extent->error) {
        const size_t now = bytes < (size_t) EXTENT_MOST ? bytes : (size_t) EXTENT_MOST;

        if (0 < extent->count
            && (MPIX_ENDPOINTS_EXTENT_PIECES == extent->count
                || EXTENT_MOST < extent->bytes + MPIX_ENDPOINTS_EXTENT_GAP + (int64_t) now
                || (extent->start + extent->bytes != offset && !extent_bridge(extent, offset)))) {
            extent_move_and_clear(extent);
            continue; /* unless that has failed */
        }
        extent->start = 0 == extent->count ? offset : extent->start;
        extent_append(extent, memory, now);
        offset += (int64_t) now;
        memory += now;
        bytes -= now;
    }
}

void mpix_endpoints_extent_flush(mpix_endpoints_extent_t *extent)
{
    if (MPI_SUCCESS == extent->error) {
        extent_move_and_clear(extent);
    }
}

int mpix_endpoints_extent_end(mpix_endpoints_extent_t *extent)
{
    mpix_endpoints_extent_flush(extent);
    free(extent->gap);
    return extent->error;
}

size_t mpix_endpoints_extent_count(const mca_common_ompio_io_array_t *pieces, int count,
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
