/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Working directory, umask and the child of fork are a rank's own, and its threads'.
 *
 * Guards: process_state.c, finish.c
 */

#define _GNU_SOURCE

#include "check.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[128];
static FILE *pending;

static void directory_check(void)
{
    char now[256] = "";

    CHECK(NULL != getcwd(now, sizeof(now)) && NULL != strstr(now, folder + 2));
}

static void *thread(void *argument)
{
    (void) argument;
    directory_check();
    close(open("by a thread", O_CREAT | O_WRONLY, 0666));
    return NULL;
}

static void case_directory(int rank)
{
    struct stat status;
    pthread_t other;

    umask(0022);
    snprintf(folder, sizeof(folder), "./ranks_directory.%d.%d", (int) getpid(), rank);
    CHECK(0 == mkdir(folder, 0700));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(0 == chdir(folder));
    umask(0 == rank % 2 ? 0077 : 0027);
    MPI_Barrier(MPI_COMM_WORLD);
    directory_check();
    CHECK(0 == pthread_create(&other, NULL, thread, NULL) && 0 == pthread_join(other, NULL));
    CHECK(0 == stat("by a thread", &status));
    CHECK((status.st_mode & 0777) == (0 == rank % 2 ? 0600u : 0640u));
    CHECK(0 == unlink("by a thread"));
    ranks_case("directory and umask");
}

/* The child writes what it prints, and nothing of what others have not written yet. */
static void case_fork(int rank)
{
    char text[64] = "";
    int status = -1;
    FILE *file;
    pid_t pid;

    pending = fopen("pending", "w");
    fprintf(pending, "once\n");
    MPI_Barrier(MPI_COMM_WORLD);
    pid = fork();
    if (0 == pid) {
        directory_check();
        file = fopen("of the child", "w");
        fprintf(file, "child of %s", getenv("OMPI_COMM_WORLD_RANK"));
        exit(rank + 3); /* writes the file */
    }
    CHECK(pid == waitpid(pid, &status, 0) && WIFEXITED(status) && rank + 3 == WEXITSTATUS(status));
    file = fopen("of the child", "r");
    CHECK(NULL != file && NULL != fgets(text, sizeof(text), file) && 0 == fclose(file));
    CHECK(0 == strncmp(text, "child of ", 9) && rank == atoi(text + 9));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(0 == fclose(pending));
    file = fopen("pending", "r");
    CHECK(NULL != fgets(text, sizeof(text), file) && 0 == strcmp("once\n", text));
    CHECK(0 == fclose(file));
    CHECK(0 == unlink("pending") && 0 == unlink("of the child"));
    ranks_case("fork");
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    rank = ranks_rank();
    case_directory(rank);
    case_fork(rank);
    CHECK(0 == chdir("..") && 0 == rmdir(folder));
    return ranks_end();
}
