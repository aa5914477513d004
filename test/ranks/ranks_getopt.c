/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * getopt, getopt_long and getopt_long_only: what they return, the variables, the order of arguments and
 * the messages, for chosen and for random command lines, as numbers that are made of it all; with
 * processes it is glibc that they are made of.  With an argument, the program prints it all.
 *
 * Guards: getopt.c, libc.c
 */

#define _GNU_SOURCE

#include "check.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 8, LINES = 400 };

static int flagged;
static const struct option names[] = {
    {"add", no_argument, NULL, 'A'},
    {"append", no_argument, NULL, 'P'},
    {"number", required_argument, NULL, 'n'},
    {"number-of", required_argument, NULL, 'n'},
    {"optional", optional_argument, NULL, 'O'},
    {"flag", no_argument, &flagged, 7},
    {"verbose", no_argument, NULL, 'v'},
    {"a", no_argument, NULL, 'x'},
    {NULL, 0, NULL, 0},
};
static const char *const words[] = {
    "-a",        "-b",         "-bval",    "-c",        "-cval",       "-ab",        "-acx",
    "-z",        "-",          "--",       "file",      "other",       "-W",         "add",
    "-Wadd",     "-Wnumber=3", "--add",    "--ad",      "--ap",        "--a",        "--app",
    "--number",  "--number=5", "--num=6",  "--nu",      "7",           "--optional", "--optional=8",
    "--opt",     "--flag",     "--flag=1", "--unknown", "--unknown=1", "-add",       "-number",
    "-number=9", "-nu=1",      "-verbose", "-vx",       "-:",          "-;",         "--=",
    "-v",
};
static const char *const letters[] = {
    "ab:c::vW;", "+ab:c::vW;", "-ab:c::vW;", ":ab:c::v", "+:ab:c::v", "abc", "", "-:b:W;",
};
static unsigned long seed = 1, sum;
static int is_verbose;

/* The same in all ranks, and none of libc's. */
static unsigned number(unsigned below)
{
    seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    return (unsigned) (seed >> 33) % below;
}

/* A launcher cuts long output of processes into pieces, so a number stands for twenty command lines. */
static void say(const char *format, ...)
{
    va_list list;
    char text[512];

    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    for (const char *at = text; '\0' != *at; ++at) {
        sum = (sum ^ (unsigned char) *at) * 1099511628211ul;
    }
    if (is_verbose) {
        fputs(text, stdout);
    }
}

static void one(int rank, int line, int way, const char *options, int argc, char **argv)
{
    int rc, index = -1;

    flagged = 0;
    optind = 0;
    opterr = 1;
    for (int i = 0; i < 3 * WORDS; ++i) {
        rc = 0 == way   ? getopt(argc, argv, options)
             : 1 == way ? getopt_long(argc, argv, options, names, &index)
                        : getopt_long_only(argc, argv, options, names, &index);
        say("%d %d way %d '%s': %d optind %d optarg %s optopt %d index %d flag %d\n", rank, line,
            way, options, rc, optind, NULL == optarg ? "NULL" : optarg,
            '?' == rc || ':' == rc ? optopt : 0, index, flagged);
        if (-1 == rc) {
            break;
        }
    }
    say("%d %d argv:", rank, line);
    for (int i = 0; i < argc; ++i) {
        say(" %s", argv[i]);
    }
    say("\n");
}

static void random_lines(int rank)
{
    for (int line = 0; line < LINES; ++line) {
        char *argv[WORDS + 1] = {"program"};
        int argc = 1 + (int) number(WORDS);

        for (int i = 1; i < argc; ++i) {
            argv[i] = (char *) words[number(sizeof(words) / sizeof(words[0]))];
        }
        argv[argc] = NULL;
        one(rank, line, (int) number(3), letters[number(sizeof(letters) / sizeof(letters[0]))],
            argc, argv);
        if (19 == line % 20) {
            printf("%d up to %d: %lx\n", rank, line, sum);
        }
    }
}

static void messages_print(int rank, const char *path)
{
    char line[256];
    FILE *file = fopen(path, "r");

    while (NULL != file && NULL != fgets(line, sizeof(line), file)) {
        say("%d %s", rank, line);
    }
    if (NULL != file) {
        fclose(file);
    }
}

int main(int argc, char **argv)
{
    char path[64];
    int rank;
    char *posix[] = {"program", "-a", "file", "-b", "1", NULL};

    CHECK(1 == optind && 1 == opterr);
    MPI_Init(&argc, &argv);
    rank = ranks_rank();
    is_verbose = argc > 1;
    snprintf(path, sizeof(path), "ranks_getopt.%d.%d", (int) getpid(), rank);
    CHECK(NULL != freopen(path, "w", stderr));
    one(rank, -1, 0, "ab:", 5, posix);
    setenv("POSIXLY_CORRECT", "1", 1);
    one(rank, -2, 0, "ab:", 5, posix);
    unsetenv("POSIXLY_CORRECT");
    random_lines(rank);
    fflush(stderr);
    messages_print(rank, path);
    printf("%d messages: %lx\n", rank, sum);
    unlink(path);
    MPI_Finalize();
    return 0;
}
