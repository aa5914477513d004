/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The process's first endpoints, made by two threads at the same time: neither has an endpoint
 * before our functions are in their places.  opal_progress_register, which is called on the way
 * there, is held up until the other thread has had its chance.
 *
 *   --limit N  pml_epml_max_endpoints of this run: two threads, again and again, want more than
 *   half
 *              of them each at the same time
 *
 * Guards: pml_epml_serve.c
 */

#define _GNU_SOURCE

#include "ept.h"

#include <dlfcn.h>
#include <unistd.h>

static atomic_bool armed, inside, registered;

int opal_progress_register(int (*callback)(void));
int opal_progress_register(int (*callback)(void))
{
    int (*original)(int (*)(void)) = (int (*)(int (*)(void))) dlsym(RTLD_NEXT,
                                                                    "opal_progress_register");
    const bool held = atomic_exchange(&armed, false);
    int rc;

    if (held) {
        atomic_store(&inside, true);
        usleep(500000);
    }
    rc = original(callback);
    if (held) {
        atomic_store(&registered, true);
    }
    return rc;
}

static MPI_Comm parent[2], ep[2][2];

static void *create_first(void *arg)
{
    struct ept *t = arg;

    EPT_OK(t, MPIX_Comm_create_endpoints(parent[0], 2, MPI_INFO_NULL, ep[0]));
    return NULL;
}

static void exchange(struct ept *t, MPI_Comm handle[2])
{
    double out[8] = {1, 2, 3, 4, 5, 6, 7, 8}, in[8] = {0};
    MPI_Request requests[2];
    int flag = 0;

    EPT_OK(t, MPI_Psend_init(out, 4, 2, MPI_DOUBLE, 1, 5, handle[0], MPI_INFO_NULL, &requests[0]));
    EPT_OK(t, MPI_Precv_init(in, 4, 2, MPI_DOUBLE, 0, 5, handle[1], MPI_INFO_NULL, &requests[1]));
    EPT_OK(t, MPI_Startall(2, requests));
    EPT_OK(t, MPI_Pready_range(0, 3, requests[0]));
    EPT_OK(t, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    EPT_OK(t, MPI_Parrived(requests[1], 3, &flag)); /* of an inactive one: true */
    EPT_EQ(t, 1, flag);
    EPT_CHECK(t, 8 == in[7], "got %g", in[7]);
    EPT_OK(t, MPI_Request_free(&requests[0]));
    EPT_OK(t, MPI_Request_free(&requests[1]));
}

static void case_two_threads(MPI_Comm comm, struct ept *t)
{
    pthread_t thread;

    (void) comm;
    for (int i = 0; i < 2; ++i) {
        EPT_OK(t, MPI_Comm_dup(MPI_COMM_SELF, &parent[i]));
    }
    atomic_store(&armed, true);
    pthread_create(&thread, NULL, create_first, t);
    while (!atomic_load(&inside)) {
        usleep(1000);
    }
    EPT_OK(t, MPIX_Comm_create_endpoints(parent[1], 2, MPI_INFO_NULL, ep[1]));
    EPT_CHECK(t, atomic_load(&registered), "endpoints before there are functions for them");
    exchange(t, ep[1]);
    pthread_join(thread, NULL);
    exchange(t, ep[0]);
    for (int i = 0; i < 4; ++i) {
        EPT_OK(t, MPI_Comm_free(&ep[i / 2][i % 2]));
    }
    for (int i = 0; i < 2; ++i) {
        EPT_OK(t, MPI_Comm_free(&parent[i]));
    }
}

/* ---- no more than there may be --------------------------------------------------------------- */

enum { ROUNDS = 40, MOST = 64 };

static pthread_barrier_t together;
static atomic_int had;

/** Each round one of the two threads gets all that it wants, and the other one nothing. */
static void *want_half(void *arg)
{
    struct ept *t = arg;
    const int wanted = (int) ept_option_long("limit", 0) / 2 + 1;
    MPI_Comm comms[MOST], own;

    EPT_OK(t, MPI_Comm_dup(MPI_COMM_SELF, &own));
    EPT_OK(t, MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN));
    for (int round = 0; round < ROUNDS; ++round) {
        int rc;

        pthread_barrier_wait(&together);
        rc = MPIX_Comm_create_endpoints(own, wanted, MPI_INFO_NULL, comms);
        atomic_fetch_add(&had, MPI_SUCCESS == rc ? 1 : 0);
        if (MPI_SUCCESS != rc) {
            EPT_CLASS(t, MPIX_ERR_ENDPOINTS, rc);
        }
        pthread_barrier_wait(&together);
        for (int i = 0; MPI_SUCCESS == rc && i < wanted; ++i) {
            EPT_OK(t, MPI_Comm_free(&comms[i]));
        }
    }
    EPT_OK(t, MPI_Comm_free(&own));
    return NULL;
}

static void case_limit(MPI_Comm comm, struct ept *t)
{
    const int limit = (int) ept_option_long("limit", 0);
    MPI_Comm comms[MOST];
    pthread_t thread;

    (void) comm;
    pthread_barrier_init(&together, NULL, 2);
    pthread_create(&thread, NULL, want_half, t);
    want_half(t);
    pthread_join(thread, NULL);
    EPT_EQ(t, ROUNDS, atomic_load(&had));
    /* What was refused has not been counted. */
    EPT_OK(t, MPIX_Comm_create_endpoints(MPI_COMM_SELF, limit, MPI_INFO_NULL, comms));
    for (int i = 0; i < limit; ++i) {
        EPT_OK(t, MPI_Comm_free(&comms[i]));
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (0 < ept_option_long("limit", 0)) {
        EPT_CASE(t, case_limit);
    } else {
        EPT_CASE(t, case_two_threads);
    }
    return 0;
}
