/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Cores of ranks: each gets its share of those that the process may use, and the threads that it starts
 * inherit them.  OMP_NUM_THREADS, unset, becomes the number of these cores.
 *
 * Memory that a rank touches first is near its cores then.  Nothing is bound where the user has said how
 * threads are bound, or where the node has fewer cores than ranks: the system may move them then.
 *
 * Tests: install/ranks
 */

#define _GNU_SOURCE

#include "start.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYSTEM "/sys/devices/system"

/** Processors with higher numbers are left to the system. */
enum { CPUS = 4096, NODES = 256, LIST_BYTES = 4096 };

typedef struct mask_t {
    _Alignas(cpu_set_t) char bytes[CPU_ALLOC_SIZE(CPUS)];
} mask_t;

/** A processor: those of a core, and cores of a NUMA node, are next to each other when sorted. */
typedef struct processor_t {
    int node;
    int core; /**< the core's first processor */
    int cpu;
} processor_t;

/** Of the process; written before there are threads of ranks. */
static struct {
    processor_t *processors; /**< that it may use, sorted; NULL: nothing is bound */
    int processor_count;
    int cores;   /**< number of different ones */
    int threads; /**< of OpenMP that each rank has; 0: the user has said it */
} own;

static cpu_set_t *set_of(mask_t *mask)
{
    return (cpu_set_t *) mask->bytes;
}

static bool read_line(const char *path, char *line, size_t size)
{
    FILE *in = fopen(path, "re");
    bool is_read;

    if (NULL == in) {
        return false;
    }
    is_read = NULL != fgets(line, (int) size, in);
    (void) fclose(in);
    return is_read;
}

/** The next range of a list as the kernel writes them, 0-3,8.  @return what is behind it, or
 * NULL */
static const char *next_range(const char *list, int *first, int *last)
{
    int read;

    if (1 != sscanf(list, "%d%n", first, &read)) {
        return NULL;
    }
    list += read;
    *last = *first;
    if (1 == sscanf(list, "-%d%n", last, &read)) {
        list += read;
    }
    return ',' == *list ? list + 1 : list;
}

/** The NUMA node of each processor; 0 where nothing is known. */
static void find_nodes(int node_of[CPUS])
{
    char path[128], list[LIST_BYTES];

    for (int node = 0; node < NODES; ++node) {
        const char *rest = list;
        int first, last;

        (void) snprintf(path, sizeof(path), SYSTEM "/node/node%d/cpulist", node);
        if (!read_line(path, list, sizeof(list))) {
            if (0 < node) {
                return;
            }
            continue;
        }
        while (NULL != (rest = next_range(rest, &first, &last))) {
            for (int cpu = first; cpu <= last && cpu < CPUS; ++cpu) {
                node_of[cpu] = node;
            }
        }
    }
}

static int core_of(int cpu)
{
    char path[128], list[LIST_BYTES];
    int first, last;

    (void) snprintf(path, sizeof(path), SYSTEM "/cpu/cpu%d/topology/thread_siblings_list", cpu);
    return read_line(path, list, sizeof(list)) && NULL != next_range(list, &first, &last) ? first
                                                                                        : cpu;
}

static int cores_compare(const void *a, const void *b)
{
    const processor_t *x = a, *y = b;

    if (x->node != y->node) {
        return x->node < y->node ? -1 : 1;
    }
    if (x->core != y->core) {
        return x->core < y->core ? -1 : 1;
    }
    return x->cpu < y->cpu ? -1 : 1;
}

