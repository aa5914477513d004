/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A process that has descriptors for its own segment and none for a local peer's: an error on
 * both, with a text that says so, and no hang.
 *
 * Guards: btl_epshm_peer_proc.c
 */

#include <mpi.h>
#include <mpi-ext.h>

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/** Use up all but one. */
static void use_up(void)
{
    struct rlimit limit;
    int last = -1, fd;

    (void) getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 256 < limit.rlim_max ? 256 : limit.rlim_max;
    (void) setrlimit(RLIMIT_NOFILE, &limit);
    while (0 <= (fd = open("/dev/null", O_RDONLY))) {
        last = fd;
    }
    (void) close(last);
}

int main(int argc, char **argv)
{
    int provided, rank, rc, class = MPI_SUCCESS, right, both = 0;
    MPI_Comm comm;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Allreduce(&rank, &both, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* they are connected */
    if (0 == rank) {
        use_up();
    }
    rc = MPIX_Comm_create_endpoints(MPI_COMM_WORLD, 1, MPI_INFO_NULL, &comm);
    MPI_Error_class(rc, &class);
    right = MPI_SUCCESS != class;
    MPI_Allreduce(&right, &both, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("1..1\n%sok 1 - both get an error\n", 2 == both ? "" : "not ");
    }
    fflush(stdout);
    for (int fd = 200; fd < 256 && 0 == rank; ++fd) {
        (void) close(fd); /* MPI_Finalize needs some */
    }
    MPI_Finalize();
    return 0;
}
