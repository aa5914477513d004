/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Large messages between processes whose buffers have the same addresses, so that data out of the
 * wrong process are no error but wrong: plain, and where process ids mean other processes
 * (test/lib/other_process.c).
 *
 * Guards: btl_epshm_node_get.c
 */

/* EPT-CFLAGS: -fno-pie -no-pie */

#include "ept.h"

#include <string.h>

enum { LARGE = 1 << 20 };

static char buffer[2][LARGE]; /* of index 0 and 1 in each process */

/** Around in a ring, in place of what is there already. */
static void case_ring(MPI_Comm comm, struct ept *t)
{
    const int to = (t->rank + 1) % t->size, from = (t->rank + t->size - 1) % t->size;
    char *mine = buffer[t->local];
    MPI_Request request;

    for (int round = 0; round < 20; ++round) {
        char *keep = malloc(LARGE);
        int wrong = 0;

        memset(keep, 17 * round + t->rank, LARGE);
        memset(mine, 17 * round + t->rank, LARGE);
        EPT_OK(t,
               MPI_Isend(0 == round % 2 ? mine : keep, LARGE, MPI_CHAR, to, round, comm, &request));
        EPT_OK(t, MPI_Recv(0 == round % 2 ? keep : mine, LARGE, MPI_CHAR, from, round, comm,
                           MPI_STATUS_IGNORE));
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        for (int i = 0; i < LARGE; ++i) {
            wrong += (char) (17 * round + from) != (0 == round % 2 ? keep : mine)[i];
        }
        EPT_EQ(t, 0, wrong);
        free(keep);
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_ring);
    return 0;
}
