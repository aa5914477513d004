/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPIX_Get_UPC_numprogs and MPIX_Get_UPC_config: which programs make up the job, and how many threads
 * of a PGAS language each has.
 *
 * A program is one of the launcher's line, between colons.  The launcher tells each process how many
 * processes each program has (Open MPI's variables), and epmpirun how many threads each of them
 * (PROGRAMS_VARIABLE, where there are several programs).  So it is known before MPI has begun.
 *
 * Tests: pgas
 */

#include "ompi_config.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_c.h"
#include "../base/base.h"
#include "calls.h"

#include <limits.h>
#include <stdlib.h>

/** For each program the number of endpoints that its processes were told; separated by commas. */
#define PROGRAMS_VARIABLE "MPIX_PROGRAMS"

/** The next number of a list, from 1 on, or 0.  @param[in,out] text  goes behind it */
static int next_number(const char **text)
{
    char *end = NULL;
    const long number = NULL != *text ? strtol(*text, &end, 10) : 0;

    if (NULL == end || *text == end || 1 > number || INT_MAX < number) {
        *text = NULL;
        return 0;
    }
    *text = '\0' != *end ? end + 1 : NULL;
    return (int) number;
}

static int query_programs_count(void)
{
    const int told = mpix_endpoints_told("OMPI_NUM_APP_CTX", 1, INT_MAX);

    return 1 < told ? told : 1;
}

/** Processes of the next program.  @param[in,out] list  of Open MPI's; NULL at its end */
static int next_processes(const char **list)
{
    const int number = next_number(list);

    if (0 < number || 1 < query_programs_count()) {
        return number;
    }
    return mpix_endpoints_told("OMPI_COMM_WORLD_SIZE", 1, INT_MAX);
}

int mpix_endpoints_call_numprogs(int *num_progs)
{
    if (NULL == num_progs) {
        return MPI_ERR_ARG;
    }
    *num_progs = query_programs_count();
    return MPI_SUCCESS;
}

int mpix_endpoints_call_config(int num_progs, int *my_prog, int num_threads[])
{
    const char *processes = getenv("OMPI_APP_CTX_NUM_PROCS"), *threads = getenv(PROGRAMS_VARIABLE);
    const int rank = mpix_endpoints_told("OMPI_COMM_WORLD_RANK", 0, INT_MAX);
    const int own = mpix_endpoints_told(MPIX_ENDPOINTS_NUMBER_VARIABLE, 1, INT_MAX);
    int first = 0;

    if (NULL == my_prog || NULL == num_threads || query_programs_count() != num_progs) {
        return MPI_ERR_ARG;
    }
    if (0 > rank) {
        return MPI_ERR_OTHER;
    }
    for (int i = 0; i < num_progs; ++i) {
        const int count = next_processes(&processes), told = next_number(&threads);

        if (0 >= count) {
            return MPI_ERR_OTHER; /* the launcher is not Open MPI's */
        }
        num_threads[i] = count * (0 < told ? told : 1 < own ? own : 1);
        if (first <= rank) {
            *my_prog = i;
        }
        first += count;
    }
    return MPI_SUCCESS;
}

MPIX_ENDPOINTS_EXPORT int PMPIX_Get_UPC_numprogs(int *num_progs)
    __attribute__((alias("mpix_endpoints_call_numprogs")));
MPIX_ENDPOINTS_EXPORT int MPIX_Get_UPC_numprogs(int *num_progs)
    __attribute__((weak, alias("mpix_endpoints_call_numprogs")));

MPIX_ENDPOINTS_EXPORT int PMPIX_Get_UPC_config(int num_progs, int *my_prog, int num_threads[])
    __attribute__((alias("mpix_endpoints_call_config")));
MPIX_ENDPOINTS_EXPORT int MPIX_Get_UPC_config(int num_progs, int *my_prog, int num_threads[])
    __attribute__((weak, alias("mpix_endpoints_call_config")));
