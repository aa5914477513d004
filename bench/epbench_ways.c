/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The ways to run communicating workers: where processes, threads and communicators come from.
 *
 * proc           one process per worker, one communicator over all, MPI_THREAD_SINGLE
 * proc-multiple  the same with MPI_THREAD_MULTIPLE
 * thread         a communicator per pair of threads, MPI_THREAD_MULTIPLE
 * shared         one communicator: the threads of a process share its rank, MPI_THREAD_MULTIPLE
 * hybrid         one thread of each process calls MPI for all, MPI_THREAD_FUNNELED
 * ep             an endpoint per thread                    (built with -DHAVE_EP)
 * threadcomm     MPICH's thread communicator               (-DHAVE_THREADCOMM)
 *
 * All but the first two take one process or an even number of them, with as many workers each.
 * Workers are numbered the same in every way: 0 .. pairs-1 are the first of their pairs, worker
 * pairs + i is the other one of pair i; with several processes, each half of them holds one half.
 */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "epbench.h"

#if defined(HAVE_EP)
#    include <mpi-ext.h>
#endif

#define TAG_FIRST 11  /* what the first of a pair sends */
#define TAG_SECOND 12 /* what the other one sends */

typedef struct job_t job_t;

typedef struct way_t {
    const char *name;
    int thread_level;
    bool threaded;                                        /**< several workers in a process */
    unsigned can;                                         /**< of epbench_can_t */
    void (*create)(job_t *job);                           /**< once, by the main thread */
    void (*enter)(job_t *job, epbench_worker_t *worker);  /**< by each worker's thread */
    void (*leave)(job_t *job, epbench_worker_t *worker);  /**< by each worker's thread */
    void (*destroy)(job_t *job);                          /**< once, by the main thread */
    void (*make)(job_t *job, epbench_worker_t *worker);   /**< once more, by all workers */
    void (*unmake)(job_t *job, epbench_worker_t *worker); /**< by all workers */
    void (*many)(job_t *job, int n);                      /**< n more, by thread 0 */
    void (*many_free)(job_t *job, int n);
    bool many_threads; /**< takes as many threads as it makes */
} way_t;

struct job_t {
    const way_t *way;
    epbench_team_t *team;
    int workers;
    MPI_Comm *comm;       /**< one per thread, per pair, or a single one: the way knows */
    MPI_Comm *made;       /**< one per thread, or a single one, by make */
    MPI_Comm *set;        /**< EPBENCH_MAX_MANY, or a single one, by many */
    epbench_crew_t *crew; /**< of many, where the way wants it */
};

typedef struct thread_t {
    pthread_t id;
    job_t *job;
    int number;
} thread_t;

/** Fills in what follows from a worker's number. */
static void set_rank(epbench_worker_t *worker, int rank, int workers)
{
    int pairs = workers / 2;

    worker->rank = rank;
    worker->size = workers;
    worker->pair = rank % pairs;
    worker->first = rank < pairs;
    worker->peer = worker->first ? rank + pairs : rank - pairs;
    worker->tag_out = worker->first ? TAG_FIRST : TAG_SECOND;
    worker->tag_in = worker->first ? TAG_SECOND : TAG_FIRST;
    epbench_cores_pin(rank, workers);
}

/** For ways whose communicator holds all workers. */
static void set_from_comm(job_t *job, epbench_worker_t *worker, MPI_Comm comm)
{
    int rank;
    int size;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (size != job->workers) {
        epbench_fail("way %s has %d workers instead of %d", job->way->name, size, job->workers);
    }
    worker->comm = comm;
    worker->reach = comm;
    worker->can = job->way->can;
    set_rank(worker, rank, size);
}

static void leave_nothing(job_t *job, epbench_worker_t *worker)
{
    (void) job;
    (void) worker;
}

/* proc */

static void proc_create(job_t *job)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &job->comm[0]);
}

static void proc_enter(job_t *job, epbench_worker_t *worker)
{
    set_from_comm(job, worker, job->comm[0]);
}

static void proc_destroy(job_t *job)
{
    MPI_Comm_free(&job->comm[0]);
}

/* thread: the two threads of a pair are the same rank where they share a process, and tell their
 * messages apart by the tag. */

/** Communicators of the pairs that a process has threads of. */
static int thread_comms(const job_t *job)
{
    return (1 == job->team->procs) ? job->workers / 2 : job->team->threads;
}

