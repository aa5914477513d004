/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/*
 * One library, offered to callers in three ways (the MPI Forum's hybrid working group, proposal of
 * 2010, 0.3; the merge is of 2011, 0.3.2):
 *
 *   process-collective    one thread of each process calls, with a communicator of processes.  The
 *                         program need not know of endpoints: the library has a pool of threads
 *                         that hold some between calls
 *   endpoint-collective   one thread of each endpoint calls, with its handle: plain MPI
 *   thread-collective     several threads of each process call, with a communicator and what they
 *                         share
 *
 * It multiplies two vectors that are spread over the callers.
 *
 *     epmpicc -pthread library_models.c -o library_models
 *     epmpirun -n 2 ./library_models 4
 *
 * The argument is the number of threads in a process.  Exit status 0: all results were right.
 */

#include <mpi.h>
#include <mpi-ext.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_THREADS 32

/* A part of two vectors. */
struct part {
    const double *x, *y;
    long count;
};

static double multiply(const struct part *part)
{
    double sum = 0;

    for (long i = 0; i < part->count; ++i) {
        sum += part->x[i] * part->y[i];
    }
    return sum;
}

/* One of several equal shares. */
static struct part share_of(const struct part *part, int index, int shares)
{
    const long first = part->count * index / shares, end = part->count * (index + 1) / shares;

    return (struct part){.x = part->x + first, .y = part->y + first, .count = end - first};
}

/* ==== the library: endpoint-collective ====================================================== */

/* Each member of the communicator gives a part, and gets the product of all. */
static double endpoint_dot(MPI_Comm comm, const struct part *part)
{
    double sum = multiply(part);

    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    return sum;
}

/* ==== the library: thread-collective ======================================================== */

/* The threads of a process that call together: a communicator of one rank in each process, and what
 * they share. */
struct team {
    MPI_Comm comm;
    int threads;
    pthread_barrier_t barrier;
    double sums[MAX_THREADS], result;
};

static void team_begin(struct team *team, MPI_Comm comm, int threads)
{
    team->comm = comm;
    team->threads = threads;
    pthread_barrier_init(&team->barrier, NULL, (unsigned) threads);
}

static void team_end(struct team *team)
{
    pthread_barrier_destroy(&team->barrier);
}

/* Each thread gives a part.  They meet in memory; one speaks for all. */
static double team_dot(struct team *team, int index, const struct part *part)
{
    double sum = 0;

    team->sums[index] = multiply(part);
    if (PTHREAD_BARRIER_SERIAL_THREAD == pthread_barrier_wait(&team->barrier)) {
        for (int i = 0; i < team->threads; ++i) {
            sum += team->sums[i];
        }
        MPI_Allreduce(&sum, &team->result, 1, MPI_DOUBLE, MPI_SUM, team->comm);
    }
    pthread_barrier_wait(&team->barrier);
    return team->result; /* nobody writes it before all have come to the next call */
}

/* ==== the library: process-collective ======================================================= */

typedef void (*job_fn_t)(int index, void *argument);

/* The pool: of a process, as long as it has a communicator that the library was called with.  The
 * caller is thread 0, whose endpoint stands for the process itself.  One call at a time. */
