/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * OpenMP inside ranks: threads of a rank see its globals and its MPI_COMM_WORLD, call MPI below
 * MPI_THREAD_MULTIPLE, and know what MPI_Is_thread_main and MPI_Query_thread say.
 *
 * EPT-CFLAGS: -fopenmp
 * EPT-LIBS: -fopenmp
 *
 * Guards: ranks/start, ranks/mpi
 */

#include "check.h"

#include <omp.h>

enum { THREADS = 3 };

static int number;
static int of_thread[THREADS];
static int per_thread;
#pragma omp threadprivate(per_thread)

static void check_level(int provided)
{
    int level, is_main, others = 0;

    CHECK(MPI_THREAD_MULTIPLE == provided);
    MPI_Query_thread(&level);
    MPI_Is_thread_main(&is_main);
    CHECK(provided == level && is_main);
#pragma omp parallel num_threads(THREADS) reduction(+ : others)
    {
        int mine;
        MPI_Is_thread_main(&mine);
        others += 0 != omp_get_thread_num() && mine;
    }
    CHECK(0 == others);
    ranks_case("thread levels");
}

static void check_globals(void)
{
    const int rank = ranks_rank();
    int wrong = 0;

    number = 1 + rank;
#pragma omp parallel num_threads(THREADS) reduction(+ : wrong)
    {
        int mine;
        MPI_Comm_rank(MPI_COMM_WORLD, &mine);
        wrong += rank != mine || 1 + rank != number;
        per_thread = 10 * rank + omp_get_thread_num();
        of_thread[omp_get_thread_num()] = per_thread;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < THREADS; ++i) {
        CHECK(10 * rank + i == of_thread[i]);
    }
    CHECK(0 == wrong);
    ranks_case("globals in a team");
}

/* Each thread talks to the thread of its number in the next rank. */
static void check_messages(void)
{
    const int rank = ranks_rank(), size = ranks_size();
    int wrong = 0;

#pragma omp parallel num_threads(THREADS) reduction(+ : wrong)
    {
        const int tag = omp_get_thread_num();
        for (int i = 0; i < 100; ++i) {
            int mine = 1000 * rank + 10 * i + tag, got = -1;
            MPI_Sendrecv(&mine, 1, MPI_INT, (rank + 1) % size, tag, &got, 1, MPI_INT,
                         (rank + size - 1) % size, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            wrong += 1000 * ((rank + size - 1) % size) + 10 * i + tag != got;
        }
    }
    CHECK(0 == wrong);
    ranks_case("messages of a team");
}

static void check_reduction(void)
{
    long sum = 0, all = 0;
    const int rank = ranks_rank(), size = ranks_size();

#pragma omp parallel for num_threads(THREADS) reduction(+ : sum) schedule(dynamic, 7)
    for (int i = rank; i < 1000 * size; i += size) {
        sum += i;
    }
    MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(1000L * size * (1000L * size - 1) / 2 == all);
    ranks_case("a loop that ranks and threads share");
}

int main(int argc, char **argv)
{
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    check_level(provided);
    check_globals();
    check_messages();
    check_reduction();
    return ranks_end();
}
