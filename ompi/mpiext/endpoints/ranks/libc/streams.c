/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A rank's stdin, stdout and stderr.  Each has a FILE of its own, with a buffer of its own, so what
 * several ranks print does not mix within a line:
 *
 *  - Buffering is what a process would have: by lines on a terminal, full otherwise, none for stderr.
 *  - A buffer that is full is written up to its last end of line.  The rest waits in `held` for the
 *    next write, for fflush or for the rank's end.
 *  - A pipe takes at most PIPE_BUF bytes as one piece, so no write to one is longer.
 *
 * The FILE is one of fopencookie, with descriptor 1 or 2 as its number.  stream_calls.c leads libc's
 * functions here.  A stream's fields are guarded by the lock of its FILE.
 *
 * With MPIX_RANKS_TAG=1 each line begins with the rank's number.
 *
 * Tests: ranks_stdio
 */

#define _GNU_SOURCE

#include "state.h"

#include <errno.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_all(int fd, const char *bytes, size_t count)
{
    while (count > 0) {
        /* Not write(): ours leads here for descriptors 1 and 2. */
        const ssize_t written = MPIX_RANKS_NEXT(write)(fd, bytes, count);

        if (written < 0) {
            if (EINTR == errno) {
                continue;
            }
            return false;
        }
        bytes += written;
        count -= (size_t) written;
    }
    return true;
}

/** How many of the bytes end with the last line that is complete. */
static size_t lines_in(const char *bytes, size_t count)
{
    const char *end = memrchr(bytes, '\n', count);

    return NULL == end ? 0 : (size_t) (end + 1 - bytes);
}

/** Write the bytes, to a pipe in pieces of whole lines as far as PIPE_BUF allows. */
static bool write_lines(const mpix_ranks_stream_t *stream, const char *bytes, size_t count)
{
    while (count > 0) {
        size_t piece = count;

        if (stream->is_fifo && count > PIPE_BUF) {
            piece = lines_in(bytes, PIPE_BUF);
            piece = 0 == piece ? PIPE_BUF : piece;
        }
        if (!write_all(stream->fd, bytes, piece)) {
            return false;
        }
        bytes += piece;
        count -= piece;
    }
    return true;
}

/** Write the first bytes of those that are held. */
static bool write_held(mpix_ranks_stream_t *stream, size_t count)
{
    const bool is_written = write_lines(stream, stream->held, count);

    stream->held_count -= count;
    memmove(stream->held, stream->held + count, stream->held_count);
    return is_written;
}

static bool streams_hold(mpix_ranks_stream_t *stream, const char *bytes, size_t count)
{
    bool is_written = true;

    while (count > 0) {
        size_t piece = sizeof(stream->held) - stream->held_count;

        piece = piece < count ? piece : count;
        memcpy(stream->held + stream->held_count, bytes, piece);
        stream->held_count += piece;
        bytes += piece;
        count -= piece;
        if (sizeof(stream->held) == stream->held_count) {
            const size_t lines = lines_in(stream->held, stream->held_count);

            is_written = write_held(stream, 0 == lines ? stream->held_count : lines) && is_written;
        }
    }
    return is_written;
}

static bool hold_tagged(mpix_ranks_stream_t *stream, const char *bytes, size_t count)
{
    bool is_written = true;

    while (count > 0) {
        const char *end = memchr(bytes, '\n', count);
        const size_t line = NULL == end ? count : (size_t) (end + 1 - bytes);

        if (!stream->is_in_line) {
            is_written = streams_hold(stream, stream->tag, strlen(stream->tag)) && is_written;
        }
        is_written = streams_hold(stream, bytes, line) && is_written;
        stream->is_in_line = NULL == end;
        bytes += line;
        count -= line;
    }
    return is_written;
}

/** Without tags.  A line whose beginning is held goes before the others, which need not be
 * copied. */
