/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * For tsan.t: a program without a race whose threads are OpenMP's.  Regions, barriers, loops, critical regions and
 * locks order them, and messages.
 */

#include <mpi.h>
#include <mpi-ext.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { EP = 3 };

static void expect(int got, int right)
{
    if (got != right) {
        fprintf(stderr, "%d instead of %d\n", got, right);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm ep[EP];
    omp_lock_t lock;
    int level, before[EP] = {0}, after[EP] = {0}, sum = 0, critical = 0, named = 0, locked = 0,
               sections = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, EP, MPI_INFO_NULL, ep);
    omp_init_lock(&lock);
    omp_set_dynamic(0);
    for (int round = 1; round <= 3; ++round) {
#pragma omp parallel num_threads(EP) reduction(+ : sum)
        {
            const int me = omp_get_thread_num(), next = (me + 1) % EP,
                      previous = (me + EP - 1) % EP;

            before[me] = round;
            MPI_Sendrecv(NULL, 0, MPI_INT, next, 0, NULL, 0, MPI_INT, previous, 0, ep[me],
                         MPI_STATUS_IGNORE);
            expect(before[previous], round);
            after[me] = round;
#pragma omp barrier
            expect(after[next], round);
            sum += after[me];
#pragma omp critical
            ++critical;
#pragma omp critical(named)
            ++named;
            omp_set_lock(&lock);
            ++locked;
            omp_unset_lock(&lock);
#pragma omp barrier
#pragma omp for schedule(dynamic)
            for (int i = 0; i < EP; ++i) {
                before[i] = -round;
            }
            expect(before[previous], -round);
        }
        expect(sum, EP * round * (round + 1) / 2);
        for (int i = 0; i < EP; ++i) {
            expect(before[i], -round);
        }
#pragma omp parallel for schedule(dynamic) num_threads(EP)
        for (int i = 0; i < EP; ++i) {
            after[i] = 2 * round;
        }
#pragma omp parallel sections num_threads(EP)
        {
#pragma omp section
            expect(after[0], 2 * round);
#pragma omp section
            ++sections;
        }
        expect(after[EP - 1], 2 * round);
        expect(sections, round);
    }
    expect(critical, 3 * EP);
    expect(named, 3 * EP);
    expect(locked, 3 * EP);
    omp_destroy_lock(&lock);
    for (int i = 0; i < EP; ++i) {
        MPI_Comm_free(&ep[i]);
    }
    MPI_Finalize();
    printf("right\n");
    return 0;
}
