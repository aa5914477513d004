/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Layer base of libmpix_ranks: what a rank is, which one the calling thread belongs to, and how a
 * program is refused.  It includes nothing of the layers above (image, libc, mpi, start).
 */

#ifndef MPIX_RANKS_BASE_H
#define MPIX_RANKS_BASE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

typedef int mpix_ranks_main_t(int argc, char **argv, char **envp);

/** A rank of an unmodified program: a thread that has called the program's main.  Each layer has a
 * part of its own, which no other layer reads. */
typedef struct mpix_rank_t {
    int index;          /**< among the ranks of the process; 0: the executable itself, first thread */
    int number;         /**< in the MPI_COMM_WORLD that the rank sees; set by layer mpi */
    int size;           /**< of that communicator; set by layer mpi */
    int local;          /**< among the ranks of the node; set by layer mpi */
    int local_size;     /**< ranks of the node; set by layer mpi */
    MPI_Comm world;     /**< what its MPI_COMM_WORLD names; set by layer mpi */
    MPI_Comm self;      /**< what its MPI_COMM_SELF names; set by layer mpi */
    pthread_t thread;   /**< that calls main; set by layer start */
    struct mpix_rank_image_t *image; /**< its copy of the program; layer image's */
    struct mpix_rank_libc_t *libc;   /**< its state of libc's functions; layer libc's */
    struct mpix_rank_mpi_t *mpi;     /**< its state of MPI's functions; layer mpi's */
    struct mpix_rank_start_t *start; /**< how it begins and ends; layer start's */
} mpix_rank_t;

/** The rank that the calling thread belongs to: the thread that has called its main, and those that
 * such threads have started.  NULL: none, as in a process that has no ranks.  Initial-exec, so that
 * reading it calls nothing. */
extern __thread mpix_rank_t *mpix_ranks_self __attribute__((tls_model("initial-exec")));

/** All ranks of the process; set by layer start before there is a second thread. */
extern mpix_rank_t *mpix_ranks_all;
extern int mpix_ranks_count;

/** How many ranks the process of a program was to have that does not need libmpi; 0: it is none. */
extern int mpix_ranks_left_out;

/** What stands behind a function of ours: the next definition of a name, libc's or MPI's. */
#define MPIX_RANKS_NEXT(name) MPIX_RANKS_NEXT_AS(name, __typeof__(&name))

/** The same for a name that no header declares so. */
#define MPIX_RANKS_NEXT_AS(name, type)                                  \
    (__extension__({                                                    \
        static void *_Atomic next_;                                     \
        void *at_ = atomic_load_explicit(&next_, memory_order_relaxed); \
        (type)(NULL != at_ ? at_ : mpix_ranks_next(#name, &next_));     \
    }))

/** Look it up, and keep it.  Relaxed there and above: every thread finds the same address. */
void *mpix_ranks_next(const char *name, void *_Atomic *cache);

#define MPIX_RANKS_EXPORT __attribute__((visibility("default")))

/** The program cannot run with its ranks as threads: say why and what to do, and end the process
 * with status 1.  Only before MPI has begun. */
_Noreturn void mpix_ranks_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Is a variable of the environment set, to something else than 0?  Before there are ranks, whose
 * environments lack MPIX_RANKS_... */
bool mpix_ranks_is_asked(const char *variable);

/** Is this the first process of the job, which speaks for all where all have the same to say? */
bool mpix_ranks_is_first_process(void);

/** A line on the process's stderr, by one write: "epmpirun -ranks: ...".  It takes no lock. */
void mpix_ranks_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Likewise, about a function that is called in the thread of a rank, once for each place in the
 * sources and process. */
#define MPIX_RANKS_SAY_ONCE(...)                     \
    do {                                             \
        static atomic_flag said_ = ATOMIC_FLAG_INIT; \
        if (!atomic_flag_test_and_set(&said_)) {     \
            mpix_ranks_say(__VA_ARGS__);             \
        }                                            \
    } while (0)

#endif /* MPIX_RANKS_BASE_H */
