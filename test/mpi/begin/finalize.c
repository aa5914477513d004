/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Finalize with endpoints alive: the run's own (give --keep 1), a second set, and communicators
 * derived from both.  What is tested comes after the last TAP line: the program must end, with
 * status 0 and without a word.
 *
 * Guards: pml_epml_pmix.c, pml_epml_finalize.c, comm_disconnect.c
 */

#include "ept.h"

static void case_leave_alive(MPI_Comm comm, struct ept *t)
{
    MPI_Comm derived, half;
    MPI_Comm *comms = malloc(4 * sizeof(*comms));
    int num = ept_count(t, 2);

    EPT_OK(t, MPI_Comm_dup(comm, &derived));
    ept_use_comm(t, derived, t->rank, t->size);
    EPT_OK(t, MPI_Comm_split(derived, t->rank % 2, 0, &half));
    if (0 == t->local) {
        EPT_OK(t, ept_create_endpoints(MPI_COMM_WORLD, num, MPI_INFO_NULL, comms));
        /* One of them is freed, the other stays. */
        if (2 == num) {
            EPT_OK(t, MPI_Comm_free(&comms[1]));
        }
    }
    ept_local_barrier(t);
    free(comms);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_leave_alive);
    return 0;
}
