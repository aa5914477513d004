/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Endpoint test harness: main(), the threads, checks, time-outs and TAP output of every MPI test.
 *
 * A test program defines test_rank(), which ept.c calls once per MPI rank of the run:
 *
 *   --ep N   N endpoints per process made by MPIX_Comm_create_endpoints over MPI_COMM_WORLD, one
 *            thread each, so nprocs * N ranks; needs a build with -DHAVE_EP (epmpicc);
 *   --ep 0   (default) "plain": each process is one rank, its communicator is MPI_COMM_WORLD.
 *            Under a stock Open MPI this validates the test itself.
 *   --static 1  with --ep N: by MPIX_Init_endpoint, each thread attached to its endpoint.
 *
 * Further options of every test: --seed S, --timeout SECONDS, --case PART_OF_A_CASE_NAME,
 * --level MPIX_THREAD_LEVEL (info of the endpoints), --keep 1 (MPI_Finalize with them alive).
 * The same program text serves both, so a test never assumes that ranks are threads or processes.
 * See test/README.md.
 */

#ifndef EPT_H
#define EPT_H

#include <mpi.h>
#if defined(HAVE_EP)
#    include <mpi-ext.h>
#endif

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if !defined(OPEN_MPI) /* the MPI ABI has numbers for handles without Fortran */
typedef int MPI_Fint;
#    define MPI_Comm_c2f MPI_Comm_toint
#    define MPI_Comm_f2c MPI_Comm_fromint
#    define MPI_Errhandler_c2f MPI_Errhandler_toint
#    define MPI_Errhandler_f2c MPI_Errhandler_fromint
#    define MPI_Group_c2f MPI_Group_toint
#    define MPI_Group_f2c MPI_Group_fromint
#    define MPI_Info_c2f MPI_Info_toint
#    define MPI_Info_f2c MPI_Info_fromint
#    define MPI_Op_c2f MPI_Op_toint
#    define MPI_Op_f2c MPI_Op_fromint
#    define MPI_Request_c2f MPI_Request_toint
#    define MPI_Request_f2c MPI_Request_fromint
#    define MPI_Type_c2f MPI_Type_toint
#    define MPI_Type_f2c MPI_Type_fromint
#endif

#define EPT_PHASE_MAX 160
#define EPT_SITES_MAX 24

/** One MPI rank of the run; the thread that runs test_rank() owns it. */
struct ept {
    MPI_Comm comm;  /**< the rank's own handle */
    int rank;       /**< in comm */
    int size;       /**< of comm */
    int local;      /**< which rank of this process: 0 ... nlocal - 1 */
    int nlocal;     /**< ranks per process; 1 if plain */
    int proc;       /**< rank of the process in MPI_COMM_WORLD */
    int nprocs;     /**< size of MPI_COMM_WORLD */
    bool endpoints; /**< ranks are endpoints (--ep N); false: plain */
    uint64_t seed;  /**< --seed, the same on all ranks */

    /* The rest belongs to ept.c. */
    const char *case_name;
    const char *defect;        /**< the current case's known defect of stock Open MPI, or NULL */
    char phase[EPT_PHASE_MAX]; /**< where the rank is, for the time-out report */
    double phase_since;
    pthread_mutex_t lock; /**< protects failures and sites: a rank may use several threads */
    long failures;        /**< of the current case */
    atomic_long checks;   /**< of the current case */
    int num_sites;
    struct {
        const char *file;
        int line;
    } sites[EPT_SITES_MAX]; /**< where a failure was printed already */
    pthread_t thread;
    int result;
};

/** The test; runs in one thread per rank. Returns 0, or a failure of its own (counted as one). */
int test_rank(MPI_Comm comm, struct ept *t);

/**
 * Run once per process, before the ranks start (MPI is initialized, no endpoint exists yet).
 * Optional: ept.c has a weak definition that does nothing.
 */
void test_process_begin(void);

/**
 * Begin MPI.  Optional: ept.c has a weak definition, which wants MPI_THREAD_MULTIPLE.
 *
 * @return the thread level provided, or MPI_THREAD_MULTIPLE if it does not matter
 */