static struct {
    int users; /* communicators */
    int threads;
    MPI_Comm own[MAX_THREADS]; /* the endpoints: they know of those in this process only */
    pthread_t thread[MAX_THREADS];
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int jobs; /* given out so far */
    int busy; /* threads that are not through with the last one */
    job_fn_t job; /* NULL: that is all */
    void *argument;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void *pool_thread(void *arg)
{
    const int index = (int) (long) arg;
    int jobs = 0;

    for (;;) {
        job_fn_t job;

        pthread_mutex_lock(&pool.lock);
        while (jobs == pool.jobs) {
            pthread_cond_wait(&pool.changed, &pool.lock);
        }
        jobs = pool.jobs;
        job = pool.job;
        pthread_mutex_unlock(&pool.lock);
        if (NULL == job) {
            return NULL;
        }
        job(index, pool.argument);
        pthread_mutex_lock(&pool.lock);
        --pool.busy;
        pthread_cond_broadcast(&pool.changed);
        pthread_mutex_unlock(&pool.lock);
    }
}

/* All threads of the pool do it, the calling one among them. */
static void pool_run(job_fn_t job, void *argument)
{
    pthread_mutex_lock(&pool.lock);
    pool.job = job;
    pool.argument = argument;
    pool.busy = pool.threads - 1;
    ++pool.jobs;
    pthread_cond_broadcast(&pool.changed);
    pthread_mutex_unlock(&pool.lock);
    if (NULL == job) {
        return;
    }
    job(0, argument);
    pthread_mutex_lock(&pool.lock);
    while (0 < pool.busy) {
        pthread_cond_wait(&pool.changed, &pool.lock);
    }
    pthread_mutex_unlock(&pool.lock);
}

static void pool_begin(int threads)
{
    pool.threads = threads;
    pool.jobs = 0;
    MPIX_Comm_create_endpoints(MPI_COMM_SELF, threads, MPI_INFO_NULL, pool.own);
    for (int i = 1; i < threads; ++i) {
        pthread_create(&pool.thread[i], NULL, pool_thread, (void *) (long) i);
    }
}

static void pool_end(void)
{
    pool_run(NULL, NULL);
    for (int i = 1; i < pool.threads; ++i) {
        pthread_join(pool.thread[i], NULL);
    }
    for (int i = 0; i < pool.threads; ++i) {
        MPI_Comm_free(&pool.own[i]);
    }
}

/* What the library keeps with a communicator of the caller's, as an attribute. */
struct context {
    MPI_Comm comm;             /* the caller's */
    MPI_Comm all[MAX_THREADS]; /* of all endpoints of its processes: the pool's handles */
    struct part part;          /* of the call under way */
    double result;
};

static int library_threads = 1;
static int library_keyval = MPI_KEYVAL_INVALID;

/* All threads of the pool are here, those of other processes as well: so all endpoints get one
 * communicator, although only one in each process has the caller's. */
static void merge_job(int index, void *argument)
{
    struct context *context = argument;

    MPIX_Comm_merge(0 == index ? context->comm : MPI_COMM_NULL, pool.own[index],
                    &context->all[index]);
}

static void free_job(int index, void *argument)
{
    MPI_Comm_free(&((struct context *) argument)->all[index]);
}

static void dot_job(int index, void *argument)
{
    struct context *context = argument;
    const struct part share = share_of(&context->part, index, pool.threads);
    const double product = endpoint_dot(context->all[index], &share);

    if (0 == index) {
        context->result = product;
    }
}

/* The caller's communicator is freed. */
static int forget(MPI_Comm comm, int keyval, void *attribute, void *extra)
{
    (void) comm;
    (void) keyval;
    (void) extra;
    pool_run(free_job, attribute);
    free(attribute);
    if (0 == --pool.users) {
        pool_end();
    }
    return MPI_SUCCESS;
}

/* Can there be a pool?  The same in all processes of a job that is started alike. */
static int may_use_endpoints(void)
{
    int level, supported;

    MPI_Query_thread(&level);
    MPIX_Query_endpoints_support(&supported);
    return MPI_THREAD_MULTIPLE == level && supported;
}

/* What is kept with a communicator; made by the first call with it. */
static struct context *context_of(MPI_Comm comm)
{
    struct context *context;
    int flag;

    if (MPI_KEYVAL_INVALID == library_keyval) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &library_keyval, NULL);
    }
    MPI_Comm_get_attr(comm, library_keyval, &context, &flag);
    if (!flag) {
        context = calloc(1, sizeof(*context));
        context->comm = comm;
        if (1 == ++pool.users) {
            pool_begin(library_threads);
        }
        pool_run(merge_job, context);
        MPI_Comm_set_attr(comm, library_keyval, context);
    }
    return context;
}

