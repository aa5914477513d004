/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A rank's environment is its own: what the launcher says of its place, what it sets, and what the
 * programs get that it executes.
 *
 * Guards: environ.c, execute.c, libc.c
 */

#define _GNU_SOURCE

#include "check.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char text[64]; /* "EPT_RANK=n" */

static void case_place(int rank)
{
    CHECK(rank == atoi(getenv("OMPI_COMM_WORLD_RANK")));
    CHECK(ranks_size() == atoi(getenv("OMPI_COMM_WORLD_SIZE")));
    CHECK(NULL != getenv("OMPI_COMM_WORLD_LOCAL_RANK")
          && NULL != getenv("OMPI_COMM_WORLD_NODE_RANK"));
    CHECK(rank == atoi(getenv("PMIX_RANK")));
    CHECK(NULL == getenv("MPIX_RANKS") && NULL == getenv("LD_PRELOAD"));
    ranks_case("the launcher's variables");
}

static int in_environ(const char *string)
{
    int count = 0;

    for (char **at = environ; NULL != at && NULL != *at; ++at) {
        count += 0 == strcmp(*at, string);
    }
    return count;
}

static void case_set(int rank)
{
    char value[32], name[32];
    static char put[32];

    snprintf(value, sizeof(value), "%d", rank);
    CHECK(0 == setenv("EPT_RANK", value, 1));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(0 == strcmp(value, getenv("EPT_RANK")) && 1 == in_environ(text));
    CHECK(0 == setenv("EPT_RANK", "other", 0) && 0 == strcmp(value, getenv("EPT_RANK")));
    for (int i = 0; i < 200; ++i) {
        snprintf(name, sizeof(name), "EPT_%d_%d", rank, i);
        CHECK(0 == setenv(name, value, 1));
    }
    snprintf(name, sizeof(name), "EPT_%d_0", rank + 1);
    CHECK(NULL == getenv(name));
    snprintf(put, sizeof(put), "EPT_PUT=%d", rank);
    CHECK(0 == putenv(put) && rank == atoi(getenv("EPT_PUT")));
    MPI_Barrier(MPI_COMM_WORLD);
    put[8] = 'x';
    CHECK('x' == *getenv("EPT_PUT"));
    CHECK(0 == putenv("EPT_PUT") && NULL == getenv("EPT_PUT"));
    CHECK(0 == unsetenv("EPT_PUT") && -1 == setenv("a=b", "", 1) && EINVAL == errno);
    CHECK(-1 == unsetenv("") && -1 == setenv("", "", 1));
    ranks_case("setenv, putenv, unsetenv");
}

static int status_of(pid_t pid)
{
    int status = -1;

    CHECK(pid == waitpid(pid, &status, 0));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void case_execute(int rank)
{
    char *shell[] = {"sh", "-c", "exit $((EPT_RANK + 1))", NULL};
    char line[64] = "";
    FILE *file;
    pid_t pid;

    CHECK(rank + 1 == WEXITSTATUS(system("exit $((EPT_RANK + 1))")) && 0 != system(NULL));
    CHECK(
        0
        == system("test -z \"$LD_PRELOAD$MPIX_RANKS\" && test $OMPI_COMM_WORLD_RANK = $EPT_RANK"));
    file = popen("echo $EPT_RANK", "r");
    CHECK(NULL != file && NULL != fgets(line, sizeof(line), file) && rank == atoi(line));
    CHECK(0 == pclose(file));
    file = popen("read n; exit $((n + EPT_RANK))", "w");
    CHECK(NULL != file && 2 == fprintf(file, "5\n") && 5 + rank == WEXITSTATUS(pclose(file)));
    for (int way = 0; way < 6; ++way) {
        pid = 1 == way % 2 ? vfork() : fork();
        if (0 == pid) {
            if (way < 2) {
                execv("/bin/sh", shell);
            } else if (way < 4) {
                execlp("sh", "sh", "-c", shell[2], NULL);
            } else {
                char *only[] = {text, NULL};

                execle("/bin/sh", "sh", "-c", shell[2], NULL, only);
            }
            _exit(99);
        }
        CHECK(rank + 1 == status_of(pid));
    }
    CHECK(0 == posix_spawn(&pid, "/bin/sh", NULL, NULL, shell, environ));
    CHECK(rank + 1 == status_of(pid));
    ranks_case("system, popen, exec, posix_spawn");
}

static void case_clear(void)
{
    char *own[] = {text, NULL};

    environ = own;
    CHECK(0 == strcmp(text + strlen("EPT_RANK="), getenv("EPT_RANK")) && NULL == getenv("PATH"));
    CHECK(0 == setenv("EPT_MORE", "1", 1) && own[0] == environ[0] && own != environ);
    CHECK(0 == clearenv() && NULL == getenv("EPT_RANK"));
    CHECK(0 == setenv("EPT_RANK", "again", 1) && 1 == in_environ("EPT_RANK=again"));
    ranks_case("environ, clearenv");
}

int main(int argc, char **argv, char **envp)
{
    int rank;

    CHECK(envp == environ);
    MPI_Init(&argc, &argv);
    rank = ranks_rank();
    snprintf(text, sizeof(text), "EPT_RANK=%d", rank);
    case_place(rank);
    case_set(rank);
    case_execute(rank);
    case_clear();
    return ranks_end();
}
