/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * How many ranks this process has: by what the launcher has put into its environment.
 *
 * Tests: install/ranks, install/ranks_refused
 */

#define _GNU_SOURCE

#include "start.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/** More than these fit no process: each has a stack, a copy of the program, rings. */
enum { MOST = 1 << 16 };

static bool is_said(const char *name)
{
    const char *text = getenv(name);

    return NULL != text && '\0' != text[0];
}

bool mpix_ranks_start_is_asked(void)
{
    return is_said("MPIX_RANKS") || is_said("MPIX_RANKS_TOTAL");
}

static int count_number(const char *name, int least)
{
    const char *text = getenv(name);
    char *end;
    long value;

    errno = 0;
    value = strtol(text, &end, 10);
    if (0 != errno || end == text || '\0' != *end || least > value) {
        mpix_ranks_refuse("%s=%s: it has to be a number from %d on", name, text, least);
    }
    return INT_MAX < value ? INT_MAX : (int) value;
}

/** The first processes have one more where the ranks do not divide. */
static int count_share(int total)
{
    static const char *const names[][2] = {
        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
        {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
        {"SLURM_PROCID", "SLURM_NTASKS"},
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        if (is_said(names[i][0]) && is_said(names[i][1])) {
            const int rank = count_number(names[i][0], 0), size = count_number(names[i][1], 1);

            return total / size + (rank < total % size ? 1 : 0);
        }
    }
    mpix_ranks_refuse("the launcher does not say how many processes there are, which have to share "
                      "MPIX_RANKS_TOTAL=%d; MPIX_RANKS says how many ranks each process has",
                      total);
}

int mpix_ranks_start_count(void)
{
    const int count = is_said("MPIX_RANKS") ? count_number("MPIX_RANKS", 1)
                                            : count_share(count_number("MPIX_RANKS_TOTAL", 1));

    if (MOST < count) {
        mpix_ranks_refuse("%d ranks in one process are too many", count);
    }
    return count;
}
