/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* EPT-CFLAGS: -fopenmp */
/**
 * @file
 *
 * Endpoints from inside an OpenMP parallel region: one thread creates while the others wait at a
 * barrier, then each thread takes the handle of its own number (the pattern of Listing 1 of
 * Dinan et al. 2014).
 *
 *   --threads N   OpenMP threads per process (default 4)
 *
 * Guards: pml_epml_create.c, pml_epml_creation.c
 */

#include "ept.h"

#include <omp.h>

struct region {
    int num; /* threads and endpoints of this process */
    MPI_Comm comms[64];
};

/* What each thread does with the team's handles; errors are checked under the harness's rank t. */
static void body(struct ept *t, struct region *r, MPI_Comm parent)
{
    int me = omp_get_thread_num();

#pragma omp master
    {
        EPT_EQ(t, r->num, omp_get_num_threads());
        EPT_OK(t, ept_create_endpoints(parent, r->num, MPI_INFO_NULL, r->comms));
    }
#pragma omp barrier
    ept_use_comm(t, r->comms[me], t->proc * r->num + me, t->nprocs * r->num);
    EPT_OK(t, MPI_Comm_free(&r->comms[me]));
#pragma omp barrier
    /* Any thread may create, not only the master. */
#pragma omp single
    {
        EPT_OK(t, ept_create_endpoints(parent, r->num, MPI_INFO_NULL, r->comms));
    }
    ept_use_comm(t, r->comms[me], t->proc * r->num + me, t->nprocs * r->num);
#pragma omp barrier
#pragma omp single
    {
        for (int i = 0; i < r->num; ++i) {
            EPT_OK(t, MPI_Comm_free(&r->comms[i]));
        }
    }
}

static void case_region(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    for (int round = 0; 0 == t->local && round < 3; ++round) {
        struct region r = {.num = ept_count(t, (int) ept_option_long("threads", 4))};

        ept_phase(t, "round %d, %d threads", round, r.num);
#pragma omp parallel num_threads(r.num)
        body(t, &r, MPI_COMM_WORLD);
    }
    ept_local_barrier(t);
}

/* The team computes and communicates in turns, as a hybrid program does: a sum over all threads of
 * all processes, by hand around a ring of endpoints, against the closed form. */
static void case_compute(MPI_Comm comm, struct ept *t)
{
    struct region r = {.num = ept_count(t, (int) ept_option_long("threads", 4))};
    int total = t->nprocs * r.num;

    (void) comm;
    if (0 == t->local) {
        EPT_OK(t, ept_create_endpoints(MPI_COMM_WORLD, r.num, MPI_INFO_NULL, r.comms));
#pragma omp parallel num_threads(r.num)
        {
            int me = omp_get_thread_num(), rank;
            long sum, pass;

            EPT_OK(t, MPI_Comm_rank(r.comms[me], &rank));
            for (int step = 0; step < 10; ++step) {
                sum = pass = (long) rank * (step + 1);
                for (int hop = 1; hop < total; ++hop) {
                    EPT_OK(t, MPI_Sendrecv_replace(&pass, 1, MPI_LONG, (rank + 1) % total, step,
                                                   (rank - 1 + total) % total, step, r.comms[me],
                                                   MPI_STATUS_IGNORE));
                    sum += pass;
                }
                EPT_EQ(t, (long) total * (total - 1) / 2 * (step + 1), sum);
#pragma omp barrier
            }
            EPT_OK(t, MPI_Comm_free(&r.comms[me]));
        }
    }
    ept_local_barrier(t);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_region);
    EPT_CASE(t, case_compute);
    return 0;
}