static void thread_create(job_t *job)
{
    for (int i = 0; i < thread_comms(job); ++i) {
        MPI_Comm_dup((1 == job->team->procs) ? MPI_COMM_SELF : MPI_COMM_WORLD, &job->comm[i]);
    }
}

/** The worker's number, and the rank of the process that has the other one of its pair. */
static void set_of_process(job_t *job, epbench_worker_t *worker)
{
    const epbench_team_t *team = job->team;

    set_rank(worker, team->proc * team->threads + worker->thread, job->workers);
    worker->can = job->way->can;
    worker->reach = job->comm[0];
    worker->peer = (1 == team->procs) ? 0 : (team->proc + team->procs / 2) % team->procs;
}

static void thread_enter(job_t *job, epbench_worker_t *worker)
{
    set_of_process(job, worker);
    worker->comm = job->comm[worker->pair % thread_comms(job)];
}

static void thread_destroy(job_t *job)
{
    for (int i = 0; i < thread_comms(job); ++i) {
        MPI_Comm_free(&job->comm[i]);
    }
}

/* shared: the pairs of a process tell their messages apart by the tag, too. */

static void shared_enter(job_t *job, epbench_worker_t *worker)
{
    set_of_process(job, worker);
    worker->comm = job->comm[0];
    worker->tag_out += 2 * worker->pair;
    worker->tag_in += 2 * worker->pair;
}

/** Without endpoints, n threads have matching of their own by one communicator each. */
static void thread_many(job_t *job, int n)
{
    for (int i = 0; i < n; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &job->set[i]);
    }
}

static void many_free_each(job_t *job, int n)
{
    for (int i = 0; i < n; ++i) {
        MPI_Comm_free(&job->set[i]);
    }
}

/* hybrid: what a program does without endpoints. */

static void hybrid_enter(job_t *job, epbench_worker_t *worker)
{
    set_rank(worker, job->team->proc * job->team->threads + worker->thread, job->workers);
    worker->comm = job->comm[0];
    worker->can = job->way->can;
}

#if defined(HAVE_EP)

static void create_endpoints(job_t *job, int n, MPI_Comm *comm)
{
    const char *text = job->team->options->info;
    MPI_Info info = MPI_INFO_NULL;

    if (NULL != text) {
        char key[64];
        const char *value = strchr(text, '=');

        if (NULL == value || (size_t) (value - text) >= sizeof(key)) {
            epbench_fail("--info takes KEY=VALUE, not \"%s\"", text);
        }
        memcpy(key, text, (size_t) (value - text));
        key[value - text] = '\0';
        MPI_Info_create(&info);
        MPI_Info_set(info, key, value + 1);
    }
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, n, info, comm);
    if (MPI_INFO_NULL != info) {
        MPI_Info_free(&info);
    }
}

static void ep_create(job_t *job)
{
    create_endpoints(job, job->team->threads, job->comm);
}

static void ep_enter(job_t *job, epbench_worker_t *worker)
{
    set_from_comm(job, worker, job->comm[worker->thread]);
}

static void ep_leave(job_t *job, epbench_worker_t *worker)
{
    MPI_Comm_free(&job->comm[worker->thread]);
}

static void ep_destroy(job_t *job)
{
    (void) job;
}

/** One thread makes all handles of its process, so its time is the creation's. */
static void ep_make(job_t *job, epbench_worker_t *worker)
{
    if (0 == worker->thread) {
        create_endpoints(job, job->team->threads, job->made);
    }
}

static void ep_unmake(job_t *job, epbench_worker_t *worker)
{
    MPI_Comm_free(&job->made[worker->thread]);
}

static void ep_many(job_t *job, int n)
{
    create_endpoints(job, n, job->set);
}

#endif /* HAVE_EP */

#if defined(HAVE_THREADCOMM)

static void threadcomm_create(job_t *job)
{
    MPIX_Threadcomm_init(MPI_COMM_WORLD, job->team->threads, &job->comm[0]);
}

/** A thread gets its rank by its arrival here, so which thread is which worker is open before. */
static void threadcomm_enter(job_t *job, epbench_worker_t *worker)
{
    MPIX_Threadcomm_start(job->comm[0]);
    set_from_comm(job, worker, job->comm[0]);
}

static void threadcomm_leave(job_t *job, epbench_worker_t *worker)
{
    (void) worker;
    MPIX_Threadcomm_finish(job->comm[0]);
}

static void threadcomm_destroy(job_t *job)
{
    MPIX_Threadcomm_free(&job->comm[0]);
}

