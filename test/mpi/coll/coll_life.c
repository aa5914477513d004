/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Nonblocking collectives on communicators that come and go: in each round every rank makes one,
 * has a collective on it, and frees it, so that over and over the process has no communicator with
 * such a collective, and then the first one again (hook_progress.c).
 *
 *   --rounds N  per case (default 1000)
 *
 * Guards: hook_progress.c, pml_epml_cid_nb.c, coll_epcoll_pending.c,
 * coll_epcoll_nonblocking.c, coll_epcoll_component.c,
 * coll_epcoll_module.c
 */

#include "ept.h"

static void one_round(struct ept *t, MPI_Comm parent, int round)
{
    int mine = round + 1, sum = -1, rank;
    MPI_Request request;
    MPI_Comm comm;

    EPT_OK(t, MPI_Comm_dup(parent, &comm));
    MPI_Comm_rank(comm, &rank);
    EPT_OK(t, MPI_Iscan(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, &request));
    EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    EPT_CHECK(t, (rank + 1) * (round + 1) == sum, "round %d: sum %d of rank %d", round, sum, rank);
    EPT_OK(t, MPI_Comm_free(&comm));
}

static void rounds(struct ept *t, MPI_Comm parent)
{
    const int count = (int) ept_option_long("rounds", 1000);

    for (int round = 0; round < count; ++round) {
        ept_phase(t, "round %d of %d", round, count);
        one_round(t, parent, round);
    }
}

/* Each rank for itself: nobody waits for anybody. */
static void case_alone(MPI_Comm comm, struct ept *t)
{
    MPI_Comm alone;

    EPT_OK(t, MPI_Comm_split(comm, t->rank, 0, &alone));
    rounds(t, alone);
    EPT_OK(t, MPI_Comm_free(&alone));
}

static void case_together(MPI_Comm comm, struct ept *t)
{
    rounds(t, comm);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_alone);
    EPT_CASE(t, case_together);
    return 0;
}
