/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * libc's functions of streams, where they are about stdin, stdout or stderr: a rank's are its own
 * (streams.c).  In a thread of no rank, and for any other stream, they hand on.
 *
 * Each function is defined under a name of its own and carries libc's as its symbol, so headers, which
 * turn some of these names into others or into macros, do not matter.
 *
 * Tests: ranks_stdio
 */

#define _GNU_SOURCE

#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#define CALLED(name, type, parameters)                           \
    MPIX_RANKS_EXPORT type own_##name parameters __asm__(#name); \
    type own_##name parameters

/* libc's function of that name. */
#define LIBCS(name, type, parameters) MPIX_RANKS_NEXT_AS(name, type(*) parameters)

/* With the stream f among the parameters. */
#define STREAM(name, type, parameters, arguments)       \
    CALLED(name, type, parameters)                      \
    {                                                   \
        f = mpix_ranks_stream_own(f);                   \
        return LIBCS(name, type, parameters) arguments; \
    }

/* With none: libc's function with one, in its place. */
#define IMPLICIT(name, type, parameters, stream, with, with_parameters, with_arguments) \
    CALLED(name, type, parameters)                                                      \
    {                                                                                   \
        FILE *f = mpix_ranks_stream_own(stream);                                        \
        return LIBCS(with, type, with_parameters) with_arguments;                       \
    }

/* With further arguments, by the function that takes a list of them. */
#define VARIADIC(name, type, parameters, last, stream, with, with_parameters, with_arguments) \
    CALLED(name, type, parameters)                                                            \
    {                                                                                         \
        FILE *f_ = mpix_ranks_stream_own(stream);                                             \
        va_list list;                                                                         \
        type result;                                                                          \
        va_start(list, last);                                                                 \
        result = LIBCS(with, type, with_parameters) with_arguments;                           \
        va_end(list);                                                                         \
        return result;                                                                        \
    }

/* Bytes. */
STREAM(fputc, int, (int c, FILE *f), (c, f))
STREAM(putc, int, (int c, FILE *f), (c, f))
STREAM(_IO_putc, int, (int c, FILE *f), (c, f))
STREAM(fputc_unlocked, int, (int c, FILE *f), (c, f))
STREAM(putc_unlocked, int, (int c, FILE *f), (c, f))
STREAM(__overflow, int, (FILE * f, int c), (f, c))
STREAM(putw, int, (int w, FILE *f), (w, f))
STREAM(fputs, int, (const char *s, FILE *f), (s, f))
STREAM(fputs_unlocked, int, (const char *s, FILE *f), (s, f))
STREAM(fwrite, size_t, (const void *p, size_t s, size_t n, FILE *f), (p, s, n, f))
STREAM(fwrite_unlocked, size_t, (const void *p, size_t s, size_t n, FILE *f), (p, s, n, f))
IMPLICIT(putchar, int, (int c), stdout, putc, (int, FILE *), (c, f))
IMPLICIT(putchar_unlocked, int, (int c), stdout, putc_unlocked, (int, FILE *), (c, f))

/** A line of usual length is put together first: one call of libc's instead of several under a
 * lock. */
CALLED(puts, int, (const char *s))
{
    const size_t length = strlen(s);
    char line[256];
    FILE *f;
    bool is_written;

    if (NULL == mpix_ranks_self) {
        return LIBCS(puts, int, (const char *) )(s);
    }
    f = mpix_ranks_stream_own(stdout);
    if (length < sizeof(line)) {
        *(char *) mempcpy(line, s, length) = '\n';
        return length + 1 == fwrite(line, 1, length + 1, f) ? 1 : EOF;
    }
    flockfile(f);
    is_written = length == fwrite(s, 1, length, f) && EOF != putc('\n', f);
    funlockfile(f);
    return is_written ? 1 : EOF;
}

/* Formats. */
STREAM(vfprintf, int, (FILE * f, const char *s, va_list a), (f, s, a))
STREAM(__vfprintf_chk, int, (FILE * f, int k, const char *s, va_list a), (f, k, s, a))
IMPLICIT(vprintf, int, (const char *s, va_list a), stdout, vfprintf,
         (FILE *, const char *, va_list), (f, s, a))
IMPLICIT(__vprintf_chk, int, (int k, const char *s, va_list a), stdout, __vfprintf_chk,
         (FILE *, int, const char *, va_list), (f, k, s, a))
VARIADIC(printf, int, (const char *s, ...), s, stdout, vfprintf, (FILE *, const char *, va_list),
         (f_, s, list))
