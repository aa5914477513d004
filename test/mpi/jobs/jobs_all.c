/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Spawns whose remote group has all endpoints of the children (info key mpix_remote_group), by
 * endpoints and by processes.  The children have as many as they are told, different numbers, none,
 * or are processes; each of their threads finds its own handle by MPI_Comm_get_parent.  Children
 * that cannot make endpoints after all are an error for their parents.
 *
 *   --child KIND  this is a child: see the list below
 *
 * Guards: parent.c, hook_connect.c, hook_spawn.c, static_comms.c, pml_epml_intercomm.c, init_make.c,
 * pml_epml_pmix.c
 */

#define _GNU_SOURCE

#include "jobs.h"

#if defined(HAVE_EP)

#    define CHILDREN 2
#    define ENDPOINTS_MAX 4

/* What children do, and how many endpoints they have, by rank. */
enum { TOLD = 1, PHASES, NONE, PLAIN, KEPT, WRONG, BAD_PHASES, FIRST, KINDS };
static const int counts[KINDS][CHILDREN]
    = {[TOLD] = {2, 2},  [PHASES] = {3, 1}, [NONE] = {0, 3}, [PLAIN] = {1, 1}, [KEPT] = {2, 2},
       [WRONG] = {0, 0}, [FIRST] = {2, 2}};

static MPIX_Endpoint endpoints[ENDPOINTS_MAX];
static int kind, world_rank;

/* ---- children -------------------------------------------------------------------------------- */

static int children_of(int which)
{
    return counts[which][0] + counts[which][1];
}

/* What all threads of a child do with their own handles. */
static void meet_parents(int index)
{
    MPI_Comm parent = MPI_COMM_WORLD, after = MPI_COMM_WORLD;
    char name[MPI_MAX_OBJECT_NAME];
    int size = -1, parents_size = -1;

    OK(MPI_Comm_get_parent(&parent));
    SAME(0, MPI_COMM_NULL == parent);
    OK(MPI_Comm_get_name(parent, name, &size));
    SAME(0, strcmp("MPI_COMM_PARENT", name));
    OK(MPI_Bcast(&parents_size, 1, MPI_INT, 0, parent));
    if (KEPT == kind) {
        jobs_exchange(parent, (0 == world_rank ? 0 : counts[kind][0]) + index, parents_size);
        return; /* MPI_Finalize frees it */
    }
    jobs_use(&parent, (0 == world_rank ? 0 : counts[kind][0]) + index, children_of(kind),
             parents_size, true);
    OK(MPI_Comm_get_parent(&after));
    SAME(1, MPI_COMM_NULL == after);
}

static void *child_thread(void *arg)
{
    const int index = (int) (intptr_t) arg;
    MPI_Comm parent = MPI_COMM_WORLD;

    MPIX_Thread_detach();
    OK(MPI_Comm_get_parent(&parent));
    SAME(1, MPI_COMM_NULL == parent);
    OK(MPIX_Thread_attach(endpoints[index]));
    meet_parents(index);
    MPIX_Thread_detach();
    return NULL;
}

static void run_threads(int count)
{
    pthread_t threads[ENDPOINTS_MAX];

    for (int i = 0; i < count; ++i) {
        if (0 != pthread_create(&threads[i], NULL, child_thread, (void *) (intptr_t) i)) {
            abort();
        }
    }
    for (int i = 0; i < count; ++i) {
        pthread_join(threads[i], NULL);
    }
}

/* The number is known once the rank is. */
static int begin_in_phases(void)
{
    int most = -1, size = -1;

    OK(MPIX_Init_endpoint_begin(NULL, NULL, &most, &size, &world_rank));
    return MPIX_Endpoint_create(BAD_PHASES == kind && 1 == world_rank ? 0
                                                                      : counts[PHASES][world_rank],
                                endpoints);
}

static void begin(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    int told = -1, level = -1;

    world_rank = NULL != rank ? atoi(rank) : -1;
    if (PLAIN == kind) {
        OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level));
    } else if (PHASES == kind) {
        OK(begin_in_phases());
    } else {
        OK(MPIX_Init_endpoint(NULL, NULL, counts[kind][world_rank], MPI_THREAD_MULTIPLE,
                              endpoints));
    }
    MPIX_Query_endpoints_told(&told, &level);
    SAME(NONE == kind ? 3 : PHASES == kind ? 3 : 2, told);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &world_rank));
}

/* It is no success that counts there. */
static void fail_to_begin(void)
{
    MPI_Comm parent = MPI_COMM_WORLD;
    int parents_size = -1;

    if (WRONG == kind) {
        SAME(0, MPI_SUCCESS == MPIX_Init_endpoint(NULL, NULL, -1, MPI_THREAD_MULTIPLE, endpoints));
        OK(MPI_Comm_get_parent(&parent));
        OK(MPI_Comm_rank(MPI_COMM_WORLD, &world_rank));
        OK(MPI_Bcast(&parents_size, 1, MPI_INT, 0, parent));
        jobs_use(&parent, world_rank, CHILDREN, parents_size, true);
    } else {
        SAME(0, MPI_SUCCESS == begin_in_phases());
        OK(MPI_Comm_get_parent(&parent));
        SAME(1, MPI_COMM_NULL == parent);
    }
}

static void child(void)
{
    jobs.is_child = true;
    if (WRONG == kind || BAD_PHASES == kind) {
        fail_to_begin();
    } else {
        begin();
        if (PLAIN == kind) {
            meet_parents(0);
        } else if (FIRST == kind) {
            int parents_size = -1;
            MPI_Comm parent;

            OK(MPI_Comm_get_parent(&parent));
            OK(MPI_Bcast(&parents_size, 1, MPI_INT, 0, parent));
            jobs_use(&parent, world_rank, CHILDREN, parents_size, true);
        } else {
            run_threads(counts[kind][world_rank]);
        }
    }
    MPI_Finalize();
    exit(0 == atomic_load(&jobs.bad) ? 0 : 1);
}

