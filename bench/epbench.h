/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * epbench: one benchmark program for every way to run communicating workers on the cores of a
 * node: processes, threads of one rank, endpoints, MPICH thread communicators.
 *
 * All measurements run on an abstract worker (epbench_worker_t).  How a worker came by its
 * communicator is known to epbench_ways.c alone, so that every way runs the same code.
 */

#ifndef EPBENCH_H
#define EPBENCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

/** Destructive-interference distance, bytes (two lines: adjacent-line prefetch). */
#define EPBENCH_LINE 128

/** Most threads of one process. */
#define EPBENCH_MAX_THREADS 256

/** Most communicators that one point makes at once (epbench_ways_many). */
#define EPBENCH_MAX_MANY 1024

/** Most points of one run. */
#define EPBENCH_MAX_POINTS 256

/** Most timed blocks of one point. */
#define EPBENCH_MAX_BLOCKS 32

typedef struct epbench_measure_t epbench_measure_t;
typedef struct epbench_moves_t epbench_moves_t;

/** One thing to measure: a measurement at one size. */
typedef struct epbench_point_t {
    const epbench_measure_t *measure;
    size_t size; /**< bytes; for queues the number of messages that wait, for sets of the set */
    int window;  /**< messages in flight, or buffers in turn, where the measurement has them */
} epbench_point_t;

typedef struct epbench_options_t {
    const char *way;      /**< name in epbench_ways[] */
    const char *scenario; /**< free label, copied to the output */
    const char *info;     /**< "key=value" for MPIX_Comm_create_endpoints, or NULL */
    bool created;         /**< windows are of MPI_Win_create, not of MPI_Win_allocate */
    int pairs;            /**< communicating pairs; workers = 2 * pairs */
    int window;           /**< overrides the default window if positive */
    int blocks;           /**< timed blocks per point; the median is reported */
    double budget;        /**< seconds of timed work per point */
    int limit;            /**< seconds after which the process ends itself */
    int points;
    epbench_point_t point[EPBENCH_MAX_POINTS];
} epbench_options_t;

typedef struct epbench_team_slot_t {
    _Alignas(EPBENCH_LINE) double value;
} epbench_team_slot_t;

/** The threads of one process, and what they use to agree among themselves (never timed). */
typedef struct epbench_team_t {
    int threads;      /**< of this process */
    int procs;        /**< of the job */
    int proc;         /**< my number among them */
    MPI_Comm control; /**< one rank per process, used by thread 0 only */
    const epbench_options_t *options;
    _Alignas(EPBENCH_LINE) atomic_int arrived;
    _Alignas(EPBENCH_LINE) atomic_int turn;
    _Alignas(EPBENCH_LINE) double result;          /**< written by thread 0, read after a barrier */
    epbench_team_slot_t slot[EPBENCH_MAX_THREADS]; /**< each written by its own thread */
} epbench_team_t;

/** What a worker's communicator can do, and a measurement may need. */
typedef enum epbench_can_t {
    EPBENCH_COLLECTIVE = 1,   /**< holds all workers, one rank each */
    EPBENCH_SPLIT = 2,        /**< can be split */
    EPBENCH_MAKE = 4,         /**< another one of its kind can be made (epbench_ways_make) */
    EPBENCH_MANY = 8,         /**< any number of its kind can be made (epbench_ways_many) */
    EPBENCH_NONBLOCKING = 16, /**< serves nonblocking and persistent collectives */
    EPBENCH_HYBRID = 32,      /**< holds a rank for all workers of each process, for thread 0 */
    EPBENCH_WINDOWS = 64,     /**< windows can be made of it */
    EPBENCH_REACH = 128       /**< there is one that reaches all workers */
} epbench_can_t;

/** One communicating party. */
typedef struct epbench_worker_t {
    MPI_Comm comm; /**< carries everything that is timed */
    MPI_Comm reach; /**< reaches all workers, by their ranks or by those of their processes */
    unsigned can;  /**< of epbench_can_t */
    int rank;      /**< 0 .. size-1, the same numbering in every way */
    int size;      /**< workers of the job */
    int pair;      /**< my pair */
    bool first;    /**< of my pair: the one that starts */
    int peer;      /**< the other one's rank in comm */
    int tag_out;   /**< tag of what I send */
    int tag_in;    /**< tag of what I receive */
    int thread;    /**< my number within the process */
    epbench_team_t *team;
    struct job_t *job; /**< for epbench_ways.c */
    double uncounted;  /**< seconds of the block that are not the measurement's, if any */
    double amount;     /**< what a measurement that is no time found */
    unsigned char *send_buffer;
    unsigned char *recv_buffer;
    size_t send_bytes;
    size_t recv_bytes;
    long calls;           /**< of the point's collective, since it was prepared */
    MPI_Request *request; /**< 2 * the largest window of the run */
    MPI_Request *queued;  /**< requests of messages that wait (queue measurements) */
    unsigned char *queued_buffer;
    struct epbench_file_t *file;     /**< of the point, for epbench_file.c */
    struct epbench_window_t *window; /**< of the point, for epbench_rma.c */
} epbench_worker_t;

/** What one timed block takes: the latest worker, and the mean of the first of each pair. */
typedef struct epbench_elapsed_t {
    double longest; /**< seconds */
    double mean;    /**< seconds */
    double wall;    /**< seconds of the latest worker with what it did not count */
} epbench_elapsed_t;

/** One kind of measurement. */
struct epbench_measure_t {
    const char *name;
    const char *unit;
    bool higher_is_better;
    unsigned needs; /**< of epbench_can_t; left out where the worker cannot */
    bool windowed;  /**< has a window */
    bool origin_only; /**< the time is that of worker 0 */
    size_t fixed;   /**< bytes per message where size means something else, or 0 */
    int messages;   /**< received at a time where there is no window, or 0: one */
    const epbench_moves_t *moves; /**< of a collective with buffers (epbench_ring.h), or NULL */