/* Each process gives a part.  Its caller knows nothing of endpoints; where there can be none, the
 * process works alone. */
static double process_dot(MPI_Comm comm, const struct part *part)
{
    struct context *context;

    if (!may_use_endpoints()) {
        return endpoint_dot(comm, part);
    }
    context = context_of(comm);
    context->part = *part;
    pool_run(dot_job, context);
    return context->result;
}

/* ==== callers =============================================================================== */

static struct part own; /* of the process */
static double expected;
static struct team team;
static MPI_Comm handles[MAX_THREADS];
static int threads = 4, wrong[MAX_THREADS];

/* A program as it always was: two communicators, several calls with each. */
static int call_by_processes(void)
{
    MPI_Comm comm[2];
    int errors = 0, rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm[1]);
    for (int i = 0; i < 6; ++i) {
        errors += expected != process_dot(comm[i % 2], &own);
    }
    MPI_Comm_free(&comm[0]);
    errors += expected != process_dot(comm[1], &own);
    MPI_Comm_free(&comm[1]);
    return errors;
}

static void *endpoint_main(void *arg)
{
    const int index = (int) (long) arg;
    const struct part share = share_of(&own, index, threads);

    wrong[index] = expected != endpoint_dot(handles[index], &share);
    MPI_Comm_free(&handles[index]);
    return NULL;
}

static void *team_main(void *arg)
{
    const int index = (int) (long) arg;
    const struct part share = share_of(&own, index, threads);

    wrong[index] = 0;
    for (int i = 0; i < 3; ++i) {
        wrong[index] += expected != team_dot(&team, index, &share);
    }
    return NULL;
}

/* @return how many threads have seen something wrong */
static int call_by_threads(void *(*function)(void *) )
{
    pthread_t thread[MAX_THREADS];
    int errors = 0;

    for (int i = 0; i < threads; ++i) {
        pthread_create(&thread[i], NULL, function, (void *) (long) i);
    }
    for (int i = 0; i < threads; ++i) {
        pthread_join(thread[i], NULL);
        errors += 0 != wrong[i];
    }
    return errors;
}

/* Whole numbers, so that the order of the sum does not matter. */
static void make_vectors(int rank, int size)
{
    const long count = 1000 + 7 * rank;
    double *x = malloc((size_t) count * sizeof(*x)), *y = malloc((size_t) count * sizeof(*y));

    for (long i = 0; i < count; ++i) {
        x[i] = (double) (i % 10 + rank);
        y[i] = (double) (i % 3);
    }
    own = (struct part){.x = x, .y = y, .count = count};
    for (int other = 0; other < size; ++other) {
        for (long i = 0; i < 1000 + 7 * other; ++i) {
            expected += (double) ((i % 10 + other) * (i % 3));
        }
    }
}

int main(int argc, char **argv)
{
    int rank, size, provided, errors[3], all[3];

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    threads = 1 < argc ? atoi(argv[1]) : threads;
    threads = 1 > threads || MAX_THREADS < threads ? 1 : threads;
    library_threads = threads;
    make_vectors(rank, size);

    errors[0] = call_by_processes();
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, threads, MPI_INFO_NULL, handles);
    errors[1] = call_by_threads(endpoint_main);
    team_begin(&team, MPI_COMM_WORLD, threads);
    errors[2] = call_by_threads(team_main);
    team_end(&team);

    MPI_Allreduce(errors, all, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("library_models: %d processes of %d threads: %.0f by processes %s, by endpoints %s, "
               "by threads %s\n",
               size, threads, expected, 0 == all[0] ? "right" : "WRONG",
               0 == all[1] ? "right" : "WRONG", 0 == all[2] ? "right" : "WRONG");
    }
    free((void *) own.x);
    free((void *) own.y);
    if (MPI_KEYVAL_INVALID != library_keyval) {
        MPI_Comm_free_keyval(&library_keyval);
    }
    MPI_Finalize();
    return 0 != all[0] + all[1] + all[2];
}
