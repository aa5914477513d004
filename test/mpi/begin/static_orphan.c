/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Endpoints without a thread: what needs a call at such an endpoint waits for one, and ends when
 * somebody has been attached and has made it; nothing else is held up.  What arrives is kept.
 *
 * Guards: thread_attach.c, attached.c
 */

#include "static.h"

#if defined(HAVE_EP)

#    include <unistd.h>

#    define LARGE (1 << 20)

int test_process_init(int *argc, char ***argv)
{
    static_code = static_begin(argc, argv);
    return MPI_THREAD_MULTIPLE;
}

/* The orphan: the last endpoint of the last process. */
static int orphan(const struct ept *t)
{
    return static_first(t->nprocs) - 1;
}

static bool has_orphan(const struct ept *t)
{
    return t->nprocs - 1 == t->proc;
}

static void attach_to(struct ept *t, int index)
{
    EPT_OK(t, MPIX_Thread_detach());
    EPT_OK(t, MPIX_Thread_attach(static_endpoints[index]));
}

static atomic_int sent; /* has the blocking send returned? */

static void *send_large(void *arg)
{
    struct ept *t = arg;
    char *data = malloc(LARGE);

    attach_to(t, 0);
    ept_fill(data, 0, LARGE, 3);
    EPT_OK(t, MPI_Send(data, LARGE, MPI_CHAR, orphan(t), 1, MPIX_COMM_ENDPOINTS));
    atomic_store(&sent, 1);
    free(data);
    EPT_OK(t, MPIX_Thread_detach());
    return NULL;
}

static void *receive_large(void *arg)
{
    struct ept *t = arg;
    char *data = malloc(LARGE);

    attach_to(t, static_count(t->proc) - 1);
    EPT_OK(t, MPI_Recv(data, LARGE, MPI_CHAR, 0, 1, MPIX_COMM_ENDPOINTS, MPI_STATUS_IGNORE));
    EPT_FILL(t, data, LARGE, 3);
    free(data);
    EPT_OK(t, MPIX_Thread_detach());
    return NULL;
}

/* A blocking send waits until somebody comes and receives. */
static void case_blocking(MPI_Comm comm, struct ept *t)
{
    pthread_t thread;

    atomic_store(&sent, 0);
    if (0 == t->proc) {
        EPT_EQ(t, 0, pthread_create(&thread, NULL, send_large, t));
        usleep(200000);
        EPT_EQ(t, 0, atomic_load(&sent));
    }
    EPT_OK(t, MPI_Barrier(comm));
    if (has_orphan(t)) {
        pthread_t receiver;

        EPT_EQ(t, 0, pthread_create(&receiver, NULL, receive_large, t));
        EPT_EQ(t, 0, pthread_join(receiver, NULL));
    }
    if (0 == t->proc) {
        EPT_EQ(t, 0, pthread_join(thread, NULL));
        EPT_EQ(t, 1, atomic_load(&sent));
    }
}

/* Nonblocking calls return; others are not held up; all is complete when somebody comes. */
static void *without_waiting(void *arg)
{
    struct ept *t = arg;
    const int count = static_count(t->proc), all = has_orphan(t) ? count - 1 : count;
    MPI_Request barriers[STATIC_MAX], requests[2];
    int value[2] = {41, 42}, flag = 1;

    /* Each endpoint but the orphan begins a barrier, by this one thread. */
    for (int i = 0; i < all; ++i) {
        attach_to(t, i);
        EPT_OK(t, MPI_Ibarrier(MPIX_COMM_ENDPOINTS, &barriers[i]));
    }
    attach_to(t, 0);
    if (0 == t->proc) {
        for (int i = 0; i < 2; ++i) {
            EPT_OK(t, MPI_Isend(&value[i], 1, MPI_INT, orphan(t), 2, MPIX_COMM_ENDPOINTS,
                                &requests[i]));
        }
        EPT_OK(t, MPI_Test(&barriers[0], &flag, MPI_STATUS_IGNORE));
        EPT_EQ(t, 0, flag);
    }
    /* It is nobody's business elsewhere. */
    EPT_OK(t, MPI_Barrier(MPI_COMM_WORLD));
    if (has_orphan(t)) {
        attach_to(t, count - 1);
        for (int i = 0; i < 2; ++i) {
            int got = -1;

            EPT_OK(t, MPI_Recv(&got, 1, MPI_INT, 0, 2, MPIX_COMM_ENDPOINTS, MPI_STATUS_IGNORE));
            EPT_EQ(t, 41 + i, got);
        }
        EPT_OK(t, MPI_Ibarrier(MPIX_COMM_ENDPOINTS, &barriers[count - 1]));
    }
    /* Requests are completed by a thread that is elsewhere by now. */
    EPT_OK(t, MPIX_Thread_detach());
    EPT_OK(t, MPI_Waitall(count, barriers, MPI_STATUSES_IGNORE));
    if (0 == t->proc) {
        EPT_OK(t, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    }
    return NULL;
}

static void case_nonblocking(MPI_Comm comm, struct ept *t)
{
    pthread_t thread;

    (void) comm;
    EPT_EQ(t, 0, pthread_create(&thread, NULL, without_waiting, t));
    EPT_EQ(t, 0, pthread_join(thread, NULL));
}

#endif

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
#if defined(HAVE_EP)
    EPT_CASE(t, case_blocking);
    EPT_CASE(t, case_nonblocking);
#else
    ept_skip(t, "static", "needs endpoints");
#endif
    return 0;
}
