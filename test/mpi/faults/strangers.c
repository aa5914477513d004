/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Another user of the node attacks the folder of the segments: a whole job does not wait for that,
 * and does not go over the network.  Two processes; the first one is root, and becomes the other
 * user in a child.  The folder is the test's own.
 *
 * The other user holds leases on files that are named as ours are: an open of one of them waits for
 * three quarters of a minute, and is reported to the holder, so that it can be counted.
 *
 * Guards: btl_epshm_segment_file.c, btl_epofi_calls.c, btl_epofi_sockets.c, btl_epofi_socket.c,
 * btl_epofi_connector.c
 */

#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* leases */
#endif

#include <mpi.h>
#include <mpi-ext.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STRANGER = 65534, FILES = 100, LARGE = 1 << 20 };

static char folder[64];
static volatile sig_atomic_t breaks;

static void on_break(int signum)
{
    (void) signum;
    ++breaks;
}

/** @return the child's exit status: how often a process tried to open one of its files; 100: it
 * could not */
static int stranger(int input, int output)
{
    char path[160], byte = 'r';

    signal(SIGIO, on_break);
    (void) umask(0);
    if (0 != setgid(STRANGER) || 0 != syscall(SYS_setuid, STRANGER)) {
        return 100;
    }
    for (int i = 0; i < FILES; ++i) {
        int fd;

        /* As of other jobs that have left them; with and without the random part. */
        snprintf(path, sizeof(path), "%s/epshm.0.deadbeef.%d%s", folder, i,
                 i % 2 ? "" : ".0123456789abcdef");
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (0 > fd || 0 != fcntl(fd, F_SETLEASE, F_WRLCK)) {
            return 100;
        }
    }
    (void) !write(output, &byte, 1);
    while (0 > read(input, &byte, 1)) {
        /* a signal; or the job has ended */
    }
    return breaks;
}

/** Before MPI is.  @return where a byte ends the child */
static int start_stranger(pid_t *pid_p)
{
    int there[2], back[2];
    char byte;

    if (0 != mkdir(folder, 0700) || 0 != chmod(folder, 01777) || 0 != pipe(there)
        || 0 != pipe(back)) {
        return -1;
    }
    *pid_p = fork();
    if (0 == *pid_p) {
        (void) close(back[0]);
        (void) close(there[1]);
        _exit(stranger(there[0], back[1]));
    }
    (void) close(back[1]);
    (void) !read(back[0], &byte, 1);
    (void) close(back[0]);
    (void) close(there[0]);
    return there[1];
}

/** Messages of all kinds, there and back.  @return bytes that are wrong */
static int talk(MPI_Comm comm, int rank)
{
    static const int sizes[] = {0, 8, 1000, 10000, LARGE};
    char *buffer = malloc(LARGE);
    int wrong = 0;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
        memset(buffer, rank + 1, LARGE);
        MPI_Sendrecv_replace(buffer, sizes[i], MPI_CHAR, 1 - rank, 1, 1 - rank, 1, comm,
                             MPI_STATUS_IGNORE);
        for (int j = 0; j < sizes[i]; ++j) {
            wrong += 2 - rank != buffer[j];
        }
    }
    free(buffer);
    return wrong;
}

int main(int argc, char **argv)
{
    const char *number = getenv("OMPI_COMM_WORLD_RANK");
    int rank, provided, release = -1, status = 0, wrong, failures;
    char marker[96];
    pid_t pid = -1;
    MPI_Comm comm;

    if (0 != geteuid()) {
        printf(NULL != number && 0 == strcmp(number, "0")
                   ? "1..0 # SKIP only root can be two users\n"
                   : "");
        MPI_Init(&argc, &argv);
        MPI_Finalize();
        return 0;
    }
    snprintf(folder, sizeof(folder), "/dev/shm/ept-strangers.%d", (int) getppid());
    snprintf(marker, sizeof(marker), "%s/ready", folder);
    setenv("OMPI_MCA_btl_epshm_directory", folder, 1);
    if (NULL != number && 0 == strcmp(number, "0")) {
        release = start_stranger(&pid);
        (void) close(open(marker, O_CREAT | O_WRONLY, 0600));
    }
    while (0 != access(marker, F_OK)) {
        (void) usleep(1000);
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, 1, MPI_INFO_NULL, &comm);
    MPI_Comm_rank(comm, &rank);
    wrong = talk(comm, rank);
    MPI_Allreduce(&wrong, &failures, 1, MPI_INT, MPI_SUM, comm);
    MPI_Comm_free(&comm);
    if (0 == rank) {
        (void) !write(release, "e", 1);
        (void) waitpid(pid, &status, 0);
        printf("1..2\n%sok 1 - nothing of another user's is opened: status 0x%x\n",
               0 == status ? "" : "not ", (unsigned int) status);
        printf("%sok 2 - and the messages are right: %d bytes are not\n",
               0 == failures ? "" : "not ", failures);
    }
    MPI_Finalize(); /* it is a fence as well: the files of both are gone */
    if (0 == rank) {
        char command[128];

        snprintf(command, sizeof(command), "rm -rf %s", folder);
        (void) !system(command);
    }
    return 0;
}
