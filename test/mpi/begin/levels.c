/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Init_thread with the endpoints that the launcher was told of, by the draft of chapter 12 for
 * MPI 3: which level is provided, to which endpoint each thread belongs, which is its main thread,
 * what each level forbids, and how MPI ends.
 *
 *   --required N  0 to 5: MPI_THREAD_SINGLE to MPIX_THREAD_REATTACH
 *   --provided N  likewise (default: as required)
 *   --asp N       endpoints of each process (default 1)
 *   --begin all   each of several threads calls MPI_Init_thread
 *   --end mains   the main thread of each endpoint calls MPI_Finalize; pool: one thread does, while
 *                 the main threads of others sleep
 *
 * Guards: init_mpi.c, thread_calls.c, thread_attach.c, attached.c, process.c, abi_init.c,
 * mpiext_endpoints_abi.h
 */

#include "static.h"

#if defined(HAVE_EP)

#    include <unistd.h>

#    define THREADS 7

static const int levels[] = {MPI_THREAD_SINGLE,   MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                             MPI_THREAD_MULTIPLE, MPIX_THREAD_ATTACH,  MPIX_THREAD_REATTACH};
static int provided = -1, main_initialized = -1;
static pthread_barrier_t meeting;
static int mains;

static int option_level(const char *name, long by_default)
{
    return levels[ept_option_long(name, by_default)];
}

static int expected_level(void)
{
    return option_level("provided", ept_option_long("required", 3));
}

static int asp(void)
{
    return (int) ept_option_long("asp", 1);
}

static bool is_assigned(void)
{
    return MPI_THREAD_MULTIPLE >= expected_level();
}

static void *begins(void *arg)
{
    int *got = arg;

    (void) MPI_Init_thread(NULL, NULL, option_level("required", 3), got);
    return NULL;
}

int test_process_init(int *argc, char ***argv)
{
    if (0 == strcmp("all", ept_option("begin", ""))) {
        int got[THREADS];
        pthread_t thread[THREADS];

        for (int i = 0; i < THREADS; ++i) {
            got[i] = -1;
            (void) pthread_create(&thread[i], NULL, begins, &got[i]);
        }
        provided = expected_level();
        for (int i = 0; i < THREADS; ++i) {
            (void) pthread_join(thread[i], NULL);
            provided = provided == got[i] ? provided : -2;
        }
    } else {
        static_code = MPI_Init_thread(argc, argv, option_level("required", 3), &provided);
    }
    MPI_Initialized(&main_initialized);
    return MPI_THREAD_MULTIPLE;
}

static void case_provided(MPI_Comm comm, struct ept *t)
{
    int level = -1, again = -1, size, flag = 0;
    char text[8] = "";

    (void) comm;
    EPT_EQ(t, expected_level(), provided);
    EPT_OK(t, MPI_Query_thread(&level));
    EPT_EQ(t, expected_level(), level);
    EPT_EQ(t, is_assigned(), main_initialized);
    EPT_OK(t, MPI_Init_thread(NULL, NULL, MPI_THREAD_SINGLE, &again));
    EPT_EQ(t, expected_level(), again);
    if (!is_assigned()) {
        EPT_CHECK(t, MPI_COMM_NULL == MPIX_COMM_ENDPOINTS, "has not attached, and belongs");
        EPT_OK(t, MPIX_Thread_attach_index(0));
    }
    EPT_OK(t, MPI_Comm_size(MPIX_COMM_PROCESS, &size));
    EPT_EQ(t, asp(), size);
    EPT_OK(t, MPI_Info_get(MPI_INFO_ENV, "asp", 7, text, &flag));
    EPT_EQ(t, asp(), flag ? atoi(text) : -1);
}

static int where(struct ept *t)
{
    int rank = -1;

    if (MPI_COMM_NULL != MPIX_COMM_PROCESS) {
        EPT_OK(t, MPI_Comm_rank(MPIX_COMM_PROCESS, &rank));
    }
    return rank;
}

struct thread {
    struct ept *t;
    int index, at;
    pthread_t thread;
};

static void attach(struct thread *thread)
{
    struct ept *t = thread->t;
    const int index = thread->index % asp(), next = (index + 1) % asp();
    int flag = -1;

    EPT_EQ(t, -1, where(t));
    EPT_OK(t, MPI_Is_thread_main(&flag));
    EPT_EQ(t, 0, flag);
    EPT_CLASS(t, MPIX_ERR_ENDPOINTS, MPIX_Thread_attach_index(-1));
    EPT_CLASS(t, MPIX_ERR_ENDPOINTS, MPIX_Thread_attach_index(asp()));
    EPT_OK(t, MPIX_Thread_attach_index(index));
    EPT_EQ(t, index, where(t));
    if (MPIX_THREAD_ATTACH == expected_level()) {
        EPT_CLASS(t, MPIX_ERR_ENDPOINTS, MPIX_Thread_attach_index(next));
        EPT_CLASS(t, MPIX_ERR_ENDPOINTS, MPIX_Thread_detach());
    } else {
        EPT_OK(t, MPIX_Thread_attach_index(next));
        EPT_EQ(t, next, where(t));
        EPT_OK(t, MPIX_Thread_attach_index(index));
    }
    EPT_EQ(t, index, where(t));
}