VARIADIC(_IO_printf, int, (const char *s, ...), s, stdout, vfprintf,
         (FILE *, const char *, va_list), (f_, s, list))
VARIADIC(fprintf, int, (FILE * f, const char *s, ...), s, f, vfprintf,
         (FILE *, const char *, va_list), (f_, s, list))
VARIADIC(__printf_chk, int, (int k, const char *s, ...), s, stdout, __vfprintf_chk,
         (FILE *, int, const char *, va_list), (f_, k, s, list))
VARIADIC(__fprintf_chk, int, (FILE * f, int k, const char *s, ...), s, f, __vfprintf_chk,
         (FILE *, int, const char *, va_list), (f_, k, s, list))

/* Wide characters. */
STREAM(fputwc, wint_t, (wchar_t c, FILE *f), (c, f))
STREAM(putwc, wint_t, (wchar_t c, FILE *f), (c, f))
STREAM(fputwc_unlocked, wint_t, (wchar_t c, FILE *f), (c, f))
STREAM(putwc_unlocked, wint_t, (wchar_t c, FILE *f), (c, f))
STREAM(fputws, int, (const wchar_t *s, FILE *f), (s, f))
STREAM(fputws_unlocked, int, (const wchar_t *s, FILE *f), (s, f))
STREAM(fwide, int, (FILE * f, int mode), (f, mode))
IMPLICIT(putwchar, wint_t, (wchar_t c), stdout, putwc, (wchar_t, FILE *), (c, f))
IMPLICIT(putwchar_unlocked, wint_t, (wchar_t c), stdout, putwc_unlocked, (wchar_t, FILE *), (c, f))
STREAM(vfwprintf, int, (FILE * f, const wchar_t *s, va_list a), (f, s, a))
STREAM(__vfwprintf_chk, int, (FILE * f, int k, const wchar_t *s, va_list a), (f, k, s, a))
IMPLICIT(vwprintf, int, (const wchar_t *s, va_list a), stdout, vfwprintf,
         (FILE *, const wchar_t *, va_list), (f, s, a))
IMPLICIT(__vwprintf_chk, int, (int k, const wchar_t *s, va_list a), stdout, __vfwprintf_chk,
         (FILE *, int, const wchar_t *, va_list), (f, k, s, a))
VARIADIC(wprintf, int, (const wchar_t *s, ...), s, stdout, vfwprintf,
         (FILE *, const wchar_t *, va_list), (f_, s, list))
VARIADIC(fwprintf, int, (FILE * f, const wchar_t *s, ...), s, f, vfwprintf,
         (FILE *, const wchar_t *, va_list), (f_, s, list))
VARIADIC(__wprintf_chk, int, (int k, const wchar_t *s, ...), s, stdout, __vfwprintf_chk,
         (FILE *, int, const wchar_t *, va_list), (f_, k, s, list))
VARIADIC(__fwprintf_chk, int, (FILE * f, int k, const wchar_t *s, ...), s, f, __vfwprintf_chk,
         (FILE *, int, const wchar_t *, va_list), (f_, k, s, list))

/* Input. */
STREAM(fgetc, int, (FILE * f), (f))
STREAM(getc, int, (FILE * f), (f))
STREAM(_IO_getc, int, (FILE * f), (f))
STREAM(fgetc_unlocked, int, (FILE * f), (f))
STREAM(getc_unlocked, int, (FILE * f), (f))
STREAM(__uflow, int, (FILE * f), (f))
STREAM(getw, int, (FILE * f), (f))
STREAM(ungetc, int, (int c, FILE *f), (c, f))
STREAM(fgets, char *, (char *s, int n, FILE *f), (s, n, f))
STREAM(fgets_unlocked, char *, (char *s, int n, FILE *f), (s, n, f))
STREAM(__fgets_chk, char *, (char *s, size_t o, int n, FILE *f), (s, o, n, f))
STREAM(__fgets_unlocked_chk, char *, (char *s, size_t o, int n, FILE *f), (s, o, n, f))
STREAM(fread, size_t, (void *p, size_t s, size_t n, FILE *f), (p, s, n, f))
STREAM(fread_unlocked, size_t, (void *p, size_t s, size_t n, FILE *f), (p, s, n, f))
STREAM(__fread_chk, size_t, (void *p, size_t o, size_t s, size_t n, FILE *f), (p, o, s, n, f))
STREAM(__fread_unlocked_chk, size_t, (void *p, size_t o, size_t s, size_t n, FILE *f),
       (p, o, s, n, f))
