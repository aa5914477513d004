/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What functions of libc return the address of is not overwritten by another rank's call.
 *
 * Guards: results.c, libc.c
 */

#define _GNU_SOURCE

#include "check.h"

#include <grp.h>
#include <math.h>
#include <netdb.h>
#include <pwd.h>
#include <sched.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 200 };

static void case_strtok(int rank)
{
    for (int round = 0; round < ROUNDS; ++round) {
        char text[64];
        int count = 0;

        snprintf(text, sizeof(text), "%d,a b;%d,,e", rank, rank + 1);
        for (char *word = strtok(text, ", "); NULL != word; word = strtok(NULL, ",; ")) {
            CHECK(count != 0 || atoi(word) == rank);
            CHECK(count != 3 || atoi(word) == rank + 1);
            ++count;
            sched_yield();
        }
        CHECK(5 == count);
    }
    ranks_case("strtok");
}

static void case_time(int rank)
{
    const time_t when = 86400l * 365 * (10 + rank), late = 1l << 50;
    char expected[64], buffer[64];
    struct tm tm;

    localtime_r(&when, &tm);
    asctime_r(&tm, expected);
    for (int round = 0; round < ROUNDS; ++round) {
        const struct tm *local = localtime(&when);
        char *text;

        sched_yield();
        CHECK(local->tm_year == tm.tm_year && local->tm_yday == tm.tm_yday);
        text = asctime(local);
        sched_yield();
        CHECK(0 == strcmp(expected, text));
        text = ctime(&when);
        sched_yield();
        CHECK(0 == strcmp(expected, text));
        CHECK(gmtime(&when)->tm_year == gmtime_r(&when, &tm)->tm_year);
    }
    localtime_r(&when, &tm);
    tm.tm_wday = 9;
    tm.tm_mon = -1;
    CHECK(0 == strncmp("??? ??? ", asctime(&tm), 8));
    snprintf(buffer, sizeof(buffer), " %lld\n", 1900 + (long long) gmtime(&late)->tm_year);
    CHECK(NULL != strstr(asctime(gmtime(&late)), buffer));
    ranks_case("localtime, gmtime, asctime, ctime");
}

static void case_hash(int rank)
{
    char keys[50][16];

    CHECK(0 != hcreate(64));
    for (int i = 0; i < 50; ++i) {
        snprintf(keys[i], sizeof(keys[i]), "key %d", i);
        CHECK(NULL != hsearch((ENTRY){keys[i], (void *) (long) (rank + i)}, ENTER));
        sched_yield();
    }
    for (int i = 0; i < 50; ++i) {
        const ENTRY *found = hsearch((ENTRY){.key = keys[i]}, FIND);

        CHECK(NULL != found && (long) found->data == rank + i);
    }
    hdestroy();
    ranks_case("hcreate, hsearch, hdestroy");
}

static void case_names(int rank)
{
    const struct passwd *root, *other;
    const struct group *group;
    char *name;

    for (int round = 0; round < 20; ++round) {
        root = 0 == rank % 2 ? getpwnam("root") : getpwuid(1);
        sched_yield();
        CHECK(NULL != root && root->pw_uid == (uid_t) (rank % 2));
        CHECK(0 == rank % 2 ? 0 == strcmp("root", root->pw_name)
                            : 0 != strcmp("root", root->pw_name));
        group = getgrgid((gid_t) (rank % 2));
        sched_yield();
        CHECK(NULL != group && group->gr_gid == (gid_t) (rank % 2));
        group = getgrnam("root");
        CHECK(NULL != group && 0 == group->gr_gid);
    }
    other = getpwnam("no such user");
    CHECK(NULL == other);
    name = tmpnam(NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(0 == strncmp(name, P_tmpdir, strlen(P_tmpdir)) && L_tmpnam > strlen(name));
    {
        char all[64][L_tmpnam];
        const int size = ranks_size();

        memset(all, 0, sizeof(all));
        MPI_Allgather(name, L_tmpnam, MPI_CHAR, all, L_tmpnam, MPI_CHAR, MPI_COMM_WORLD);
        for (int i = 0; i < size; ++i) {
            CHECK(i == rank || 0 != strcmp(all[i], name));
        }
    }
    ranks_case("getpwnam, getpwuid, getgrnam, getgrgid, tmpnam");
}

static void case_numbers(int rank)
{
    int point, sign;
    char expected[32];

    for (int round = 0; round < ROUNDS; ++round) {
        char *text = ecvt(1.5 + rank, 6, &point, &sign);

        sched_yield();
        snprintf(expected, sizeof(expected), "%d50000000", 1 + rank);
        expected[6] = '\0';
        CHECK(0 == strcmp(expected, text));
        text = fcvt(0.25 + rank, 2, &point, &sign);
        sched_yield();
        CHECK(25 == atoi(text) % 100);
        text = l64a(1000 + rank);
        sched_yield();
        CHECK(1000 + rank == a64l(text));
        CHECK(0.0 < lgamma(0 == rank % 2 ? -0.5 : -1.5) && signgam == (0 == rank % 2 ? -1 : 1));
    }
    CHECK('\0' == l64a(0)[0]);
    ranks_case("ecvt, fcvt, l64a, signgam");
}

/* These have a result for each thread in glibc. */
static void case_of_threads(int rank)
{
    const int error = 1 + rank % 100;
    char expected[256];

    for (int round = 0; round < ROUNDS; ++round) {
        const char *text = strerror(5000 + rank);

        sched_yield();
        snprintf(expected, sizeof(expected), "Unknown error %d", 5000 + rank);
        CHECK(0 == strcmp(expected, text));
        text = strsignal(2000 + rank);
        sched_yield();
        CHECK(NULL != strstr(text, "2") && atoi(strpbrk(text, "0123456789")) == 2000 + rank);
        CHECK(0 == strcmp(strerrordesc_np(error), strerror(error)));
    }
    ranks_case("strerror, strsignal");
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    rank = ranks_rank();
    case_strtok(rank);
    case_time(rank);
    case_hash(rank);
    case_names(rank);
    case_numbers(rank);
    case_of_threads(rank);
    return ranks_end();
}
/* EPT-LIBS: -lm */
