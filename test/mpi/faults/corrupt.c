/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A process that goes wrong and writes into the memory that it shares with another one of its node:
 * both get errors and none hangs.  Two processes of two endpoints; rank 2 writes nonsense into its
 * pipe to rank 0, ranks 1 and 3 must not be touched, but where all of its segment is.
 *
 *   --how cell     in place of its next message, once both have sent
 *   --how first    likewise, where rank 0 has sent nothing
 *   --how head     how far rank 0 has read
 *   --how kind     a message with a header that makes no sense, in a pipe that does
 *   --how context  likewise, of a communicator that nobody can have made
 *   --how number   likewise, an answer to nothing that has ever been asked
 *   --how back     rank 0 has not read the last message, and then it is not there any more
 *   --how random   the process of ranks 2 and 3 writes random words (--seed) anywhere in its
 *   segment,
 *                  while all exchange messages: whatever comes of that, nobody waits for ever
 *
 * Guards: btl_epshm_peer_proc.c, btl_epshm_node_lost.c, btl_epshm_node_progress.c,
 * btl_epshm_node_doorbell.c
 */

#include <mpi.h>
#include <mpi-ext.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../opal/mca/btl/epshm/segment/btl_epshm_pipe.h"
#include "word.h"

enum { TAG = 1, NEVER = 2, LARGE = 1 << 20 };

/* As in a message of one byte with a whole header: an envelope, the header, the byte. */
enum { SIZE = 4, KIND = 8, NUMBER = 12, CONTEXT = 16, KIND_EAGER = 1, KIND_FIN = 5, FIN_SIZE = 16 };

static const char *how = "";
static uint64_t seed = 1;
static MPI_Comm comms[2];
static int failures;
static pthread_barrier_t together;

#define CHECK(condition, ...)                              \
    do {                                                   \
        if (!(condition)) {                                \
            ++failures;                                    \
            fprintf(stderr, "# corrupt.c:%d: ", __LINE__); \
            fprintf(stderr, __VA_ARGS__);                  \
            fprintf(stderr, "\n");                         \
        }                                                  \
    } while (0)

