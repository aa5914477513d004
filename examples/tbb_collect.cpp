/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/*
 * Tasks that send what they have computed, each from the endpoint of the thread that runs it, with
 * oneTBB (mpix_tbb.hpp).  Endpoint 0 of each process is its main thread's, the others are for the
 * arena; the main thread of process 0 collects, and counts the messages of each sender.
 *
 *     epmpicxx tbb_collect.cpp -ltbb -o tbb_collect
 *     epmpirun -n 2 ./tbb_collect [endpoints per process, default 4, at least 2]
 *
 * EPT-LIBS: -ltbb
 */

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_group.h>

#include "mpix_tbb.hpp"

static const int items = 1000;

/* How long 3n + 1 goes on from here until it is at 1. */
static int length_from(long long n)
{
    int steps = 0;

    for (; 1 != n; ++steps) {
        n = n % 2 ? 3 * n + 1 : n / 2;
    }
    return steps;
}

/* The items of a process: one task sends one or several, each with its number as the tag. */
static void send_items(int process, int processes)
{
    const tbb::blocked_range<int> all(0, (items - process + processes - 1) / processes);

    tbb::parallel_for(all, [=](const tbb::blocked_range<int> &some) {
        for (int i = some.begin(); i < some.end(); ++i) {
            const int item = process + i * processes, steps = length_from(item + 1);

            MPI_Send(&steps, 1, MPI_INT, 0, item, MPIX_COMM_ENDPOINTS);
        }
    });
}

/* All items, from whichever rank.  Returns: how many are wrong, come twice, or are from a rank that
 * is a main thread's. */
static int collect(int endpoints)
{
    const MPI_Comm comm = MPIX_COMM_ENDPOINTS;
    std::vector<bool> seen(items);
    int wrong = 0;

    for (int i = 0; i < items; ++i) {
        MPI_Status status;
        int steps;

        MPI_Recv(&steps, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
        wrong += length_from(status.MPI_TAG + 1) != steps || seen[status.MPI_TAG]
                 || 0 == status.MPI_SOURCE % endpoints;
        seen[status.MPI_TAG] = true;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    const int endpoints = 1 < argc ? std::atoi(argv[1]) : 4;
    std::vector<MPIX_Endpoint> endpoint(endpoints < 2 ? 2 : endpoints);
    int process, processes, wrong = 0, anywhere = 1;

    if (2 > endpoints) {
        std::fprintf(stderr, "tbb_collect: at least two endpoints in each process\n");
        return 1;
    }
    MPIX_Init_endpoint(&argc, &argv, endpoints, MPI_THREAD_FUNNELED, endpoint.data());
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    {
        /* As many threads as there are endpoints, on however many cores. */
        tbb::global_control threads(tbb::global_control::max_allowed_parallelism, endpoints);
        tbb::task_arena arena(endpoints - 1, 0);
        mpix_tbb_attach attach(arena, 1);
        tbb::task_group tasks;

        arena.enqueue(tasks.defer([=] { send_items(process, processes); }));
        if (0 == process) {
            wrong = collect(endpoints);
        }
        arena.execute([&] { tasks.wait(); });
    }
    MPI_Allreduce(&wrong, &anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (0 == process) {
        std::printf("tbb_collect: %d processes, %d endpoints each, %d items: %s\n", processes,
                    endpoints, items, anywhere ? "WRONG" : "right");
    }
    MPI_Finalize();
    return anywhere;
}