int test_process_init(int *argc, char ***argv);

/* ---- cases -------------------------------------------------------------------------------- */

typedef void (*ept_case_fn_t)(MPI_Comm comm, struct ept *t);

/**
 * Run one case on all ranks and print its TAP line (process 0).  Collective over the run's ranks;
 * ends with a barrier on comm, so that what a case left in flight shows in that case.
 */
void ept_case(struct ept *t, const char *name, ept_case_fn_t fn);

#define EPT_CASE(t, fn) ept_case((t), #fn, (fn))

/**
 * Like ept_case, for a case in which stock Open MPI is known to be wrong: in a plain run its
 * failures make the TAP line a "TODO", which the runner does not count. Endpoints get no mercy.
 */
void ept_case_stock_defect(struct ept *t, const char *name, ept_case_fn_t fn, const char *defect);

#define EPT_CASE_STOCK_DEFECT(t, fn, defect) ept_case_stock_defect((t), #fn, (fn), (defect))

/** Print a TAP line for a case that cannot run here. Collective like ept_case. */
void ept_skip(struct ept *t, const char *name, const char *reason);

/** Say where this rank is; shown if the time-out strikes. */
void ept_phase(struct ept *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Wait for the other ranks of this process, without MPI. */
void ept_local_barrier(struct ept *t);

/** A comment line on stderr, prefixed with "# ". Any thread. */
void ept_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** The value of "--name VALUE" or "--name=VALUE" on the command line, or fallback. */
const char *ept_option(const char *name, const char *fallback);
long ept_option_long(const char *name, long fallback);

/** CLOCK_MONOTONIC in seconds: comparable between the processes of one machine. */
double ept_time(void);

/* ---- checks: each failure is counted, each place in the source printed once per rank -------- */

void ept_fail(struct ept *t, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool ept_check_int(struct ept *t, const char *file, int line, const char *what, intmax_t expected,
                   intmax_t got);
bool ept_check_string(struct ept *t, const char *file, int line, const char *what,
                      const char *expected, const char *got);
bool ept_check_mpi(struct ept *t, const char *file, int line, const char *what, int rc);
bool ept_check_class(struct ept *t, const char *file, int line, const char *what, int expected,
                     int rc);

/** expected and got are integers. */
#define EPT_EQ(t, expected, got) \
    ept_check_int((t), __FILE__, __LINE__, #got, (intmax_t) (expected), (intmax_t) (got))

#define EPT_STREQ(t, expected, got) \
    ept_check_string((t), __FILE__, __LINE__, #got, (expected), (got))

/** condition, and a printf format that says what was expected and what was found. */
#define EPT_CHECK(t, condition, ...)                        \
    do {                                                    \
        atomic_fetch_add(&(t)->checks, 1);                  \
        if (!(condition)) {                                 \
            ept_fail((t), __FILE__, __LINE__, __VA_ARGS__); \
        }                                                   \
    } while (0)

/** An MPI call that must return MPI_SUCCESS. */
#define EPT_OK(t, call) ept_check_mpi((t), __FILE__, __LINE__, #call, (call))

/** An MPI return code whose class must be expected. */
#define EPT_CLASS(t, expected, rc) ept_check_class((t), __FILE__, __LINE__, #rc, (expected), (rc))

/** Check source, tag and byte count of a status. */
bool ept_check_status(struct ept *t, const char *file, int line, const MPI_Status *status,
                      int source, int tag, intmax_t bytes);

#define EPT_STATUS(t, status, source, tag, bytes) \
    ept_check_status((t), __FILE__, __LINE__, (status), (source), (tag), (intmax_t) (bytes))

/* ---- buffers with guard zones ---------------------------------------------------------------- */

/** size bytes between two guard zones; data is misaligned on purpose by skew (0 ... 63). */
struct ept_buffer {
    unsigned char *data;
    size_t size;
    unsigned char *base;
};

struct ept_buffer ept_buffer(size_t size, unsigned skew);
void ept_buffer_free(struct ept_buffer *buffer);

/** Set the data to what no pattern leaves whole, so that an untouched buffer shows. */
void ept_buffer_clear(struct ept_buffer *buffer);

/** Byte i of the message named key. */
static inline unsigned char ept_byte(uint64_t key, size_t i)
{
    uint64_t z = key * 0x9e3779b97f4a7c15u;

    return (unsigned char) ((z >> 56) + i * 7 + (i >> 8) * 13 + (i >> 16) * 29 + (i >> 24) * 3);
}

/** Bytes offset ... offset + size - 1 of message key. */
void ept_fill(void *data, size_t offset, size_t size, uint64_t key);

bool ept_check_fill(struct ept *t, const char *file, int line, const void *data, size_t offset,
                    size_t size, uint64_t key);
bool ept_check_guards(struct ept *t, const char *file, int line, const struct ept_buffer *buffer);

/** data must hold the first size bytes of message key. */
#define EPT_FILL(t, data, size, key) \
    ept_check_fill((t), __FILE__, __LINE__, (data), 0, (size), (key))

/** Nothing may have been written outside buffer->data[0 ... size - 1]. */
#define EPT_GUARDS(t, buffer) ept_check_guards((t), __FILE__, __LINE__, (buffer))

/* ---- random numbers, peers ------------------------------------------------------------------- */

/** splitmix64: the next number of the stream *state. */
uint64_t ept_random(uint64_t *state);

/** 0 ... bound - 1 */
static inline uint64_t ept_random_below(uint64_t *state, uint64_t bound)
{
    return ept_random(state) % bound;
}

/** The numbers 0 ... count - 1 in an order by chance. */
void ept_shuffle(int *order, int count, uint64_t *random);

/** A key or stream from the things that name it; order matters. */
uint64_t ept_mix(uint64_t a, uint64_t b, uint64_t c, uint64_t d);

/** Different distances on a ring of the run's ranks that lead to a rank of the process, one in
 * the next process, one far away; never 0 (self). At most 4.
 * @return how many */
int ept_shifts(const struct ept *t, int shifts[4]);

/** Ways to pair the run's ranks off. */
enum ept_pairing {
    EPT_PAIR_NEXT,    /**< rank ^ 1: mostly within a process */
    EPT_PAIR_PROCESS, /**< the same local rank of process ^ 1 */
    EPT_PAIR_MIRROR   /**< size - 1 - rank */
};

/** The pairings that make sense for this run, each different from the others.
 * @return how many: 0 if there is one rank only */
int ept_pairings(const struct ept *t, enum ept_pairing pairings[3]);

/** The rank's partner, MPI_PROC_NULL for a rank that is left over. */
int ept_partner(const struct ept *t, enum ept_pairing pairing);

/* ---- endpoints ------------------------------------------------------------------------------- */

/**
 * MPIX_Comm_create_endpoints; in a plain run a stand-in with MPI_Comm_split that serves num_ep 0
 * and 1, which is what lets tests of creation be validated under a stock Open MPI.
 */
int ept_create_endpoints(MPI_Comm parent, int num_ep, MPI_Info info, MPI_Comm comms[]);

/** num_ep, or at most 1 in a plain run. */
int ept_count(const struct ept *t, int num_ep);

/**
 * Run fn once per handle, each in a thread of its own, and wait for all of them. The threads share
 * t, with which they may check.
 */
typedef void (*ept_handle_fn_t)(MPI_Comm comm, struct ept *t, int index, void *context);

void ept_on_each(struct ept *t, MPI_Comm comms[], int num, ept_handle_fn_t fn, void *context);

/**
 * Each member sends a message to each other one: what endpoints need memory for when they first
 * hear of each other is there afterwards.
 */
void ept_meet(MPI_Comm comm, struct ept *t);

/**
 * Use a communicator that should be sound: collective calls and messages whose results tell the
 * members apart. Collective over comm.
 */
void ept_use_comm(struct ept *t, MPI_Comm comm, int rank, int size);

#endif /* EPT_H */
