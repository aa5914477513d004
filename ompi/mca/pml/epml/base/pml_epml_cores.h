/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * How many cores there are for a process, and for the node's processes together: online, allowed by
 * affinity masks, granted by control groups (containers, batch systems).
 *
 * Standalone: no Open MPI.
 *
 * Tests: unit/test_epml_cores, schedulers/groups
 */

#ifndef MCA_PML_EPML_CORES_H
#define MCA_PML_EPML_CORES_H

#ifndef _GNU_SOURCE
#    error "_GNU_SOURCE must be defined before anything is included: CPU sets"
#endif

#include <dirent.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EPML_CORES_PATH_MAX 4096

/** Bits of an affinity mask that are looked at. */
#define EPML_CORES_MASK 8192

typedef struct epml_cores_mask_t {
    unsigned long word[EPML_CORES_MASK / (8 * sizeof(unsigned long))];
} epml_cores_mask_t;

/** One line of a file.  @return false: it is not there, or empty */
static inline bool epml_cores_line(const char *path, char *line, size_t size)
{
    FILE *in = fopen(path, "re");
    bool found;

    if (NULL == in) {
        return false;
    }
    found = NULL != fgets(line, (int) size, in);
    (void) fclose(in);
    return found;
}

/** Cores that quota of each period is worth, rounded up: half a core still runs one thread. */
static inline int epml_cores_worth(long long quota, long long period)
{
    const long long cores = 0 < quota && 0 < period ? (quota - 1) / period + 1 : INT_MAX;

    return cores < INT_MAX ? (int) cores : INT_MAX;
}

/** Cores in a list like "0-3,8".  @return INT_MAX: the file is not there, or lists none */
static inline int epml_cores_set(const char *folder, const char *name)
{
    char path[EPML_CORES_PATH_MAX + 32], line[EPML_CORES_PATH_MAX];
    int cores = 0;

    (void) snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (!epml_cores_line(path, line, sizeof(line))) {
        return INT_MAX;
    }
    for (const char *at = line; NULL != at; at = strchr(at, ','), at = NULL == at ? NULL : at + 1) {
        int first, last;
        const int numbers = sscanf(at, "%d-%d", &first, &last);

        cores += 2 == numbers && first <= last ? last - first + 1 : 1 == numbers ? 1 : 0;
    }
    return 0 < cores ? cores : INT_MAX;
}

/** The limit of one group, version 2.  @return INT_MAX: none */
static inline int epml_cores_max_v2(const char *folder)
{
    char path[EPML_CORES_PATH_MAX + 32], line[256];
    const int set = epml_cores_set(folder, "cpuset.cpus.effective");
    int granted = INT_MAX;
    long long quota, period;

    (void) snprintf(path, sizeof(path), "%s/cpu.max", folder);
    if (epml_cores_line(path, line, sizeof(line))
        && 2 == sscanf(line, "%lld %lld", &quota, &period)) { /* or "max 100000" */
        granted = epml_cores_worth(quota, period);
    }
    return granted < set ? granted : set;
}

/** The set of one group, version 1. */
static inline int epml_cores_set_v1(const char *folder)
{
    return epml_cores_set(folder, "cpuset.effective_cpus");
}

/** The same, version 1. */
static inline int epml_cores_max_v1(const char *folder)
{
    char path[EPML_CORES_PATH_MAX + 32], quota[64], period[64];

    (void) snprintf(path, sizeof(path), "%s/cpu.cfs_quota_us", folder);
    if (!epml_cores_line(path, quota, sizeof(quota))) {
        return INT_MAX;
    }
    (void) snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", folder);
    return epml_cores_line(path, period, sizeof(period))
               ? epml_cores_worth(atoll(quota), atoll(period))
               : INT_MAX;
}

/** The least limit of a group and those above it.
 *
 * @param[in] mount  where the groups are
 * @param[in] group  path below that; it may not be seen from here, as in containers: then
 *                   what can be seen counts */
static inline int epml_cores_least(const char *mount, const char *group,
                                   int (*limit)(const char *folder))
{
    char folder[EPML_CORES_PATH_MAX];
    int least = INT_MAX;
    const size_t root = strlen(mount);

    if (sizeof(folder) <= (size_t) snprintf(folder, sizeof(folder), "%s%s", mount, group)) {
        return INT_MAX;
    }
    for (;;) {
        const int cores = limit(folder);
        char *slash;

        least = cores < least ? cores : least;
        slash = strrchr(folder + root, '/');
        if (NULL == slash) {
            return least;
        }
        *slash = '\0';
    }
}

/** Is name one of those in a list with commas? */
static inline bool epml_cores_has(const char *list, const char *name)
{
    const size_t length = strlen(name);

    for (const char *at = list; NULL != at; at = strchr(at, ','), at = NULL == at ? NULL : at + 1) {
        if (0 == strncmp(at, name, length) && (',' == at[length] || '\0' == at[length])) {
            return true;
        }
    }
    return false;
}

/**
 * Cores that the process's control groups grant.
 *
 * @param[in] root  in front of /proc and /sys: "", but in tests
 * @return INT_MAX: no limit is known
 */
static inline int epml_cores_granted(const char *root)
{
    char path[EPML_CORES_PATH_MAX], mount[EPML_CORES_PATH_MAX + 300], line[EPML_CORES_PATH_MAX];
    int least = INT_MAX;
    FILE *in;

    (void) snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    in = fopen(path, "re");
    while (NULL != in && NULL != fgets(line, sizeof(line), in)) {
        char *list = strchr(line, ':');
        char *group = NULL == list ? NULL : strchr(list + 1, ':');
        int cores = INT_MAX;

        if (NULL == group) {
            continue;
        }
        *group++ = '\0';
        ++list;
        group[strcspn(group, "\n")] = '\0';
        if (0 == strcmp(group, "/")) {
            *group = '\0';
        }
        if ('\0' == *list) {
            (void) snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup", root);
            cores = epml_cores_least(mount, group, epml_cores_max_v2);
        } else {
            (void) snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup/%.255s", root, list);
            if (epml_cores_has(list, "cpu")) {
                cores = epml_cores_least(mount, group, epml_cores_max_v1);
            } else if (epml_cores_has(list, "cpuset")) {
                cores = epml_cores_least(mount, group, epml_cores_set_v1);
            }
        }
        least = cores < least ? cores : least;
    }
    if (NULL != in) {
        (void) fclose(in);
    }
    return least;
}

/** Cores that one thread of this process or another may run on.  Threads are often bound one by
 * one, the first one, too (OpenMP).  @return 0: nothing could be found out */
static inline int epml_cores_allowed(void)
{
    epml_cores_mask_t all = {{0}};
    struct dirent *entry;
    DIR *tasks = opendir("/proc/self/task");
    int cores = 0;

    while (NULL != tasks && NULL != (entry = readdir(tasks))) {
        epml_cores_mask_t mask = {{0}};
        const int thread = atoi(entry->d_name);

        if (0 < thread
            && 0 == sched_getaffinity(thread, sizeof(mask), (cpu_set_t *) (void *) &mask)) {
            for (size_t i = 0; i < sizeof(all.word) / sizeof(all.word[0]); ++i) {
                all.word[i] |= mask.word[i];
            }
        }
    }
    if (NULL != tasks) {
        (void) closedir(tasks);
    }
    for (size_t i = 0; i < sizeof(all.word) / sizeof(all.word[0]); ++i) {
        cores += __builtin_popcountl(all.word[i]);
    }
    return cores;
}

#endif /* MCA_PML_EPML_CORES_H */