static void *belongs(void *arg)
{
    struct thread *thread = arg;
    struct ept *t = thread->t;
    int flag = -1, level = -1;

    EPT_OK(t, MPI_Initialized(&flag));
    EPT_EQ(t, is_assigned(), flag);
    if (is_assigned()) {
        EPT_CLASS(t, MPIX_ERR_ENDPOINTS, MPIX_Thread_attach_index(0));
        EPT_CLASS(t, MPIX_ERR_ENDPOINTS, MPIX_Thread_detach());
    } else {
        attach(thread);
    }
    EPT_OK(t, MPI_Initialized(&flag));
    EPT_EQ(t, 1, flag);
    EPT_OK(t, MPI_Query_thread(&level));
    EPT_EQ(t, expected_level(), level);
    thread->at = where(t);
    pthread_barrier_wait(&meeting);
    EPT_OK(t, MPI_Is_thread_main(&flag));
    __atomic_fetch_add(&mains, flag, __ATOMIC_RELAXED);
    EPT_EQ(t, thread->at, where(t));
    pthread_barrier_wait(&meeting);
    return NULL;
}

/* Main threads that new threads can become: that of endpoint 0 is the thread that has begun, and that
 * of the next one this thread, if it is another. */
static int mains_left(struct ept *t)
{
    return asp() - 1 - (0 != where(t));
}

/* Seven threads, beside these. */
static void case_threads(MPI_Comm comm, struct ept *t)
{
    int threads_at[STATIC_MAX] = {0}, fewest = THREADS, most = 0, flag = 0;
    struct thread threads[THREADS];

    (void) comm;
    mains = 0;
    ++threads_at[where(t)];
    threads_at[0] += 0 != where(t);
    EPT_EQ(t, 0, pthread_barrier_init(&meeting, NULL, THREADS));
    for (int i = 0; i < THREADS; ++i) {
        threads[i] = (struct thread){.t = t, .index = i};
        EPT_EQ(t, 0, pthread_create(&threads[i].thread, NULL, belongs, &threads[i]));
    }
    for (int i = 0; i < THREADS; ++i) {
        EPT_EQ(t, 0, pthread_join(threads[i].thread, NULL));
        EPT_CHECK(t, 0 <= threads[i].at && asp() > threads[i].at, "thread %d at %d", i,
                  threads[i].at);
        ++threads_at[threads[i].at];
    }
    (void) pthread_barrier_destroy(&meeting);
    for (int i = 0; i < asp(); ++i) {
        fewest = threads_at[i] < fewest ? threads_at[i] : fewest;
        most = threads_at[i] > most ? threads_at[i] : most;
    }
    if (is_assigned()) {
        EPT_CHECK(t, most - fewest <= 1, "%d to %d threads at an endpoint", fewest, most);
    }
    if (MPIX_THREAD_REATTACH != expected_level()) {
        EPT_OK(t, MPI_Is_thread_main(&flag));
        EPT_EQ(t, 1, flag);
        EPT_EQ(t, mains_left(t), mains);
    }
}

/* The main thread moves away: nobody is in its place until another comes. */
static void case_main_moves(MPI_Comm comm, struct ept *t)
{
    int flag = -1;

    (void) comm;
    EPT_OK(t, MPI_Is_thread_main(&flag));
    EPT_EQ(t, 1, flag);
    EPT_OK(t, MPIX_Thread_detach());
    EPT_OK(t, MPI_Is_thread_main(&flag));
    EPT_EQ(t, 0, flag);
    EPT_OK(t, MPIX_Thread_attach_index(0));
    EPT_OK(t, MPI_Is_thread_main(&flag));
    EPT_EQ(t, 1, flag);
}

struct end {
    struct ept *t;
    int index;
};

static void *ends(void *arg)
{
    const struct end *end = arg;
    int flag = -1, one = 1, sum = 0;

    if (!is_assigned()) {
        EPT_OK(end->t, MPIX_Thread_attach_index(end->index));
    }
    EPT_OK(end->t, MPI_Is_thread_main(&flag));
    __atomic_fetch_add(&mains, flag, __ATOMIC_RELAXED);
    pthread_barrier_wait(&meeting);
    if (0 == strcmp("pool", ept_option("end", ""))) {
        for (;;) {
            (void) pause();
        }
    }
    /* The others of this process may have called it already: MPI is there until all have. */
    EPT_OK(end->t, MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPIX_COMM_SELF));
    EPT_EQ(end->t, 1, sum);
    EPT_OK(end->t, MPI_Finalize());
    return NULL;
}

/* There is a main thread for each endpoint; main() calls MPI_Finalize in the end. */
static void case_end(MPI_Comm comm, struct ept *t)
{
    static struct end end[STATIC_MAX];
    pthread_t thread[STATIC_MAX];
    int is_over = -1;

    (void) comm;
    mains = 0;
    EPT_EQ(t, 0, pthread_barrier_init(&meeting, NULL, (unsigned int) asp()));
    for (int i = 1; i < asp(); ++i) {
        end[i] = (struct end){.t = t, .index = i};
        EPT_EQ(t, 0, pthread_create(&thread[i], NULL, ends, &end[i]));
    }
    pthread_barrier_wait(&meeting);
    EPT_EQ(t, mains_left(t), mains);
    for (int i = 1; i < asp() && 0 == strcmp("mains", ept_option("end", "")); ++i) {
        EPT_EQ(t, 0, pthread_join(thread[i], NULL));
    }
    EPT_OK(t, MPI_Finalized(&is_over));
    EPT_EQ(t, 0, is_over);
}

#endif

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
#if defined(HAVE_EP)
    EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    EPT_CASE(t, case_provided);
    if (0 != strcmp("all", ept_option("begin", ""))) {
        EPT_CASE(t, case_threads);
    }
    if (MPIX_THREAD_REATTACH == expected_level()) {
        EPT_CASE(t, case_main_moves);
    }
    if ('\0' != *ept_option("end", "")) {
        EPT_CASE(t, case_end);
    }
#else
    ept_skip(t, "static", "needs endpoints");
#endif
    return 0;
}