#define EXPECT(class, call)                                                                 \
    do {                                                                                    \
        int expect_class = MPI_SUCCESS;                                                     \
        MPI_Error_class(call, &expect_class);                                               \
        CHECK((class) == expect_class, "%s: class %d, not %d", #call, expect_class, class); \
    } while (0)

enum { SEGMENT = 1 << 18 }; /**< bytes that a segment has at least, when there are pipes in it */

/** The segment of this process.  0: none. */
static unsigned long find_segment(void)
{
    char line[512];
    unsigned long found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    int process;

    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    while (NULL != maps && NULL != fgets(line, sizeof(line), maps)) {
        unsigned long begin, end;
        const char *name = strstr(line, "/epshm.");
        unsigned int user, job, rank;

        if (NULL != name && 2 == sscanf(line, "%lx-%lx", &begin, &end)
            && 3 == sscanf(name, "/epshm.%u.%x.%u", &user, &job, &rank) && process == (int) rank) {
            found = begin;
        }
    }
    if (NULL != maps) {
        fclose(maps);
    }
    CHECK(0 != found, "no segment");
    return found;
}

/** The pipe in the segment of this process that the most messages have gone through: that of rank 2
 * to rank 0.  NULL: none. */
static epshm_pipe_t *find_pipe(void)
{
    const unsigned long begin = find_segment();
    epshm_pipe_t *found = NULL;

    for (unsigned long at = begin; 0 != begin && at < begin + SEGMENT; at += EPSHM_PIPE_LINE) {
        epshm_pipe_t *pipe = (epshm_pipe_t *) at;

        if (EPSHM_PIPE_MAGIC == pipe->magic
            && (NULL == found || atomic_load(&pipe->head) > atomic_load(&found->head))) {
            found = pipe;
        }
    }
    return found;
}

static bool is(const char *name)
{
    return 0 == strcmp(how, name);
}

/** A message as the last one, with what that has left out of its header, but for some of it. */
static void write_nonsense(unsigned char *data, const unsigned char *before)
{
    const uint64_t context = UINT64_C(1) << 60;
    const uint32_t number = UINT32_MAX >> 1;
    uint32_t size = CONTEXT - KIND + EPSHM_PIPE_REST + 1;

    CHECK(EPSHM_PIPE_BARE == before[0], "the last message has a whole header");
    memcpy(data, before, KIND);
    data[0] = EPSHM_PIPE_INLINE;
    memcpy(&data[SIZE], &size, sizeof(size));
    memset(&data[KIND], 0, CONTEXT - KIND);
    data[KIND] = KIND_EAGER;
    memcpy(&data[CONTEXT], &before[sizeof(epshm_pipe_envelope_t)], EPSHM_PIPE_REST + 1);
    if (is("kind")) {
        data[KIND] = 200;
    } else if (is("context")) {
        memcpy(&data[CONTEXT], &context, sizeof(context));
    } else {
        data[KIND] = KIND_FIN;
        size = FIN_SIZE;
        memcpy(&data[SIZE], &size, sizeof(size));
        memcpy(&data[NUMBER], &number, sizeof(number));
    }
}

/** Nothing is under way: rank 0 has read all, but for what is to be taken back. */
static void corrupt(void)
{
    epshm_pipe_t *pipe = find_pipe();
    epshm_pipe_cell_t *cells = (epshm_pipe_cell_t *) (pipe + 1);
    uint64_t head, mask;

    CHECK(NULL != pipe, "no pipe");
    if (NULL == pipe) {
        return;
    }
    head = atomic_load(&pipe->head);
    mask = pipe->cells - 1;
    if (is("head")) {
        atomic_store(&pipe->head, UINT64_C(1) << 60);
    } else if (is("back")) {
        CHECK(head + 1 == atomic_load(&cells[head & mask].seq), "it has been read");
        atomic_store(&cells[head & mask].seq, 0);
    } else {
        if (is("cell") || is("first")) {
            memset(cells[head & mask].data, 0xff, EPSHM_PIPE_CELL_PAYLOAD);
        } else {
            write_nonsense(cells[head & mask].data, cells[(head - 1) & mask].data);
        }
        atomic_store(&cells[head & mask].seq, head + 1);
    }
}

static void say(MPI_Comm comm, int to)
{
    char byte = 'x';

    EXPECT(MPI_SUCCESS, MPI_Send(&byte, 1, MPI_CHAR, to, TAG, comm));
}

static void hear(MPI_Comm comm, int from)
{
    char byte;

    EXPECT(MPI_SUCCESS, MPI_Recv(&byte, 1, MPI_CHAR, from, TAG, comm, MPI_STATUS_IGNORE));
}

/** Ranks 0 and 2 have lost each other. */
static void expect_lost(MPI_Comm comm, int other, char *buffer)
{
    EXPECT(MPI_ERR_PROC_FAILED,
           MPI_Recv(buffer, 8, MPI_CHAR, other, NEVER, comm, MPI_STATUS_IGNORE));
    EXPECT(MPI_ERR_PROC_FAILED, MPI_Send(buffer, 8, MPI_CHAR, other, NEVER, comm));
    EXPECT(MPI_ERR_PROC_FAILED, MPI_Send(buffer, LARGE, MPI_CHAR, other, NEVER, comm));
    EXPECT(MPI_ERR_PROC_FAILED,
           MPI_Recv(buffer, 8, MPI_CHAR, MPI_ANY_SOURCE, NEVER, comm, MPI_STATUS_IGNORE));
}

static void *endpoint(void *context)
{
    MPI_Comm comm = *(MPI_Comm *) context;
    char *buffer = calloc(1, LARGE);
    int rank;

    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    if (2 == rank) {
        for (int i = 0; i < 40; ++i) {
            say(comm, 0);
        }
        if (!is("first")) {
            hear(comm, 0);
        } else {
            word_await("read");
        }
        if (is("back")) {
            say(comm, 0);
        }
        corrupt();
        if (is("back")) {
            word_say("corrupted");
        }
    } else if (0 == rank) {
        for (int i = 0; i < 40; ++i) {
            hear(comm, 2);
        }
        if (!is("first")) {
            say(comm, 2);
        } else {
            word_say("read");
        }
        if (is("head") || is("back")) {
            word_await("corrupted"); /* or it would say again how far it is, or read on */
        }
    }
    if (2 == rank && is("head")) {
        int rc = MPI_SUCCESS; /* it is seen when the pipe is full as far as it was known to be */

        for (int i = 0; i < 1000 && MPI_SUCCESS == rc; ++i) {
            rc = MPI_Send(buffer, 8, MPI_CHAR, 0, TAG, comm);
        }
        EXPECT(MPI_ERR_PROC_FAILED, rc);
        word_say("corrupted");
    }
    if (0 == rank % 2) {
        expect_lost(comm, 2 - rank, buffer);
    }
    pthread_barrier_wait(&together);
    for (int i = 0; i < 10 && 1 == rank % 2; ++i) {
        int wrong = 0;

        memset(buffer, rank + i, LARGE);
        EXPECT(MPI_SUCCESS, MPI_Sendrecv_replace(buffer, LARGE, MPI_CHAR, 4 - rank, TAG, 4 - rank,
                                                 TAG, comm, MPI_STATUS_IGNORE));
        for (int j = 0; j < LARGE; ++j) {
            wrong += 4 - rank + i != buffer[j];
        }
        CHECK(0 == wrong, "%d bytes wrong", wrong);
    }
    free(buffer);
    return NULL;
}

/* ---- a process gone mad --------------------------------------------------------------------- */

enum { WORDS = 3000, ROUNDS = 2000 };

static _Atomic int exchanging = 2; /**< endpoints of this process */

static uint64_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static void go_mad(void)
{
    const unsigned long begin = find_segment();

    for (int i = 0; 0 != begin && i < WORDS && 0 < atomic_load(&exchanging); ++i) {
        /* Every other one where doors and pipes are; behind those are the areas. */
        const unsigned long words = (0 == i % 2 ? SEGMENT / 4 : SEGMENT) / sizeof(uint64_t);
        _Atomic uint64_t *word = (_Atomic uint64_t *) begin + next_random() % words;

        atomic_store_explicit(word, next_random(), memory_order_relaxed);
        if (0 == i % 8) {
            (void) usleep(100);
        }
    }
}

/** Messages of all ways, with one endpoint of the other process, until the two lose each other.
 * Wrong data, and errors that come of them, are not noticed. */
static void *exchange(void *context)
{
    static const int sizes[] = {8, 100, 400, 2000, 20000, 200000};
    MPI_Comm comm = *(MPI_Comm *) context;
    char *buffer = calloc(1, LARGE);
    int rank, class = MPI_SUCCESS;

    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < ROUNDS && MPI_ERR_PROC_FAILED != class; ++i) {
        MPI_Error_class(MPI_Sendrecv_replace(buffer, sizes[i % 6], MPI_CHAR, rank ^ 2, TAG,
                                             rank ^ 2, TAG, comm, MPI_STATUS_IGNORE),
                        &class);
    }
    atomic_fetch_sub(&exchanging, 1);
    free(buffer);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    int provided, rank, all = 0;

    for (int i = 1; i < argc - 1; ++i) {
        how = 0 == strcmp(argv[i], "--how") ? argv[i + 1] : how;
        seed = 0 == strcmp(argv[i], "--seed") ? strtoull(argv[i + 1], NULL, 0) : seed;
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, 2, MPI_INFO_NULL, comms);
    pthread_barrier_init(&together, NULL, 2);
    for (int i = 0; i < 2; ++i) {
        pthread_create(&threads[i], NULL, is("random") ? exchange : endpoint, &comms[i]);
    }
    if (is("random") && 1 == rank) {
        go_mad();
    }
    for (int i = 0; i < 2; ++i) {
        pthread_join(threads[i], NULL);
        MPI_Comm_free(&comms[i]);
    }
    MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("1..1\n%sok 1 - %s\n", 0 == all ? "" : "not ", how);
    }
    MPI_Finalize();
    return 0;
}
