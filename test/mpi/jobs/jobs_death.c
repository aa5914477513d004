/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A process of a spawned job dies, which has endpoints in communicators with those of its parents.
 * What waits for it ends with an error at all parents, and at its sibling; so do collectives, and
 * messages among survivors go on.  Survivors end without MPI_Finalize: Open MPI's own crashes where
 * jobs are connected and one of their processes is dead.
 *
 *   --child 1  this is a child
 *
 * Guards: pml_epml_job.c, pml_epml_lost_launcher.c, pml_epml_pmix.c, pml_epml_base_error.c
 */

#define _GNU_SOURCE

#include "jobs.h"

#if defined(HAVE_EP)

#    include <signal.h>
#    include <unistd.h>

#    define CHILDREN 2

static MPI_Comm made[16];      /* the process's endpoints of both jobs */
static MPI_Comm inter, merged; /* processes, parents first */
static int processes;
static long pids[16];

static int class_of(int code)
{
    int class = MPI_SUCCESS;

    MPI_Error_class(code, &class);
    return class;
}

/* What survivors see; the last member is the one that dies.  @return mistakes */
static int survive(MPI_Comm comm)
{
    int rank, size, word = 0, bad = 0;

    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Barrier(comm);
    if (size - 1 == rank) {
        (void) kill(getpid(), SIGKILL);
    }
    bad += MPI_ERR_PROC_FAILED
           != class_of(MPI_Recv(&word, 1, MPI_INT, size - 1, 1, comm, MPI_STATUS_IGNORE));
    bad += MPI_ERR_PROC_FAILED != class_of(MPI_Barrier(comm));
    if (size - 1 > (rank ^ 1)) {
        bad += MPI_SUCCESS
               != MPI_Sendrecv(&rank, 1, MPI_INT, rank ^ 1, 2, &word, 1, MPI_INT, rank ^ 1, 2, comm,
                               MPI_STATUS_IGNORE);
        bad += (rank ^ 1) != word;
    }
    return bad;
}

static void meet(bool is_child, int count)
{
    const long pid = (long) getpid();

    MPI_Intercomm_merge(inter, is_child, &merged);
    MPI_Comm_size(merged, &processes);
    MPI_Allgather(&pid, 1, MPI_LONG, pids, 1, MPI_LONG, merged);
    MPIX_Comm_create_endpoints(merged, count, MPI_INFO_NULL, made);
}

/* Parents have connections to the sibling, whose end ob1 would take for theirs: it goes last. */
static void await_parents(void)
{
    for (int i = 0; i < processes - CHILDREN; ++i) {
        while (0 == kill((pid_t) pids[i], 0)) {
            (void) usleep(1000);
        }
    }
}

static void child(void)
{
    int provided;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_get_parent(&inter);
    meet(true, 1);
    printf("sibling: %d mistakes\n", survive(made[0]));
    (void) fflush(stdout);
    await_parents();
    _exit(0);
}

int test_process_init(int *argc, char ***argv)
{
    int provided;

    if (0 < ept_option_long("child", 0)) {
        child();
    }
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    return provided;
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    char path[4096], *argv[] = {"--child", "1", NULL};
    const ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);
    int bad, sum = -1;

    path[0 < size ? size : 0] = '\0';
    if (0 == t->local) {
        MPI_Comm_spawn(path, argv, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                       MPI_ERRCODES_IGNORE);
        meet(false, t->nlocal);
    }
    ept_local_barrier(t);
    bad = survive(made[t->local]);
    /* The parents' own communicators have lost nobody. */
    bad += MPI_SUCCESS != MPI_Allreduce(&bad, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (0 == t->rank) {
        printf("parents: %d mistakes\n", sum);
    }
    bad += MPI_SUCCESS != MPI_Barrier(comm);
    ept_local_barrier(t);
    if (0 == t->local) {
        printf("process %d: pid %ld\n", t->proc, (long) getpid());
        (void) fflush(stdout);
        _exit(0);
    }
    ept_local_barrier(t);
    return 0;
}

#else

JOBS_WITHOUT_ENDPOINTS;

#endif
