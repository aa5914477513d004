/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Functions of libc that write a message and may end the program: libc's call its own exit, which
 * would end the process without a word of the rank.  Each message is one write to the rank's stderr.
 *
 * Tests: ranks_stdio, ranks_exit
 */

#define _GNU_SOURCE

#include "state.h"

#include <assert.h>
#include <err.h>
#include <errno.h>
#include <error.h>
#include <stdarg.h>
#include <string.h>

/** "PREFIX: MESSAGE: text of the error", where there is a message, an error. */
static void err_calls_message(const char *prefix, int error, const char *format, va_list list)
{
    char *text = NULL;
    char of_error[256] = "";

    if (NULL != format && vasprintf(&text, format, list) < 0) {
        text = NULL;
    }
    (void) fprintf(stderr, "%s: %s%s%s\n", prefix, NULL == text ? "" : text,
                   NULL == text || 0 == error ? "" : ": ",
                   0 == error ? "" : strerror_r(error, of_error, sizeof(of_error)));
    free(text);
}

#define MESSAGE(error)                                                     \
    va_list list;                                                          \
    va_start(list, format);                                                \
    err_calls_message(program_invocation_short_name, error, format, list); \
    va_end(list)

MPIX_RANKS_EXPORT void warn(const char *format, ...)
{
    const int before = errno;
    MESSAGE(before);
    errno = before;
}

MPIX_RANKS_EXPORT void warnx(const char *format, ...)
{
    MESSAGE(0);
}

MPIX_RANKS_EXPORT void err(int status, const char *format, ...)
{
    MESSAGE(errno);
    exit(status);
}

MPIX_RANKS_EXPORT void errx(int status, const char *format, ...)
{
    MESSAGE(0);
    exit(status);
}

MPIX_RANKS_EXPORT void vwarn(const char *format, va_list list)
{
    const int before = errno;

    err_calls_message(program_invocation_short_name, before, format, list);
    errno = before;
}

MPIX_RANKS_EXPORT void vwarnx(const char *format, va_list list)
{
    err_calls_message(program_invocation_short_name, 0, format, list);
}

MPIX_RANKS_EXPORT void verr(int status, const char *format, va_list list)
{
    err_calls_message(program_invocation_short_name, errno, format, list);
    exit(status);
}

MPIX_RANKS_EXPORT void verrx(int status, const char *format, va_list list)
{
    err_calls_message(program_invocation_short_name, 0, format, list);
    exit(status);
}

MPIX_RANKS_EXPORT void error(int status, int errnum, const char *format, ...)
{
    va_list list;

    (void) fflush(stdout);
    va_start(list, format);
    err_calls_message(program_invocation_name, errnum, format, list);
    va_end(list);
    if (0 != status) {
        exit(status);
    }
}

MPIX_RANKS_EXPORT void error_at_line(int status, int errnum, const char *file, unsigned line,
                                     const char *format, ...)
{
    char prefix[1024];
    va_list list;

    (void) snprintf(prefix, sizeof(prefix), "%s:%s:%u", program_invocation_name,
                    NULL == file ? "" : file, line);
    (void) fflush(stdout);
    va_start(list, format);
    err_calls_message(prefix, errnum, format, list);
    va_end(list);
    if (0 != status) {
        exit(status);
    }
}

MPIX_RANKS_EXPORT void __assert_fail(const char *assertion, const char *file, unsigned line,
                                     const char *function)
{
    (void) fprintf(stderr, "%s: %s:%u: %s: Assertion `%s' failed.\n", program_invocation_short_name,
                   file, line, NULL == function ? "?" : function, assertion);
    abort();
}
