/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The cases of flood in which a rank has no memory for what arrives, or for what it answers.
 */

#include "flood.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

enum { LOST_BYTES = 3001, ANSWERED = 1 << 18 };

/* Messages that no way takes while nobody reads it, sockets of some megabytes included. */
enum { FILL = 5000, FILL_WORDS = 500 };

static atomic_bool exhausted;       /* messages of LOST_BYTES are not kept, for lack of memory */
static _Thread_local bool starved;  /* nor are small ones, by this thread */
static _Thread_local bool wordless; /* this thread has no memory to keep an answer */

extern void *__libc_malloc(size_t size);

void *malloc(size_t size)
{
    if ((LOST_BYTES <= size && size < LOST_BYTES + 64
         && atomic_load_explicit(&exhausted, memory_order_relaxed))
        || (starved && 48 <= size && size < 128) || (wordless && 80 < size && size <= 112)) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_malloc(size);
}

/** Rank 0 has no memory for messages: receives return errors, and nobody hangs. */
void case_exhausted(MPI_Comm comm, struct ept *t)
{
    enum { SENDS = 600, KEPT = 100 };
    static unsigned char data[LOST_BYTES];
    int received = 0, errors = 0, rc;
    MPI_Comm broken;
    MPI_Status status = {.MPI_TAG = -1};

    EPT_OK(t, MPI_Comm_dup(comm, &broken)); /* it is of no use afterwards */
    EPT_OK(t, MPI_Comm_set_errhandler(broken, MPI_ERRORS_RETURN));
    for (int i = 0; 1 == t->rank && i < KEPT; ++i) {
        EPT_OK(t, MPI_Send(data, LOST_BYTES, MPI_BYTE, 0, TAG, broken));
    }
    /* They have come before what is sent behind them; a barrier alone need not look at messages. */
    if (1 == t->rank) {
        EPT_OK(t, MPI_Send(NULL, 0, MPI_BYTE, 0, OTHER, comm));
    } else if (0 == t->rank) {
        EPT_OK(t, MPI_Recv(NULL, 0, MPI_BYTE, 1, OTHER, comm, MPI_STATUS_IGNORE));
    }
    EPT_OK(t, MPI_Barrier(comm));
    if (0 == t->rank) {
        atomic_store(&exhausted, true);
    }
    EPT_OK(t, MPI_Barrier(comm));
    if (1 == t->rank) {
        EPT_CLASS(t, MPI_ERR_OTHER, MPI_Ssend(data, LOST_BYTES, MPI_BYTE, 0, OTHER, broken));
        EPT_OK(t, MPI_Barrier(comm));
        for (int i = 0; i < SENDS; ++i) {
            ept_phase(t, "send message %d to one without memory", i);
            EPT_OK(t, MPI_Send(data, LOST_BYTES, MPI_BYTE, 0, TAG, broken));
        }
        EPT_OK(t, MPI_Send(NULL, 0, MPI_BYTE, 0, DONE, broken));
    }
    if (1 != t->rank) {
        EPT_OK(t, MPI_Barrier(comm));
    }
    while (0 == t->rank && DONE != status.MPI_TAG) {
        unsigned char got[LOST_BYTES];

        ept_phase(t, "receive without memory, %d received", received);
        rc = MPI_Recv(got, LOST_BYTES, MPI_BYTE, 1, MPI_ANY_TAG, broken, &status);
        if (MPI_SUCCESS == rc) {
            received += TAG == status.MPI_TAG;
            continue;
        }
        EPT_CLASS(t, MPI_ERR_NO_MEM, rc);
        ++errors;
        usleep(100);
        EPT_CLASS(t, MPI_ERR_NO_MEM, MPI_Probe(1, OTHER, broken, MPI_STATUS_IGNORE));
        status.MPI_TAG = -1;
    }
    EPT_OK(t, MPI_Barrier(comm));
    atomic_store(&exhausted, false);
    if (0 == t->rank) {
        ept_note("%d errors, %d of %d received", errors, received, KEPT + SENDS);
        EPT_CHECK(t, 0 < errors, "no error");
        EPT_EQ(t, KEPT + SENDS, received); /* only one was lost: all senders hold since then */
    }
    EPT_OK(t, MPI_Comm_free(&broken));
}

enum { PARTS = 2, PART_SENDS = 8, PART_KEPT = 4 };

/** Begin sends from first to last - 1, every second of which is started at once. */
static void begin_parts(MPI_Comm comm, struct ept *t, int data[][PARTS], MPI_Request *requests,
                        int first, int last)
{
    for (int i = first; i < last; ++i) {
        EPT_OK(t,
               MPI_Psend_init(data[i], PARTS, 1, MPI_INT, 0, i, comm, MPI_INFO_NULL, &requests[i]));
        if (0 != i % 2) {
            EPT_OK(t, MPI_Start(&requests[i]));
        }
    }
}

