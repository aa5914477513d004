/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/*
 * OpenMP threads that are attached to endpoints: those of a process gather their numbers.
 *
 * Listings 2 to 4 of the MPI Forum's hybrid working group, "Supporting Multiple Endpoints per
 * Process", 2010, made complete:
 *
 *   team     as many threads as endpoints, in a parallel region (listing 2)
 *   dynamic  OpenMP decides how many threads there are; endpoints are made for so many, inside of
 *            the region (listing 3)
 *   loop     a parallel loop instead of a region (listing 4, which is incorrect): one thread may get
 *            two iterations.  It cannot be attached twice, and gets an error.  In the proposal
 *            it hangs.
 *
 *     epmpicc -fopenmp static_openmp.c -o static_openmp
 *     OMP_NUM_THREADS=4 epmpirun -n 2 ./static_openmp team
 *
 * Exit status 0: it was as it should be; the loop: the error was the right one.
 */

#include <mpi.h>
#include <mpi-ext.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ENDPOINTS 64

static MPIX_Endpoint endpoint[MAX_ENDPOINTS];

/* Rank 0 of comm gets the number of each thread, which is its rank.  @return is one wrong? */
static int gather(MPI_Comm comm, int thread)
{
    int rank, size, wrong = 0, numbers[MAX_ENDPOINTS];

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Gather(&thread, 1, MPI_INT, numbers, 1, MPI_INT, 0, comm);
    for (int i = 0; 0 == rank && i < size; ++i) {
        wrong |= i != numbers[i];
    }
    return wrong;
}

/* Listing 2. */
static int team(int count)
{
    int wrong = 0;

    omp_set_dynamic(0);
#pragma omp parallel num_threads(count) reduction(+ : wrong)
    {
        const int thread = omp_get_thread_num();

        MPIX_Thread_detach(); /* from the first one, where threads are by default */
        MPIX_Thread_attach(endpoint[thread]);
        wrong += gather(MPIX_COMM_PROCESS, thread);
        MPIX_Thread_detach();
    }
    return wrong;
}

/* Listing 3, with endpoints for the team that there is. */
static int dynamic(int count)
{
    MPI_Comm comms[MAX_ENDPOINTS];
    int wrong = 0;

    omp_set_dynamic(1);
#pragma omp parallel num_threads(count) reduction(+ : wrong)
    {
        const int thread = omp_get_thread_num();

#pragma omp master
        {
            MPIX_Comm_create_endpoints(MPI_COMM_SELF, omp_get_num_threads(), MPI_INFO_NULL, comms);
        }
#pragma omp barrier
        wrong += gather(comms[thread], thread);
        MPI_Comm_free(&comms[thread]);
    }
    return wrong;
}

/* Listing 4: what a thread gets that is attached, and has another iteration. */
static int loop(int count)
{
    int refused = 0, right = 0;

    /* The one for calls without a communicator: of either, by the version of MPI. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    omp_set_dynamic(0);
    /* As the runtime may do: fewer threads than iterations. */
#pragma omp parallel num_threads((count + 1) / 2) reduction(+ : refused, right)
    {
        MPIX_Thread_detach();
#pragma omp for schedule(static)
        for (int i = 0; i < count; ++i) {
            const int code = MPIX_Thread_attach(endpoint[i]);
            char text[MPI_MAX_ERROR_STRING];
            int class, length;

            if (MPI_SUCCESS != code) {
                MPI_Error_class(code, &class);
                MPI_Error_string(code, text, &length);
                right += MPIX_ERR_ENDPOINTS == class && NULL != strstr(text, "is attached");
                ++refused;
            }
        }
        MPIX_Thread_detach();
    }
    return refused != count / 2 || right != refused;
}

int main(int argc, char **argv)
{
    const char *what = 1 < argc ? argv[1] : "team";
    int count = omp_get_max_threads(), rank, wrong, anywhere = 1;

    count = MAX_ENDPOINTS < count ? MAX_ENDPOINTS : count;
    if (0 != strcmp(what, "team") && 0 != strcmp(what, "dynamic") && 0 != strcmp(what, "loop")) {
        fprintf(stderr, "usage: static_openmp [team | dynamic | loop]\n");
        return 2;
    }
    MPIX_Init_endpoint(&argc, &argv, count, MPI_THREAD_FUNNELED, endpoint);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    wrong = 0 == strcmp(what, "dynamic") ? dynamic(count)
            : 0 == strcmp(what, "loop")  ? loop(count)
                                         : team(count);
    MPIX_Thread_attach_index(0);
    MPI_Allreduce(&wrong, &anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("static_openmp: %s, %d endpoints each: %s\n", what, count,
               anywhere ? "WRONG" : "right");
    }
    MPI_Finalize();
    return anywhere;
}
