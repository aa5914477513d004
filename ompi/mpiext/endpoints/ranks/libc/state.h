/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The state of libc's functions that a rank has to itself: one part for each file of this folder,
 * which alone uses it.
 */

#ifndef MPIX_RANKS_LIBC_STATE_H
#define MPIX_RANKS_LIBC_STATE_H

#include "libc.h"

#include <limits.h>
#include <netdb.h>
#include <search.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>

/** streams.c: a stream's way to a descriptor. */
typedef struct mpix_ranks_stream_t {
    FILE *file;       /**< what the rank's stdout or stderr is */
    int fd;           /**< where its lines go; -1: it is closed */
    bool is_fifo;     /**< a write of up to PIPE_BUF bytes is one piece, a longer one may not be */
    bool is_full;     /**< fully buffered: a line's beginning waits for its end */
    bool is_reopened; /**< freopen has made a plain stream of it, with a descriptor of its own */
    const char *tag;  /**< the rank's; any thread may flush the stream */
    bool is_in_line;  /**< the last byte was no end of line */
    size_t held_count;
    char held[PIPE_BUF]; /**< bytes that wait for the end of their line */
    char buffer[4096];   /**< the FILE's own */
} mpix_ranks_stream_t;

/** getopt.c */
typedef struct mpix_ranks_getopt_t {
    int *optind;
    int *opterr;
    int *optopt;
    char **optarg;
    int own_optind, own_opterr, own_optopt; /**< where the program does not refer to them */
    char *own_optarg;
    bool has_begun;
    char *next;       /**< in an argument with several short options: the next one */
    int skipped_from; /**< arguments that are no options and were passed over: the first of them, */
    int skipped_to;   /**< and the one behind the last */
    enum { GETOPT_PERMUTE, GETOPT_STOP, GETOPT_IN_ORDER } order;
} mpix_ranks_getopt_t;

/** random.c */
typedef struct mpix_ranks_random_t {
    atomic_flag lock; /**< threads of the rank share the sequence, as in glibc */
    struct random_data data;
    char first_state[128]; /**< as many bytes as glibc's, so the numbers are the same */
    struct drand48_data drand48;
} mpix_ranks_random_t;

/** results.c: what functions return the address of. */
typedef struct mpix_ranks_results_t {
    char *strtok;
    struct tm tm;
    char asctime[128];
    char tmpnam[L_tmpnam];
    char ttyname[PATH_MAX];
    char login[LOGIN_NAME_MAX];
    char l64a[8];
    char number[512]; /**< ecvt, fcvt */
    struct hsearch_data hash;
    int *signgam;
    struct mpix_ranks_entry_t *entries; /**< one for each function of users, groups, hosts */
} mpix_ranks_results_t;

/** environ.c */
typedef struct mpix_ranks_environment_t {
    char ***slot; /**< the rank's variable environ */
    char **at;    /**< what that is if the program has none of its own */
    char **array; /**< that setenv has allocated; *slot is another once the program sets it */
    size_t capacity;
} mpix_ranks_environment_t;

struct mpix_rank_libc_t {
    FILE *in;
    mpix_ranks_stream_t out;
    mpix_ranks_stream_t err;
    char tag[24]; /**< "[rank] " before each line, or empty */
    mpix_ranks_getopt_t getopt;
    mpix_ranks_random_t random;
    mpix_ranks_results_t results;
    mpix_ranks_environment_t environment;
    struct mpix_ranks_function_t *exits;       /**< exit.c: of on_exit, the last first */
    struct mpix_ranks_function_t *quick_exits; /**< exit.c: of at_quick_exit, likewise */
    struct mpix_ranks_action_t *actions; /**< signals.c: of each signal what the rank has set */
    _Atomic bool is_running;             /**< signals.c: its first thread may be sent a signal */
};

/** Of libc's: those that its variables stdin, stdout and stderr name at first. */
extern FILE _IO_2_1_stdin_, _IO_2_1_stdout_, _IO_2_1_stderr_;

/** streams.c */
void mpix_ranks_streams_begin(mpix_rank_t *rank, mpix_ranks_libc_variable_t *variable);
void mpix_ranks_streams_flush(mpix_rank_t *rank);
/** All streams of the process but those that a thread uses at this moment.  @return as
 * fflush(NULL) */
int mpix_ranks_streams_flush_all(void);
void mpix_ranks_streams_drop(mpix_rank_t *rank); /* what is not written, as _exit does */

/** What the calling thread's rank has in place of one of libc's three streams; any other one is what
 * it is. */
static inline FILE *mpix_ranks_stream_own(FILE *file)
{
    mpix_rank_t *rank = mpix_ranks_self;

    if (NULL != rank) {
        if (&_IO_2_1_stdout_ == file) {
            return rank->libc->out.file;
        }
        if (&_IO_2_1_stderr_ == file) {
            return rank->libc->err.file;
        }
        if (&_IO_2_1_stdin_ == file) {
            return rank->libc->in;
        }
    }
    return file;
}

/** The stream of the calling thread's rank, if the file is that rank's own; or NULL. */
mpix_ranks_stream_t *mpix_ranks_stream_of(const FILE *file);

/** Write what waits for the end of its line. */
void mpix_ranks_stream_release(mpix_ranks_stream_t *stream);

/** Bytes of write(2) to a stream's descriptor, with tags.
 * @return whether all were written */
bool mpix_ranks_stream_put(mpix_ranks_stream_t *stream, const char *bytes, size_t count);

/** getopt.c, random.c, results.c, environ.c: the state at the program's start. */
void mpix_ranks_getopt_begin(mpix_rank_t *rank, mpix_ranks_libc_variable_t *variable);
void mpix_ranks_random_begin(mpix_rank_t *rank);
void mpix_ranks_results_begin(mpix_rank_t *rank, mpix_ranks_libc_variable_t *variable);
void mpix_ranks_environment_begin(mpix_rank_t *rank, mpix_ranks_libc_variable_t *variable);

/** environ.c: what programs that the calling thread executes get. */
char **mpix_ranks_environment(void);

/** process_state.c: directory, umask; after fork. */
void mpix_ranks_process_begin(void);
void mpix_ranks_process_enter(mpix_rank_t *rank);

/** signals.c */
void mpix_ranks_signals_begin(mpix_rank_t *rank);
void mpix_ranks_signals_enter(mpix_rank_t *rank);

#endif /* MPIX_RANKS_LIBC_STATE_H */
