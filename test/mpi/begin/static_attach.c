/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Threads and endpoints: where a new thread is, and that it counts for nobody there; how it goes
 * elsewhere, by handle, number and rank; what is an error, and says which; threads that end
 * attached; many that come and go.
 *
 *   --million N  attachments in all by 16 threads, each with its detachment (default 20000)
 *   --most NS    how long one of either may take, if that is to be asserted
 *
 * Guards: thread_attach.c, attached.c, process.c, abi_static.c
 */

#include "static.h"

#if defined(HAVE_EP)

#    define THREADS 16

int test_process_init(int *argc, char ***argv)
{
    static_code = static_begin(argc, argv); /* and stays on the first one by default */
    return MPI_THREAD_MULTIPLE;
}

static bool is_for_one(void)
{
    return MPI_THREAD_FUNNELED >= static_level();
}

static int count_of(const struct ept *t)
{
    return static_count(t->proc);
}

/* A code of class MPIX_ERR_ENDPOINTS with these words. */
static void check_cause(struct ept *t, int line, const char *words, int rc)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length, class = MPI_SUCCESS;

    (void) MPI_Error_class(rc, &class);
    (void) MPI_Error_string(rc, text, &length);
    EPT_CHECK(t, MPIX_ERR_ENDPOINTS == class && NULL != strstr(text, words),
              "line %d: expected \"%s\", got \"%s\"", line, words, text);
}

#    define CAUSE(t, words, rc) check_cause((t), __LINE__, (words), (rc))

#    define ATTACHED "MPIX_Thread_detach comes before"
#    define TAKEN "another thread is attached"
#    define DETACHED "attached to no endpoint"
#    define NO_ENDPOINT "no endpoint that its process"

/* The number of the endpoint that the calling thread is on, or -1. */
static int where(struct ept *t)
{
    int rank = -1;

    if (MPI_COMM_NULL != MPIX_COMM_PROCESS) {
        EPT_OK(t, MPI_Comm_rank(MPIX_COMM_PROCESS, &rank));
    }
    return rank;
}

/* Runs fn in a new thread. */
static void in_thread(struct ept *t, void *(*fn)(void *) )
{
    pthread_t thread;

    EPT_EQ(t, 0, pthread_create(&thread, NULL, fn, t));
    EPT_EQ(t, 0, pthread_join(thread, NULL));
}

static void *second(void *arg)
{
    struct ept *t = arg;

    EPT_OK(t, MPIX_Thread_detach());
    if (is_for_one()) {
        CAUSE(t, TAKEN, MPIX_Thread_attach(static_endpoints[0]));
        CAUSE(t, TAKEN, MPIX_Thread_attach_index(0));
    } else {
        EPT_OK(t, MPIX_Thread_attach(static_endpoints[0]));
    }
    return NULL;
}

static void *first(void *arg)
{
    struct ept *t = arg;

    EPT_EQ(t, 0, where(t));
    EPT_OK(t, MPIX_Thread_attach_index(0));
    EPT_EQ(t, 0, where(t));
    in_thread(t, second);
    EPT_OK(t, MPIX_Thread_detach());
    EPT_OK(t, MPIX_Thread_attach(static_endpoints[0]));
    in_thread(t, second);
    return NULL;
}

/* The thread that has begun MPI, and this one, are on the first endpoint by default: there the first
 * one that is attached by a call counts. */
static void case_by_default(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_EQ(t, 0, where(t));
    in_thread(t, first);
    EPT_EQ(t, 0, where(t));
}

static void *new_thread(void *arg)
{
    struct ept *t = arg;
    const int last = count_of(t) - 1;

    EPT_EQ(t, 0, where(t));
    CAUSE(t, ATTACHED, MPIX_Thread_attach(static_endpoints[last]));
    CAUSE(t, ATTACHED, MPIX_Thread_attach(static_endpoints[0]));
    EPT_OK(t, MPIX_Thread_detach());
    EPT_CHECK(t, MPI_COMM_NULL == MPIX_COMM_ENDPOINTS, "detached, and has a communicator");
    EPT_CHECK(t, MPI_COMM_NULL == MPIX_COMM_SELF, "detached, and has a communicator");
    CAUSE(t, DETACHED, MPIX_Thread_detach());
    EPT_OK(t, MPIX_Thread_attach(static_endpoints[last]));
    EPT_EQ(t, last, where(t));
    CAUSE(t, ATTACHED, MPIX_Thread_attach(static_endpoints[last]));
    EPT_EQ(t, last, where(t));
    EPT_OK(t, MPIX_Thread_detach());
    return NULL;
}

static void case_new_thread(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    in_thread(t, new_thread);
}

