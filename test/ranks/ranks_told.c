/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What stays the process's, and would give a rank wrong results silently, is told, once each: what must
 * be said is in lib/Ept/Table/Ranks.pm.
 *
 * Guards: process_state.c, environ.c, execute.c
 */

#define _GNU_SOURCE

#include "check.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    rank = ranks_rank();
    for (int i = 0; i < 2; ++i) { /* the second time, each rank sets what another one has set */
        (void) setlocale(LC_ALL, i == rank % 2 ? "C.UTF-8" : "C");
        (void) alarm(0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    setenv("OMPI_MCA_ept_no_such", "1", 1);
    if (1 == rank && (0 <= execl("/bin/true", "true", NULL) || ENOTSUP != errno)) {
        return 2;
    }
    MPI_Finalize();
    return 0;
}
