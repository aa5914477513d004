/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Test of how many cores there are, ompi/mca/pml/epml/base/pml_epml_cores.h: control groups of both
 * versions as files in a folder of the test's own, and affinity masks of threads.
 *
 * Guards: pml_epml_cores.h
 */

#define _GNU_SOURCE

#include <dirent.h>
#include <pthread.h>
#include <sys/stat.h>

#include "tap.h"

#include "ompi/mca/pml/epml/base/pml_epml_cores.h"

static char root[64];

/** Write a file below the root, and the folders above it. */
static void put(const char *path, const char *text)
{
    char whole[512];
    FILE *out;

    (void) snprintf(whole, sizeof(whole), "%s%s", root, path);
    for (char *slash = strchr(whole + strlen(root) + 1, '/'); NULL != slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void) mkdir(whole, 0700);
        *slash = '/';
    }
    out = fopen(whole, "w");
    TAP_CHECK(NULL != out, "cannot write %s", whole);
    if (NULL != out) {
        (void) fputs(text, out);
        (void) fclose(out);
    }
}

static void begin(const char *name)
{
    tap_case("%s", name);
    (void) snprintf(root, sizeof(root), "/tmp/ept-cores-XXXXXX");
    TAP_CHECK(NULL != mkdtemp(root), "no folder");
}

static void end(void)
{
    char command[128];

    (void) snprintf(command, sizeof(command), "rm -r '%s'", root);
    TAP_EQ(0, system(command));
    tap_case_done();
}

static void case_none(void)
{
    begin("no control groups, or none with a limit");
    TAP_EQ(INT_MAX, epml_cores_granted(root));
    put("/proc/self/cgroup", "0::/\n");
    TAP_EQ(INT_MAX, epml_cores_granted(root));
    put("/sys/fs/cgroup/cpu.max", "max 100000\n");
    TAP_EQ(INT_MAX, epml_cores_granted(root));
    put("/proc/self/cgroup", "nonsense\n:\n::\n0::\n");
    TAP_EQ(INT_MAX, epml_cores_granted(root));
    end();
}

static void case_v2(void)
{
    begin("version 2: the least of a group and those above it, rounded up");
    put("/proc/self/cgroup", "0::/batch/job/step\n");
    put("/sys/fs/cgroup/batch/job/step/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/batch/job/cpu.max", "350000 100000\n");
    TAP_EQ(4, epml_cores_granted(root));
    put("/sys/fs/cgroup/batch/cpu.max", "300000 100000\n");
    TAP_EQ(3, epml_cores_granted(root));
    put("/sys/fs/cgroup/batch/job/step/cpu.max", "50000 100000\n");
    TAP_EQ(1, epml_cores_granted(root));
    put("/sys/fs/cgroup/batch/job/step/cpu.max", "800000 100000\n");
    put("/sys/fs/cgroup/batch/job/step/cpuset.cpus.effective", "0-1,17\n");
    TAP_EQ(3, epml_cores_granted(root));
    put("/sys/fs/cgroup/batch/job/step/cpuset.cpus.effective", "5\n");
    TAP_EQ(1, epml_cores_granted(root));
    end();

    begin("version 2 in a container: the group is not to be seen, its root is");
    put("/proc/self/cgroup", "0::/../../elsewhere\n");
    put("/sys/fs/cgroup/cpu.max", "200000 100000\n");
    TAP_EQ(2, epml_cores_granted(root));
    end();
}

static void case_v1(void)
{
    begin("version 1");
    put("/proc/self/cgroup",
        "12:cpuset:/set\n4:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n1:name=systemd:/x\n");
    put("/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000\n");
    TAP_EQ(INT_MAX, epml_cores_granted(root));
    put("/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "150000\n");
    TAP_EQ(2, epml_cores_granted(root));
    put("/sys/fs/cgroup/cpuset/set/cpuset.effective_cpus", "3\n");
    TAP_EQ(1, epml_cores_granted(root));
    end();
}

static pthread_barrier_t both;

static void bind_to(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    TAP_EQ(0, sched_setaffinity(0, sizeof(set), &set));
}

static void *second_main(void *argument)
{
    bind_to(*(int *) argument);
    (void) pthread_barrier_wait(&both);
    (void) pthread_barrier_wait(&both);
    return NULL;
}

/** Has the process a thread that is not ours?  A sanitizer's, or QEMU's: bound to nothing. */
static bool has_others(void)
{
    DIR *threads = opendir("/proc/self/task");
    struct dirent *entry;
    int count = 0;

    while (NULL != threads && NULL != (entry = readdir(threads))) {
        count += '.' != entry->d_name[0];
    }
    if (NULL != threads) {
        (void) closedir(threads);
    }
    return 1 < count;
}

static void case_masks(void)
{
    const bool others = has_others();
    cpu_set_t before;
    int cpu[2] = {-1, -1};
    pthread_t second;

    tap_case("what one thread or another may use");
    TAP_EQ(0, sched_getaffinity(0, sizeof(before), &before));
    TAP_EQ(CPU_COUNT(&before), epml_cores_allowed());
    for (int i = 0; i < CPU_SETSIZE; ++i) {
        if (CPU_ISSET(i, &before)) {
            cpu[0] = 0 > cpu[0] ? i : cpu[0];
            cpu[1] = i;
        }
    }
    bind_to(cpu[0]);
    TAP_CHECK(others || 1 == epml_cores_allowed(), "bound to one, and there are %d",
              epml_cores_allowed());
    (void) pthread_barrier_init(&both, NULL, 2);
    if (0 != pthread_create(&second, NULL, second_main, &cpu[1])) {
        printf("Bail out! no thread\n");
        exit(99);
    }
    (void) pthread_barrier_wait(&both);
    TAP_CHECK(others || (cpu[0] == cpu[1] ? 1 : 2) == epml_cores_allowed(),
              "two are bound to one each, and there are %d", epml_cores_allowed());
    (void) pthread_barrier_wait(&both);
    pthread_join(second, NULL);
    TAP_EQ(0, sched_setaffinity(0, sizeof(before), &before));
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epml_cores", 60);
    case_none();
    case_v2();
    case_v1();
    case_masks();
    return tap_end();
}