    /** Before the timed blocks: fill and clear buffers, queue what shall wait; or NULL. */
    void (*prepare)(epbench_worker_t *worker, const epbench_point_t *point);

    /** The timed part: n iterations. */
    void (*block)(epbench_worker_t *worker, const epbench_point_t *point, long n);

    /** After the timed blocks: drain, verify; or NULL. @return number of wrong bytes or values */
    size_t (*check)(epbench_worker_t *worker, const epbench_point_t *point);

    /** The figure to report, from the time of a block of n iterations. */
    double (*value)(const epbench_worker_t *worker, const epbench_point_t *point, long n,
                    epbench_elapsed_t elapsed);

    bool once; /**< no time: one block of one iteration */
};

/* epbench_run.c */

/** Runs all points of the options on this worker; every worker of the job calls it. */
void epbench_worker_run(epbench_worker_t *worker);

/* epbench.c */

/** Ends the job with a message (printf format). */
_Noreturn void epbench_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* epbench_ways.c */

/** Starts the workers of this process the way the options say, and waits for them.
 * @return 0, or -1 if this program was not built with that way */
int epbench_ways_run(const epbench_options_t *options, int *argc, char ***argv);

/** Names of the ways this program was built with, for messages. */
const char *epbench_ways_names(void);

/** Makes one more communicator of all workers as the way makes them; all workers call it.  It may
 * be used after an epbench_team_sync. */
void epbench_ways_make(epbench_worker_t *worker);

/** @return this worker's handle of what was made */
MPI_Comm epbench_ways_made(epbench_worker_t *worker);

/** Frees what was made; all workers call it. */
void epbench_ways_unmake(epbench_worker_t *worker);

/**
 * For a set of n workers that do nothing: endpoints of each process; or a communicator for each, as
 * threads of one rank have them; or the ranks of a thread communicator.  By thread 0 of each
 * process, while the others wait.
 *
 * @param[in] n  1 to EPBENCH_MAX_MANY
 */
void epbench_ways_many_begin(epbench_worker_t *worker, int n); /**< what is not the library's */
void epbench_ways_many(epbench_worker_t *worker, int n);       /**< makes them */
void epbench_ways_many_free(epbench_worker_t *worker, int n);
void epbench_ways_many_end(epbench_worker_t *worker);

/* epbench_crew.c: threads that stand by, for the ways whose ranks are threads */

typedef struct epbench_crew_t epbench_crew_t;

/** Starts n threads on any core; they wait.  @return the crew */
epbench_crew_t *epbench_crew_create(int n);

/** Each thread of the crew, and the caller, calls work(argument); returns when all have. */
void epbench_crew_work(epbench_crew_t *crew, void (*work)(void *argument), void *argument);

void epbench_crew_free(epbench_crew_t *crew);

/* epbench_team.c */

/** All workers of the job meet.  Not timed; waiting threads yield. */
void epbench_team_sync(epbench_worker_t *worker);

/** The workers of this process meet. */
void epbench_team_local_sync(epbench_team_t *team);

/** Likewise, as threads do that share cores: they give way at the first look in vain.  May be
 * timed. */
void epbench_team_meet(epbench_team_t *team);

/** Largest value of all workers, the same on all of them. */
double epbench_team_max(epbench_worker_t *worker, double value);

/** Sum over all workers, the same on all of them. */
double epbench_team_sum(epbench_worker_t *worker, double value);

/** Finds the cores this process may use; call before anything is pinned. */
void epbench_cores_init(void);

/** Lets the calling thread run on all cores of the process again. */
void epbench_cores_unpin(void);

/** Pins the calling thread to the core of worker rank of size, the same in every way. */
void epbench_cores_pin(int rank, int size);

/* epbench_p2p.c, _coll.c, _later.c, _comm.c, _queue.c, _memory.c, _file.c, _rma.c, _halo.c: tables that end
 * with a NULL name */

extern const epbench_measure_t epbench_p2p_measures[];
extern const epbench_measure_t epbench_coll_measures[];
extern const epbench_measure_t epbench_later_measures[];
extern const epbench_measure_t epbench_comm_measures[];
extern const epbench_measure_t epbench_queue_measures[];
extern const epbench_measure_t epbench_memory_measures[];
extern const epbench_measure_t epbench_file_measures[];
extern const epbench_measure_t epbench_rma_measures[];
extern const epbench_measure_t epbench_halo_measures[];

/** Bytes between messages in a receive buffer: the size rounded up to whole lines. */
size_t epbench_stride(size_t size);

/** Writes the pattern of worker rank. */
void epbench_fill(unsigned char *buffer, size_t bytes, int rank);

/** @return how many bytes differ from the pattern of worker rank */
size_t epbench_compare(const unsigned char *buffer, size_t bytes, int rank);

/** One window: isend to the peer, wait for all, wait for the answer. */
void epbench_window_send(epbench_worker_t *worker, size_t size, int window);

/** One window: irecv from the peer, wait for all, answer. */
void epbench_window_recv(epbench_worker_t *worker, size_t size, int window);

/* epbench_floor.c */

/** Measures what the machine does with no MPI above it: a bounced cache line, memcpy, a socket. */
void epbench_floor_run(const epbench_options_t *options);

/* epbench_output.c */

/** Seconds of a clock that never steps. */
double epbench_now(void);

/** One line for the runner: values are of the timed blocks; sorts them. */
void epbench_report(const epbench_options_t *options, const epbench_point_t *point, long iterations,
                    int blocks, double *values);

#endif /* EPBENCH_H */