/** Rank 1's part: those that were not kept end with an error, at the last partition. */
static void end_parts(struct ept *t, MPI_Request *requests)
{
    for (int i = 0; i < PART_SENDS; ++i) {
        ept_phase(t, "end partitioned send %d", i);
        if (0 == i % 2) {
            EPT_OK(t, MPI_Start(&requests[i]));
        }
        for (int j = 0; j < PARTS; ++j) {
            EPT_OK(t, MPI_Pready(j, requests[i]));
        }
        if (PART_KEPT <= i) {
            EPT_CLASS(t, MPI_ERR_OTHER, MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
            EPT_CHECK(t, MPI_REQUEST_NULL == requests[i], "libmpi frees what has failed");
        } else {
            EPT_OK(t, MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
            EPT_OK(t, MPI_Request_free(&requests[i]));
        }
    }
}

/** Rank 0's part. */
static void receive_parts(MPI_Comm comm, struct ept *t)
{
    for (int i = 0; i < PART_SENDS; ++i) {
        int got[PARTS] = {-1, -1};
        MPI_Request request = MPI_REQUEST_NULL;
        int rc = MPI_Precv_init(got, PARTS, 1, MPI_INT, 1, i, comm, MPI_INFO_NULL, &request);

        ept_phase(t, "partitioned receive %d", i);
        if (PART_KEPT <= i) {
            EPT_CLASS(t, MPI_ERR_NO_MEM, rc); /* its send might have been lost */
            continue;
        }
        EPT_OK(t, rc);
        EPT_OK(t, MPI_Start(&request));
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        EPT_OK(t, MPI_Request_free(&request));
        for (int j = 0; j < PARTS; ++j) {
            EPT_EQ(t, i * PARTS + j, got[j]);
        }
    }
}

/** Rank 0 has no memory to keep partitioned sends: once started they end with an error. */
void case_exhausted_parts(MPI_Comm comm, struct ept *t)
{
    int data[PART_SENDS][PARTS];
    MPI_Request requests[PART_SENDS], done;
    MPI_Comm broken;

    EPT_OK(t, MPI_Comm_dup(comm, &broken));
    for (int i = 0; i < PART_SENDS * PARTS; ++i) {
        data[i / PARTS][i % PARTS] = i;
    }
    if (1 == t->rank) {
        begin_parts(broken, t, data, requests, 0, PART_KEPT);
        EPT_OK(t, MPI_Send(NULL, 0, MPI_BYTE, 0, DONE, comm));
        EPT_OK(t, MPI_Recv(NULL, 0, MPI_BYTE, 0, DONE, comm, MPI_STATUS_IGNORE));
        begin_parts(broken, t, data, requests, PART_KEPT, PART_SENDS);
        EPT_OK(t, MPI_Send(NULL, 0, MPI_BYTE, 0, OTHER, comm));
        EPT_OK(t, MPI_Recv(NULL, 0, MPI_BYTE, 0, OTHER, comm, MPI_STATUS_IGNORE));
        end_parts(t, requests);
    } else if (0 == t->rank) {
        EPT_OK(t, MPI_Irecv(NULL, 0, MPI_BYTE, 1, OTHER, comm, &done));
        EPT_OK(t, MPI_Recv(NULL, 0, MPI_BYTE, 1, DONE, comm, MPI_STATUS_IGNORE));
        starved = true;
        EPT_OK(t, MPI_Send(NULL, 0, MPI_BYTE, 1, DONE, comm));
        EPT_OK(t, MPI_Wait(&done, MPI_STATUS_IGNORE));
        starved = false;
        EPT_OK(t, MPI_Send(NULL, 0, MPI_BYTE, 1, OTHER, comm));
        receive_parts(broken, t);
    }
    EPT_OK(t, MPI_Barrier(comm));
    EPT_OK(t, MPI_Comm_free(&broken));
}

static atomic_int woken;

static void on_wake(int signum)
{
    (void) signum;
    atomic_fetch_add(&woken, 1);
}

/** Out of MPI until the other rank has sent so many signals. */
static void sleep_until(struct ept *t, int signals)
{
    ept_phase(t, "until the other rank sends signal %d", signals);
    while (signals > atomic_load(&woken)) {
        usleep(1000);
    }
}

static void wake(struct ept *t, int pid)
{
    EPT_CHECK(t, 0 == kill(pid, SIGUSR1), "process %d has gone", pid);
}

/** Ranks 0 and 1 get to know each other's process; from then on signals count. */
static int meet(MPI_Comm comm, struct ept *t)
{
    int own = (int) getpid(), other = -1;

    (void) signal(SIGUSR1, on_wake);
    EPT_OK(t, MPI_Sendrecv(&own, 1, MPI_INT, 1 - t->rank, DONE, &other, 1, MPI_INT, 1 - t->rank,
                           DONE, comm, MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_Barrier(comm));
    return other;
}

/** What rank 1 sends when its way back is full, and rank 0 answers: ACK, FIN, CTS, PART_START. */
static void want_answers(MPI_Comm comm, struct ept *t, MPI_Datatype gaps, unsigned char *data)
{
    MPI_Request requests[4];

    memset(data, 'a', ANSWERED);
    EPT_OK(t, MPI_Psend_init(data, 2, ANSWERED / 2, MPI_BYTE, 0, TAG, comm, MPI_INFO_NULL,
                             &requests[3]));
    wake(t, meet(comm, t)); /* from here on it does not read */
    sleep_until(t, 1);
    EPT_OK(t, MPI_Issend(data, 100, MPI_BYTE, 0, 1, comm, &requests[0]));
    EPT_OK(t, MPI_Isend(data, ANSWERED, MPI_BYTE, 0, 2, comm, &requests[1]));
    EPT_OK(t, MPI_Isend(data, ANSWERED / 2, gaps, 0, 3, comm, &requests[2]));
    EPT_OK(t, MPI_Start(&requests[3]));
    EPT_OK(t, MPI_Send(NULL, 0, MPI_BYTE, 0, DONE, comm));
    sleep_until(t, 2);
    EPT_OK(t, MPI_Pready_range(0, 1, requests[3]));
    for (int i = 0; i < FILL; ++i) {
        uint64_t got[FILL_WORDS] = {0};

        ept_phase(t, "message %d", i);
        EPT_OK(t, MPI_Recv(got, sizeof(got), MPI_BYTE, 0, TAG, comm, MPI_STATUS_IGNORE));
        EPT_EQ(t, value(0, i), got[0]);
    }
    ept_phase(t, "the answers");
    EPT_OK(t, MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    EPT_OK(t, MPI_Request_free(&requests[3]));
}

/** Rank 0 fills its way to rank 1, which does not read. */
static void fill_way(MPI_Comm comm, struct ept *t, uint64_t values[][FILL_WORDS], MPI_Request *fill)
{
    for (int i = 0; i < FILL; ++i) {
        values[i][0] = value(0, i);
        EPT_OK(t, MPI_Isend(values[i], sizeof(values[i]), MPI_BYTE, 1, TAG, comm, &fill[i]));
    }
}

/** As long as the last of what it has sent before waits, no answer has gone. */
static void expect_no_answer(struct ept *t, MPI_Request requests[], MPI_Request last)
{
    int answered = 0, gone = 0, i;

    for (i = 0; i < 300; ++i) {
        EPT_OK(t, MPI_Test(&requests[i % 3], &answered, MPI_STATUS_IGNORE));
        EPT_OK(t, MPI_Request_get_status(last, &gone, MPI_STATUS_IGNORE));
        if (gone) {
            break;
        }
        EPT_EQ(t, 0, answered);
    }
    ept_note("answers: %d tests while the way was full", i);
}

/** Rank 0 fills its way to rank 1, and has no memory for answers then. */
static void owe_answers(MPI_Comm comm, struct ept *t, MPI_Datatype gaps, unsigned char *data)
{
    MPI_Request requests[4], *fill = malloc(FILL * sizeof(*fill));
    uint64_t(*values)[FILL_WORDS] = calloc(FILL, sizeof(*values));
    int pid;

    EPT_OK(t, MPI_Precv_init(data, 2, ANSWERED / 2, MPI_BYTE, 1, TAG, comm, MPI_INFO_NULL,
                             &requests[3]));
    for (int i = 0; i < 3; ++i) {
        unsigned char *to = data + (i + 1) * ANSWERED;

        EPT_OK(t, MPI_Irecv(to, 2 == i ? ANSWERED / 2 : ANSWERED, 2 == i ? gaps : MPI_BYTE, 1,
                            i + 1, comm, &requests[i]));
    }
    pid = meet(comm, t);
    sleep_until(t, 1);
    fill_way(comm, t, values, fill);
    wordless = true;
    wake(t, pid);
    EPT_OK(t, MPI_Recv(NULL, 0, MPI_BYTE, 1, DONE, comm, MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_Start(&requests[3]));
    expect_no_answer(t, requests, fill[FILL - 1]);
    wordless = false;
    wake(t, pid);
    EPT_OK(t, MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    EPT_OK(t, MPI_Waitall(FILL, fill, MPI_STATUSES_IGNORE));
    for (int i = 0; i < ANSWERED; ++i) {
        EPT_EQ(t, 'a', data[i]);
        EPT_EQ(t, 100 > i ? 'a' : 0, data[ANSWERED + i]);
        EPT_EQ(t, 'a', data[2 * ANSWERED + i]);
        EPT_EQ(t, i % 2 ? 0 : 'a', data[3 * ANSWERED + i]);
    }
    EPT_OK(t, MPI_Request_free(&requests[3]));
    free(values);
    free(fill);
}

/** Rank 0 has neither room nor memory for its answers: they go when there is room. */
void case_exhausted_answers(MPI_Comm comm, struct ept *t)
{
    unsigned char *data = calloc(4, ANSWERED);
    MPI_Datatype gaps;

    EPT_OK(t, MPI_Type_create_resized(MPI_BYTE, 0, 2, &gaps));
    EPT_OK(t, MPI_Type_commit(&gaps));
    if (0 == t->rank) {
        owe_answers(comm, t, gaps, data);
    } else if (1 == t->rank) {
        want_answers(comm, t, gaps, data);
    } else {
        EPT_OK(t, MPI_Barrier(comm));
    }
    EPT_OK(t, MPI_Type_free(&gaps));
    free(data);
}