STREAM(getline, ssize_t, (char **s, size_t *n, FILE *f), (s, n, f))
STREAM(getdelim, ssize_t, (char **s, size_t *n, int c, FILE *f), (s, n, c, f))
STREAM(__getdelim, ssize_t, (char **s, size_t *n, int c, FILE *f), (s, n, c, f))
STREAM(fgetwc, wint_t, (FILE * f), (f))
STREAM(getwc, wint_t, (FILE * f), (f))
STREAM(ungetwc, wint_t, (wint_t c, FILE *f), (c, f))
STREAM(fgetws, wchar_t *, (wchar_t * s, int n, FILE *f), (s, n, f))
IMPLICIT(getchar, int, (void), stdin, getc, (FILE *), (f))
IMPLICIT(getchar_unlocked, int, (void), stdin, getc_unlocked, (FILE *), (f))
IMPLICIT(getwchar, wint_t, (void), stdin, getwc, (FILE *), (f))

/* One set for each edition of C whose rules a program's formats follow. */
#define SCAN(prefix)                                                                     \
    STREAM(prefix##vfscanf, int, (FILE * f, const char *s, va_list a), (f, s, a))        \
    IMPLICIT(prefix##vscanf, int, (const char *s, va_list a), stdin, prefix##vfscanf,    \
             (FILE *, const char *, va_list), (f, s, a))                                 \
    VARIADIC(prefix##scanf, int, (const char *s, ...), s, stdin, prefix##vfscanf,        \
             (FILE *, const char *, va_list), (f_, s, list))                             \
    VARIADIC(prefix##fscanf, int, (FILE * f, const char *s, ...), s, f, prefix##vfscanf, \
             (FILE *, const char *, va_list), (f_, s, list))
SCAN()
SCAN(__isoc99_)
SCAN(__isoc23_)

/* State. */
STREAM(fileno, int, (FILE * f), (f))
STREAM(fileno_unlocked, int, (FILE * f), (f))
STREAM(ferror, int, (FILE * f), (f))
STREAM(ferror_unlocked, int, (FILE * f), (f))
STREAM(feof, int, (FILE * f), (f))
STREAM(feof_unlocked, int, (FILE * f), (f))
STREAM(flockfile, void, (FILE * f), (f))
STREAM(ftrylockfile, int, (FILE * f), (f))
STREAM(funlockfile, void, (FILE * f), (f))
STREAM(clearerr, void, (FILE * f), (f))
STREAM(clearerr_unlocked, void, (FILE * f), (f))
STREAM(ftell, long, (FILE * f), (f))
STREAM(ftello, off_t, (FILE * f), (f))
STREAM(ftello64, off_t, (FILE * f), (f))
STREAM(fseek, int, (FILE * f, long o, int w), (f, o, w))
STREAM(fseeko, int, (FILE * f, off_t o, int w), (f, o, w))
STREAM(fseeko64, int, (FILE * f, off_t o, int w), (f, o, w))
STREAM(rewind, void, (FILE * f), (f))
STREAM(__fpending, size_t, (FILE * f), (f))
STREAM(__fbufsize, size_t, (FILE * f), (f))
STREAM(__flbf, int, (FILE * f), (f))
STREAM(__fpurge, void, (FILE * f), (f))
STREAM(__fsetlocking, int, (FILE * f, int type), (f, type))

/* Buffers: whether a line's beginning may wait. */
CALLED(setvbuf, int, (FILE * f, char *buffer, int mode, size_t size))
{
    mpix_ranks_stream_t *stream;
    int rc;

    f = mpix_ranks_stream_own(f);
    stream = mpix_ranks_stream_of(f);
    rc = LIBCS(setvbuf, int, (FILE *, char *, int, size_t))(f, buffer, mode, size);
    if (NULL != stream && 0 == rc) {
        flockfile(f);
        stream->is_full = _IOFBF == mode;
        if (!stream->is_full) {
            mpix_ranks_stream_release(stream);
        }
        funlockfile(f);
    }
    return rc;
}

CALLED(setbuffer, void, (FILE * f, char *buffer, size_t size))
{
    (void) own_setvbuf(f, buffer, NULL == buffer ? _IONBF : _IOFBF, size);
}

CALLED(setbuf, void, (FILE * f, char *buffer))
{
    (void) own_setvbuf(f, buffer, NULL == buffer ? _IONBF : _IOFBF, BUFSIZ);
}

CALLED(setlinebuf, void, (FILE * f))
{
    (void) own_setvbuf(f, NULL, _IOLBF, 0);
}

/** NULL: all streams of the process that no thread uses, among them other ranks' files. */
CALLED(fflush, int, (FILE * f))
{
    int rc;

    if (NULL == mpix_ranks_self) {
        return LIBCS(fflush, int, (FILE *) )(f);
    }
    if (NULL == f) {
        rc = mpix_ranks_streams_flush_all();
        mpix_ranks_streams_flush(mpix_ranks_self);
        return rc;
    }
    f = mpix_ranks_stream_own(f);
    rc = LIBCS(fflush, int, (FILE *) )(f);
    if (NULL != mpix_ranks_stream_of(f)) {
        flockfile(f);
        mpix_ranks_stream_release(mpix_ranks_stream_of(f));
        funlockfile(f);
    }
    return rc;
}

CALLED(fflush_unlocked, int, (FILE * f))
{
    return own_fflush(f);
}

/** A rank's stream gets a descriptor of its own, and 1 or 2 stays what it is for the others. */
static FILE *stream_calls_reopen(FILE *libcs(const char *, const char *, FILE *), const char *path,
                                 const char *mode, FILE *f)
{
    mpix_ranks_stream_t *stream;

    f = mpix_ranks_stream_own(f);
    stream = mpix_ranks_stream_of(f);
    if (NULL != stream && !stream->is_reopened) {
        (void) own_fflush(f);
        f->_fileno = fcntl(stream->fd, F_DUPFD, STDERR_FILENO + 1);
        stream->is_reopened = true;
        stream->is_full = false;
    } else if (NULL != mpix_ranks_self && mpix_ranks_self->libc->in == f
               && STDIN_FILENO == f->_fileno && 0 != mpix_ranks_self->number) {
        f->_fileno = fcntl(STDIN_FILENO, F_DUPFD, STDERR_FILENO + 1);
    }
    return libcs(path, mode, f);
}

CALLED(freopen, FILE *, (const char *path, const char *mode, FILE *f))
{
    return stream_calls_reopen(LIBCS(freopen, FILE *, (const char *, const char *, FILE *) ), path,
                               mode, f);
}

CALLED(freopen64, FILE *, (const char *path, const char *mode, FILE *f))
{
    return stream_calls_reopen(LIBCS(freopen64, FILE *, (const char *, const char *, FILE *) ),
                               path, mode, f);
}

/** Of a rank's stream: it takes nothing more, and descriptor 1 or 2 stays open for the others. */
CALLED(fclose, int, (FILE * f))
{
    mpix_ranks_stream_t *stream;
    int rc;

    f = mpix_ranks_stream_own(f);
    stream = mpix_ranks_stream_of(f);
    if (NULL == stream) {
        if (NULL != mpix_ranks_self && mpix_ranks_self->libc->in == f) {
            return 0;
        }
        return LIBCS(fclose, int, (FILE *) )(f);
    }
    rc = own_fflush(f);
    if (stream->is_reopened && f->_fileno >= 0) {
        (void) close(f->_fileno);
    }
    f->_fileno = -1;
    stream->fd = -1;
    return rc;
}

/** As libc's: the text of errno, by one write. */
CALLED(perror, void, (const char *s))
{
    const int error = errno;
    char text[256];

    if (NULL == mpix_ranks_self) {
        LIBCS(perror, void, (const char *) )(s);
        return;
    }
    (void) fprintf(stderr, "%s%s%s\n", NULL == s ? "" : s, NULL == s || '\0' == *s ? "" : ": ",
                   strerror_r(error, text, sizeof(text)));
    errno = error;
}

/** Without FILE, as libgfortran's units: with tags, lines are cut out of it. */
CALLED(write, ssize_t, (int fd, const void *bytes, size_t count))
{
    mpix_rank_t *rank = mpix_ranks_self;
    mpix_ranks_stream_t *stream;
    bool is_written;

    if (NULL == rank || (STDOUT_FILENO != fd && STDERR_FILENO != fd)
        || '\0' == rank->libc->tag[0]) {
        return LIBCS(write, ssize_t, (int, const void *, size_t))(fd, bytes, count);
    }
    stream = STDOUT_FILENO == fd ? &rank->libc->out : &rank->libc->err;
    if (stream->fd != fd) {
        return LIBCS(write, ssize_t, (int, const void *, size_t))(fd, bytes, count);
    }
    flockfile(stream->file);
    is_written = mpix_ranks_stream_put(stream, bytes, count);
    funlockfile(stream->file);
    return is_written ? (ssize_t) count : -1;
}
