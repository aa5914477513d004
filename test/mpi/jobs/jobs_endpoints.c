/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Comm_spawn, MPI_Comm_connect and MPI_Comm_accept on communicators of endpoints: of one job, of
 * parents and children, with endpoints on both sides or on one.  In each intercommunicator every
 * member exchanges a message with every one of the other side, and all are merged.  A mistake at one
 * member is an error at all, and the communicator works on.
 *
 *   --child 1, 2, 3  this is a child: with two endpoints, which connects to its parents' ports; one
 *                    of two commands; one that cannot have endpoints; one that ends before it begins MPI
 *   --absent 1       a command that is not there, in place of all else; the launcher's status shows it
 *   --dies 1         children that end at once, likewise
 *   --without 1      children without pml/epml
 *
 * Guards: comm_spawn.c, hook_children.c, hook_connect.c, hook_spawn.c, port.c, pml_epml_intercomm.c,
 * pml_epml_bootstrap.c, pml_epml_proc.c
 */

#define _GNU_SOURCE

#include "jobs.h"

#if defined(HAVE_EP)

#    define CHILDREN 2
#    define CHILD_ENDPOINTS 2
#    define MEETINGS 3 /* of all endpoints, of children's processes, of parents' processes */

/* Of this process; a child's, which has no harness, and what its threads share. */
static struct {
    MPI_Comm parent;
    char ports[MEETINGS][MPI_MAX_PORT_NAME];
    MPIX_Endpoint endpoints[CHILD_ENDPOINTS];
} here;

/* ---- children -------------------------------------------------------------------------------- */

/* @param processes  the other side's, and its endpoints */
static void child_connect(int index, int processes, int endpoints)
{
    MPI_Comm own = MPIX_COMM_ENDPOINTS, inter;
    int rank = -1, world = -1;

    OK(MPI_Comm_rank(own, &rank));
    OK(MPI_Comm_connect(here.ports[0], MPI_INFO_NULL, 1, own, &inter));
    jobs_use(&inter, rank, CHILDREN * CHILD_ENDPOINTS, endpoints, true);
    if (0 == index) {
        OK(MPI_Comm_rank(MPI_COMM_WORLD, &world));
        OK(MPI_Comm_connect(here.ports[1], MPI_INFO_NULL, 1, MPI_COMM_WORLD, &inter));
        jobs_use(&inter, world, CHILDREN, endpoints, true);
    }
    OK(MPI_Comm_connect(here.ports[2], MPI_INFO_NULL, 0, own, &inter));
    jobs_use(&inter, rank, CHILDREN * CHILD_ENDPOINTS, processes, true);
}

/* Processes and endpoints of parents, which one has said. */
static int facts[2];

static void *child_thread(void *arg)
{
    const int index = (int) (intptr_t) arg;

    MPIX_Thread_detach();
    OK(MPIX_Thread_attach(here.endpoints[index]));
    child_connect(index, facts[0], facts[1]);
    MPIX_Thread_detach();
    return NULL;
}

static void child_with_endpoints(void)
{
    pthread_t threads[CHILD_ENDPOINTS];
    int rank = -1;

    OK(MPIX_Init_endpoint(NULL, NULL, CHILD_ENDPOINTS, MPI_THREAD_MULTIPLE, here.endpoints));
    OK(MPI_Comm_get_parent(&here.parent));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Bcast(facts, 2, MPI_INT, 0, here.parent));
    OK(MPI_Bcast(here.ports, sizeof(here.ports), MPI_CHAR, 0, here.parent));
    jobs_use(&here.parent, rank, CHILDREN, facts[1], true);
    for (int i = 0; i < CHILD_ENDPOINTS; ++i) {
        if (0 != pthread_create(&threads[i], NULL, child_thread, (void *) (intptr_t) i)) {
            abort();
        }
    }
    for (int i = 0; i < CHILD_ENDPOINTS; ++i) {
        pthread_join(threads[i], NULL);
    }
}

static void child_of_several(void)
{
    int rank = -1, count = -1, level = -1;

    MPI_Init(NULL, NULL);
    OK(MPI_Comm_get_parent(&here.parent));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Bcast(facts, 2, MPI_INT, 0, here.parent));
    MPIX_Query_endpoints_told(&count, &level);
    SAME(0 == rank ? 2 : 3, count);
    jobs_use(&here.parent, rank, CHILDREN, facts[1], true);
}

