/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * How many endpoints a process could have: cores, the limit, what is there already, and, where the
 * members are on several nodes, descriptors; asking opens nothing.
 *
 *   --limit N  pml_epml_max_endpoints of this run
 *   --net 1    processes are on several nodes
 *
 * Guards: query_number.c, pml_epml_num_endpoints.c, pml_epml_oversubscription.c, btl_epofi_context_limit.c
 */

#define _GNU_SOURCE

#include "ept.h"

#if defined(HAVE_EP)

#    include <dirent.h>
#    include <sched.h>
#    include <sys/resource.h>

/* What epinfo asks. */
int mpix_endpoints_report(char *text, size_t size);

static int optimal, maximum;

static void ask(struct ept *t, MPI_Comm parent)
{
    optimal = maximum = -1;
    EPT_OK(t, MPIX_Query_endpoints_number(parent, &optimal, &maximum));
    EPT_CHECK(t, 1 <= optimal && optimal <= maximum, "optimal %d, maximum %d", optimal, maximum);
}

/* Descriptors that are open. */
static int open_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;

    while (NULL != folder && NULL != readdir(folder)) {
        ++count;
    }
    if (NULL != folder) {
        (void) closedir(folder);
    }
    return count;
}

/* All threads of this process, by turns on the first of their cores and where they were. */
static void bind_all(struct ept *t, const cpu_set_t *to)
{
    DIR *folder = opendir("/proc/self/task");
    struct dirent *entry;

    while (NULL != folder && NULL != (entry = readdir(folder))) {
        if (0 < atoi(entry->d_name)) {
            EPT_EQ(t, 0, sched_setaffinity(atoi(entry->d_name), sizeof(*to), to));
        }
    }
    if (NULL != folder) {
        (void) closedir(folder);
    }
}

/* All threads on the first of their cores.  @param[out] before  where this one was */
static void bind_to_first(struct ept *t, cpu_set_t *before)
{
    cpu_set_t one;
    int cpu = 0;

    EPT_EQ(t, 0, sched_getaffinity(0, sizeof(*before), before));
    while (!CPU_ISSET(cpu, before)) {
        ++cpu;
    }
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    bind_all(t, &one);
}

/* Before any endpoint: what was asked before the threads were bound does not decide about
 * oversubscription. */
static void case_bound_later(MPI_Comm comm, struct ept *t)
{
    MPI_Comm comms[2];
    cpu_set_t before;
    char text[8192];

    (void) comm;
    ask(t, MPI_COMM_SELF);
    bind_to_first(t, &before);
    EPT_OK(t, MPIX_Comm_create_endpoints(MPI_COMM_SELF, 2, MPI_INFO_NULL, comms));
    EPT_EQ(t, MPI_SUCCESS, mpix_endpoints_report(text, sizeof(text)));
    EPT_CHECK(t, NULL != strstr(text, " 1 for this process"), "not one core: %s", text);
    EPT_OK(t, MPI_Comm_free(&comms[0]));
    EPT_OK(t, MPI_Comm_free(&comms[1]));
    bind_all(t, &before);
}

static void case_cores(MPI_Comm comm, struct ept *t)
{
    cpu_set_t before;

    (void) comm;
    bind_to_first(t, &before);
    ask(t, MPI_COMM_SELF);
    EPT_EQ(t, 1, optimal);
    bind_all(t, &before);
    ask(t, MPI_COMM_SELF);
    EPT_CHECK(t, CPU_COUNT(&before) >= optimal, "%d cores, and %d endpoints are best",
              CPU_COUNT(&before), optimal);
    EPT_CHECK(t, 2 > CPU_COUNT(&before) || 1 < optimal, "%d cores, and one endpoint is best",
              CPU_COUNT(&before));
}

/* What there may be, and what is left of it. */
static void case_limit(MPI_Comm comm, struct ept *t)
{
    const int limit = (int) ept_option_long("limit", 0);
    MPI_Comm comms[3];

    (void) comm;
    if (0 == limit) {
        return;
    }
    ask(t, MPI_COMM_SELF);
    EPT_EQ(t, limit, maximum);
    EPT_OK(t, MPIX_Comm_create_endpoints(MPI_COMM_SELF, 3, MPI_INFO_NULL, comms));
    ask(t, MPI_COMM_SELF);
    EPT_EQ(t, limit - 3, maximum);
    ask(t, comms[1]);
    EPT_EQ(t, limit - 3, maximum);
    for (int i = 0; i < 3; ++i) {
        EPT_OK(t, MPI_Comm_free(&comms[i]));
    }
    ask(t, MPI_COMM_SELF);
    EPT_EQ(t, limit, maximum);
}

/* As many as descriptors allow; asking takes none. */
static void case_net(MPI_Comm comm, struct ept *t)
{
    struct rlimit before = {0}, few;
    int files;

    if (0 == ept_option_long("net", 0)) {
        return;
    }
    ask(t, comm); /* and the network has been chosen */
    files = open_files();
    EPT_EQ(t, 0, getrlimit(RLIMIT_NOFILE, &before));
    few = before;
    few.rlim_cur = (rlim_t) files + 40;
    EPT_EQ(t, 0, setrlimit(RLIMIT_NOFILE, &few));
    ask(t, comm);
    EPT_CHECK(t, 9 <= maximum && 11 >= maximum, "40 descriptors, and %d endpoints", maximum);
    EPT_EQ(t, files, open_files());
    EPT_EQ(t, 0, setrlimit(RLIMIT_NOFILE, &before));
}

static void case_wrong(MPI_Comm comm, struct ept *t)
{
    int number;

    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    EPT_CLASS(t, MPI_ERR_COMM, MPIX_Query_endpoints_number(MPI_COMM_NULL, &number, &number));
    EPT_CLASS(t, MPI_ERR_ARG, MPIX_Query_endpoints_number(comm, NULL, &number));
    EPT_CLASS(t, MPI_ERR_ARG, MPIX_Query_endpoints_number(comm, &number, NULL));
    EPT_CLASS(t, MPI_ERR_COMM, MPIX_Comm_num_endpoints(MPI_COMM_NULL, &number, &number));
    EPT_CLASS(t, MPI_ERR_ARG, MPIX_Comm_num_endpoints(comm, NULL, &number));
    EPT_CLASS(t, MPI_ERR_ARG, MPIX_Comm_num_endpoints(comm, &number, NULL));
}

#endif

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
#if defined(HAVE_EP)
    EPT_CASE(t, case_bound_later);
    EPT_CASE(t, case_cores);
    EPT_CASE(t, case_limit);
    EPT_CASE(t, case_net);
    EPT_CASE(t, case_wrong);
#else
    ept_skip(t, "number", "needs endpoints");
#endif
    return 0;
}
