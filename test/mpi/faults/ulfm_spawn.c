/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A process dies at a random moment of MPI_Comm_spawn on a communicator of endpoints: a parent, be it the
 * root's, or a child.  The call ends at all surviving parents, and with an error that says so.
 * Children that cannot begin MPI end with a status other than 0, for which the launcher may end the job:
 * so the parents report as soon as the call has ended.
 *
 *   --ep N     endpoints per process
 *   --seed N   of the moment
 *   --dies N   1: a child dies; 2: the root
 *   --child N PID  this is a child; the second one dies if N is not 0, the seed; it ends with process PID
 *
 * Guards: pml_epml_module.c, pml_epml_bootstrap.c, pml_epml_intercomm.c, hook_children.c
 */

#include "ulfm_kit.h"

enum { CHILDREN = 2, LONGEST_US = 300000 };

enum { ENDS, TOPICS };

static const char *const names[TOPICS] = {"spawn ends with the class of a failure, or none"};

/** Of --dies. */
enum { DIES_PARENT, DIES_CHILD, DIES_ROOT };

static char path[4096];
static int dies;

static void *die_soon(void *argument)
{
    (void) usleep(*(const useconds_t *) argument);
    kit_die();
    return NULL;
}

static void begin_to_die(unsigned int seed)
{
    static useconds_t after;
    pthread_t thread;

    after = (useconds_t) ((unsigned int) rand_r(&seed) % LONGEST_US);
    pthread_create(&thread, NULL, die_soon, &after);
}

/** Children whose parent's root has died may wait in MPI_Init for minutes, as under ob1. */
static void *end_with_survivor(void *process)
{
    while (0 == kill(*(const pid_t *) process, 0)) {
        (void) usleep(1000);
    }
    _exit(1);
    return NULL;
}

static void child(unsigned int seed, pid_t survivor)
{
    const char *rank = getenv("PMIX_RANK");
    MPI_Comm parent;
    pthread_t thread;

    pthread_create(&thread, NULL, end_with_survivor, &survivor);

    if (0 != seed && NULL != rank && 1 == atoi(rank)) {
        begin_to_die(seed);
    }
    MPI_Init(NULL, NULL);
    MPI_Comm_get_parent(&parent);
    if (MPI_COMM_NULL != parent) {
        MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
        (void) MPI_Barrier(parent);
    }
    _exit(0);
}

static void member_run(member_t *m)
{
    const bool is_victim = DIES_CHILD != dies && kit_processes - 1 == kit_process;
    const int root = DIES_ROOT == dies ? m->size - 1 : 0;
    char seed[16], pid[16], option[] = "--child", *argv[] = {option, seed, pid, NULL};
    int survivor = (int) getpid(); /* rank 0's process */
    MPI_Comm inter = MPI_COMM_NULL;
    int class = MPI_SUCCESS, rc;

    (void) snprintf(seed, sizeof(seed), "%u", DIES_CHILD == dies ? kit_seed : 0);
    MPI_Bcast(&survivor, 1, MPI_INT, 0, m->comm);
    (void) snprintf(pid, sizeof(pid), "%d", survivor);
    MPI_Barrier(m->comm);
    if (is_victim && 0 == m->index) {
        begin_to_die(kit_seed);
    }
    rc = MPI_Comm_spawn(path, argv, CHILDREN, MPI_INFO_NULL, root, m->comm, &inter,
                        MPI_ERRCODES_IGNORE);
    MPI_Error_class(rc, &class);
    printf("rank %d: spawn has ended with class %d\n", m->rank, class);
    (void) fflush(stdout);
    CHECK(ENDS, MPI_SUCCESS == class || MPIX_ERR_PROC_FAILED == class || MPI_ERR_SPAWN == class);
    if (MPI_SUCCESS == class) {
        MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
        (void) MPI_Barrier(inter);
        MPI_Comm_free(&inter);
    }
    while (is_victim) {
        (void) pause();
    }
}

static void more(const char *name, const char *value)
{
    if (0 == strcmp(name, "--dies")) {
        dies = atoi(value);
    }
}

int main(int argc, char **argv)
{
    if (3 < argc && 0 == strcmp(argv[1], "--child")) {
        child((unsigned int) strtoul(argv[2], NULL, 0), (pid_t) atoi(argv[3]));
    }
    (void) !readlink("/proc/self/exe", path, sizeof(path) - 1);
    return kit_main(argc, argv, names, TOPICS, more);
}
