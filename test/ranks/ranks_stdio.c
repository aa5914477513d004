/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What ranks print, in pieces and by all kinds of calls, comes out in whole lines: descriptor 1 is led to
 * a file for this, which is read again.  A stream that is opened anew is a rank's own.  A stream that
 * one rank uses does not stop fflush(NULL) of another one.
 *
 * Guards: streams.c, stream_calls.c, err_calls.c, libc.c
 */

#define _GNU_SOURCE

#include "check.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

enum { ROUNDS = 100 }; /* a multiple of 4 */

static void print_v(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vprintf(format, list);
    va_end(list);
}

static void print_vf(FILE *file, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vfprintf(file, format, list);
    va_end(list);
}

static const char line_end[] = " abcdefgh by a list of arguments end\n";

/* One line of many pieces, with other ranks' in between. */
static void pieces(int rank, int round)
{
    printf("rank %d ", rank);
    sched_yield();
    fputs("round ", stdout);
    fprintf(stdout, "%d", round);
    putchar(' ');
    putc('a', stdout);
    fputc('b', stdout);
    putchar_unlocked('c');
    sched_yield();
    putc_unlocked('d', stdout);
    fwrite("efgh", 2, 2, stdout);
    print_v(" %s", "by a list");
    print_vf(stdout, " %s ", "of arguments");
    puts("end");
}

/* Up to nearly as long as a buffer. */
static void long_line(int rank, int round)
{
    printf("rank %d round %d", rank, round);
    for (int i = 0; i < 9 * round; ++i) {
        printf(" %d", i);
    }
    putchar('\n');
}

static int is_line_of(char *line, int round)
{
    static char longest[1 << 16];
    char *end;
    int rank, count;

    if (2 != sscanf(line, "rank %d round %d%n", &rank, &round, &count)) {
        return 0;
    }
    if (0 == strcmp(line + count, line_end)) {
        return 1;
    }
    end = longest;
    for (int i = 0; i < 9 * round; ++i) {
        end += sprintf(end, " %d", i);
    }
    strcpy(end, "\n");
    return 0 == strcmp(line + count, longest);
}

/* Lines, of those that this process's ranks have printed. */
static int lines_of(const char *path, int *wrong)
{
    static char line[1 << 16];
    FILE *file = fopen(path, "r");
    int count = 0;

    *wrong = 0;
    while (NULL != file && NULL != fgets(line, sizeof(line), file)) {
        ++count;
        *wrong += !is_line_of(line, 0);
    }
    if (NULL != file) {
        fclose(file);
    }
    return count;
}

static void case_lines(int rank)
{
    const int before = dup(1);
    int pids[64], ranks_here = 0, wrong, fd;
    char path[64];

    MPI_Barrier(MPI_COMM_WORLD);
    pids[rank] = getpid();
    MPI_Allgather(MPI_IN_PLACE, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks_size(); ++i) {
        ranks_here += pids[i] == getpid();
    }
    snprintf(path, sizeof(path), "ranks_stdio.%d", (int) getpid());
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    CHECK(fd >= 0 && before >= 0 && 1 == dup2(fd, 1));
    close(fd);
    setvbuf(stdout, NULL, _IOFBF, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < ROUNDS; ++i) {
        pieces(rank, i);
        if (0 == i % 4) {
            long_line(rank, i);
        }
    }
    CHECK(0 == fflush(stdout));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(ranks_here * (ROUNDS + ROUNDS / 4) == lines_of(path, &wrong) && 0 == wrong);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(1 == dup2(before, 1));
    close(before);
    unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
    ranks_case("lines of pieces");
}

static char *contents(const char *path)
{
    static char text[1 << 16];
    FILE *file = fopen(path, "r");
    size_t count = 0;

    if (NULL != file) {
        count = fread(text, 1, sizeof(text) - 1, file);
        fclose(file);
    }
    text[count] = '\0';
    return text;
}

/* A stream that is opened anew is the rank's alone. */
static void case_reopened(int rank)
{
    char path[64], text[256];

    snprintf(path, sizeof(path), "ranks_stdio.%d.%d", (int) getpid(), rank);
    fflush(stderr);
    CHECK(NULL != freopen(path, "w", stderr));
    for (int i = 0; i < 20; ++i) {
        fprintf(stderr, "%d", i % 10);
        sched_yield();
    }
    fputc('\n', stderr);
    errno = ENOENT;
    perror("it");
    errno = ENOENT;
    warn("warn %d", rank);
    warnx("warnx");
    fflush(stderr);
    snprintf(text, sizeof(text),
             "01234567890123456789\nit: No such file or directory\n"
             "%s: warn %d: No such file or directory\n%s: warnx\n",
             program_invocation_short_name, rank, program_invocation_short_name);
    CHECK(0 == strcmp(text, contents(path)));
    unlink(path);
}

/* A rank that uses a stream, as one that reads from a terminal does, holds nobody up. */
static void case_used(int rank)
{
    FILE *file = tmpfile(), *other;

    CHECK(NULL != file && EOF != fputs("some bytes", file));
    if (0 == rank) {
        flockfile(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (0 != rank) {
        CHECK(0 == fflush(NULL) && 0 == __fpending(file));
        other = fopen("/dev/null", "w");
        CHECK(NULL != other && NULL != freopen("/dev/null", "r", other));
        fclose(other);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (0 == rank) {
        funlockfile(file);
    }
    fclose(file);
    ranks_case("a stream that another rank uses");
}

/* The last: what is not right is said by the status. */
static int is_wide_right(int rank)
{
    char path[64], text[64];
    int is_right;

    snprintf(path, sizeof(path), "ranks_stdio.%d.%d", (int) getpid(), rank);
    if (NULL == freopen(path, "w", stdout) || 0 >= fwide(stdout, 1)) {
        return 0;
    }
    wprintf(L"wide %d ", rank);
    putwchar(L'x');
    fputws(L" y", stdout);
    fputwc(L'\n', stdout);
    fflush(stdout);
    snprintf(text, sizeof(text), "wide %d x y\n", rank);
    is_right = 0 == strcmp(contents(path), text);
    unlink(path);
    return is_right && 0 == fclose(stdout);
}

int main(int argc, char **argv)
{
    int rank, rc;

    MPI_Init(&argc, &argv);
    rank = ranks_rank();
    CHECK(1 == fileno(stdout) && 2 == fileno(stderr) && 0 == fileno(stdin));
    CHECK(0 == rank || EOF == getchar());
    CHECK(0 == setvbuf(stdout, NULL, _IOLBF, 0) && 0 == fflush(NULL) && 0 == __fpending(stdout));
    CHECK(8 == printf("# line\n") + 1 && 0 == __fpending(stdout));
    ranks_case("buffers");
    case_lines(rank);
    case_reopened(rank);
    ranks_case("stderr, opened anew");
    case_used(rank);
    rc = ranks_end();
    return is_wide_right(rank) ? rc : 2;
}