static void child(long kind)
{
    if (4 == kind) {
        exit(3);
    }
    jobs.is_child = true;
    if (1 == kind) {
        child_with_endpoints();
    } else if (2 == kind) {
        child_of_several();
    } else {
        MPI_Init(NULL, NULL); /* its parents end it */
        MPI_Comm_get_parent(&here.parent);
        MPI_Barrier(here.parent);
    }
    MPI_Finalize();
    exit(0 == atomic_load(&jobs.bad) ? 0 : 1);
}

int test_process_init(int *argc, char ***argv)
{
    const long kind = ept_option_long("child", 0);
    int provided;

    if (0 < kind) {
        child(kind);
    }
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    return provided;
}

/* ---- parents --------------------------------------------------------------------------------- */

static void check(struct ept *t)
{
    EPT_EQ(t, 0, atomic_load(&jobs.bad));
}

/* A port, known to all. */
static void open_port(MPI_Comm comm, struct ept *t, int root, char *port)
{
    if (root == t->rank) {
        OK(MPI_Open_port(MPI_INFO_NULL, port));
    }
    OK(MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, root, comm));
}

/* Even with odd ranks, both ways; then all endpoints that are no processes with the processes.  A port
 * serves once: libmpi's launcher keeps what roots have said by it. */
static void case_one_job(MPI_Comm comm, struct ept *t)
{
    const int mine = t->rank % 2, local = (t->size + 1 - mine) / 2, remote = t->size - local;
    char ports[3][MPI_MAX_PORT_NAME];
    MPI_Comm half, inter;

    for (int i = 0; i < 3; ++i) {
        open_port(comm, t, 0, ports[i]);
    }
    OK(MPI_Comm_split(comm, mine, t->rank, &half));
    for (int turn = 0; turn < 2; ++turn) {
        if (mine == turn) {
            OK(MPI_Comm_accept(ports[turn], MPI_INFO_NULL, 0, half, &inter));
        } else {
            OK(MPI_Comm_connect(ports[turn], MPI_INFO_NULL, local - 1, half, &inter));
        }
        jobs_use(&inter, t->rank / 2, local, remote, mine);
    }
    OK(MPI_Comm_free(&half));
    OK(MPI_Comm_split(comm, 0 == t->local, t->rank, &half));
    if (0 == t->local) {
        OK(MPI_Comm_accept(ports[2], MPI_INFO_NULL, t->nprocs - 1, MPI_COMM_WORLD, &inter));
        jobs_use(&inter, t->proc, t->nprocs, t->size - t->nprocs, false);
    } else {
        OK(MPI_Comm_connect(ports[2], MPI_INFO_NULL, 0, half, &inter));
        jobs_use(&inter, t->rank - t->proc - 1, t->size - t->nprocs, t->nprocs, true);
    }
    OK(MPI_Comm_free(&half));
    OK(MPI_Barrier(comm));
    for (int i = 0; 0 == t->rank && i < 3; ++i) {
        OK(MPI_Close_port(ports[i]));
    }
    check(t);
}