static bool put_plain(mpix_ranks_stream_t *stream, const char *bytes, size_t count)
{
    const char *end = 0 == stream->held_count ? NULL : memchr(bytes, '\n', count);
    size_t lines;
    bool is_written = true;

    if (0 != stream->held_count) {
        const size_t first = NULL == end ? count : (size_t) (end + 1 - bytes);

        is_written = streams_hold(stream, bytes, first);
        bytes += first;
        count -= first;
        if (NULL != end || !stream->is_full) {
            is_written = write_held(stream, stream->held_count) && is_written;
        }
    }
    lines = stream->is_full ? lines_in(bytes, count) : count;
    is_written = write_lines(stream, bytes, lines) && is_written;
    return streams_hold(stream, bytes + lines, count - lines) && is_written;
}

bool mpix_ranks_stream_put(mpix_ranks_stream_t *stream, const char *bytes, size_t count)
{
    size_t lines;
    bool is_written;

    if (stream->fd < 0) {
        errno = EBADF;
        return false;
    }
    if ('\0' == *stream->tag) {
        return put_plain(stream, bytes, count);
    }
    is_written = hold_tagged(stream, bytes, count);
    lines = lines_in(stream->held, stream->held_count);
    return (0 == lines || write_held(stream, lines)) && is_written;
}

void mpix_ranks_stream_release(mpix_ranks_stream_t *stream)
{
    if (stream->held_count > 0) {
        (void) write_held(stream, stream->held_count);
    }
}

static ssize_t on_write(void *cookie, const char *bytes, size_t count)
{
    return mpix_ranks_stream_put(cookie, bytes, count) ? (ssize_t) count : 0;
}

static ssize_t on_read(void *cookie, char *bytes, size_t count)
{
    (void) cookie;
    (void) bytes;
    (void) count;
    return 0; /* the end of the file */
}

mpix_ranks_stream_t *mpix_ranks_stream_of(const FILE *file)
{
    mpix_rank_t *rank = mpix_ranks_self;

    if (NULL == rank || NULL == file) {
        return NULL;
    }
    return rank->libc->out.file == file   ? &rank->libc->out
           : rank->libc->err.file == file ? &rank->libc->err
                                          : NULL;
}

/** A stream of fopencookie has no state for wide characters, and freopen crashes on it.  So it gets
 * that of a stream of fopen, which is not used otherwise.  Wide characters then go to the
 * descriptor by libc's own function, without on_write: without tags, and in pieces of a buffer. */
static bool wide_give(FILE *file)
{
    FILE *other = fopen("/dev/null", "w");

    if (NULL == other) {
        return false;
    }
    (void) close(other->_fileno);
    other->_fileno = -1;
    file->_wide_data = other->_wide_data;
    return true;
}

static void stream_begin(mpix_ranks_stream_t *stream, int fd, const char *tag)
{
    struct stat status;

    stream->fd = fd;
    stream->tag = tag;
    stream->is_fifo = 0 == fstat(fd, &status)
                      && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
    stream->file = fopencookie(stream, "w", (cookie_io_functions_t){.write = on_write});
    if (NULL == stream->file || !wide_give(stream->file)) {
        mpix_ranks_refuse("no memory for streams");
    }
    stream->file->_fileno = fd; /* what fileno gives */
    if (STDERR_FILENO == fd) {
        (void) MPIX_RANKS_NEXT(setvbuf)(stream->file, NULL, _IONBF, 0);
        return;
    }
    stream->is_full = !isatty(fd);
    (void) MPIX_RANKS_NEXT(setvbuf)(stream->file, stream->buffer,
                                    stream->is_full ? _IOFBF : _IOLBF,
                                    stream->is_full ? sizeof(stream->buffer) : 1024);
}

static void variable_set(mpix_rank_t *rank, mpix_ranks_libc_variable_t *variable, const char *name,
                         FILE *file)
{
    FILE **at = variable(rank, name);

    if (NULL != at) {
        *at = file;
    }
}