int test_process_init(int *argc, char ***argv)
{
    int provided;

    kind = (int) ept_option_long("child", 0);
    if (0 < kind) {
        child();
    }
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    return provided;
}

/* ---- parents --------------------------------------------------------------------------------- */

static MPI_Info info_for(int which)
{
    static const char *const number[KINDS] = {[PHASES] = "3", [NONE] = "3"};
    MPI_Info info;

    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "num_endpoints", NULL != number[which] ? number[which] : "2"));
    OK(MPI_Info_set(info, "mpix_remote_group", FIRST == which ? "processes" : "endpoints"));
    if (WRONG == which || BAD_PHASES == which) {
        OK(MPI_Info_set(info, "PMIX_ENVAR", "OMPI_MCA_mpi_initial_errhandler=mpi_errors_return"));
    }
    return info;
}

/* @return what MPI_Comm_spawn has returned */
static int spawn(MPI_Comm comm, int which, int root, MPI_Comm *children)
{
    char option[] = "--child", digit[] = {(char) ('0' + which), '\0'},
         *argv[] = {option, digit, NULL};
    MPI_Info info = info_for(which);
    int rank = -1;
    const int rc = (MPI_Comm_rank(comm, &rank),
                    MPI_Comm_spawn(root == rank ? jobs_path : NULL, argv,
                                   root == rank ? CHILDREN : 0,
                                   root == rank ? info : MPI_INFO_NULL, root, comm, children,
                                   MPI_ERRCODES_IGNORE));

    OK(MPI_Info_free(&info));
    return rc;
}

/* A spawn of that kind by all members of a communicator. */
static void spawn_and_use(MPI_Comm comm, int which, int root)
{
    const int expected = WRONG == which || FIRST == which ? CHILDREN : children_of(which);
    int rank = -1, size = -1;
    MPI_Comm children = MPI_COMM_NULL;

    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &size));
    OK(spawn(comm, which, root, &children));
    OK(MPI_Bcast(&size, 1, MPI_INT, 0 == rank ? MPI_ROOT : MPI_PROC_NULL, children));
    if (KEPT == which) {
        jobs_exchange(children, rank, expected); /* MPI_Finalize frees it */
    } else {
        jobs_use(&children, rank, size, expected, false);
    }
}

static void check(struct ept *t)
{
    EPT_EQ(t, 0, atomic_load(&jobs.bad));
}

static void case_endpoints(MPI_Comm comm, struct ept *t)
{
    for (int which = TOLD; which <= KEPT; ++which) {
        ept_phase(t, "children of kind %d", which);
        spawn_and_use(comm, which, which % t->size);
    }
    spawn_and_use(comm, FIRST, 0);
    check(t);
}

static void case_processes(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    for (int which = TOLD; which <= KEPT; ++which) {
        ept_phase(t, "children of kind %d", which);
        if (0 == t->local) {
            spawn_and_use(MPI_COMM_WORLD, which, which % t->nprocs);
        }
    }
    if (0 == t->rank) {
        spawn_and_use(MPI_COMM_SELF, TOLD, 0);
    }
    if (0 == t->local) {
        spawn_and_use(MPI_COMM_WORLD, FIRST, 0);
    }
    ept_local_barrier(t);
    check(t);
}

/* One of the children has made a mistake, before all have said how they begin: parents have their
 * processes; or after it: parents have an error. */
static void case_mistakes(MPI_Comm comm, struct ept *t)
{
    MPI_Comm made = MPI_COMM_WORLD;

    ept_phase(t, "before");
    spawn_and_use(comm, WRONG, 0);
    ept_phase(t, "after");
    EPT_CLASS(t, MPI_ERR_SPAWN, spawn(comm, BAD_PHASES, t->size - 1, &made));
    EPT_CHECK(t, MPI_COMM_NULL == made, "a communicator came of it");
    if (0 == t->local) {
        EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
        EPT_CLASS(t, MPI_ERR_SPAWN, spawn(MPI_COMM_WORLD, BAD_PHASES, 0, &made));
        EPT_CHECK(t, MPI_COMM_NULL == made, "a communicator came of it");
    }
    check(t);
}

/* Nothing is started. */
static void case_bad_key(MPI_Comm comm, struct ept *t)
{
    MPI_Comm made = MPI_COMM_WORLD;
    int one = 1, sum = 0;
    MPI_Info info;

    EPT_OK(t, MPI_Info_create(&info));
    EPT_OK(t, MPI_Info_set(info, "mpix_remote_group", "threads"));
    EPT_CLASS(t, MPI_ERR_SPAWN,
              MPI_Comm_spawn(jobs_path, MPI_ARGV_NULL, 1, info, 0, comm, &made,
                             MPI_ERRCODES_IGNORE));
    EPT_CHECK(t, MPI_COMM_NULL == made, "a communicator came of it");
    EPT_OK(t, MPI_Info_free(&info));
    EPT_OK(t, MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    EPT_EQ(t, t->size, sum);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    jobs_own_path(t);
    EPT_CASE(t, case_endpoints);
    EPT_CASE(t, case_processes);
    EPT_CASE(t, case_mistakes);
    EPT_CASE(t, case_bad_key);
    return 0;
}

#else

JOBS_WITHOUT_ENDPOINTS;

#endif