static void *no_endpoint(void *arg)
{
    struct ept *t = arg;
    const int count = count_of(t);

    EPT_OK(t, MPIX_Thread_detach());
    CAUSE(t, NO_ENDPOINT, MPIX_Thread_attach(MPIX_ENDPOINT_NULL));
    CAUSE(t, NO_ENDPOINT, MPIX_Thread_attach((MPIX_Endpoint) (void *) t));
    CAUSE(t, NO_ENDPOINT,
          MPIX_Thread_attach((MPIX_Endpoint) (void *) ((char *) static_endpoints[0] + 8)));
    CAUSE(t, NO_ENDPOINT, MPIX_Thread_attach_index(-1));
    CAUSE(t, NO_ENDPOINT, MPIX_Thread_attach_index(count));
    CAUSE(t, NO_ENDPOINT, MPIX_Thread_attach_rank(-1, MPI_COMM_SELF));
    CAUSE(t, NO_ENDPOINT, MPIX_Thread_attach_rank(t->nprocs, MPI_COMM_WORLD));
    if (1 < t->nprocs) {
        CAUSE(t, NO_ENDPOINT, MPIX_Thread_attach_rank((t->proc + 1) % t->nprocs, MPI_COMM_WORLD));
    }
    EPT_CLASS(t, MPI_ERR_COMM, MPIX_Thread_attach_rank(0, MPI_COMM_NULL));
    EPT_EQ(t, -1, where(t));
    return NULL;
}

static void case_no_endpoint(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    in_thread(t, no_endpoint);
}

static void *elsewhere(void *arg)
{
    struct ept *t = arg;
    const int count = count_of(t), first = static_first(t->proc);

    for (int i = count - 1; 0 < i; --i) {
        EPT_OK(t, MPIX_Thread_attach_index(i));
        EPT_EQ(t, i, where(t));
        EPT_OK(t, MPIX_Thread_attach_index(i));
        EPT_EQ(t, i, where(t));
    }
    for (int i = 1; i < count; ++i) {
        EPT_OK(t, MPIX_Thread_attach_rank(first + i, MPIX_COMM_ENDPOINTS));
        EPT_EQ(t, i, where(t));
        EPT_OK(t, MPIX_Thread_attach_rank(i, MPIX_COMM_PROCESS));
        EPT_EQ(t, i, where(t));
    }
    EPT_OK(t, MPIX_Thread_attach_rank(t->proc, MPI_COMM_WORLD));
    EPT_EQ(t, 0, where(t));
    EPT_OK(t, MPIX_Thread_detach());
    EPT_OK(t, MPIX_Thread_attach_index(0));
    EPT_EQ(t, 0, where(t));
    return NULL;
}

/* By number and by rank, without being detached before. */
static void case_elsewhere(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_OK(t, MPIX_Thread_detach());
    in_thread(t, elsewhere);
    EPT_OK(t, MPIX_Thread_attach_index(0));
}

static pthread_barrier_t meeting;

static void *stays(void *arg)
{
    struct ept *t = arg;

    EPT_OK(t, MPIX_Thread_detach());
    EPT_OK(t, MPIX_Thread_attach(static_endpoints[count_of(t) - 1]));
    pthread_barrier_wait(&meeting);
    pthread_barrier_wait(&meeting);
    return NULL; /* attached */
}

static void *comes(void *arg)
{
    struct ept *t = arg;
    const int last = count_of(t) - 1;

    /* It is on the first as all are, and is counted there once it says so. */
    if (is_for_one()) {
        CAUSE(t, TAKEN, MPIX_Thread_attach_index(0));
        CAUSE(t, TAKEN, MPIX_Thread_attach_rank(0, MPIX_COMM_PROCESS));
    } else {
        EPT_OK(t, MPIX_Thread_attach_index(0));
    }
    EPT_EQ(t, 0, where(t));
    EPT_OK(t, MPIX_Thread_detach());
    if (!is_for_one()) {
        EPT_OK(t, MPIX_Thread_attach(static_endpoints[last]));
        return NULL;
    }
    CAUSE(t, TAKEN, MPIX_Thread_attach(static_endpoints[last]));
    EPT_EQ(t, -1, where(t));
    /* The rank's own thread is there by a call. */
    CAUSE(t, TAKEN, MPIX_Thread_attach(static_endpoints[0]));
    return NULL;
}