static void threadcomm_make(job_t *job, epbench_worker_t *worker)
{
    if (0 == worker->thread) {
        MPIX_Threadcomm_init(MPI_COMM_WORLD, job->team->threads, &job->made[0]);
    }
    epbench_team_local_sync(job->team);
    MPIX_Threadcomm_start(job->made[0]);
}

static void threadcomm_unmake(job_t *job, epbench_worker_t *worker)
{
    MPIX_Threadcomm_finish(job->made[0]);
    epbench_team_local_sync(job->team);
    if (0 == worker->thread) {
        MPIX_Threadcomm_free(&job->made[0]);
    }
}

static void threadcomm_start(void *comm)
{
    MPIX_Threadcomm_start(*(MPI_Comm *) comm);
}

static void threadcomm_finish(void *comm)
{
    MPIX_Threadcomm_finish(*(MPI_Comm *) comm);
}

static void threadcomm_many(job_t *job, int n)
{
    MPIX_Threadcomm_init(MPI_COMM_WORLD, n, &job->set[0]);
    epbench_crew_work(job->crew, threadcomm_start, &job->set[0]);
}

static void threadcomm_many_free(job_t *job, int n)
{
    (void) n;
    epbench_crew_work(job->crew, threadcomm_finish, &job->set[0]);
    MPIX_Threadcomm_free(&job->set[0]);
}

#endif /* HAVE_THREADCOMM */

static const way_t ways[] = {
    {.name = "proc",
     .thread_level = MPI_THREAD_SINGLE,
     .can = EPBENCH_COLLECTIVE | EPBENCH_REACH | EPBENCH_SPLIT | EPBENCH_NONBLOCKING
            | EPBENCH_WINDOWS,
     .create = proc_create,
     .enter = proc_enter,
     .leave = leave_nothing,
     .destroy = proc_destroy},
    {.name = "proc-multiple",
     .thread_level = MPI_THREAD_MULTIPLE,
     .can = EPBENCH_COLLECTIVE | EPBENCH_REACH | EPBENCH_SPLIT | EPBENCH_NONBLOCKING
            | EPBENCH_WINDOWS,
     .create = proc_create,
     .enter = proc_enter,
     .leave = leave_nothing,
     .destroy = proc_destroy},
    {.name = "thread",
     .thread_level = MPI_THREAD_MULTIPLE,
     .threaded = true,
     .can = EPBENCH_MANY | EPBENCH_REACH,
     .create = thread_create,
     .enter = thread_enter,
     .leave = leave_nothing,
     .destroy = thread_destroy,
     .many = thread_many,
     .many_free = many_free_each},
    {.name = "shared",
     .thread_level = MPI_THREAD_MULTIPLE,
     .threaded = true,
     .can = EPBENCH_REACH,
     .create = proc_create,
     .enter = shared_enter,
     .leave = leave_nothing,
     .destroy = proc_destroy},
    {.name = "hybrid",
     .thread_level = MPI_THREAD_FUNNELED,
     .threaded = true,
     .can = EPBENCH_HYBRID,
     .create = proc_create,
     .enter = hybrid_enter,
     .leave = leave_nothing,
     .destroy = proc_destroy},
#if defined(HAVE_EP)
    {.name = "ep",
     .thread_level = MPI_THREAD_MULTIPLE,
     .threaded = true,
     .can = EPBENCH_COLLECTIVE | EPBENCH_REACH | EPBENCH_SPLIT | EPBENCH_MAKE | EPBENCH_MANY
            | EPBENCH_NONBLOCKING | EPBENCH_WINDOWS,
     .create = ep_create,
     .enter = ep_enter,
     .leave = ep_leave,
     .destroy = ep_destroy,
     .make = ep_make,
     .unmake = ep_unmake,
     .many = ep_many,
     .many_free = many_free_each},
#endif
#if defined(HAVE_THREADCOMM)
    {.name = "threadcomm",
     .thread_level = MPI_THREAD_MULTIPLE,
     .threaded = true,
     .can = EPBENCH_COLLECTIVE | EPBENCH_REACH | EPBENCH_MAKE | EPBENCH_MANY,
     .create = threadcomm_create,
     .enter = threadcomm_enter,
     .leave = threadcomm_leave,
     .destroy = threadcomm_destroy,
     .make = threadcomm_make,
     .unmake = threadcomm_unmake,
     .many = threadcomm_many,
     .many_free = threadcomm_many_free,
     .many_threads = true},
#endif
};

#define NUM_WAYS (sizeof(ways) / sizeof(ways[0]))