/** The launcher gives its input to the rank with number 0, all others find its end. */
void mpix_ranks_streams_begin(mpix_rank_t *rank, mpix_ranks_libc_variable_t *variable)
{
    struct mpix_rank_libc_t *libc = rank->libc;
    static const char *tag; /* asked for once: ranks' environments do not have it */

    if (NULL == tag) {
        tag = getenv("MPIX_RANKS_TAG");
        tag = NULL == tag ? "" : tag;
    }
    if (0 == strcmp(tag, "1")) {
        (void) snprintf(libc->tag, sizeof(libc->tag), "[%d] ", rank->number);
    }
    stream_begin(&libc->out, STDOUT_FILENO, libc->tag);
    stream_begin(&libc->err, STDERR_FILENO, libc->tag);
    libc->in = &_IO_2_1_stdin_;
    if (0 != rank->number) {
        libc->in = fopencookie(NULL, "r", (cookie_io_functions_t){.read = on_read});
        if (NULL == libc->in || !wide_give(libc->in)) {
            mpix_ranks_refuse("no memory for streams");
        }
        libc->in->_fileno = STDIN_FILENO;
    }
    if (0 != rank->index) { /* that of 0 is libc's, which other ranks read, too */
        variable_set(rank, variable, "stdin", libc->in);
        variable_set(rank, variable, "stdout", libc->out.file);
        variable_set(rank, variable, "stderr", libc->err.file);
    }
}

static void stream_flush(mpix_ranks_stream_t *stream)
{
    MPIX_RANKS_NEXT(flockfile)(stream->file);
    (void) MPIX_RANKS_NEXT(fflush)(stream->file);
    mpix_ranks_stream_release(stream);
    MPIX_RANKS_NEXT(funlockfile)(stream->file);
}

/* glibc's list of all streams, and the lock that opening and closing one take.  Exported, not
 * declared. */
extern void _IO_list_lock(void) __attribute__((weak));
extern void _IO_list_unlock(void) __attribute__((weak));
extern void *_IO_iter_begin(void) __attribute__((weak));
extern void *_IO_iter_end(void) __attribute__((weak));
extern void *_IO_iter_next(void *) __attribute__((weak));
extern FILE *_IO_iter_file(void *) __attribute__((weak));

/* libc's fflush(NULL) waits for the lock of each stream with the list's lock held, and for as long
 * as a rank reads from a terminal or a pipe; and freopen takes the two the other way round. */
int mpix_ranks_streams_flush_all(void)
{
    int rc = 0;

    if (NULL == _IO_list_lock || NULL == _IO_list_unlock || NULL == _IO_iter_begin
        || NULL == _IO_iter_end || NULL == _IO_iter_next || NULL == _IO_iter_file) {
        return MPIX_RANKS_NEXT(fflush)(NULL);
    }
    _IO_list_lock();
    for (void *i = _IO_iter_begin(); _IO_iter_end() != i; i = _IO_iter_next(i)) {
        FILE *file = _IO_iter_file(i);

        if (0 == MPIX_RANKS_NEXT(ftrylockfile)(file)) {
            /* Of a stream that is read it would change the position in the file. */
            if (0 < MPIX_RANKS_NEXT(__fpending)(file)
                && 0 != MPIX_RANKS_NEXT(fflush_unlocked)(file)) {
                rc = EOF;
            }
            MPIX_RANKS_NEXT(funlockfile)(file);
        }
    }
    _IO_list_unlock();
    return rc;
}

void mpix_ranks_streams_flush(mpix_rank_t *rank)
{
    stream_flush(&rank->libc->out);
    stream_flush(&rank->libc->err);
}

void mpix_ranks_streams_drop(mpix_rank_t *rank)
{
    MPIX_RANKS_NEXT(flockfile)(rank->libc->out.file);
    MPIX_RANKS_NEXT(__fpurge)(rank->libc->out.file);
    rank->libc->out.held_count = 0;
    MPIX_RANKS_NEXT(funlockfile)(rank->libc->out.file);
}