static void case_spawn(MPI_Comm comm, struct ept *t)
{
    char number[] = {(char) ('0' + CHILD_ENDPOINTS), '\0'}, option[] = "--child", kind[] = "1";
    char *argv[] = {option, kind, NULL}, ports[MEETINGS][MPI_MAX_PORT_NAME];
    int codes[CHILDREN] = {-1, -1}, said[] = {t->nprocs, t->size};
    const bool is_root = t->size - 1 == t->rank;
    MPI_Comm children, inter;
    MPI_Info info;

    for (int i = 0; i < MEETINGS; ++i) {
        open_port(comm, t, 0, ports[i]);
    }
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "num_endpoints", number));
    OK(MPI_Comm_spawn(is_root ? jobs_path : NULL, argv, is_root ? CHILDREN : 0, info, t->size - 1,
                      comm, &children, codes));
    SAME(is_root ? 0 : -1, codes[0]);
    SAME(is_root ? 0 : -1, codes[1]);
    OK(MPI_Bcast(said, 2, MPI_INT, 0 == t->rank ? MPI_ROOT : MPI_PROC_NULL, children));
    OK(MPI_Bcast(ports, sizeof(ports), MPI_CHAR, 0 == t->rank ? MPI_ROOT : MPI_PROC_NULL,
                 children));
    jobs_use(&children, t->rank, t->size, CHILDREN, false);
    OK(MPI_Comm_accept(ports[0], MPI_INFO_NULL, 0, comm, &inter));
    jobs_use(&inter, t->rank, t->size, CHILDREN * CHILD_ENDPOINTS, false);
    OK(MPI_Comm_accept(ports[1], MPI_INFO_NULL, 0, comm, &inter));
    jobs_use(&inter, t->rank, t->size, CHILDREN, false);
    if (0 == t->local) {
        OK(MPI_Comm_accept(ports[2], MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
        jobs_use(&inter, t->proc, t->nprocs, CHILDREN * CHILD_ENDPOINTS, false);
    }
    OK(MPI_Info_free(&info));
    OK(MPI_Barrier(comm));
    for (int i = 0; 0 == t->rank && i < MEETINGS; ++i) {
        OK(MPI_Close_port(ports[i]));
    }
    check(t);
}

/* Two commands, each with its own number. */
static void case_spawn_multiple(MPI_Comm comm, struct ept *t)
{
    char option[] = "--child", kind[] = "2", *argv[] = {option, kind, NULL},
         **argvs[] = {argv, argv};
    char *commands[] = {jobs_path, jobs_path};
    int maxprocs[] = {1, 1}, codes[] = {-1, -1}, said[] = {t->nprocs, t->size};
    MPI_Comm children;
    MPI_Info infos[2];

    for (int i = 0; i < 2; ++i) {
        OK(MPI_Info_create(&infos[i]));
        OK(MPI_Info_set(infos[i], "num_endpoints", 0 == i ? "2" : "3"));
    }
    OK(MPI_Comm_spawn_multiple(2, commands, argvs, maxprocs, infos, 0, comm, &children, codes));
    SAME(0, codes[0]);
    SAME(0, codes[1]);
    OK(MPI_Bcast(said, 2, MPI_INT, 0 == t->rank ? MPI_ROOT : MPI_PROC_NULL, children));
    jobs_use(&children, t->rank, t->size, CHILDREN, false);
    for (int i = 0; i < 2; ++i) {
        OK(MPI_Info_free(&infos[i]));
    }
    check(t);
}

static void check_usable(MPI_Comm comm, struct ept *t)
{
    int one = 1, sum = 0;

    EPT_OK(t, MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    EPT_EQ(t, t->size, sum);
}

/* One member makes the mistake, in turn if it is no root's. */
static void case_errors(MPI_Comm comm, struct ept *t)
{
    char no_port[] = "no port", *commands[] = {jobs_path, NULL};
    int maxprocs[] = {1, 1};
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm made = MPI_COMM_WORLD;

    for (int member = 0; member < t->size; ++member) {
        const int bad_root = t->rank == member ? t->size : 0;
        const int other_root = t->rank == member ? 1 : 0;

        EPT_CLASS(t, MPI_ERR_ROOT,
                  MPI_Comm_spawn(jobs_path, MPI_ARGV_NULL, 1, MPI_INFO_NULL, bad_root, comm, &made,
                                 MPI_ERRCODES_IGNORE));
        EPT_CHECK(t, MPI_COMM_NULL == made, "a communicator came of it");
        EPT_CLASS(t, MPI_ERR_ROOT,
                  MPI_Comm_spawn(jobs_path, MPI_ARGV_NULL, 1, MPI_INFO_NULL, other_root, comm,
                                 &made, MPI_ERRCODES_IGNORE));
        EPT_CLASS(t, MPI_ERR_ROOT,
                  MPI_Comm_accept("a:port", MPI_INFO_NULL, other_root, comm, &made));
        EPT_CLASS(t, MPI_ERR_ARG,
                  MPI_Comm_connect("a:port", MPI_INFO_NULL, 0, comm,
                                   t->rank == member ? NULL : &made));
        EPT_CLASS(t, MPI_ERR_ARG,
                  MPI_Comm_spawn(t->rank == member ? NULL : jobs_path, MPI_ARGV_NULL, 1,
                                 MPI_INFO_NULL, member, comm, &made, MPI_ERRCODES_IGNORE));
        EPT_CLASS(t, MPI_ERR_ARG,
                  MPI_Comm_spawn(jobs_path, MPI_ARGV_NULL, t->rank == member ? -1 : 1,
                                 MPI_INFO_NULL, member, comm, &made, MPI_ERRCODES_IGNORE));
        EPT_CLASS(t, MPI_ERR_ARG,
                  MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, maxprocs, infos, member,
                                          comm, &made, MPI_ERRCODES_IGNORE));
        EPT_CLASS(t, MPI_ERR_PORT,
                  MPI_Comm_connect(t->rank == member ? no_port : "a:port", MPI_INFO_NULL, member,
                                   comm, &made));
        check_usable(comm, t);
    }
}

/* An error, and no communicator. */
static void spawn_fails(MPI_Comm comm, struct ept *t, int error, const char *command, char **argv,
                        int count, MPI_Info info, int root)
{
    MPI_Comm made = MPI_COMM_WORLD;

    EPT_CLASS(t, error,
              MPI_Comm_spawn(command, argv, count, info, root, comm, &made, MPI_ERRCODES_IGNORE));
    EPT_CHECK(t, MPI_COMM_NULL == made, "a communicator came of it");
}

/* The root's, from libmpi's function on; nothing is started. */
static void case_bad_number(MPI_Comm comm, struct ept *t)
{
    MPI_Info info;

    EPT_OK(t, MPI_Info_create(&info));
    EPT_OK(t, MPI_Info_set(info, "num_endpoints", "none"));
    spawn_fails(comm, t, MPI_ERR_SPAWN, jobs_path, MPI_ARGV_NULL, 1, info, 1);
    EPT_OK(t, MPI_Info_free(&info));
    check_usable(comm, t);
}

/* There is no such command.  The launcher says so, and its own status is not 0. */
static void case_absent(MPI_Comm comm, struct ept *t)
{
    char absent[] = "/no/such/command";

    spawn_fails(comm, t, MPI_ERR_SPAWN, absent, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 1);
    check_usable(comm, t);
}

/* A child without pml/epml, which runs when that is found out, and is ended. */
static void case_without(MPI_Comm comm, struct ept *t)
{
    char option[] = "--child", kind[] = "3", *argv[] = {option, kind, NULL};
    MPI_Info info;

    EPT_OK(t, MPI_Info_create(&info));
    EPT_OK(t, MPI_Info_set(info, "PMIX_ENVAR", "OMPI_MCA_pml=ob1"));
    spawn_fails(comm, t, MPI_ERR_UNSUPPORTED_OPERATION, jobs_path, argv, 2, info, 0);
    EPT_OK(t, MPI_Info_free(&info));
    check_usable(comm, t);
}

/* Parents wait for children that have ended, as endpoints and as processes. */
static void case_dies(MPI_Comm comm, struct ept *t)
{
    char option[] = "--child", kind[] = "4", *argv[] = {option, kind, NULL};

    spawn_fails(comm, t, MPI_ERR_SPAWN, jobs_path, argv, 2, MPI_INFO_NULL, t->size - 1);
    check_usable(comm, t);
    if (0 == t->local) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        spawn_fails(MPI_COMM_WORLD, t, MPI_ERR_SPAWN, jobs_path, argv, 1, MPI_INFO_NULL, 0);
    }
    check_usable(comm, t);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    jobs_own_path(t);
    if (0 != ept_option_long("absent", 0)) {
        EPT_CASE(t, case_absent);
        return 0;
    }
    if (0 != ept_option_long("dies", 0)) {
        EPT_CASE(t, case_dies);
        return 0;
    }
    if (0 != ept_option_long("without", 0)) {
        EPT_CASE(t, case_without);
        return 0;
    }
    EPT_CASE(t, case_one_job);
    EPT_CASE(t, case_errors);
    EPT_CASE(t, case_bad_number);
    EPT_CASE(t, case_spawn);
    EPT_CASE(t, case_spawn_multiple);
    return 0;
}

#else

JOBS_WITHOUT_ENDPOINTS;

#endif