/** @return false: the system does not say, or there is no memory */
static bool find_processors(void)
{
    int *node_of = calloc(CPUS, sizeof(*node_of));
    mask_t mask;

    memset(&mask, 0, sizeof(mask));
    own.processors = calloc(CPUS, sizeof(*own.processors));
    if (NULL == node_of || NULL == own.processors
        || 0 != sched_getaffinity(0, sizeof(mask), set_of(&mask))) {
        free(node_of);
        return false;
    }
    find_nodes(node_of);
    for (int cpu = 0; cpu < CPUS; ++cpu) {
        if (CPU_ISSET_S(cpu, sizeof(mask), set_of(&mask))) {
            own.processors[own.processor_count++] = (processor_t){node_of[cpu], core_of(cpu), cpu};
        }
    }
    free(node_of);
    qsort(own.processors, (size_t) own.processor_count, sizeof(*own.processors), cores_compare);
    for (int i = 0; i < own.processor_count; ++i) {
        own.cores += 0 == i || own.processors[i].core != own.processors[i - 1].core;
    }
    return 0 < own.cores;
}

/** By which variable has the user said how threads are bound, or that they are not?  NULL: none. */
static const char *bound_by(void)
{
    static const char *const names[] = {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY",
                                        "KMP_AFFINITY", "MPIX_RANKS_UNBOUND"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        const char *text = getenv(names[i]);

        if (NULL != text && '\0' != text[0]) {
            return names[i];
        }
    }
    return NULL;
}

void mpix_ranks_start_cores_begin(int count)
{
    const char *threads = getenv("OMP_NUM_THREADS");
    char text[16];
    bool is_known;

    if (0 == count) {
        return;
    }
    is_known = find_processors();
    if (NULL == threads || '\0' == threads[0]) {
        own.threads = own.cores > count ? own.cores / count : 1;
        (void) snprintf(text, sizeof(text), "%d", own.threads);
        (void) setenv("OMP_NUM_THREADS", text, 1);
    }
    if (!is_known || NULL != bound_by()) {
        free(own.processors);
        own.processors = NULL;
    }
}

/** Whole cores, from first on. */
static void bind_to(int first, int cores)
{
    mask_t mask;
    int core = -1;

    memset(&mask, 0, sizeof(mask));
    for (int i = 0; i < own.processor_count; ++i) {
        core += 0 == i || own.processors[i].core != own.processors[i - 1].core;
        if (first <= core && first + cores > core) {
            CPU_SET_S(own.processors[i].cpu, sizeof(mask), set_of(&mask));
        }
    }
    (void) sched_setaffinity(0, sizeof(mask), set_of(&mask));
}

/** Read by libgomp when it was loaded, which is before this library can set it. */
static void tell_openmp(void)
{
    void (*set)(int) = (void (*)(int)) dlsym(RTLD_DEFAULT, "omp_set_num_threads");

    if (0 < own.threads && NULL != set) {
        set(own.threads);
    }
}

/** Does each rank have cores of its own? */
static bool is_bound(const mpix_rank_t *rank)
{
    return NULL != own.processors && own.cores >= mpix_ranks_count
           && sysconf(_SC_NPROCESSORS_ONLN) >= rank->local_size;
}

/** What epinfo prints of the calling thread's rank: a line as mpix_endpoints_report has them. */
MPIX_RANKS_EXPORT void mpix_ranks_describe(char *text, size_t size);

void mpix_ranks_describe(char *text, size_t size)
{
    const mpix_rank_t *rank = mpix_ranks_self;
    const char *by = bound_by();
    char cores[128] = "";

    if (NULL == rank) {
        text[0] = '\0';
        return;
    }
    if (is_bound(rank)) {
        (void) snprintf(cores, sizeof(cores), "each bound to its share of %d cores", own.cores);
    } else if (NULL != by) {
        (void) snprintf(cores, sizeof(cores), "not bound by us: %s is set", by);
    } else {
        (void) snprintf(cores, sizeof(cores), "not bound: more ranks than cores");
    }
    (void) snprintf(text, size, "  %-15s %d as threads of this process; %s\n", "ranks",
                    mpix_ranks_count, cores);
}

void mpix_ranks_start_cores_enter(const mpix_rank_t *rank)
{
    const int first = (int) ((long) own.cores * rank->index / mpix_ranks_count);
    const int next = (int) ((long) own.cores * (rank->index + 1) / mpix_ranks_count);

    tell_openmp();
    if (is_bound(rank)) {
        bind_to(first, next - first);
    }
}
