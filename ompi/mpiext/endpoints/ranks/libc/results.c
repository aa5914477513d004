/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Functions whose result lies in memory of libc's, which the next call overwrites: a rank's lies in
 * memory of its own.  Each is made of glibc's function that takes the memory from its caller.
 *
 * Tests: ranks_results
 */

#define _GNU_SOURCE

#include "state.h"

#include <errno.h>
#include <grp.h>
#include <math.h>
#include <pwd.h>
#include <shadow.h>
#include <string.h>
#include <unistd.h>

/** An entry of a table of the system, with the memory of its strings. */
typedef struct mpix_ranks_entry_t {
    union {
        struct passwd passwd;
        struct group group;
        struct hostent host;
        struct servent service;
        struct protoent protocol;
    } of;
    char *strings;
    size_t size;
} entry_t;

enum { ENTRY_PASSWD, ENTRY_GROUP, ENTRY_HOST, ENTRY_SERVICE, ENTRY_PROTOCOL, ENTRIES };

void mpix_ranks_results_begin(mpix_rank_t *rank, mpix_ranks_libc_variable_t *variable)
{
    rank->libc->results.signgam = variable(rank, "signgam");
    if (NULL == rank->libc->results.signgam) {
        rank->libc->results.signgam = variable(rank, "__signgam");
    }
    rank->libc->results.entries = calloc(ENTRIES, sizeof(entry_t));
    if (NULL == rank->libc->results.entries) {
        mpix_ranks_refuse("no memory");
    }
}

static mpix_ranks_results_t *results_of_rank(void)
{
    return &mpix_ranks_self->libc->results;
}

#define HAND_ON(call)              \
    if (NULL == mpix_ranks_self) { \
        return call;               \
    }

MPIX_RANKS_EXPORT char *strtok(char *text, const char *separators)
{
    HAND_ON(MPIX_RANKS_NEXT(strtok)(text, separators));
    return strtok_r(text, separators, &results_of_rank()->strtok);
}

/* Time.  glibc's localtime sets the time zone at each call, localtime_r at the first one only. */

MPIX_RANKS_EXPORT struct tm *localtime(const time_t *when)
{
    HAND_ON(MPIX_RANKS_NEXT(localtime)(when));
    tzset();
    return localtime_r(when, &results_of_rank()->tm);
}

MPIX_RANKS_EXPORT struct tm *gmtime(const time_t *when)
{
    HAND_ON(MPIX_RANKS_NEXT(gmtime)(when));
    return gmtime_r(when, &results_of_rank()->tm);
}

static const char *name_of(const char *names, int index, int count)
{
    return 0 <= index && index < count ? names + 4 * index : "???";
}

/** As asctime_r, for any year. */
MPIX_RANKS_EXPORT char *asctime(const struct tm *tm)
{
    HAND_ON(MPIX_RANKS_NEXT(asctime)(tm));
    if (NULL == tm) {
        errno = EINVAL;
        return NULL;
    }
    (void) snprintf(results_of_rank()->asctime, sizeof(results_of_rank()->asctime),
                    "%s %s%3d %.2d:%.2d:%.2d %lld\n",
                    name_of("Sun\0Mon\0Tue\0Wed\0Thu\0Fri\0Sat", tm->tm_wday, 7),
                    name_of("Jan\0Feb\0Mar\0Apr\0May\0Jun\0Jul\0Aug\0Sep\0Oct\0Nov\0Dec",
                            tm->tm_mon, 12),
                    tm->tm_mday, tm->tm_hour, tm->tm_min, tm->tm_sec,
                    1900 + (long long) tm->tm_year);
    return results_of_rank()->asctime;
}

MPIX_RANKS_EXPORT char *ctime(const time_t *when)
{
    struct tm *tm;

    HAND_ON(MPIX_RANKS_NEXT(ctime)(when));
    tm = localtime(when);
    return NULL == tm ? NULL : asctime(tm);
}

/* Hash tables: one for each rank. */

MPIX_RANKS_EXPORT int hcreate(size_t count)
{
    HAND_ON(MPIX_RANKS_NEXT(hcreate)(count));
    return hcreate_r(count, &results_of_rank()->hash);
}

MPIX_RANKS_EXPORT void hdestroy(void)
{
    if (NULL == mpix_ranks_self) {
        MPIX_RANKS_NEXT(hdestroy)();
        return;
    }
    hdestroy_r(&results_of_rank()->hash);
}

MPIX_RANKS_EXPORT ENTRY *hsearch(ENTRY item, ACTION action)
{
    ENTRY *found = NULL;

    HAND_ON(MPIX_RANKS_NEXT(hsearch)(item, action));
    (void) hsearch_r(item, action, &found, &results_of_rank()->hash);
    return found;
}

/* Names. */

MPIX_RANKS_EXPORT char *tmpnam(char name[L_tmpnam])
{
    if (NULL == mpix_ranks_self || NULL != name) {
        return MPIX_RANKS_NEXT(tmpnam)(name);
    }
    return MPIX_RANKS_NEXT(tmpnam)(results_of_rank()->tmpnam);
}

MPIX_RANKS_EXPORT char *ttyname(int fd)
{
    int rc;

    HAND_ON(MPIX_RANKS_NEXT(ttyname)(fd));
    rc = ttyname_r(fd, results_of_rank()->ttyname, sizeof(results_of_rank()->ttyname));
    if (0 != rc) {
        errno = rc;
        return NULL;
    }
    return results_of_rank()->ttyname;
}

MPIX_RANKS_EXPORT char *getlogin(void)
{
    int rc;

    HAND_ON(MPIX_RANKS_NEXT(getlogin)());
    rc = getlogin_r(results_of_rank()->login, sizeof(results_of_rank()->login));
    if (0 != rc) {
        errno = rc;
        return NULL;
    }
    return results_of_rank()->login;
}