const char *epbench_ways_names(void)
{
    static char names[128] = "floor";

    for (size_t i = 0, end = strlen("floor"); i < NUM_WAYS; ++i) {
        end += (size_t) snprintf(names + end, sizeof(names) - end, " %s", ways[i].name);
    }
    return names;
}

void epbench_ways_make(epbench_worker_t *worker)
{
    worker->job->way->make(worker->job, worker);
}

MPI_Comm epbench_ways_made(epbench_worker_t *worker)
{
    const job_t *job = worker->job;

    return job->made[MPI_COMM_NULL == job->made[worker->thread] ? 0 : worker->thread];
}

void epbench_ways_unmake(epbench_worker_t *worker)
{
    worker->job->way->unmake(worker->job, worker);
}

void epbench_ways_many_begin(epbench_worker_t *worker, int n)
{
    if (worker->job->way->many_threads) {
        worker->job->crew = epbench_crew_create(n - 1);
    }
}

void epbench_ways_many(epbench_worker_t *worker, int n)
{
    worker->job->way->many(worker->job, n);
}

void epbench_ways_many_free(epbench_worker_t *worker, int n)
{
    worker->job->way->many_free(worker->job, n);
}

void epbench_ways_many_end(epbench_worker_t *worker)
{
    if (worker->job->way->many_threads) {
        epbench_crew_free(worker->job->crew);
    }
}

static void *worker_main(void *argument)
{
    thread_t *thread = argument;
    job_t *job = thread->job;
    epbench_worker_t worker = {.thread = thread->number, .team = job->team, .job = job};

    job->way->enter(job, &worker);
    epbench_worker_run(&worker);
    job->way->leave(job, &worker);
    return NULL;
}

/** Runs the workers of this process; the main thread is one of them. */
static void run_workers(job_t *job)
{
    int threads = job->team->threads;
    thread_t *thread = calloc((size_t) threads, sizeof(*thread));

    if (NULL == thread) {
        epbench_fail("no memory for %d threads", threads);
    }
    for (int i = 0; i < threads; ++i) {
        thread[i].job = job;
        thread[i].number = i;
        if (0 < i && 0 != pthread_create(&thread[i].id, NULL, worker_main, &thread[i])) {
            epbench_fail("cannot start thread %d", i);
        }
    }
    worker_main(&thread[0]);
    for (int i = 1; i < threads; ++i) {
        pthread_join(thread[i].id, NULL);
    }
    free(thread);
}

static void run_way(const way_t *way, const epbench_options_t *options)
{
    job_t job = {.way = way, .workers = 2 * options->pairs};
    epbench_team_t *team = aligned_alloc(EPBENCH_LINE, sizeof(*team));

    job.comm = calloc((size_t) job.workers, sizeof(*job.comm));
    job.made = malloc((size_t) job.workers * sizeof(*job.made));
    job.set = malloc(EPBENCH_MAX_MANY * sizeof(*job.set));
    if (NULL == team || NULL == job.comm || NULL == job.made || NULL == job.set) {
        epbench_fail("no memory");
    }
    for (int i = 0; i < job.workers; ++i) {
        job.made[i] = MPI_COMM_NULL;
    }
    memset(team, 0, sizeof(*team));
    MPI_Comm_size(MPI_COMM_WORLD, &team->procs);
    MPI_Comm_rank(MPI_COMM_WORLD, &team->proc);
    team->threads = job.workers / team->procs;
    team->options = options;
    if (job.workers % team->procs || (1 < team->procs && team->procs % 2)
        || (!way->threaded && 1 != team->threads)) {
        epbench_fail("way %s cannot put %d workers on %d processes", way->name, job.workers,
                     team->procs);
    }
    job.team = team;
    MPI_Comm_dup(MPI_COMM_WORLD, &team->control);
    way->create(&job);
    run_workers(&job);
    way->destroy(&job);
    MPI_Comm_free(&team->control);
    free(job.set);
    free(job.made);
    free(job.comm);
    free(team);
}

int epbench_ways_run(const epbench_options_t *options, int *argc, char ***argv)
{
    for (size_t i = 0; i < NUM_WAYS; ++i) {
        int provided;

        if (0 != strcmp(ways[i].name, options->way)) {
            continue;
        }
        MPI_Init_thread(argc, argv, ways[i].thread_level, &provided);
        if (provided < ways[i].thread_level) {
            epbench_fail("this MPI library does not give threads the level that way %s needs",
                         ways[i].name);
        }
        run_way(&ways[i], options);
        MPI_Finalize();
        return 0;
    }
    return -1;
}
