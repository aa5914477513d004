/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Threads that are attached to endpoints which MPIX_Comm_create_endpoints has made: by handle and by
 * rank; which handle of a communicator is a thread's; threads that end attached, and handles that are
 * freed under them.
 *
 * Guards: comm_world.c, thread_world.c, thread_attach.c, bound.c, attached.c
 */

#include "static.h"

#if defined(HAVE_EP)

#    define COUNT 3

int test_process_init(int *argc, char ***argv)
{
    static_code = static_begin(argc, argv);
    return MPI_THREAD_MULTIPLE;
}

struct own {
    struct ept *t;
    MPI_Comm *comms; /* COUNT handles of one communicator */
    MPI_Comm copy;   /* this one's duplicate */
    int index;
};

static void on_each(struct ept *t, MPI_Comm comms[], void *(*fn)(void *) )
{
    struct own own[COUNT];
    pthread_t threads[COUNT];

    for (int i = 0; i < COUNT; ++i) {
        own[i] = (struct own){.t = t, .comms = comms, .index = i};
        EPT_EQ(t, 0, pthread_create(&threads[i], NULL, fn, &own[i]));
    }
    for (int i = 0; i < COUNT; ++i) {
        EPT_EQ(t, 0, pthread_join(threads[i], NULL));
    }
}

/* The handle of any_handle's communicator that is the thread's, and the thread's world. */
static void check_mine(struct ept *t, MPI_Comm any_handle, MPI_Comm mine, MPI_Comm world)
{
    MPI_Comm found = MPI_COMM_SELF;

    EPT_OK(t, MPIX_Comm_mine(any_handle, &found));
    EPT_CHECK(t, mine == found, "another handle is said to be the thread's");
    found = MPI_COMM_SELF;
    EPT_OK(t, MPIX_Comm_world_get(&found));
    EPT_CHECK(t, world == found, "another world");
}

static void *by_handle(void *arg)
{
    struct own *own = arg;
    struct ept *t = own->t;
    MPI_Comm mine = own->comms[own->index], *any = own->comms;
    const MPI_Comm world = MPIX_COMM_ENDPOINTS;

    check_mine(t, any[COUNT - 1], any[0], MPI_COMM_NULL); /* the process's, by default */
    EPT_OK(t, MPIX_Comm_endpoint_attach(mine));
    for (int i = 0; i < COUNT; ++i) {
        check_mine(t, any[i], mine, mine);
    }
    EPT_CHECK(t, world == MPIX_COMM_ENDPOINTS, "the static endpoint is another one");
    EPT_OK(t, MPI_Comm_dup(mine, &own->copy));
    check_mine(t, own->copy, own->copy, mine);
    check_mine(t, MPI_COMM_WORLD, 0 == own->index ? MPI_COMM_WORLD : MPI_COMM_NULL, mine);
    EPT_OK(t, MPIX_Comm_endpoint_attach(any[(own->index + 1) % COUNT])); /* from there */
    check_mine(t, any[own->index], any[(own->index + 1) % COUNT], any[(own->index + 1) % COUNT]);
    EPT_OK(t, MPIX_Thread_detach());
    check_mine(t, any[COUNT - 1], any[0], MPI_COMM_NULL);
    EPT_OK(t, MPI_Comm_free(&own->copy));
    EPT_OK(t, MPIX_Comm_endpoint_attach(mine));
    return NULL; /* attached */
}

static void *by_rank(void *arg)
{
    struct own *own = arg;
    struct ept *t = own->t;
    const int first = COUNT * t->proc, last = first + COUNT - 1;
    MPI_Comm *any = own->comms;

    EPT_OK(t, MPIX_Thread_attach_rank(first + own->index, any[0]));
    check_mine(t, any[COUNT - 1], any[own->index], any[own->index]);
    EPT_OK(t, MPIX_Thread_attach_rank(last, any[own->index]));
    check_mine(t, any[0], any[COUNT - 1], any[COUNT - 1]);
    EPT_CLASS(t, MPIX_ERR_ENDPOINTS, MPIX_Thread_attach_rank(-1, any[0]));
    EPT_CLASS(t, MPIX_ERR_ENDPOINTS, MPIX_Thread_attach_rank(COUNT * t->nprocs, any[0]));
    if (1 < t->nprocs) {
        EPT_CLASS(t, MPIX_ERR_ENDPOINTS,
                  MPIX_Thread_attach_rank((last + 1) % (COUNT * t->nprocs), any[0]));
    }
    check_mine(t, any[0], any[COUNT - 1], any[COUNT - 1]);
    EPT_OK(t, MPIX_Thread_attach_rank(t->proc, MPI_COMM_WORLD)); /* a static one */
    check_mine(t, any[1], any[0], 's' == static_how(t->proc) ? MPIX_COMM_ENDPOINTS : MPI_COMM_NULL);
    return NULL;
}

static void case_by_handle(MPI_Comm comm, struct ept *t)
{
    MPI_Comm comms[COUNT];

    EPT_OK(t, MPIX_Comm_create_endpoints(comm, COUNT, MPI_INFO_NULL, comms));
    on_each(t, comms, by_handle);
    on_each(t, comms, by_rank);
    for (int i = 0; i < COUNT; ++i) {
        EPT_OK(t, MPI_Comm_free(&comms[i]));
    }
}

static void case_errors(MPI_Comm comm, struct ept *t)
{
    MPI_Comm comms[COUNT], mine;

    EPT_OK(t, MPIX_Comm_create_endpoints(comm, COUNT, MPI_INFO_NULL, comms));
    EPT_CLASS(t, MPI_ERR_COMM, MPIX_Comm_endpoint_attach(MPI_COMM_NULL));
    EPT_CLASS(t, MPI_ERR_COMM, MPIX_Comm_endpoint_attach(comm)); /* of processes */
    EPT_CLASS(t, MPI_ERR_COMM, MPIX_Comm_world_set(comm));
    EPT_CLASS(t, MPI_ERR_COMM, MPIX_Comm_mine(MPI_COMM_NULL, &mine));
    EPT_CLASS(t, MPI_ERR_ARG, MPIX_Comm_mine(comms[0], NULL));
    EPT_CLASS(t, MPI_ERR_ARG, MPIX_Comm_world_get(NULL));
    /* Freed under the thread: it is where it was before. */
    EPT_OK(t, MPIX_Comm_endpoint_attach(comms[1]));
    check_mine(t, comms[0], comms[1], comms[1]);
    EPT_OK(t, MPI_Comm_free(&comms[1]));
    check_mine(t, comms[2], comms[0], MPI_COMM_NULL);
    EPT_CLASS(t, MPIX_ERR_ENDPOINTS, MPIX_Thread_attach_rank(COUNT * t->proc + 1, comms[0]));
    EPT_OK(t, MPIX_Comm_world_set(comms[2]));
    EPT_OK(t, MPI_Comm_disconnect(&comms[2]));
    check_mine(t, comms[0], comms[0], MPI_COMM_NULL);
    EPT_OK(t, MPI_Comm_free(&comms[0]));
}

#endif

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
#if defined(HAVE_EP)
    EPT_OK(t, static_code);
    EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    EPT_CASE(t, case_by_handle);
    EPT_CASE(t, case_errors);
#else
    ept_skip(t, "worlds", "needs endpoints");
#endif
    return 0;
}