/* One thread is there, another one comes; then the first one ends. */
static void case_taken(MPI_Comm comm, struct ept *t)
{
    pthread_t thread;

    (void) comm;
    EPT_OK(t, MPIX_Thread_detach());
    EPT_OK(t, MPIX_Thread_attach_index(0));
    pthread_barrier_init(&meeting, NULL, 2);
    if (1 < count_of(t)) {
        EPT_EQ(t, 0, pthread_create(&thread, NULL, stays, t));
        pthread_barrier_wait(&meeting);
        in_thread(t, comes);
        CAUSE(t, ATTACHED, MPIX_Thread_attach(static_endpoints[count_of(t) - 1]));
        if (is_for_one()) {
            CAUSE(t, TAKEN, MPIX_Thread_attach_index(count_of(t) - 1));
            EPT_EQ(t, 0, where(t));
        }
        pthread_barrier_wait(&meeting);
        EPT_EQ(t, 0, pthread_join(thread, NULL));
    }
    pthread_barrier_destroy(&meeting);
    /* It has been detached by its end. */
    EPT_OK(t, MPIX_Thread_attach_index(count_of(t) - 1));
    EPT_EQ(t, count_of(t) - 1, where(t));
    EPT_OK(t, MPIX_Thread_attach_index(0));
}

struct comer {
    struct ept *t;
    int number;
    long rounds, right;
    double seconds;
};

static void *come_and_go(void *arg)
{
    struct comer *comer = arg;
    const int count = count_of(comer->t);
    double start;

    EPT_OK(comer->t, MPIX_Thread_detach());
    pthread_barrier_wait(&meeting);
    start = ept_time();
    for (long i = 0; i < comer->rounds; ++i) {
        MPIX_Endpoint endpoint = static_endpoints[(comer->number + i) % count];
        int rc;

        /* Where the level is for one, another one may be there. */
        while (MPI_SUCCESS != (rc = MPIX_Thread_attach(endpoint)) && is_for_one()) {
            sched_yield();
        }
        comer->right += MPI_SUCCESS == rc && MPI_COMM_NULL != MPIX_COMM_ENDPOINTS;
        comer->right += MPI_SUCCESS == MPIX_Thread_detach();
    }
    comer->seconds = ept_time() - start;
    return NULL;
}

/* All endpoints are free afterwards. */
static void case_million(MPI_Comm comm, struct ept *t)
{
    const long rounds = ept_option_long("million", 20000) / THREADS;
    struct comer comers[THREADS];
    pthread_t threads[THREADS];
    double seconds = 0;

    (void) comm;
    EPT_OK(t, MPIX_Thread_detach());
    pthread_barrier_init(&meeting, NULL, THREADS);
    for (int i = 0; i < THREADS; ++i) {
        comers[i] = (struct comer){.t = t, .number = i, .rounds = rounds};
        EPT_EQ(t, 0, pthread_create(&threads[i], NULL, come_and_go, &comers[i]));
    }
    for (int i = 0; i < THREADS; ++i) {
        EPT_EQ(t, 0, pthread_join(threads[i], NULL));
        EPT_EQ(t, 2 * rounds, comers[i].right);
        seconds = seconds < comers[i].seconds ? comers[i].seconds : seconds;
    }
    pthread_barrier_destroy(&meeting);
    for (int i = count_of(t) - 1; 0 <= i; --i) {
        EPT_OK(t, MPIX_Thread_attach_index(i));
    }
    if (0 == t->proc) {
        ept_note("%ld attachments and detachments by %d threads in %.3f s", THREADS * rounds,
                 THREADS, seconds);
    }
}

/* What one of either takes, alone. */
static void case_cost(MPI_Comm comm, struct ept *t)
{
    const long most = ept_option_long("most", 0), rounds = 200000;
    double best = 1;

    (void) comm;
    EPT_OK(t, MPIX_Thread_detach());
    for (int try = 0; try < 9; ++try) {
        const double start = ept_time();
        double each;

        for (long i = 0; i < rounds; ++i) {
            (void) MPIX_Thread_attach(static_endpoints[0]);
            (void) MPIX_Thread_detach();
        }
        each = (ept_time() - start) / (double) (2 * rounds);
        best = each < best ? each : best;
    }
    if (0 == t->proc && 0 < most) {
        ept_note("an attachment, or a detachment: %.1f ns", best * 1e9);
    }
    EPT_CHECK(t, 0 == most || best * 1e9 <= (double) most, "%.1f ns, at most %ld are allowed",
              best * 1e9, most);
    EPT_OK(t, MPIX_Thread_attach_index(0));
}

#endif

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
#if defined(HAVE_EP)
    EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    EPT_CASE(t, case_by_default);
    EPT_CASE(t, case_taken);
    EPT_CASE(t, case_new_thread);
    EPT_CASE(t, case_no_endpoint);
    EPT_CASE(t, case_elsewhere);
    EPT_CASE(t, case_million);
    EPT_CASE(t, case_cost);
#else
    ept_skip(t, "static", "needs endpoints");
#endif
    return 0;
}
