/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/*
 * One HDF5 file that all threads of all processes write together.  HDF5 is made for one thread, so
 * each has a copy of it (private_copy.c); what it does with it is in hdf5_part.c.
 *
 *     epmpicc -shared -fPIC $(pkg-config --cflags hdf5-openmpi) hdf5_part.c -o hdf5_part.so \
 *         $(pkg-config --libs hdf5-openmpi)
 *     epmpicc -fopenmp hdf5_threads.c private_copy.c -o hdf5_threads
 *     epmpirun -n 2 ./hdf5_threads ./hdf5_part.so libhdf5_openmpi.so.310 2
 *
 * The library's name is as `ldd ./hdf5_part.so` shows it (Debian 13's here); behind it, how many
 * threads.  The file is in /tmp, and removed in the end.
 */

#include "private_copy.h"

#include <mpi.h>
#include <mpi-ext.h>
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char file_name[64]; /* of the job */

typedef int (*part_fn_t)(MPI_Comm comm, const char *name);

/* What one thread does with its copies.  Returns how many values are wrong, or -1. */
static int run(void *const copies[], MPI_Comm comm)
{
    part_fn_t part;
    MPI_Comm self;
    int rank, wrong;

    /* HDF5 leaves a note with MPI_COMM_SELF to be notified when MPI ends: here, when this is
     * freed. */
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_split(comm, rank, 0, &self);
    if (NULL != private_copy_worlds(copies[0], comm, self)) {
        return -1;
    }
    *(void **) &part = dlsym(copies[1], "hdf5_part");
    wrong = NULL == part ? -1 : part(comm, file_name);
    MPI_Comm_free(&self);
    return wrong;
}

int main(int argc, char *argv[])
{
    const char *library = 2 < argc ? argv[2] : "libhdf5_openmpi.so.310";
    int threads = 3 < argc ? atoi(argv[3]) : 2, processes, process, provided, wrong = 0;

    if (2 > argc || 1 > threads) {
        fprintf(stderr, "usage: hdf5_threads PART.so [LIBRARY [THREADS]]\n");
        return 1;
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    if (0 == process) {
        snprintf(file_name, sizeof(file_name), "/tmp/hdf5_threads-%ld.h5", (long) getpid());
    }
    MPI_Bcast(file_name, sizeof(file_name), MPI_CHAR, 0, MPI_COMM_WORLD);

    MPI_Comm *ep = malloc((size_t) threads * sizeof(*ep));
    void *(*copies)[2] = malloc((size_t) threads * sizeof(*copies));

    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, threads, MPI_INFO_NULL, ep);
    for (int i = 0; i < threads; ++i) {
        const char *why = private_copy(argv[1], &library, 1, i, copies[i]);

        if (NULL != why) {
            fprintf(stderr, "hdf5_threads: %s\n", why);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
#pragma omp parallel num_threads(threads) reduction(+ : wrong)
    {
        int me = omp_get_thread_num(), mine, all, rank;

        mine = 0 != run(copies[me], ep[me]);
        MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, ep[me]);
        MPI_Comm_rank(ep[me], &rank);
        if (0 == rank) {
            printf("hdf5_threads: %d processes, %d threads each, one file: %s\n", processes,
                   threads, 0 == all ? "right" : "WRONG");
            unlink(file_name);
        }
        wrong += all;
        MPI_Comm_free(&ep[me]);
    }
    free(copies);
    free(ep);
    MPI_Finalize();
    return 0 == wrong ? 0 : 1;
}
