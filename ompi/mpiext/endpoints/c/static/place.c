/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Where this process may run: its cores, and the NUMA node that they are of; and by which network
 * others reach its endpoints.  An endpoint may be served by any of its threads, so it is where the
 * process is.
 *
 * The masks of all threads together: the one that has begun MPI may have been bound to one core by
 * OpenMP, while the process has more.
 *
 * Tests: static_attributes
 */

#define _GNU_SOURCE

#include "ompi_config.h"

#include "mpiext_endpoints_attributes.h"

#include "../base/base.h"

#include "ompi/constants.h"
#include "opal/mca/common/ep/common_ep_btl.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES "/sys/devices/system/node"

enum { CPUS = 8192, LIST_BYTES = 4096 };

/** Room for CPUS bits. */
typedef union mask_t {
    cpu_set_t set;
    unsigned char bytes[CPUS / 8];
} mask_t;

/** Written once. */
static struct {
    pthread_once_t once;
    char cores[LIST_BYTES]; /**< empty: unknown */
    int node;               /**< -1: none has them all */
} place = {.once = PTHREAD_ONCE_INIT, .node = -1};

/** The cores of all threads of the process.  @return how many */
static int find_cores(mask_t *mask)
{
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *entry;

    memset(mask, 0, sizeof(*mask));
    while (NULL != tasks && NULL != (entry = readdir(tasks))) {
        const int id = atoi(entry->d_name);
        mask_t one;

        memset(&one, 0, sizeof(one));
        if (0 < id && 0 == sched_getaffinity(id, sizeof(one), &one.set)) {
            CPU_OR_S(sizeof(*mask), &mask->set, &mask->set, &one.set);
        }
    }
    if (NULL != tasks) {
        (void) closedir(tasks);
    }
    return CPU_COUNT_S(sizeof(*mask), &mask->set);
}

/** As the kernel writes such lists; as much of it as has room. */
static void write_list(const mask_t *mask, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (int cpu = 0; cpu < CPUS; ++cpu) {
        int last = cpu, length;

        if (!CPU_ISSET_S(cpu, sizeof(*mask), &mask->set)) {
            continue;
        }
        while (last + 1 < CPUS && CPU_ISSET_S(last + 1, sizeof(*mask), &mask->set)) {
            ++last;
        }
        length = snprintf(text + used, size - used, last > cpu ? "%s%d-%d" : "%s%d",
                          0 < used ? "," : "", cpu, last);
        if (0 > length || (size_t) length >= size - used) {
            text[used] = '\0';
            return;
        }
        used += (size_t) length;
        cpu = last;
    }
}

/** How many of these cores are in a list of the kernel's? */
static int count_in(const char *list, const mask_t *mask)
{
    int first, last, read, count = 0;

    while (1 == sscanf(list, "%d%n", &first, &read)) {
        list += read;
        last = first;
        if (1 == sscanf(list, "-%d%n", &last, &read)) {
            list += read;
        }
        for (int cpu = first; cpu <= last && cpu < CPUS; ++cpu) {
            count += 0 != CPU_ISSET_S(cpu, sizeof(*mask), &mask->set);
        }
        list += ',' == *list ? 1 : 0;
    }
    return count;
}

/** @return the node that has them all, or -1 */
static int find_node(const mask_t *mask, int cores)
{
    DIR *nodes = opendir(NODES);
    const struct dirent *entry;
    int found = -1;

    while (NULL != nodes && NULL != (entry = readdir(nodes))) {
        char path[sizeof(NODES) + sizeof(entry->d_name) + 16], list[LIST_BYTES] = "";
        FILE *in;
        int node;

        if (1 != sscanf(entry->d_name, "node%d", &node)) {
            continue;
        }
        (void) snprintf(path, sizeof(path), "%s/%s/cpulist", NODES, entry->d_name);
        in = fopen(path, "re");
        if (NULL != in) {
            found = NULL != fgets(list, sizeof(list), in) && cores == count_in(list, mask) ? node
                                                                                           : found;
            (void) fclose(in);
        }
    }
    if (NULL != nodes) {
        (void) closedir(nodes);
    }
    return found;
}

static void find_place(void)
{
    mask_t mask;
    const int cores = find_cores(&mask);

    if (0 < cores) {
        write_list(&mask, place.cores, sizeof(place.cores));
        place.node = find_node(&mask, cores);
    }
}

const char *mpix_endpoints_place_cores(void)
{
    (void) pthread_once(&place.once, find_place);
    return '\0' != place.cores[0] ? place.cores : NULL;
}

const int *mpix_endpoints_place_node(void)
{
    (void) pthread_once(&place.once, find_place);
    return 0 <= place.node ? &place.node : NULL;
}

/* ---- the network ----------------------------------------------------------------------------- */

/** Written once, under the lock, when it is asked for and there is one. */
static struct {
    pthread_mutex_t lock;
    bool is_known;
    char provider[MCA_BTL_EP_NAME_BYTES], interface[MCA_BTL_EP_NAME_BYTES];
} network = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *name_of_network(const char *name)
{
    const mpix_endpoints_pml_t *table = mpix_endpoints_table();
    bool is_known;

    pthread_mutex_lock(&network.lock);
    if (!network.is_known && NULL != table) {
        network.is_known = OMPI_SUCCESS == table->network(network.provider, network.interface);
    }
    is_known = network.is_known;
    pthread_mutex_unlock(&network.lock);
    return is_known && '\0' != name[0] ? name : NULL;
}

const char *mpix_endpoints_place_provider(void)
{
    return name_of_network(network.provider);
}

const char *mpix_endpoints_place_interface(void)
{
    return name_of_network(network.interface);
}
