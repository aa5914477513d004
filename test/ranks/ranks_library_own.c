/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The shared library of ranks_library.
 */

#include "ranks_library.h"

#include <mpi.h>

int own_number = 5;
static char text[16];
static MPI_Comm comm = MPI_COMM_WORLD; /* in initialized data */
static _Thread_local int sums;

__attribute__((constructor)) static void construct(void)
{
    static const char word[] = "constructed";

    for (unsigned i = 0; i < sizeof(word); ++i) {
        text[i] = word[i];
    }
}

int *own_address(void)
{
    return &own_number;
}

int own_count(void)
{
    static int count;

    return ++count;
}

int own_rank(void)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int own_self_size(void)
{
    int size;

    MPI_Comm_size(MPI_COMM_SELF, &size);
    return size;
}

int own_sum(int value)
{
    MPI_Allreduce(&value, &sums, 1, MPI_INT, MPI_SUM, comm);
    return sums;
}

const char *own_text(void)
{
    return text;
}

int own_read_programs(void)
{
    return programs_number;
}

int own_call_programs(int x)
{
    return programs_function(x);
}