/* Numbers. */

MPIX_RANKS_EXPORT char *ecvt(double number, int digits, int *point, int *sign)
{
    HAND_ON(MPIX_RANKS_NEXT(ecvt)(number, digits, point, sign));
    return 0
                   == ecvt_r(number, digits, point, sign, results_of_rank()->number,
                             sizeof(results_of_rank()->number))
               ? results_of_rank()->number
               : NULL;
}

MPIX_RANKS_EXPORT char *fcvt(double number, int digits, int *point, int *sign)
{
    HAND_ON(MPIX_RANKS_NEXT(fcvt)(number, digits, point, sign));
    return 0
                   == fcvt_r(number, digits, point, sign, results_of_rank()->number,
                             sizeof(results_of_rank()->number))
               ? results_of_rank()->number
               : NULL;
}

/** Six bits a character, the lowest first. */
MPIX_RANKS_EXPORT char *l64a(long number)
{
    static const char characters[]
        = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    unsigned bits = (unsigned) number;
    int count = 0;

    HAND_ON(MPIX_RANKS_NEXT(l64a)(number));
    for (; 0 != bits; bits >>= 6) {
        results_of_rank()->l64a[count++] = characters[bits & 63];
    }
    results_of_rank()->l64a[count] = '\0';
    return results_of_rank()->l64a;
}

/* signgam is the program's variable; libm's functions would set the first rank's. */
#define LGAMMA(name, type, reentrant)                  \
    MPIX_RANKS_EXPORT type name(type x)                \
    {                                                  \
        int sign = 0;                                  \
        type result;                                   \
        HAND_ON(MPIX_RANKS_NEXT(name)(x));             \
        result = MPIX_RANKS_NEXT(reentrant)(x, &sign); \
        if (NULL != results_of_rank()->signgam) {      \
            *results_of_rank()->signgam = sign;        \
        }                                              \
        return result;                                 \
    }
LGAMMA(lgamma, double, lgamma_r)
LGAMMA(lgammaf, float, lgammaf_r)
LGAMMA(lgammal, long double, lgammal_r)
LGAMMA(gamma, double, lgamma_r)
LGAMMA(gammaf, float, lgammaf_r)
LGAMMA(gammal, long double, lgammal_r)

/* Users, groups, hosts, services, protocols. */

static bool entry_grow(entry_t *entry)
{
    const size_t size = 0 == entry->size ? 1024 : 2 * entry->size;
    char *strings = realloc(entry->strings, size);

    if (NULL == strings) {
        return false;
    }
    entry->strings = strings;
    entry->size = size;
    return true;
}

/* As often as the strings need more room.  h_errno is the calling thread's. */
#define ENTRY(which, field, call)                        \
    entry_t *entry = &results_of_rank()->entries[which]; \
    __typeof__(entry->of.field) *found = NULL;           \
    int rc = ERANGE;                                     \
    while (ERANGE == rc) {                               \
        rc = NULL == entry->strings ? ERANGE : call;     \
        if (ERANGE == rc && !entry_grow(entry)) {        \
            return NULL;                                 \
        }                                                \
    }                                                    \
    if (0 != rc) {                                       \
        errno = rc;                                      \
    }                                                    \
    return found
#define ROOM(field) &entry->of.field, entry->strings, entry->size, &found

MPIX_RANKS_EXPORT struct passwd *getpwnam(const char *name)
{
    HAND_ON(MPIX_RANKS_NEXT(getpwnam)(name));
    ENTRY(ENTRY_PASSWD, passwd, getpwnam_r(name, ROOM(passwd)));
}

MPIX_RANKS_EXPORT struct passwd *getpwuid(uid_t uid)
{
    HAND_ON(MPIX_RANKS_NEXT(getpwuid)(uid));
    ENTRY(ENTRY_PASSWD, passwd, getpwuid_r(uid, ROOM(passwd)));
}

MPIX_RANKS_EXPORT struct group *getgrnam(const char *name)
{
    HAND_ON(MPIX_RANKS_NEXT(getgrnam)(name));
    ENTRY(ENTRY_GROUP, group, getgrnam_r(name, ROOM(group)));
}

MPIX_RANKS_EXPORT struct group *getgrgid(gid_t gid)
{
    HAND_ON(MPIX_RANKS_NEXT(getgrgid)(gid));
    ENTRY(ENTRY_GROUP, group, getgrgid_r(gid, ROOM(group)));
}

MPIX_RANKS_EXPORT struct hostent *gethostbyname(const char *name)
{
    HAND_ON(MPIX_RANKS_NEXT(gethostbyname)(name));
    ENTRY(ENTRY_HOST, host, gethostbyname_r(name, ROOM(host), &h_errno));
}

MPIX_RANKS_EXPORT struct hostent *gethostbyaddr(const void *address, socklen_t length, int family)
{
    HAND_ON(MPIX_RANKS_NEXT(gethostbyaddr)(address, length, family));
    ENTRY(ENTRY_HOST, host, gethostbyaddr_r(address, length, family, ROOM(host), &h_errno));
}

MPIX_RANKS_EXPORT struct servent *getservbyname(const char *name, const char *protocol)
{
    HAND_ON(MPIX_RANKS_NEXT(getservbyname)(name, protocol));
    ENTRY(ENTRY_SERVICE, service, getservbyname_r(name, protocol, ROOM(service)));
}

MPIX_RANKS_EXPORT struct protoent *getprotobyname(const char *name)
{
    HAND_ON(MPIX_RANKS_NEXT(getprotobyname)(name));
    ENTRY(ENTRY_PROTOCOL, protocol, getprotobyname_r(name, ROOM(protocol)));
}
